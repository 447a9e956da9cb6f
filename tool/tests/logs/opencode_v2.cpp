#include "log_file.hpp"
#include "support/catch.hpp"
#include "whittle/message/validity.hpp"

#include <span>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using nlohmann::ordered_json;

namespace {

ReadLog read_opencode_rows(const ordered_json& rows, const ordered_json& info = {{"id", "ses_1"}}) {
    return read_text_as(ordered_json{{"info", info}, {"messages", rows}}.dump(), logs::Format::opencode);
}

}  // namespace

TEST_CASE("a session of opencode 2 is read from its rows", "[logs][opencode_v2]") {
    const ReadLog log = read_fixture("opencode_v2.json");
    REQUIRE(log.sessions.size() == 1);
    const logs::Session& session = log.sessions[0];
    CHECK(session.recording.id == "ses_9");
    CHECK(session.parent == "ses_8");
    CHECK(session.folder == "/home/ann/mill");
    CHECK(session.version == "2.0.12");
    CHECK(roles_of(session) == "usattauuatu");
    CHECK(validate(std::span<const openai::Message>(session.recording.messages), openai_chat()).empty());
    CHECK(session.recording.messages[2].json()["content"] == "I look.");
    CHECK(session.recording.messages[2].json()["tool_calls"].size() == 2);
    CHECK(session.recording.messages[3].json()["content"] == "wheel");
    CHECK(session.recording.messages[4].json()["content"] == "no such file");
    CHECK(session.recording.messages[6].json()["content"] == "Shell command: date\n\nnoon");
    CHECK(session.recording.messages[9].json()["content"] == "");  // it never ended
    CHECK(replies_of(session) == std::vector<std::size_t>{2, 5, 8});
    CHECK(usage_of(session) == std::vector<Usage>{{100, 1'000, 30, 25}, {10, 1'130, 0, 4}, {90, 0, 0, 9}});
    CHECK(session.calls[0].model == "glm-5");
    CHECK(session.calls[0].bill_id == "opencode/1789000003000-1789000004000/glm-5/1");
    CHECK(session.calls[2].bill_id == "opencode/msg_21/1");
    CHECK(session.calls[0].time == 1'789'000'003);
    // A reply that failed, the compaction's own call, and what was taken back.
    REQUIRE(session.elsewhere.size() == 3);
    CHECK(session.elsewhere[0].usage == Usage{7, 0, 0, 3});
    CHECK(session.elsewhere[1].usage == Usage{500, 700, 0, 60});
    CHECK(session.elsewhere[2].usage == Usage{1, 3, 0, 2});
    REQUIRE(session.compactions.size() == 1);
    CHECK(session.compactions[0].before == 7);
    CHECK(session.compactions[0].trigger == "auto");
    const auto request = session.request_of(session.calls[2]);
    REQUIRE(request.size() == 2);
    CHECK(request[0]["content"] == "The wheel turns.\n\n[User]: date");
    CHECK(request[1]["content"] == "Go on.");
    CHECK(log.notes.unknown == std::map<std::string, std::int64_t>{{"message/millstone", 1}});
    CHECK(log.notes.left_out == std::map<std::string, std::int64_t>{{"compaction that did not end", 1},
                                                                    {"message/idle", 1},
                                                                    {"message/model-switched", 1},
                                                                    {"part/file", 2},
                                                                    {"part/reasoning", 2},
                                                                    {"part/tool", 1},
                                                                    {"reply without text and calls", 1},
                                                                    {"tool call without a result", 1}});
    CHECK(log.notes.newer.empty());
}

TEST_CASE("copies of opencode 2 have the bills of what they copy", "[logs][opencode_v2]") {
    ordered_json rows = ordered_json::parse(fixture_text("opencode_v2.json"))["messages"];
    const auto ids_of_copy = [&](const std::string& prefix) {
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i]["id"] = prefix + std::to_string(i);
        const ReadLog log = read_opencode_rows(rows, {{"id", prefix}});
        std::vector<std::string> ids;
        for (const logs::Call& call : log.sessions.at(0).calls) ids.push_back(call.bill_id);
        for (const logs::Call& call : log.sessions[0].elsewhere) ids.push_back(call.bill_id);
        return ids;
    };
    const auto a = ids_of_copy("a");
    const auto b = ids_of_copy("b");
    REQUIRE(a.size() == 6);
    for (std::size_t i = 0; i < a.size(); ++i) {
        CAPTURE(i, a[i], b[i]);
        CHECK((a[i] == b[i]) == (i != 2));  // one never ended, and is in no fork
    }
}

TEST_CASE("rows of opencode 2 that hold less than they may are read", "[logs][opencode_v2]") {
    const ReadLog log = read_opencode_rows(
        {{{"type", "user"}, {"text", "one?"}},
         {{"type", "assistant"},
          {"content",
           {{{"type", "tool"},
             {"id", "c1"},
             {"name", "t"},
             {"state", {{"status", "completed"}, {"structured", {{"n", 1}}}, {"content", ordered_json::array()}}}},
            {{"type", "tool"}, {"id", "c2"}, {"name", "t"}},
            {{"type", "pebble"}}}}},
         {{"type", "shell"}, {"command", "date"}, {"output", "noon"}},  // as 1.18 has it
         {{"type", "compaction"}, {"reason", "manual"}, {"summary", "so far"}, {"recent", ""}},
         {{"type", "compaction"}, {"status", "completed"}, {"providerContext", {{"id", "x"}}}},
         {{"text", "no type"}},
         {{"type", "user"}, {"text", ""}}});
    const logs::Session& session = log.sessions.at(0);
    CHECK(roles_of(session) == "uattu");
    CHECK(session.recording.messages[2].json()["content"] == R"({"n":1})");
    CHECK(session.compactions.size() == 2);
    CHECK(session.compactions[0].kept.size() == 1);
    CHECK(session.compactions[1].kept.empty());
    CHECK(session.calls.at(0).bill_id.empty());
    CHECK(log.notes.damaged == 1);
    CHECK(log.notes.unknown ==
          std::map<std::string, std::int64_t>{{"compaction/providerContext", 1}, {"part/pebble", 1}});
}
