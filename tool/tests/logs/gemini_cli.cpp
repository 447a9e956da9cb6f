#include "log_file.hpp"
#include "support/catch.hpp"
#include "whittle/message/validity.hpp"

#include <span>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using nlohmann::ordered_json;

namespace {

ordered_json gemini_prompt(const std::string& id, const std::string& text) {
    return {{"id", id}, {"type", "user"}, {"content", ordered_json::array({{{"text", text}}})}};
}

ordered_json gemini_answer(const std::string& id, const ordered_json& content, int input) {
    return {{"id", id},
            {"type", "gemini"},
            {"content", content},
            {"tokens", {{"input", input}, {"output", 10}}},
            {"model", "gemini-x"}};
}

/// As the agent has it in its history, without what it recorded beside.
ordered_json gemini_turn(const std::string& id, const std::string& type, const ordered_json& parts) {
    return {{"id", id}, {"type", type}, {"content", parts}};
}

ordered_json gemini_response(const std::string& id, const std::string& output) {
    return {{"functionResponse", {{"id", id}, {"name", "read"}, {"response", {{"output", output}}}}}};
}

ordered_json gemini_function_call(const std::string& id) {
    return {{"functionCall", {{"id", id}, {"name", "read"}, {"args", {{"path", id}}}}}};
}

ordered_json gemini_run(const std::string& id, const ordered_json& result) {
    return {{"id", id}, {"name", "read"}, {"args", {{"path", id}}}, {"result", result}};
}

ordered_json gemini_set(const ordered_json& messages) { return {{"$set", {{"messages", messages}}}}; }

ordered_json gemini_rewind(const std::string& id) { return {{"$rewindTo", id}}; }

const ordered_json gemini_context = gemini_prompt("ctx", "<session_context>\nthe 1st\n</session_context>");
const ordered_json gemini_first = gemini_prompt("p1", "one?");
const ordered_json gemini_parts_of_one = ordered_json::array({{{"text", "one."}}});

ReadLog read_gemini(const std::vector<ordered_json>& records, const std::string& name = "s.jsonl") {
    std::string text = R"({"sessionId": "s", "projectHash": "h", "kind": "main"})"
                       "\n";
    for (const ordered_json& record : records) text += record.dump() + "\n";
    return read_text_as(text, logs::Format::gemini_cli, {.name = name});
}

/// Contents of the request that the newest reply answered.
std::vector<std::string> newest_request(const logs::Session& session) {
    std::vector<std::string> contents;
    for (const ordered_json& message : session.request_of(session.calls.back()))
        contents.push_back(message["content"].is_string() ? message["content"].get<std::string>() : "calls");
    return contents;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a history that says the same in other words is no compaction", "[logs]") {
    ordered_json now_answered = gemini_answer("a1",
                                              ordered_json::array({{{
                                                                        "text",
                                                                        "let me see",
                                                                    },
                                                                    {"thought", true}},
                                                                   {{"text", "one<!-- unseen -->.\n"}}}),
                                              100);
    const ReadLog log = read_gemini({gemini_set(ordered_json::array({gemini_context})),
                                     gemini_first,
                                     {{"id", "n1"}, {"type", "info"}, {"content", "a new version"}},
                                     gemini_answer("a1", "one.", 100),
                                     gemini_prompt("p2", "/memory show"),
                                     {{"$set", {{"sessionId", "s"}}}},
                                     gemini_set({gemini_prompt("ctx", "<session_context>\nthe 2nd\n</session_context>"),
                                                 gemini_first, now_answered}),
                                     gemini_prompt("p3", "two?"),
                                     gemini_answer("a3", "two.", 120)});
    const logs::Session& session = log.sessions.at(0);
    CHECK(session.compactions.empty());
    CHECK(roles_of(session) == "uuaua");
    CHECK(newest_request(session) == Texts{"<session_context>\nthe 1st\n</session_context>", "one?", "one.", "two?"});
    CHECK(usage_of(session) == std::vector<Usage>{{100, 0, 0, 10}, {120, 0, 0, 10}});
}

TEST_CASE("a history that begins like the one before and ends earlier takes back the rest", "[logs]") {
    ordered_json cut_off = gemini_answer("a2", "part", 110);
    cut_off["toolCalls"] = ordered_json::array({gemini_run("c1", ordered_json::array({gemini_response("c1", "AAA")}))});
    const ReadLog log =
        read_gemini({gemini_set(ordered_json::array({gemini_context})), gemini_first, gemini_answer("a1", "one.", 100),
                     gemini_prompt("p2", "wrong"), cut_off,
                     gemini_turn("r2", "user", ordered_json::array({gemini_response("c1", "AAA")})),
                     gemini_set({gemini_context, gemini_first, gemini_answer("a1", gemini_parts_of_one, 100)}),
                     gemini_prompt("p3", "two?"), gemini_answer("a3", "two.", 120)});
    const logs::Session& session = log.sessions.at(0);
    CHECK(session.compactions.empty());
    CHECK(newest_request(session) == Texts{gemini_context["content"][0]["text"], "one?", "one.", "two?"});
    CHECK(session.calls_elsewhere == 1);
    CHECK(session.billed_elsewhere == Usage{110, 0, 0, 10});
    CHECK(session.elsewhere.at(0).model == "gemini-x");
}

TEST_CASE("a message that a history kept can be taken back", "[logs]") {
    const ordered_json summary = gemini_prompt("z1", "<state_snapshot>one</state_snapshot>");
    const ordered_json thanks = gemini_turn("z2", "gemini", ordered_json::array({{{"text", "Got it."}}}));
    const std::vector<ordered_json> start{gemini_first, gemini_answer("a1", "one.", 100), gemini_prompt("p2", "two?"),
                                          gemini_answer("a2", "two.", 110)};
    const std::vector<ordered_json> end{gemini_prompt("p4", "four?"), gemini_answer("a4", "four.", 130)};
    const auto read = [&](std::vector<ordered_json> middle) {
        std::vector<ordered_json> all = start;
        all.insert(all.end(), middle.begin(), middle.end());
        all.insert(all.end(), end.begin(), end.end());
        return read_gemini(all).sessions.at(0);
    };
    const auto same =
        read({gemini_set({gemini_first, gemini_answer("a1", gemini_parts_of_one, 100), gemini_prompt("p2", "two?"),
                          gemini_answer("a2", ordered_json::array({{{"text", "two."}}}), 110)}),
              gemini_rewind("p2")});
    CHECK(same.compactions.empty());
    CHECK(newest_request(same) == Texts{"one?", "one.", "four?"});
    CHECK(same.billed_elsewhere == Usage{110, 0, 0, 10});
    const auto behind = read({gemini_set({summary, thanks}), gemini_prompt("p3", "three?"),
                              gemini_answer("a3", "three.", 120), gemini_rewind("p3")});
    CHECK(behind.compactions.size() == 1);
    CHECK(newest_request(behind) == Texts{"<state_snapshot>one</state_snapshot>", "Got it.", "four?"});
    CHECK(behind.billed_elsewhere == Usage{120, 0, 0, 10});
    const auto kept = read({gemini_set({summary, thanks, gemini_prompt("p2", "two?"),
                                        gemini_answer("a2", ordered_json::array({{{"text", "two."}}}), 110)}),
                            gemini_rewind("p2")});
    CHECK(newest_request(kept) == Texts{"<state_snapshot>one</state_snapshot>", "Got it.", "four?"});
    CHECK(roles_of(kept) == "uaua");  // "two?" is taken back in front of the compaction, too
    CHECK(kept.billed_elsewhere == Usage{110, 0, 0, 10});
    const auto undone =
        read({gemini_set({gemini_first, gemini_answer("a1", gemini_parts_of_one, 100), gemini_prompt("p2", "..."),
                          gemini_answer("a2", ordered_json::array({{{"text", "two."}}}), 110)}),
              gemini_rewind("p2")});
    CHECK(undone.compactions.empty());
    CHECK(newest_request(undone) == Texts{"one?", "one.", "four?"});
}

TEST_CASE("a session whose messages were all taken back has a bill", "[logs]") {
    const ReadLog log = read_gemini({gemini_first, gemini_answer("a1", "one.", 100), gemini_rewind("p1")});
    REQUIRE(log.sessions.size() == 1);
    CHECK(log.sessions[0].recording.messages.empty());
    CHECK(log.sessions[0].calls_elsewhere == 1);
    CHECK(billed(log.sessions[0]) == Usage{100, 0, 0, 10});
    CHECK(read_gemini({gemini_first, gemini_rewind("p1")}).sessions.empty());
}

TEST_CASE("messages that the agent records once more to clear a result are a compaction alone", "[logs]") {
    ordered_json answer = gemini_answer("a1", "", 100);
    answer["toolCalls"] =
        ordered_json::array({gemini_run("c1", ordered_json::array({gemini_response("c1", "a long text")}))});
    const ordered_json p = gemini_prompt("x1", "one?");
    const ordered_json a = gemini_turn("x2", "gemini", ordered_json::array({gemini_function_call("c1")}));
    const auto result = [](const char* text) {
        return gemini_turn("x3", "user", ordered_json::array({gemini_response("c1", text)}));
    };
    const auto read = [&](const char* text) {
        return read_gemini({gemini_first, answer,
                            gemini_turn("r1", "user", ordered_json::array({gemini_response("c1", "a long text")})), p,
                            a, result(text), gemini_set({p, a, result(text)}), gemini_answer("a2", "two.", 110)})
            .sessions.at(0);
    };
    const auto cleared = read("cleared");
    CHECK(roles_of(cleared) == "uata");
    CHECK(cleared.compactions.size() == 1);
    CHECK(newest_request(cleared) == Texts{"one?", "calls", "cleared"});
    CHECK(usage_of(cleared) == std::vector<Usage>{{100, 0, 0, 10}, {110, 0, 0, 10}});
    const auto same = read("a long text");
    CHECK(same.compactions.empty());
    CHECK(roles_of(same) == "uata");
    CHECK(usage_of(same) == usage_of(cleared));
}

TEST_CASE("a result is what the call's own response says, whatever stands beside it", "[logs]") {
    const ordered_json both =
        ordered_json::array({gemini_response("c1", "AAAA"), gemini_response("c2", "BBBB"), {{"text", "a hint"}}});
    ordered_json answer = gemini_answer("a1", "", 100);
    answer["toolCalls"] = ordered_json::array({gemini_run("c1", both), gemini_run("c2", both)});
    const auto session =
        read_gemini({gemini_first, answer, gemini_turn("r1", "user", both), gemini_answer("a2", "done", 120)})
            .sessions.at(0);
    CHECK(roles_of(session) == "uatta");
    CHECK(session.recording.messages[2].json()["content"] == "AAAA");
    CHECK(session.recording.messages[3].json()["content"] == "BBBB\na hint");
}

TEST_CASE("media and hints beside a result are no prompt without words", "[logs]") {
    const ordered_json image{{"inlineData", {{"mimeType", "image/png"}, {"data", "AAAA"}}}};
    ordered_json answer = gemini_answer("a1", "", 100);
    answer["toolCalls"] =
        ordered_json::array({gemini_run("c1", ordered_json::array({gemini_response("c1", "a.png"), image}))});
    const ordered_json hint{{"text", "a hint"}};
    const ReadLog log = read_gemini(
        {gemini_first, answer, gemini_turn("r1", "user", ordered_json::array({gemini_response("c1", "a.png"), image})),
         gemini_answer("a2", "a cat", 120), gemini_prompt("p2", "and?"),
         gemini_turn("a3", "gemini", ordered_json::array({gemini_function_call("c2")})),
         gemini_turn("r3", "user", {gemini_response("c2", "b.png"), hint, image})});
    CHECK(roles_of(log.sessions.at(0)) == "uatauatu");
    CHECK(log.sessions[0].recording.messages[6].json()["content"] == "b.png");
    CHECK(log.sessions[0].recording.messages[7].json()["content"] == "a hint");
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{{"inlineData", 2}});
}

TEST_CASE("what Gemini CLI recorded of a reply that was cut off keeps requests valid", "[logs]") {
    ordered_json cancelled = gemini_answer("a2", "", 110);
    cancelled["toolCalls"] = ordered_json::array({gemini_run("c1", nullptr)});
    const ReadLog log = read_gemini(
        {gemini_first, gemini_answer("a1", "", 100), cancelled, gemini_prompt("p2", "go on"),
         gemini_turn("b1", "gemini", ordered_json::array({{{"text", "Binary content received."}, {"thought", true}}})),
         gemini_answer("a3", "done", 120), gemini_prompt("p3", "more"),
         gemini_turn("a4", "gemini", ordered_json::array({{{"text", "reading"}}, gemini_function_call("c2")})),
         gemini_turn("r4", "user", ordered_json::array({gemini_response("c2", "BBBB")})),
         gemini_answer("a5", "", 130)});
    const logs::Session& session = log.sessions.at(0);
    CHECK(roles_of(session) == "uatuauat");
    CHECK(session.recording.messages[2].json()["content"] == "");
    CHECK(session.recording.messages[6].json()["tool_calls"][0]["function"]["arguments"] == R"({"path":"c2"})");
    CHECK(session.recording.messages[7].json()["content"] == "BBBB");
    CHECK(validate(std::span<const openai::Message>(session.recording.messages), openai_chat()).empty());
    CHECK(session.calls.size() == 2);  // a reply of no model is no call
    CHECK(session.billed_elsewhere == Usage{230, 0, 0, 20});
    CHECK(log.notes.left_out ==
          std::map<std::string, std::int64_t>{{"reply without text and calls", 3}, {"tool call without a result", 1}});
}

TEST_CASE("calls that Gemini CLI recorded behind a notice are of the reply before it", "[logs]") {
    ordered_json run = gemini_turn("a2", "gemini", "");
    run["model"] = "gemini-x";
    run["toolCalls"] = ordered_json::array({gemini_run("c1", ordered_json::array({gemini_response("c1", "AAAA")}))});
    const auto session = read_gemini({gemini_first,
                                      gemini_answer("a1", "I look.", 100),
                                      {{"id", "n1"}, {"type", "warning"}, {"content", "slow"}},
                                      run})
                             .sessions.at(0);
    CHECK(roles_of(session) == "uat");
    CHECK(session.recording.messages[1].json()["tool_calls"].size() == 1);
    CHECK(session.calls.size() == 1);
}

TEST_CASE("a sub-agent of Gemini CLI lies in its parent's folder", "[logs]") {
    const ordered_json facts{{"sessionId", "look-1"}, {"projectHash", "h"}, {"kind", "subagent"}};
    const auto parent = [&](const std::string& name) {
        return read_gemini({facts, gemini_first}, name).sessions.at(0).parent;
    };
    CHECK(parent("tmp/h/chats/s-1/look-1.jsonl") == "s-1");
    CHECK(parent("look-1.jsonl").empty());
    CHECK(read_gemini({gemini_first}, "tmp/h/chats/session-1.jsonl").sessions.at(0).parent.empty());
}

TEST_CASE("a reply that has its results keeps the id of the reply when the agent gives new ones", "[logs]") {
    ordered_json answer = gemini_answer("a1", "", 100);
    answer["toolCalls"] = ordered_json::array({gemini_run("c1", ordered_json::array({gemini_response("c1", "AAAA")}))});
    const ordered_json p = gemini_prompt("x1", "one?");
    const ordered_json a = gemini_turn("x2", "gemini", ordered_json::array({gemini_function_call("c1")}));
    const ordered_json result = gemini_turn("x3", "user", ordered_json::array({gemini_response("c1", "AAAA")}));
    const std::vector<ordered_json> renamed{gemini_first, answer, gemini_set({p, a, result})};
    const auto read = [&](const ordered_json& then) {
        std::vector<ordered_json> all = renamed;
        all.insert(all.end(), {then, gemini_prompt("p3", "three?"), gemini_answer("a3", "three.", 120)});
        return read_gemini(all).sessions.at(0);
    };
    CHECK(roles_of(read(result)) == "uatua");
    CHECK(roles_of(read(a)) == "uatua");
    CHECK(usage_of(read(a)) == std::vector<Usage>{{100, 0, 0, 10}, {120, 0, 0, 10}});
    CHECK(newest_request(read(gemini_rewind("x2"))) == Texts{"one?", "three?"});
    const auto apart = read_gemini({gemini_first, gemini_turn("x2", "gemini", {gemini_function_call("c1")}), result,
                                    gemini_set({gemini_first, answer}), answer, gemini_answer("a3", "three.", 120)})
                           .sessions.at(0);
    CHECK(roles_of(apart) == "uata");
}

TEST_CASE("a compaction that keeps as many messages gives none of the old ones its ids", "[logs]") {
    const ordered_json summary = gemini_prompt("z1", "<state_snapshot>one</state_snapshot>");
    const ordered_json thanks = gemini_turn("z2", "gemini", ordered_json::array({{{"text", "Got it."}}}));
    const auto session = read_gemini({gemini_first, gemini_answer("a1", "one.", 100), gemini_set({summary, thanks}),
                                      summary, thanks, gemini_prompt("p2", "two?"), gemini_answer("a2", "two.", 120)})
                             .sessions.at(0);
    CHECK(session.compactions.size() == 1);
    CHECK(roles_of(session) == "uaua");
    CHECK(session.recording.messages[0].json()["content"] == "one?");
    CHECK(session.recording.messages[1].json()["content"] == "one.");
    CHECK(newest_request(session) == Texts{"<state_snapshot>one</state_snapshot>", "Got it.", "two?"});
}

TEST_CASE("what a compaction of Gemini CLI kept is not noted again", "[logs]") {
    const ordered_json image{{"inlineData", {{"mimeType", "image/png"}, {"data", "AAAA"}}}};
    const ordered_json look = gemini_turn("p2", "user", ordered_json::array({{{"text", "look"}}, image}));
    const ReadLog log = read_gemini({gemini_first, gemini_answer("a1", "one.", 100), look,
                                     gemini_set({gemini_prompt("z1", "<state_snapshot>one</state_snapshot>"), look}),
                                     gemini_answer("a2", "two.", 120)});
    CHECK(log.sessions.at(0).compactions.size() == 1);
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{{"inlineData", 1}});
}

TEST_CASE("a reply of Gemini CLI that is full of what is not seen is compared in one pass", "[logs]") {
    std::string unseen;
    for (int i = 0; i < 100'000; ++i) unseen += "\xE2\x80\x8B<!--x-->";
    const auto read = [](const std::string& text) {
        return read_gemini({gemini_first, gemini_answer("a1", "o\u2014e.\u2010", 100),
                            gemini_set({gemini_first, gemini_answer("a1", text, 100)}), gemini_prompt("p2", "two?"),
                            gemini_answer("a2", "two.", 120)})
            .sessions.at(0);
    };
    CHECK(read(unseen + "o\u2014e" + unseen + ".\u2010" + unseen).compactions.empty());
    CHECK(read(unseen + "o\u2014e.").compactions.size() == 1);
    CHECK(read("o\u2014e.\u2010<!-- not closed").compactions.size() == 1);
}

TEST_CASE("prompts of Gemini CLI that are taken back one by one are each looked up once", "[logs][large]") {
    std::vector<ordered_json> prompts;
    for (int i = 0; i < 10'000; ++i) prompts.push_back(gemini_prompt("p" + std::to_string(i), "one?"));
    std::vector<ordered_json> records = prompts;
    for (int i = 10'000; i-- > 0;) records.push_back(gemini_rewind("p" + std::to_string(i)));
    CHECK(read_gemini(records).sessions.empty());
    ordered_json kept = ordered_json::array({gemini_prompt("z1", "<state_snapshot>one</state_snapshot>")});
    for (const ordered_json& prompt : prompts) kept.push_back(prompt);
    records.insert(records.begin() + 10'000, gemini_set(kept));
    records.push_back(gemini_prompt("q1", "two?"));
    records.push_back(gemini_answer("a1", "two.", 120));
    const auto session = read_gemini(records).sessions.at(0);
    CHECK(roles_of(session) == "ua");
    CHECK(newest_request(session) == Texts{"<state_snapshot>one</state_snapshot>", "two?"});
}

TEST_CASE("what a compaction of Gemini CLI kept is found by its id, however many records there are", "[logs][large]") {
    ordered_json kept = ordered_json::array({gemini_prompt("z1", "<state_snapshot>one</state_snapshot>")});
    std::vector<ordered_json> records;
    for (int i = 0; i < 10'000; ++i) {
        records.push_back(gemini_answer("a" + std::to_string(i), "one.", 100));
        kept.push_back(records.back());
    }
    records.push_back(gemini_set(kept));
    for (int i = 0; i < 10'000; ++i) records.push_back(gemini_answer("a" + std::to_string(i), "two.", 110));
    const auto session = read_gemini(records).sessions.at(0);
    CHECK(session.compactions.size() == 1);
    CHECK(session.calls.size() == 10'000);
    CHECK(session.calls_elsewhere == 0);
    CHECK(session.recording.messages[0].json()["content"] == "two.");
}

TEST_CASE("many calls that Gemini CLI recorded one by one are of one reply", "[logs][large]") {
    std::vector<ordered_json> records{gemini_first, gemini_answer("a1", "I look.", 100)};
    ordered_json parts = ordered_json::array();
    ordered_json responses = ordered_json::array();
    for (int i = 0; i < 20'000; ++i) {
        const std::string id = "c" + std::to_string(i);
        records.push_back(gemini_turn("r" + id, "gemini", ordered_json::array({gemini_function_call(id)})));
        parts.push_back(gemini_function_call(id));
        if (i > 0) responses.push_back(gemini_response(id, "A"));
    }
    records.push_back(gemini_turn("a2", "gemini", parts));
    records.push_back(gemini_turn("u2", "user", responses));
    records.push_back(gemini_prompt("p2", "two?"));
    const ReadLog log = read_gemini(records);
    const auto& messages = log.sessions.at(0).recording.messages;
    CHECK(messages.size() == 20'003);
    CHECK(messages[1].json()["tool_calls"].size() == 20'000);
    CHECK(messages[20'001].json()["tool_call_id"] == "c0");
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{{"tool call without a result", 1}});
}
