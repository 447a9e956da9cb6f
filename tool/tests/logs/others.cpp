#include "log_file.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Session;

TEST_CASE("messages of Gemini CLI are what was written last under their ids", "[logs]") {
    const ReadLog log = read_fixture("gemini_cli.jsonl");
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(session.recording.id == "g-1");
    CHECK(roles_of(session) == "uataua");
    CHECK(replies_of(session) == std::vector<std::size_t>{1, 3, 5});
    CHECK(usage_of(session) == std::vector<Usage>{{2'000, 6'000, 0, 50}, {100, 8'000, 0, 5}, {3'000, 0, 0, 4}});
    CHECK(session.recording.messages[2].json()["content"] == "a.txt\nb.txt");
    CHECK(session.recording.messages[2].json()["tool_call_id"] == "ls-1");
    CHECK(session.calls[0].model == "gemini-2.5-pro");
    // Rewound
    CHECK(session.calls_elsewhere == 1);
    CHECK(session.billed_elsewhere == Usage{100, 8'100, 0, 3});
    // All messages anew
    REQUIRE(session.compactions.size() == 1);
    CHECK(session.compactions[0].before == 4);
    const auto request = session.request_of(session.calls[2]);
    REQUIRE(request.size() == 3);
    CHECK(request[0]["content"] == "<state_snapshot>two files</state_snapshot>");
    CHECK(log.notes.unknown == std::map<std::string, std::int64_t>{{"oracle", 1}});
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{{"info", 1}});
}

TEST_CASE("a session of Gemini CLI in one document is read", "[logs]") {
    const ReadLog log = read_fixture("gemini_cli.json");
    REQUIRE(log.sessions.size() == 1);
    CHECK(log.sessions[0].recording.id == "g-0");
    CHECK(roles_of(log.sessions[0]) == "ua");
    CHECK(usage_of(log.sessions[0]) == std::vector<Usage>{{52, 0, 0, 10}});
    CHECK(log.sessions[0].recording.seconds_since_first[1] == 2.0);
}

TEST_CASE("a trajectory of SWE-agent is its history, billed in all", "[logs]") {
    const ReadLog log = read_fixture("swe_agent.traj");
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(session.recording.id == "swe_main");
    CHECK(session.version == "1.1.0");
    CHECK(roles_of(session) == "suata");
    CHECK(session.recording.messages[3].json()["tool_call_id"] == "t1");
    CHECK_FALSE(session.recording.messages[4].json().contains("tool_calls"));
    CHECK_FALSE(session.recording.messages[2].json().contains("thought"));
    CHECK(session.calls.size() == 2);
    CHECK(billed(session) == Usage{2'100, 0, 0, 60});
}

TEST_CASE("mini-swe-agent keeps the provider's response", "[logs]") {
    const Session session = read_fixture("mini_swe_agent.traj.json").sessions.at(0);
    CHECK(session.recording.id == "mini_swe_agent");
    CHECK(roles_of(session) == "suau");
    CHECK(usage_of(session) == std::vector<Usage>{{10, 30, 0, 2}});
}

TEST_CASE("responses of the Responses interface that mini-swe-agent keeps as messages are replies", "[logs]") {
    const ReadLog log = read_text_as(
        R"({"info": {"model_stats": {"api_calls": 2}, "mini_version": "2.1.0"}, "messages": [
            {"role": "system", "content": "s"}, {"role": "user", "content": "task"},
            {"object": "response", "id": "resp_1", "model": "gpt-5", "output": [{"type": "reasoning", "summary": []},
             {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{\"command\":\"ls\"}"}],
             "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 80}, "output_tokens": 7}},
            {"type": "function_call_output", "call_id": "c1", "output": "a.txt", "extra": {"returncode": 0}},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "No call."}], "extra":
             {"interrupt_type": "FormatError", "response": {"object": "response", "id": "resp_2", "output": [],
              "usage": {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 1}}}},
            {"object": "response", "id": "resp_3", "output": []},
            {"type": "hologram"}, {"role": "exit", "content": ""}]})",
        logs::Format::swe_agent);
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(roles_of(session) == "suatu");
    CHECK(usage_of(session) == std::vector<Usage>{{20, 80, 0, 7}});
    CHECK(session.calls[0].id == "resp_1");
    CHECK(session.calls[0].model == "gpt-5");
    CHECK(session.recording.messages[2].json()["tool_calls"][0]["function"]["arguments"] == R"({"command":"ls"})");
    CHECK(session.recording.messages[3].json()["tool_call_id"] == "c1");
    CHECK(session.recording.messages[4].json()["content"] == "No call.");
    CHECK(session.calls_elsewhere == 2);  // a reply that the agent could not read, and one without anything in it
    CHECK(session.billed_elsewhere == Usage{5, 4, 0, 1});
    CHECK(log.notes.unknown == std::map<std::string, std::int64_t>{{"input/hologram", 1}});
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{{"message/exit", 1}, {"reasoning", 1}});
}

TEST_CASE("a reply that mini-swe-agent could not read was billed", "[logs]") {
    const ReadLog log = read_text_as(
        R"({"info": {"mini_version": "2.1.0"}, "messages": [{"role": "user", "content": "task"},
            {"role": "user", "content": "No call.", "extra": {"response": {"id": "chatcmpl-1", "model": "m",
             "usage": {"prompt_tokens": 10, "completion_tokens": 2}}}},
            {"role": "user", "content": "No call.", "extra": {"response": "a response that is no JSON"}},
            {"role": "assistant", "content": "ls", "extra": {"response": {"id": "chatcmpl-2",
             "usage": {"prompt_tokens": 20, "completion_tokens": 3}}}}]})",
        logs::Format::swe_agent);
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(roles_of(session) == "uuua");
    CHECK(usage_of(session) == std::vector<Usage>{{20, 0, 0, 3}});
    REQUIRE(session.elsewhere.size() == 2);
    CHECK(session.elsewhere[0].id == "chatcmpl-1");
    CHECK(session.billed_elsewhere == Usage{10, 0, 0, 2});
}

TEST_CASE("each attempt of SWE-agent at a task is a session, and the best one bears what choosing it took", "[logs]") {
    const auto attempt = [](int number) {
        const std::string tokens = std::to_string(100 * number);
        return R"({"trajectory": [], "history": [{"role": "user", "content": "task", "agent": "main"},
            {"role": "assistant", "content": ")" +
               tokens + R"(", "agent": "main"}], "info": {"model_stats": {"tokens_sent": )" + tokens +
               R"(, "tokens_received": 1}}})";
    };
    const std::string running = R"({"attempts": [)" + attempt(1) + "," + attempt(2);
    CHECK(logs::recognise(running) == logs::Format::swe_agent);
    const ReadLog log = read_text_as(running + R"(], "trajectory": [], "history": [{"role": "user", "content": "task"},
            {"role": "assistant", "content": "200"}], "environment": "e", "info": {"best_attempt_idx": 1,
            "model_stats": {"tokens_sent": 350, "tokens_received": 6},
            "rloop_model_stats": {"tokens_sent": 50, "tokens_received": 4}}})",
                                     logs::Format::swe_agent);
    REQUIRE(log.sessions.size() == 2);
    CHECK(log.sessions[0].recording.id == "e/attempt_0");
    CHECK(billed(log.sessions[0]) == Usage{100, 0, 0, 1});
    CHECK(log.sessions[1].recording.messages[1].json()["content"] == "200");
    CHECK(billed(log.sessions[1]) == Usage{250, 0, 0, 5});
}

TEST_CASE("requests that go on with an earlier one are one session", "[logs]") {
    const ReadLog log = read_fixture("exchanges.jsonl");
    REQUIRE(log.sessions.size() == 2);
    const Session& first = log.sessions[0];
    CHECK(first.recording.id == "exchanges-1");
    CHECK(roles_of(first) == "suataua");
    CHECK(replies_of(first) == std::vector<std::size_t>{2, 4, 6});
    CHECK(first.calls[0].id == "chatcmpl-1");
    CHECK(first.calls[0].model == "gpt-5-2026");
    CHECK(usage_of(first) == std::vector<Usage>{{50, 0, 0, 9}, {}, {16, 64, 0, 4}});
    CHECK(first.recording.messages[4].json()["content"] == "It is noon.");  // its response was streamed
    CHECK(first.recording.tools.at(0).name == "clock");
    CHECK(first.recording.seconds_since_first[6] == 9.0);
    CHECK(log.sessions[1].recording.system == "Be short.");
    CHECK(usage_of(log.sessions[1]) == std::vector<Usage>{{5, 10, 20, 2}});
    CHECK(log.notes.unknown ==
          std::map<std::string, std::int64_t>{{"request without messages", 1}, {"response that holds no reply", 1}});
    CHECK(log.notes.left_out.empty());
}

TEST_CASE("requests in an HTTP archive are read", "[logs]") {
    const ReadLog log = read_fixture("session.har");
    REQUIRE(log.sessions.size() == 1);
    CHECK(roles_of(log.sessions[0]) == "ua");
    CHECK(usage_of(log.sessions[0]) == std::vector<Usage>{{8, 0, 0, 3}});
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{{"entry that is no request to a model", 1}});
}

TEST_CASE("bodies in an HTTP archive may be base64", "[logs]") {
    const ReadLog log = read_fixture("base64.har");
    REQUIRE(log.sessions.size() == 2);
    CHECK(roles_of(log.sessions[0]) == "uaua");
    CHECK(usage_of(log.sessions[0]) == std::vector<Usage>{{6, 0, 0, 2}, {6, 0, 0, 2}});
    CHECK(log.sessions[0].calls[1].id == "msg_9");
    CHECK(log.sessions[0].recording.messages[1].json()["content"][0]["text"] == "hell\u00F6");
    CHECK(roles_of(log.sessions[1]) == "u");  // what came is no base64
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{{"entry that is no request to a model", 1}});
    CHECK(log.notes.unknown == std::map<std::string, std::int64_t>{{"response that holds no reply", 1}});
}

TEST_CASE("a streamed response is read as the one that its events make", "[logs]") {
    const ReadLog log = read_fixture("streamed.jsonl");
    REQUIRE(log.sessions.size() == 3);
    const Session& chat = log.sessions[0];
    CHECK(roles_of(chat) == "uat");  // the second stream ended before its reply did
    const auto& call = chat.recording.messages[1].json()["tool_calls"][0];
    CHECK(call["id"] == "c1");
    CHECK(call["function"]["arguments"] == R"({"zone":"UTC"})");
    CHECK(usage_of(chat) == std::vector<Usage>{{24, 16, 0, 9}});
    CHECK(chat.calls[0].id == "chatcmpl-7");
    CHECK(chat.calls[0].model == "gpt-5-2026");
    const Session& messages = log.sessions[1];
    CHECK(roles_of(messages) == "ua");
    CHECK(messages.recording.messages[1].json()["content"][0]["text"] == "hello");
    CHECK(usage_of(messages) == std::vector<Usage>{{5, 100, 20, 12}});
    CHECK(messages.calls[0].id == "msg_9");
    const Session& responses = log.sessions[2];
    CHECK(roles_of(responses) == "ua");
    CHECK(responses.recording.messages[1].json()["content"] == "soon");
    CHECK(usage_of(responses) == std::vector<Usage>{{20, 10, 0, 4}});
    CHECK(responses.calls[0].id == "resp_1");
}

TEST_CASE("each step of a message of opencode is a call", "[logs]") {
    const ReadLog log = read_fixture("opencode.json");
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(session.recording.id == "ses_1");
    CHECK(session.parent == "ses_0");
    CHECK(session.version == "1.3.10");
    CHECK(roles_of(session) == "uatauat");
    CHECK(replies_of(session) == std::vector<std::size_t>{1, 3, 5});
    CHECK(usage_of(session) == std::vector<Usage>{{100, 1'000, 30, 25}, {10, 1'130, 0, 4}, {60, 0, 0, 8}});
    CHECK(session.recording.messages[0].json()["content"] == "List the files");
    CHECK(session.recording.messages[2].json()["content"] == "a.txt");
    CHECK(session.recording.messages[6].json()["content"] == "denied");
    CHECK(session.recording.seconds_since_first[2] == 3.0);
    // The summary's own call, and what was taken back
    CHECK(session.calls_elsewhere == 2);
    CHECK(session.billed_elsewhere == Usage{1'270, 0, 0, 52});
    REQUIRE(session.compactions.size() == 1);
    CHECK(session.compactions[0].before == 4);
    const auto request = session.request_of(session.calls[2]);
    REQUIRE(request.size() == 3);
    CHECK(request[1]["content"] == "There is one file.");
    CHECK(log.notes.unknown.empty());  // the wormhole is in what was taken back
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{{"part/compaction", 1},
                                                                    {"part/file", 1},
                                                                    {"part/reasoning", 1},
                                                                    {"part/text", 1},
                                                                    {"tool result that the agent cleared later", 1}});
}

TEST_CASE("a forked message of opencode has the bill of the one that it copies", "[logs]") {
    const auto bills_of = [](const std::string& message_id, int completed) {
        const ReadLog log = read_text_as(
            R"({"info": {"id": "ses_1"}, "messages": [{"info": {"id": ")" + message_id +
                R"(", "role": "assistant", "modelID": "m", "time": {"created": 7, "completed": )" +
                std::to_string(completed) + R"(}}, "parts": [{"type": "text", "text": "a"}, {"type": "step-finish"},
                    {"type": "text", "text": "b"}, {"type": "step-finish"}]}]})",
            Format::opencode);
        std::vector<std::string> bills;
        for (const auto& call : log.sessions.at(0).calls) bills.push_back(call.bill_id);
        return bills;
    };
    const auto bills = bills_of("msg_1", 9);
    CHECK(bills == std::vector<std::string>{"opencode/7-9/m/1", "opencode/7-9/m/2"});
    CHECK(bills_of("msg_2", 9) == bills);
    CHECK(bills_of("msg_1", 8) != bills);
    CHECK(bills_of("msg_1", 0) == std::vector<std::string>{"opencode/msg_1/1", "opencode/msg_1/2"});  // it never ended
    CHECK(bills_of("", 0) == std::vector<std::string>{"", ""});
}

namespace {

std::string opencode_user(const std::string& id, const std::string& part) {
    return R"({"info": {"id": ")" + id + R"(", "role": "user"}, "parts": [)" + part + "]}";
}

/// `facts`: more of the message's info, with a comma in front.
std::string opencode_assistant(const std::string& id, const std::string& parts, const std::string& facts = "") {
    return R"({"info": {"id": ")" + id + R"(", "role": "assistant", "modelID": "m",
               "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}})" +
           facts + R"(}, "parts": [)" + parts + "]}";
}

std::string opencode_text(const std::string& text) { return R"({"type": "text", "text": ")" + text + "\"}"; }

std::string opencode_finish(const std::string& tokens) {
    return R"({"type": "step-finish", "tokens": {)" + tokens + "}}";
}

std::string opencode_tool(const std::string& id, const std::string& state) {
    return R"({"type": "tool", "callID": ")" + id + R"(", "tool": "bash", "state": {"input": {}, )" + state + "}}";
}

ReadLog read_opencode_messages(const std::vector<std::string>& messages) {
    std::string text = R"({"info": {"id": "ses_1"}, "messages": [)";
    for (const std::string& message : messages) text += (text.back() == '[' ? "" : ", ") + message;
    return read_text_as(text + "]}", logs::Format::opencode);
}

const std::string opencode_aborted = R"(, "error": {"name": "MessageAbortedError"})";
const std::string opencode_failed = R"(, "error": {"name": "APIError"})";

}  // namespace

TEST_CASE("a reply of opencode that failed or only thought is no message", "[logs]") {
    const ReadLog log = read_opencode_messages(
        {opencode_user("m1", opencode_text("one?")), opencode_assistant("m2", "", opencode_failed),
         opencode_assistant("m3", opencode_text("part") + ", " + opencode_finish(R"("input": 7, "output": 1)"),
                            opencode_failed),
         opencode_assistant("m4", R"({"type": "step-start"}, {"type": "reasoning", "text": "hm"})", opencode_aborted),
         opencode_assistant("m5", R"({"type": "reasoning", "text": "hm"}, )" +
                                      opencode_finish(R"("input": 9, "output": 0, "reasoning": 2)")),
         opencode_assistant("m6", opencode_text("cut off"), opencode_aborted),
         opencode_user("m7", opencode_text("two?")),
         opencode_assistant("m8", opencode_text("two.") + ", " + opencode_finish(R"("input": 8, "output": 3)"))});
    const Session& session = log.sessions.at(0);
    CHECK(roles_of(session) == "uaua");
    CHECK(session.recording.messages[1].json()["content"] == "cut off");
    CHECK_FALSE(session.calls[0].usage);  // nothing but zeros
    CHECK(session.calls_elsewhere == 2);
    CHECK(session.billed_elsewhere == Usage{16, 0, 0, 3});
    CHECK(session.elsewhere.at(0).model == "m");
    CHECK(log.notes.left_out.at("reply that failed") == 3);
}

TEST_CASE("a call of opencode that did not end has the result that the agent sends for it", "[logs]") {
    const std::string running = opencode_tool("c1", R"("status": "running")");
    const std::string ended = opencode_tool("c2", R"("status": "completed", "output": "b")");
    const std::string broken_off = opencode_tool(
        "c3", R"("status": "error", "error": "aborted", "metadata": {"interrupted": true, "output": "until then"})");
    const ReadLog log =
        read_opencode_messages({opencode_user("m1", opencode_text("one?")),
                                opencode_assistant("m2", running + ", " + ended + ", " + broken_off),
                                opencode_user("m3", opencode_text("two?")),
                                opencode_assistant("m4", opencode_tool("c4", R"("status": "pending")"))});
    const Session& session = log.sessions.at(0);
    CHECK(roles_of(session) == "uatttua");  // the last one may be running still
    CHECK(session.recording.messages[2].json()["content"] == "b");
    CHECK(session.recording.messages[3].json()["content"] == "until then");
    CHECK(session.recording.messages[4].json()["tool_call_id"] == "c1");
    CHECK(session.recording.messages[4].json()["content"] == "[Tool execution was interrupted]");
}

TEST_CASE("a compaction of opencode is one that ended, and keeps the tail that it names", "[logs]") {
    const auto read = [](const std::string& compaction, const std::string& summary, const std::string& facts) {
        return read_opencode_messages(
            {opencode_user("m1", opencode_text("one?")), opencode_assistant("m2", opencode_text("one.")),
             opencode_user("m3", opencode_text("two?")), opencode_assistant("m4", opencode_text("two.")),
             opencode_user("m5", R"({"type": "compaction")" + compaction + "}"),
             opencode_assistant("m6", summary, R"(, "summary": true)" + facts),
             opencode_user("m7", opencode_text("three?")), opencode_assistant("m8", opencode_text("three."))});
    };
    const auto request = [](const ReadLog& log) {
        std::vector<std::string> contents;
        const Session& session = log.sessions.at(0);
        for (const auto& message : session.request_of(session.calls.back())) contents.push_back(message["content"]);
        return contents;
    };
    using Contents = std::vector<std::string>;
    const std::string ended = R"(, "finish": "stop")";
    const ReadLog whole = read("", opencode_text("sum"), ended);
    CHECK(request(whole) == Contents{"What did we do so far?", "sum", "three?"});
    const ReadLog tail = read(R"(, "tail_start_id": "m3")", opencode_text("sum"), ended);
    CHECK(request(tail) == Contents{"What did we do so far?", "sum", "two?", "two.", "three?"});
    CHECK(roles_of(tail.sessions[0]) == "uauaua");
    for (const ReadLog& log : {read("", "", opencode_aborted), read("", opencode_text("s"), ended + opencode_failed)}) {
        CHECK(log.sessions.at(0).compactions.empty());
        CHECK(request(log) == Contents{"one?", "one.", "two?", "two.", "What did we do so far?", "three?"});
    }
    const ReadLog cut_off = read("", opencode_text("s"), "");
    CHECK(cut_off.sessions.at(0).compactions.empty());
    CHECK(request(cut_off) == Contents{"one?", "one.", "two?", "two.", "What did we do so far?", "s", "three?"});
    const ReadLog lost = read(R"(, "tail_start_id": "m0")", opencode_text("sum"), ended);
    CHECK(lost.notes.unknown == std::map<std::string, std::int64_t>{{"tail_start_id", 1}});
}

TEST_CASE("the total of opencode's counts tells whether thoughts are part of the output", "[logs]") {
    const auto output = [](const std::string& tokens) {
        return billed(read_opencode_messages(
                          {opencode_user("m1", opencode_text("one?")),
                           opencode_assistant("m2", opencode_text("one.") + ", " + opencode_finish(tokens))})
                          .sessions.at(0))
            .output;
    };
    const std::string counts = R"("input": 10, "output": 50, "reasoning": 40, "cache": {"read": 1000, "write": 0})";
    CHECK(output(counts) == 90);
    CHECK(output(counts + R"(, "total": 1060)") == 50);
    CHECK(output(counts + R"(, "total": 1100)") == 90);
}

TEST_CASE("actions of OpenHands that share a response are one reply", "[logs]") {
    const ReadLog log = read_fixture("openhands.json");
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(session.recording.system == "You are OpenHands.");
    CHECK(roles_of(session) == "uatta");
    CHECK(replies_of(session) == std::vector<std::size_t>{1, 4});
    CHECK(usage_of(session) == std::vector<Usage>{{100, 400, 0, 30}, {90, 200, 10, 5}});
    REQUIRE(session.recording.messages[1].json()["tool_calls"].size() == 2);
    CHECK(session.recording.messages[1].json()["tool_calls"][0]["function"]["arguments"] == R"({"command": "ls"})");
    REQUIRE(session.compactions.size() == 1);
    CHECK(session.compactions[0].before == 4);
    const auto request = session.request_of(session.calls[1]);
    REQUIRE(request.size() == 2);
    CHECK(request[0]["content"] == "Fix it");
    CHECK(request[1]["content"] == "Listed the files.");
}

namespace {

/// An action of the agent with its call, or the result of one.
std::string openhands_event(const std::string& kind, const std::string& call, const std::string& response) {
    return R"({"timestamp": "2025-06-01T00:00:00", "source": "agent", )" + kind +
           R"(, "tool_call_metadata": {"function_name": "f", "tool_call_id": ")" + call +
           R"(", "model_response": {"id": ")" + response +
           R"(", "model": "m", "choices": [{"message": {"content": "Done.", "tool_calls": []}}], )" +
           R"("usage": {"prompt_tokens": 10, "completion_tokens": 2}}}})";
}

const std::string openhands_prompt =
    R"({"timestamp": "2025-06-01T00:00:00", "source": "user", "action": "message", "args": {"content": "do it"}})";

}  // namespace

TEST_CASE("the tool that ends the work of OpenHands is what was said with it, since it has no result", "[logs]") {
    const ReadLog log = read_text_as(
        "[" + openhands_prompt + "," +
            openhands_event(R"("action": "finish", "args": {"thought": "", "final_thought": "x"})", "c1", "r1") + "," +
            openhands_prompt + "," + openhands_event(R"("action": "run", "args": {})", "c2", "r2") + "," +
            openhands_event(R"("observation": "run", "content": "a.txt")", "c2", "r2") + "," +
            openhands_event(R"("action": "finish", "args": {"thought": "I see."})", "c3", "r2") + "]",
        logs::Format::openhands);
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(roles_of(session) == "uauata");
    CHECK(session.recording.messages[1].json() == nlohmann::ordered_json{{"role", "assistant"}, {"content", "Done."}});
    CHECK(session.recording.messages[5].json()["content"] == "I see.\nDone.");
    CHECK(replies_of(session) == std::vector<std::size_t>{1, 3});  // the last one is of a response that is billed
    CHECK(session.calls[0].id == "r1");
    CHECK(session.calls[0].model == "m");
    CHECK(usage_of(session) == std::vector<Usage>{{10, 0, 0, 2}, {10, 0, 0, 2}});
}

TEST_CASE("a reply of OpenHands without all its results is not sent again, nor are its results", "[logs]") {
    const std::string run = R"("action": "run", "args": {})";
    const std::string ran = R"("observation": "run", "content": "x")";
    const ReadLog log = read_text_as(
        "[" + openhands_prompt + "," + openhands_event(run, "c1", "r1") + "," + openhands_event(run, "c2", "r1") + "," +
            openhands_event(ran, "c2", "r1") + "," + openhands_event(run, "c3", "r2") + "," + openhands_prompt + "," +
            openhands_event(ran, "c0", "r0") + R"(,{"action": "condensation", "args": {}},)" +
            openhands_event(run, "c4", "r3") + "]",
        logs::Format::openhands);
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(roles_of(session) == "uua");
    CHECK(replies_of(session) == std::vector<std::size_t>{2});  // the log ends before its result
    CHECK(session.calls_elsewhere == 2);
    CHECK(session.billed_elsewhere == Usage{20, 0, 0, 4});
    REQUIRE(session.compactions.size() == 1);
    CHECK(session.compactions[0].before == 2);
    CHECK(session.compactions[0].kept.size() == 2);
    CHECK(log.notes.left_out ==
          std::map<std::string, std::int64_t>{{"reply without all its results", 2}, {"result without its reply", 2}});
}

TEST_CASE("a reply of OpenHands is sent once its calls have their results, behind what was said meanwhile", "[logs]") {
    const std::string run = R"("action": "run", "args": {})";
    const std::string ran = R"("observation": "run", "content": "x")";
    const ReadLog log = read_text_as("[" + openhands_prompt + "," + openhands_event(run, "c1", "r1") + "," +
                                         openhands_event(run, "c2", "r1") + "," + openhands_event(ran, "c2", "r1") +
                                         "," + openhands_prompt + "," + openhands_event(ran, "c1", "r1") + "," +
                                         openhands_event(run, "c3", "r2") + "," + openhands_event(run, "c4", "r2") +
                                         "," + openhands_event(ran, "c4", "r2") + "]",
                                     logs::Format::openhands);
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(roles_of(session) == "uuattat");
    CHECK(session.recording.messages[3].json()["tool_call_id"] == "c1");
    CHECK(session.recording.messages[4].json()["tool_call_id"] == "c2");
    CHECK(session.recording.messages[6].json()["tool_call_id"] == "c4");  // the log ends before the other one
    CHECK(replies_of(session) == std::vector<std::size_t>{2, 5});
    CHECK(log.notes.left_out.empty());
}

TEST_CASE("events of OpenHands are recognised and read in what its evaluation and its interface write", "[logs]") {
    const std::string events = "[" + openhands_prompt + "," +
                               openhands_event(R"("action": "finish", "args": {"thought": ""})", "c1", "r1") + "]";
    const std::string evaluation = R"({"instance_id": "x", "test_result": {"git_patch": ""}, "history": )" + events +
                                   "}\n" + R"({"instance_id": "y", "test_result": {}, "history": null})" + "\n" +
                                   R"({"instance_id": "z", "test_result": {}, "history": )" + events + "}\n";
    CHECK(logs::recognise(evaluation) == logs::Format::openhands);
    const ReadLog log = read_text_as(evaluation, logs::Format::openhands);
    REQUIRE(log.sessions.size() == 2);
    CHECK(log.sessions[0].recording.id == "x");
    CHECK(log.sessions[1].recording.id == "z");
    CHECK(roles_of(log.sessions[1]) == "ua");
    CHECK(log.notes.damaged == 0);
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{{"record without events", 1}});

    const std::string answer = "{\n \"trajectory\": " + events + "\n}\n";
    CHECK(logs::recognise(answer) == logs::Format::openhands);
    const ReadLog one = read_text_as(answer, logs::Format::openhands, {.name = "t.json"});
    REQUIRE(one.sessions.size() == 1);
    CHECK(one.sessions[0].recording.id == "t");
    CHECK(roles_of(one.sessions[0]) == "ua");
}

TEST_CASE("spans of model calls are put together in the order of their starts", "[logs]") {
    const ReadLog log = read_fixture("otel.jsonl");
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(session.recording.system == "Be kind.");
    CHECK(roles_of(session) == "uata");
    CHECK(usage_of(session) == std::vector<Usage>{{40, 60, 0, 8}, {10, 90, 20, 4}});
    CHECK(session.calls[0].id == "r1");
    CHECK(session.calls[0].model == "gpt-5");
    CHECK(session.recording.messages[2].json()["content"] == "noon");
    CHECK(session.recording.seconds_since_first[3] == 5.0);
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{{"span without gen_ai.input.messages", 1}});
}
