#include "cline_task.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Session;
using nlohmann::ordered_json;

namespace {

/// Of all its calls.
std::vector<std::string> bill_ids_of_task(const Session& session) {
    std::vector<std::string> ids;
    for (const logs::Call& call : session.calls) ids.push_back(call.bill_id);
    for (const logs::Call& call : session.elsewhere) ids.push_back(call.bill_id);
    return ids;
}

ordered_json ui_sum(const char* kind, std::int64_t ms, const ordered_json& reported) {
    ordered_json record = ui_say(kind, ms);
    record["text"] = reported.dump();
    return record;
}

ordered_json reply_with_metrics(std::int64_t ms, int prompt, int completion) {
    ordered_json reply = said_in_task("assistant", "AAA", ms);
    reply["metrics"]["tokens"] = {{"prompt", prompt}, {"completion", completion}, {"cached", 0}};
    return reply;
}

/// Each request's change is of one text more than the one's before.
ordered_json change_of_text(int message, std::int64_t ms, const std::string& text) {
    return {message, {0, {{0, {{ms, "text", {text}, ordered_json::array()}}}}}};
}

}  // namespace

TEST_CASE("a reply in front of all requests of its task is not billed beside them", "[logs]") {
    const ordered_json messages = list_of({said_in_task("user", "<task>one</task>", 1), reply_with_metrics(5, 100, 5)});
    const Session session =
        read_task({messages, list_of({ui_request(10, tokens_of_task(100, 5, 0, 0))})}).sessions.at(0);
    CHECK(billed(session) == Usage{100, 0, 0, 5});
    // Where no request has a bill, the reply's own is all that is known.
    const Session unbilled = read_task({messages, list_of({ui_request(10, {{"request", "x"}})})}).sessions.at(0);
    CHECK(billed(unbilled) == Usage{100, 0, 0, 5});
}

TEST_CASE("changes of texts are copied as far as the budget for copies goes, by what is put in", "[logs]") {
    constexpr int replies = 24;
    std::vector<ordered_json> messages{said_in_task("user", "<task>one</task>", 1'000)};
    std::vector<ordered_json> requests;
    std::vector<ordered_json> changes{change_of_text(0, 1'500, std::string(4U << 20U, 'x'))};
    for (int i = 1; i <= replies; ++i) {
        const std::int64_t ms = 2'000 * i;
        requests.push_back(ui_request(ms, tokens_of_task(1, 1, 0, 0)));
        requests.push_back(ui_say("text", ms + 500));
        messages.push_back(said_in_task("assistant", "A", ms + 900));
        messages.push_back(said_in_task("user", "go on", ms + 1'000));
        changes.push_back(change_of_text(1, ms + 100, "changed " + std::to_string(i)));
    }
    const ReadLog log = read_task({list_of(messages), list_of(requests), list_of(changes)});
    REQUIRE(log.sessions.size() == 1);
    CHECK(log.sessions[0].compactions.size() < 20);
    CHECK(log.notes.unknown.contains("compaction that keeps more than is copied"));
}

TEST_CASE("sums of calls are counted by a provider that is told anywhere in the task", "[logs]") {
    const ordered_json deleted = ui_sum("deleted_api_reqs", 3'000, tokens_of_task(1'000, 10, 0, 600));
    const ordered_json bills = list_of({ui_request(2'000, tokens_of_task(900, 1, 0, 600)), deleted});
    const ordered_json metadata{
        {"model_usage", {{{"ts", 1'000}, {"model_id", "m"}, {"model_provider_id", "litellm"}}}}};
    CHECK(billed(read_task({bills, metadata}).sessions.at(0)) == Usage{700, 1'200, 0, 11});
    ordered_json reply = said_in_task("assistant", "AAA", 2'900);
    reply["modelInfo"] = {{"modelId", "m"}, {"providerId", "litellm"}};
    const ordered_json messages = list_of({said_in_task("user", "<task>one</task>", 1'990), reply});
    const Session session = read_task({messages, bills}).sessions.at(0);
    CHECK(session.billed_elsewhere == Usage{400, 600, 0, 10});
    // The calls of a sum were made before it: a provider that comes later does not tell.
    ordered_json late = bills;
    late.push_back(ui_request(4'000, tokens_of_task(1, 1, 0, 0), {{"modelInfo", {{"providerId", "litellm"}}}}));
    CHECK(read_task({late}).sessions.at(0).billed_elsewhere == Usage{1'901, 1'200, 0, 12});
}

TEST_CASE("each call of a task has a bill of its own, whatever their times are", "[logs]") {
    ordered_json without_time = ui_request(0, tokens_of_task(7, 1, 0, 0));
    without_time.erase("ts");
    const ordered_json reported = tokens_of_task(5, 1, 0, 0);
    const ReadLog log =
        read_task({list_of({ui_say("task", 900), without_time, without_time, ui_request(1'000, reported),
                            ui_request(1'000, reported), ui_sum("subagent_usage", 1'000, reported),
                            ui_sum("subagent_usage", 1'000, reported), ui_sum("deleted_api_reqs", 1'000, reported)})});
    std::vector<std::string> ids = bill_ids_of_task(log.sessions.at(0));
    CHECK(ids.size() == 7);
    CHECK(std::erase(ids, "") == 2);
    CHECK(std::set<std::string>(ids.begin(), ids.end()).size() == 5);
    CHECK(std::ranges::count(ids, "cline/900/1000") == 1);
    CHECK(std::ranges::count(ids, "cline/900/1000/subagent_usage") == 1);
}

TEST_CASE("a prompt that quotes the warning of an older task is no such task", "[logs]") {
    ordered_json document = ordered_json::parse(fixture_text("cline_session.json"));
    document["messages"][4] = said_in_task("user", "What is \"Warning: this is a legacy conversation\"?", 1);
    const ReadLog log = read_task({document});
    CHECK(usage_of(log.sessions.at(0)) ==
          std::vector<Usage>{{100, 0, 1'400, 20}, {10, 1'500, 50, 10}, {20, 0, 380, 5}});
    CHECK_FALSE(log.notes.left_out.contains("bill of the task that the session goes on with"));
}

TEST_CASE("one odd element among the messages does not make records of what was shown of them", "[logs]") {
    const ordered_json odd{{"type", "say"}, {"say", "text"}, {"ts", 2'000}};
    const ReadLog log = read_task(
        {list_of({7, said_in_task("user", "<task>one</task>", 1'010), odd, said_in_task("assistant", "AAA", 1'900)})});
    CHECK(roles_of(log.sessions.at(0)) == "ua");
}

TEST_CASE("a bill alone in front of another task is a session of its own", "[logs]") {
    const ordered_json untimed_bill = list_of({ui_request(0, tokens_of_task(10, 1, 0, 0))});
    const ordered_json bill = list_of({ui_request(1'000, tokens_of_task(20, 2, 0, 0))});
    const ordered_json messages =
        list_of({said_in_task("user", "<task>two</task>", 5'010), said_in_task("assistant", "AAA", 5'900)});
    const ReadLog log =
        read_task({untimed_bill, bill, messages, list_of({ui_request(5'000, tokens_of_task(30, 3, 0, 0))})});
    REQUIRE(log.sessions.size() == 3);
    CHECK(billed(log.sessions[0]) == Usage{10, 0, 0, 1});
    CHECK(billed(log.sessions[1]) == Usage{20, 0, 0, 2});
    CHECK(usage_of(log.sessions[2]) == std::vector<Usage>{{30, 0, 0, 3}});
    CHECK(log.sessions[2].calls_elsewhere == 0);
    const ReadLog newer = read_task({bill, ordered_json::parse(fixture_text("cline_session.json"))});
    CHECK(newer.sessions.size() == 2);
}
