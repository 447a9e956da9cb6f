#include "log_file.hpp"
#include "support/catch.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using nlohmann::ordered_json;

namespace {

using CopilotKinds = std::map<std::string, std::int64_t>;
using CopilotTexts = std::vector<std::string>;

const std::string unbilled_copilot_call = "call that no session.shutdown bills";

/// An event with an id of its own.
struct CopilotEvent {
    std::string type{};
    ordered_json data = ordered_json::object();
    std::string agent{};
};

std::string copilot_log(const std::vector<CopilotEvent>& events, const std::string& session = "s") {
    std::string text;
    int n = 0;
    const auto write = [&](const CopilotEvent& reported) {
        ordered_json event{{"type", reported.type},
                           {"data", reported.data},
                           {"id", "id-" + std::to_string(n)},
                           {"timestamp", "2026-09-20T10:00:00.000Z"},
                           {"parentId", n == 0 ? ordered_json(nullptr) : ordered_json("id-" + std::to_string(n - 1))}};
        if (!reported.agent.empty()) event["agentId"] = reported.agent;
        text += event.dump() + "\n";
        ++n;
    };
    write({"session.start", {{"sessionId", session}, {"copilotVersion", "1.0.85"}, {"selectedModel", "gpt-5"}}});
    for (const CopilotEvent& reported : events) write(reported);
    return text;
}

ReadLog read_copilot(const std::vector<CopilotEvent>& events) {
    return read_text_as(copilot_log(events), logs::Format::copilot_cli);
}

CopilotEvent copilot_prompt(const std::string& text) { return {"user.message", {{"content", text}}}; }

ordered_json copilot_request(const std::string& id, const ordered_json& arguments = {{"path", "a"}}) {
    return {{"toolCallId", id}, {"name", "view"}, {"arguments", arguments}, {"type", "function"}};
}

CopilotEvent copilot_said(const std::string& text, int output, const std::vector<ordered_json>& requests = {}) {
    return {
        "assistant.message",
        {{"content", text}, {"toolRequests", ordered_json(requests)}, {"model", "gpt-5"}, {"outputTokens", output}}};
}

CopilotEvent copilot_done(const std::string& id, const std::string& text) {
    return {"tool.execution_complete", {{"toolCallId", id}, {"success", true}, {"result", {{"content", text}}}}};
}

ordered_json copilot_sums(int requests, int input, int read, int output) {
    return {
        {"gpt-5",
         {{"requests", {{"count", requests}}},
          {"usage",
           {{"inputTokens", input}, {"cacheReadTokens", read}, {"cacheWriteTokens", 0}, {"outputTokens", output}}}}}};
}

/// Of a version whose sums go on over several runs.
CopilotEvent copilot_end(const ordered_json& sums) {
    return {"session.shutdown", {{"eventsFileSizeBytes", 1'000}, {"modelMetrics", sums}}};
}

std::vector<Usage> copilot_bills_of(const logs::Session& session) {
    std::vector<Usage> bills;
    for (const logs::Call& call : session.elsewhere) bills.push_back(call.usage.value_or(Usage{}));
    return bills;
}

CopilotTexts copilot_contents(const std::vector<ordered_json>& messages) {
    CopilotTexts texts;
    for (const ordered_json& message : messages)
        texts.push_back(message["content"].is_string() ? message["content"].get<std::string>() : "calls");
    return texts;
}

}  // namespace

TEST_CASE("a session of Copilot CLI has what was sent, results behind their calls", "[logs]") {
    const ReadLog log = read_fixture("copilot_cli.jsonl");
    REQUIRE(log.sessions.size() == 2);
    const logs::Session& session = log.sessions[0];
    CHECK(session.recording.id == "cp-1");
    CHECK(session.parent.empty());
    CHECK(session.version == "1.0.85");
    CHECK(session.folder == "/home/ann/shop");
    CHECK(session.recording.system == "You are Copilot.");
    CHECK(roles_of(session) == "uattatauatuauaua");
    const auto& messages = session.recording.messages;
    CHECK(messages[0].json()["content"] ==
          "<current_datetime>2026-09-20T10:00:04Z</current_datetime>\n\nWhy does the cart show no total?");
    CHECK(messages[1].json()["content"] == "I look at it.");  // two parts of one response
    CHECK(messages[1].json()["tool_calls"].size() == 2);
    CHECK(messages[1].json()["tool_calls"][0]["function"]["arguments"] == R"({"path":"cart.js"})");
    CHECK(messages[2].json()["content"] == "no such file");
    CHECK(messages[3].json()["content"] == "1. function total() {}");  // not what the terminal showed
    CHECK(messages[9].json()["content"] == "The execution of this tool, or a previous tool was interrupted.");
    CHECK(session.recording.seconds_since_first.size() == messages.size());
    CHECK(replies_of(session) == std::vector<std::size_t>{1, 4, 6, 8, 11, 13, 15});
    CHECK(session.calls[0].id == "msg_a1");
    CHECK(session.calls[6].id == "msg_a7");
    for (const logs::Call& call : session.calls) CHECK(call.model == "claude-sonnet-4.6");
    CHECK(log.notes.unknown == CopilotKinds{{unbilled_copilot_call, 1}});
    CHECK(log.notes.left_out.at("attachment") == 1);
    CHECK(log.notes.left_out.at("result of a call that has one") == 1);  // it came behind the abort
    CHECK(log.notes.versions == std::set<std::string>{"1.0.85"});
    CHECK(log.notes.newer.empty());
}

TEST_CASE("what Copilot CLI bills at the end of a run is billed by model, without what runs before were billed",
          "[logs]") {
    const ReadLog log = read_fixture("copilot_cli.jsonl");
    const logs::Session& session = log.sessions.at(0);
    REQUIRE(session.elsewhere.size() == 4);
    CHECK(session.elsewhere[0].model == "claude-haiku-4.5");
    CHECK(session.elsewhere[0].requests == 2);
    CHECK(session.elsewhere[0].usage == Usage{100, 0, 3'900, 30});
    CHECK(session.elsewhere[1].model == "claude-sonnet-4.6");
    CHECK(session.elsewhere[1].requests == 3);
    CHECK(session.elsewhere[1].usage == Usage{1'000, 20'000, 9'000, 130});
    CHECK(session.elsewhere[1].bill_id == "copilot/e23/claude-sonnet-4.6");
    CHECK(session.elsewhere[1].time == 1'789'898'423.0);
    CHECK(session.elsewhere[2].requests == 3);
    CHECK(session.elsewhere[2].usage == Usage{14'000, 40'000, 6'000, 90});
    CHECK(session.elsewhere[3].requests == 1);  // the compaction's own, which the sums lack
    CHECK(session.elsewhere[3].usage == Usage{4'000, 8'000, 0, 200});
    CHECK(billed(session) == Usage{19'100, 68'000, 18'900, 450});
    for (std::size_t i = 0; i < 6; ++i) CHECK(session.calls[i].unrecorded_output == 0);
    CHECK(session.calls[6].unrecorded_output == 9);  // no session.shutdown stands behind it
    for (const logs::Call& call : session.calls) CHECK_FALSE(call.usage.has_value());
}

TEST_CASE("a compaction of Copilot CLI keeps what came since it began", "[logs]") {
    const logs::Session session = read_fixture("copilot_cli.jsonl").sessions.at(0);
    REQUIRE(session.compactions.size() == 1);
    CHECK(session.compactions[0].before == 12);
    CHECK(session.compactions[0].trigger == "threshold");
    CHECK(session.compactions[0].tokens_before == 30'000);
    const std::string summary =
        "<user_message>\nWhy does the cart show no total?\n</user_message>\n"
        "<user_message>\nCall it, then.\n</user_message>\n<user_message>\nNow fix it.\n</user_message>\n"
        "<summary>\ntotal() of cart.js had no caller.\n</summary>";
    CHECK(copilot_contents(session.request_of(session.calls.at(5))) == CopilotTexts{summary, "Done.", "Add a test."});
    CHECK(session.request_of(session.calls.at(4)).size() == 11);  // it was answered while the summary was written
}

TEST_CASE("a sub-agent of Copilot CLI is a session of its own", "[logs]") {
    const ReadLog log = read_fixture("copilot_cli.jsonl");
    const logs::Session& session = log.sessions.at(1);
    CHECK(session.recording.id == "cp-1/explore-1");
    CHECK(session.parent == "cp-1");
    CHECK(session.folder == "/home/ann/shop");
    CHECK(roles_of(session) == "uata");
    CHECK(session.recording.messages[0].json()["content"] == "Find where total() is called.");
    CHECK(session.recording.messages[2].json()["content"] == "cart.js:12");
    CHECK(session.calls.at(0).model == "claude-haiku-4.5");
    CHECK(session.calls.at(1).unrecorded_output == 0);
    CHECK(session.elsewhere.empty());  // its bill is in that of the main agent
}

TEST_CASE("sums of old versions of Copilot CLI are of one run each", "[logs]") {
    const ReadLog log = read_fixture("copilot_cli_old.jsonl");
    REQUIRE(log.sessions.size() == 2);
    const logs::Session& session = log.sessions[0];
    CHECK(copilot_bills_of(session) == std::vector<Usage>{{3'000, 6'000, 0, 90}, {8'000, 12'000, 0, 100}});
    CHECK(roles_of(session) == "uattaua");
    CHECK(session.recording.messages[2].json()["content"] == "a.md\nb.md");
    CHECK(session.recording.messages[3].json()["tool_call_id"] == "c2");  // it came behind the next reply
    CHECK(session.calls.at(0).id.empty());
    CHECK(session.calls.at(0).bill_id == "copilot/o4");
    CHECK(session.calls.at(0).model == "gpt-5");
    CHECK(log.sessions[1].recording.id == "cp-0/c2");
    CHECK(roles_of(log.sessions[1]) == "ua");
    CHECK(log.notes.unknown == CopilotKinds{{"session.mystery", 1}});
    CHECK(log.notes.left_out.at("command that the user ran") == 1);
    CHECK(log.notes.left_out.at("compaction that failed") == 1);
}

TEST_CASE("a session of Copilot CLI from before there were events is read", "[logs]") {
    const ReadLog log = read_fixture("copilot_history.json");
    REQUIRE(log.sessions.size() == 1);
    CHECK(log.sessions[0].recording.id == "cp-legacy");
    CHECK(log.sessions[0].recording.system == "You are Copilot.");
    CHECK(roles_of(log.sessions[0]) == "uata");
    CHECK(log.sessions[0].calls.at(1).model == "gpt-5");
    CHECK(log.notes.unknown.empty());
    const ordered_json old = ordered_json::parse(fixture_text("copilot_history.json"));
    const ReadLog imported =
        read_copilot({{"session.import_legacy", {{"legacySession", old}}}, copilot_prompt("And now?")});
    CHECK(imported.sessions.at(0).recording.id == "s");
    CHECK(roles_of(imported.sessions[0]) == "uatau");
}

TEST_CASE("sums that do not hold what came since the last ones begin anew", "[logs]") {
    const auto bills = [](const ordered_json& second, int output) {
        return copilot_bills_of(read_copilot({copilot_prompt("a"),
                                              copilot_said("A", 10),
                                              copilot_end(copilot_sums(1, 100, 50, 10)),
                                              {"session.resume"},
                                              copilot_prompt("b"),
                                              copilot_said("B", output),
                                              copilot_end(second)})
                                    .sessions.at(0));
    };
    CHECK(bills(copilot_sums(2, 300, 200, 30), 20) == std::vector<Usage>{{50, 50, 0, 10}, {50, 150, 0, 20}});
    CHECK(bills(copilot_sums(2, 300, 200, 30), 25) == std::vector<Usage>{{50, 50, 0, 10}, {100, 200, 0, 30}});
    CHECK(bills(copilot_sums(2, 300, 40, 30), 20) == std::vector<Usage>{{50, 50, 0, 10}, {260, 40, 0, 30}});
    CHECK(bills(copilot_sums(1, 100, 50, 10), 0) == std::vector<Usage>{{50, 50, 0, 10}});  // no call since then
}

TEST_CASE("a shutdown without sums leaves the bill to the next one", "[logs]") {
    const ReadLog log = read_copilot({copilot_prompt("a"),
                                      copilot_said("A", 10),
                                      {"session.shutdown", {{"modelMetrics", ordered_json::object()}}},
                                      {"session.resume"},
                                      copilot_prompt("b"),
                                      copilot_said("B", 20),
                                      copilot_end(copilot_sums(2, 300, 200, 30))});
    CHECK(copilot_bills_of(log.sessions.at(0)) == std::vector<Usage>{{100, 200, 0, 30}});
    CHECK(log.notes.unknown.empty());
    CHECK(log.notes.left_out.at("session.shutdown without a bill") == 1);
}

TEST_CASE("a session of Copilot CLI that was killed has no bill, and says so", "[logs]") {
    const ReadLog log =
        read_copilot({copilot_prompt("a"), copilot_said("A", 10), copilot_prompt("b"), copilot_said("B", 20)});
    const logs::Session& session = log.sessions.at(0);
    CHECK(billed(session) == Usage{});
    CHECK(session.elsewhere.empty());
    CHECK(session.calls.at(1).unrecorded_output == 20);
    CHECK(log.notes.unknown == CopilotKinds{{unbilled_copilot_call, 2}});
}

TEST_CASE("a compaction whose tokens are in the sums is not billed again", "[logs]") {
    const auto bills = [](int output) {
        const CopilotEvent compaction{"session.compaction_complete",
                                      {{"success", true},
                                       {"summaryContent", "so far"},
                                       {"compactionTokensUsed", {{"input", 40}, {"output", 7}, {"cachedInput", 30}}}}};
        return copilot_bills_of(read_copilot({copilot_prompt("a"), copilot_said("A", 10), compaction,
                                              copilot_end(copilot_sums(2, 300, 200, output))})
                                    .sessions.at(0));
    };
    CHECK(bills(17) == std::vector<Usage>{{100, 200, 0, 17}});
    CHECK(bills(10) == std::vector<Usage>{{100, 200, 0, 10}, {10, 30, 0, 7}});
    const CopilotEvent failed{
        "session.compaction_complete",
        {{"success", false}, {"compactionTokensUsed", {{"inputTokens", 40}, {"outputTokens", 1}}}}};
    const ReadLog log = read_copilot({copilot_prompt("a"), copilot_said("A", 10), failed});
    CHECK(billed(log.sessions.at(0)) == Usage{40, 0, 0, 1});
    CHECK(log.sessions[0].compactions.empty());
}

TEST_CASE("sums that lack calls in front of them are noted", "[logs]") {
    const ReadLog log =
        read_copilot({copilot_prompt("a"), copilot_said("A", 100), copilot_end(copilot_sums(1, 30, 0, 10))});
    CHECK(billed(log.sessions.at(0)) == Usage{30, 0, 0, 10});
    CHECK(log.notes.unknown == CopilotKinds{{"session.shutdown with less output than the replies in front of it", 1}});
}

TEST_CASE("a fork of a session of Copilot CLI repeats its bills under their ids", "[logs]") {
    const std::vector<CopilotEvent> first{copilot_prompt("a"), copilot_said("A", 10),
                                          copilot_end(copilot_sums(1, 100, 50, 10))};
    std::vector<CopilotEvent> more = first;
    more.insert(more.end(), {{"session.info", {{"infoType", "fork"}}},
                             copilot_prompt("b"),
                             copilot_said("B", 20),
                             copilot_end(copilot_sums(2, 300, 200, 30))});
    const auto one = read_text_as(copilot_log(first, "s"), logs::Format::copilot_cli).sessions.at(0);
    const auto fork = read_text_as(copilot_log(more, "f"), logs::Format::copilot_cli).sessions.at(0);
    CHECK(fork.recording.id == "f");
    REQUIRE(fork.elsewhere.size() == 2);
    CHECK(one.elsewhere.at(0).bill_id == fork.elsewhere[0].bill_id);
    CHECK(one.calls.at(0).bill_id == fork.calls.at(0).bill_id);
    CHECK(fork.elsewhere[1].bill_id != fork.elsewhere[0].bill_id);
    CHECK(fork.elsewhere[1].usage == Usage{50, 150, 0, 20});
}

TEST_CASE("an event that is written again is left out", "[logs]") {
    std::string text =
        copilot_log({copilot_prompt("a"), copilot_said("A", 10), copilot_end(copilot_sums(1, 100, 50, 10))});
    const ReadLog log = read_text_as(text + text, logs::Format::copilot_cli);
    REQUIRE(log.sessions.size() == 1);
    CHECK(roles_of(log.sessions[0]) == "ua");
    CHECK(billed(log.sessions[0]) == Usage{50, 50, 0, 10});
    CHECK(log.notes.left_out.at("repeated record") == 4);
}

TEST_CASE("calls without a result get one when the session goes on later, unless they are waited for", "[logs]") {
    const auto roles = [](const ordered_json& resume) {
        return roles_of(read_copilot({copilot_prompt("a"),
                                      copilot_said("", 10, {copilot_request("c"), copilot_request("d")}),
                                      copilot_done("c", "one"),
                                      {"session.resume", resume},
                                      copilot_prompt("b"),
                                      copilot_done("d", "two"),
                                      copilot_said("B", 20)})
                            .sessions.at(0));
    };
    CHECK(roles(ordered_json::object()) == "uattua");
    CHECK(roles({{"continuePendingWork", true}}) == "uattua");
    CHECK(roles({{"sessionWasActive", true}}) == "uattua");
    const ReadLog waits = read_copilot({copilot_prompt("a"),
                                        copilot_said("", 10, {copilot_request("d")}),
                                        {"session.resume", {{"sessionWasActive", true}}},
                                        copilot_prompt("b"),
                                        copilot_done("d", "two")});
    CHECK(waits.sessions.at(0).recording.messages.at(2).json()["content"] == "two");
    const ReadLog ends = read_copilot({copilot_prompt("a"),
                                       copilot_said("", 10, {copilot_request("d")}),
                                       {"session.resume"},
                                       copilot_prompt("b"),
                                       copilot_done("d", "two")});
    CHECK(ends.sessions.at(0).recording.messages.at(2).json()["content"] ==
          "The execution of this tool, or a previous tool was interrupted.");
}

TEST_CASE("a call that its reply does not tell of is taken from where it began", "[logs]") {
    const CopilotEvent began{"tool.execution_start",
                             {{"toolCallId", "c"}, {"toolName", "bash"}, {"arguments", {{"command", "ls"}}}}};
    const ReadLog log =
        read_copilot({copilot_prompt("a"), copilot_said("I look.", 10), began, copilot_done("c", "a.md"),
                      copilot_said("One.", 5), copilot_done("x", "nobody asked")});
    const logs::Session& session = log.sessions.at(0);
    CHECK(roles_of(session) == "uata");
    CHECK(session.recording.messages[1].json()["tool_calls"][0]["function"]["name"] == "bash");
    CHECK(log.notes.left_out.at("result of a call that no reply has") == 1);
}

TEST_CASE("arguments that are no JSON become an object", "[logs]") {
    ordered_json custom = copilot_request("c", "*** Begin Patch");
    custom["type"] = "custom";
    const ReadLog log =
        read_copilot({copilot_prompt("a"), copilot_said("", 10, {custom, copilot_request("d", R"({"n":1})")})});
    const auto& calls = log.sessions.at(0).recording.messages.at(1).json()["tool_calls"];
    CHECK(calls[0]["function"]["arguments"] == R"({"input":"*** Begin Patch"})");
    CHECK(calls[1]["function"]["arguments"] == R"({"n":1})");
}

TEST_CASE("requests of Copilot CLI begin anew where the context is cleared", "[logs]") {
    const ReadLog log = read_copilot({copilot_prompt("a"),
                                      copilot_said("A", 10),
                                      {"session.context_cleared", {{"messagesCleared", 2}}},
                                      copilot_prompt("b"),
                                      copilot_said("B", 20)});
    const logs::Session& session = log.sessions.at(0);
    REQUIRE(session.compactions.size() == 1);
    CHECK(copilot_contents(session.request_of(session.calls.at(1))) == CopilotTexts{"b"});
}

TEST_CASE("a compaction keeps a result with its call", "[logs]") {
    const ReadLog log =
        read_copilot({copilot_prompt("a"),
                      copilot_said("I look.", 10, {copilot_request("c"), copilot_request("d")}),
                      copilot_done("c", "one"),
                      {"session.compaction_start"},
                      copilot_done("d", "two"),
                      {"session.compaction_complete", {{"success", true}, {"summaryContent", "so far"}}},
                      copilot_said("Both.", 5)});
    const logs::Session& session = log.sessions.at(0);
    CHECK(copilot_contents(session.request_of(session.calls.at(1))) ==
          CopilotTexts{"<user_message>\na\n</user_message>\n<summary>\nso far\n</summary>", "I look.", "one", "two"});
    const ReadLog without =
        read_copilot({copilot_prompt("a"), {"session.compaction_complete", {{"success", true}}}, copilot_said("A", 1)});
    CHECK(without.sessions.at(0).compactions.empty());
    CHECK(without.notes.unknown.at("compaction without its summary") == 1);
}

TEST_CASE("a sub-agent has its own system text, and its first prompt from whichever event has it", "[logs]") {
    const CopilotEvent starts{"subagent.started", {{"toolCallId", "c"}, {"agentName", "explore"}}, "c"};
    const CopilotEvent task = copilot_said("", 1, {copilot_request("c", {{"prompt", "look"}})});
    CopilotEvent reply = copilot_said("seen", 1);
    reply.agent = "c";
    CopilotEvent own = copilot_prompt("look");
    const auto first_of = [&](const std::vector<CopilotEvent>& prompts) {
        std::vector<CopilotEvent> all{copilot_prompt("a"),
                                      task,
                                      starts,
                                      {"system.message", {{"role", "system"}, {"content", "You explore."}}, "c"}};
        all.insert(all.end(), prompts.begin(), prompts.end());
        all.push_back(reply);
        const ReadLog log = read_copilot(all);
        CHECK(log.sessions.at(0).recording.system.empty());
        CHECK(log.sessions.at(1).recording.system == "You explore.");
        CHECK(roles_of(log.sessions.at(0)) == "ua");
        CHECK(roles_of(log.sessions.at(1)) == "ua");
        return log.sessions.at(1).recording.messages.at(0).json()["content"].get<std::string>();
    };
    CHECK(first_of({}) == "look");
    CHECK(first_of({own}) == "look");
    own.data["transformedContent"] = "<now>10:00</now>\n\nlook";
    own.agent = "c";
    CHECK(first_of({own}) == "<now>10:00</now>\n\nlook");
}

TEST_CASE("a sub-agent of a sub-agent has it as its parent, and one that says nothing is no session", "[logs]") {
    const auto starts = [](const std::string& call, const std::string& agent) {
        return CopilotEvent{"subagent.started", {{"toolCallId", call}, {"agentName", "task"}}, agent};
    };
    const auto asks = [](const std::string& call, const std::string& agent) {
        CopilotEvent reported = copilot_said("", 1, {copilot_request(call, {{"prompt", "do " + call}})});
        reported.agent = agent;
        return reported;
    };
    CopilotEvent last = copilot_said("done", 1);
    last.agent = "in";
    const ReadLog log = read_copilot({copilot_prompt("a"), asks("c", ""), starts("c", "out"), asks("d", "out"),
                                      starts("d", "in"), starts("e", "silent"), last});
    REQUIRE(log.sessions.size() == 3);
    CHECK(log.sessions[1].recording.id == "s/out");
    CHECK(log.sessions[1].parent == "s");
    CHECK(log.sessions[2].recording.id == "s/in");
    CHECK(log.sessions[2].parent == "s/out");
    CHECK(log.sessions[2].recording.messages.at(0).json()["content"] == "do d");
}

TEST_CASE("a message that Copilot CLI made up is no call of the model", "[logs]") {
    const CopilotEvent made_up{"assistant.message",
                               {{"content", ""}, {"toolRequests", ordered_json::array({copilot_request("r")})}}};
    const ReadLog log =
        read_copilot({copilot_prompt("a"), copilot_said("A", 10), made_up, copilot_done("r", "found it"),
                      copilot_said("B", 20), copilot_end(copilot_sums(2, 300, 200, 30))});
    const logs::Session& session = log.sessions.at(0);
    CHECK(roles_of(session) == "uaata");
    CHECK(replies_of(session) == std::vector<std::size_t>{1, 4});
    CHECK(log.notes.unknown.empty());
}

TEST_CASE("what the agent itself says to the model is the user's", "[logs]") {
    const ReadLog log =
        read_copilot({copilot_prompt("a"),
                      copilot_said("A", 1),
                      {"system.notification", {{"content", "a shell ended"}, {"kind", {{"type", "shell_completed"}}}}},
                      {"system.notification", {{"content", "found"}, {"kind", {{"type", "instruction_discovered"}}}}},
                      {"user.message", {{"content", ""}}},
                      copilot_said("B", 1)});
    CHECK(roles_of(log.sessions.at(0)) == "uaua");
    CHECK(log.notes.left_out.at("system.notification") == 1);
    CHECK(log.notes.left_out.at("user.message without a text") == 1);
}

TEST_CASE("the id of a session of Copilot CLI is its folder's where no event tells it", "[logs]") {
    const std::string text =
        R"({"type":"user.message","data":{"content":"a"},"id":"1","timestamp":"x","parentId":null})"
        "\n{\"no\":\"type\"}\n{\"type\":\"user";
    const ReadLog log = read_text_as(text, logs::Format::copilot_cli, {.name = "session-state/abc/events.jsonl"});
    CHECK(log.sessions.at(0).recording.id == "abc");
    CHECK(log.notes.damaged == 2);
    CHECK(logs::recognise(text) == logs::Format::copilot_cli);
    CHECK(read_text_as(text, logs::Format::copilot_cli, {.name = "session-state/abc.jsonl"})
              .sessions.at(0)
              .recording.id == "abc");
}
