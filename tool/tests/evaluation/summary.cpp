#include "histories.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>

using namespace whittle;
using namespace whittle::evaluation;
using namespace whittle::testing;

namespace {

Figures figures_with(double raw, double with_refetches, std::int64_t sent) {
    Figures figures{.calls = 10, .raw = 100, .sent = sent};
    figures.money.push_back({.raw = raw, .sent = with_refetches, .with_refetches = with_refetches, .raw_strict = raw});
    return figures;
}

Summary summary_of(const std::vector<Figures>& all) {
    std::vector<const Figures*> pointers;
    for (const Figures& figures : all) pointers.push_back(&figures);
    return summarize(pointers);
}

bool is_equal(double a, double b) { return std::abs(a - b) < 1e-12; }

}  // namespace

TEST_CASE("a summary has the median and the mean of sessions, and the ratio of sums", "[evaluation]") {
    const Summary summary = summary_of({figures_with(10, 5, 50), figures_with(10, 8, 80), figures_with(80, 84, 110)});
    CHECK(summary.sessions == 3);
    CHECK(summary.calls == 30);
    CHECK(is_equal(summary.money[0].with_refetches.median, 0.8));
    CHECK(is_equal(summary.money[0].with_refetches.mean, (0.5 + 0.8 + 1.05) / 3));
    CHECK(is_equal(summary.money[0].with_refetches.pooled, 0.97));
    CHECK(is_equal(summary.money[0].harm, 1.0 / 3));
    CHECK(is_equal(summary.tokens.pooled, 0.8));
    CHECK(is_equal(summary_of({figures_with(10, 5, 50), figures_with(10, 8, 80)}).money[0].sent.median, 0.65));
    CHECK(summary_of({}).sessions == 0);
}

TEST_CASE("visible shares are pooled over sessions", "[evaluation]") {
    Figures one = figures_with(1, 1, 1);
    Figures two = one;
    one.probes[1][0] = {.needed = 10, .visible = 10};
    two.probes[1][1] = {.needed = 2, .visible = 0, .recoverable = 1, .lost = 1};
    const Summary summary = summary_of({one, two});
    CHECK(summary.probes_of(ProbeKind::action_line).needed == 12);
    CHECK(summary.probes_of(ProbeKind::action_line, Age::middle).visible == 0);
    CHECK(summary.probes_of(ProbeKind::action_line, Age::recent, Age::recent).visible == 10);
}

TEST_CASE("sessions fall into strata by their size and by what their files are called", "[evaluation]") {
    CHECK(guess_kind("coding_agent.jsonl", "") == AgentKind::coding);
    CHECK(guess_kind("runs.jsonl", "github.com/SWE-agent/SWE-agent") == AgentKind::coding);
    CHECK(guess_kind("customer_service.jsonl", "") == AgentKind::service);
    CHECK(guess_kind("runs.jsonl", "") == AgentKind::other);
    SessionInput input = History().user("x").say("y").input();
    CHECK(Session(input).size() == SizeClass::small);
    input.estimated_tokens = 100'000;
    CHECK(Session(input).size() == SizeClass::medium);
    input.estimated_tokens = 0;
    input.messages[0].content = tokens_of_text(100'001);
    CHECK(Session(input).size() == SizeClass::large);
    const Figures figures{.kind = AgentKind::service, .size = SizeClass::medium};
    std::vector<std::string_view> names;
    for (const Stratum& stratum : strata()) {
        if (stratum.has(figures)) names.push_back(stratum.name);
    }
    CHECK(names == std::vector<std::string_view>{"all", "20k-100k", "service", "20k-100k service"});
}

TEST_CASE("a cache thrashes when more than a fifth of five calls go deep", "[evaluation]") {
    CHECK_FALSE(thrashes_cache({.steps = 4, .deep_resets = 4}));
    CHECK_FALSE(thrashes_cache({.steps = 5, .deep_resets = 1}));
    CHECK(thrashes_cache({.steps = 5, .deep_resets = 2}));
}
