#include "codex_records.hpp"

#include <utility>

namespace whittle::inline v0::logs {

CodexRecords::Counts CodexRecords::counts_of(const Usage& usage) noexcept {
    return {static_cast<std::uint64_t>(usage.uncached_input), static_cast<std::uint64_t>(usage.cache_read),
            static_cast<std::uint64_t>(usage.cache_write), static_cast<std::uint64_t>(usage.output)};
}

void CodexRecords::add(Call call) {
    const Counts counts = counts_of(call.usage.value_or(Usage{}));
    for (std::size_t i = 0; i < counts.size(); ++i) sum_[i] += counts[i];
    by_usage_.emplace(counts, next_);
    by_id_.emplace(call.id, next_);
    records_.emplace(next_++, std::move(call));
}

bool CodexRecords::claim(const Usage& usage) {
    const Counts counts = counts_of(usage);
    const auto same = by_usage_.lower_bound({counts, 0});
    if (same != by_usage_.end() && same->first == counts) {
        take_one(same->second);
        return true;
    }
    if (sum_ != counts) return false;
    *this = {};
    return true;
}

std::vector<Call> CodexRecords::take(std::string_view id) {
    std::vector<Call> taken;
    if (id.empty()) {
        for (auto& [number, call] : records_) taken.push_back(std::move(call));
        *this = {};
        return taken;
    }
    const std::string wanted(id);
    for (auto at = by_id_.lower_bound({wanted, 0}); at != by_id_.end() && at->first == wanted;
         at = by_id_.lower_bound({wanted, 0}))
        taken.push_back(take_one(at->second));
    return taken;
}

Call CodexRecords::take_one(std::size_t number) {
    Call call = std::move(records_.extract(number).mapped());
    const Counts counts = counts_of(call.usage.value_or(Usage{}));
    for (std::size_t i = 0; i < counts.size(); ++i) sum_[i] -= counts[i];
    by_usage_.erase({counts, number});
    by_id_.erase({call.id, number});
    return call;
}

}  // namespace whittle::inline v0::logs
