#include "evaluation.hpp"
#include "whittle/base/error.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0::evaluation {
namespace {

using Sessions = std::span<const Figures* const>;

double median_of(std::vector<double> values) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double ratio_of(double part, double whole) { return whole > 0 ? part / whole : 1.0; }
double ratio_of(std::int64_t part, std::int64_t whole) {
    return ratio_of(static_cast<double>(part), static_cast<double>(whole));
}

/// Of part(session) / whole(session).
template <typename Part, typename Whole>
Spread spread_of(Sessions sessions, Part part, Whole whole) {
    std::vector<double> ratios;
    double parts = 0;
    double wholes = 0;
    double sum = 0;
    for (const Figures* figures : sessions) {
        parts += static_cast<double>(part(*figures));
        wholes += static_cast<double>(whole(*figures));
        ratios.push_back(ratio_of(static_cast<double>(part(*figures)), static_cast<double>(whole(*figures))));
        sum += ratios.back();
    }
    const double mean = ratios.empty() ? 0 : sum / static_cast<double>(ratios.size());
    return {median_of(ratios), mean, ratio_of(parts, wholes)};
}

std::optional<double> median_exponent(Sessions sessions, std::size_t profile, std::optional<double> Money::*which) {
    std::vector<double> values;
    for (const Figures* figures : sessions) {
        if (const auto& value = figures->money[profile].*which) values.push_back(*value);
    }
    return values.empty() ? std::nullopt : std::optional(median_of(std::move(values)));
}

template <typename Value>
std::int64_t sum_of(Sessions sessions, Value value) {
    std::int64_t sum = 0;
    for (const Figures* figures : sessions) sum += value(*figures);
    return sum;
}

MoneySummary summarize_money(Sessions sessions, std::size_t p) {
    const auto spread = [&](double Money::*part, double Money::*whole) {
        return spread_of(
            sessions, [&](const Figures& f) { return f.money[p].*part; },
            [&](const Figures& f) { return f.money[p].*whole; });
    };
    MoneySummary summary{.sent = spread(&Money::sent, &Money::raw),
                         .sent_strict = spread(&Money::sent_strict, &Money::raw_strict),
                         .with_refetches = spread(&Money::with_refetches, &Money::raw),
                         .with_refetches_strict = spread(&Money::with_refetches_strict, &Money::raw_strict),
                         .with_line_refetches = spread(&Money::with_line_refetches, &Money::raw),
                         .with_line_refetches_strict = spread(&Money::with_line_refetches_strict, &Money::raw_strict)};
    const auto harm = [&](double Money::*with_refetches) {
        const auto is_harmed = [&](const Figures& f) {
            return ratio_of(f.money[p].*with_refetches, f.money[p].raw) > harm_above;
        };
        return static_cast<double>(sum_of(sessions, is_harmed)) / static_cast<double>(sessions.size());
    };
    summary.harm = harm(&Money::with_refetches);
    summary.line_harm = harm(&Money::with_line_refetches);
    summary.hit_raw = ratio_of(sum_of(sessions, [&](const Figures& f) { return f.money[p].cached_raw; }),
                               sum_of(sessions, [](const Figures& f) { return f.raw; }));
    summary.hit_sent = ratio_of(sum_of(sessions, [&](const Figures& f) { return f.money[p].cached_sent; }),
                                sum_of(sessions, [](const Figures& f) { return f.sent; }));
    summary.exponent_raw = median_exponent(sessions, p, &Money::exponent_raw);
    summary.exponent_sent = median_exponent(sessions, p, &Money::exponent_sent);
    return summary;
}

void add(Faults& sum, const Faults& other) {
    for (const auto fault : {&Faults::newest_result_dropped, &Faults::newest_result_hidden,
                             &Faults::newest_user_changed, &Faults::newest_call_changed, &Faults::larger_than_raw,
                             &Faults::over_window, &Faults::messages_not_restorable})
        sum.*fault += other.*fault;
}

void add(ProbeTable& sum, const ProbeTable& other) {
    for (std::size_t kind = 0; kind < probe_kinds; ++kind) {
        for (std::size_t age = 0; age < ages; ++age) sum[kind][age] += other[kind][age];
    }
}

/// What is counted over calls.
void add_counts(Summary& summary, Sessions sessions) {
    for (const Figures* figures : sessions) {
        summary.calls += figures->calls;
        summary.peak = std::max(summary.peak, figures->peak_sent);
        summary.resets += figures->resets;
        summary.deep_resets += figures->deep_resets;
        summary.invalidated += figures->invalidated;
        summary.over_window_raw += figures->over_window_raw;
        summary.thrashed += thrashes_cache(*figures) ? 1 : 0;
        add(summary.probes, figures->probes);
        for (std::size_t age = 0; age < edit_ages; ++age) summary.edits[age] += figures->edits[age];
        add(summary.faults, figures->faults);
    }
}

}  // namespace

std::string_view to_string(AgentKind kind) noexcept {
    constexpr std::array<std::string_view, 3> names{"coding", "service", "other"};
    return names[static_cast<std::size_t>(kind)];
}

std::string_view to_string(SizeClass size) noexcept {
    constexpr std::array<std::string_view, 3> names{"under 20k", "20k-100k", "over 100k"};
    return names[static_cast<std::size_t>(size)];
}

std::string_view to_string(ProbeKind kind) noexcept {
    constexpr std::array<std::string_view, probe_kinds> names{"action_id",  "action_line", "service_value",
                                                              "constraint", "artifact",    "error"};
    return names[static_cast<std::size_t>(kind)];
}

std::string_view to_string(Age age) noexcept {
    constexpr std::array<std::string_view, ages> names{"1-10", "11-50", "over 50"};
    return names[static_cast<std::size_t>(age)];
}

ProbeCount& ProbeCount::operator+=(const ProbeCount& other) noexcept {
    needed += other.needed;
    visible += other.visible;
    recoverable += other.recoverable;
    lost += other.lost;
    return *this;
}

EditCount& EditCount::operator+=(const EditCount& other) noexcept {
    needed += other.needed;
    possible += other.possible;
    recoverable += other.recoverable;
    cut_on_arrival += other.cut_on_arrival;
    return *this;
}

double refetched_ratio(const Money& money) noexcept { return ratio_of(money.with_refetches, money.raw); }
double money_ratio(const Money& money) noexcept { return ratio_of(money.sent, money.raw); }

bool thrashes_cache(const Figures& figures) noexcept {
    constexpr std::int64_t fewest_calls = 5;
    return figures.steps >= fewest_calls && 5 * figures.deep_resets > figures.steps;
}

EditCount Summary::edits_of(std::size_t from, std::size_t to) const noexcept {
    EditCount sum;
    for (std::size_t age = from; age < to; ++age) sum += edits[age];
    return sum;
}

ProbeCount Summary::probes_of(ProbeKind kind, Age from, Age to) const noexcept {
    ProbeCount sum;
    for (auto age = static_cast<std::size_t>(from); age <= static_cast<std::size_t>(to); ++age)
        sum += probes[static_cast<std::size_t>(kind)][age];
    return sum;
}

Summary summarize(std::span<const Figures* const> figures) {
    Summary summary{.sessions = static_cast<std::int64_t>(figures.size())};
    if (figures.empty()) return summary;
    add_counts(summary, figures);
    const auto sum = [&](std::int64_t Figures::*value) {
        return sum_of(figures, [&](const Figures& f) { return f.*value; });
    };
    summary.tokens = spread_of(
        figures, [](const Figures& f) { return f.sent; }, [](const Figures& f) { return f.raw; });
    summary.peak_ratio = ratio_of(sum(&Figures::peak_sent), sum(&Figures::peak_raw));
    const std::int64_t steps = std::max<std::int64_t>(1, sum(&Figures::steps));
    summary.resets_per_call = static_cast<double>(summary.resets) / static_cast<double>(steps);
    summary.arrived_shown = ratio_of(sum(&Figures::arrived_shown), sum(&Figures::arrived));
    for (std::size_t p = 0; p < figures.front()->money.size(); ++p)
        summary.money.push_back(summarize_money(figures, p));
    return summary;
}

bool Stratum::has(const Figures& figures) const noexcept {
    return (!size || *size == figures.size) && (!kind || *kind == figures.kind);
}

std::span<const Stratum> strata() noexcept {
    using enum SizeClass;
    using enum AgentKind;
    static constexpr std::array<Stratum, 16> all{{
        {"all", {}, {}},
        {"under 20k", small, {}},
        {"20k-100k", medium, {}},
        {"over 100k", large, {}},
        {"coding", {}, coding},
        {"service", {}, service},
        {"other", {}, other},
        {"under 20k coding", small, coding},
        {"under 20k service", small, service},
        {"under 20k other", small, other},
        {"20k-100k coding", medium, coding},
        {"20k-100k service", medium, service},
        {"20k-100k other", medium, other},
        {"over 100k coding", large, coding},
        {"over 100k service", large, service},
        {"over 100k other", large, other},
    }};
    return all;
}

}  // namespace whittle::inline v0::evaluation
