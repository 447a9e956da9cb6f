// Where the work stands, as tool calls tell: plans, files, reports of sub-agents.
#include "whittle/summary/detail/work_state.hpp"

#include "support/catch.hpp"
#include "whittle/conversation/conversation.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;

namespace {

using Items = std::vector<std::string>;

/// Calls and results by hand.
struct Working {
    Conversation<> conversation{"work"};
    int calls = 0;

    Working& call(const std::string& tool, const std::string& arguments, const std::string& answer = "ok",
                  bool is_error = false) {
        const std::string id = "c" + std::to_string(++calls);
        conversation.push_back(ChatMessage::assistant("").call(id, tool, arguments));
        ChatMessage result = ChatMessage::result(id, tool, answer);
        result.parts.front().is_error = is_error;
        conversation.push_back(std::move(result));
        return *this;
    }
    [[nodiscard]] WorkState state(const PreserveWorkConfig& config = {}) const {
        std::vector<std::size_t> all(conversation.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        return whittle::detail::collect_work(whittle::detail::part_visitor<ChatMessage>(conversation.messages()),
                                             conversation.outline(), all, config);
    }
};

std::string shown_work(const WorkState& state, const PreserveWorkConfig& config = {}, std::int64_t room = 10'000) {
    return to_text(state, config, room, *chars_counter(), Language::english);
}

}  // namespace

TEST_CASE("the newest plan of any agent is known by its form", "[work_state]") {
    const std::vector<std::pair<std::string, std::string>> calls{
        {"TodoWrite",
         R"({"todos":[{"content":"read it","status":"completed"},{"content":"mend it","status":"pending"}]})"},
        {"update_plan",
         R"({"explanation":"x","plan":[{"step":"read it","status":"completed"},{"step":"mend it","status":"pending"}]})"},
        {"task_tracker",
         R"({"command":"plan","task_list":[{"id":"1","title":"read it","status":"completed"},{"id":"2","title":"mend it","status":"pending"}]})"},
        {"write_todos",
         R"({"todos":[{"description":"read it","status":"completed"},{"description":"mend it","status":"pending"}]})"},
    };
    for (const auto& [tool, arguments] : calls) {
        INFO(tool);
        CHECK(Working{}.call(tool, arguments).state().plan == Items{"[completed] read it", "[pending] mend it"});
    }
    const Items boxes{"[x] read it", "[ ] mend it"};
    CHECK(Working{}.call("todo__write", R"({"content":"- [x] read it\n- [ ] mend it"})").state().plan == boxes);
    CHECK(Working{}.call("update_todo_list", R"({"todos":"[x] read it\n[ ] mend it"})").state().plan == boxes);
    CHECK_FALSE(Working{}.call("write_file", R"({"path":"a.md","content":"- [x] read it"})").state().plan);
}

TEST_CASE("a plan that was cleared is gone, and one of a named tool stands as it was written", "[work_state]") {
    Working work;
    work.call("todo_write", R"({"todos":[{"content":"a","status":"pending"}]})").call("todo_write", R"({"todos":[]})");
    REQUIRE(work.state().plan);
    CHECK(work.state().plan->empty());
    CHECK(shown_work(work.state()).empty());

    const PreserveWorkConfig named{.plan_tools = {"keep_goal"}};
    CHECK(Working{}.call("srv__keep_goal", R"({"goal":"ship"})").state(named).plan == Items{R"({"goal":"ship"})"});
    CHECK_FALSE(Working{}.call("keep_goal", R"({"goal":"ship"})").state().plan);
}

TEST_CASE("files are listed with what was done to them, the last used at the end", "[work_state]") {
    Working work;
    work.call("read_file", R"({"path":"src/a.cpp","offset":10,"limit":71})")
        .call("read_file", R"({"path":"src/b.cpp"})")
        .call("edit_file", R"({"path":"src/a.cpp","old":"x","new":"y"})")
        .call("edit_file", R"({"path":"src/a.cpp","old":"y","new":"z"})");
    const WorkState state = work.state();
    REQUIRE(state.files.size() == 2);
    CHECK(to_text(state.files[0]) == "src/b.cpp (read)");
    CHECK(to_text(state.files[1]) == "src/a.cpp (written 2 times, lines 10-80)");
    CHECK(shown_work(state) ==
          "Files, the last used at the end:\n- src/b.cpp (read)\n- src/a.cpp (written 2 times, lines 10-80)");
}

TEST_CASE("a file's line can be read back", "[work_state]") {
    const std::vector<FileUse> files{
        {"a.cpp", 0, true, {}}, {"b (copy).txt", 1, false, {"1-2", "from 7"}}, {"c, d.md", 12, true, {"3-4"}}};
    for (const FileUse& file : files) CHECK(file_from_text(to_text(file)) == file);
    CHECK(file_from_text("x.cpp (named)") == FileUse{.path = "x.cpp"});
    CHECK(file_from_text("only a path") == FileUse{.path = "only a path"});
    CHECK(file_from_text("").path.empty());
}

TEST_CASE("reports of sub-agents stand word for word, failed ones and other results do not", "[work_state]") {
    Working work;
    work.call("Task", R"({"description":"look for leaks","prompt":"..."})", "Leak in pool.cpp:88.\nNo other.")
        .call("task", R"({"description":"again"})", "could not start", true)
        .call("read_file", R"({"path":"a.cpp"})", "int main() {}");
    const WorkState state = work.state();
    REQUIRE(state.findings.size() == 1);
    CHECK(state.findings[0] == Finding{"Task", "look for leaks", "Leak in pool.cpp:88.\nNo other."});
    const std::string text = shown_work(state, {.file_list_tokens = 0});
    CHECK(
        text ==
        "Reports of those who were sent off, word for word:\n- Task: look for leaks\nLeak in pool.cpp:88.\nNo other.");
}

TEST_CASE("reports of calls with one id are as many as the calls", "[work_state]") {
    Conversation<> c("ids");
    for (int i = 0; i < 3; ++i) {
        c.push_back(ChatMessage::assistant("").call("call_0", "task", R"({"description":"round"})"));
        c.push_back(ChatMessage::result("call_0", "task", "report " + std::to_string(i)));
    }
    const std::vector<std::size_t> all{0, 1, 2, 3, 4, 5};
    const WorkState state =
        whittle::detail::collect_work(whittle::detail::part_visitor<ChatMessage>(c.messages()), c.outline(), all, {});
    REQUIRE(state.findings.size() == 3);
    CHECK(state.findings[2].text == "report 2");
}

TEST_CASE("what is shown keeps to its limits and says what it leaves out", "[work_state]") {
    Working work;
    std::string todos;
    for (int i = 0; i < 200; ++i)
        todos += (i > 0 ? "," : "") + ("{\"content\":\"step " + std::to_string(i) + "\",\"status\":\"pending\"}");
    work.call("todo_write", "{\"todos\":[" + todos + "]}");
    for (int i = 0; i < 300; ++i) work.call("read_file", "{\"path\":\"src/file_" + std::to_string(i) + ".cpp\"}");
    for (int i = 0; i < 9; ++i) work.call("task", "{}", std::string(20'000, 'r') + std::to_string(i));
    const WorkState state = work.state();
    for (const std::int64_t room : {0, 10, 60, 300, 1'000, 5'000}) {
        INFO(room);
        const std::string text = shown_work(state, {}, room);
        CHECK(chars_counter()->count(text) <= room);
    }
    const std::string text = shown_work(state);
    CHECK(text.find("earlier left out)\n- [pending] step ") != std::string::npos);
    CHECK(text.find("step 199") != std::string::npos);
    CHECK(text.find("file_299.cpp") != std::string::npos);
    CHECK(text.find("[... the rest is left out]") != std::string::npos);
}

TEST_CASE("the state outlives notes, and what cannot be read is none", "[work_state]") {
    Working work;
    work.call("todo_write", R"({"todos":[{"content":"\"quoted\" and 漢字","status":"pending"}]})")
        .call("read_file", R"({"path":"src/a.cpp","offset":1,"limit":9})")
        .call("task", R"({"title":"t"})", "found </summary> it");
    const WorkState state = work.state();
    CHECK(work_from_note(to_note(state)) == state);
    CHECK(to_note(WorkState{}).empty());
    for (const char* bad : {"", "[]", "{}", "[1,2,3,4]", "[[],0,[[1,2]],[[\"a\"]]]", "not json"})
        CHECK(work_from_note(bad).empty());
    CHECK(shown_work(state).find("</summary>") == std::string::npos);
}

TEST_CASE("a thousand files and calls keep a bounded state", "[work_state]") {
    Working work;
    for (int i = 0; i < 2'000; ++i)
        work.call("read_file",
                  "{\"path\":\"src/f" + std::to_string(i) + ".cpp\",\"offset\":" + std::to_string(i) + "}");
    for (int i = 0; i < 50; ++i) work.call("task", "{}", "report " + std::to_string(i));
    const WorkState state = work.state();
    CHECK(state.files.size() == 500);
    CHECK(state.files.back().path == "src/f1999.cpp");
    CHECK(state.findings.size() == 20);
    CHECK(state.findings.back().text == "report 49");
}
