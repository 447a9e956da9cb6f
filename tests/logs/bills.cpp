// What was billed for a call, and what only looks like a bill.
#include "logs/claude_lines.hpp"
#include "logs/log_file.hpp"
#include "support/catch.hpp"

#include <map>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Format;
using logs::Session;

namespace {

const std::string zero_usage =
    R"("input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0)";

/// A request with one prompt and its response, which has these members.
std::string exchange_line(const std::string& response) {
    return R"({"request":{"model":"m","messages":[{"role":"user","content":"hi"}]},"response":{)" + response + "}}\n";
}

}  // namespace

TEST_CASE("usage of nothing but zeros is no bill", "[logs]") {
    const ReadLog log =
        read_claude(claude_prompt("u1", "", "first") + claude_reply("a1", "u1", "m1", claude_text("one"), zero_usage) +
                    claude_reply("a2", "a1", "m2", claude_text("two"), R"("output_tokens":3)", ""));
    const Session& session = log.sessions.at(0);
    REQUIRE(session.calls.size() == 2);
    CHECK_FALSE(session.calls[0].usage);
    CHECK(session.calls[1].usage == Usage{0, 0, 0, 3});
    CHECK(session.recording.usage.size() == 1);

    const Session answered =
        read_text_as(exchange_line(R"("id":"r","role":"assistant","content":[],"usage":{)" + zero_usage + "}"),
                     Format::exchanges)
            .sessions.at(0);
    CHECK(answered.calls.size() == 1);
    CHECK_FALSE(answered.calls.at(0).usage);
}

TEST_CASE("usage of zeros is no bill of calls whose replies are no message either", "[logs]") {
    const Session rewound =
        read_claude(claude_prompt("u1", "", "first") + claude_reply("a1", "u1", "m1", claude_text("one"), zero_usage) +
                    claude_prompt("u2", "u1", "again") + claude_prompt("u3", "u1", "other"))
            .sessions.at(0);
    CHECK(rewound.calls_elsewhere == 1);
    CHECK_FALSE(rewound.elsewhere.at(0).usage);

    const ReadLog failed =
        read_text_as(exchange_line(R"("error":{"type":"overloaded"},"usage":{)" + zero_usage + "}"), Format::exchanges);
    CHECK(failed.sessions.empty());
    CHECK(failed.notes.left_out == std::map<std::string, std::int64_t>{{"request that failed", 1}});
}

TEST_CASE("sums of a session that are zeros are no bill of it", "[logs]") {
    const auto billed_in_all = [](const std::string& sent) {
        return read_text_as(R"({"environment":"e","history":[{"role":"user","content":"a"},)"
                            R"({"role":"assistant","content":"b"}],"trajectory":[],"info":{"model_stats":)"
                            R"({"tokens_sent":)" +
                                sent + R"(,"tokens_received":0}}})",
                            Format::swe_agent)
            .sessions.at(0)
            .billed_in_all;
    };
    CHECK(billed_in_all("7") == Usage{7, 0, 0, 0});
    CHECK_FALSE(billed_in_all("0"));
}

TEST_CASE("a trace's call whose own usage is zeros has the bill of the one within it", "[logs]") {
    const auto run = [](const std::string& id, const std::string& parent, const std::string& usage) {
        return R"({"id":")" + id + R"(","parent_run_id":)" + (parent.empty() ? "null" : '"' + parent + '"') +
               R"(,"run_type":"llm","start_time":"2026-03-05T09:00:00","inputs":{"messages":)"
               R"([{"role":"user","content":"a"}]},"outputs":{"choices":[{"message":)"
               R"({"role":"assistant","content":"b"}}],"usage":)" +
               usage + "}}\n";
    };
    const ReadLog log = read_text_as(run("a", "", R"({"prompt_tokens":0,"completion_tokens":0})") +
                                         run("b", "a", R"({"prompt_tokens":9,"completion_tokens":2})"),
                                     Format::langsmith);
    CHECK(usage_of(log.sessions.at(0)) == std::vector<Usage>{{9, 0, 0, 2}});
}

TEST_CASE("a response without a reply is unknown, and no bill", "[logs]") {
    const ReadLog log = read_text_as(exchange_line(R"("status":200,"body":"cut")"), Format::exchanges);
    CHECK(log.notes.unknown == std::map<std::string, std::int64_t>{{"response that holds no reply", 1}});
    CHECK(log.notes.left_out.empty());
    CHECK_FALSE(log.sessions.at(0).elsewhere.at(0).usage);
}
