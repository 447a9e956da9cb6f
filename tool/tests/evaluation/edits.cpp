// Could the agent still copy the text that it replaces next?
#include "histories.hpp"
#include "support/catch.hpp"

#include <string>

using namespace whittle;
using namespace whittle::evaluation;
using namespace whittle::testing;

namespace {

const std::string old_text = "    int sum_of_all_items = 0;\n    for (int i : items)";
const std::string old_json = R"(    int sum_of_all_items = 0;\n    for (int i : items))";
const std::string numbered = "  1→{\n  2→    int sum_of_all_items = 0;  \n  3→    for (int i : items)\n  4→}";

/// A read that shows the old text, `between` other rounds, then the edit.
Session edited_after(int between, const std::string& shown = numbered) {
    History history;
    history.user("fix the sum").round("read", R"({"path":"sum.cpp"})", shown);
    for (int i = 0; i < between; ++i) history.round("wait", "{}", "nothing " + std::to_string(i));
    history.round("edit", R"({"old_string":")" + old_json + R"(","new_string":"none"})", "ok").say("done");
    return history.session();
}

EditCount all_edits(const Figures& figures) {
    EditCount sum;
    for (const EditCount& count : figures.edits) sum += count;
    return sum;
}

}  // namespace

TEST_CASE("an edit is possible while its old text stands in one piece, with line numbers or without", "[evaluation]") {
    for (const std::string& shown : {numbered, "{\n" + old_text + "\n}"}) {
        const EditCount count = all_edits(run_control(edited_after(1, shown), "noop"));
        CHECK(count.needed == 1);
        CHECK(count.possible == 1);
    }
}

TEST_CASE("single lines of the old text are not enough", "[evaluation]") {
    const std::string lines = "    int sum_of_all_items = 0;\n[..57]\n    for (int i : items)";
    const EditCount count = all_edits(run_replacing(edited_after(1), 2, {{2, lines}}));
    CHECK(count.needed == 1);
    CHECK(count.possible == 0);
    CHECK(count.cut_on_arrival == 0);
}

TEST_CASE("what no request has had whole was cut on arrival", "[evaluation]") {
    const EditCount count = all_edits(run_replacing(edited_after(1), 1, {{2, "gone"}}));
    CHECK(count.needed == 1);
    CHECK(count.cut_on_arrival == 1);
}

TEST_CASE("an old text that never stood in one piece is no edit to ask for", "[evaluation]") {
    CHECK(all_edits(run_control(edited_after(1, "    int sum_of_all_items = 0;"), "noop")).needed == 0);
}

TEST_CASE("an edit is as old as the calls since its old text was last shown", "[evaluation]") {
    for (const auto& [between, age] : {std::pair{0, 0U}, {5, 0U}, {6, 1U}, {10, 1U}, {11, 2U}, {30, 2U}, {31, 3U}}) {
        CAPTURE(between);
        CHECK(run_control(edited_after(between), "noop").edits[age].needed == 1);
    }
}

TEST_CASE("the hunks of a patch are edits, and what the agent wrote itself can be copied", "[evaluation]") {
    const std::string patch =
        R"(*** Begin Patch\n*** Update File: a.cpp\n@@\n int kept_from_before = 1;\n-int removed_by_this = 2;\n+int put_in = 3;\n*** End Patch)";
    const Session session =
        History()
            .user("go")
            .round("write", R"({"content":"int kept_from_before = 1;\nint removed_by_this = 2;\n"})", "ok")
            .round("apply_patch", R"({"input":")" + patch + R"("})", "ok")
            .say("done")
            .session();
    const EditCount count = all_edits(run_control(session, "noop"));
    CHECK(count.needed == 1);
    CHECK(count.possible == 1);
}
