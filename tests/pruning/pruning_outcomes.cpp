// Media of results, whoever they stand beside, and what a stage of pruning must not lose, repeat or misreport.
#include "media.hpp"
#include "pruning_talk.hpp"
#include "support/catch.hpp"
#include "support/faulty_storage.hpp"
#include "support/picky_storage.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/compaction/compaction.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/saved/side_table.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// A closed round of one call per tool, each result with a text and an image.
template <AgentMessage M>
Conversation<M> shots(const std::vector<std::string>& tools) {
    Conversation<M> c("conv");
    c.push_back(message_traits<M>::make(Role::user, "do"));
    for (std::size_t i = 0; i < tools.size(); ++i) {
        const std::string id = "a" + std::to_string(i);
        c.push_back(calling<M>(id, tools[i], R"({"n":)" + std::to_string(i) + "}"));
        c.push_tool_results(
            std::vector{ToolResult{id, tools[i], {{.kind = PartKind::text, .text = output(id)}, image()}}});
    }
    c.push_back(message_traits<M>::make(Role::assistant, "ok"));
    return c;
}

template <AgentMessage M>
void prune_all(Conversation<M>& c, PruningConfig config = {}) {
    config.skip_boundary_turns = 0;
    Chain<M>(chain_for<M>(memory_storage()), Pruning<M>(config)).before_model(c);
}

/// Compaction as its first two stages, pruning with a budget that keeps everything.
template <AgentMessage M>
void strip_by_ladder(Conversation<M>& c, PruningConfig config, ChainConfig chain = chain_for<M>(memory_storage())) {
    config.protect_newest_tokens = 1'000'000;
    c.push_back(message_traits<M>::make(Role::user, "next"));
    const CompactionConfig ladder{
        .threshold_tokens = 10, .target_tokens = 5, .summary_size_tokens = 2, .pruning = std::move(config)};
    Chain<M>(std::move(chain), Compaction<M>(nullptr, ladder)).before_model(c);
}

/// Images cost by their size.
class BySize final : public TokenCounter {
public:
    [[nodiscard]] std::string_view id() const noexcept override { return "by_size"; }
    [[nodiscard]] std::int64_t measure_units(std::string_view text) const override {
        return static_cast<std::int64_t>(text.size() / 4);
    }
    [[nodiscard]] std::int64_t media_tokens(const MediaView& media) const override {
        return static_cast<std::int64_t>(media.width) * media.height / 750;
    }
};

Part picture(int side) {
    return {.kind = PartKind::media,
            .media = {.mime = "image/png", .bytes = std::to_string(side), .width = side, .height = side}};
}

bool wants_first(const PruningDetail& result) { return result.arguments.find("0") != std::string_view::npos; }

}  // namespace

TEMPLATE_TEST_CASE("an image of a protected tool's result stays, also where it stands beside the round", "[media]",
                   ChatMessage, openai::Message, anthropic::Message) {
    auto c = shots<TestType>({"skill", "shot"});
    const auto stage = std::make_shared<Strip<TestType>>(MediaMode::reference);
    Chain<TestType>(chain_for<TestType>(memory_storage()), {}, {stage}).before_model(c);
    CHECK(stage->gain.count == 1);
    CHECK(count_images(c) == 1);
    CHECK(count_images(c) + 1 == count_images(shots<TestType>({"skill", "shot"})));
}

TEMPLATE_TEST_CASE("the ladder keeps images of results that its pruning protects", "[media]", ChatMessage,
                   openai::Message, anthropic::Message) {
    const bool by_name = GENERATE(true, false);
    auto c = shots<TestType>({"memory", "shot"});
    PruningConfig config;
    if (by_name) config.protected_tools = {"memory"};
    if (!by_name) config.protect = wants_first;
    strip_by_ladder(c, config);
    CHECK(count_images(c) == 1);
    auto all = shots<TestType>({"memory", "shot"});
    strip_by_ladder(all, {});
    CHECK(count_images(all) == 0);
}

TEST_CASE("the ladder's images go to the store of its pruning", "[media]") {
    const auto own = memory_storage();
    const auto chains = memory_storage();
    auto c = shots<ChatMessage>({"shot"});
    strip_by_ladder(c, {.storage = own}, chain_for<ChatMessage>(chains));
    std::size_t objects = 0;
    own->list("conv/media/", [&](const ObjectInfo&) { return ++objects, true; });
    chains->list("", [&](const ObjectInfo&) { return objects += 100, true; });
    CHECK(objects == 1);
}

TEMPLATE_TEST_CASE("an image goes with its result, wherever the message type puts it, unless the result stays",
                   "[pruning]", ChatMessage, openai::Message, anthropic::Message) {
    auto c = shots<TestType>({"shot", "shot"});
    prune_all(c);
    CHECK(count_images(c) == 0);
    const std::uint64_t version = c.version();
    prune_all(c);
    CHECK(c.version() == version);
    REQUIRE(c.undo());
    CHECK(count_images(c) == 2);
    auto kept = shots<TestType>({"skill", "shot"});
    prune_all(kept);
    CHECK(count_images(kept) == 1);
    auto wanted = shots<TestType>({"shot", "shot"});
    prune_all(wanted, {.protect = wants_first});
    CHECK(count_images(wanted) == 1);
}

TEST_CASE("partial pruning leaves alone what is no longer than head and tail", "[pruning]") {
    const std::size_t bytes = GENERATE(1'000U, 1'400U, 1'500U);
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant().call("a", "run"));
    c.push_back(ChatMessage::result("a", "run", std::string(bytes, 'x')));
    c.push_back(ChatMessage::assistant("done"));
    prune_all(c, {.partial = true});
    CHECK(text(c, 2) == std::string(bytes, 'x'));
}

TEST_CASE("an icon beside a large image stays: its reference would be larger", "[media]") {
    const bool by_pruning = GENERATE(false, true);
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant().call("a", "shot"));
    c.push_tool_results(std::vector{ToolResult{"a", "shot", {picture(8), picture(1'000)}}});
    c.push_back(ChatMessage::assistant("done"));
    const ChainConfig config{.token_counter = std::make_shared<BySize>(), .storage = memory_storage()};
    if (by_pruning) {
        Chain<>(config, Pruning<>(PruningConfig{.skip_boundary_turns = 0})).before_model(c);
    } else {
        Chain<>(config, Strip<ChatMessage>(MediaMode::reference)).before_model(c);
    }
    CHECK(c.messages()[2].parts[0].kind == PartKind::media);
    CHECK(c.messages()[2].parts[1].text.starts_with("[image: ref://"));
}

TEST_CASE("a dry run leaves no note that hides a change of settings", "[pruning]") {
    Conversation c = talk(1);
    const PruningConfig costly{.skip_boundary_turns = 0, .minimum_gain_tokens = 20'000};
    prune(c, costly, ChainConfig{.dry_run = true});
    prune(c, {.skip_boundary_turns = 0});
    CHECK(pruned(c) == Indices{2});
}

TEST_CASE("an explained run names its candidates at every call", "[pruning]") {
    Conversation c = talk(2);
    const PruningConfig config{.protect = [](const PruningDetail&) { return true; }, .skip_boundary_turns = 0};
    for (int call = 0; call < 2; ++call) {
        const Report& report = prune(c, config, ChainConfig{.explain = true});
        REQUIRE(report.find("pruning")->details);
        CHECK(report.find("pruning")->details->candidates.size() == 2);
    }
}

TEST_CASE("a result that is unpinned goes at the next call", "[pruning]") {
    Conversation c = talk(1);
    const Serial serial = c.outline()[2].serial;
    REQUIRE(c.pin(serial));
    prune(c, {.skip_boundary_turns = 0});
    REQUIRE(pruned(c).empty());
    REQUIRE(c.unpin(serial));
    prune(c, {.skip_boundary_turns = 0});
    CHECK(pruned(c) == Indices{2});
}

TEST_CASE("what the store refused is not reported as cut", "[pruning]") {
    Conversation c = talk(3);
    const auto storage = std::make_shared<FaultyStorage>(memory_storage(), 2);
    std::vector<std::string> told;
    const ChainCallbacks<> callbacks{.on_event = [&](const Event& e) {
        if (e.kind == "store_failed") told.emplace_back(e.source);
    }};
    const Chain<> chain(ChainConfig{.storage = storage}, callbacks, Pruning<>({.skip_boundary_turns = 0}));
    const Report& report = chain.before_model(c);
    REQUIRE(pruned(c) == Indices{2, 8});
    CHECK(told == std::vector<std::string>{"pruning"});
    std::vector<std::string> rules;
    for (const Candidate& candidate : report.find("pruning")->details->candidates) {
        rules.emplace_back(candidate.rule);
        CHECK(candidate.removed == (candidate.tokens_freed > 0));
    }
    CHECK(rules == std::vector<std::string>{"old_output", "store_refused", "old_output"});
}

TEST_CASE("what one middleware pruned no other one prunes again", "[pruning]") {
    Conversation c = talk(2);
    const PruningConfig all{.skip_boundary_turns = 0};
    PruningConfig plain = all;
    plain.placeholder = "<...>";
    Chain<>(ChainConfig{.storage = memory_storage()}, Pruning<>(all, "one"), Pruning<>(plain, "two")).before_model(c);
    for (const PrunedOutput& output : pruned_outputs(c)) {
        CHECK(output.by == "one");
        CHECK(output.bytes == 2'013);
    }
    CHECK(pruned_outputs(c).size() == 2);
}

TEST_CASE("the audit knows the size of each text, also after several commits and edits of its message", "[pruning]") {
    auto c = shots<ChatMessage>({"shot", "shot"});
    prune_all(c);
    c.push_back(ChatMessage::assistant().call("b", "run"));
    c.push_back(ChatMessage::result("b", "run", output("b", 3'000)));
    c.push_back(ChatMessage::assistant("ok"));
    prune_all(c);
    std::vector<std::int64_t> sizes;
    for (const PrunedOutput& output : pruned_outputs(c)) sizes.push_back(output.bytes.value_or(-1));
    CHECK(sizes == std::vector<std::int64_t>{2'013, 2'013, 3'012});
}

TEST_CASE("of a result that was shortened before, the placeholder tells no size, and its store", "[pruning]") {
    const bool is_loaded = GENERATE(false, true);
    const auto chains = memory_storage();
    const auto own = memory_storage();
    chains->put_if_absent("conv/trunc/a", std::string(90'000, 'x'));
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant().call("a", "run"));
    const ToolResult shown{"a", "run", {{.kind = PartKind::text, .text = "front " + output("a")}}};
    c.push_tool_results(
        std::vector<ToolReturn>{{shown, {{.part = 0, .key = "conv/trunc/a", .by = "reduction", .storage = chains}}}});
    c.push_back(ChatMessage::assistant("done"));
    std::vector<ChatMessage> messages(c.messages().begin(), c.messages().end());
    if (is_loaded) c = from_side_table<ChatMessage>(to_side_table(c), std::move(messages), chains);
    prune(c, {.skip_boundary_turns = 0, .storage = own}, ChainConfig{.storage = chains});
    CHECK(text(c, 2) == "[Old run result pruned; starts \"front output of a\". Full text: conv/trunc/a]");
}

TEST_CASE("a result of many parts is looked at part by part", "[pruning]") {
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant().call("a", "run"));
    c.push_tool_results(std::vector{ToolResult{
        "a",
        "run",
        {{.kind = PartKind::text, .text = output("1")}, picture(1), {.kind = PartKind::text, .text = "2"}}}});
    c.push_back(ChatMessage::assistant("done"));
    const ChatMessage before = c.messages()[2];
    prune_all(c);
    CHECK(text(c, 2).find("2014 bytes, 3 lines") != std::string::npos);
    CHECK(c.messages()[2].parts[1].text.starts_with("[image: ref://"));
    CHECK(c.messages()[2].parts[2].text == "[pruned]");
    REQUIRE(c.undo());
    CHECK(c.messages()[2] == before);
}

TEST_CASE("a store of the stage's own without fetch_media is warned of", "[pruning]") {
    const bool has_fetch = GENERATE(false, true);
    std::string warnings;
    const Chain<> listening{ChainConfig{}, ChainCallbacks<>{.on_event = [&](const Event& e) { warnings += e.text; }},
                            Pruning<>(PruningConfig{.storage = memory_storage()})};
    std::vector<ToolSpec> tools = reader;
    if (has_fetch) tools.push_back({.name = "fetch_media"});
    Conversation c = example();
    listening.before_model(c, {.tools = tools});
    CHECK((warnings.find("fetch_media") == std::string::npos) == has_fetch);
}

TEST_CASE("an original that is refused keeps its own result as it is, and no other of its message", "[pruning]") {
    using M = anthropic::Message;
    Conversation<M> c("conv");
    c.push_back(message_traits<M>::make(Role::user, "do"));
    c.push_back(M::parse(R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}},)"
                         R"({"type":"tool_use","id":"b","name":"read","input":{}},)"
                         R"({"type":"tool_use","id":"d","name":"read","input":{}}]})"));
    std::vector<ToolResult> results;
    for (const std::string id : {"a", "b", "d"})
        results.push_back({id, "read", {{.kind = PartKind::text, .text = output(id)}}});
    c.push_tool_results(results);
    c.push_back(message_traits<M>::make(Role::assistant, "ok"));
    REQUIRE(c.size() == 4);
    prune_all(c, {.storage = std::make_shared<PickyStorage>("/pruned/b-")});
    std::vector<std::size_t> parts;
    for (const PrunedOutput& output : pruned_outputs(c)) parts.push_back(output.part);
    CHECK(parts == std::vector<std::size_t>{0, 2});
}
