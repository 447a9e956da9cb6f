// Trimming of what a session has thousands of, and of lines as long as a book.
#include "support/catch.hpp"

#include "support/tuned_trimming.hpp"
#include "whittle/trimming/detail/result_class.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// Bytes that were counted while `calls` calls of one reply, with their results, grew old.
std::int64_t bytes_counted(int calls, bool with_equal_ids) {
    auto counted = std::make_shared<std::int64_t>(0);
    ChainConfig config{.storage = memory_storage()};
    config.token_counter = counter_from("counting", [counted](std::string_view text) {
        *counted += static_cast<std::int64_t>(text.size());
        return static_cast<std::int64_t>(text.size() / 4);
    });
    config.clock = std::make_shared<ManualClock>(1);
    const Chain<> chain(std::move(config),
                        TunedTrimming<>{{.config = {.start_tokens = 0}, .rules = {.look_every_calls = 1}}});
    Conversation<> conversation("growth");
    conversation.push_back(ChatMessage::user("go"));
    ChatMessage reply = ChatMessage::assistant("");
    for (int i = 0; i < calls; ++i) {
        const std::string id = with_equal_ids ? "same" : "call" + std::to_string(i);
        reply.call(id, "edit", R"({"old_string":")" + std::string(300, 'x') + std::to_string(i) + R"("})");
    }
    conversation.push_back(reply);
    for (int i = 0; i < calls; ++i) {
        const std::string id = with_equal_ids ? "same" : "call" + std::to_string(i);
        conversation.push_back(ChatMessage::result(id, "edit", "done\n" + std::string(300, 'y') + std::to_string(i)));
    }
    for (int i = 0; i < 8; ++i) {
        chain.before_model(conversation);
        conversation.push_back(ChatMessage::assistant("step"));
    }
    CHECK_FALSE(conversation.journal().empty());
    return *counted;
}

}  // namespace

TEST_CASE("thousands of calls in one message are trimmed in linear work", "[trimming]") {
    for (const bool with_equal_ids : {false, true}) {
        const std::int64_t few = bytes_counted(400, with_equal_ids);
        const std::int64_t twice = bytes_counted(800, with_equal_ids);
        CHECK(static_cast<double>(twice) < 2.3 * static_cast<double>(few));
    }
}

TEST_CASE("a line of a megabyte, and a hundred thousand short ones, are trimmed and come back", "[trimming]") {
    const TrimUnit unit = GENERATE(TrimUnit::passages, TrimUnit::lines);
    const std::string long_line = "start of it\n" + std::string(1 << 20, 'x') + "\nend of it";
    std::string short_lines;
    for (int i = 0; i < 100'000; ++i) short_lines += "}\n";
    const std::string quotes = [] {
        std::string text = R"({"command":")";
        for (int i = 0; i < 20'000; ++i) text += R"(\\\")";
        return text + "\"}";
    }();
    const Chain<> chain(ChainConfig{.storage = memory_storage()},
                        TunedTrimming<>{{.config = {.unit = unit, .start_tokens = 0},
                                         .rules = {.look_every_calls = 1, .whole_calls = 2}}});
    Conversation<> conversation("long");
    conversation.push_back(ChatMessage::user("go"));
    std::vector<std::string> texts;
    for (const std::string& text : {long_line, short_lines, long_line}) {
        const std::string id = "c" + std::to_string(texts.size());
        conversation.push_back(ChatMessage::assistant("").call(id, "bash", quotes));
        conversation.push_back(ChatMessage::result(id, "bash", text));
        texts.push_back(text);
    }
    for (int i = 0; i < 8; ++i) {
        chain.before_model(conversation);
        conversation.push_back(ChatMessage::assistant("step"));
    }
    CHECK(text_of(conversation.messages()[2], 0).size() < 2'000);
    while (conversation.undo()) {
    }
    for (std::size_t i = 0; i < texts.size(); ++i) CHECK(text_of(conversation.messages()[2 * i + 2], 0) == texts[i]);
}
