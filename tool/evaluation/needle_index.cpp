#include "needle_index.hpp"

#include "characters.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace whittle::inline v0::evaluation {
namespace {

constexpr std::size_t anchor_bytes = 4;

std::uint16_t bucket_at(const char* bytes) noexcept {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return static_cast<std::uint16_t>((word * 0x9E3779B1U) >> 16U);
}

}  // namespace

Needle NeedleIndex::add(std::string_view text, bool exact) {
    const auto [known, is_new] =
        known_.emplace((exact ? "=" : "~") + std::string(text), static_cast<Needle>(texts_.size()));
    if (!is_new) return known->second;
    held_.emplace_back(text);
    texts_.push_back(held_.back());
    of_needle_.emplace_back();
    add_pattern(held_.back(), known->second, false);
    std::string escaped = exact ? std::string() : json_escaped(text);
    if (!exact && escaped != text) add_pattern(std::move(escaped), known->second, true);
    return known->second;
}

void NeedleIndex::add_pattern(std::string text, Needle needle, bool is_escaped) {
    held_.push_back(std::move(text));
    of_needle_[needle].push_back(static_cast<std::uint32_t>(patterns_.size()));
    patterns_.push_back({held_.back(), needle, 0, is_escaped});
}

void NeedleIndex::learn(std::string_view text) {
    for (std::size_t at = 0; at + anchor_bytes <= text.size(); ++at) ++frequency_[bucket_at(text.data() + at)];
}

std::uint32_t NeedleIndex::anchor_of(std::string_view pattern) const {
    std::size_t best = 0;
    for (std::size_t at = 1; at + anchor_bytes <= pattern.size(); ++at) {
        if (frequency_[bucket_at(pattern.data() + at)] < frequency_[bucket_at(pattern.data() + best)]) best = at;
    }
    return static_cast<std::uint32_t>(best);
}

void NeedleIndex::build() {
    const auto bucket_of = [&](std::uint32_t p) { return bucket_at(patterns_[p].text.data() + patterns_[p].anchor); };
    first_.assign(frequency_.size() + 1, 0);
    for (std::uint32_t p = 0; p < patterns_.size(); ++p) {
        if (patterns_[p].text.size() < anchor_bytes) {
            short_.push_back(p);
            continue;
        }
        patterns_[p].anchor = anchor_of(patterns_[p].text);
        ++first_[std::size_t{bucket_of(p)} + 1];
        sorted_.push_back(p);
    }
    for (std::size_t b = 1; b < first_.size(); ++b) first_[b] += first_[b - 1];
    std::ranges::stable_sort(sorted_, {}, bucket_of);
}

void NeedleIndex::scan(std::string_view text, FunctionRef<void(const Pattern&)> found) const {
    for (const std::uint32_t p : short_) {
        if (text.find(patterns_[p].text) != std::string_view::npos) found(patterns_[p]);
    }
    if (sorted_.empty()) return;
    for (std::size_t at = 0; at + anchor_bytes <= text.size(); ++at) {
        const Bucket bucket = bucket_at(text.data() + at);
        for (std::uint32_t i = first_[bucket]; i < first_[std::size_t{bucket} + 1]; ++i) {
            const Pattern& pattern = patterns_[sorted_[i]];
            if (at >= pattern.anchor && text.substr(at - pattern.anchor).starts_with(pattern.text)) found(pattern);
        }
    }
}

std::vector<Needle> NeedleIndex::collect(std::string_view text, bool only_exact) const {
    std::vector<Needle> needles;
    std::vector<bool> is_known(texts_.size());
    scan(text, [&](const Pattern& pattern) {
        if (is_known[pattern.needle] || (only_exact && pattern.is_escaped)) return;
        is_known[pattern.needle] = true;
        needles.push_back(pattern.needle);
    });
    return needles;
}

std::vector<Needle> NeedleIndex::find_in(std::string_view text) const { return collect(text, false); }
std::vector<Needle> NeedleIndex::find_exactly_in(std::string_view text) const { return collect(text, true); }

bool NeedleIndex::holds(std::string_view text, Needle needle) const {
    return position_in(text, needle) != std::string_view::npos;
}

std::size_t NeedleIndex::position_in(std::string_view text, Needle needle) const {
    std::size_t first = std::string_view::npos;
    for (const std::uint32_t p : of_needle_[needle]) first = std::min(first, text.find(patterns_[p].text));
    return first;
}

}  // namespace whittle::inline v0::evaluation
