// What records of pi are to each other: copies, branches, streams, sub-agents.
#include "log_file.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Session;
using nlohmann::ordered_json;

namespace {

ordered_json pi_header(const std::string& id) {
    return {{"type", "session"}, {"version", 3}, {"id", id}, {"timestamp", "2026-02-02T00:00:00Z"}, {"cwd", "/w"}};
}

/// `parent`: nullopt for none, as the first record has it.
ordered_json pi_record(const std::string& id, const std::optional<std::string>& parent, ordered_json message) {
    return {{"type", "message"},
            {"id", id},
            {"parentId", parent ? ordered_json(*parent) : ordered_json(nullptr)},
            {"timestamp", "2026-02-02T00:00:01Z"},
            {"message", std::move(message)}};
}

ordered_json pi_prompt(const std::string& text) { return {{"role", "user"}, {"content", text}}; }

ordered_json pi_answer(const std::string& text, int input, int timestamp = 1'000) {
    return {
        {"role", "assistant"},
        {"content", {{{"type", "text"}, {"text", text}}}},
        {"model", "m"},
        {"usage", {{"input", input}, {"output", 1}, {"cacheRead", 0}, {"cacheWrite", 0}, {"totalTokens", input + 1}}},
        {"stopReason", "stop"},
        {"timestamp", timestamp}};
}

ReadLog read_pi_records(const std::vector<ordered_json>& records) {
    std::string text;
    for (const ordered_json& record : records) text += record.dump() + "\n";
    return read_text_as(text, logs::Format::pi, {.name = "stem.jsonl"});
}

std::string texts_of(const Session& session) {
    std::string texts;
    for (const openai::Message& message : session.recording.messages)
        texts += (texts.empty() ? "" : " ") + message.json()["content"].get<std::string>();
    return texts;
}

}  // namespace

TEST_CASE("a prompt whose parent is further up leaves the branch, of which the calls were billed", "[logs]") {
    const ReadLog log = read_pi_records(
        {pi_header("s"), pi_record("1", std::nullopt, pi_prompt("one")), pi_record("2", "1", pi_answer("two", 10)),
         pi_record("3", "2", pi_prompt("three")), pi_record("4", "3", pi_answer("four", 20)),
         pi_record("5", "2", pi_prompt("five")), pi_record("6", "5", pi_answer("six", 40))});
    CHECK(texts_of(log.sessions.at(0)) == "one two five six");
    CHECK(log.sessions[0].billed_elsewhere.uncached_input == 20);
    CHECK(logs::billed(log.sessions[0]).uncached_input == 70);
    const ReadLog anew =
        read_pi_records({pi_header("s"), pi_record("1", std::nullopt, pi_prompt("one")),
                         pi_record("2", "1", pi_answer("two", 10)), pi_record("3", std::nullopt, pi_prompt("three"))});
    CHECK(texts_of(anew.sessions.at(0)) == "three");
    CHECK(anew.sessions[0].billed_elsewhere.uncached_input == 10);
}

TEST_CASE("a record whose parent's line is lost goes on behind the one in front", "[logs]") {
    std::string text = pi_header("s").dump() + "\n" + pi_record("1", std::nullopt, pi_prompt("one")).dump() + "\n" +
                       R"({"type":"message","id":"2","parentId":"1","mess)" + "\n" +
                       pi_record("3", "2", pi_prompt("three")).dump() + "\n" +
                       pi_record("4", "3", pi_answer("four", 7)).dump() + "\n";
    const ReadLog log = read_text_as(text, logs::Format::pi);
    CHECK(texts_of(log.sessions.at(0)) == "one three four");
    CHECK(log.notes.damaged == 1);
    CHECK(log.notes.damaged_lines.at(0).line == 3);
}

TEST_CASE("records and headers that stand there again are left out", "[logs]") {
    const std::vector<ordered_json> once{pi_header("s"), pi_record("1", std::nullopt, pi_prompt("one")),
                                         pi_record("2", "1", pi_answer("two", 10))};
    std::vector<ordered_json> twice = once;
    twice.insert(twice.end(), once.begin(), once.end());
    const ReadLog log = read_pi_records(twice);
    REQUIRE(log.sessions.size() == 1);
    CHECK(texts_of(log.sessions[0]) == "one two");
    CHECK(logs::billed(log.sessions[0]).uncached_input == 10);
    CHECK(log.notes.left_out.at("repeated record") == 2);
    CHECK(log.notes.left_out.at("repeated header") == 1);
    twice[3] = pi_header("other");
    const ReadLog two = read_pi_records(twice);
    REQUIRE(two.sessions.size() == 2);
    CHECK(two.sessions[1].recording.id == "other");
    CHECK(two.sessions[0].calls[0].bill_id == two.sessions[1].calls[0].bill_id);  // as in a fork
}

TEST_CASE("a call has the same bill in each copy of it, and no other call has it", "[logs]") {
    const auto bills = [](ordered_json first, ordered_json second) {
        const ReadLog log = read_pi_records(
            {pi_header("s"), pi_record("1", std::nullopt, pi_prompt("one")), pi_record("2", "1", std::move(first)),
             pi_record("3", "2", pi_prompt("go")), pi_record("4", "3", std::move(second))});
        std::vector<std::string> list;
        for (const logs::Call& call : log.sessions.at(0).calls)
            list.push_back(call.id.empty() ? call.bill_id : "id " + call.id);
        return list;
    };
    const auto with_id = [](ordered_json answer, const char* id) {
        answer["responseId"] = id;
        return answer;
    };
    const std::vector<std::string> plain = bills(pi_answer("a", 10), pi_answer("b", 10, 2'000));
    CHECK(plain == std::vector<std::string>{"pi/1000/m/10-0-0-1", "pi/2000/m/10-0-0-1"});
    // Ids that a server gives by chance out of a few are none, and one that it gives again is another call's.
    CHECK(bills(with_id(pi_answer("a", 10), "chatcmpl-7"), with_id(pi_answer("b", 10, 2'000), "chatcmpl-7")) == plain);
    const char* const id = "chatcmpl-0123456789abcdef";
    CHECK(bills(with_id(pi_answer("a", 10), id), with_id(pi_answer("b", 10, 2'000), id)) ==
          std::vector<std::string>{std::string("id ") + id, plain[1]});
    CHECK(bills(with_id(pi_answer("a", 10), id), with_id(pi_answer("b", 10), id)) ==
          std::vector<std::string>{std::string("id ") + id, std::string("id ") + id});
}

TEST_CASE("a total tells that pi's input holds what the cache read, as Google's did", "[logs]") {
    const auto billed_with = [](ordered_json usage, const char* api) {
        ordered_json answer = pi_answer("a", 1);
        answer["usage"] = std::move(usage);
        answer["api"] = api;
        const ReadLog log = read_pi_records(
            {pi_header("s"), pi_record("1", std::nullopt, pi_prompt("one")), pi_record("2", "1", std::move(answer))});
        return usage_of(log.sessions.at(0)).at(0);
    };
    const ordered_json counts{{"input", 900}, {"output", 20}, {"cacheRead", 600}, {"cacheWrite", 0}};
    const auto with_total = [&](int total) {
        ordered_json usage = counts;
        usage["totalTokens"] = total;
        return usage;
    };
    CHECK(billed_with(with_total(1'520), "google-generative-ai") == Usage{900, 600, 0, 20});
    CHECK(billed_with(with_total(920), "google-generative-ai") == Usage{300, 600, 0, 20});
    CHECK(billed_with(with_total(0), "openai-completions") == Usage{900, 600, 0, 20});
    CHECK(billed_with(counts, "openai-completions") == Usage{300, 600, 0, 20});  // of before there were totals
    CHECK(billed_with(counts, "anthropic-messages") == Usage{900, 600, 0, 20});
}

TEST_CASE("events that pi streamed hold the session as well", "[logs]") {
    const auto event = [](const char* type, ordered_json message) {
        return ordered_json{{"type", type}, {"message", std::move(message)}};
    };
    const ReadLog log =
        read_pi_records({pi_header("s"),
                         {{"type", "agent_start"}},
                         event("message_start", pi_prompt("one")),
                         event("message_end", pi_prompt("one")),
                         event("message_start", pi_answer("tw", 0)),
                         event("message_end", pi_answer("two", 10)),
                         event("turn_end", pi_answer("two", 10)),
                         {{"type", "compaction_end"},
                          {"reason", "threshold"},
                          {"result", {{"summary", "so far"}, {"firstKeptEntryId", "k"}, {"tokensBefore", 11}}}},
                         {{"type", "compaction_end"}, {"aborted", true}},
                         event("message_end", pi_prompt("three")),
                         event("message_end", pi_answer("four", 20)),
                         {{"type", "agent_end"}, {"messages", {pi_prompt("one"), pi_answer("two", 10)}}}});
    REQUIRE(log.sessions.size() == 1);
    CHECK(texts_of(log.sessions[0]) == "one two three four");
    CHECK(logs::billed(log.sessions[0]).uncached_input == 30);
    CHECK(log.sessions[0].compactions.at(0).trigger == "threshold");
    CHECK(log.sessions[0].request_of(log.sessions[0].calls[1]).size() == 2);
    CHECK(log.notes.left_out.at("compaction that failed") == 1);
    CHECK(log.notes.unknown.at("firstKeptEntryId") == 1);  // what is kept has no id in a stream
    CHECK(log.notes.unknown.size() == 1);
}

TEST_CASE("sub-agents of pi that stand in a result are sessions of their own, with a parent", "[logs]") {
    const auto agent = [](const std::string& task, int input) {
        return ordered_json{
            {"agent", "scout"}, {"task", task}, {"messages", {pi_prompt(task), pi_answer("ok", input)}}};
    };
    ordered_json inner = agent("dig", 40);
    ordered_json result{{"role", "toolResult"}, {"toolCallId", "c1"}, {"toolName", "subagent"}, {"content", "both ok"}};
    ordered_json nested = result;
    nested["details"]["results"] = ordered_json::array({inner});
    result["details"]["results"] = {agent("look", 10), agent("count", 20)};
    result["details"]["results"][1]["messages"].push_back(nested);
    result["usage"] = {{"input", 70}, {"output", 3}, {"cacheRead", 0}, {"cacheWrite", 0}, {"totalTokens", 73}};
    ordered_json asked = pi_answer("", 5);
    asked["content"] = {
        {{"type", "toolCall"}, {"id", "c1"}, {"name", "subagent"}, {"arguments", ordered_json::object()}}};
    const std::vector<ordered_json> records{pi_header("s"), pi_record("1", std::nullopt, pi_prompt("go")),
                                            pi_record("2", "1", asked), pi_record("3", "2", result)};
    const ReadLog log = read_pi_records(records);
    REQUIRE(log.sessions.size() == 4);
    CHECK(log.sessions[0].elsewhere.empty());  // the sum of what stands in the agents
    CHECK(log.sessions[1].recording.id == "s/c1#1");
    CHECK(log.sessions[1].parent == "s");
    CHECK(log.sessions[1].folder == "/w");
    CHECK(texts_of(log.sessions[1]) == "look ok");
    CHECK(logs::billed(log.sessions[2]).uncached_input == 20);
    CHECK(log.sessions[3].parent == "s/c1#2");
    CHECK(logs::billed(log.sessions[3]).uncached_input == 40);
    ordered_json sum_alone = records[3];
    sum_alone["message"].erase("details");
    const ReadLog without = read_pi_records({records[0], records[1], records[2], sum_alone});
    REQUIRE(without.sessions.size() == 1);
    CHECK(without.sessions[0].billed_elsewhere.uncached_input == 70);
}

TEST_CASE("edits of pi take results back with their calls, and leave a notice in place of a result alone", "[logs]") {
    const auto asks = [](const std::string& call) {
        ordered_json answer = pi_answer("", 5);
        answer["content"] = {
            {{"type", "toolCall"}, {"id", call}, {"name", "read"}, {"arguments", ordered_json::object()}}};
        return answer;
    };
    const auto result = [](const std::string& call) {
        return ordered_json{{"role", "toolResult"}, {"toolCallId", call}, {"content", "long text"}};
    };
    const auto edit = [](const std::string& id, const std::string& parent, const std::string& target) {
        return ordered_json{
            {"type", "context_edit"}, {"id", id}, {"parentId", parent}, {"targetId", target}, {"replacement", nullptr}};
    };
    ordered_json failed = pi_answer("no", 0);
    failed["stopReason"] = "error";
    const std::vector<ordered_json> records{pi_header("s"),
                                            pi_record("1", std::nullopt, pi_prompt("one")),
                                            pi_record("2", "1", asks("a")),
                                            pi_record("3", "2", result("a")),
                                            pi_record("4", "3", asks("b")),
                                            pi_record("5", "4", failed),
                                            edit("6", "5", "3"),
                                            pi_record("7", "6", pi_prompt("two")),
                                            pi_record("8", "7", pi_answer("three", 9))};
    const auto sent = [](const ReadLog& log) {
        std::string texts;
        for (const ordered_json& message : log.sessions.at(0).request_of(log.sessions[0].calls.back()))
            texts += message["content"].is_null() ? "call; " : message["content"].get<std::string>() + "; ";
        return texts;
    };
    CHECK(sent(read_pi_records(records)) == "one; call; No result provided; call; No result provided; two; ");
    std::vector<ordered_json> without_reply = records;
    without_reply[7] = edit("7", "6", "2");
    without_reply[8] = pi_record("8", "7", pi_answer("three", 9));
    CHECK(sent(read_pi_records(without_reply)) == "one; call; No result provided; ");
}

TEST_CASE("kinds of records and messages that the reader of pi does not know are counted", "[logs]") {
    ordered_json odd{{"type", "mode_change"}, {"id", "1"}, {"parentId", nullptr}, {"mode", "plan"}};
    const ReadLog log = read_pi_records(
        {pi_header("s"),
         odd,
         pi_record("2", "1", pi_prompt("one")),
         pi_record("3", "2", {{"role", "narrator"}}),
         pi_record("4", "3",
                   {{"role", "user"}, {"content", {{{"type", "audio"}}, {{"type", "text"}, {"text", "two"}}}}}),
         {{"type", "message"}, {"id", "5"}, {"parentId", "4"}},
         {{"type", "context_edit"}, {"id", "6"}, {"parentId", "4"}, {"targetId", "none"}, {"replacement", nullptr}},
         {{"id", "7"}, {"parentId", "6"}},
         pi_record("8", "7", pi_answer("three", 5))});
    CHECK(texts_of(log.sessions.at(0)) == "one two three");
    CHECK(log.notes.unknown ==
          std::map<std::string, std::int64_t>{
              {"content/audio", 1}, {"context_edit", 1}, {"message/narrator", 1}, {"mode_change", 1}, {"record", 1}});
    CHECK(log.notes.damaged == 1);
    CHECK(read_pi_records({{{"type", "session"}, {"version", 5}, {"id", "n"}}}).notes.newer ==
          std::set<std::string>{"5"});
}
