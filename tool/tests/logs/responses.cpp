#include "log_file.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Session;

TEST_CASE("requests of the Responses interface are put together as those of chat completions are", "[logs]") {
    const ReadLog log = read_fixture("responses.jsonl");
    REQUIRE(log.sessions.size() == 4);
    const Session& first = log.sessions[0];
    CHECK(first.recording.system == "Be brief.");
    CHECK(first.recording.tools.at(0).name == "ls");
    CHECK(roles_of(first) == "uattaua");
    CHECK(replies_of(first) == std::vector<std::size_t>{1, 4, 6});
    CHECK(usage_of(first) == std::vector<Usage>{{120, 0, 0, 40}, {72, 128, 0, 3}, {28, 192, 0, 4}});
    CHECK(first.calls[0].id == "resp_1");
    CHECK(first.calls[0].model == "gpt-5.1-2026");
    const auto& reply = first.recording.messages[1].json();
    CHECK(reply["content"] == "I look.");
    REQUIRE(reply["tool_calls"].size() == 2);
    CHECK(reply["tool_calls"][1]["function"]["arguments"] == R"({"path":"src"})");
    CHECK(first.recording.messages[3].json()["tool_call_id"] == "c2");
    CHECK(first.recording.messages[3].json()["content"] == "c");
    CHECK(first.recording.messages[6].json()["content"] == "No idea.");
}

TEST_CASE("a request that names an earlier response goes on behind it, in a session of its own if another one did",
          "[logs]") {
    const ReadLog log = read_fixture("responses.jsonl");
    REQUIRE(log.sessions.size() == 4);
    const Session& fork = log.sessions[1];
    CHECK(roles_of(fork) == "uatta");
    CHECK(fork.recording.messages[3].json()["content"] == "");
    CHECK(replies_of(fork) == std::vector<std::size_t>{4});  // the first reply was billed in the other session
    CHECK(usage_of(fork) == std::vector<Usage>{{126, 64, 0, 2}});
    CHECK(fork.request_of(fork.calls[0]).size() == 4);
}

TEST_CASE("what the server alone holds of a conversation is named as a gap", "[logs]") {
    const ReadLog log = read_fixture("responses.jsonl");
    REQUIRE(log.sessions.size() == 4);
    CHECK(roles_of(log.sessions[2]) == "ua");
    CHECK(usage_of(log.sessions[2]) == std::vector<Usage>{{9, 12, 0, 2}});
    CHECK(log.sessions[2].recording.messages[0].json()["content"].size() == 2);
    CHECK(roles_of(log.sessions[3]) == "u");
    CHECK(log.sessions[3].calls_elsewhere == 1);
    CHECK(log.notes.unknown == std::map<std::string, std::int64_t>{{"conversation that the server holds", 1},
                                                                   {"input/item_reference", 1},
                                                                   {"message/input_hologram", 1},
                                                                   {"previous_response_id that is not in the log", 1},
                                                                   {"request without messages", 1},
                                                                   {"response that holds no reply", 1}});
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{{"reasoning", 2}, {"web_search_call", 1}});
}

TEST_CASE("a request whose response is in a later line of the log is a gap, and is read all the same", "[logs]") {
    const std::string text = fixture_text("responses.jsonl");
    const std::size_t third = text.find("{\"timestamp\":\"2026-03-05T09:00:09Z\"");
    const ReadLog log = read_text_as(text.substr(third) + text.substr(0, third), logs::Format::exchanges);
    CHECK(log.notes.unknown.at("previous_response_id that is not in the log") == 3);
    std::int64_t calls = 0;
    for (const Session& session : log.sessions) calls += static_cast<std::int64_t>(session.calls.size());
    CHECK(calls == 5);
}
