#include "histories.hpp"
#include "support/catch.hpp"
#include "whittle/base/error.hpp"

#include <cmath>

using namespace whittle;
using namespace whittle::evaluation;
using namespace whittle::testing;

namespace {

bool is_near(double a, double b) { return std::abs(a - b) < 1e-9 * std::max(1.0, std::abs(b)); }

/// Requests of 2,000, then 3,001, then 4,002 tokens; replies of 1 token (the name of the tool and its arguments)
/// and 10.
History three_calls() {
    return History()
        .at(0)
        .user(tokens_of_text(2'000))
        .round("t", "", tokens_of_text(1'000, 'a'))
        .round("t", "", tokens_of_text(1'000, 'b'))
        .say(tokens_of_text(10, 'z'));
}

}  // namespace

TEST_CASE("what a request has in common with the one before is read, the rest written", "[evaluation]") {
    const Session session = three_calls().session();
    const Figures figures = run_control(session, "noop", only("anthropic_5m"));
    CHECK(figures.calls == 3);
    CHECK(figures.raw == 2'000 + 3'001 + 4'002);
    CHECK(figures.sent == figures.raw);
    CHECK(figures.peak_sent == 4'002);
    const double replies = 5.0 * (1 + 1 + 10);
    const double input = 1.25 * 2'000 + (0.1 * 2'000 + 1.25 * 1'001) + (0.1 * 3'001 + 1.25 * 1'001);
    CHECK(is_near(figures.money[0].raw, input + replies));
    CHECK(is_near(figures.money[0].sent, input + replies));
    CHECK(is_near(figures.money[0].with_refetches, input + replies));
    CHECK(figures.money[0].cached_sent == 2'000 + 3'001);
    CHECK(figures.resets == 0);
}

TEST_CASE("calls that do not count fill the cache, and are in no figure", "[evaluation]") {
    const Session session = three_calls().session();
    RunOptions options = only("anthropic_5m");
    options.uncounted = {0};
    const Figures figures = run_control(session, "noop", options);
    CHECK(figures.calls == 2);
    CHECK(figures.sent == 3'001 + 4'002);
    CHECK(figures.raw == figures.sent);
    const double input = (0.1 * 2'000 + 1.25 * 1'001) + (0.1 * 3'001 + 1.25 * 1'001);
    CHECK(is_near(figures.money[0].sent, input + 5.0 * (1 + 10)));
    CHECK(figures.money[0].cached_sent == 2'000 + 3'001);
    options.uncounted = {0, 1, 2};
    CHECK(run_control(session, "noop", options).calls == 0);
}

TEST_CASE("a cache that is not used for its lifetime is gone", "[evaluation]") {
    const Session session = History()
                                .at(0)
                                .user(tokens_of_text(2'000))
                                .at(10)
                                .say(tokens_of_text(1))
                                .user("")
                                .at(311)
                                .say(tokens_of_text(1))
                                .user("")
                                .at(600)
                                .say(tokens_of_text(1))
                                .session();
    CHECK(run_control(session, "noop", only("anthropic_5m")).money[0].cached_sent == 2'001);
    CHECK(run_control(session, "noop", only("openai_2026")).money[0].cached_sent == 2'000 + 2'001);
}

TEST_CASE("a call without a time comes twenty seconds after the last one", "[evaluation]") {
    History history;
    history.user(tokens_of_text(2'000));
    for (int i = 0; i < 3; ++i) history.say("yes").user("go");
    const Figures figures = run_control(history.session(), "noop", only("anthropic_5m"));
    CHECK(figures.money[0].cached_sent == 2'000 + 2'002);
}

TEST_CASE("below the minimum nothing is cached and nothing is paid for writing", "[evaluation]") {
    const Session session =
        History().user(tokens_of_text(500)).say(tokens_of_text(1)).user(tokens_of_text(2)).say("").session();
    const Figures figures = run_control(session, "noop", only("anthropic_5m"));
    CHECK(figures.money[0].cached_sent == 0);
    CHECK(is_near(figures.money[0].sent, 500 + 5 + 503));
}

TEST_CASE("a provider that caches in steps reads whole steps", "[evaluation]") {
    const Figures figures = run_control(three_calls().session(), "noop", only("openai"));
    CHECK(figures.money[0].cached_sent == 2'000 / 128 * 128 + 3'001 / 128 * 128);
}

TEST_CASE("the head that an edited message keeps is still read", "[evaluation]") {
    const Session session = three_calls().session();
    const Figures figures = run_replacing(session, 2, {{2, tokens_of_text(400, 'a') + "cut"}}, only("anthropic_5m"));
    CHECK(figures.money[0].cached_sent == 2'000 + (2'001 + 400));
    CHECK(figures.invalidated == 600);
    CHECK(figures.resets == 1);
    CHECK(figures.deep_resets == 0);
    CHECK(figures.commits == 1);
}

TEST_CASE("only what ended an earlier request, or the system text, is read strictly", "[evaluation]") {
    History history = three_calls();
    history.system(tokens_of_text(3'000, 's'));
    const Figures kept = run_control(history.session(), "noop", only("anthropic_5m"));
    CHECK(kept.money[0].cached_sent_strict == kept.money[0].cached_sent);
    const Figures edited = run_replacing(history.session(), 2, {{2, "gone"}}, only("anthropic_5m"));
    CHECK(edited.money[0].cached_sent == 5'000 + 5'001);
    CHECK(edited.money[0].cached_sent_strict == 5'000 + 5'000);
    const Figures at_start = run_replacing(history.session(), 2, {{0, "gone"}}, only("anthropic_5m"));
    CHECK(at_start.money[0].cached_sent_strict == 5'000 + 3'000);
    CHECK(run_replacing(history.session(), 2, {{2, "gone"}}, only("openai")).money[0].cached_sent_strict ==
          5'000 / 128 * 128 + 5'001 / 128 * 128);
}

TEST_CASE("a request that goes back to an older one reads what that one wrote", "[evaluation]") {
    const Session session = History()
                                .at(0)
                                .user(tokens_of_text(2'000))
                                .say("")
                                .user(tokens_of_text(1'000, 'a'))
                                .say("")
                                .user(tokens_of_text(10, 'b'))
                                .say("")
                                .session();
    Run run(session, only("anthropic_5m"));
    run.send(0, {.rest = {{0, nullptr}}});
    run.send(1, {.rest = {{2, nullptr}}});
    run.send(2, {.rest = {{0, nullptr}, {4, nullptr}}});
    CHECK(run.finish().money[0].cached_sent == 2'000);
}

TEST_CASE("an edit that invalidates most of a request is a deep reset", "[evaluation]") {
    const Figures figures = run_replacing(three_calls().session(), 2, {{0, "gone"}});
    CHECK(figures.resets == 1);
    CHECK(figures.deep_resets == 1);
    CHECK(figures.invalidated == 3'001);
}

TEST_CASE("a session that is sent whole grows like a square, one of constant requests like a line", "[evaluation]") {
    History history;
    history.user("go");
    for (int i = 0; i < 400; ++i) history.say(tokens_of_text(100)).user(tokens_of_text(100));
    history.say(tokens_of_text(100));
    const Session session = history.session();
    CHECK(run_control(session, "noop", only("no_cache")).money[0].exponent_sent.value() > 1.8);
    Run run(session, only("no_cache"));
    for (std::size_t call = 0; call < session.calls().size(); ++call) run.send(call, {.rest = {{0, nullptr}}});
    const Figures figures = run.finish();
    CHECK(is_near(figures.money[0].exponent_sent.value(), 1.0));
    CHECK(figures.money[0].exponent_raw.value() > 1.8);
}

TEST_CASE("a summarizer's call is paid, and reads the cache if it starts with the conversation", "[evaluation]") {
    const Session session = three_calls().session();
    const auto money_with = [&](bool shares_prefix) {
        Run run(session, only("anthropic_5m"));
        run.send(0, {.rest = {{0, nullptr}}});
        Request request{.rest = {{0, nullptr}, {1, nullptr}, {2, nullptr}}};
        request.side_calls.push_back(
            {{session.messages()[0], {.role = Role::user, .content = tokens_of_text(100, 'q')}},
             tokens_of_text(20),
             shares_prefix});
        run.send(1, request);
        const Figures figures = run.finish();
        CHECK(figures.side_calls == 1);
        CHECK(figures.side_tokens == 2'120);
        return figures.money[0].sent - figures.money[0].raw;
    };
    CHECK(is_near(money_with(true), 0.1 * 2'000 + 1.25 * 100 + 5.0 * 20));
    CHECK(is_near(money_with(false), 1.25 * 2'100 + 5.0 * 20));
}

TEST_CASE("calls come in order, and only recorded messages are named", "[evaluation]") {
    const Session session = three_calls().session();
    Run run(session);
    run.send(1, {.rest = {{0, nullptr}}});
    CHECK_THROWS_AS(run.send(1, {}), Error);
    CHECK_THROWS_AS(run.send(7, {}), Error);
    CHECK_THROWS_AS(run.send(2, {.rest = {{99, nullptr}}}), Error);
}

TEST_CASE("a message of the future stands for nothing that is recorded", "[evaluation]") {
    const Session session = three_calls().session();
    Run run(session, only("no_cache"));
    run.send(0, {.rest = {{0, nullptr}, {4, nullptr}}});
    CHECK(run.finish().faults.larger_than_raw == 1);
}

TEST_CASE("a call before which nothing was said costs nothing", "[evaluation]") {
    const Session session = History().say("hello").user("hi").say("yes").session();
    CHECK(run_control(session, "noop").calls == 1);
}

TEST_CASE("characters count, not bytes", "[evaluation]") {
    const Session session = History().user("日本語の文").say("").session();
    CHECK(run_control(session, "noop").raw == 2);
}

TEST_CASE("an image counts a thousand tokens", "[evaluation]") {
    const Session session = History().add({.role = Role::user, .content = "look", .media = 1}).say("").session();
    CHECK(run_control(session, "noop").raw == 1'001);
}
