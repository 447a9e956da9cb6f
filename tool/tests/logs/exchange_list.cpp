#include "log_file.hpp"
#include "support/catch.hpp"

#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Format;

namespace {

/// A chat completion whose reply is sent back in another form.
std::string resent(const std::string& reply, const std::string& sent_back) {
    return R"({"request":{"messages":[{"role":"user","content":"a"}]},"response":{"choices":[{"message":)" + reply +
           "}]}}\n" + R"({"request":{"messages":[{"role":"user","content":[{"type":"text","text":"a",)" +
           R"("cache_control":{"type":"ephemeral"}}]},)" + sent_back +
           R"(,{"role":"user","content":"b"}]},"response":{"choices":[{"message":{"role":"assistant",)"
           R"("content":"c"}}]}})";
}

}  // namespace

TEST_CASE("a message is the same one in whatever form a client sends it back", "[logs]") {
    const std::vector<std::pair<std::string, std::string>> forms{
        {R"({"role":"assistant","content":"x\ny"})",
         R"({"role":"assistant","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]})"},
        {R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text",)"
         R"("text":"x"}]})",
         R"({"role":"assistant","content":"x"})"},
        {R"({"role":"assistant","content":[{"type":"redacted_thinking","data":"q"},{"type":"tool_use",)"
         R"("id":"t1","name":"n","input":{}}]})",
         R"({"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{}}]})"},
        {R"({"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function",)"
         R"("function":{"name":"n","arguments":"{}"}}]})",
         R"({"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{}}]})"}};
    for (const auto& [reply, sent_back] : forms) {
        CAPTURE(reply);
        const ReadLog log = read_text_as(resent(reply, sent_back), Format::exchanges);
        REQUIRE(log.sessions.size() == 1);
        CHECK(roles_of(log.sessions[0]) == "uaua");
    }
    for (const char* other : {R"({"role":"assistant","content":"xz"})", R"({"role":"user","content":"x"})"}) {
        CAPTURE(other);
        const std::string text = resent(R"({"role":"assistant","content":"x"})", other);
        CHECK(read_text_as(text, Format::exchanges).sessions.size() == 2);
    }
}

TEST_CASE("a result is the same one as a text and as blocks", "[logs]") {
    const std::string call = R"({"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{}}]})";
    const auto request = [&](const std::string& result, const std::string& more) {
        return R"({"request":{"messages":[{"role":"user","content":"a"},)" + call +
               R"(,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":)" + result + "}]}" +
               more + R"(]},"response":{"role":"assistant","content":[{"type":"text","text":"x"}]}})" + "\n";
    };
    const ReadLog log = read_text_as(
        request(R"("r")", "") + request(R"([{"type":"text","text":"r"}])",
                                        R"(,{"role":"assistant","content":"x"},{"role":"user","content":"b"})"),
        Format::exchanges);
    REQUIRE(log.sessions.size() == 1);
    CHECK(roles_of(log.sessions[0]) == "uauaua");
}

TEST_CASE("what failed and what only counted tokens is no call", "[logs]") {
    const std::string body = R"({"messages":[{"role":"user","content":"a"}]})";
    const std::string message =
        R"({"role":"assistant","content":[{"type":"text","text":"b"}],"usage":{"input_tokens":4}})";
    const ReadLog log = read_text_as(
        R"({"request":)" + body + R"(,"response":{"type":"error","error":{"type":"overloaded_error"}}})" + "\n" +
            R"({"request":{"body":)" + body + R"(},"response":{"status_code":503,"body":"<html>"}})" + "\n" +
            R"({"request":)" + body + R"(,"response":{"input_tokens":4}})" + "\n" +
            R"({"request":{"url":"https://h/v1/messages/count_tokens?beta=true","body":)" + body + "}}\n" +
            R"({"request":)" + body + R"(,"response":)" + message + "}\n",
        Format::exchanges);
    REQUIRE(log.sessions.size() == 1);
    CHECK(roles_of(log.sessions[0]) == "ua");
    CHECK(log.sessions[0].calls_elsewhere == 0);
    CHECK(log.notes.left_out ==
          std::map<std::string, std::int64_t>{{"count of tokens", 2}, {"request that failed", 2}});
}

TEST_CASE("a stream that a recorder kept as raw text is the response, and its request tells the time", "[logs]") {
    std::string stream = R"(event: message_start\ndata: {"type":"message_start","message":{"id":"m1","type":"message",)"
                         R"("role":"assistant","model":"m-1","content":[],)"
                         R"("usage":{"input_tokens":4,"cache_read_input_tokens":90,"output_tokens":1}}}\n\n)"
                         R"(event: content_block_start\ndata: {"type":"content_block_start","index":0,)"
                         R"("content_block":{"type":"text","text":""}}\n\n)"
                         R"(event: content_block_delta\ndata: {"type":"content_block_delta","index":0,)"
                         R"("delta":{"type":"text_delta","text":"b"}}\n\n)"
                         R"(event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n)"
                         R"(event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},)"
                         R"("usage":{"output_tokens":7}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n)";
    for (std::size_t at = 0; (at = stream.find('"', at)) != std::string::npos; at += 2) stream.insert(at, "\\");
    const auto line = [&](const std::string& time, const std::string& messages, const std::string& logged_at) {
        return R"({"time":231,"request":{)" + time + R"("body":{"model":"m","messages":[)" + messages +
               R"(]}},"response":{"status_code":200,"body":null,"body_raw":")" + stream + R"("},"logged_at":")" +
               logged_at + "\"}\n";
    };
    const std::string asked = R"({"role":"user","content":"a"})";
    const std::string asked_again = asked + R"(,{"role":"assistant","content":"b"},)" + asked;
    const ReadLog log = read_text_as(
        line(R"("timestamp":1772701200.5,)", asked, "2026-03-05T09:00:03Z") +             // seconds: 09:00:00.5
            line(R"("timestamp":1772701210500,)", asked_again, "2026-03-05T09:00:13Z") +  // milliseconds
            line("", asked_again + R"(,{"role":"assistant","content":"b"},)" + asked, "2026-03-05T09:00:23.5Z"),
        Format::exchanges);
    REQUIRE(log.sessions.size() == 1);
    const auto& session = log.sessions[0];
    CHECK(roles_of(session) == "uauaua");
    CHECK(usage_of(session) == std::vector<Usage>(3, Usage{4, 90, 0, 7}));
    CHECK(session.calls.at(0).id == "m1");
    CHECK(session.calls.at(0).model == "m-1");
    CHECK(session.recording.seconds_since_first.at(3) == 10.0);
    CHECK(session.recording.seconds_since_first.at(5) == 23.0);
    CHECK(log.notes.unknown.empty());
    CHECK(log.notes.left_out.empty());
}

TEST_CASE("entries of an HTTP archive that failed or only counted tokens are no calls", "[logs]") {
    const auto entry = [](const std::string& path, int status, const std::string& response) {
        return R"({"request":{"url":"https://h)" + path +
               R"(","postData":{"text":"{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}"}},)"
               R"("response":{"status":)" +
               std::to_string(status) + R"(,"content":{"text":")" + response + R"("}}})";
    };
    const ReadLog log = read_text_as(
        R"({"log":{"version":"1.2","entries":[)" + entry("/v1/messages/count_tokens", 200, "") + "," +
            entry("/v1/messages", 529, "busy") + "," +
            entry("/v1/messages", 200, R"({\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"b\"}]})") +
            "]}}",
        Format::har);
    REQUIRE(log.sessions.size() == 1);
    CHECK(roles_of(log.sessions[0]) == "ua");
    CHECK(log.sessions[0].calls_elsewhere == 0);
    CHECK(log.notes.left_out ==
          std::map<std::string, std::int64_t>{{"count of tokens", 1}, {"request that failed", 1}});
}

TEST_CASE("requests that go on from one reply do not copy what is in front of it without end", "[logs][large]") {
    const std::string message = R"({"role":"user","content":"a"})";
    std::string front = message;
    for (int i = 1; i < 45'000; ++i) front += "," + message;
    const auto exchange = [](const std::string& input, const std::string& more, int number) {
        return R"({"request":{"input":[)" + input + "]" + more + R"(},"response":{"id":"r)" + std::to_string(number) +
               R"(","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]}]}})" +
               "\n";
    };
    std::string text = exchange(front, "", 0);
    for (int i = 1; i <= 6; ++i) text += exchange(message, R"(,"previous_response_id":"r0")", i);
    std::istringstream in(text);
    std::vector<std::size_t> sizes;
    const logs::LogNotes notes = logs::read_log(in, Format::exchanges, {}, [&](logs::Session&& session) {
        sizes.push_back(session.recording.messages.size());
    });
    CHECK(sizes == std::vector<std::size_t>{45'003, 45'003, 45'003, 45'003, 2, 2});
    CHECK(notes.unknown ==
          std::map<std::string, std::int64_t>{{"previous_response_id that too many others go on from", 2}});
}
