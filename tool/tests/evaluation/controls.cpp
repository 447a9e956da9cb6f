#include "histories.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::evaluation;
using namespace whittle::testing;

namespace {

/// For each call, the messages as letters: "." as recorded, "x" changed; what is left out is not there.
std::vector<std::string> shapes_of(const Session& session, std::string_view control) {
    std::vector<std::string> shapes;
    std::string shape;
    find_control(control)->requests(session, [&](std::size_t, const Request& request) {
        shape.resize(request.keep);
        for (const SentMessage& sent : request.rest) shape += sent.message ? 'x' : '.';
        shapes.push_back(shape);
    });
    return shapes;
}

Session rounds(int number, std::size_t characters) {
    History history;
    history.user("go");
    for (int i = 0; i < number; ++i) history.round("t", "{}", std::string(characters, static_cast<char>('a' + i % 26)));
    return history.say("done").session();
}

}  // namespace

TEST_CASE("a mask leaves the newest rounds, and small results", "[evaluation]") {
    CHECK(shapes_of(rounds(3, 300), "mask2") == std::vector<std::string>{".", "...", "..x..", "..x.x.."});
    CHECK(shapes_of(rounds(3, 200), "mask2").back() == ".......");
    const auto sliding = shapes_of(rounds(12, 300), "mask10");
    CHECK(sliding[9].find('x') == std::string::npos);
    CHECK(sliding[10] == "..x" + std::string(18, '.'));
    CHECK(sliding[12] == "..x.x.x" + std::string(18, '.'));
}

TEST_CASE("a mask that moves in steps stays where it is between them", "[evaluation]") {
    const auto shapes = shapes_of(rounds(30, 300), "mask10_step10");
    CHECK(shapes[18].find('x') == std::string::npos);
    CHECK(shapes[19].find_last_of('x') == 20);
    CHECK(shapes[28].find_last_of('x') == 20);
    CHECK(shapes[29].find_last_of('x') == 40);
}

TEST_CASE("clearing starts above its trigger and keeps the newest results", "[evaluation]") {
    const auto shapes = shapes_of(rounds(8, 20'000), "clear30k_keep3");
    CHECK(shapes[5].find('x') == std::string::npos);
    CHECK(shapes[6] == "..x.x.x......");
}

TEST_CASE("long results are cut to their ends at once or later", "[evaluation]") {
    CHECK(shapes_of(rounds(3, 1'801), "headtail_arrival").back() == "..x.x.x");
    CHECK(shapes_of(rounds(3, 1'801), "headtail_later").back() == "..x....");
    CHECK(shapes_of(rounds(3, 1'800), "headtail_arrival").back() == ".......");
}

TEST_CASE("a window keeps the newest calls and every word of the user", "[evaluation]") {
    const auto shapes = shapes_of(rounds(25, 10), "window20");
    CHECK(shapes[19].size() == 39);
    CHECK(shapes[20].size() == 1 + 38);
    CHECK(shapes[25].size() == 1 + 38);
}

TEST_CASE("every control has a name of its own, and sends each call once, valid and without the future",
          "[evaluation]") {
    const Session session = rounds(30, 9'000);
    for (const Control& control : controls()) {
        CAPTURE(control.name);
        CHECK(find_control(control.name) == &control);
        const Figures figures = run_control(session, control.name);
        CHECK(figures.calls == 31);
        CHECK(figures.sent <= figures.raw);
        CHECK(figures.faults.larger_than_raw == 0);
        CHECK(figures.faults.newest_user_changed == 0);
    }
    CHECK(find_control("nothing") == nullptr);
}

TEST_CASE("sessions of many thousand messages, many of them equal, take time in proportion", "[evaluation]") {
    History history;
    history.user("go");
    const std::string same = "src/parser/lexer.cpp is as it was " + std::string(300, 'x');
    for (int i = 0; i < 8'000; ++i)
        history.round("read", R"({"path":"src/parser/lexer.cpp","n":")" + std::to_string(i % 7) + "\"}", same);
    const Session session = history.say("").session();
    const Figures everything = run_control(session, "noop");
    CHECK(everything.calls == 8'001);
    CHECK(all_ages(everything, ProbeKind::action_id).visible == 7'999);
    CHECK(run_control(session, "mask10").resets > 7'000);
    CHECK(run_control(session, "clear30k_keep3").sent < everything.sent / 3);
}

TEST_CASE("many folded messages of a user are looked up in the store once", "[evaluation]") {
    History history;
    std::string all;
    constexpr std::size_t number = 1'500;
    for (std::size_t i = 0; i < number; ++i) {
        const std::string words = "wish number " + std::to_string(i) + " of many, in some more words than needed";
        all += words + "\n";
        history.user(words).say("yes");
    }
    const Session session = history.session();
    const auto storage = memory_storage();
    storage->put_if_absent("talk/folded.txt", all);
    Run run(session, {.storage = storage});
    const auto summary = std::make_shared<const Message>(Message{.content = "Earlier words: talk/folded.txt"});
    for (std::size_t call = 0; call < number; ++call)
        run.send(call, {.rest = {{SentMessage::unknown, summary}, {2 * call, nullptr}}});
    const Figures figures = run.finish();
    CHECK(all_ages(figures, ProbeKind::constraint).visible == static_cast<std::int64_t>(number));
    CHECK(all_ages(figures, ProbeKind::constraint).lost == 0);
    CHECK(figures.refetches_by_rerun == 0);
}

TEST_CASE("long runs of one kind of character are searched for identifiers in linear time", "[evaluation]") {
    SessionInput input = History().input();
    for (const std::string& unit :
         {std::string("a"), std::string("A"), std::string("a/"), std::string("ab/"), std::string("_"), std::string("0"),
          std::string("f"), std::string("aB"), std::string("a."), std::string("語"), std::string("http://")}) {
        std::string text;
        while (text.size() < 300'000) text += unit;
        input.messages.push_back({.role = Role::user, .content = text});
    }
    input.messages.push_back({.role = Role::assistant, .content = "done"});
    CommonIdentifiers common;
    common.add(input);
    CHECK_FALSE(common.contains("anything_else"));
    CHECK(run_control(Session(std::move(input)), "noop").calls == 1);
}
