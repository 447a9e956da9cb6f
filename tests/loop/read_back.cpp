// What was cleared is read back with the tool that the loop offers.
#include "support/catch.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/reduction/reduction.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace whittle;

namespace {

std::vector<std::string> names_of(const AgentLoop<>& loop) {
    std::vector<std::string> names;
    for (const ToolSpec& spec : loop.tool_specs()) names.push_back(spec.name);
    return names;
}

std::shared_ptr<ScriptedModel<ChatMessage>> silent() {
    return std::make_shared<ScriptedModel<ChatMessage>>(std::vector<ChatMessage>{});
}

/// What a placeholder says to call `read_offloaded` with.
std::string reference_in(const std::string& placeholder) {
    const std::string label = "read_offloaded(\"";
    const std::size_t at = placeholder.find(label) + label.size();
    return placeholder.substr(at, placeholder.find('"', at) - at);
}

std::string page(int number) { return "page " + std::to_string(number) + " " + std::string(4'000, '.'); }

/// Reads `pages` pages, then reads the first one back and repeats what it got, then goes on with as many pages more.
Reply<ChatMessage> read_back_first(const ModelRequest<ChatMessage>& request, int pages) {
    const auto calls = std::ranges::count(request.messages, Role::assistant, &ChatMessage::role);
    const std::string id = "call_" + std::to_string(calls + 1);
    if (calls == 2 * pages + 1) return {ChatMessage::assistant("done")};
    if (calls != pages) return {ChatMessage::assistant("").call(id, "read_page", "{}")};
    const std::string reference = reference_in(text_of(request.messages[2], 0));
    return {ChatMessage::assistant("").call(id, "read_offloaded", R"({"reference":")" + reference + "\"}")};
}

}  // namespace

TEST_CASE("read_offloaded is offered from the first call on where the chain has a storage", "[loop]") {
    const Tool page_tool = text_tool("read_page", "", "{}", [](std::string_view) { return std::string(); });
    const ChainConfig stores{.storage = memory_storage()};
    CHECK(names_of(AgentLoop<>(silent(), {page_tool}, Chain<>(stores))) ==
          std::vector<std::string>{"read_page", "read_offloaded"});
    CHECK(names_of(AgentLoop<>(silent(), {page_tool}, Chain<>(ChainConfig{}))) ==
          std::vector<std::string>{"read_page"});
    CHECK(names_of(AgentLoop<>(silent(), {page_tool}, Chain<>(stores), {.offer_read_offloaded = false})) ==
          std::vector<std::string>{"read_page"});
}

TEST_CASE("a loop offers the tools of its middlewares, each name once, behind those of the host", "[loop]") {
    struct Offering final : Middleware<> {
        explicit Offering(std::string name) : name_(std::move(name)) {}
        std::string_view name() const noexcept override { return name_; }
        std::vector<Tool> tools(const ChainConfig&) const override {
            const auto nothing = [](std::string_view) { return std::string(); };
            return {text_tool("list_todos", name_, "{}", nothing), text_tool("read_page", name_, "{}", nothing)};
        }
        std::string name_;
    };
    const Tool page_tool = text_tool("read_page", "the host's", "{}", [](std::string_view) { return std::string(); });
    const Chain<> chain{ChainConfig{.storage = memory_storage()}, Offering("one"), Offering("two")};
    const AgentLoop<> loop(silent(), {page_tool}, chain);
    CHECK(names_of(loop) == std::vector<std::string>{"read_page", "read_offloaded", "list_todos"});
    CHECK(loop.tool_specs()[0].description == "the host's");
    CHECK(loop.tool_specs()[2].description == "one");
}

TEST_CASE("a tool of that name which the host gives is kept, and there is one only", "[loop]") {
    const Tool own = text_tool("read_offloaded", "mine", "{}", [](std::string_view) { return std::string(); });
    const AgentLoop<> loop(silent(), {own}, Chain<>(ChainConfig{.storage = memory_storage()}));
    REQUIRE(loop.tool_specs().size() == 1);
    CHECK(loop.tool_specs()[0].description == "mine");
}

TEST_CASE("its description is in the chain's language", "[loop]") {
    const AgentLoop<> loop(silent(), {},
                           Chain<>(ChainConfig{.storage = memory_storage(), .language = Language::chinese}));
    CHECK(loop.tool_specs()[0].description.find("读取") != std::string::npos);
}

TEST_CASE("what was cleared is read back, used, counted, and cleared again without a second object", "[loop]") {
    constexpr int pages = 6;
    const auto storage = memory_storage();
    std::vector<std::string> events;
    ChainCallbacks<> watch{.on_event = [&](const Event& event) { events.emplace_back(event.kind); }};
    const ReductionConfig config{
        .skip_truncation = true, .max_tokens_for_clear = 3'000, .clear_retention_suffix_limit = 2};
    int number = 0;
    const Tool read_page = text_tool("read_page", "", "{}", [&](std::string_view) { return page(++number); });
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>(
        [](const ModelRequest<ChatMessage>& request) { return read_back_first(request, pages); });
    AgentLoop<> loop(model, {read_page}, Chain{ChainConfig{.storage = storage}, watch, Reduction{config}});
    Conversation<> c("read-back");
    REQUIRE(loop.run(c, "Read.").outcome == RunOutcome::answered);
    CHECK(c.read_backs() == 1);
    CHECK(std::ranges::count(events, "read_back") == 1);

    const std::size_t read_back = 2 * pages + 2;
    const std::string cleared_again = text_of(c.messages()[read_back], 0);
    CHECK(reference_in(cleared_again) == reference_in(text_of(c.messages()[2], 0)));
    int objects = 0;
    storage->list("", [&](const ObjectInfo&) { return ++objects > 0; });
    CHECK(objects == 2 * pages - 2);  // every page that was cleared, once

    while (c.undo()) {
    }
    CHECK(text_of(c.messages()[read_back], 0) == page(1));
    CHECK(text_of(c.messages()[2], 0) == page(1));
}

TEST_CASE("what was shortened is read back page by page, and no page is shortened again", "[loop]") {
    std::string whole;
    for (int i = 0; whole.size() < 200'000; ++i) whole += "line " + std::to_string(i) + "\n";
    const Tool produce = text_tool("produce", "", "{}", [&](std::string_view) { return whole; });
    std::string together;
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>(
        [&](const ModelRequest<ChatMessage>& request) -> Reply<ChatMessage> {
            if (request.messages.size() == 1) return {ChatMessage::assistant("").call("call_0", "produce", "{}")};
            const std::string reference = reference_in(text_of(request.messages[2], 0));
            const std::string shown = text_of(request.messages.back(), 0);
            std::size_t offset = 0;
            if (request.messages.size() > 3) {
                const std::size_t note = shown.rfind("\n[bytes ");
                together +=
                    shown.substr(0, note + 1);  // pages end with a line feed, or one is added in front of the note
                if (shown.ends_with("the end]")) return {ChatMessage::assistant("done")};
                offset = std::stoull(shown.substr(shown.rfind(' ')));
                together.resize(offset);
            }
            return {ChatMessage::assistant("").call(
                "call_" + std::to_string(request.messages.size()), "read_offloaded",
                R"({"reference":")" + reference + R"(","offset":)" + std::to_string(offset) + "}")};
        });
    AgentLoop<> loop(model, {produce}, Chain{ChainConfig{.storage = memory_storage()}, Reduction{}});
    Conversation<> c("pages");
    REQUIRE(loop.run(c, "Read.").outcome == RunOutcome::answered);
    CHECK(text_of(c.messages()[2], 0).size() < 51'000);
    CHECK(together == whole);
    CHECK(c.read_backs() == static_cast<std::int64_t>(whole.size() + 39'999) / 40'000);
    CHECK(c.journal().size() == 1);  // of the first result only
    REQUIRE(c.undo());
    CHECK(text_of(c.messages()[2], 0) == whole);
}

TEST_CASE("a reading that failed is no read-back", "[loop]") {
    const auto storage = memory_storage();
    const Tool produce = text_tool("produce", "", "{}", [](std::string_view) { return std::string(60'000, 'p'); });
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>(std::vector{
        ChatMessage::assistant("").call("a", "produce", "{}"),
        ChatMessage::assistant("").call("b", "read_offloaded", R"({"reference":"failing/trunc/a","offset":70000})"),
        ChatMessage::assistant("done")});
    AgentLoop<> loop(model, {produce}, Chain{ChainConfig{.storage = storage}, Reduction{}});
    Conversation<> c("failing");
    REQUIRE(loop.run(c, "Read.").outcome == RunOutcome::answered);
    CHECK(c.messages()[4].parts[0].is_error);
    CHECK(text_of(c.messages()[4], 0) == "read_offloaded: \"offset\" is 70000, but the text has 60000 bytes");
    CHECK(c.read_backs() == 0);
}
