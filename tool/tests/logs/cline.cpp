#include "cline_task.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Session;
using nlohmann::ordered_json;

namespace {

using TaskCounts = std::map<std::string, std::int64_t>;

/// TaskTexts of a request, calls and results by their ids.
std::vector<std::string> shown_request(const std::vector<ordered_json>& request) {
    std::vector<std::string> shown;
    for (const ordered_json& message : request) {
        if (message["content"].is_string()) {
            shown.push_back(message["content"]);
            continue;
        }
        std::string text;
        for (const ordered_json& block : message["content"]) {
            text += text.empty() ? "" : "|";
            if (block["type"] == "text") text += block["text"].get<std::string>();
            if (block["type"] == "tool_use") text += "call " + block["id"].get<std::string>();
            if (block["type"] == "tool_result") text += "result " + block["tool_use_id"].get<std::string>();
            if (block["type"] == "thinking") text += "thinking";
        }
        shown.push_back(text);
    }
    return shown;
}

using TaskTexts = std::vector<std::string>;

}  // namespace

TEST_CASE("a task of Cline has its messages, and the bill of each call", "[logs]") {
    const ReadLog log = read_fixture("cline.jsonl");
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(session.recording.id == "cline");
    CHECK(session.folder == "/home/ann/till");
    CHECK(session.version == "3.89.2");
    CHECK(roles_of(session) == "uauauauaua");
    CHECK(replies_of(session) == std::vector<std::size_t>{1, 3, 5, 7, 9});
    CHECK(usage_of(session) ==
          std::vector<Usage>{
              {12, 0, 5'000, 100}, {8, 5'000, 300, 50}, {20, 3'000, 400, 30}, {5, 3'400, 100, 7}, {6, 3'500, 120, 60}});
    CHECK(session.calls[0].model == "claude-sonnet-4-6");
    CHECK(session.calls[0].bill_id == "cline/1770000000900/1770000001000");
    CHECK(session.calls[0].time == 1'770'000'001.9);
    CHECK(session.calls_elsewhere == 2);  // taken back, and of sub-agents
    CHECK(session.billed_elsewhere == Usage{970, 900, 0, 50});
    CHECK(log.notes.left_out == TaskCounts{{"ask/resume_task", 1},
                                           {"block/thinking", 1},
                                           {"request without a bill", 1},
                                           {"say/checkpoint_created", 1},
                                           {"say/completion_result", 1},
                                           {"say/reasoning", 1},
                                           {"say/task", 1},
                                           {"say/text", 2},
                                           {"say/tool", 2},
                                           {"say/user_feedback", 1}});
    CHECK(log.notes.unknown.empty());
    CHECK(log.notes.damaged == 0);
    CHECK(log.notes.newer.empty());
}

TEST_CASE("what Cline adds to messages is not sent", "[logs]") {
    const Session session = read_fixture("cline.jsonl").sessions.at(0);
    CHECK(session.recording.messages[1].json() ==
          ordered_json{
              {"role", "assistant"},
              {"content",
               {{{"type", "text"}, {"text", "I will read it."}},
                {{"type", "tool_use"}, {"id", "c1"}, {"name", "read_file"}, {"input", {{"path", "till.cpp"}}}}}}});
    CHECK(session.recording.messages[3].json()["content"][0] ==
          ordered_json{{"type", "thinking"}, {"thinking", "Once more."}, {"signature", "c2ln"}});
}

TEST_CASE("a range that Cline leaves out is a compaction in front of the reply that shows it", "[logs]") {
    const Session session = read_fixture("cline.jsonl").sessions.at(0);
    REQUIRE(session.compactions.size() == 1);
    CHECK(session.compactions[0].before == 5);
    const std::string task =
        "<task>\nFix the till\n</task>|<environment_details>\n# Current Working Directory "
        "(/home/ann/till) Files\ntill.cpp\n</environment_details>";
    CHECK(shown_request(session.request_of(session.calls[1])).size() == 3);
    CHECK(shown_request(session.request_of(session.calls[2])) ==
          TaskTexts{task, "[NOTE] Older messages were removed.|call c1", "result c1"});
    const auto last = session.request_of(session.calls[4]);
    CHECK(last.size() == 7);
    CHECK(last[2]["content"][0]["content"] == "result missing");  // as Cline answers a call that the cut left alone
}

TEST_CASE("texts that Cline changes in its requests are a compaction, from the request behind the time on", "[logs]") {
    const ordered_json history = ordered_json::parse(R"([[1, [0, [[0, [[3000, "text", ["seen below"], []]]]]]]])");
    const ReadLog log =
        read_task({list_of({said_in_task("user", "<task>one</task>", 1'010), said_in_task("assistant", "AAA", 1'900),
                            said_in_task("user", "two", 3'010), said_in_task("assistant", "BBB", 3'900),
                            said_in_task("user", "three", 5'010), said_in_task("assistant", "CCC", 5'900)}),
                   list_of({ui_request(1'000, tokens_of_task(1, 1, 0, 0)), ui_say("text", 1'500),
                            ui_request(3'000, tokens_of_task(2, 1, 0, 0)), ui_say("text", 3'500),
                            ui_request(5'000, tokens_of_task(3, 1, 0, 0)), ui_say("text", 5'500)}),
                   history});
    const Session& session = log.sessions.at(0);
    REQUIRE(session.compactions.size() == 1);
    CHECK(session.compactions[0].before == 5);
    CHECK(shown_request(session.request_of(session.calls[1])) == TaskTexts{"<task>one</task>", "AAA", "two"});
    CHECK(shown_request(session.request_of(session.calls[2])) ==
          TaskTexts{"<task>one</task>", "seen below", "two", "BBB", "three"});
    CHECK(session.recording.messages[1].json()["content"][0]["text"] == "AAA");
}

TEST_CASE("a task of Roo Code has sums in its input, its model in prompts and its parent beside", "[logs]") {
    const ReadLog log = read_fixture("roo_code.jsonl");
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(session.parent == "0197-parent");
    CHECK(session.folder == "/home/ann/shop");
    CHECK(roles_of(session) == "uauauaua");
    CHECK(usage_of(session) ==
          std::vector<Usage>{{10, 0, 4'000, 40}, {100, 0, 600, 30}, {20, 700, 100, 20}, {20, 800, 80, 25}});
    CHECK(session.calls[3].model == "anthropic/claude-sonnet-4.5");
    CHECK(session.calls_elsewhere == 1);  // that of the summary, of which only the price is known
    CHECK(session.billed_elsewhere == Usage{});
    CHECK(log.notes.left_out.at("block/reasoning") == 1);
    CHECK(log.notes.left_out.at("block/thoughtSignature") == 1);
    CHECK(log.notes.left_out.at("summary of a compaction") == 1);
    CHECK(log.notes.left_out.at("marker of a compaction") == 1);
}

TEST_CASE("summaries and cuts of Roo Code hold from the time on at which they were made", "[logs]") {
    const Session session = read_fixture("roo_code.jsonl").sessions.at(0);
    REQUIRE(session.compactions.size() == 2);
    CHECK(session.compactions[0].before == 3);
    CHECK(session.compactions[0].tokens_before == 4'100);
    CHECK(session.compactions[1].before == 7);
    const std::string summary = "## Conversation Summary\nA price is to be added to a.py.";
    CHECK(session.request_of(session.calls[0]).size() == 1);
    CHECK(shown_request(session.request_of(session.calls[1])) == TaskTexts{summary});
    const auto third = shown_request(session.request_of(session.calls[2]));
    REQUIRE(third.size() == 3);
    CHECK(third[1] == "I write it.|call t2");
    CHECK(shown_request(session.request_of(session.calls[3])) ==
          TaskTexts{summary, "[Sliding window truncation: 2 messages hidden to reduce context]", "call t3",
                    "result t3|And the tax?"});
}

TEST_CASE("older summaries of Roo Code stand in front of the messages that they left", "[logs]") {
    ordered_json summary{
        {"role", "assistant"}, {"content", "so far"}, {"ts", 3'009}, {"isSummary", true}, {"condenseId", "s"}};
    ordered_json old_reply = said_in_task("assistant", "AAA", 1'900);
    ordered_json old_prompt = said_in_task("user", "two", 2'010);
    old_reply["condenseParent"] = "s";
    old_prompt["condenseParent"] = "s";
    const ordered_json messages =
        list_of({said_in_task("user", "<task>one</task>", 1'010), old_reply, old_prompt, summary,
                 said_in_task("assistant", "BBB", 3'010), said_in_task("user", "three", 4'010),
                 said_in_task("assistant", "CCC", 4'900)});
    ordered_json condensed = ui_say("condense_context", 4'500);
    condensed["contextCondense"] = {{"cost", 0.1}, {"condenseId", "s"}};
    const Session session = read_task({messages, list_of({ui_say("text", 900), condensed})}).sessions.at(0);
    REQUIRE(session.compactions.size() == 1);
    CHECK(roles_of(session) == "uauaua");
    CHECK(shown_request(session.request_of(session.calls[1])) == TaskTexts{"<task>one</task>", "AAA", "two"});
    CHECK(shown_request(session.request_of(session.calls[2])) ==
          TaskTexts{"<task>one</task>", "so far", "BBB", "three"});
    CHECK(read_task({messages}).sessions.at(0).compactions.at(0).before == 6);  // by how many were kept
}

TEST_CASE("a session of newer versions of Cline has its bill in its messages", "[logs]") {
    const ReadLog log = read_fixture("cline_session.json");
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(session.recording.id == "1785_lead");
    CHECK(session.recording.system == "You are careful.");
    CHECK(session.parent.empty());
    CHECK(roles_of(session) == "uauaua");
    CHECK(usage_of(session) == std::vector<Usage>{{100, 0, 1'400, 20}, {10, 1'500, 50, 10}, {20, 0, 380, 5}});
    CHECK(session.calls[0].bill_id == "cline/m2/1785000002000");
    CHECK(session.calls[0].model == "claude-opus-4-8");
    const auto& messages = session.recording.messages;
    CHECK(messages[0].json()["content"][1]["text"] == "<file_content path=\"a.md\">\n# A\n</file_content>");
    CHECK(messages[2].json()["content"][0]["content"] == R"([{"query":"ls","result":"a.md","success":true}])");
    CHECK(messages[4].json()["content"][1]["source"] ==
          ordered_json{{"type", "base64"}, {"media_type", "image/png"}, {"data", "aGk="}});
}

TEST_CASE("what newer versions of Cline go on with, and where they work, stands beside the session", "[logs]") {
    ordered_json document = ordered_json::parse(fixture_text("cline_session.json"));
    document["sessionId"] = "1785_lead__helper";
    document["agent"] = "subagent";
    ordered_json summary = said_in_task("user", "so far", 0);
    summary["metadata"] = {{"kind", "compaction_summary"}, {"tokensBefore", 900}};
    const ordered_json state{{"version", 1},
                             {"updated_at", "2026-07-25T10:00:00.000Z"},
                             {"source_message_count", 4},
                             {"messages", list_of({summary})}};
    const ordered_json manifest{{"version", 1}, {"session_id", "x"}, {"source", "cli"}, {"cwd", "/home/ann"}};
    const ReadLog log = read_task({document, state, manifest});
    const Session& session = log.sessions.at(0);
    CHECK(session.recording.id == "1785_lead__helper");
    CHECK(session.parent == "1785_lead");
    CHECK(session.folder == "/home/ann");
    REQUIRE(session.compactions.size() == 1);
    CHECK(session.compactions[0].tokens_before == 900);
    CHECK(shown_request(session.request_of(session.calls[1])).size() == 3);
    CHECK(shown_request(session.request_of(session.calls[2])) == TaskTexts{"so far", "Show it|"});
    CHECK(log.notes.damaged == 0);
}

TEST_CASE("a session that goes on with an older task is not billed for that", "[logs]") {
    ordered_json document = ordered_json::parse(fixture_text("cline_session.json"));
    document["messages"][4] = said_in_task("user", "Warning: this is a legacy conversation, which means tools.", 1);
    const ReadLog log = read_task({document});
    CHECK(usage_of(log.sessions.at(0)) == std::vector<Usage>{{100, 0, 1'400, 20}, {}, {20, 0, 380, 5}});
    CHECK(log.notes.left_out.at("bill of the task that the session goes on with") == 1);
}

TEST_CASE("replies without a time have their bills by how many messages there were", "[logs]") {
    const auto at = [](int index) { return ordered_json{{"conversationHistoryIndex", index}}; };
    const ReadLog log =
        read_task({list_of({said_without_time("user", "<task>one</task>"), said_without_time("assistant", "AAA"),
                            said_without_time("user", "two"), said_without_time("assistant", "BBB")}),
                   list_of({ui_request(1'000, tokens_of_task(10, 1, 0, 0), at(-1)),
                            ui_request(2'000, tokens_of_task(20, 1, 0, 0), at(1)),
                            ui_request(3'000, tokens_of_task(30, 1, 0, 0), at(1)),
                            ui_request(4'000, tokens_of_task(40, 1, 0, 0), at(3))})});
    const Session& session = log.sessions.at(0);
    CHECK(usage_of(session) == std::vector<Usage>{{10, 0, 0, 1}, {30, 0, 0, 1}});
    CHECK(session.billed_elsewhere == Usage{60, 0, 0, 2});  // broken off, and taken back
    CHECK(session.calls[0].time == 1.0);
}

TEST_CASE("replies and bills that nothing but their order joins are joined if they are as many", "[logs]") {
    ordered_json messages =
        list_of({said_without_time("user", "<task>one</task>"), said_without_time("assistant", "AAA"),
                 said_without_time("user", "two"), said_without_time("assistant", "BBB")});
    ordered_json finished = ui_say("api_req_finished", 1'100);
    finished["text"] = tokens_of_task(10, 1, 0, 0).dump();
    const ordered_json bills =
        list_of({ui_request(1'000, {{"request", "x"}}), finished, ui_request(2'000, tokens_of_task(20, 2, 0, 0))});
    CHECK(usage_of(read_task({messages, bills}).sessions.at(0)) == std::vector<Usage>{{10, 0, 0, 1}, {20, 0, 0, 2}});
    messages.push_back(said_without_time("user", "three"));
    messages.push_back(said_without_time("assistant", "CCC"));
    const Session session = read_task({messages, bills}).sessions.at(0);
    CHECK(usage_of(session) == std::vector<Usage>{{}, {}, {}});
    CHECK(session.billed_elsewhere == Usage{30, 0, 0, 3});
}

TEST_CASE("messages alone and a bill alone are sessions", "[logs]") {
    const std::string text = fixture_text("cline.jsonl");
    const std::size_t first = text.find('\n') + 1;
    const ReadLog messages = read_text_as(text.substr(0, first), logs::Format::cline, {.name = "t"});
    REQUIRE(messages.sessions.size() == 1);
    CHECK(roles_of(messages.sessions[0]) == "uauauauaua");
    // By what the messages tell of it: what the cache did is one number there.
    CHECK(usage_of(messages.sessions[0])[1] == Usage{8, 5'300, 0, 50});
    const ReadLog bill =
        read_text_as(text.substr(first, text.find('\n', first) + 1 - first), logs::Format::cline, {.name = "t"});
    REQUIRE(bill.sessions.size() == 1);
    CHECK(bill.sessions[0].recording.messages.empty());
    CHECK(bill.sessions[0].calls_elsewhere == 7);
    CHECK(billed(bill.sessions[0]) == billed(read_fixture("cline.jsonl").sessions.at(0)));
}

TEST_CASE("whether input holds what the cache did goes by Cline's provider and by Roo Code's protocol", "[logs]") {
    const auto usage = [](const char* provider, ordered_json reported) {
        ordered_json reply = said_in_task("assistant", "AAA", 1'900);
        reply["modelInfo"] = {{"modelId", "m"}, {"providerId", provider}};
        return usage_of(read_task({list_of({said_in_task("user", "<task>one</task>", 1'010), reply}),
                                   list_of({ui_request(1'000, std::move(reported))})})
                            .sessions.at(0))
            .at(0);
    };
    const ordered_json reported = tokens_of_task(1'000, 10, 100, 600);
    CHECK(usage("anthropic", reported) == Usage{1'000, 600, 100, 10});
    CHECK(usage("openrouter", reported) == Usage{1'000, 600, 100, 10});
    CHECK(usage("litellm", reported) == Usage{300, 600, 100, 10});
    CHECK(usage("openai", reported) ==
          Usage{400, 600, 0, 10});  // what they call written is what the cache did not have
    CHECK(usage("deepseek", tokens_of_task(0, 10, 400, 600)) == Usage{400, 600, 0, 10});
    ordered_json of_roo = reported;
    of_roo["apiProtocol"] = "openai";
    CHECK(usage("", of_roo) == Usage{300, 600, 100, 10});
    of_roo["tokensIn"] = 5;  // before versions of November 2025 with Anthropic's protocol
    CHECK(usage("", of_roo) == Usage{5, 600, 100, 10});
}

TEST_CASE("a call without a result in front of a prompt has the one that Cline sends for it", "[logs]") {
    ordered_json reply = said_in_task("assistant", "look", 1'900);
    reply["content"].push_back({{"type", "tool_use"}, {"id", "c"}, {"name", "t"}, {"input", ordered_json::object()}});
    const ReadLog log = read_task(
        {list_of({said_in_task("user", "<task>one</task>", 1'010), reply, said_in_task("user", "two", 2'010)})});
    CHECK(shown_request({log.sessions.at(0).recording.messages[2].json()}) == TaskTexts{"result c|two"});
    CHECK(log.notes.left_out.at("tool call without a result") == 1);
}

TEST_CASE("reasoning beside the messages and replies of nothing else are left out, and billed", "[logs]") {
    ordered_json reply = said_in_task("assistant", "", 1'900);
    reply["content"] = {{{"type", "reasoning"}, {"text", "hm"}}};
    const ordered_json item{{"type", "reasoning"}, {"encrypted_content", "x"}, {"ts", 1'800}};
    const ReadLog log = read_task({list_of({said_in_task("user", "<task>one</task>", 1'010), item, reply}),
                                   list_of({ui_request(1'000, tokens_of_task(10, 1, 0, 0))})});
    CHECK(roles_of(log.sessions.at(0)) == "u");
    CHECK(log.sessions[0].billed_elsewhere == Usage{10, 0, 0, 1});
    CHECK(log.notes.left_out.at("reasoning") == 1);
    CHECK(log.notes.left_out.at("message of which nothing is sent") == 1);
}

TEST_CASE("a task whose messages were cut off has its bill, and one with a damaged record the others", "[logs]") {
    const std::string text = fixture_text("cline.jsonl");
    const std::size_t first = text.find('\n') + 1;
    const ReadLog cut = read_text_as(text.substr(0, first / 2) + "\n" + text.substr(first), logs::Format::cline);
    REQUIRE(cut.sessions.size() == 1);
    CHECK(cut.notes.damaged == 1);
    CHECK(cut.sessions[0].version == "3.89.2");
    CHECK(billed(cut.sessions[0]) == billed(read_fixture("cline.jsonl").sessions.at(0)));
    const ReadLog odd =
        read_task({list_of({said_in_task("user", "<task>one</task>", 1'010), 7, ordered_json{{"role", "x"}},
                            said_in_task("assistant", "AAA", 1'900)}),
                   list_of({3, ui_request(1'000, "no JSON"), ui_request(1'500, tokens_of_task(10, 1, 0, 0))})});
    REQUIRE(odd.sessions.size() == 1);
    CHECK(roles_of(odd.sessions[0]) == "ua");
    CHECK(usage_of(odd.sessions[0]) == std::vector<Usage>{{10, 0, 0, 1}});
    CHECK(odd.notes.damaged == 3);
}
