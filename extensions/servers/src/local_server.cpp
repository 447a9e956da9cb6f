#include "whittle/servers/local_server.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

// What a self-hosted server makes of a conversation: its speed, and what it keeps.

namespace whittle::inline v0 {

void CacheProfileEstimator::observe(const ServerTiming& timing) noexcept {
    const bool has_timing = timing.output_tokens > 0 && timing.output_ms > 0.0 && timing.prefill_tokens >= 0 &&
                            timing.prefill_ms >= 0.0 && timing.cached_tokens >= 0 && std::isfinite(timing.prefill_ms) &&
                            std::isfinite(timing.output_ms);
    if (!has_timing) return;
    read_tokens_ += static_cast<double>(timing.prefill_tokens);
    read_ms_ += timing.prefill_ms;
    const double output = static_cast<double>(timing.output_tokens);
    const double context =
        static_cast<double>(timing.prefill_tokens) + static_cast<double>(timing.cached_tokens) + output / 2;
    const double pace = timing.output_ms / output;
    least_context_ = replies_ == 0.0 ? context : std::min(least_context_, context);
    most_context_ = std::max(most_context_, context);
    replies_ += 1.0;
    output_tokens_ += output;
    context_sum_ += context;
    pace_sum_ += pace;
    context_squares_ += context * context;
    products_ += context * pace;
}

CacheProfile CacheProfileEstimator::profile() const {
    constexpr double enough_tokens = 1'000.0;
    CacheProfile profile = *find_cache_profile("local");
    if (read_tokens_ < enough_tokens || read_ms_ <= 0.0 || most_context_ - least_context_ < enough_tokens)
        return profile;
    const double spread = replies_ * context_squares_ - context_sum_ * context_sum_;
    const double slope = std::max(0.0, (replies_ * products_ - context_sum_ * pace_sum_) / spread);
    profile.read = std::min(1.0, output_tokens_ / replies_ * slope * read_tokens_ / read_ms_);
    return profile;
}

std::size_t ServerSlot::cached_tokens(std::span<const std::uint32_t> prompt) const noexcept {
    if (prompt.empty()) return 0;
    const auto common = std::ranges::mismatch(kept_, prompt).in1 - kept_.begin();
    const std::size_t same = std::min(static_cast<std::size_t>(common), prompt.size() - 1);
    if (!checkpoints_ || same == kept_.size()) return same;
    const auto behind = std::ranges::upper_bound(marks_, same);
    return behind == marks_.begin() ? 0 : *std::prev(behind);
}

void ServerSlot::answered(std::span<const std::uint32_t> prompt, std::span<const std::uint32_t> reply) {
    std::erase_if(marks_, [from = cached_tokens(prompt)](std::size_t mark) { return mark > from; });
    if (checkpoints_) add_checkpoint(prompt.size());
    kept_.assign(prompt.begin(), prompt.end());
    if (!reply.empty()) kept_.insert(kept_.end(), reply.begin(), reply.end() - 1);
}

void ServerSlot::add_checkpoint(std::size_t tokens) {
    const std::size_t last = marks_.empty() ? 0 : marks_.back();
    if (checkpoints_->max_count == 0 || tokens < last + std::max<std::size_t>(checkpoints_->min_step, 1)) return;
    if (marks_.size() == checkpoints_->max_count) marks_.erase(marks_.begin());
    marks_.push_back(tokens);
}

}  // namespace whittle::inline v0
