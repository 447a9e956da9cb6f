#include "log_file.hpp"
#include "support/catch.hpp"

#include <map>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Session;
using Counts = std::map<std::string, std::int64_t>;

TEST_CASE("events of OpenHands V1 are messages, actions of one response one reply", "[logs]") {
    const ReadLog log = read_fixture("openhands_v1.jsonl");
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(session.recording.id == "conv-1");
    CHECK(session.folder == "/w");
    CHECK(session.recording.system == "You are OpenHands.\n\nIt is May.");
    CHECK(roles_of(session) == "uattatuauu");
    CHECK(replies_of(session) == std::vector<std::size_t>{1, 4, 7});
    const auto& messages = session.recording.messages;
    CHECK(messages[0].json()["content"] == "Fix it\nA rule.");
    CHECK(messages[1].json()["content"] == "I look.");
    REQUIRE(messages[1].json()["tool_calls"].size() == 2);
    CHECK(messages[1].json()["tool_calls"][1]["function"]["arguments"] == R"({"command": "pwd"})");
    CHECK(messages[3].json()["content"] == "[An error occurred during execution.]\n\nno such");
    CHECK(messages[5].json()["content"] == "Action rejected: not now");
    CHECK(messages[6].json()["content"].size() == 2);
    CHECK(session.recording.seconds_since_first[9] == 17.0);
}

TEST_CASE("a conversation of OpenHands V1 is billed by its state, also for condensations and what was taken back",
          "[logs]") {
    const Session session = read_fixture("openhands_v1.jsonl").sessions.at(0);
    CHECK(usage_of(session) == std::vector<Usage>{{100, 0, 400, 30}, {60, 400, 0, 6}, {150, 100, 50, 7}});
    CHECK(session.calls[0].id == "r1");
    CHECK(session.calls[0].model == "claude-sonnet-4-5");
    CHECK(session.calls_elsewhere == 3);  // one was taken back, two made summaries
    CHECK(session.billed_elsewhere == Usage{130 + 60 + 30, 300, 20, 5 + 12 + 8});
}

TEST_CASE("condensations of OpenHands V1 forget events, also earlier summaries", "[logs]") {
    const Session session = read_fixture("openhands_v1.jsonl").sessions.at(0);
    REQUIRE(session.compactions.size() == 2);
    CHECK(session.compactions[0].before == 4);
    const auto second = session.request_of(session.calls[1]);
    REQUIRE(second.size() == 2);
    CHECK(second[0]["content"] == "Fix it\nA rule.");
    CHECK(second[1]["content"] == "Listed the files.");
    CHECK(session.compactions[1].before == 7);
    const auto third = session.request_of(session.calls[2]);
    REQUIRE(third.size() == 3);
    CHECK(third[0]["content"] == "All that.");
    CHECK(third[1]["content"] == "Fix it\nA rule.");
    CHECK(third[2]["role"] == "user");
}

TEST_CASE("kinds of events of OpenHands V1 that are not known are named", "[logs]") {
    const ReadLog log = read_fixture("openhands_v1.jsonl");
    CHECK(log.notes.unknown ==
          Counts{{"WarpEvent", 1}, {"content/hologram", 1}, {"parent_id that is not in front", 1}});
    CHECK(log.notes.left_out == Counts{{"CondensationRequest", 1}, {"ConversationStateUpdateEvent", 1}});
}

TEST_CASE("an array of events of OpenHands V1 is billed in all where only sums were kept", "[logs]") {
    const ReadLog log = read_fixture("openhands_v1.json");
    REQUIRE(log.sessions.size() == 1);
    CHECK(roles_of(log.sessions[0]) == "ua");
    CHECK(log.sessions[0].calls[0].id == "q1");
    CHECK(billed(log.sessions[0]) == Usage{30, 60, 10, 9});
    CHECK(log.notes.damaged == 2);
}

TEST_CASE("a conversation of OpenHands V1 that begins anew keeps what was billed", "[logs]") {
    std::string text = fixture_text("openhands_v1.jsonl");
    const std::string gone = R"("parent_id": "gone")";
    text.replace(text.find(gone), gone.size(), R"("parent_id": "__root__")");
    const ReadLog log = read_text_as(text, logs::Format::openhands_v1);
    REQUIRE(log.sessions.size() == 1);
    CHECK(roles_of(log.sessions[0]) == "u");
    CHECK(log.sessions[0].compactions.empty());
    CHECK(billed(log.sessions[0]) == billed(read_fixture("openhands_v1.jsonl").sessions.at(0)));
}
