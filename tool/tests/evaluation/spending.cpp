#include "evaluation/spending.hpp"
#include "histories.hpp"
#include "support/catch.hpp"

#include <array>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::evaluation;
using whittle::testing::History;
using whittle::testing::tokens_of_text;

namespace {

/// user 10; reply with a call; result 100; reply; user 5; reply with a call; result 200; reply
Session two_rounds() {
    return History()
        .user(tokens_of_text(10, 'u'))
        .round("read", "{}", tokens_of_text(100, 'r'))
        .say("ok")
        .user(tokens_of_text(5, 'u'))
        .round("grep", "{}", tokens_of_text(200, 'g'))
        .say("ok")
        .session();
}

std::vector<std::vector<std::string>> shown_requests(const Session& session, const std::vector<RecordedCut>& cuts) {
    std::vector<std::vector<std::string>> shown;
    requests_as_recorded(session, cuts, [&](std::size_t, const Request& request) {
        std::vector<std::string> texts = shown.empty() ? std::vector<std::string>() : shown.back();
        texts.resize(request.keep);
        for (const SentMessage& sent : request.rest) {
            const Message& message = sent.message ? *sent.message : session.messages()[sent.recorded];
            texts.push_back(message.content);
        }
        shown.push_back(texts);
    });
    return shown;
}

}  // namespace

TEST_CASE("a message is paid for in every request that it stands in", "[evaluation]") {
    const Session session = two_rounds();
    REQUIRE(session.calls().size() == 4);
    const Spending spending = spending_of(session, {});
    CHECK(spending.users.messages == 2);
    CHECK(spending.users.tokens == 15);
    CHECK(spending.users.sent == 10 * 4 + 5 * 2);
    CHECK(spending.tools.at("read").sent == 100 * 3);
    CHECK(spending.tools.at("grep").sent == 200 * 1);
    CHECK(spending.all.sent == spending.users.sent + spending.replies.sent + 300 + 200);
    CHECK(spending.sent_by_age[0] + spending.sent_by_age[1] == spending.all.sent);
    CHECK(spending.kept.messages == 0);
}

TEST_CASE("calls that do not count carry nothing, and what stood there is as old as it is", "[evaluation]") {
    const Session session = two_rounds();
    const std::array<std::size_t, 2> uncounted{0, 1};
    const Spending spending = spending_of(session, {}, uncounted);
    CHECK(spending.users.messages == 2);
    CHECK(spending.users.sent == 10 * 2 + 5 * 2);
    CHECK(spending.tools.at("read").sent == 100 * 2);
    CHECK(spending.tools.at("grep").sent == 200 * 1);
    CHECK(spending.sent_by_age[0] > 5 + 200);  // and two replies of a word
    CHECK(spending.sent_by_age[0] < 5 + 200 + 10);
    CHECK(spending.sent_by_age[0] + spending.sent_by_age[1] == spending.all.sent);
}

TEST_CASE("what a compaction took out is paid for up to there, and what it put in from there on", "[evaluation]") {
    const Session session = two_rounds();
    const std::vector<RecordedCut> cuts{{4, {{.role = Role::user, .content = tokens_of_text(7, 's')}}}};
    const Spending spending = spending_of(session, cuts);
    CHECK(spending.tools.at("read").sent == 100 * 1);
    CHECK(spending.kept.sent == 7 * 2);
    CHECK(spending.tools.at("grep").sent == 200);
    const auto shown = shown_requests(session, cuts);
    REQUIRE(shown.size() == 4);
    CHECK(shown[1].size() == 3);
    CHECK(shown[2] == std::vector<std::string>{tokens_of_text(7, 's'), tokens_of_text(5, 'u')});
    CHECK(shown[3].size() == 4);
    CHECK(shown[3].back() == tokens_of_text(200, 'g'));
}

TEST_CASE("requests as recorded are judged like any strategy's", "[evaluation]") {
    const Session session = two_rounds();
    const std::vector<RecordedCut> cuts{{4, {{.role = Role::user, .content = "summary"}}}};
    Run run(session);
    requests_as_recorded(session, cuts, [&](std::size_t call, const Request& request) { run.send(call, request); });
    const Figures figures = run.finish();
    CHECK(figures.calls == 4);
    CHECK(figures.resets == 1);
    CHECK(figures.sent < figures.raw);
    const ProbeCount& users = figures.probes[static_cast<std::size_t>(ProbeKind::constraint)][0];
    CHECK(users.lost == 2);  // the first words of the user, in both calls behind the summary
}

TEST_CASE("results that had stood there and results that no reply refers to are told apart", "[evaluation]") {
    const std::string used = "src/cart/total.py " + tokens_of_text(100, 'a');
    const std::string unused = "src/cart/other.py " + tokens_of_text(100, 'b');
    const Session session = History()
                                .user("go")
                                .round("list", "{}", used)
                                .round("list", "{}", unused)
                                .round("list", "{}", used)
                                .say("see src/cart/total.py")
                                .session();
    const Spending spending = spending_of(session, {});
    CHECK(spending.repeated.messages == 1);
    CHECK(spending.unused.messages == 1);
    CHECK(spending.tools.at("list").messages == 3);
    CHECK(spending.unused.tokens == (static_cast<std::int64_t>(unused.size()) + 3) / 4);
}

TEST_CASE("ages split what was sent by calls since a message came", "[evaluation]") {
    History history;
    history.user(tokens_of_text(100, 'u'));
    for (int i = 0; i < 60; ++i) history.say("");
    const Spending spending = spending_of(history.session(), {});
    CHECK(spending.users.sent == 100 * 60);
    CHECK(spending.sent_by_age == std::array<std::int64_t, spending_ages>{100, 1'000, 4'000, 900});
}

TEST_CASE("spending of several sessions adds up", "[evaluation]") {
    const Spending one = spending_of(two_rounds(), {});
    Spending both = one;
    both += one;
    CHECK(both.all.sent == 2 * one.all.sent);
    CHECK(both.tools.at("read").messages == 2);
    CHECK(both.sent_by_age[1] == 2 * one.sent_by_age[1]);
}
