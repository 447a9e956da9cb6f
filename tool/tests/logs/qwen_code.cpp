#include "log_file.hpp"
#include "support/catch.hpp"
#include "whittle/message/validity.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using nlohmann::ordered_json;

namespace {

/// As long as the agent's own: shorter ones are of one file.
std::string qwen_uuid(const std::string& name) { return std::string(36 - name.size(), '0') + name; }

/// A record behind `parent`; "" for the first one.
ordered_json qwen_record(const std::string& name, const std::string& parent, const char* type) {
    return {{"uuid", qwen_uuid(name)},
            {"parentUuid", parent.empty() ? ordered_json(nullptr) : ordered_json(qwen_uuid(parent))},
            {"sessionId", "s"},
            {"timestamp", "2026-11-20T09:00:00.000Z"},
            {"type", type},
            {"cwd", "/w"},
            {"version", "0.24.4"}};
}

ordered_json qwen_content(const char* role, ordered_json parts) { return {{"role", role}, {"parts", parts}}; }

ordered_json qwen_text(const std::string& text) { return {{"text", text}}; }

ordered_json qwen_function_call(const std::string& id) {
    return {{"functionCall", {{"id", id}, {"name", "look"}, {"args", {{"at", id}}}}}};
}

ordered_json qwen_function_response(const std::string& id, const std::string& output) {
    return {{"functionResponse", {{"id", id}, {"name", "look"}, {"response", {{"output", output}}}}}};
}

ordered_json qwen_prompt(const std::string& name, const std::string& parent, const std::string& text) {
    ordered_json record = qwen_record(name, parent, "user");
    record["message"] = qwen_content("user", ordered_json::array({qwen_text(text)}));
    return record;
}

ordered_json qwen_result(const std::string& name, const std::string& parent, ordered_json parts) {
    ordered_json record = qwen_record(name, parent, "tool_result");
    record["message"] = qwen_content("user", std::move(parts));
    return record;
}

ordered_json qwen_reply(const std::string& name, const std::string& parent, ordered_json parts, int prompt) {
    ordered_json record = qwen_record(name, parent, "assistant");
    record["model"] = "qwen-x";
    record["message"] = qwen_content("model", std::move(parts));
    record["usageMetadata"] = {
        {"promptTokenCount", prompt}, {"candidatesTokenCount", 10}, {"totalTokenCount", prompt + 10}};
    return record;
}

ordered_json qwen_answer(const std::string& name, const std::string& parent, const std::string& text, int prompt) {
    return qwen_reply(name, parent, ordered_json::array({qwen_text(text)}), prompt);
}

ordered_json qwen_system(const std::string& name, const std::string& parent, const char* subtype,
                         ordered_json payload) {
    ordered_json record = qwen_record(name, parent, "system");
    record["subtype"] = subtype;
    record["systemPayload"] = std::move(payload);
    return record;
}

ordered_json qwen_compression(const std::string& name, const std::string& parent, ordered_json history,
                              const char* trigger = "token_limit") {
    return qwen_system(name, parent, "chat_compression",
                       {{"info", {{"originalTokenCount", 900}, {"triggerReason", trigger}}},
                        {"compressedHistory", std::move(history)}});
}

/// What the agent tells of a call of `prompt` tokens.
ordered_json qwen_event(const std::string& name, const std::string& parent, int prompt, ordered_json more = {}) {
    ordered_json event{{"event.name", "qwen-code.api_response"},
                       {"model", "qwen-x"},
                       {"input_token_count", prompt},
                       {"output_token_count", 10},
                       {"total_token_count", prompt + 10},
                       {"prompt_id", "s########1"}};
    if (more.is_object()) event.update(more);
    return qwen_system(name, parent, "ui_telemetry", {{"uiEvent", std::move(event)}});
}

ReadLog read_qwen(const std::vector<ordered_json>& records) {
    std::string text;
    for (const ordered_json& record : records) text += record.dump() + "\n";
    return read_text_as(text, logs::Format::qwen_code, {.name = "s.jsonl"});
}

using Said = std::vector<std::string>;

/// Contents of the request that the newest reply answered; those of calls alone are "calls".
Said newest_qwen_request(const logs::Session& session) {
    Said contents;
    for (const ordered_json& message : session.request_of(session.calls.back()))
        contents.push_back(message["content"].is_string() ? message["content"].get<std::string>() : "calls");
    return contents;
}

bool is_valid_chat(const logs::Session& session) {
    return validate(std::span<const openai::Message>(session.recording.messages), openai_chat()).empty();
}

std::vector<std::string> ids_of(const std::vector<logs::Call>& calls) {
    std::vector<std::string> ids;
    for (const logs::Call& call : calls) ids.push_back(call.bill_id);
    return ids;
}

const ordered_json qwen_summary = qwen_content("user", ordered_json::array({qwen_text("so far")}));
const ordered_json qwen_thanks = qwen_content("model", ordered_json::array({qwen_text("Got it.")}));

}  // namespace

TEST_CASE("a session of Qwen Code is read with its bill, what was taken back, and its compression", "[logs][qwen]") {
    const ReadLog log = read_fixture("qwen_code.jsonl");
    REQUIRE(log.sessions.size() == 1);
    const logs::Session& session = log.sessions[0];
    CHECK(session.recording.id == "5d0c1a52-7b0e-4f6a-9c1d-2e3f40516273");
    CHECK(session.version == "0.24.4");
    CHECK(session.folder == "/home/ann/harbour");
    CHECK(session.parent.empty());
    CHECK(roles_of(session) == "uatauaua");
    CHECK(is_valid_chat(session));
    CHECK(session.recording.messages[1].json()["content"] == "I count them.");
    CHECK(session.recording.messages[1].json()["tool_calls"][0]["function"]["arguments"] == R"({"path":"berths"})");
    CHECK(session.recording.messages[2].json()["content"] == "heron\ntern\nkite");
    CHECK(replies_of(session) == std::vector<std::size_t>{1, 3, 5, 7});
    CHECK(usage_of(session) ==
          std::vector<Usage>{{3'000, 6'000, 0, 40}, {100, 9'000, 0, 5}, {2'700, 0, 0, 8}, {100, 2'700, 0, 20}});
    CHECK(session.calls[0].model == "qwen3-coder-plus");
    CHECK(session.calls[3].model == "gemini-2.5-pro");
    CHECK(session.calls[0].time == 1'795'165'203);
    // Two calls that were taken back, one of a sub-agent, and the compression's own.
    REQUIRE(session.elsewhere.size() == 4);
    CHECK(session.billed_elsewhere == Usage{4'600, 27'400, 0, 353});
    CHECK(session.elsewhere[2].model == "qwen3-flash");
    CHECK(session.elsewhere[3].usage == Usage{400, 9'100, 0, 300});
    REQUIRE(session.compactions.size() == 1);
    CHECK(session.compactions[0].before == 4);  // in front of the prompt that was too long for what was there
    CHECK(session.compactions[0].trigger == "token_limit");
    CHECK(session.compactions[0].tokens_before == 9'600);
    CHECK(session.request_of(session.calls[2]).size() == 3);
    CHECK(newest_qwen_request(session).back() == "<task-notification>tide is out</task-notification>");
    CHECK(log.notes.unknown == std::map<std::string, std::int64_t>{{"system/tide_table", 1}});
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{
                                    {"system/rewind", 1}, {"system/slash_command", 1}, {"system/ui_telemetry", 9}});
    CHECK(log.notes.newer.empty());
}

TEST_CASE("a sub-agent of Qwen Code has its own file, and one bill with the session that started it", "[logs][qwen]") {
    const ReadLog log = read_fixture("qwen_code_agent.jsonl");
    REQUIRE(log.sessions.size() == 1);
    const logs::Session& session = log.sessions[0];
    const std::string parent = "5d0c1a52-7b0e-4f6a-9c1d-2e3f40516273";
    CHECK(session.recording.id == parent + "/painter-call_paint");
    CHECK(session.parent == parent);
    CHECK(roles_of(session) == "uauatta");
    CHECK(is_valid_chat(session));
    CHECK(session.recording.messages[3].json()["tool_calls"].size() == 2);
    CHECK(session.recording.messages[5].json()["content"] == "out of paint");
    // What it began with was billed where it came from; thoughts, and calls behind them, are one reply.
    CHECK(replies_of(session) == std::vector<std::size_t>{3, 6});
    CHECK(usage_of(session) == std::vector<Usage>{{4'000, 0, 0, 20}, {100, 4'000, 0, 12}});
    CHECK(session.elsewhere.empty());
    const auto reported = ids_of(read_fixture("qwen_code.jsonl").sessions[0].elsewhere);
    CHECK(std::ranges::count(reported, session.calls[0].bill_id) == 1);
    CHECK(std::ranges::count(reported, session.calls[1].bill_id) == 0);
}

TEST_CASE("a session that Qwen Code forked has the ids of its calls and events", "[logs][qwen]") {
    const std::vector<ordered_json> whole{qwen_prompt("u1", "", "one?"), qwen_event("e1", "u1", 100),
                                          qwen_answer("a1", "e1", "one.", 100), qwen_event("e2", "a1", 700),
                                          qwen_event("e3", "e2", 40, {{"subagent_name", "helper"}})};
    std::vector<ordered_json> fork = whole;
    for (ordered_json& record : fork) {
        record["forkedFrom"] = {{"sessionId", "s"}, {"messageUuid", record["uuid"]}};
        record["sessionId"] = "t";
        if (record["type"] == "system") record["systemPayload"]["uiEvent"]["prompt_id"] = "t########1";
    }
    fork.push_back(qwen_answer("a2", "e3", "two.", 100));
    fork.back()["sessionId"] = "t";
    const auto a = read_qwen(whole).sessions.at(0);
    const auto b = read_qwen(fork).sessions.at(0);
    CHECK(b.recording.id == "t");
    CHECK(a.calls[0].bill_id == "qwen_code/" + qwen_uuid("a1"));
    CHECK(b.calls[0].bill_id == a.calls[0].bill_id);
    CHECK(b.calls[1].bill_id != a.calls[0].bill_id);
    REQUIRE(a.elsewhere.size() == 2);
    CHECK(ids_of(b.elsewhere) == ids_of(a.elsewhere));
    CHECK(a.elsewhere[0].bill_id != a.elsewhere[1].bill_id);
    ordered_json short_id = qwen_answer("a1", "", "one.", 100);
    short_id["uuid"] = "a1";
    CHECK(read_qwen({short_id}).sessions.at(0).calls[0].bill_id.empty());  // of this file alone
}

TEST_CASE("events of Qwen Code tell of its replies once more, and of all other calls", "[logs][qwen]") {
    const auto read = [](std::vector<ordered_json> events) {
        std::vector<ordered_json> all{qwen_prompt("u1", "", "one?"), qwen_answer("a1", "u1", "one.", 100),
                                      qwen_answer("a2", "a1", "two.", 100)};
        all.insert(all.begin() + 1, events.begin(), events.end());
        return read_qwen(all).sessions.at(0).elsewhere.size();
    };
    CHECK(read({}) == 0);
    CHECK(read({qwen_event("e1", "u1", 100)}) == 0);
    CHECK(read({qwen_event("e1", "u1", 100), qwen_event("e2", "e1", 100)}) == 0);
    CHECK(read({qwen_event("e1", "u1", 100), qwen_event("e2", "e1", 100), qwen_event("e3", "e2", 100)}) == 1);
    CHECK(read({qwen_event("e1", "u1", 101)}) == 1);
    // Of a sub-agent, whose counts may be those of a reply. Older versions tell it by the prompt's id alone.
    CHECK(read({qwen_event("e1", "u1", 100, {{"subagent_name", "helper"}})}) == 1);
    CHECK(read({qwen_event("e1", "u1", 100, {{"prompt_id", "s#helper-4f#0"}})}) == 1);
    CHECK(read({qwen_event("e1", "u1", 100, {{"event.name", "qwen-code.api_error"}})}) == 0);
    CHECK(read({qwen_event("e1", "u1", 101), qwen_event("e1", "u1", 101)}) == 1);  // the same record
}

TEST_CASE("counts of Qwen Code's providers become what was billed", "[logs][qwen]") {
    const auto read = [](const ordered_json& usage) {
        ordered_json reply = qwen_answer("a1", "", "one.", 0);
        reply["usageMetadata"] = usage;
        return read_qwen({reply}).sessions.at(0).calls.at(0).usage;
    };
    const auto counts = [](int prompt, int candidates, int thoughts, int cached, int total) {
        return ordered_json{{"promptTokenCount", prompt},
                            {"candidatesTokenCount", candidates},
                            {"thoughtsTokenCount", thoughts},
                            {"cachedContentTokenCount", cached},
                            {"totalTokenCount", total}};
    };
    CHECK(read(counts(100, 30, 20, 60, 130)) == Usage{40, 60, 0, 30});  // candidates hold the thoughts
    CHECK(read(counts(100, 30, 20, 60, 150)) == Usage{40, 60, 0, 50});  // and here they do not
    CHECK(read(counts(100, 30, 20, 60, 0)) == Usage{40, 60, 0, 30});
    CHECK(read(counts(100, 30, 40, 60, 0)) == Usage{40, 60, 0, 70});
    CHECK(read(counts(100, 30, 0, 160, 0)) == Usage{100, 160, 0, 30});  // no part of the prompt
    CHECK(read({{"totalTokenCount", 500}, {"thoughtsTokenCount", 20}, {"cachedContentTokenCount", 80}}) ==
          Usage{400, 80, 0, 20});
    ordered_json with_tools = counts(100, 30, 20, 60, 155);
    with_tools["toolUsePromptTokenCount"] = 5;
    CHECK(read(with_tools) == Usage{45, 60, 0, 50});
    CHECK_FALSE(read(counts(0, 0, 0, 0, 0)).has_value());
}

TEST_CASE("a branch of Qwen Code's records that ends is taken back and billed", "[logs][qwen]") {
    const auto log =
        read_qwen({qwen_prompt("u1", "", "one?"), qwen_answer("a1", "u1", "one.", 100), qwen_prompt("u2", "a1", "two?"),
                   qwen_compression("z", "u2", {qwen_summary}), qwen_answer("a2", "z", "two.", 110),
                   qwen_system("r1", "a1", "rewind", {{"truncatedCount", 1}}), qwen_prompt("u3", "r1", "three?"),
                   qwen_answer("a3", "u3", "three.", 120)});
    const logs::Session& session = log.sessions.at(0);
    CHECK(newest_qwen_request(session) == Said{"one?", "one.", "three?"});
    CHECK(session.compactions.empty());
    CHECK(session.billed_elsewhere == Usage{110, 0, 0, 10});
    CHECK(session.elsewhere.at(0).bill_id == "qwen_code/" + qwen_uuid("a2"));
    CHECK(session.elsewhere.at(0).time == 1'795'165'200);
    // To the beginning.
    const auto all = read_qwen({qwen_prompt("u1", "", "one?"), qwen_answer("a1", "u1", "one.", 100),
                                qwen_system("r1", "", "rewind", {{"truncatedCount", 1}}),
                                qwen_prompt("u2", "r1", "two?"), qwen_answer("a2", "u2", "two.", 110)})
                         .sessions.at(0);
    CHECK(newest_qwen_request(all) == Said{"two?"});
    CHECK(all.billed_elsewhere == Usage{100, 0, 0, 10});
    // Nothing is left but the bill.
    const auto none = read_qwen({qwen_prompt("u1", "", "one?"), qwen_answer("a1", "u1", "one.", 100),
                                 qwen_system("r1", "", "rewind", {{"truncatedCount", 1}})})
                          .sessions.at(0);
    CHECK(none.recording.messages.empty());
    CHECK(billed(none) == Usage{100, 0, 0, 10});
    // What stands beside the conversation is no branch.
    const auto beside = read_qwen({qwen_prompt("u1", "", "one?"), qwen_answer("a1", "u1", "one.", 100),
                                   qwen_system("x1", "", "session_artifact_snapshot", {{"v", 1}})})
                            .sessions.at(0);
    CHECK(roles_of(beside) == "ua");
}

TEST_CASE("Qwen Code compresses in front of what it was about to send", "[logs][qwen]") {
    const auto read = [](std::vector<ordered_json> middle) {
        std::vector<ordered_json> all{qwen_prompt("u1", "", "one?"), qwen_answer("a1", "u1", "one.", 100)};
        all.insert(all.end(), middle.begin(), middle.end());
        all.push_back(qwen_answer("a9", "z", "done", 50));
        return read_qwen(all).sessions.at(0);
    };
    const ordered_json both{qwen_summary, qwen_thanks};
    const auto prompted = read({qwen_prompt("u2", "a1", "two?"), qwen_compression("z", "u2", both)});
    CHECK(newest_qwen_request(prompted) == Said{"so far", "Got it.", "two?"});
    CHECK(roles_of(prompted) == "uaua");
    // By hand there is nothing to send; older versions tell by the command alone.
    const auto by_hand = read({qwen_prompt("u2", "a1", "two?"), qwen_compression("z", "u2", both, "manual")});
    CHECK(newest_qwen_request(by_hand) == Said{"so far", "Got it."});
    const auto by_command =
        read({qwen_prompt("u2", "a1", "two?"), qwen_system("c", "u2", "slash_command", {{"rawCommand", "/compress"}}),
              qwen_compression("z", "c", both)});
    CHECK(newest_qwen_request(by_command) == Said{"so far", "Got it."});
    // What it kept may end with what it was about to send.
    const auto with_newest = read(
        {qwen_prompt("u2", "a1", "two?"),
         qwen_compression(
             "z", "u2", {qwen_summary, qwen_thanks, qwen_content("user", ordered_json::array({qwen_text("two?")}))})});
    CHECK(newest_qwen_request(with_newest) == Said{"so far", "Got it.", "two?"});
    CHECK(with_newest.compactions[0].tokens_before == 900);
    const auto with_reminder =
        read({qwen_prompt("u2", "a1", "two?"),
              qwen_compression(
                  "z", "u2",
                  {qwen_summary, qwen_thanks, qwen_content("user", {qwen_text("It is Monday."), qwen_text("two?")})})});
    CHECK(newest_qwen_request(with_reminder) == Said{"so far", "Got it.", "It is Monday.\ntwo?"});
    // Twice, without a reply between.
    const auto twice = read({qwen_prompt("u2", "a1", "two?"), qwen_compression("y", "u2", {qwen_thanks}),
                             qwen_compression("z", "y", both)});
    CHECK(newest_qwen_request(twice) == Said{"so far", "Got it.", "two?"});
    CHECK(twice.compactions.size() == 2);
}

TEST_CASE("a compression of Qwen Code between calls and their results keeps requests valid", "[logs][qwen]") {
    const ordered_json call =
        qwen_content("model", ordered_json::array({qwen_text("Got it."), qwen_function_call("c1")}));
    const auto read = [](ordered_json kept, bool is_behind_results) {
        const std::string first = is_behind_results ? "t1" : "a1";
        std::vector<ordered_json> all{qwen_prompt("u1", "", "one?"),
                                      qwen_reply("a1", "u1", ordered_json::array({qwen_function_call("c1")}), 100)};
        const auto result = [](const char* parent) {
            return qwen_result("t1", parent, ordered_json::array({qwen_function_response("c1", "AAA")}));
        };
        if (is_behind_results) all.push_back(result("a1"));
        all.push_back(qwen_compression("z", first, std::move(kept)));
        if (!is_behind_results) all.push_back(result("z"));
        all.push_back(qwen_answer("a2", is_behind_results ? "z" : "t1", "done", 50));
        return read_qwen(all).sessions.at(0);
    };
    const auto is_sendable = [](const logs::Session& session) {
        std::vector<openai::Message> request;
        for (ordered_json& message : session.request_of(session.calls.back())) request.emplace_back(std::move(message));
        return validate(std::span<const openai::Message>(request), openai_chat()).empty();
    };
    for (const bool is_behind_results : {true, false}) {
        CAPTURE(is_behind_results);
        const auto open = read({qwen_summary, call}, is_behind_results);
        CHECK(newest_qwen_request(open) == Said{"so far", "Got it.", "AAA"});
        CHECK(is_sendable(open));
        CHECK(is_valid_chat(open));
    }
    const auto closed = read({qwen_summary, qwen_thanks}, true);
    CHECK(newest_qwen_request(closed) == Said{"so far", "Got it."});
    CHECK(roles_of(closed) == "uata");
    CHECK(is_sendable(closed));
    const auto forgotten = read({qwen_summary, call, qwen_summary}, true);
    CHECK(newest_qwen_request(forgotten) == Said{"so far", "Got it.", "", "so far"});
    CHECK(is_sendable(forgotten));
}

TEST_CASE("results of Qwen Code are of their calls, also where these have no ids", "[logs][qwen]") {
    const ordered_json unnamed{{"functionCall", {{"name", "look"}, {"args", {{"at", "x"}}}}}};
    const ReadLog log =
        read_qwen({qwen_prompt("u1", "", "one?"), qwen_reply("a1", "u1", ordered_json::array({unnamed, unnamed}), 100),
                   qwen_result("t1", "a1", ordered_json::array({qwen_function_response("look-1", "AAA")})),
                   qwen_result("t2", "t1",
                               {qwen_function_response("look-2", "BBB"),
                                qwen_text("a hint"),
                                {{"inlineData", {{"mimeType", "image/png"}, {"data", "AAAA"}}}}}),
                   qwen_result("t3", "t2", ordered_json::array({qwen_function_response("look-2", "BBB")})),
                   qwen_answer("a2", "t3", "done", 110),
                   qwen_result("t4", "a2", ordered_json::array({qwen_function_response("c9", "CCC")}))});
    const logs::Session& session = log.sessions.at(0);
    CHECK(roles_of(session) == "uattua");
    CHECK(is_valid_chat(session));
    CHECK(session.recording.messages[2].json()["content"] == "AAA");
    CHECK(session.recording.messages[3].json()["content"] == "BBB");
    CHECK(session.recording.messages[4].json()["content"] == "a hint");
    CHECK(log.notes.left_out ==
          std::map<std::string, std::int64_t>{{"functionResponse without its call", 1}, {"inlineData", 1}});
}

TEST_CASE("what Qwen Code is told while tools run stands behind their results", "[logs][qwen]") {
    const auto calls =
        qwen_reply("a1", "u1", ordered_json::array({qwen_function_call("c1"), qwen_function_call("c2")}), 100);
    ordered_json meanwhile = qwen_prompt("m1", "t1", "be quick");
    meanwhile["subtype"] = "mid_turn_user_message";
    const ReadLog log =
        read_qwen({qwen_prompt("u1", "", "one?"), calls,
                   qwen_result("t1", "a1", ordered_json::array({qwen_function_response("c1", "AAA")})), meanwhile,
                   qwen_result("t2", "m1", ordered_json::array({qwen_function_response("c2", "BBB")})),
                   qwen_answer("a2", "t2", "done", 110)});
    CHECK(newest_qwen_request(log.sessions.at(0)) == Said{"one?", "calls", "AAA", "BBB", "be quick"});
    CHECK(is_valid_chat(log.sessions[0]));
    // The person broke it off: calls without results get empty ones, but not the last ones.
    const ReadLog broken = read_qwen({qwen_prompt("u1", "", "one?"), calls, qwen_prompt("u2", "a1", "no"),
                                      qwen_reply("a2", "u2", ordered_json::array({qwen_function_call("c3")}), 110)});
    CHECK(newest_qwen_request(broken.sessions.at(0)) == Said{"one?", "calls", "", "", "no"});
    CHECK(roles_of(broken.sessions[0]) == "uattua");
    CHECK(broken.notes.left_out == std::map<std::string, std::int64_t>{{"tool call without a result", 2}});
}

TEST_CASE("what Qwen Code did not send is no message", "[logs][qwen]") {
    ordered_json spoken = qwen_prompt("s1", "a1", "hello?");
    spoken["subtype"] = "realtime_message";
    ordered_json odd = qwen_prompt("o1", "s1", "from a newer version");
    odd["subtype"] = "pigeon";
    const ReadLog log = read_qwen(
        {qwen_prompt("u1", "", "one?"),
         qwen_reply("a0", "u1", ordered_json::array({{{"text", "hm"}, {"thought", true}}}), 90),
         qwen_answer("a1", "a0", "one.", 100), spoken, odd, qwen_prompt("u2", "o1", "/goal show"),
         qwen_system("c1", "u2", "slash_command",
                     {{"phase", "result"},
                      {"rawCommand", "/goal show"},
                      {"outputHistoryItems", ordered_json::array({{{"type", "assistant"}, {"text", "none"}}})}}),
         qwen_prompt("u3", "c1", "/plan it"),
         qwen_system("c2", "u3", "slash_command",
                     {{"phase", "result"},
                      {"rawCommand", "/plan it"},
                      {"sentToModel", true},
                      {"outputHistoryItems", ordered_json::array({{{"type", "assistant"}, {"text", "ok"}}})}}),
         qwen_answer("a2", "c2", "two.", 110)});
    const logs::Session& session = log.sessions.at(0);
    CHECK(newest_qwen_request(session) == Said{"one?", "one.", "from a newer version", "/plan it"});
    CHECK(session.billed_elsewhere == Usage{90, 0, 0, 10});  // thoughts alone
    CHECK(log.notes.unknown == std::map<std::string, std::int64_t>{{"message/pigeon", 1}});
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{{"message/realtime_message", 1},
                                                                    {"reply without text and calls", 1},
                                                                    {"system/slash_command", 2}});
}

TEST_CASE("damage and gaps in a log of Qwen Code cost what stands there alone", "[logs][qwen]") {
    const std::vector<ordered_json> records{qwen_prompt("u1", "", "one?"), qwen_answer("a1", "u1", "one.", 100),
                                            qwen_prompt("u2", "a1", "two?"), qwen_answer("a2", "u2", "two.", 110)};
    std::string text = records[0].dump() + "\n" + records[1].dump().substr(0, 90) + "\n" + records[2].dump() + "\n" +
                       R"({"uuid":"x","sessionId":"s"})" + "\n" + R"({"uuid":"y","sessionId":"s","type":"user"})" +
                       "\n" + records[3].dump();
    const ReadLog log = read_text_as(text, logs::Format::qwen_code);
    CHECK(roles_of(log.sessions.at(0)) == "uua");
    CHECK(log.notes.damaged == 3);
    CHECK(log.notes.unknown == std::map<std::string, std::int64_t>{{"parentUuid of no record", 1}});
    // Records that came before are parts of one, or the same.
    ordered_json more = qwen_answer("a2", "u2", " And three.", 110);
    std::vector<ordered_json> again = records;
    again.insert(again.end(), {more, records[0], records[3]});
    const ReadLog repeated = read_qwen(again);
    CHECK(roles_of(repeated.sessions.at(0)) == "uaua");
    CHECK(repeated.sessions[0].recording.messages[3].json()["content"] == "two. And three.");
    CHECK(billed(repeated.sessions[0]) == Usage{210, 0, 0, 20});
    std::string whole;
    for (const ordered_json& record : records) whole += record.dump() + "\n";
    std::size_t messages = 0;
    for (std::size_t size = 0; size <= whole.size(); size += 7) {
        const ReadLog cut = read_text_as(whole.substr(0, size), logs::Format::qwen_code);
        CHECK(cut.notes.damaged <= 1);
        const std::size_t now = cut.sessions.empty() ? 0 : cut.sessions[0].recording.messages.size();
        CHECK(now >= messages);
        messages = now;
    }
    CHECK(messages >= 3);
}

TEST_CASE("a reply that Qwen Code recorded in parts is billed what the newest of them says, once", "[logs][qwen]") {
    const ordered_json answer = qwen_answer("a1", "u1", "one.", 100);
    ordered_json early = answer;  // before it was billed
    early.erase("usageMetadata");
    early.erase("model");
    ordered_json empty = early;
    empty.erase("message");
    ordered_json bill = answer;
    bill.erase("message");
    ordered_json other = qwen_answer("a1", "u1", "one.", 200);
    other["model"] = "qwen-y";
    const ordered_json prompt = qwen_prompt("u1", "", "one?");
    const auto read = [&](const std::vector<ordered_json>& replies) {
        std::vector<ordered_json> records{prompt};
        records.insert(records.end(), replies.begin(), replies.end());
        return read_qwen(records);
    };
    for (const auto& replies : {std::vector{early, answer}, {early, bill}, {empty, answer}, {answer, early}}) {
        const ReadLog log = read(replies);
        const logs::Session& session = log.sessions.at(0);
        CHECK(roles_of(session) == "ua");
        CHECK(session.recording.messages.at(1).json()["content"] == "one.");
        REQUIRE(session.calls.size() == 1);
        CHECK(session.calls[0].model == "qwen-x");
        CHECK(billed(session) == Usage{100, 0, 0, 10});
        CHECK(log.notes.left_out.size() == (replies[0] == answer ? 1U : 0U));  // the copy that says nothing new
    }
    const ReadLog newest = read({answer, other});
    CHECK(billed(newest.sessions.at(0)) == Usage{200, 0, 0, 10});
    CHECK(newest.sessions[0].calls.at(0).model == "qwen-x");
    // What the agent tells of the call is no second one.
    const ordered_json event = qwen_event("e1", "a1", 200);
    CHECK(billed(read({answer, event, other}).sessions.at(0)) == Usage{200, 0, 0, 10});
}

TEST_CASE("a record of Qwen Code that names itself as its parent stands behind the one in front", "[logs][qwen]") {
    const std::string text =
        qwen_prompt("a", "", "go").dump() + "\n" + qwen_answer("b", "b", "Yes.", 100).dump() + "\n";
    const ReadLog log = read_text_as(text, logs::Format::qwen_code);
    REQUIRE(log.sessions.size() == 1);
    CHECK(roles_of(log.sessions[0]) == "ua");
    CHECK(log.notes.unknown.at("parentUuid of no record") == 1);
}

TEST_CASE("sessions of Qwen Code in one file are told apart", "[logs][qwen]") {
    ordered_json other = qwen_prompt("u9", "", "else?");
    other["sessionId"] = "t";
    const ReadLog log = read_qwen({qwen_prompt("u1", "", "one?"), other, qwen_answer("a1", "u1", "one.", 100),
                                   qwen_system("p1", "a1", "parent_session", {{"parentSessionId", "root"}})});
    REQUIRE(log.sessions.size() == 2);
    CHECK(roles_of(log.sessions[0]) == "ua");
    CHECK(log.sessions[0].parent == "root");
    CHECK(roles_of(log.sessions[1]) == "u");
    CHECK(read_qwen({qwen_record("x", "", "pigeon")}).notes.unknown ==
          std::map<std::string, std::int64_t>{{"pigeon", 1}});
    ordered_json newer = qwen_prompt("u1", "", "one?");
    newer["version"] = "0.31.0";
    CHECK(read_qwen({newer}).notes.newer == std::set<std::string>{"0.31.0"});
}
