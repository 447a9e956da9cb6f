#include "log_file.hpp"
#include "support/catch.hpp"

#include <map>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Session;
using Counts = std::map<std::string, std::int64_t>;

TEST_CASE("runs of LangSmith are put together in the order of their starts, whatever form their messages have",
          "[logs]") {
    const ReadLog log = read_fixture("langsmith.jsonl");
    REQUIRE(log.sessions.size() == 3);
    const Session& first = log.sessions[0];
    CHECK(first.recording.id == "langsmith-1");
    CHECK(roles_of(first) == "suatta");
    CHECK(replies_of(first) == std::vector<std::size_t>{2, 5});
    CHECK(usage_of(first) == std::vector<Usage>{{50, 0, 0, 9}, {20, 64, 16, 4, 10, 6}});
    CHECK(first.calls[0].id == "chatcmpl-1");
    CHECK(first.calls[1].model == "gpt-5-2026");
    CHECK(first.recording.tools.at(0).name == "clock");
    CHECK(first.recording.seconds_since_first[5] == 4.5);
    const auto& reply = first.recording.messages[2].json();
    CHECK(reply["content"] == "I look.");
    REQUIRE(reply["tool_calls"].size() == 2);
    CHECK(reply["tool_calls"][0]["function"]["arguments"] == R"({"zone":"UTC"})");
    CHECK(reply["tool_calls"][1]["function"]["arguments"] == "{zone");
    CHECK(first.recording.messages[4].json()["tool_call_id"] == "c2");
}

TEST_CASE("what LangSmith counts beside the input and for the run alone is billed", "[logs]") {
    const ReadLog log = read_fixture("langsmith.jsonl");
    REQUIRE(log.sessions.size() == 3);
    CHECK(roles_of(log.sessions[1]) == "sua");
    CHECK(log.sessions[1].calls[0].id == "msg_1");
    CHECK(usage_of(log.sessions[1]) == std::vector<Usage>{{5, 30, 0, 2}});
    CHECK(log.sessions[2].calls[0].id == "r6");  // no provider's
    CHECK(usage_of(log.sessions[2]) == std::vector<Usage>{{10, 30, 0, 3}});
}

TEST_CASE("runs of LangSmith that are no model call of their own are named", "[logs]") {
    const ReadLog log = read_fixture("langsmith.jsonl");
    CHECK(log.notes.damaged == 2);
    CHECK(log.notes.damaged_lines.at(0).line == 4);
    CHECK(log.notes.damaged_lines.at(1).reason == "neither a run nor a message");
    CHECK(log.notes.unknown == Counts{{"message/hologram", 1}, {"run of a model without messages", 1}});
    CHECK(log.notes.left_out == Counts{{"content/reasoning", 2},
                                       {"repeated run", 1},
                                       {"request that failed", 1},
                                       {"run of a model within one of the same call", 1},
                                       {"run/chain", 1}});
}

TEST_CASE("runs within a run of LangSmith are read, also of the Responses interface and as text", "[logs]") {
    const ReadLog log = read_fixture("langsmith.json");
    REQUIRE(log.sessions.size() == 2);
    CHECK(log.sessions[0].recording.system == "Be brief.");
    CHECK(roles_of(log.sessions[0]) == "ua");
    CHECK(log.sessions[0].calls[0].id == "resp_1");
    CHECK(usage_of(log.sessions[0]) == std::vector<Usage>{{8, 12, 0, 2}});
    CHECK(log.sessions[1].recording.messages[1].json()["content"] == "Three.");
    CHECK(usage_of(log.sessions[1]) == std::vector<Usage>{{7, 0, 0, 1}});
    CHECK(log.notes.left_out == Counts{{"run/chain", 2}, {"run/tool", 1}});
}

TEST_CASE("messages that LangChain wrote are a session", "[logs]") {
    const ReadLog log = read_fixture("langchain_messages.json");
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(session.recording.id == "langchain_messages");
    CHECK(roles_of(session) == "suata");
    CHECK(replies_of(session) == std::vector<std::size_t>{2, 4});
    CHECK(usage_of(session) == std::vector<Usage>{{30, 0, 0, 5}, {}});
    CHECK_FALSE(session.calls[1].usage.has_value());
    CHECK(session.calls[0].id == "msg_7");
    CHECK(session.recording.messages[1].json()["content"].size() == 2);
    CHECK(session.recording.messages[2].json()["tool_calls"][0]["id"] == "k1");
    CHECK(log.notes.unknown == Counts{{"message/remove", 1}});
    CHECK(log.notes.damaged == 2);  // a critic is no role, and 7 no message
}

TEST_CASE("generations of a trace of Langfuse are model calls, their counts apart from each other", "[logs]") {
    const ReadLog log = read_fixture("langfuse.json");
    REQUIRE(log.sessions.size() == 3);
    const Session& first = log.sessions[0];
    CHECK(roles_of(first) == "suata");
    CHECK(usage_of(first) == std::vector<Usage>{{50, 0, 0, 9}, {20, 64, 10, 4, 2}});
    CHECK(first.calls[0].id == "o1");
    CHECK(first.calls[0].model == "gpt-5");
    CHECK(first.recording.tools.at(0).name == "clock");
    CHECK(first.recording.messages[4].json()["content"] == "It is noon.");
    CHECK(roles_of(log.sessions[1]) == "ua");
    CHECK(usage_of(log.sessions[1]) == std::vector<Usage>{{7, 0, 0, 1}});
    CHECK(roles_of(log.sessions[2]) == "u");
    CHECK(first.billed_elsewhere == Usage{2, 0, 0, 0});  // of a prompt that is a text
    CHECK(log.notes.unknown == Counts{{"response that holds no reply", 1}, {"usage/gpu_seconds", 1}});
    CHECK(log.notes.left_out == Counts{{"call whose messages the log lacks, billed elsewhere", 1},
                                       {"observation that is only named", 1},
                                       {"observation/SPAN", 1},
                                       {"repeated observation", 1}});
}

TEST_CASE("rows of Langfuse's tables have their trees as text", "[logs]") {
    const ReadLog log = read_fixture("langfuse.jsonl");
    REQUIRE(log.sessions.size() == 1);
    CHECK(log.sessions[0].recording.system == "Be short.");
    CHECK(roles_of(log.sessions[0]) == "ua");
    CHECK(log.sessions[0].calls[0].id == "msg_1");
    CHECK(log.sessions[0].calls[0].model == "claude-sonnet-4-5");
    CHECK(usage_of(log.sessions[0]) == std::vector<Usage>{{5, 10, 20, 2}});
    CHECK(log.sessions[0].recording.seconds_since_first.size() == 2);
    CHECK(log.notes.left_out == Counts{{"observation/EVENT", 1}});
    CHECK(log.notes.damaged == 2);
    CHECK(log.notes.damaged_lines.at(1).reason == "an observation without a type");
}

TEST_CASE("a row of Langfuse's CSV is an observation, over as many lines as its cells have", "[logs]") {
    const ReadLog log = read_fixture("langfuse.csv");
    REQUIRE(log.sessions.size() == 1);
    const Session& session = log.sessions[0];
    CHECK(session.format == logs::Format::langfuse_csv);
    CHECK(roles_of(session) == "suata");
    CHECK(usage_of(session) == std::vector<Usage>{{30, 10, 0, 7}, {20, 40, 0, 4}});
    CHECK(session.calls[1].id == "c3");
    CHECK(session.calls[1].model == "gpt-5");  // as older exports write it
    CHECK(session.recording.seconds_since_first[4] == 2.0);
    CHECK(session.recording.messages[1].json()["content"] == "What is in \"a, b\"?\nLook.");
    CHECK(session.recording.messages[3].json()["content"] == "x,\"y\"\r\nz");
    CHECK(session.recording.messages[4].json()["content"] == "It holds z.");
    CHECK(log.notes.records == 5);
    CHECK(log.notes.left_out == Counts{{"observation/SPAN", 1}, {"repeated observation", 1}});
}

TEST_CASE("rows of Langfuse's CSV that are none are damaged lines", "[logs]") {
    const ReadLog log = read_fixture("langfuse.csv");
    REQUIRE(log.notes.damaged_lines.size() == 3);
    CHECK(log.notes.damaged_lines[0].line == 28);
    CHECK(log.notes.damaged_lines[0].reason == "expected 9 cells, found 3");
    CHECK(log.notes.damaged_lines[1].line == 29);
    CHECK(log.notes.damaged_lines[1].reason == "a quote within a cell");
    CHECK(log.notes.damaged_lines[2].reason == "an observation without a type");
    const ReadLog cut = read_text_as("\"id\",\"type\"\r\n\"a\",\"SPAN\"\r\n\"b\",\"SPA", logs::Format::langfuse_csv);
    CHECK(cut.notes.records == 1);
    CHECK(cut.notes.left_out == Counts{{"observation/SPAN", 1}});
    REQUIRE(cut.notes.damaged_lines.size() == 1);
    CHECK(cut.notes.damaged_lines[0].line == 3);
    CHECK(cut.notes.damaged_lines[0].reason == "a cell without its closing quote");
    CHECK(read_text_as("", logs::Format::langfuse_csv).notes.damaged == 0);
    const ReadLog small =
        read_text_as("id,type\nabcdefgh,SPAN\na,SPAN\n", logs::Format::langfuse_csv, {.limits = {.max_bytes = 10}});
    CHECK(small.notes.records == 1);
    CHECK(small.notes.damaged_lines.at(0).reason == "a row that is too long");
}

namespace {

constexpr const char* said_b = R"({"choices":[{"message":{"role":"assistant","content":"b"}}]})";
constexpr const char* said_b_for_9 =
    R"({"choices":[{"message":{"role":"assistant","content":"b"}}],"usage":{"prompt_tokens":9,"completion_tokens":2}})";

/// A run of a model a line, within another one or in none.
std::string run_within(const std::string& parent, const std::string& id, const std::string& outputs) {
    const std::string quoted = parent.empty() ? "null" : '"' + parent + '"';
    return R"({"id":")" + id + R"(","run_type":"llm","start_time":"2026-04-01T08:00:00","parent_run_id":)" + quoted +
           R"(,"inputs":{"messages":[{"role":"user","content":"a"}]},"outputs":)" + outputs + "}\n";
}

}  // namespace

TEST_CASE("a run within one of the same call tells what was billed where the outer one does not", "[logs]") {
    const ReadLog log = read_text_as(run_within("", "a", said_b) + run_within("a", "b", said_b) +
                                         run_within("b", "c", said_b_for_9) + run_within("x", "x", said_b),
                                     logs::Format::langsmith);
    REQUIRE(log.sessions.size() == 2);
    CHECK(usage_of(log.sessions[0]) == std::vector<Usage>{{9, 0, 0, 2}});
    CHECK(log.notes.left_out == Counts{{"run of a model within one of the same call", 2}});
}

TEST_CASE("a run within one of the same call that has a bill between them is billed with that", "[logs]") {
    const ReadLog log = read_text_as(
        run_within("", "a", said_b) + run_within("a", "b", said_b_for_9) + run_within("b", "c", said_b_for_9),
        logs::Format::langsmith);
    REQUIRE(log.sessions.size() == 1);
    CHECK(usage_of(log.sessions[0]) == std::vector<Usage>{{9, 0, 0, 2}});
}

TEST_CASE("a run within one of the same call gives the reply and the bill that the outer one does not hold", "[logs]") {
    for (const char* outer : {"null", "{}", R"({"usage":{"prompt_tokens":30,"completion_tokens":4}})"}) {
        CAPTURE(outer);
        const bool is_billed = std::string(outer).size() > 4;
        const ReadLog log =
            read_text_as(run_within("", "a", outer) + run_within("a", "b", said_b_for_9), logs::Format::langsmith);
        REQUIRE(log.sessions.size() == 1);
        CHECK(roles_of(log.sessions[0]) == "ua");
        CHECK(usage_of(log.sessions[0]) == std::vector<Usage>{is_billed ? Usage{30, 0, 0, 4} : Usage{9, 0, 0, 2}});
        CHECK(log.sessions[0].calls_elsewhere == 0);
    }
}

TEST_CASE("a bill within a run that recorded no reply at all is no call's of a message", "[logs]") {
    const ReadLog log = read_text_as(
        run_within("", "a", "null") + run_within("a", "b", R"({"usage":{"prompt_tokens":9,"completion_tokens":2}})"),
        logs::Format::langsmith);
    REQUIRE(log.sessions.size() == 1);
    CHECK(log.sessions[0].billed_elsewhere == Usage{9, 0, 0, 2});
    CHECK(log.notes.unknown == Counts{{"response that holds no reply", 1}});
    CHECK(log.notes.left_out == Counts{{"run of a model within one of the same call", 1}});
}
