#include "whittle/anthropic/anthropic_wire.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace whittle;
using anthropic::check_wire;
using anthropic::Message;
using Json = nlohmann::ordered_json;

namespace {

std::vector<Message> messages(const std::string& array) {
    std::vector<Message> list;
    for (const Json& m : Json::parse(array)) list.emplace_back(m);
    return list;
}

/// "A5@1.0: sentence" for each broken rule.
std::vector<std::string> broken(const std::string& array, const Json& rest = nullptr,
                                const anthropic::WireLimits& limits = {}) {
    std::vector<std::string> found;
    for (const anthropic::WireViolation& v : check_wire(messages(array), rest, limits)) {
        found.push_back(std::string(v.rule) + "@" + std::to_string(v.message) + "." + std::to_string(v.block) + ": " +
                        v.text);
    }
    return found;
}

/// A reply with these blocks between two user messages.
std::vector<std::string> broken_reply(const std::string& blocks) {
    return broken(R"([{"role":"user","content":"go"},{"role":"assistant","content":[)" + blocks +
                  R"(]},{"role":"user","content":"on"}])");
}

using Found = std::vector<std::string>;

const std::string cached_text = R"({"type":"text","text":"x","cache_control":{"type":"ephemeral"}})";

}  // namespace

TEST_CASE("a request as the API takes it breaks no wire rule", "[anthropic]") {
    CHECK(broken("[]").empty());
    CHECK(broken(R"([{"role":"user","content":"go"},
        {"role":"assistant","content":[{"type":"compaction","content":null},{"type":"thinking","thinking":"","signature":"S"},
            {"type":"server_tool_use","id":"s","name":"web_search","input":{}},
            {"type":"web_search_tool_result","tool_use_id":"s","content":[]},
            {"type":"tool_use","id":"a","name":"ls","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":""},{"type":"text","text":"on"}]},
        {"role":"assistant","content":"so"}])",
                 Json{{"system", "be brief"}})
              .empty());
}

TEST_CASE("A5: text is not blank, in a message, a result or the system text", "[anthropic]") {
    CHECK(broken_reply(R"({"type":"text","text":" \n"})") ==
          Found{"A5@1.0: a text block is empty or only white space"});
    CHECK(broken(R"([{"role":"user","content":""}])") == Found{"A5@0.0: the message has no content"});
    CHECK(broken(R"([{"role":"user","content":[]},{"role":"user"}])") ==
          Found{"A5@0.0: the message has no content", "A5@1.0: the message has no content"});
    CHECK(broken(R"([{"role":"user","content":[{"type":"text","text":"t"},
                    {"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":""}]}]}])") ==
          Found{"A5@0.1: a text block is empty or only white space"});
    CHECK(broken("[]", Json{{"system", {{{"type", "text"}, {"text", ""}}}}}) ==
          Found{"A5@0.0: a text block is empty or only white space"});
    CHECK(broken(R"([{"role":"user","content":7}])") ==
          Found{"A5@0.0: the content is neither a string nor an array of blocks"});
}

TEST_CASE("A5: only the final assistant text may not end in white space, and only it may be missing", "[anthropic]") {
    CHECK(broken(R"([{"role":"assistant","content":"so "}])") ==
          Found{"A5@0.0: the final assistant text ends in white space"});
    CHECK(broken(R"([{"role":"assistant","content":[{"type":"text","text":"a "},{"type":"text","text":"b\n"}]}])") ==
          Found{"A5@0.1: the final assistant text ends in white space"});
    CHECK(broken(R"([{"role":"assistant","content":"so "},{"role":"user","content":"on "}])").empty());
    CHECK(broken(R"([{"role":"user","content":"go"},{"role":"assistant","content":[]}])").empty());
}

TEST_CASE("A8: the input of a call is an object", "[anthropic]") {
    CHECK(broken_reply(R"({"type":"tool_use","id":"a","name":"f","input":"{}"})") ==
          Found{"A8@1.0: the input of tool call \"a\" is no object"});
    CHECK(broken_reply(R"({"type":"tool_use","id":"a","name":"f"})") ==
          Found{"A8@1.0: the input of tool call \"a\" is no object"});
}

TEST_CASE("A9: cache breakpoints are few, and not on thinking or empty text", "[anthropic]") {
    const std::string four = cached_text + "," + cached_text + "," + cached_text + "," + cached_text;
    CHECK(broken_reply(four).empty());
    CHECK(broken_reply(four + "," + cached_text) == Found{"A9@1.4: more than 4 blocks have a cache breakpoint"});
    const Json rest{{"tools", {{{"name", "f"}, {"cache_control", {{"type", "ephemeral"}}}}}}};
    CHECK(broken(R"([{"role":"user","content":[)" + four + "]}]", rest) ==
          Found{"A9@0.3: more than 4 blocks have a cache breakpoint"});
    CHECK(broken(R"([{"role":"user","content":[)" + cached_text + "]}]", nullptr, {.max_cache_breakpoints = 0}) ==
          Found{"A9@0.0: more than 0 blocks have a cache breakpoint"});
    CHECK(broken_reply(R"({"type":"thinking","thinking":"t","signature":"S","cache_control":{"type":"ephemeral"}})") ==
          Found{"A9@1.0: a thinking block has a cache breakpoint"});
    CHECK(broken_reply(R"({"type":"text","text":"","cache_control":{"type":"ephemeral"}})") ==
          Found{"A9@1.0: an empty text block has a cache breakpoint",
                "A5@1.0: a text block is empty or only white space"});
    CHECK(broken_reply(R"({"type":"text","text":"x","cache_control":null})").empty());
}

TEST_CASE("A11: server tools and MCP pair within the assistant turn", "[anthropic]") {
    const std::string call = R"({"type":"server_tool_use","id":"s","name":"web_search","input":{}})";
    const std::string result = R"({"type":"web_search_tool_result","tool_use_id":"s","content":[]})";
    CHECK(broken_reply(call + "," + result).empty());
    CHECK(broken_reply(call) == Found{"A11@1.0: the server tool call \"s\" has no result in its turn"});
    CHECK(broken_reply(result) ==
          Found{"A11@1.0: the result for server tool call \"s\" has no call before it in its turn"});
    CHECK(broken_reply(result + "," + call).size() == 2);
    CHECK(broken_reply(call + "," + result + "," + result) ==
          Found{"A11@1.2: the server tool call \"s\" has a second result"});
    CHECK(broken_reply(call + "," + call + "," + result) ==
          Found{"A11@1.1: the server tool call \"s\" appears twice in its turn"});
    CHECK(broken_reply(R"({"type":"mcp_tool_use","id":"m","name":"n","server_name":"s","input":{}})") ==
          Found{"A11@1.0: the server tool call \"m\" has no result in its turn"});
}

TEST_CASE("A11: a turn goes on over the results of the client's tools, and the newest may be open", "[anthropic]") {
    const std::string call = R"({"type":"server_tool_use","id":"s","name":"code_execution","input":{}})";
    const std::string result = R"({"type":"code_execution_tool_result","tool_use_id":"s","content":{}})";
    const std::string before = R"([{"role":"assistant","content":[)" + call + R"(]},{"role":"user","content":[)";
    const std::string after = R"(]},{"role":"assistant","content":[)" + result + "]}]";
    const std::string answer = R"({"type":"tool_result","tool_use_id":"a","content":"1"})";
    CHECK(broken(before + answer + after).empty());
    CHECK(broken(before + answer + R"(,{"type":"text","text":"and"})" + after).size() == 2);
    CHECK(broken(R"([{"role":"user","content":"go"},{"role":"assistant","content":[)" + call + "]}]").empty());
}

TEST_CASE("A11: a server tool may still run while the client's tools that it called answer", "[anthropic]") {
    const std::string blocks = R"({"type":"server_tool_use","id":"s","name":"code_execution","input":{}},
        {"type":"tool_use","id":"t","name":"ls","input":{},"caller":{"type":"code_execution_20250825","tool_id":"s"}})";
    const std::string asked = R"([{"role":"user","content":"go"},{"role":"assistant","content":[)" + blocks + "]},";
    const std::string answer = R"({"type":"tool_result","tool_use_id":"t","content":"1"})";
    CHECK(broken(asked + R"({"role":"user","content":[)" + answer + "]}]").empty());
    CHECK(broken(asked + R"({"role":"user","content":[)" + answer + R"(,{"type":"text","text":"and"}]}])") ==
          Found{"A11@1.0: the server tool call \"s\" has no result in its turn"});
}

TEST_CASE("A12: a compaction block comes first in a reply and its content is no empty string", "[anthropic]") {
    CHECK(broken_reply(R"({"type":"compaction","content":""})") ==
          Found{"A12@1.0: the content of a compaction block is an empty string"});
    CHECK(broken(R"([{"role":"user","content":[{"type":"compaction","content":"s"}]}])") ==
          Found{"A12@0.0: a compaction block stands outside an assistant message"});
    const auto found = check_wire(messages(
        R"([{"role":"assistant","content":[{"type":"text","text":"t"},{"type":"compaction","content":"s"}]}])"));
    REQUIRE(found.size() == 1);
    CHECK(found[0].rule == "A12");
    CHECK(found[0].severity == Severity::silent);
}

TEST_CASE("A13: the result of a failed tool holds only text", "[anthropic]") {
    const auto with = [](const char* flag) {
        return broken(R"([{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":)" +
                      std::string(flag) + R"(,"content":[{"type":"image","source":{"type":"url","url":"u"}}]}]}])");
    };
    CHECK(with("true") == Found{"A13@0.0: the result of the failed tool call \"a\" holds more than text"});
    CHECK(with("false").empty());
}

TEST_CASE("G11: the size of the request counts messages and the rest", "[anthropic]") {
    const std::string one = R"([{"role":"user","content":"0123456789"}])";
    CHECK(broken(one, nullptr, {.max_request_bytes = 100}).empty());
    const Found found = broken(one, Json{{"system", std::string(100, 's')}}, {.max_request_bytes = 100});
    REQUIRE(found.size() == 1);
    CHECK_THAT(found[0], Catch::Matchers::StartsWith("G11@1.0: the request has 1"));
}

TEST_CASE("A6.signature: thinking without a signature is named, whatever wrote it", "[anthropic]") {
    const auto thinking = [](const std::string& members) {
        return broken(R"([{"role":"user","content":"hi"},{"role":"assistant","content":[{)" + members +
                      R"(},{"type":"text","text":"a"}]},{"role":"user","content":"go on"}])");
    };
    const Found unsigned_thinking{
        "A6.signature@1.0: thinking has no signature: leave the block out where another server "
        "wrote it"};
    CHECK(thinking(R"("type":"thinking","thinking":"hm")") == unsigned_thinking);
    CHECK(thinking(R"("type":"thinking","thinking":"hm","signature":"")") == unsigned_thinking);
    CHECK(thinking(R"("type":"thinking","thinking":"","signature":" ")") == unsigned_thinking);
    CHECK(thinking(R"("type":"thinking","thinking":"","signature":"EqQB")").empty());
    CHECK(thinking(R"("type":"redacted_thinking","data":"EqQB")").empty());
    CHECK(thinking(R"("type":"redacted_thinking","data":"")").size() == 1);
}
