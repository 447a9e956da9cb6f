#include "gram_filter.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace whittle::inline v0::evaluation {
namespace {

constexpr std::size_t grams_asked = 6;

Gram gram_at(std::string_view text, std::size_t at) noexcept {
    Gram gram = 0;
    std::memcpy(&gram, text.data() + at, sizeof gram);
    return gram;
}

constexpr bool is_escaped(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

}  // namespace

std::vector<Gram> some_grams(std::string_view text) {
    std::vector<Gram> grams;
    if (text.size() < sizeof(Gram)) return grams;
    const std::size_t starts = text.size() - sizeof(Gram) + 1;
    for (std::size_t at = 0; at < starts; at += std::max<std::size_t>(1, starts / grams_asked)) {
        if (std::ranges::none_of(text.substr(at, sizeof(Gram)), is_escaped)) grams.push_back(gram_at(text, at));
    }
    return grams;
}

GramFilter::GramFilter(std::string_view content) {
    if (content.size() < sizeof(Gram)) return;
    const auto bits = static_cast<int>(std::bit_width(content.size())) + 3;
    shift_ = 64 - bits;
    has_.resize(std::size_t{1} << static_cast<unsigned>(bits));
    for (std::size_t at = 0; at + sizeof(Gram) <= content.size(); ++at) has_[place_of(gram_at(content, at))] = true;
}

bool GramFilter::may_hold(const std::vector<Gram>& grams) const {
    if (has_.empty()) return grams.empty();
    return std::ranges::all_of(grams, [&](Gram gram) { return has_[place_of(gram)]; });
}

/// By a multiplication (D. E. Knuth, The Art of Computer Programming 3, 6.4).
std::size_t GramFilter::place_of(Gram gram) const noexcept {
    return static_cast<std::size_t>((gram * 0x9E3779B97F4A7C15U) >> static_cast<unsigned>(shift_));
}

}  // namespace whittle::inline v0::evaluation
