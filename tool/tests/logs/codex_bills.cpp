#include "log_file.hpp"
#include "support/catch.hpp"

#include <set>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Session;

namespace {

std::string counts_text(const Usage& sums) {
    return R"({"input_tokens":)" + std::to_string(sums.uncached_input) + R"(,"cached_input_tokens":)" +
           std::to_string(sums.cache_read) + R"(,"cache_write_input_tokens":)" + std::to_string(sums.cache_write) +
           R"(,"output_tokens":)" + std::to_string(sums.output) + "}";
}

/// A count of these sums, of which the input holds what the cache did.
std::string codex_count(const Usage& sums) {
    return R"({"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":)" + counts_text(sums) +
           "}}}\n";
}

std::string codex_record(const std::string& id, const Usage& usage) {
    return R"({"type":"token_usage_record","payload":{"response_id":")" + id + R"(","usage":)" + counts_text(usage) +
           "}}\n";
}

std::string codex_message(const std::string& role, const std::string& text) {
    return R"({"type":"response_item","payload":{"type":"message","role":")" + role + R"(","content":")" + text +
           "\"}}\n";
}

std::string codex_call(const std::string& id) {
    return R"({"type":"response_item","payload":{"type":"function_call","name":"f","call_id":")" + id + "\"}}\n" +
           R"({"type":"response_item","payload":{"type":"function_call_output","call_id":")" + id +
           "\",\"output\":\"x\"}}\n";
}

std::string codex_turn(const std::string& id) {
    return R"({"type":"event_msg","payload":{"type":"task_started","turn_id":")" + id + "\"}}\n";
}

std::string codex_meta(const std::string& members) {
    return R"({"type":"session_meta","payload":{)" + members + "}}\n";
}

Session read_session(const std::string& text) { return read_text_as(text, logs::Format::codex).sessions.at(0); }

std::set<std::string> bills_of(const Session& session) {
    std::set<std::string> bills;
    for (const auto& call : session.calls) bills.insert(call.bill_id);
    for (const auto& call : session.elsewhere) bills.insert(call.bill_id);
    return bills;
}

/// What a sub-agent has of its parent: neither calls nor results.
std::size_t bills_in_both(const std::string& turn, const std::string& own_turn) {
    const Session parent =
        read_session(codex_meta(R"("id":"p")") + turn + codex_message("user", "go") + codex_call("a") +
                     codex_count({1'000, 0, 0, 10}) + codex_call("b") + codex_count({2'100, 1'000, 0, 30}) +
                     codex_message("assistant", "done") + codex_count({3'300, 2'000, 0, 40}));
    const Session child =
        read_session(codex_meta(R"("id":"k","forked_from_id":"p")") + codex_meta(R"("id":"p")") + turn +
                     codex_message("user", "go") + codex_count({1'000, 0, 0, 10}) + codex_count({2'100, 1'000, 0, 30}) +
                     own_turn + codex_message("user", "look") + codex_call("k") + codex_count({3'000, 1'000, 0, 37}) +
                     codex_message("assistant", "seen") + codex_count({3'950, 1'900, 0, 40}));
    const std::set<std::string> parents = bills_of(parent);
    const std::set<std::string> children = bills_of(child);
    CHECK(parents.size() == 3);
    CHECK(children.size() == 4);
    CHECK_FALSE(parents.contains(""));
    std::size_t both = 0;
    for (const std::string& bill : children) both += parents.count(bill);
    return both;
}

}  // namespace

TEST_CASE("counts that a forked sub-agent copied without their calls have the bill of the parent's", "[logs]") {
    CHECK(bills_in_both("", "") == 2);
    CHECK(bills_in_both(codex_turn("0198aaaa-0000-7000-8000-000000000001"),
                        codex_turn("0198aaaa-0000-7000-8000-000000000002")) == 2);
}

TEST_CASE("calls in turns of their own have bills of their own, whatever their sums are", "[logs]") {
    const auto bill_in = [](const std::string& id, const std::string& turn) {
        const Session session =
            read_session(codex_meta("\"id\":\"" + id + "\",\"forked_from_id\":\"p\"") + codex_turn(turn) +
                         codex_message("user", "go") + codex_message("assistant", "x") + codex_count({9, 0, 0, 1}));
        return session.calls.at(0).bill_id;
    };
    const std::string bill = bill_in("k", "0198aaaa-0000-7000-8000-000000000001");
    CHECK(bill == "codex/0198aaaa-0000-7000-8000-000000000001/9/0/1");
    CHECK(bill_in("l", "0198aaaa-0000-7000-8000-000000000002") != bill);
    CHECK(bill_in("m", "7") == "codex/p/9/0/1");  // numbers are not of one turn alone
}

TEST_CASE("what Codex wrote to the cache is part of its input", "[logs]") {
    const Session session = read_session(codex_message("user", "go") + codex_message("assistant", "x") +
                                         codex_count({1'000, 0, 800, 10}) + codex_message("user", "on") +
                                         codex_message("assistant", "y") + codex_count({2'200, 900, 1'000, 15}));
    CHECK(usage_of(session) == std::vector<Usage>{{200, 0, 800, 10}, {100, 900, 200, 5}});
}

TEST_CASE("a compaction that no sum holds is billed by its record, other records are not billed again", "[logs]") {
    const Session session = read_session(
        codex_message("user", "go") + codex_message("assistant", "x") + codex_record("r1", {1'000, 0, 800, 10}) +
        codex_count({1'000, 0, 800, 10}) + codex_record("r2", {1'200, 800, 0, 300}) +
        "{\"type\":\"compacted\",\"payload\":{\"message\":\"S\",\"compaction_response_id\":\"r2\"}}\n" +
        codex_message("user", "on") + codex_message("assistant", "y") + codex_count({1'400, 0, 800, 15}) +
        codex_record("r3", {400, 0, 0, 5}));
    CHECK(usage_of(session) == std::vector<Usage>{{200, 0, 800, 10}, {400, 0, 0, 5}});
    REQUIRE(session.elsewhere.size() == 1);
    CHECK(session.elsewhere[0].id == "r2");
    CHECK(session.billed_elsewhere == Usage{400, 800, 0, 300});
    CHECK(logs::billed(session) == Usage{1'000, 800, 800, 315});
}

TEST_CASE("a reply of Codex that was thinking alone is billed elsewhere, not to the next one", "[logs]") {
    const Session session = read_session(codex_message("user", "go") +
                                         R"({"type":"response_item","payload":{"type":"reasoning","summary":[]}})" +
                                         "\n" + codex_count({100, 0, 0, 10}) + codex_message("developer", "hook") +
                                         codex_message("assistant", "x") + codex_count({300, 0, 0, 30}));
    CHECK(usage_of(session) == std::vector<Usage>{{200, 0, 0, 20}});
    CHECK(session.billed_elsewhere == Usage{100, 0, 0, 10});
}

TEST_CASE("records on both sides of a count that is missing are billed once", "[logs]") {
    const Session session = read_session(
        codex_message("user", "go") + codex_message("assistant", "x") + codex_count({100, 0, 0, 10}) +
        codex_message("user", "on") + codex_message("assistant", "y") + codex_record("r1", {200, 0, 0, 20}) +
        "damaged\n" + codex_message("user", "on") + codex_message("assistant", "z") +
        codex_record("r2", {300, 0, 0, 30}) + codex_count({600, 0, 0, 60}) + codex_record("r3", {7, 0, 0, 1}));
    CHECK(logs::billed(session) == Usage{607, 0, 0, 61});
    CHECK(session.calls_elsewhere == 1);
}

TEST_CASE("many records of Codex that no count holds are looked through quickly", "[logs][large]") {
    constexpr int many = 20'000;  // a walk of all at each of them would take minutes
    std::string text = codex_message("user", "go") + codex_message("assistant", "x");
    for (int i = 0; i < many; ++i) text += codex_record("r" + std::to_string(i), {1'000'000 + i, 0, 0, 1});
    for (int i = 1; i <= many; ++i) text += codex_count({i, 0, 0, i});
    for (int i = many; i-- > 0;)
        text += R"({"type":"compacted","payload":{"message":"S","compaction_response_id":"r)" + std::to_string(i) +
                "\"}}\n";
    const Session session = read_session(text);
    CHECK(session.calls_elsewhere == 2 * many - 1);
    CHECK(logs::billed(session).output == 2 * many);
}

TEST_CASE("of records of Codex with one usage the oldest is that of a count", "[logs]") {
    const Session session =
        read_session(codex_message("user", "go") + codex_message("assistant", "x") + codex_record("r1", {5, 0, 0, 1}) +
                     codex_record("r2", {5, 0, 0, 1}) + codex_record("r3", {9, 0, 0, 1}) + codex_count({5, 0, 0, 1}));
    REQUIRE(session.elsewhere.size() == 2);
    CHECK(session.elsewhere[0].id == "r2");
    CHECK(session.elsewhere[1].id == "r3");
}
