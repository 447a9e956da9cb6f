#include "whittle/tokens/detail/usage_fit.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace whittle::inline v0 {

namespace {

constexpr double fading = 0.8;              // what a reply leaves of the weight of those before it
constexpr double least_first_weight = 500;  // a first reply counts as that many tokens of growth, or an eighth of it
constexpr double most_first_weight = 20'000;
constexpr double most_of_one_change = 100'000;  // tokens that one change counts for
constexpr double noise = 0.05;                  // of the usage: reasoning that is billed once, media, rounding

double bounded(double ratio) noexcept { return std::clamp(ratio, UsageFit::lowest_ratio, UsageFit::highest_ratio); }

/// A weight from outside: 0 for what is none.
double weight_of(double saved) noexcept { return saved >= 0.0 && saved <= 1e12 ? saved : 0.0; }

}  // namespace

UsageFit::UsageFit(const State& saved) noexcept
    : now_{.reported = std::max<std::int64_t>(0, saved.reported),
           .counted = std::max<std::int64_t>(0, saved.counted),
           .first_ratio = saved.first_ratio >= lowest_ratio ? bounded(saved.first_ratio) : 1.0,
           .first_weight = weight_of(saved.first_weight),
           .grown_reported = weight_of(saved.grown_reported),
           .grown_counted = weight_of(saved.grown_counted),
           .own_weight = weight_of(saved.own_weight),
           .spread = weight_of(saved.spread)} {}

void UsageFit::start(std::int64_t reported, std::int64_t counted) noexcept {
    const auto size = static_cast<double>(counted);
    now_.first_ratio = counted > 0 ? bounded(static_cast<double>(reported) / size) : 1.0;
    now_.first_weight = std::clamp(size / 8, least_first_weight, most_first_weight);
    now_.own_weight = least_first_weight;
    now_.grown_reported = now_.grown_counted = 0.0;
}

void UsageFit::learn(double reported, double counted) noexcept {
    const double part = std::min(1.0, most_of_one_change / std::abs(counted));
    now_.grown_reported = fading * now_.grown_reported + part * std::abs(reported);
    now_.grown_counted = fading * now_.grown_counted + part * std::abs(counted);
    now_.first_weight *= fading;
    now_.own_weight *= fading;
}

void UsageFit::note_error(std::int64_t reported, std::int64_t counted) noexcept {
    if (!is_known()) return;
    const double size = static_cast<double>(reported);
    const double error = std::abs(static_cast<double>(expected(counted)) - size) / size;
    now_.spread = now_.spread > 0.0 ? fading * now_.spread + (1.0 - fading) * error : error;
}

/// A change that no ratio within the bounds explains is noise where it is small, and another model where it is not.
void UsageFit::observe(std::int64_t reported, std::int64_t counted) noexcept {
    if (reported <= 0 || counted < 0) return;
    if (std::exchange(is_lent_, false)) now_ = {};
    if (reported == now_.reported && counted == now_.counted) return;  // the same one, after loading
    note_error(reported, counted);
    const double more_reported = static_cast<double>(reported) - static_cast<double>(now_.reported);
    const double more_counted = static_cast<double>(counted) - static_cast<double>(now_.counted);
    const double slope = more_counted != 0.0 ? more_reported / more_counted : 0.0;
    const double unexplained = std::abs(more_reported - ratio() * more_counted);
    const bool is_jump = unexplained > noise * static_cast<double>(std::max(reported, now_.reported));
    if (is_known() && slope >= lowest_ratio && slope <= highest_ratio) {
        learn(more_reported, more_counted);
    } else if (!is_known() || is_jump) {
        start(reported, counted);
    }
    now_.reported = reported;
    now_.counted = counted;
}

void UsageFit::add_counted(std::int64_t tokens) noexcept {
    if (!is_known()) return;
    now_.counted = add_saturating(now_.counted, tokens);
    if (now_.grown_counted == 0.0) start(now_.reported, now_.counted);
}

double UsageFit::ratio() const noexcept {
    const double weight = now_.first_weight + now_.grown_counted;
    return weight > 0.0 ? bounded((now_.first_ratio * now_.first_weight + now_.grown_reported) / weight) : 1.0;
}

double UsageFit::ratio_of_new() const noexcept {
    const double weight = now_.own_weight + now_.grown_counted;
    return weight > 0.0 ? bounded((now_.own_weight + now_.grown_reported) / weight) : 1.0;
}

std::int64_t UsageFit::overhead() const noexcept {
    return to_int64(std::max(0.0, static_cast<double>(now_.reported) - ratio() * static_cast<double>(now_.counted)));
}

std::int64_t UsageFit::expected(std::int64_t counted) const noexcept {
    if (!is_known()) return counted;
    if (counted >= now_.counted) {
        const double grown = static_cast<double>(counted) - static_cast<double>(now_.counted);
        return add_saturating(now_.reported, to_int64(std::round(ratio_of_new() * grown)));
    }
    const TokenScale scale = TokenScale::of(now_.reported, now_.counted, ratio());
    return add_saturating(scale.overhead, scale.to_request(counted));
}

TokenScale TokenScale::of(std::int64_t total, std::int64_t counted, double ratio) noexcept {
    constexpr double lowest = 1.0 / 1024;
    if (counted <= 0) return {ratio, std::max<std::int64_t>(0, total)};
    const double most = static_cast<double>(std::max<std::int64_t>(0, total)) / static_cast<double>(counted);
    if (ratio >= most) return {std::max(lowest, most), 0};
    const double rest = static_cast<double>(total) - ratio * static_cast<double>(counted);
    return {ratio, std::max<std::int64_t>(0, to_int64(std::floor(rest)))};
}

std::int64_t TokenScale::to_request(std::int64_t counted) const noexcept {
    if (ratio == 1.0) return counted;
    return to_int64(std::round(ratio * static_cast<double>(counted)));
}

std::int64_t TokenScale::to_counted(std::int64_t request_tokens) const noexcept {
    if (ratio == 1.0) return request_tokens;
    return to_int64(std::floor(static_cast<double>(request_tokens) / ratio));
}

}  // namespace whittle::inline v0
