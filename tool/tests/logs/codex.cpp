#include "log_file.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Session;

TEST_CASE("items of a rollout are put together to replies, with what each was billed", "[logs]") {
    const ReadLog log = read_fixture("codex.jsonl");
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(session.recording.id == "c-1");
    CHECK(session.recording.system == "You are Codex.");
    CHECK(session.version == "0.118.0");
    CHECK(roles_of(session) == "duattataua");
    CHECK(replies_of(session) == std::vector<std::size_t>{2, 5, 7, 9});
    CHECK(usage_of(session) ==
          std::vector<Usage>{{2'000, 9'000, 0, 120}, {500, 11'000, 0, 30}, {400, 11'400, 0, 10}, {1'500, 1'000, 0, 5}});
    CHECK(session.calls[0].model == "gpt-5.4");
    const auto& reply = session.recording.messages[2].json();
    CHECK(reply["content"] == "I run it.");
    REQUIRE(reply["tool_calls"].size() == 2);
    CHECK(reply["tool_calls"][1]["function"]["name"] == "local_shell");
    CHECK(session.recording.messages[4].json()["content"] == "clean");
    CHECK(session.recording.messages[5].json()["tool_calls"][0]["function"]["arguments"] ==
          R"({"input":"*** Begin Patch\n*** End Patch"})");
    CHECK(session.recording.messages[8].json()["content"][1]["image_url"]["url"] == "data:image/png;base64,AAAA");
}

TEST_CASE("a compaction of Codex is a boundary, and its own call is billed elsewhere", "[logs]") {
    const Session session = read_fixture("codex.jsonl").sessions.at(0);
    REQUIRE(session.compactions.size() == 1);
    CHECK(session.compactions[0].before == 8);
    const auto request = session.request_of(session.calls[3]);
    REQUIRE(request.size() == 3);
    CHECK(request[1]["content"] == "The build was fixed.");
    CHECK(session.calls_elsewhere == 1);
    CHECK(session.billed_elsewhere == Usage{11'900, 0, 0, 300});
    // The sums of the last count
    CHECK(billed(session) == Usage{48'700 - 32'400, 32'400, 0, 465});
}

TEST_CASE("rollouts from before there was an envelope are read", "[logs]") {
    const ReadLog log = read_fixture("codex_old.jsonl");
    REQUIRE(log.sessions.size() == 1);
    CHECK(log.sessions[0].recording.id == "c-0");
    CHECK(log.sessions[0].recording.system == "Be brief.");
    CHECK(roles_of(log.sessions[0]) == "uatata");
    CHECK(log.sessions[0].recording.messages[1].json()["tool_calls"][0]["id"] == "lsh_1");
    CHECK_FALSE(log.sessions[0].calls[0].usage.has_value());
    CHECK(log.notes.unknown == std::map<std::string, std::int64_t>{{"response_item/teleport_call", 1}});
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{{"reasoning", 1}, {"record_type/state", 2}});
}

TEST_CASE("counts that were written ahead of a reply hold its calls together", "[logs]") {
    const Session session = read_fixture("codex_ahead.jsonl").sessions.at(0);
    CHECK(session.parent == "c-1");
    CHECK(roles_of(session) == "uatta");
    CHECK(replies_of(session) == std::vector<std::size_t>{1, 4});
    CHECK(usage_of(session) == std::vector<Usage>{{100, 0, 0, 20}, {60, 90, 0, 5}});
    // The turn that was rolled back
    CHECK(session.calls_elsewhere == 1);
    CHECK(session.billed_elsewhere == Usage{50, 150, 0, 5});
}

TEST_CASE("a reply of Codex that was broken off while it thought is no message", "[logs]") {
    const std::string text =
        R"({"type":"session_meta","payload":{"id":"x"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":"hi"}}
{"type":"response_item","payload":{"type":"reasoning","summary":[]}}
)";
    CHECK(roles_of(read_text_as(text, logs::Format::codex).sessions.at(0)) == "u");
}
