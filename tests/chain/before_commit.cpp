// The host's word before each commit: the plan in hand, and a veto that leaves nothing behind.
#include "support/catch.hpp"
#include "support/generators.hpp"
#include "support/generators_messages.hpp"
#include "support/tuned_trimming.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/compaction/compaction.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/pruning/pruning.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/summarization/summarization.hpp"
#include "whittle/token_saving/token_saving.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

template <AgentMessage M>
using StageList = std::vector<std::shared_ptr<Middleware<M>>>;

/// What the host was shown, as values: a plan is a view.
struct Seen {
    std::string middleware{};
    std::string reason{};
    Hook hook{};
    bool needs_model = false;
    std::size_t size_after = 0;
    std::size_t first_changed = 0;
    std::vector<Serial> touched{};
    std::int64_t saved = 0;
};

/// Answers what `answer` says, and writes down what it was asked.
struct Host {
    std::function<bool(const CommitPlan&)> answer = [](const CommitPlan&) { return false; };
    std::vector<Seen> seen{};

    [[nodiscard]] ChainConfig config() {
        ChainConfig config;
        config.storage = memory_storage();
        config.before_commit = [this](const CommitPlan& plan) {
            seen.push_back({std::string(plan.middleware),
                            std::string(plan.reason),
                            plan.hook,
                            plan.needs_model,
                            plan.after.size(),
                            plan.first_changed,
                            {plan.touched.begin(), plan.touched.end()},
                            plan.message_tokens_before - plan.message_tokens_after});
            return answer(plan);
        };
        return config;
    }
};

template <AgentMessage M = ChatMessage>
std::shared_ptr<Model<M>> summary_writer(int* calls = nullptr) {
    return std::make_shared<ScriptedModel<M>>([calls](const ModelRequest<M>&) {
        if (calls != nullptr) ++*calls;
        return Reply<M>{message_traits<M>::make(Role::assistant, "<summary>What was done so far.</summary>")};
    });
}

/// A question, and rounds of a call with a result of about 1,000 tokens.
Conversation<> reading_files(int rounds = 12) {
    Conversation<> conversation("veto");
    conversation.push_back(ChatMessage::user("read them all"));
    for (int i = 0; i < rounds; ++i) {
        const std::string id = "f" + std::to_string(i);
        conversation.push_back(ChatMessage::assistant("").call(id, "read_file", "{\"path\":\"" + id + "\"}"));
        conversation.push_back(ChatMessage::result(id, "read_file", std::string(4'000, static_cast<char>('a' + i))));
    }
    return conversation;
}

SummarizationConfig folding_at(std::int64_t tokens) {
    return {.trigger = {.context_tokens = tokens}, .keep_recent_tokens = 2'000};
}

CompactionConfig ladder_at(std::int64_t threshold, std::int64_t target) {
    CompactionConfig config;
    config.threshold_tokens = threshold;
    config.target_tokens = target;
    config.summary_size_tokens = target / 4;
    config.current_turn_keep_rounds = 1;
    return config;
}

/// One of each, made so that it has something to do on short histories.
template <AgentMessage M>
StageList<M> eager_stage(int which) {
    switch (which) {
        case 0:
            return {
                std::make_shared<Reduction<M>>(ReductionConfig{.skip_truncation = true, .max_tokens_for_clear = 100})};
        case 1: {
            PruningConfig config{.skip_boundary_turns = 1};
            config.minimum_gain_tokens = 0;
            config.protect_newest_tokens = 0;
            return {std::make_shared<Pruning<M>>(config)};
        }
        case 2:
            return {std::make_shared<Summarization<M>>(
                summary_writer<M>(),
                SummarizationConfig{.trigger = {.context_tokens = 300}, .keep_recent_tokens = 50})};
        case 3: return {std::make_shared<Compaction<M>>(summary_writer<M>(), ladder_at(400, 250))};
        case 4: {
            TokenSavingConfig config;
            config.head_keep_chars = 40;
            config.tail_keep_chars = 20;
            config.compress_threshold_chars = 80;
            config.keep_recent_tool_messages = 1;
            config.batch_calls = 1;
            return {std::make_shared<TokenSaving<M>>(config)};
        }
        default: return {std::make_shared<TunedTrimming<M>>(eager_trimming(TrimUnit::lines))};
    }
}

template <AgentMessage M>
std::vector<Hash128> prints_of(const Conversation<M>& conversation) {
    std::vector<Hash128> prints;
    for (const M& message : conversation.messages()) prints.push_back(fingerprint(message));
    return prints;
}

/// Hooks of a whole history; true if one of them changed something.
template <AgentMessage M>
bool drive(Conversation<M>& conversation, const Chain<M>& chain, const History& history) {
    bool is_changed = false;
    for (const ChatMessage& one : history) {
        if (one.role == Role::assistant) is_changed |= chain.before_model(conversation).changed();
        for (M& message : Builder<M>::build(one)) conversation.push_back(std::move(message));
        if (one.role == Role::assistant) chain.after_model(conversation);
    }
    return is_changed | chain.before_model(conversation).changed();
}

}  // namespace

TEST_CASE("a host sees each plan before it is committed, and may refuse it", "[before_commit]") {
    ChainConfig config;
    config.before_commit = [](const CommitPlan& plan) {
        return plan.message_tokens_before - plan.message_tokens_after >= 5'000;  // less is not worth a cold cache
    };
    const Chain chain{config, Reduction{{.skip_truncation = true, .max_tokens_for_clear = 4'000}}};

    Conversation<> small = reading_files(5);
    CHECK(chain.before_model(small).stages.front().outcome == Outcome::vetoed);
    CHECK(small.journal().empty());

    Conversation<> large = reading_files(12);
    CHECK(chain.before_model(large).changed());
}

TEST_CASE("the plan names who, why, where, and what it saves", "[before_commit]") {
    Host host;
    host.answer = [](const CommitPlan&) { return true; };
    const Chain chain{host.config(), Reduction{{.skip_truncation = true, .max_tokens_for_clear = 4'000}}};
    Conversation<> conversation = reading_files();
    const Report& report = chain.before_model(conversation);
    REQUIRE(report.changed());
    REQUIRE(host.seen.size() == 1);
    const Seen& plan = host.seen.front();
    CHECK(plan.middleware == "reduction");
    CHECK_FALSE(plan.reason.empty());
    CHECK(plan.hook == Hook::before_model);
    CHECK_FALSE(plan.needs_model);
    CHECK(plan.size_after == conversation.size());
    CHECK(plan.first_changed == *report.stages.front().details->first_changed);
    CHECK(plan.saved == report.stages.front().details->tokens_before - report.stages.front().details->tokens_after);
    std::vector<Serial> changed;
    for (const auto& splice : conversation.journal().back()->undo)
        for (const MessageInfo& info : splice.infos) changed.push_back(info.serial);
    CHECK(plan.touched == changed);
}

TEST_CASE("a veto leaves every byte, stores nothing, and the report says so", "[before_commit]") {
    Host host;
    ChainConfig config = host.config();
    const Chain chain{config, Reduction{{.skip_truncation = true, .max_tokens_for_clear = 4'000}}};
    Conversation<> conversation = reading_files();
    const auto before = prints_of(conversation);
    const Report& report = chain.before_model(conversation);
    CHECK_FALSE(report.changed());
    CHECK(report.tokens_after == report.tokens_before);
    const StageReport& stage = report.stages.front();
    CHECK(stage.outcome == Outcome::vetoed);
    CHECK(stage.details->stored_keys.empty());
    REQUIRE_FALSE(stage.details->candidates.empty());
    for (const Candidate& candidate : stage.details->candidates) CHECK_FALSE(candidate.removed);
    CHECK(std::ranges::any_of(stage.details->candidates, [](const Candidate& c) { return c.rule == "vetoed"; }));
    CHECK(to_text(report).find("vetoed") != std::string::npos);
    CHECK(prints_of(conversation) == before);
    int objects = 0;
    config.storage->list("", [&](const ObjectInfo&) { return ++objects > 0; });
    CHECK(objects == 0);
}

TEST_CASE("whoever commits can be refused, on every message type", "[before_commit]") {
    for_each_message_type([](auto type) {
        using M = typename decltype(type)::type;
        for (int which = 0; which < 6; ++which) {
            int changed = 0;
            for (std::uint64_t seed = 1; seed <= 6; ++seed) {
                const History history = generate_history(seed, {});
                Host no;
                const Chain<M> refused{no.config(), ChainCallbacks<M>{}, eager_stage<M>(which)};
                Conversation<M> stays("c");
                INFO(Builder<M>::name << ", stage " << which << ", history " << seed);
                CHECK_FALSE(drive(stays, refused, history));
                CHECK(stays.journal().empty());

                Host yes;
                yes.answer = [](const CommitPlan&) { return true; };
                const Chain<M> allowed{yes.config(), ChainCallbacks<M>{}, eager_stage<M>(which)};
                Conversation<M> goes("c");
                const bool is_changed = drive(goes, allowed, history);
                if (is_changed) CHECK_FALSE(no.seen.empty());
                CHECK(is_changed == !yes.seen.empty());
                changed += is_changed ? 1 : 0;
            }
            INFO(Builder<M>::name << ", stage " << which);
            if constexpr (ToolMessage<M>) CHECK(changed > 0);
        }
    });
}

TEST_CASE("a summary is refused before the model is paid, and not asked for again at once", "[before_commit]") {
    for (const bool by_ladder : {false, true}) {
        Host host;
        int calls = 0;
        const StageList<ChatMessage> stages =
            by_ladder
                ? StageList<ChatMessage>{std::make_shared<Compaction<>>(summary_writer(&calls),
                                                                        ladder_at(6'000, 2'000))}
                : StageList<ChatMessage>{std::make_shared<Summarization<>>(summary_writer(&calls), folding_at(6'000))};
        const Chain<> chain{host.config(), ChainCallbacks<>{}, stages};
        Conversation<> conversation = reading_files();
        if (by_ladder) {
            conversation.push_back(ChatMessage::assistant("done"));
            conversation.push_back(ChatMessage::user("and now?"));
        }
        INFO((by_ladder ? "compaction" : "summarization"));
        CHECK(chain.before_model(conversation).stages.front().outcome == Outcome::vetoed);
        CHECK(calls == 0);
        REQUIRE(host.seen.size() == 1);
        CHECK(host.seen.front().needs_model == !by_ladder);
        CHECK(chain.before_model(conversation).stages.front().outcome == Outcome::cooling_down);
        CHECK(host.seen.size() == 1);
    }
}

TEST_CASE("a summary that was allowed is asked for once more with its words", "[before_commit]") {
    Host host;
    int calls = 0;
    host.answer = [&](const CommitPlan& plan) { return plan.needs_model; };
    const Chain<> chain{host.config(), Summarization<>{summary_writer(&calls), folding_at(6'000)}};
    Conversation<> conversation = reading_files();
    const auto before = prints_of(conversation);
    CHECK(chain.before_model(conversation).stages.front().outcome == Outcome::vetoed);
    CHECK(calls == 1);
    REQUIRE(host.seen.size() == 2);
    CHECK(host.seen[0].needs_model);
    CHECK_FALSE(host.seen[1].needs_model);
    CHECK(host.seen[1].reason == "summary");
    CHECK(prints_of(conversation) == before);
}

TEST_CASE("what the host throws fails the middleware, and changes nothing", "[before_commit]") {
    for (const OnError on_error : {OnError::skip, OnError::propagate}) {
        Host host;
        host.answer = [](const CommitPlan&) -> bool { throw std::runtime_error("the dialog broke"); };
        ChainConfig config = host.config();
        config.on_error = on_error;
        const Chain chain{config, Reduction{{.skip_truncation = true, .max_tokens_for_clear = 4'000}}};
        Conversation<> conversation = reading_files();
        const auto before = prints_of(conversation);
        if (on_error == OnError::propagate) {
            CHECK_THROWS_WITH(chain.before_model(conversation), "the dialog broke");
        } else {
            const Report& report = chain.before_model(conversation);
            CHECK(report.stages.front().outcome == Outcome::failed);
            CHECK(report.stages.front().details->error.find("the dialog broke") != std::string::npos);
        }
        CHECK(prints_of(conversation) == before);
    }
}

TEST_CASE("a dry run and the chain's own repairs ask nobody", "[before_commit]") {
    Host host;
    ChainConfig dry = host.config();
    dry.dry_run = true;
    Conversation<> conversation = reading_files();
    const Chain plans{dry, Reduction{{.skip_truncation = true, .max_tokens_for_clear = 4'000}}};
    CHECK(plans.before_model(conversation).stages.front().outcome == Outcome::planned);

    ChainConfig mends = host.config();
    mends.repair = true;
    Conversation<> broken("broken");
    broken.push_back(ChatMessage::user("go"));
    broken.push_back(ChatMessage::assistant("").call("a", "run", "{}"));
    broken.push_back(ChatMessage::user("still there?"));
    const Chain<> chain{mends, ChainCallbacks<>{}, StageList<ChatMessage>{}};
    CHECK(chain.before_model(broken).changed());
    CHECK(host.seen.empty());
}

TEST_CASE("a veto at a host's button and on overflow makes nothing smaller", "[before_commit]") {
    Host host;
    const Chain chain{host.config(), Reduction{{.skip_truncation = true}}};
    Conversation<> conversation = reading_files();
    CHECK_FALSE(chain.compact_now(conversation, {.target_tokens = 100}).changed());
    CHECK_FALSE(chain.on_overflow(conversation, {.context_limit_tokens = 5'000, .requested_tokens = 20'000}));
    REQUIRE(host.seen.size() == 2);
    CHECK(host.seen[0].hook == Hook::compact_now);
    CHECK(host.seen[1].hook == Hook::on_overflow);
    CHECK(conversation.journal().empty());
}
