// Recorded sessions under summarization.
#include "replay/replay.hpp"
#include "summarization/talk.hpp"
#include "support/catch.hpp"
#include "support/recorded.hpp"
#include "support/some_names.hpp"
#include "whittle/convert/convert.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/saved/trajectory.hpp"
#include "whittle/summarization/summarization.hpp"
#include "whittle/summary/detail/text.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using openai::Message;

namespace {

constexpr std::int64_t trigger_tokens = 16'000;

/// Says how much it read, and some names in it; refuses nothing.
template <AgentMessage M>
std::shared_ptr<Summarizer<M>> reader() {
    return std::make_shared<Summarizer<M>>([](const ModelRequest<M>& request, int) {
        std::size_t bytes = 0;
        for (const M& m : request.messages) bytes += text_of(m).size();
        const std::string names = some_names_in(text_of(request.messages[1]), 8);
        const std::string text =
            "<analysis>...</analysis><summary>" + std::to_string(bytes) + " bytes read, of " + names + "</summary>";
        return Reply<M>{message_traits<M>::make(Role::assistant, text)};
    });
}

SummarizationConfig due_above(std::int64_t tokens) {
    return {.trigger = {.context_tokens = tokens}, .keep_recent_tokens = 4'000};
}

template <AgentMessage M>
Chain<M> chain_of(const std::shared_ptr<Model<M>>& model, const ValidityProfile& validity = openai_chat()) {
    ChainConfig config{.limits = {.model_calls = 100}};
    config.profile.validity = validity;
    return Chain<M>(std::move(config),
                    typename Chain<M>::Stages{std::make_shared<Summarization<M>>(model, due_above(trigger_tokens))});
}

/// One recorded session with a skill and a pin at its start, asked before each reply.
class LongSession {
public:
    explicit LongSession(const Trajectory<>& trajectory)
        : trajectory_(trajectory), chain_(chain_of<Message>(model_, openai_compatible())) {}

    void run() {
        start();
        for (const Message& m : trajectory_.messages) {
            if (message_traits<Message>::role(m) == Role::assistant) ask();
            originals_.push_back(m);
            conversation_.push_back(m, Usage{});
            const MessageInfo& info = conversation_.outline()[conversation_.size() - 1];
            if (is_original_user_message(info)) users_.push_back(text_of(m));
        }
        ask();
    }
    void undo_all() {
        while (conversation_.undo()) {
        }
        CHECK((texts_of<Message>(conversation_.messages()) == texts_of<Message>(originals_)));
        CHECK(shown_ > 2 * hidden_);
        CHECK(shown_users_ > 2 * hidden_users_);
    }
    [[nodiscard]] int summaries() const noexcept { return summaries_; }

private:
    void start() {
        const History history{ChatMessage::system("SYSTEM TEXT"),
                              ChatMessage::user("The pinned fact: port 8443."),
                              ChatMessage::user("First wish: never touch config.yaml."),
                              ChatMessage::assistant("").call("skill_1", "skill", R"({"skill":"pdf"})"),
                              ChatMessage::result("skill_1", "skill", "how to read a PDF\nline 2"),
                              ChatMessage::assistant("ok")};
        push_all(conversation_, history);
        conversation_.pin(conversation_.outline()[1].serial);
        originals_.assign(conversation_.messages().begin(), conversation_.messages().end());
        users_ = {"First wish: never touch config.yaml."};
    }

    void ask() {
        const StageReport& report =
            chain_.before_model(conversation_, {trajectory_.tools, trajectory_.system}).stages.at(0);
        if (report.outcome != Outcome::committed) return;
        ++summaries_;
        CAPTURE(summaries_);
        const auto context = conversation_.context(chars_counter(), trajectory_.system, trajectory_.tools);
        CHECK((context.total <= trigger_tokens || !report.details->error.empty()));
        CHECK(conversation_.outline()[1].pinned);
        CHECK(text_of(conversation_.messages()[1]) == "The pinned fact: port 8443.");
        check_rules();
        check_what_is_kept(context.total);
        check_progress();
    }

    /// Only what was recorded breaks rules: no summary does, nor what stands right behind one.
    void check_rules() {
        for (const Violation& broken : validate(conversation_.outline(), openai_compatible())) {
            CAPTURE(to_string(broken.rule), broken.text);
            REQUIRE(broken.message_index < conversation_.size());
            CHECK_FALSE(conversation_.outline()[broken.message_index].mark);
            CHECK((broken.message_index == 0 || !conversation_.outline()[broken.message_index - 1].mark));
        }
    }

    void check_what_is_kept(std::int64_t total) {
        std::string all;
        for (const std::string& text : texts_of<Message>(conversation_.messages())) all += text + "\n";
        const std::string seen = all;
        ++(all.find("how to read a PDF\nline 2") != std::string::npos ? shown_ : hidden_);
        for (std::size_t i = 0; i < conversation_.size(); ++i) {  // carried until there is room
            const Mark& mark = conversation_.outline()[i].mark;
            for (const std::string& text : mark ? mark->verbatim_user_messages : std::vector<std::string>{})
                all += escape_tags(text) + "\n";
            for (const std::string& skill : mark ? mark->skill_records : std::vector<std::string>{})
                all += skill + "\n";
        }
        CHECK(all.find("how to read a PDF\nline 2") != std::string::npos);
        std::int64_t left = trigger_tokens / 3;
        for (auto text = users_.rbegin(); text != users_.rend(); ++text) {
            left -= chars_counter()->count(*text);
            if (left < 0) break;
            if (chars_counter()->count(*text) > trigger_tokens / 12) continue;  // a quarter of that third: may be cut
            CHECK(all.find(escape_tags(*text)) != std::string::npos);
            const bool is_shown =
                seen.find(escape_tags(*text)) != std::string::npos || seen.find(*text) != std::string::npos;
            ++(is_shown ? shown_users_ : hidden_users_);
            const bool has_room = total + chars_counter()->count(*text) < trigger_tokens / 8 * 7;
            CHECK((is_shown || !has_room));
        }
    }

    /// Each summary stands for something that no earlier one stood for, and for all that these did.
    void check_progress() {
        const auto& mark = conversation_.outline()[summary_at(conversation_)].mark;
        REQUIRE(mark);
        CHECK(std::ranges::includes(mark->covers, covered_));
        CHECK(mark->covers.size() > covered_.size() + 1);
        covered_ = mark->covers;
    }

    const Trajectory<>& trajectory_;
    std::shared_ptr<Summarizer<Message>> model_ = reader<Message>();
    Chain<Message> chain_;
    Conversation<Message> conversation_{"long"};
    std::vector<Message> originals_{};
    std::vector<std::string> users_{};
    std::vector<Serial> covered_{};
    int summaries_ = 0;
    int shown_ = 0;         ///< summaries beside which the skill stands
    int hidden_ = 0;        ///< summaries that only carry it
    int shown_users_ = 0;   ///< user messages in the text, counted at each summary
    int hidden_users_ = 0;  ///< those that are only carried
};

/// Replays the first sessions of each file: all of them take half a minute, and minutes under a sanitizer.
template <AgentMessage M, typename Replay>
void replay_files(const std::shared_ptr<Summarizer<M>>& model, Replay&& replay_session) {
    for (const auto& file : recorded_files()) {
        ReplayTotals sum;
        read_trajectories(file, {}, [&](Trajectory<>&& session) {
            sum += replay_session(session);
            return sum.trajectories < 4;
        });
        CAPTURE(file.filename().string(), sum.errors);
        CHECK(sum.calls > 0);
        CHECK(sum.violations.empty());
        CHECK(sum.failed_hooks == 0);
        CHECK(sum.not_undone == 0);
        CHECK(sum.restored_bytes == sum.changed_bytes);
    }
    CHECK(model->asked.size() > (is_soak() ? 20U : 0U));
}

}  // namespace

TEST_CASE("twenty summaries of a long recorded session keep pins, skills and the user's words", "[data]") {
    const auto file = std::filesystem::path(WHITTLE_DATA_DIR) / "trajectories" / "coding_claude_code_go_long.jsonl";
    if (!std::filesystem::exists(file)) SKIP_WITH_MESSAGE("there are no recorded trajectories here");
    if (!is_soak()) SKIP_WITH_MESSAGE("this takes a minute: with WHITTLE_SOAK set");
    int most = 0;
    read_trajectories(file, {}, [&](Trajectory<>&& trajectory) {
        LongSession session(trajectory);
        session.run();
        session.undo_all();
        most = std::max(most, session.summaries());
        return most < 20;
    });
    CHECK(most >= 20);
}

TEST_CASE("the first recorded sessions of each kind stay valid and can be brought back under summarization", "[data]") {
    if (recorded_files().empty()) SKIP_WITH_MESSAGE("there are no recorded trajectories here");
    const auto model = reader<Message>();
    const Chain<Message> chain = chain_of<Message>(model);
    replay_files(model, [&](const Trajectory<>& t) {
        return replay<Message>({t.id, t.system, t.tools, t.messages, t.seconds_since_first}, chain);
    });
}

TEST_CASE("the same sessions as Anthropic messages stay valid and can be brought back too", "[data]") {
    if (recorded_files().empty()) SKIP_WITH_MESSAGE("there are no recorded trajectories here");
    const auto model = reader<anthropic::Message>();
    const Chain<anthropic::Message> chain = chain_of<anthropic::Message>(model, anthropic_messages());
    replay_files(model, [&](const Trajectory<>& t) {
        const AnthropicConversion converted = to_anthropic(t.messages);
        return replay<anthropic::Message>({t.id, t.system, t.tools, converted.messages, {}}, chain);
    });
}
