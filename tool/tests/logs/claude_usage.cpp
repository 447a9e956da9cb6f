// Which record of a reply of Claude Code tells what was billed, and what it lacks.
#include "claude_lines.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Session;

namespace {

/// A record of a reply, by its usage and its "stop_reason".
struct UsageRecord {
    Usage usage{};
    std::string end{};  ///< empty: null

    [[nodiscard]] std::string line(const std::string& id, const std::string& parent, const std::string& text) const {
        std::string line = claude_reply(id, parent, "m", claude_text(text),
                                        R"("input_tokens":)" + std::to_string(usage.uncached_input) +
                                            R"(,"cache_read_input_tokens":)" + std::to_string(usage.cache_read) +
                                            R"(,"cache_creation_input_tokens":)" + std::to_string(usage.cache_write) +
                                            R"(,"output_tokens":)" + std::to_string(usage.output));
        const std::string at = R"("role":"assistant",)";
        return line.insert(line.find(at) + at.size(),
                           R"("stop_reason":)" + (end.empty() ? "null" : '"' + end + '"') + ",");
    }
};

/// As the records of one reply were billed.
Usage billed_by(const std::vector<UsageRecord>& records) {
    std::string text = claude_prompt("u", "", "go");
    std::string parent = "u";
    for (std::size_t i = 0; i < records.size(); ++i) {
        const std::string id = "a" + std::to_string(i);
        text += records[i].line(id, parent, id);
        parent = id;
    }
    const Session session = read_claude(text).sessions.at(0);
    CHECK(session.calls.size() == 1);
    return logs::billed(session);
}

/// The estimate for a reply without an end whose output was recorded as so many tokens.
std::int64_t unrecorded(const std::string& blocks, int output) {
    const Session session = read_claude(claude_prompt("u", "", "go") +
                                        claude_reply("a", "u", "m", blocks,
                                                     R"("input_tokens":3,"output_tokens":)" + std::to_string(output)))
                                .sessions.at(0);
    return session.calls.at(0).unrecorded_output;
}

}  // namespace

TEST_CASE("the record with the end of a reply tells what was billed, whatever its first ones said", "[logs]") {
    const Usage end{120, 44'800, 0, 300};
    CHECK(billed_by({{{44'920, 0, 0, 1}}, {end, "tool_use"}}) == end);    // all was new, they said
    CHECK(billed_by({{{120, 0, 44'800, 1}}, {end, "tool_use"}}) == end);  // or written
    CHECK(billed_by({{{0, 0, 0, 0}}, {end, "tool_use"}}) == end);         // or nothing
    CHECK(billed_by({{{44'920, 0, 0, 1}}, {end, "end_turn"}, {{44'920, 0, 0, 400}}}) == end);
    CHECK(billed_by({{{44'920, 0, 0, 1}, "end_turn"}, {end, "end_turn"}}) == end);  // the last of them
    CHECK(billed_by({{end, "end_turn"}, {{}, "end_turn"}}) == end);
}

TEST_CASE("the end of a reply may come behind results of its first calls, whatever it corrects", "[logs]") {
    const auto reply = [](const std::string& id, const std::string& parent, const std::string& blocks, int input,
                          int read, const std::string& end) {
        std::string line =
            claude_reply(id, parent, "m", blocks,
                         R"("input_tokens":)" + std::to_string(input) + R"(,"cache_read_input_tokens":)" +
                             std::to_string(read) + R"(,"output_tokens":9)",
                         R"("timestamp":"2026-08-01T10:00:00.0)" + id.substr(1) + R"(Z",)");
        return line.insert(line.find(R"("role":)"), R"("stop_reason":)" + end + ",");
    };
    const std::string text = claude_prompt("u1", "", "go") + reply("a1", "u1", claude_call("t1"), 900, 0, "null") +
                             claude_result("r1", "a1", "t1");
    const Session corrected =
        read_claude(text + reply("a2", "r1", claude_call("t2"), 100, 800, R"("tool_use")")).sessions.at(0);
    CHECK(usage_of(corrected) == std::vector<Usage>{{100, 800, 0, 9}});
    // Who gives one id to all replies ends each of them
    const Session two =
        read_claude(text + reply("a2", "r1", claude_call("t2"), 900, 0, R"("tool_use")") +
                    claude_result("r2", "a2", "t2") + reply("a3", "r2", claude_text("done"), 950, 0, R"("end_turn")"))
            .sessions.at(0);
    CHECK(usage_of(two) == std::vector<Usage>{{900, 0, 0, 9}, {950, 0, 0, 9}});
}

TEST_CASE("a reply behind a record that is damaged is one of its own if a gateway ends each of one id", "[logs]") {
    const Usage first{10, 1'000, 200, 30};
    const Usage second{12, 1'200, 100, 40};
    const std::string begin = claude_prompt("u", "", "go");
    const auto lines = [&](const Usage& usage, const std::string& parent, const std::string& id) {
        std::string line = UsageRecord{usage, "tool_use"}.line(id, parent, id);
        return line.erase(line.find(R"("requestId":"r",)"), 16);
    };
    const std::string damaged = R"({"type":"user","uuid":"gone","message":{"ro)"
                                "\n";
    const auto read = [&](const std::string& text) { return read_claude(text).sessions.at(0); };
    CHECK(logs::billed(read(begin + lines(first, "u", "a") + damaged + lines(second, "gone", "b"))) ==
          Usage{22, 2'200, 300, 70});
    CHECK(logs::billed(read(begin + lines(first, "u", "a") + damaged + lines(first, "gone", "b"))) == first);
    CHECK(logs::billed(read(begin + lines(first, "u", "a") + lines(second, "a", "b"))) == second);
}

TEST_CASE("without the end of a reply its largest record tells what was sent, and no mix of several", "[logs]") {
    CHECK(billed_by({{{44'920, 0, 0, 1}}, {{120, 44'800, 0, 300}}}) == Usage{120, 44'800, 0, 300});
    CHECK(billed_by({{{100, 44'800, 0, 1}}, {{44'000, 0, 0, 1}}}) == Usage{100, 44'800, 0, 1});
    // An end that says nothing of the input says what was written
    CHECK(billed_by({{{44'920, 0, 0, 1}}, {{0, 0, 0, 300}, "end_turn"}}) == Usage{44'920, 0, 0, 300});
    CHECK(billed_by({{{0, 0, 0, 300}, "end_turn"}, {{44'920, 0, 0, 1}}}) == Usage{44'920, 0, 0, 300});
}

TEST_CASE("what output lacks that was recorded before its end is estimated by the text of the reply", "[logs]") {
    const std::string long_text(800, 'a');
    CHECK(unrecorded(claude_text(long_text), 2) == 198);
    CHECK(unrecorded(claude_text(long_text), 100) == 0);  // some texts have 8 characters for a token
    CHECK(unrecorded(claude_text(long_text), 99) == 101);
    CHECK(unrecorded(claude_text("ok"), 1) == 0);
    std::string accents;
    for (int i = 0; i < 800; ++i) accents += "\xC3\xA9";
    CHECK(unrecorded(claude_text(accents), 2) == 198);
    CHECK(unrecorded(R"({"type":"thinking","thinking":")" + long_text + R"(","signature":")" + long_text + R"("})",
                     2) == 198);
    // {"path":"aa...a"} and the tool's name
    CHECK(unrecorded(R"({"type":"tool_use","id":"t","name":"Read","input":{"path":")" + long_text + R"("}})", 2) ==
          (800 + 11 + 4) / 4 - 2);
}

TEST_CASE("only a bill without the end of its reply is said to lack output", "[logs]") {
    const std::string long_text(800, 'a');
    const std::string parts = UsageRecord{{3, 0, 0, 2}}.line("a", "u", long_text) +
                              UsageRecord{{3, 0, 0, 2}, "end_turn"}.line("b", "a", "more");
    const Session ended = read_claude(claude_prompt("u", "", "go") + parts).sessions.at(0);
    CHECK(ended.calls.at(0).unrecorded_output == 0);
    const Session free =
        read_claude(claude_prompt("u", "", "go") + UsageRecord{}.line("a", "u", long_text)).sessions.at(0);
    CHECK(free.calls.at(0).unrecorded_output == 0);
    const Session rewound =
        read_claude(claude_prompt("u", "", "go") + UsageRecord{{3, 0, 0, 2}}.line("a", "u", long_text) +
                    claude_prompt("v", "u", "no, go on"))
            .sessions.at(0);
    CHECK(rewound.elsewhere.at(0).unrecorded_output == 198);
}
