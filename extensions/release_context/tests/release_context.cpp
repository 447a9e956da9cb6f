// A model that says what it no longer needs.
#include "whittle/release_context/release_context.hpp"
#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "support/laws.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/pruning/pruning.hpp"
#include "whittle/saved/side_table.hpp"

#include <memory>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

constexpr std::size_t result_bytes = 8'000;

void add_call(Conversation<>& conversation, const std::string& id, const std::string& tool,
              const std::string& arguments, const std::string& text) {
    conversation.push_back(ChatMessage::assistant("").call(id, tool, arguments));
    conversation.push_back(ChatMessage::result(id, tool, text));
}

std::string path(const std::string& of) { return R"({"path":")" + of + R"("})"; }

/// A question and four files, of which one was loaded as a skill.
Conversation<> four_files() {
    Conversation<> conversation("files");
    conversation.push_back(ChatMessage::user("compare them"));
    add_call(conversation, "c1", "read_file", path("src/a.cpp"), std::string(result_bytes, 'a'));
    add_call(conversation, "c2", "read_file", path("src/b.cpp"), std::string(result_bytes, 'b'));
    add_call(conversation, "c3", "skill", path("how/to.md"), std::string(result_bytes, 's'));
    add_call(conversation, "c4", "grep", R"({"pattern":"main"})", std::string(result_bytes, 'g'));
    return conversation;
}

Chain<> releasing(ReleaseContextConfig release = {}, ChainConfig config = {}) {
    config.storage = memory_storage();
    return Chain{std::move(config), ReleaseContext{std::move(release)}};
}

/// A reply that calls the tool, the hook behind it, and the tool itself: what a loop does.
std::string release(Conversation<>& conversation, const Chain<>& chain, const std::string& arguments,
                    bool* is_error = nullptr) {
    conversation.push_back(
        ChatMessage::assistant("").call("r" + std::to_string(conversation.size()), "release_context", arguments));
    (void)chain.after_model(conversation);
    const std::vector<ToolContext> calls = chain.pending_tool_calls(conversation);
    REQUIRE(calls.size() == 1);
    for (const Tool& tool : chain.tools()) {
        if (tool.name != "release_context") continue;
        CollectingSink sink;
        ToolOutcome outcome = tool.invoke(calls.front(), sink);
        if (is_error != nullptr) *is_error = outcome.is_error;
        std::vector<ToolReturn> returns{collect_tool_return(calls.front(), sink, std::move(outcome))};
        std::string shown = text_of(returns.front());
        conversation.push_tool_results(returns);
        return shown;
    }
    FAIL("the chain offers no such tool");
    return {};
}

std::vector<std::size_t> gone(const Conversation<>& conversation) {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < conversation.size(); ++i) {
        if (origin_of(mark_of(conversation.outline()[i], 0)) == Origin::placeholder) indices.push_back(i);
    }
    return indices;
}

using Gone = std::vector<std::size_t>;

}  // namespace

TEST_CASE("what the model releases leaves the request and can be read back", "[release_context]") {
    const Chain<> chain = releasing();
    Conversation<> conversation = four_files();
    const std::string answer = release(conversation, chain, R"({"what":["src/a.cpp","src/b.cpp"],"why":"done"})");
    CHECK(answer ==
          "Released:\n- read_file {\"path\":\"src/a.cpp\"} (8000 bytes)\n"
          "- read_file {\"path\":\"src/b.cpp\"} (8000 bytes)");
    CHECK(gone(conversation).empty());  // not within a tool round
    const Report& report = chain.before_model(conversation);
    CHECK(gone(conversation) == Gone{2, 4});
    CHECK(report.tokens_after < report.tokens_before - 3'500);
    REQUIRE(report.find("release_context") != nullptr);
    CHECK(report.find("release_context")->outcome == Outcome::committed);
    const std::string shown = conversation.messages()[2].parts.front().text;
    CHECK(shown.find("src/a.cpp") != std::string::npos);
    CHECK_FALSE(chain.before_model(conversation).changed());
    REQUIRE(conversation.undo());
    CHECK(conversation.messages()[2].parts.front().text == std::string(result_bytes, 'a'));
    CHECK_FALSE(chain.before_model(conversation).changed());  // what came back is pinned
}

TEST_CASE("a release means results by path, tool, call id, and never what is protected or newer", "[release_context]") {
    ReleaseContextConfig config;
    config.protected_tools = {"grep"};
    const Chain<> chain = releasing(config);
    Conversation<> conversation = four_files();
    SECTION("by tool") {
        (void)release(conversation, chain, R"({"what":["read_file"]})");
        (void)chain.before_model(conversation);
        CHECK(gone(conversation) == Gone{2, 4});
    }
    SECTION("by the id of the call, and what is no list") {
        (void)release(conversation, chain, R"({"what":"c2"})");
        (void)chain.before_model(conversation);
        CHECK(gone(conversation) == Gone{4});
    }
    SECTION("protected tools stay, and the model is told") {
        bool is_error = true;
        const std::string answer = release(conversation, chain, R"({"what":["how/to.md","main"]})", &is_error);
        CHECK(answer ==
              "Kept:\n- skill {\"path\":\"how/to.md\"} (8000 bytes): protected_tool\n"
              "- grep {\"pattern\":\"main\"} (8000 bytes): protected_tool");
        CHECK_FALSE(is_error);
        CHECK_FALSE(chain.before_model(conversation).changed());
    }
    SECTION("pinned results stay") {
        conversation.pin(conversation.outline()[2].serial);
        CHECK(release(conversation, chain, R"({"what":["src/a.cpp"]})").ends_with(": pinned"));
        CHECK_FALSE(chain.before_model(conversation).changed());
    }
    SECTION("what is read again later stays") {
        (void)release(conversation, chain, R"({"what":["src/a.cpp"]})");
        add_call(conversation, "c9", "read_file", path("src/a.cpp"), std::string(result_bytes, 'A'));
        (void)chain.before_model(conversation);
        CHECK(gone(conversation) == Gone{2});
    }
}

TEST_CASE("a release that means nothing is answered with what was wrong", "[release_context]") {
    const Chain<> chain = releasing();
    Conversation<> conversation = four_files();
    bool is_error = false;
    CHECK(release(conversation, chain, R"({"what":["src/z.cpp"]})", &is_error) ==
          "No earlier result is meant by: \"src/z.cpp\"");
    CHECK(is_error);
    for (const std::string bad : {"", "[]", "{}", "{\"what\":[]}", "{\"what\":null}", "not JSON", "{\"why\":3}"}) {
        INFO(bad);
        (void)release(conversation, chain, bad, &is_error);
        CHECK(is_error);
    }
    CHECK(release(conversation, chain, R"({"what":[7,"  "]})", &is_error).find("meant by: 7, \"  \"") !=
          std::string::npos);
    CHECK_FALSE(chain.before_model(conversation).changed());
}

TEST_CASE("a release waits until it saves more than reading anew costs", "[release_context]") {
    ChainConfig config;
    config.profile.cache = *find_cache_profile("anthropic_5m");
    const Chain<> chain = releasing({}, config);
    Conversation<> conversation("files");
    conversation.push_back(ChatMessage::user("compare them"));
    add_call(conversation, "c1", "read_file", path("src/a.cpp"), std::string(result_bytes, 'a'));
    for (int i = 0; i < 5; ++i) {
        add_call(conversation, "d" + std::to_string(i), "read_file", path("src/d" + std::to_string(i)),
                 std::string(result_bytes, 'd'));
    }
    (void)chain.before_model(conversation);
    (void)release(conversation, chain, R"({"what":["src/a.cpp"]})");
    CHECK_FALSE(chain.before_model(conversation).changed());
    SECTION("more that is released makes it pay") {
        (void)release(conversation, chain, R"({"what":["src/d"]})");
        CHECK(chain.before_model(conversation).changed());
        CHECK(gone(conversation) == Gone{2, 4, 6, 8, 10, 12});
    }
    SECTION("what stands near the end pays alone") {
        (void)release(conversation, chain, R"({"what":["src/d4"]})");
        CHECK(chain.before_model(conversation).changed());
        CHECK(gone(conversation) == Gone{12});
    }
    SECTION("an overflow takes all of it") {
        CHECK(chain.on_overflow(conversation, {}));
        CHECK(gone(conversation) == Gone{2});
    }
    SECTION("so does the host's button") {
        CHECK(chain.compact_now(conversation, {.target_tokens = 1}).changed());
        CHECK(gone(conversation) == Gone{2});
    }
    SECTION("it is still known after loading") {
        const std::vector<ChatMessage> messages(conversation.messages().begin(), conversation.messages().end());
        Conversation<> loaded = from_side_table(to_side_table(conversation), messages, memory_storage());
        CHECK(chain.on_overflow(loaded, {}));
        CHECK(gone(loaded) == Gone{2});
    }
}

TEST_CASE("settings of the tool that cannot hold are refused together", "[release_context]") {
    try {
        (void)Chain{ChainConfig{}, ReleaseContext{{.tool_name = "", .expected_further_calls = -1}}};
        FAIL("made");
    } catch (const Error& error) {
        const std::string text = error.what();
        CHECK(text.find("release_context.tool_name") != std::string::npos);
        CHECK(text.find("release_context.expected_further_calls = -1") != std::string::npos);
    }
}

TEST_CASE("releasing keeps every law on every message type", "[laws]") {
    // Keys follow the text, so that L11 cannot compare by size.
    run_laws([](auto type) { return ReleaseContext<MessageOf<decltype(type)>>{{.tool_name = "run"}}; },
             {.looks_at_sizes_only = false});
}

TEST_CASE("thousands of calls in one reply are released in linear time", "[release_context]") {
    const Chain<> chain = releasing();
    const auto visited = [&](int calls) {
        Conversation<> conversation("wide");
        conversation.push_back(ChatMessage::user("all at once"));
        ChatMessage reply = ChatMessage::assistant("");
        for (int i = 0; i < calls; ++i) reply.call("c" + std::to_string(i), "read_file", path(std::to_string(i)));
        conversation.push_back(std::move(reply));
        for (int i = 0; i < calls; ++i) {
            conversation.push_back(ChatMessage::result("c" + std::to_string(i), "read_file", std::string(400, 'w')));
        }
        (void)release(conversation, chain, R"({"what":["read_file"]})");
        (void)chain.before_model(conversation);
        return gone(conversation).size();
    };
    CHECK(visited(3'000) == 3'000);
}
