// Results of several parts: one placeholder, nothing stored twice, one limit.
#include "support/catch.hpp"
#include "tools.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

ReductionConfig always_clearing() { return {.skip_truncation = true, .max_tokens_for_clear = 100}; }

Part image_of(std::size_t bytes) {
    return {.kind = PartKind::media, .call_id = "a", .media = {.mime = "image/png", .bytes = std::string(bytes, 'i')}};
}

Part text_of_a(const std::string& text) {
    return {.kind = PartKind::tool_result, .text = text, .call_id = "a", .tool = "read"};
}

/// A round "a" with that result, and a newer one.
AnyConversation with_result(const MessageType& type, std::vector<Part> parts) {
    AnyConversation c(type);
    c.push_back(ChatMessage::user("do " + std::string(800, '.')));
    c.push_back(ChatMessage::assistant("").call("a", "read"));
    ChatMessage result = ChatMessage::result("a", "read", "");
    result.parts = std::move(parts);
    c.push_back(result);
    c.push_back(ChatMessage::assistant("").call("b", "read"));
    c.push_back(ChatMessage::result("b", "read", "short"));
    return c;
}

std::size_t shown_bytes_of(const ToolReturn& back) {
    std::size_t bytes = 0;
    for (const Part& part : back.result.parts) bytes += part.text.size();
    return bytes;
}

}  // namespace

TEST_CASE("a cleared result of several parts shows one placeholder", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE_THAT(type, keeps_media);
    const std::vector<Part> parts = GENERATE(
        std::vector<Part>{text_of_a(std::string(2'000, 'x')), text_of_a(std::string(2'000, 'y'))},
        std::vector<Part>{text_of_a(std::string(2'000, 'x')), image_of(3'000), text_of_a(std::string(2'000, 'y'))},
        std::vector<Part>{image_of(3'000), text_of_a(std::string(2'000, 'x'))},
        std::vector<Part>{image_of(3'000), image_of(4'000)});
    AnyConversation c = with_result(type, parts);
    const std::vector<std::string> before = c.bytes();
    const AnyChain chain(type, ChainConfig{.storage = memory_storage()}, always_clearing());
    REQUIRE(chain.before_model(c).stages[0].outcome == Outcome::committed);
    const std::vector<Part> shown = c.message(2).parts;
    CHECK(std::ranges::count_if(shown, [](const Part& p) { return has(p.text, "cleared"); }) == 1);
    CHECK(std::ranges::count(shown, PartKind::media, &Part::kind) == 0);
    const std::vector<std::string> once = c.bytes();
    chain.before_model(c);
    CHECK(c.bytes() == once);
    REQUIRE(c.undo());
    CHECK(c.bytes() == before);
}

TEST_CASE("several results in one message, of several parts each, are cleared one by one", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE_THAT(type, keeps_media);
    AnyConversation c(type);
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant("").call("a", "read").call("z", "read"));
    ChatMessage both = ChatMessage::result("a", "read", std::string(2'000, 'x'));
    both.parts.push_back(image_of(3'000));
    for (const char* text : {"1", "2"}) {
        both.parts.push_back(
            {.kind = PartKind::tool_result, .text = text + std::string(2'000, 'z'), .call_id = "z", .tool = "read"});
    }
    c.push_back(both);
    c.push_back(ChatMessage::assistant("").call("b", "read"));
    c.push_back(ChatMessage::result("b", "read", "short"));
    const std::vector<std::string> before = c.bytes();
    const auto storage = memory_storage();
    const AnyChain chain(type, ChainConfig{.storage = storage}, always_clearing());
    REQUIRE(chain.before_model(c).stages[0].outcome == Outcome::committed);
    CHECK(has(c.result("a"), "conv/clear/a"));
    CHECK(has(c.result("z"), "conv/clear/z"));
    CHECK(keys_in(*storage) == std::vector<std::string>{"conv/clear/a", "conv/clear/z"});
    REQUIRE(c.undo());
    CHECK(c.bytes() == before);
}

TEST_CASE("a placeholder says what it stands for, and names the tool that shows it", "[reduction]") {
    CHECK(has(
        clearing_placeholder({.tool = "t", .bytes = 9, .location = "k", .reader = "read_offloaded"}, Language::english),
        R"(; read_offloaded("k")])"));
    const ClearedText image{.tool = "t",
                            .bytes = 9,
                            .location = "k",
                            .reader = "read_offloaded",
                            .has_text = false,
                            .has_media = true,
                            .media_reader = "fetch_media"};
    CHECK(has(clearing_placeholder(image, Language::english), "Original: k - see its media with fetch_media]"));
    ClearedText both = image;
    both.has_text = true;
    CHECK(has(clearing_placeholder(both, Language::english),
              "Original: k - read its text with read_offloaded - see its media with fetch_media]"));
    CHECK_FALSE(has(clearing_placeholder(both, Language::chinese), "全文"));
}

TEST_CASE("media that truncation stored with the text beside them are not stored again by clearing", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE_THAT(type, keeps_media);
    Bench bench = Bench::of(type, {.max_length_for_trunc = 1'000, .max_tokens_for_clear = 100});
    const ToolReturn back = bench.run("a", {Part{.text = std::string(5'000, 'x')}, image_of(3'000)});
    AnyConversation c = bench.push(back);
    REQUIRE(bench.keys() == std::vector<std::string>{"conv/trunc/a"});
    c.push_back(ChatMessage::assistant("").call("b", "tool"));
    c.push_back(ChatMessage::result("b", "tool", "short"));
    REQUIRE(bench.chain.before_model(c).stages[0].outcome == Outcome::committed);
    CHECK(bench.keys() == std::vector<std::string>{"conv/trunc/a"});
    CHECK(has(c.result("a"), "conv/trunc/a"));
}

TEST_CASE("what is written and pushed in turn shares one limit", "[truncation]") {
    constexpr std::size_t notice = 250;
    const Bench bench({.max_length_for_trunc = 1'000});
    for (const int pushed : {1, 2, 5}) {
        CAPTURE(pushed);
        const ToolContext call = bench.context("a" + std::to_string(pushed));
        CollectingSink seen;
        ToolOutcome outcome = bench.chain.wrap_tool(call, seen, [&](const ToolContext&, PartSink& out) {
            out.write(std::string(5'000, 'w'));
            for (int i = 0; i < pushed; ++i) out.push({.text = std::string(5'000, 'p')});
            return ToolOutcome{};
        });
        const ToolReturn back = collect_tool_return(call, seen, std::move(outcome));
        const auto texts = static_cast<std::size_t>(pushed) + 1;
        REQUIRE(back.result.parts.size() == texts);
        CHECK(shown_bytes_of(back) <= 1'000 + texts * notice);
        const auto shown = [](const std::string& text) {
            return static_cast<std::size_t>(std::ranges::count(text, 'w') + std::ranges::count(text, 'p'));
        };
        CHECK(shown(back.result.parts[0].text) <= 510);  // the notice has a few of these letters
    }
}
