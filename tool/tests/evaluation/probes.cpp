#include "histories.hpp"
#include "support/catch.hpp"

#include <string>

using namespace whittle;
using namespace whittle::evaluation;
using namespace whittle::testing;

namespace {

constexpr const char* path = "src/parser/lexer.cpp";

/// A listing that shows a path, `between` other rounds, then a call that needs it.
History path_needed_after(int between) {
    History history;
    history.user("fix the bug").round("list", "{}", "a.h\nsrc/parser/lexer.cpp\nb.h " + tokens_of_text(500));
    for (int i = 0; i < between; ++i) history.round("wait", "{}", "nothing " + std::to_string(i));
    return history.round("read", R"({"path":"src/parser/lexer.cpp"})", "int main() {}").say("done");
}

ProbeCount at_age(const Figures& figures, ProbeKind kind, Age age) {
    return figures.probes[static_cast<std::size_t>(kind)][static_cast<std::size_t>(age)];
}

}  // namespace

TEST_CASE("a path in a call that a tool had shown is a probe", "[evaluation]") {
    const Session session = path_needed_after(1).session();
    const ProbeCount whole = all_ages(run_control(session, "noop"), ProbeKind::action_id);
    CHECK(whole.needed == 1);
    CHECK(whole.visible == 1);
    const ProbeCount cut = all_ages(run_replacing(session, 2, {{2, "gone"}}), ProbeKind::action_id);
    CHECK(cut.needed == 1);
    CHECK(cut.visible == 0);
    CHECK(cut.lost == 1);
}

TEST_CASE("a probe is as old as the calls since its text last stood anywhere", "[evaluation]") {
    for (const auto& [between, age] :
         {std::pair{8, Age::recent}, {9, Age::recent}, {10, Age::middle}, {49, Age::middle}, {50, Age::old}}) {
        CAPTURE(between);
        const Figures figures = run_control(path_needed_after(between).session(), "noop");
        CHECK(at_age(figures, ProbeKind::action_id, age).needed == 1);
        CHECK(all_ages(figures, ProbeKind::action_id).needed == 1);
    }
}

TEST_CASE("what an edited message still says is visible", "[evaluation]") {
    const Session session = path_needed_after(1).session();
    const Figures figures = run_replacing(session, 2, {{2, std::string("only ") + path}});
    CHECK(all_ages(figures, ProbeKind::action_id).visible == 1);
}

TEST_CASE("what only the agent itself had written is no probe", "[evaluation]") {
    const Session session = History()
                                .user("go")
                                .say("I shall read src/own/idea.cpp")
                                .user("yes")
                                .round("read", R"({"path":"src/own/idea.cpp"})", "")
                                .say("")
                                .session();
    CHECK(all_ages(run_control(session, "noop"), ProbeKind::action_id).needed == 0);
}

TEST_CASE("what the system text or the tools say is no probe", "[evaluation]") {
    History history = path_needed_after(1);
    history.system("Begin with src/parser/lexer.cpp.");
    CHECK(all_ages(run_control(history.session(), "noop"), ProbeKind::action_id).needed == 0);
    SessionInput input = path_needed_after(1).input();
    input.tools = R"([{"name":"read","description":"as in src/parser/lexer.cpp"}])";
    CHECK(all_ages(run_control(Session(input), "noop"), ProbeKind::action_id).needed == 0);
}

TEST_CASE("identifiers that most sessions have are no probes", "[evaluation]") {
    const SessionInput input = path_needed_after(1).input();
    CommonIdentifiers three;
    for (int i = 0; i < 3; ++i) three.add(input);
    CHECK(all_ages(run_control(Session(input, &three), "noop"), ProbeKind::action_id).needed == 1);
    CommonIdentifiers four;
    for (int i = 0; i < 4; ++i) four.add(input);
    CHECK(all_ages(run_control(Session(input, &four), "noop"), ProbeKind::action_id).needed == 0);
    CHECK(four.contains(path));
    CHECK_FALSE(four.contains("src/parser/other.cpp"));
}

TEST_CASE("paths, joined words, camel case, numbers and links are identifiers, plain words are not", "[evaluation]") {
    const std::string reported =
        "https://example.org/a/b?c=1 src/a/b_c.h user_id_of-x parseHeaderLine HttpServerPool 1a2b3c4d5e 1234567890 "
        "ordinary words together";
    for (const char* word : {"https://example.org/a/b?c=1", "src/a/b_c.h", "user_id_of-x", "parseHeaderLine",
                             "HttpServerPool", "1a2b3c4d5e", "1234567890"}) {
        CAPTURE(word);
        const Session session = History()
                                    .user(reported)
                                    .round("find", R"({"query":"about )" + std::string(word) + R"( now"})", "")
                                    .say("")
                                    .session();
        CHECK(all_ages(run_control(session, "noop"), ProbeKind::action_id).needed == 1);
    }
    const Session plain =
        History().user(reported).round("find", R"({"query":"ordinary words together"})", "").say("").session();
    CHECK(all_ages(run_control(plain, "noop"), ProbeKind::action_id).needed == 0);
}

TEST_CASE("what a call writes needs nothing to be known", "[evaluation]") {
    const Session session = History()
                                .user("use src/parser/lexer.cpp")
                                .round("write", R"({"content":"see src/parser/lexer.cpp"})", "ok")
                                .say("")
                                .session();
    CHECK(all_ages(run_control(session, "noop"), ProbeKind::action_id).needed == 0);
}

TEST_CASE("lines that an edit replaces are probes, escaped ones too", "[evaluation]") {
    const std::string line = R"(    printf("%d items\n", count_of_items);)";
    const Session session =
        History()
            .user("go")
            .round("read", "{}", "int x;\n" + line + "\nint y;")
            .round("edit", R"({"old_string":"    printf(\"%d items\\n\", count_of_items);","new_string":"x"})", "ok")
            .say("")
            .session();
    CHECK(all_ages(run_control(session, "noop"), ProbeKind::action_line).visible == 1);
    CHECK(all_ages(run_replacing(session, 1, {{2, "gone"}}), ProbeKind::action_line).lost == 1);
    const std::string escaped = R"({"text":"printf(\"%d items\\n\", count_of_items);"})";
    CHECK(all_ages(run_replacing(session, 1, {{2, escaped}}), ProbeKind::action_line).visible == 1);
}

TEST_CASE("lines that a patch takes out are probes", "[evaluation]") {
    const Session session =
        History()
            .user("go")
            .round("read", "{}", "return the_old_value_of_it;\nreturn some_other_thing;")
            .round(
                "apply_patch",
                R"({"input":"*** Begin Patch\n*** Update File: src/a/values.cpp\n-return the_old_value_of_it;\n+return 1;\n"})",
                "ok")
            .say("")
            .session();
    const Figures figures = run_control(session, "noop");
    CHECK(all_ages(figures, ProbeKind::action_line).needed == 1);
    CHECK(all_ages(figures, ProbeKind::artifact).needed == 1);
}

TEST_CASE("short values are probes for agents that serve customers only", "[evaluation]") {
    const auto with = [](AgentKind kind) {
        return History(kind)
            .user("I am Ada, zip 94110")
            .round("find_user", R"({"zip":"94110","age":4711})", "{}")
            .say("")
            .session();
    };
    CHECK(all_ages(run_control(with(AgentKind::service), "noop"), ProbeKind::service_value).needed == 1);
    CHECK(all_ages(run_control(with(AgentKind::coding), "noop"), ProbeKind::service_value).needed == 0);
}

TEST_CASE("every user message is asked for at every later call, word for word", "[evaluation]") {
    const Session session =
        History().user("never touch the tests").round("t", "{}", "a").round("t", "{}", "b").say("").session();
    CHECK(all_ages(run_control(session, "noop"), ProbeKind::constraint).visible == 3);
    const Figures moved = run_replacing(session, 1, {{0, "Said: never touch the tests."}});
    CHECK(all_ages(moved, ProbeKind::constraint).visible == 3);
    const Figures reworded = run_replacing(session, 1, {{0, "leave the tests alone"}});
    CHECK(all_ages(reworded, ProbeKind::constraint).visible == 1);
    CHECK(all_ages(reworded, ProbeKind::constraint).lost == 2);
    CHECK(reworded.faults.newest_user_changed == 2);
}

TEST_CASE("a path that was written is asked for when something was edited and at the end", "[evaluation]") {
    const Session session = History()
                                .user("go")
                                .round("write_file", R"({"path":"src/new/file.cpp","content":"x"})", "ok")
                                .round("t", "{}", "a")
                                .round("t", "{}", "b")
                                .round("t", "{}", "c")
                                .say("")
                                .session();
    CHECK(all_ages(run_control(session, "noop"), ProbeKind::artifact).needed == 1);
    CHECK(all_ages(run_replacing(session, 3, {{4, "d"}}), ProbeKind::artifact).needed == 2);
}

TEST_CASE("the error line of a failed result is asked for for ten calls", "[evaluation]") {
    History history;
    history.user("go").round("test", "{}", "running\nassertion of x failed at line 7\nExit status\nexited with code 2");
    for (int i = 0; i < 20; ++i) history.round("t", "{}", "fine " + std::to_string(i));
    const Session session = history.say("").session();
    CHECK(all_ages(run_control(session, "noop"), ProbeKind::error).visible == 10);
    const Figures short_line = run_replacing(session, 3, {{2, "assertion of x failed at line 7"}});
    CHECK(all_ages(short_line, ProbeKind::error).visible == 10);
    const Figures cut = run_replacing(session, 3, {{2, "it failed"}});
    CHECK(all_ages(cut, ProbeKind::error).visible == 2);
    CHECK(all_ages(cut, ProbeKind::error).lost == 8);
}

TEST_CASE("results that did not fail have no error line", "[evaluation]") {
    const Session session = History()
                                .user("go")
                                .round("read", "{}", "handle_error(); // no error is lost here")
                                .round("t", "{}", "")
                                .say("")
                                .session();
    CHECK(all_ages(run_control(session, "noop"), ProbeKind::error).needed == 0);
}

TEST_CASE("what a named object holds is recoverable", "[evaluation]") {
    const Session session = path_needed_after(1).session();
    const auto storage = memory_storage();
    storage->put_if_absent("conv/0001.txt", session.messages()[2].content);
    const RunOptions options{.storage = storage};
    const Figures named = run_replacing(session, 2, {{2, "[full text: conv/0001.txt]"}}, options);
    CHECK(all_ages(named, ProbeKind::action_id).recoverable == 1);
    CHECK(named.faults.messages_not_restorable == 0);
    const Figures below_a_root = run_replacing(session, 2, {{2, "see /var/store/conv/0001.txt."}}, options);
    CHECK(all_ages(below_a_root, ProbeKind::action_id).recoverable == 1);
    const Figures dangling = run_replacing(session, 2, {{2, "[full text: conv/0002.txt]"}}, options);
    CHECK(all_ages(dangling, ProbeKind::action_id).lost == 1);
    CHECK(dangling.faults.messages_not_restorable == 1);
    const Figures without = run_replacing(session, 2, {{2, "[full text: conv/0001.txt]"}});
    CHECK(all_ages(without, ProbeKind::action_id).lost == 1);
}

TEST_CASE("of the newest results the share that is shown is counted", "[evaluation]") {
    const Session session =
        History().user("go").round("t", "{}", std::string(600, 'a') + std::string(400, 'b')).say("").session();
    CHECK(run_control(session, "noop").arrived_shown == 1'000);
    const Figures cut = run_replacing(session, 0, {{2, std::string(100, 'a') + " ... " + std::string(200, 'b')}});
    CHECK(cut.arrived == 1'000);
    CHECK(cut.arrived_shown == 300);
    CHECK(cut.faults.newest_result_dropped == 0);
    CHECK(run_replacing(session, 0, {{2, "gone"}}).faults.newest_result_dropped == 1);
}
