// The host's button: a conversation made smaller below any trigger.
#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/compaction/compaction.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/pruning/pruning.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/summarization/summarization.hpp"
#include "whittle/trimming/trimming.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using whittle::testing::errc_of;
using namespace whittle;

namespace {

constexpr int rounds = 12;

/// A question, and rounds of a call with a result of about 1,000 tokens.
Conversation<> reading() {
    Conversation<> conversation("button");
    conversation.push_back(ChatMessage::user("read them all"));
    for (int i = 0; i < rounds; ++i) {
        const std::string id = "r" + std::to_string(i);
        conversation.push_back(ChatMessage::assistant("").call(id, "read_file", "{\"path\":\"" + id + "\"}"));
        conversation.push_back(ChatMessage::result(id, "read_file", std::string(4'000, static_cast<char>('a' + i))));
    }
    conversation.push_back(ChatMessage::assistant("That is all."));
    return conversation;
}

ChainConfig with_memory() {
    ChainConfig config;
    config.storage = memory_storage();
    return config;
}

/// Nothing is due before 160,000 tokens.
Chain<> clearing() { return Chain{with_memory(), Reduction{{.skip_truncation = true}}}; }

/// Which results are no longer what they were, by round.
std::vector<int> cleared(const Conversation<>& conversation) {
    std::vector<int> gone;
    for (std::size_t i = 0; i < conversation.size(); ++i) {
        const MessageInfo& info = conversation.outline()[i];
        if (info.role == Role::tool && origin_of(mark_of(info, 0)) != Origin::original)
            gone.push_back(static_cast<int>(i / 2) - 1);
    }
    return gone;
}

Serial serial_at(const Conversation<>& conversation, std::size_t index) { return conversation.outline()[index].serial; }

std::shared_ptr<ScriptedModel<ChatMessage>> summarizer(int* calls = nullptr) {
    return std::make_shared<ScriptedModel<ChatMessage>>([calls](const ModelRequest<ChatMessage>&) {
        if (calls != nullptr) ++*calls;
        return Reply<ChatMessage>{ChatMessage::assistant("<summary>The files r0 to r11 were read.</summary>")};
    });
}

}  // namespace

TEST_CASE("a host compacts below any trigger, down to what it asks for", "[compact_now]") {
    Conversation<> conversation = reading();
    const Chain<> chain = clearing();
    CHECK_FALSE(chain.before_model(conversation).changed());

    const Report& report = chain.compact_now(conversation, {.target_tokens = 8'000});
    CHECK(report.changed());
    CHECK(report.tokens_after <= 8'000);
    CHECK(conversation.undo());
    CHECK(cleared(conversation).empty());
}

TEST_CASE("compaction on demand goes no further than its target: half without one", "[compact_now]") {
    Conversation<> conversation = reading();
    const std::int64_t before = conversation.tokens(chars_counter());
    const Report& half = clearing().compact_now(conversation);
    CHECK(half.hook == Hook::compact_now);
    CHECK(half.stages.front().threshold == half.tokens_before / 2);
    CHECK(half.tokens_after <= before / 2);
    CHECK(half.tokens_after > before / 2 - 1'100);
    CHECK(cleared(conversation).front() == 0);

    const Report& again = clearing().compact_now(conversation, {.target_tokens = before});
    CHECK_FALSE(again.changed());
    CHECK(again.stages.front().outcome == Outcome::not_due);
}

TEST_CASE("compaction on demand leaves newest results whole, however low the target", "[compact_now]") {
    Conversation<> conversation = reading();
    CHECK(clearing().compact_now(conversation, {.target_tokens = 10}).tokens_after > 10);
    CHECK(cleared(conversation).size() < rounds);
    const auto kept = static_cast<std::size_t>(ReductionConfig{}.clear_retention_suffix_limit);
    CHECK(cleared(conversation).size() == rounds - kept);
}

TEST_CASE("compaction from a message and up to one touches nothing outside", "[compact_now]") {
    Conversation<> conversation = reading();
    const CompactOptions middle{
        .target_tokens = 1, .from = serial_at(conversation, 5), .stop_before = serial_at(conversation, 11)};
    CHECK(clearing().compact_now(conversation, middle).changed());
    CHECK(cleared(conversation) == std::vector<int>{2, 3, 4});

    Conversation<> front = reading();
    clearing().compact_now(front, {.target_tokens = 1, .stop_before = serial_at(front, 7)});
    CHECK(cleared(front) == std::vector<int>{0, 1, 2});

    Conversation<> back = reading();
    clearing().compact_now(back, {.target_tokens = 1, .from = serial_at(back, 13)});
    CHECK(cleared(back).front() == 6);
}

TEST_CASE("a summary on demand folds the messages of its range alone", "[compact_now]") {
    Conversation<> conversation = reading();
    const Chain<> chain{with_memory(), Summarization{summarizer(), {.keep_recent_tokens = 100}}};
    const std::size_t size = conversation.size();
    const std::string newest = text_of(conversation.messages()[16]);
    const Report& report =
        chain.compact_now(conversation, {.target_tokens = 1, .stop_before = serial_at(conversation, 15)});
    REQUIRE(report.changed());
    CHECK(conversation.size() < size);
    std::size_t results = 0;
    for (const ChatMessage& message : conversation.messages()) results += message.role == Role::tool ? 1 : 0;
    CHECK(results == 5);  // rounds 7 to 11
    CHECK(validate(conversation.outline(), chain.config().profile.validity).empty());
    CHECK(std::ranges::any_of(conversation.messages(),
                              [&](const ChatMessage& message) { return text_of(message) == newest; }));
    CHECK(conversation.undo());
    CHECK(conversation.size() == size);
}

TEST_CASE("compaction on demand spends what it may, and says why nothing came of it", "[compact_now]") {
    Conversation<> conversation = reading();
    int calls = 0;
    const Chain<> chain{with_memory(), Summarization{summarizer(&calls), {.keep_recent_tokens = 100}}};
    const Report& report = chain.compact_now(conversation, {.limits = HookLimits{.model_calls = 0}});
    CHECK_FALSE(report.changed());
    CHECK(calls == 0);
    CHECK(chain.compact_now(conversation).changed());
    CHECK(calls == 1);
}

TEST_CASE("a dry run of compaction on demand lists what it would take and changes nothing", "[compact_now]") {
    Conversation<> conversation = reading();
    const ChainConfig config = with_memory();
    const Chain<> chain{config, Reduction{{.skip_truncation = true}}};
    const Report& report = chain.compact_now(conversation, {.target_tokens = 5'000, .dry_run = true});
    const StageReport& stage = report.stages.front();
    CHECK(stage.outcome == Outcome::planned);
    REQUIRE(stage.details);
    CHECK(std::ranges::count(stage.details->candidates, true, &Candidate::removed) >= 7);
    CHECK(cleared(conversation).empty());
    CHECK(conversation.journal().empty());
    std::size_t objects = 0;
    config.storage->list("", [&](const ObjectInfo&) { return ++objects > 0; });
    CHECK(objects == 0);
    CHECK(chain.compact_now(conversation, {.target_tokens = 5'000}).changed());
}

TEST_CASE("a bad option of compaction on demand is an error, and nothing is changed", "[compact_now]") {
    Conversation<> conversation = reading();
    const Chain<> chain = clearing();
    const auto refused = [&](const CompactOptions& options) {
        return errc_of([&] { chain.compact_now(conversation, options); }) == Errc::invalid_argument;
    };
    CHECK(refused({.target_tokens = -1}));
    CHECK(refused({.from = Serial{999'999}}));
    CHECK(refused({.stop_before = Serial{999'999}}));
    CHECK(refused({.from = serial_at(conversation, 9), .stop_before = serial_at(conversation, 9)}));
    CHECK(refused({.from = serial_at(conversation, 9), .stop_before = serial_at(conversation, 3)}));
    CHECK(errc_of([&] { chain.compact_now(conversation, {.limits = HookLimits{.model_calls = -1}}); }) ==
          Errc::invalid_config);
    CHECK(conversation.journal().empty());
    Conversation<> empty("empty");
    CHECK_FALSE(chain.compact_now(empty).changed());
}

namespace {

/// Does on overflow what a middleware from before this hook does.
class Plain : public Middleware<> {
public:
    explicit Plain(std::string_view name) : name_(name) {}
    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    bool on_overflow(Turn<>& turn, const Overflow&) override {
        seen = turn.report.threshold;
        return false;
    }
    std::int64_t seen = 0;

private:
    std::string_view name_;
};

class Own final : public Plain {
public:
    using Plain::Plain;
    void compact_now(Turn<>& turn) override { asked = turn.report.count; }
    std::int64_t asked = 0;
};

}  // namespace

TEST_CASE("a middleware is asked by its own hook, or by that of an overflow", "[compact_now]") {
    const auto plain = std::make_shared<Plain>("plain");
    const auto own = std::make_shared<Own>("own");
    const Chain<> chain{ChainConfig{}, {}, {plain, own}};
    Conversation<> conversation = reading();
    const std::int64_t tokens = chain.compact_now(conversation, {.target_tokens = 77}).tokens_before;
    CHECK(plain->seen == 77);
    CHECK(own->seen == 0);
    CHECK(own->asked == tokens);
}

TEST_CASE("a lower target never leaves more, down to what has to stay", "[compact_now]") {
    std::int64_t before = INT64_MAX;
    for (const std::int64_t target : {9'000, 6'000, 4'000, 3'000, 1'000, 1}) {
        Conversation<> conversation = reading();
        const Chain<> chain{with_memory(), Summarization{summarizer(), {}}};
        const Report& report = chain.compact_now(conversation, {.target_tokens = target});
        CAPTURE(target, report.tokens_after);
        CHECK(report.changed());
        CHECK(report.tokens_after <= before);
        before = report.tokens_after;
    }
    CHECK(before < 3'000);
}

TEST_CASE("trimming goes on outside of the range of an earlier button", "[compact_now]") {
    const auto run = [](bool is_pressed) {
        Conversation<> conversation("lines");
        conversation.push_back(ChatMessage::user("read them all"));
        const Chain<> chain{with_memory(), Trimming{{.start_tokens = 8'000}}};
        for (int i = 0; i < 60; ++i) {
            chain.before_model(conversation);
            const std::string id = "s" + std::to_string(i);
            conversation.push_back(ChatMessage::assistant("").call(id, "read_file", "{\"path\":\"" + id + "\"}"));
            chain.after_model(conversation);
            std::string text;
            for (int line = 0; line < 40; ++line)
                text += "line " + std::to_string(line) + " of the file " + id + " says nothing new\n";
            conversation.push_back(ChatMessage::result(id, "read_file", text));
            if (is_pressed && i == 5)
                chain.compact_now(conversation, {.target_tokens = 1, .stop_before = serial_at(conversation, 3)});
        }
        return cleared(conversation).size();
    };
    CHECK(run(false) > 20);
    CHECK(run(true) > 20);
}

TEST_CASE("the button repairs nothing: no request follows, and a call may still run", "[compact_now]") {
    ChainConfig config = with_memory();
    config.repair = true;
    const Chain<> chain{config, Reduction{{.skip_truncation = true}}};
    Conversation<> conversation = reading();
    conversation.push_back(ChatMessage::user("two more"));
    conversation.push_back(ChatMessage::assistant("").call("x", "read_file", "{}").call("y", "read_file", "{}"));
    conversation.push_back(ChatMessage::result("x", "read_file", "first"));
    const std::size_t size = conversation.size();
    CHECK(chain.compact_now(conversation, {.target_tokens = 5'000}).changed());
    CHECK(conversation.size() == size);
    conversation.push_back(ChatMessage::result("y", "read_file", "second"));
    CHECK(validate(conversation.outline(), openai_chat()).empty());
}

namespace {

/// Wishes of the user, each followed by rounds whose results have about 1,000 tokens, all different.
Conversation<> wishes(int count) {
    Conversation<> conversation("wishes");
    for (int w = 0; w < count; ++w) {
        conversation.begin_turn();
        conversation.push_back(ChatMessage::user("wish " + std::to_string(w) + ": mend part " + std::to_string(w)));
        for (int i = 0; i < 3; ++i) {
            const std::string id = std::to_string(w) + "_" + std::to_string(i);
            conversation.push_back(ChatMessage::assistant("").call(id, "read_file", "{\"path\":\"" + id + "\"}"));
            std::string text;
            for (int line = 0; line < 80; ++line)
                text += "line " + std::to_string(line) + " of the file " + id + ", which nobody else has\n";
            conversation.push_back(ChatMessage::result(id, "read_file", text));
        }
        conversation.push_back(ChatMessage::assistant("Mended part " + std::to_string(w) + "."));
    }
    return conversation;
}

std::string all_text_of(const Conversation<>& conversation) {
    std::string text;
    for (const ChatMessage& m : conversation.messages()) text += text_of(m) + "\n";
    return text;
}

}  // namespace

TEST_CASE("compaction on demand stops near the target, whatever the middleware", "[compact_now]") {
    const SummarizationConfig by_rule{.rule_based_summary_tokens = 1'500};
    const std::shared_ptr<Model<ChatMessage>> no_model;
    const std::vector<std::pair<std::string, std::shared_ptr<Middleware<>>>> all{
        {"trimming", std::make_shared<Trimming<>>()},
        {"trimming by lines", std::make_shared<Trimming<>>(TrimmingConfig{.unit = TrimUnit::lines})},
        {"reduction", std::make_shared<Reduction<>>(ReductionConfig{.skip_truncation = true})},
        {"pruning", std::make_shared<Pruning<>>()},
        {"summarization", std::make_shared<Summarization<>>(summarizer())},
        {"summarization by rule", std::make_shared<Summarization<>>(no_model, by_rule)},
        {"compaction", std::make_shared<Compaction<>>(summarizer())}};
    for (const auto& [name, middleware] : all) {
        for (const std::int64_t target : {30'000, 40'000}) {
            INFO(name << " to " << target);
            Conversation<> conversation = wishes(20);
            const Chain<> chain(with_memory(), Chain<>::Stages{middleware});
            const Report& report = chain.compact_now(conversation, {.target_tokens = target});
            REQUIRE(report.tokens_before > 50'000);
            CHECK(report.tokens_after <= target);
            CHECK(report.tokens_after > target - target / 5);
        }
    }
}

TEST_CASE("compaction on demand keeps the user's messages while there is room for them", "[compact_now]") {
    const std::shared_ptr<Model<ChatMessage>> no_model;
    const Chain<> chain{with_memory(), Summarization<>{no_model, {.rule_based_summary_tokens = 1'000}}};
    for (const std::int64_t target : {5'000, 8'000, 20'000}) {
        INFO(target);
        Conversation<> conversation("wordy");
        for (int w = 0; w < 30; ++w) {
            conversation.push_back(ChatMessage::user("wish " + std::to_string(w) + " " +
                                                     std::string(280, static_cast<char>('a' + w % 26))));
            conversation.push_back(ChatMessage::assistant(std::string(8'000, 'r')));
        }
        const Report& report = chain.compact_now(conversation, {.target_tokens = target});
        CHECK(report.tokens_after <= target);
        const std::string text = all_text_of(conversation);
        int kept = 0;
        for (int w = 0; w < 30; ++w) kept += text.find("wish " + std::to_string(w) + " ") != std::string::npos ? 1 : 0;
        CHECK(kept == 30);  // about 2,200 tokens
    }
}
