// What an agent cut out of a result before it was sent stands whole in its log.
#include "log_file.hpp"
#include "support/catch.hpp"

#include <string>

using namespace whittle;
using namespace whittle::testing;
using logs::Format;

namespace {

/// An evaluation's record of OpenHands V0 with a result of this kind; `config`: the members of "llm_config".
std::string openhands_record(const std::string& config, const std::string& kind, const std::string& content) {
    const std::string call = R"("tool_call_metadata":{"function_name":"f","tool_call_id":"c1","model_response":)"
                             R"({"id":"r1","model":"m","choices":[{"message":{"content":"","tool_calls":[]}}]}})";
    return R"({"instance_id":"i","metadata":{"llm_config":{)" + config + R"(}},"history":[)" +
           R"({"id":0,"timestamp":"2025-06-01T00:00:00","source":"user","action":"message","args":{"content":"go"}},)" +
           R"({"id":1,"timestamp":"2025-06-01T00:00:01","source":"agent","action":"run","args":{"command":"x"},)" +
           call + R"(},{"id":2,"timestamp":"2025-06-01T00:00:02","source":"agent","observation":")" + kind +
           R"(","content":")" + content + R"(",)" + call + "}]}";
}

std::string openhands_result(const std::string& config, const std::string& kind, const std::string& content) {
    const ReadLog log = read_text_as(openhands_record(config, kind, content), Format::openhands);
    return log.sessions.at(0).recording.messages.at(2).json()["content"].get<std::string>();
}

std::string v1_result(const std::string& content) {
    const ReadLog log = read_text_as(
        R"({"kind":"MessageEvent","id":"a","source":"user","timestamp":"2026-05-01T00:00:00","llm_message":)"
        R"({"role":"user","content":[{"type":"text","text":")" +
            content + R"("}]}})" + "\n" +
            R"({"kind":"ActionEvent","id":"b","source":"agent","timestamp":"2026-05-01T00:00:01","llm_response_id":"r1",)"
            R"("tool_call":{"id":"c1","name":"f","arguments":"{}"},"thought":[]})" +
            "\n" +
            R"({"kind":"ObservationEvent","id":"c","source":"environment","timestamp":"2026-05-01T00:00:02",)"
            R"("tool_call_id":"c1","observation":{"content":[{"type":"text","text":")" +
            content + R"("}]}})" + "\n",
        Format::openhands_v1);
    CHECK(log.sessions.at(0).recording.messages.at(0).json()["content"] == content);  // a prompt is sent whole
    return log.sessions[0].recording.messages.at(2).json()["content"].get<std::string>();
}

constexpr const char* observation_notice = "\n[... Observation truncated due to length ...]\n";

}  // namespace

TEST_CASE("results of OpenHands are cut as its configuration says, in characters", "[logs]") {
    const std::string limit = R"("max_message_chars":4)";
    CHECK(openhands_result(limit, "run", "abcd") == "abcd");
    CHECK(openhands_result(limit, "run", "abcde") == std::string("ab") + observation_notice + "de");
    CHECK(openhands_result(R"("max_message_chars":5)", "mcp", "abcdef") ==
          std::string("ab") + observation_notice + "ef");
    CHECK(openhands_result(limit, "run", "\u00e4\u00f6\u00fc\u00df") == "\u00e4\u00f6\u00fc\u00df");
    CHECK(openhands_result(limit, "run", "\u00e4\u00f6-\u00fc\u00df") ==
          std::string("\u00e4\u00f6") + observation_notice + "\u00fc\u00df");
}

TEST_CASE("what OpenHands reads from files and pages is sent whole", "[logs]") {
    const std::string limit = R"("max_message_chars":4)";
    CHECK(openhands_result(limit, "read", "abcdefgh") == "abcdefgh");
    CHECK(openhands_result(limit, "browse", "abcdefgh") == "abcdefgh");
}

TEST_CASE("without a configuration OpenHands' own limit holds, and a negative one or null is none", "[logs]") {
    const std::string most(30'000, 'x');
    CHECK(openhands_result("", "run", most) == most);
    const std::string cut = openhands_result("", "run", most + "y");
    CHECK(cut == most.substr(0, 15'000) + observation_notice + most.substr(0, 14'999) + "y");
    CHECK(openhands_result(R"("max_message_chars":-1)", "run", most + "y").size() == 30'001);
    CHECK(openhands_result(R"("max_message_chars":null)", "run", most + "y").size() == 30'001);
    const ReadLog log = read_text_as(openhands_record("", "run", most + "y"), Format::openhands);
    CHECK(log.notes.left_out.at("middle of a long result") == 1);
}

TEST_CASE("results of OpenHands V1 above its limit are cut, and prompts are not", "[logs]") {
    const std::string most(50'000, 'x');
    CHECK(v1_result(most) == most);
    const std::string cut = v1_result(most + "yz");
    CHECK(cut.size() == 50'000);
    CHECK(cut.find("x<response clipped><NOTE>Due to the max output limit") == 24'943);
    CHECK(cut.find("has been shown to you.</NOTE>x") != std::string::npos);
    CHECK(cut.ends_with("xyz"));
}
