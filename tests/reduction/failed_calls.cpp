// What becomes of results of calls that failed, and of settings for one tool.
#include "support/catch.hpp"
#include "tools.hpp"

#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

const std::string failure =
    repeat("collected 1 item\n", 200) + "E   assert 41 == 42\nFAILED tests/sum.py::test_sum\n1 failed in 0.1s\n\n";

/// Two rounds, the first of which failed if the type says so of a result.
AnyConversation failed_round(const MessageType& type) {
    AnyConversation c(type);
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant("").call("a", "run"));
    c.push_back(ChatMessage::result("a", "run", failure, true));
    c.push_back(ChatMessage::assistant("").call("b", "run"));
    c.push_back(ChatMessage::result("b", "run", repeat("fine\n", 500)));
    c.push_back(ChatMessage::assistant("").call("c", "run"));
    c.push_back(ChatMessage::result("c", "run", repeat("fine\n", 500)));
    return c;
}

bool says_failed(const AnyConversation& c) { return c.outline()[2].parts.front().is_error; }

}  // namespace

TEST_CASE("the placeholder of a failed call says so and keeps its last lines", "[reduction][failed]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const auto language = GENERATE(Language::english, Language::chinese);
    const bool has_store = GENERATE(true, false);
    AnyConversation c = failed_round(type);
    ChainConfig settings{.language = language};
    if (has_store) settings.storage = memory_storage();
    const AnyChain chain(type, settings, {.skip_truncation = true, .max_tokens_for_clear = 100});
    REQUIRE(chain.before_model(c).changed());
    const std::string lines = "E   assert 41 == 42\nFAILED tests/sum.py::test_sum\n1 failed in 0.1s\n";
    CHECK(has(c.text(2), lines) == says_failed(c));
    CHECK(has(c.text(2), language == Language::chinese ? "该调用失败" : "The call failed") == says_failed(c));
    CHECK_FALSE(has(c.text(2), "collected"));
    CHECK(has(c.text(2), "conv/clear/a") == has_store);
    CHECK_FALSE(has(c.text(4), "fine"));
    CHECK(has(c.text(6), "fine"));
    REQUIRE(c.undo());
    CHECK(c.text(2) == failure);
}

TEST_CASE("keep_failed leaves the results of failed calls", "[reduction][failed]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c = failed_round(type);
    const AnyChain chain(type, ChainConfig{.storage = memory_storage()},
                         {.skip_truncation = true, .max_tokens_for_clear = 100, .keep_failed = true});
    REQUIRE(chain.before_model(c).changed());
    CHECK((c.text(2) == failure) == says_failed(c));
    CHECK_FALSE(has(c.text(4), "fine"));
}

TEST_CASE("the last lines of an error are at most three and 300 bytes, and whole but for a long one", "[reduction]") {
    CHECK(last_error_lines("").empty());
    CHECK(last_error_lines(" \n\t\n").empty());
    CHECK(last_error_lines("one") == "one");
    CHECK(last_error_lines("0\n1\n\n2\r\n  3\n\n") == "1\n2\n  3");
    CHECK(last_error_lines(std::string(400, 'x')) == std::string(300, 'x'));
    CHECK(last_error_lines(std::string(290, 'x') + "\nshort\nlast words") == "short\nlast words");
    CHECK(last_error_lines("\n\n" + repeat("ä", 400)).size() == 300);
}

TEST_CASE("one tool has a length of its own", "[reduction][truncation]") {
    ReductionConfig config{.max_length_for_trunc = 1'000};
    config.tool_config["search"].max_length_for_trunc = 4'000;
    config.tool_config["list"].max_length_for_trunc = 200;
    Bench bench(config);
    const std::string text = repeat("a line\n", 400);
    const auto shown = [&](const std::string& tool) { return bench.run(tool, {text}, tool).result.parts[0].text; };
    CHECK(shown("search") == text);
    CHECK(shown("other").size() > 1'000);
    CHECK(shown("other").size() < 2'000);
    CHECK(shown("list").size() < 1'000);
    CHECK(has(shown("list"), "a line"));

    ReductionConfig wrong;
    wrong.tool_config["list"].max_length_for_trunc = 0;
    CHECK_THROWS_AS(Bench(wrong), Error);
}

TEST_CASE("a handler sees where it is and can be stopped", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    std::vector<std::string> seen;
    bool can_stop = false;
    ReductionCallbacks<> callbacks;
    callbacks.tool_config["run"].clear_handler = [&](const ToolDetail& detail) {
        seen.push_back(std::string(detail.conversation_id) + " " + std::string(detail.key_safe_call_id) + " " +
                       std::to_string(detail.round_serial));
        can_stop = detail.stop.stop_possible();
        return ClearResult{};
    };
    AnyConversation c = failed_round(type);
    const AnyChain chain(type, ChainConfig{.storage = memory_storage()},
                         {.skip_truncation = true, .max_tokens_for_clear = 100}, callbacks);
    chain.before_model(c);
    REQUIRE(seen.size() == 2);
    CHECK(seen[0] == "conv a " + std::to_string(c.outline()[1].serial));
    CHECK(seen[1] == "conv b " + std::to_string(c.outline()[3].serial));
    CHECK_FALSE(can_stop);  // nobody passed a token
}
