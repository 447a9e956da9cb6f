// Sessions of pi and of OpenClaw as they stand on disk.
#include "log_file.hpp"
#include "support/catch.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Session;
using nlohmann::ordered_json;
using PiKinds = std::map<std::string, std::int64_t>;

namespace {

std::string said(const ordered_json& message) {
    return message["content"].is_string() ? message["content"].get<std::string>() : message["content"].dump();
}

/// What was sent for a call, message by message.
std::vector<std::string> sent_for(const Session& session, std::size_t call) {
    std::vector<std::string> texts;
    for (const ordered_json& message : session.request_of(session.calls.at(call))) texts.push_back(said(message));
    return texts;
}

const ordered_json& message_of(const Session& session, std::size_t at) {
    return session.recording.messages.at(at).json();
}

const std::string summary_of_pi =
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"
    "total() sums.\n</summary>";

}  // namespace

TEST_CASE("a session of pi is what leads to its newest record, in OpenAI's form", "[logs]") {
    const ReadLog log = read_fixture("pi.jsonl");
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(session.format == logs::Format::pi);
    CHECK(session.recording.id == "p-1");
    CHECK(session.folder == "/home/ann/shop");
    CHECK(session.version == "3");
    CHECK(session.parent.empty());  // a fork was begun by a person
    CHECK(roles_of(session) == "uattauuuuatuauaua");
    CHECK(said(message_of(session, 1)) == "I look.");
    CHECK(message_of(session, 1)["tool_calls"].size() == 2);
    CHECK(message_of(session, 1)["tool_calls"][0]["function"]["arguments"] == R"({"path":"a.py"})");
    CHECK(said(message_of(session, 2)) == "def total(xs):\n    return sum(xs)");
    CHECK(message_of(session, 3)["tool_call_id"] == "c2");
    CHECK(said(message_of(session, 5)) ==
          "Ran `git status`\n```\nnothing to commit\n```\n\nCommand exited with code 1");
    CHECK(said(message_of(session, 6)) ==
          "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n"
          "An average was tried.</summary>");
    CHECK(said(message_of(session, 7)) == "Lint: 2 warnings.");
    CHECK(message_of(session, 8)["content"][1]["image_url"]["url"] == "data:image/png;base64,aGk=");
    CHECK(said(message_of(session, 10)) == "No result provided");
    CHECK(message_of(session, 10)["tool_call_id"] == "c4");
    CHECK(session.recording.seconds_since_first.at(1) == 10.0);
    CHECK(log.notes.damaged == 0);
    CHECK(log.notes.unknown.empty());
    CHECK(log.notes.left_out == PiKinds{{"content/thinking", 1},
                                        {"custom", 1},
                                        {"label", 1},
                                        {"message of another branch", 4},
                                        {"message that is not sent", 1},
                                        {"model_change", 1},
                                        {"reply that failed", 1},
                                        {"thinking_level_change", 1}});
}

TEST_CASE("requests of pi begin with what compactions and edits left of them", "[logs]") {
    const Session session = read_fixture("pi.jsonl").sessions.at(0);
    REQUIRE(session.compactions.size() == 2);
    CHECK(session.compactions[0].before == 13);
    CHECK(session.compactions[0].tokens_before == 1'532);
    CHECK(session.compactions[1].trigger == "context_edit");
    CHECK(sent_for(session, 1).size() == 4);
    CHECK(sent_for(session, 4) == std::vector<std::string>{summary_of_pi, "Still there?", "Yes.", "Rename it."});
    CHECK(sent_for(session, 5) == std::vector<std::string>{summary_of_pi, "Yes.", "Rename it.", "Done.", "Thanks."});
}

TEST_CASE("the system text and the tools of pi are as its messages of the system left them", "[logs]") {
    const Session session = read_fixture("pi.jsonl").sessions.at(0);
    CHECK(session.recording.system == "You help with code, briefly.\n\n/home/ann/shop");
    REQUIRE(session.recording.tools.size() == 1);
    CHECK(session.recording.tools[0].name == "read");
    const std::string text = fixture_text("pi.jsonl");
    const Session before =
        read_text_as(text.substr(0, text.find(R"({"type":"compaction")")), logs::Format::pi).sessions.at(0);
    CHECK(before.recording.system == "You help with code.\n\n/home/ann/shop\n\n<notes>tabs</notes>");
    CHECK(before.recording.tools.at(0).description == "Read a file");
    CHECK(before.recording.tools.size() == 1);
}

TEST_CASE("each call of pi is billed once, whichever branch it was made on", "[logs]") {
    const Session session = read_fixture("pi.jsonl").sessions.at(0);
    CHECK(replies_of(session) == std::vector<std::size_t>{1, 4, 9, 12, 14, 16});
    CHECK(session.calls[0].usage == Usage{3, 0, 1'200, 40, 200, 1'000});
    CHECK(session.calls[1].usage == Usage{4, 1'200, 90, 15, 90, 0});
    CHECK(session.calls[2].usage == Usage{6, 1'300, 200, 21});
    CHECK(session.calls[0].id == "msg_01PiFixtureFirst0000001");
    CHECK(session.calls[0].model == "claude-test-5");
    CHECK(session.calls[4].model == "claude-test-5-20260101");  // that answered
    CHECK(session.calls[0].time == 1'770'000'050.0);
    REQUIRE(session.elsewhere.size() == 5);  // aborted, two summaries, a warmed cache, and what was left
    CHECK(session.elsewhere[0].usage == Usage{5, 1'290, 30, 6});
    CHECK(session.elsewhere[1].usage == Usage{700, 0, 0, 50});
    CHECK(session.elsewhere[2].usage == Usage{900, 0, 0, 60});
    CHECK(session.elsewhere[3].usage == Usage{0, 400, 0, 0});
    CHECK(session.elsewhere[4].id == "msg_01PiFixtureFourth00004");
    for (const logs::Call& call : session.elsewhere) {
        CHECK(call.time.has_value());
        CHECK(call.id.empty() != call.bill_id.empty());
    }
    CHECK(logs::billed(session) == Usage{1'647, 7'390, 2'010, 240, 290, 1'000});
}

TEST_CASE("the first version of pi had no ids, and input that held what was read from the cache", "[logs]") {
    const ReadLog log = read_fixture("pi_old.jsonl");
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(session.version == "1");
    CHECK(roles_of(session) == "uuatauua");
    CHECK(usage_of(session) == std::vector<Usage>{{400, 500, 0, 10}, {50, 900, 0, 5}, {300, 0, 0, 7}});
    CHECK(session.calls[0].bill_id == "pi/1770000039300/gpt-test/400-500-0-10");
    CHECK(session.elsewhere.empty());  // what failed was not billed
    REQUIRE(session.compactions.size() == 1);
    CHECK(sent_for(session, 2) ==
          std::vector<std::string>{"The conversation history before this point was compacted into the following "
                                   "summary:\n\n<summary>\nOne file, a.py.\n</summary>",
                                   "One file.", "Remember the tests.", "And now?"});
    CHECK(log.notes.unknown.empty());
}

TEST_CASE("sessions of OpenClaw go on where it says, and its own notices were never sent", "[logs]") {
    const ReadLog log = read_fixture("openclaw.jsonl");
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(roles_of(session) == "uatauaua");
    CHECK(sent_for(session, 1) == std::vector<std::string>{"Tell me when it is done.", "I send a note.", "sent"});
    CHECK(sent_for(session, 2).back() == "No, stop.");
    CHECK(sent_for(session, 3) == std::vector<std::string>{"A new day."});  // behind a reset
    CHECK(session.compactions.at(0).trigger == "new");
    CHECK(usage_of(session) ==
          std::vector<Usage>{{2'000, 500, 0, 30}, {150, 2'500, 0, 12}, {40, 2'700, 0, 6}, {1'900, 0, 0, 8}});
    REQUIRE(session.elsewhere.size() == 2);  // beside the session, and taken back
    CHECK(session.billed_elsewhere == Usage{230, 2'600, 0, 16});
    CHECK(log.notes.left_out.at("message that is not sent") == 2);
    CHECK(log.notes.left_out.at("reply that failed") == 1);
    CHECK(log.notes.unknown.empty());
}
