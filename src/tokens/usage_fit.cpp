#include "whittle/tokens/detail/usage_fit.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <cmath>

namespace whittle::inline v0 {

namespace {

constexpr double fading = 0.8;              // what a reply leaves of the weight of those before it
constexpr double least_first_weight = 500;  // a first reply counts as that many tokens of growth, or an eighth of it
constexpr double most_first_weight = 20'000;
constexpr double most_of_one_change = 100'000;  // tokens that one change counts for
constexpr double noise = 0.05;                  // of the usage: reasoning that is billed once, media, rounding

double bounded(double ratio) noexcept { return std::clamp(ratio, UsageFit::lowest_ratio, UsageFit::highest_ratio); }

}  // namespace

void UsageFit::start(std::int64_t reported, std::int64_t counted) noexcept {
    const auto size = static_cast<double>(counted);
    first_ratio_ = counted > 0 ? bounded(static_cast<double>(reported) / size) : 1.0;
    first_weight_ = std::clamp(size / 8, least_first_weight, most_first_weight);
    own_weight_ = least_first_weight;
    grown_reported_ = grown_counted_ = 0.0;
}

void UsageFit::learn(double reported, double counted) noexcept {
    const double part = std::min(1.0, most_of_one_change / std::abs(counted));
    grown_reported_ = fading * grown_reported_ + part * std::abs(reported);
    grown_counted_ = fading * grown_counted_ + part * std::abs(counted);
    first_weight_ *= fading;
    own_weight_ *= fading;
}

/// A change that no ratio within the bounds explains is noise where it is small, and another model where it is not.
void UsageFit::observe(std::int64_t reported, std::int64_t counted) noexcept {
    if (reported <= 0 || counted < 0) return;
    const double more_reported = static_cast<double>(reported) - static_cast<double>(reported_);
    const double more_counted = static_cast<double>(counted) - static_cast<double>(counted_);
    const double slope = more_counted != 0.0 ? more_reported / more_counted : 0.0;
    const double unexplained = std::abs(more_reported - ratio() * more_counted);
    const bool is_jump = unexplained > noise * static_cast<double>(std::max(reported, reported_));
    if (is_known() && slope >= lowest_ratio && slope <= highest_ratio) {
        learn(more_reported, more_counted);
    } else if (!is_known() || is_jump) {
        start(reported, counted);
    }
    reported_ = reported;
    counted_ = counted;
}

void UsageFit::add_counted(std::int64_t tokens) noexcept {
    if (!is_known()) return;
    counted_ = add_saturating(counted_, tokens);
    if (grown_counted_ == 0.0) start(reported_, counted_);
}

double UsageFit::ratio() const noexcept {
    const double weight = first_weight_ + grown_counted_;
    return weight > 0.0 ? bounded((first_ratio_ * first_weight_ + grown_reported_) / weight) : 1.0;
}

double UsageFit::ratio_of_new() const noexcept {
    const double weight = own_weight_ + grown_counted_;
    return weight > 0.0 ? bounded((own_weight_ + grown_reported_) / weight) : 1.0;
}

std::int64_t UsageFit::overhead() const noexcept {
    return to_int64(std::max(0.0, static_cast<double>(reported_) - ratio() * static_cast<double>(counted_)));
}

std::int64_t UsageFit::expected(std::int64_t counted) const noexcept {
    if (!is_known()) return counted;
    if (counted >= counted_) {
        const double grown = static_cast<double>(counted) - static_cast<double>(counted_);
        return add_saturating(reported_, to_int64(std::round(ratio_of_new() * grown)));
    }
    const TokenScale scale = TokenScale::of(reported_, counted_, ratio());
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
