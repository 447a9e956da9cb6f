// Recorded sessions with small thresholds: no request leaves above the threshold, except where what has to stay is.
#include "ladder_talk.hpp"
#include "support/catch.hpp"
#include "support/recorded.hpp"
#include "support/some_names.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/saved/trajectory.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using openai::Message;

namespace {

constexpr std::int64_t threshold = 12'000;
constexpr std::int64_t summary_size = 500;
constexpr std::int64_t frame = 60;  ///< more than the words around a summary have

CompactionConfig small(std::optional<int> keep_rounds) {
    CompactionConfig config;
    config.threshold_tokens = threshold;
    config.target_tokens = 3'000;
    config.summary_size_tokens = summary_size;
    config.current_turn_keep_rounds = keep_rounds;
    return config;
}

std::shared_ptr<Model<Message>> gist(int& asked) {
    return std::make_shared<ScriptedModel<Message>>([&asked](const ModelRequest<Message>& request) {
        ++asked;
        const std::string text = "The gist of it: " + some_names_in(text_of(request.messages[1]), 4);
        return Reply<Message>{message_traits<Message>::make(Role::assistant, text)};
    });
}

/// What a session came to.
struct Figures {
    int calls = 0;
    int above = 0;  ///< requests above the threshold
    int summaries = 0;
    int broken = 0;   ///< above, although what has to stay is not
    int changed = 0;  ///< messages of the current turn that changed, or were changed by a second run
};

class Session {
public:
    Session(const Trajectory<>& trajectory, std::optional<int> keep_rounds)
        : trajectory_(trajectory),
          keep_rounds_(keep_rounds),
          chain_(ChainConfig{}, Compaction<Message>(gist(asked_), small(keep_rounds))) {}

    Figures run() {
        for (const Message& m : trajectory_.messages) {
            if (message_traits<Message>::role(m) == Role::assistant) ask();
            originals_.push_back(message_traits<Message>::to_bytes(m));
            conversation_.push_back(m, Usage{});
        }
        ask();
        figures_.summaries = asked_;
        while (conversation_.undo()) {
        }
        REQUIRE(conversation_.size() == originals_.size());
        for (std::size_t i = 0; i < originals_.size(); ++i)
            CHECK(message_traits<Message>::to_bytes(conversation_.messages()[i]) == originals_[i]);
        return figures_;
    }

private:
    [[nodiscard]] std::int64_t total() {
        return conversation_.context(chars_counter(), trajectory_.system, trajectory_.tools).total;
    }
    [[nodiscard]] std::vector<std::string> bytes_from(std::size_t first) const {
        std::vector<std::string> bytes;
        for (std::size_t i = first; i < conversation_.size(); ++i)
            bytes.push_back(message_traits<Message>::to_bytes(conversation_.messages()[i]));
        return bytes;
    }

    void ask() {
        const std::vector<std::string> current = bytes_from(first_kept());
        chain_.before_model(conversation_, {trajectory_.tools, trajectory_.system});
        const std::vector<std::string> now = bytes_from(conversation_.size() - current.size());
        const auto version = conversation_.version();
        chain_.before_model(conversation_, {trajectory_.tools, trajectory_.system});
        if (now != current || conversation_.version() != version) ++figures_.changed;
        ++figures_.calls;
        if (total() <= threshold) return;
        ++figures_.above;
        if (floor() + summary_size + frame <= threshold) ++figures_.broken;
    }

    /// By this test's own reading of the outline: the newest turn, or the newest rounds of it.
    [[nodiscard]] std::size_t first_kept() const {
        const Outline outline = conversation_.outline();
        std::size_t first = outline.newest_turn_start().value_or(outline.size());
        for (const MessageInfo* info = first < outline.size() ? &outline[first] : nullptr; info && first > 0; --first)
            if (outline[first - 1].turn != info->turn) break;
        if (!keep_rounds_) return first;
        std::vector<std::size_t> calls;
        for (const Round& round : outline.rounds())
            if (round.call_message_index >= first) calls.push_back(round.call_message_index);
        const auto kept = static_cast<std::size_t>(*keep_rounds_);
        return calls.size() < kept ? first : calls[calls.size() - kept];
    }

    /// Tokens that no compaction may touch.
    [[nodiscard]] std::int64_t floor() {
        const Outline outline = conversation_.outline();
        const std::vector<std::int64_t> tokens = conversation_.tokens_of_each(chars_counter());
        std::int64_t sum = total() - conversation_.tokens(chars_counter());
        const std::size_t kept_from = first_kept();
        for (std::size_t i = 0; i < outline.size(); ++i) {
            const bool is_open = outline[i].round_serial != 0 && outline[i].round_serial == outline.open_round_serial();
            const bool stays =
                i >= kept_from || is_open || outline[i].role == Role::system || outline.newest_turn_start() == i;
            sum += stays ? tokens[i] : 0;
        }
        return sum;
    }

    const Trajectory<>& trajectory_;
    std::optional<int> keep_rounds_;
    int asked_ = 0;
    Chain<Message> chain_;
    Conversation<Message> conversation_{"session"};
    std::vector<std::string> originals_{};
    Figures figures_{};
};

Figures replay_some(std::optional<int> keep_rounds, int sessions, std::size_t longest) {
    Figures sum;
    for (const auto& file : recorded_files()) {
        int left = sessions;
        read_trajectories(file, {}, [&](Trajectory<>&& trajectory) {
            if (trajectory.messages.size() > longest) return true;
            const Figures one = Session(trajectory, keep_rounds).run();
            sum.calls += one.calls;
            sum.above += one.above;
            sum.summaries += one.summaries;
            sum.broken += one.broken;
            sum.changed += one.changed;
            return --left > 0;
        });
    }
    return sum;
}

}  // namespace

TEST_CASE("no recorded request leaves above the threshold unless what has to stay is above it", "[data]") {
    if (recorded_files().empty()) SKIP_WITH_MESSAGE("there are no recorded trajectories here");
    const Figures whole_turns = replay_some(std::nullopt, 2, 200);
    CHECK(whole_turns.calls > 100);
    CHECK(whole_turns.broken == 0);
    CHECK(whole_turns.changed == 0);
    const Figures rounds = replay_some(3, 2, 200);
    CHECK(rounds.broken == 0);
    CHECK(rounds.changed == 0);
    CHECK(rounds.summaries > whole_turns.summaries);
    CHECK(rounds.above < whole_turns.above);
}

// Minutes: for the figures of docs/compaction.md.
TEST_CASE("all recorded requests", "[.figures]") {
    for (const std::optional<int> keep : {std::optional<int>(), std::optional<int>(3)}) {
        const Figures figures = replay_some(keep, 1'000'000, 1'000'000);
        WARN((keep ? "three rounds: " : "the whole turn: ")
             << figures.calls << " calls, " << figures.above << " above, " << figures.summaries << " summaries");
        CHECK(figures.broken == 0);
        CHECK(figures.changed == 0);
    }
}
