// What a reply may repeat, what goes from one part to the next, and what failover is told.
#include "support/catch.hpp"
#include "whittle/summary/detail/text.hpp"
#include "work.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

std::string honest_text() {
    return "1. The user asked for a parser of src/lexer.cpp.\n2. It stands in src/parser.cpp, with 14 tests.\n"
           "3. Next: the error messages of `parse_call`, which name the wrong line.";
}

std::optional<SummaryError> failure_of(const std::string& instruction, const std::string& reply) {
    Work work = short_talk();
    work.config.user_instruction = instruction;
    return work.run([&](const Request&) { return say(reply); }).failure;
}

}  // namespace

TEST_CASE("a summary that begins with its task of one line is a summary", "[digest]") {
    const std::string task = "Summarize the conversation in three numbered points.";
    CHECK_FALSE(failure_of(task, task + "\n\n" + honest_text()));
    CHECK_FALSE(failure_of(task, "<summary>\n" + honest_text() + "\n</summary>"));
}

TEST_CASE("a reply that is mostly its task is none, whatever stands around it", "[digest]") {
    const std::string task = "Summarize the conversation in three numbered points.";
    const std::string tasks = task + "\nWrite down every path that was changed, in full.\nBe brief.";
    const std::vector<std::pair<std::string, std::string>> echoes{{task, task},
                                                                  {task, "Sure! " + std::string("\n  ") + task + "\n"},
                                                                  {task, task + "\n" + task + "\n" + task + "\nok"},
                                                                  {tasks, "Task:\n" + tasks}};
    for (const auto& [instruction, reply] : echoes) {
        CAPTURE(reply);
        const auto failure = failure_of(instruction, reply);
        REQUIRE(failure);
        CHECK(failure->refusal == Refusal::echo);
    }
}

TEST_CASE("should_failover is told the number of the first model's last attempt", "[digest]") {
    Work work = short_talk();
    work.config.retry = RetryConfig{.max_retries = 2};
    work.config.failover = FailoverConfig{.max_retries = 2};
    std::vector<std::string> asked;
    work.callbacks.failover.should_failover = [&](const Attempt<ChatMessage>& attempt) {
        asked.push_back(std::string(to_string(attempt.phase)) + std::to_string(attempt.number));
        return true;
    };
    const auto result =
        work.run([](const Request&) -> ChatReply { throw ModelError(ModelErrorClass::server, "down"); });
    CHECK(result.model_calls == 5);
    CHECK(asked == std::vector<std::string>{"primary3", "failover1", "failover2"});
}

TEST_CASE("a part's summary of half the room goes on whole, and leaves a third to what is new", "[digest]") {
    Work work;
    work.config.max_input_tokens = 3'000;
    for (int i = 0; i < 10; ++i) work.user("request " + std::to_string(i) + std::string(2'000, 'x')).assistant("done");
    const std::int64_t fixed =
        count_message(ChatMessage::system(std::string(summary_system_instruction({}))), *chars_counter()) +
        count_message(ChatMessage::user(std::string(summary_instruction({}))), *chars_counter());
    const std::int64_t room = 3'000 - fixed;
    const std::string part = "HEAD " + std::string(static_cast<std::size_t>(room * 4 / 2), 's') + " TAIL";
    std::vector<std::string> data;
    const auto result = work.run([&](const Request& request) {
        data.push_back(data_of(request));
        return say(data.size() == 1 ? part : "the gist");
    });
    REQUIRE(result.ok());
    REQUIRE(data.size() > 2);
    CHECK(data[1].find(part) != std::string::npos);
    CHECK(data[1].size() - part.size() > static_cast<std::size_t>(room * 4 / 3));
    for (const ChunkRecord& chunk : result.chunks) CHECK(chunk.request_tokens <= 3'000);
}
