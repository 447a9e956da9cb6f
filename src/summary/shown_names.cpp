#include "whittle/summary/detail/shown_names.hpp"

#include "identifiers.hpp"
#include "stems.hpp"

#include "whittle/base/text.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>
#include <utility>

namespace whittle::inline v0 {
namespace {

using detail::IdentifierKind;

constexpr std::size_t long_number = 6;  // digits and signs: an order, a telephone number; a status code is shorter

char folded(char c) noexcept {
    if (c == '-') return '_';
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_word_char(char c) noexcept {
    const char f = folded(c);
    return (f >= 'a' && f <= 'z') || (f >= '0' && f <= '9') || f == '_';
}

/// A collision makes a name known.
std::uint64_t hash_of(std::string_view word) noexcept {
    std::uint64_t hash = detail::fnv_of_nothing;
    for (const char c : word) hash = detail::fnv_with(hash, folded(c));
    return hash;
}

std::string_view without_dashes(std::string_view word) noexcept {
    const std::size_t begin = word.find_first_not_of("-_");
    if (begin == std::string_view::npos) return {};
    return word.substr(begin, word.find_last_not_of("-_") - begin + 1);
}

/// Letters, digits, '_' and '-' in a row, without those two at its ends.
template <typename Visit>
void for_each_word(std::string_view text, Visit&& visit) {
    for (std::size_t at = 0; at < text.size();) {
        if (!is_word_char(text[at])) {
            ++at;
            continue;
        }
        const std::size_t begin = at;
        while (at < text.size() && is_word_char(text[at])) ++at;
        const bool is_escape = begin > 0 && text[begin - 1] == '\\';  // of JSON: "\nsrc" holds the word src
        const std::string_view word = without_dashes(text.substr(begin, at - begin));
        if (is_escape && word.size() > 1) visit(word.substr(1));
        if (!word.empty()) visit(word);
    }
}

void add_words(std::string_view text, std::vector<std::uint64_t>& hashes) {
    std::uint64_t last = 0;
    for_each_word(text, [&](std::string_view word) {
        const std::uint64_t hash = hash_of(word);
        if (hash != last) hashes.push_back(hash);  // a long run of one word is kept once
        last = hash;
    });
}

void add_stems(std::string_view text, std::vector<std::uint64_t>& hashes) {
    detail::for_each_stem(text, [&](std::uint64_t stem) { hashes.push_back(stem); });
}

/// A server's error has such a name in it, and a session about such errors too.
bool names_failure(std::string_view name) {
    constexpr std::array<std::string_view, 10> words{"error",   "exception", "exceeded", "limit",   "overload",
                                                     "timeout", "invalid",   "unauth",   "unavail", "quota"};
    const std::string lower = ascii_lower(name);
    return std::ranges::any_of(words, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

}  // namespace

void ShownNames::add(std::string_view text) {
    if (reads_stems_) return add_stems(text, stems_);
    is_sorted_ = false;
    add_words(text, words_);
    detail::for_each_identifier(text, [&](std::string_view name, IdentifierKind kind) {
        if (kind != IdentifierKind::number) names_.push_back(hash_of(detail::series_of(name)));
    });
}

void ShownNames::add_other(std::string_view text) {
    if (reads_stems_) return add_stems(text, other_stems_);
    is_sorted_ = false;
    add_words(text, other_words_);
}

void ShownNames::sort(Hashes& hashes) {
    std::sort(hashes.begin(), hashes.end());
    hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

void ShownNames::sort_all() {
    if (fill_ && !std::exchange(is_filled_, true)) fill_(*this);
    if (is_sorted_) return;
    for (Hashes* hashes : {&names_, &words_, &other_words_}) sort(*hashes);
    is_sorted_ = true;
}

std::size_t ShownNames::size() {
    sort_all();
    return names_.size();
}

ShownNames::Said ShownNames::said_in(std::string_view text) {
    sort_all();
    Said said;
    std::unordered_set<std::uint64_t> seen;
    detail::for_each_identifier(text, [&](std::string_view name, IdentifierKind kind) {
        const bool is_number = kind == IdentifierKind::number;
        const std::uint64_t hash = hash_of(name);
        if ((is_number && name.size() < long_number) || seen.contains(hash)) return;
        bool is_known = true;
        bool is_explained = true;
        for_each_word(name, [&](std::string_view word) {
            const std::uint64_t piece = hash_of(word);
            const bool stands = std::ranges::binary_search(words_, piece);
            is_known = is_known && stands;
            is_explained = is_explained && (stands || std::ranges::binary_search(other_words_, piece));
        });
        if (is_number && !is_known) return;  // a sum, a share, a line number: not said to be a name
        seen.insert(hash);
        ++said.names;
        said.known += is_known ? 1 : 0;
        const bool is_url = name.find("://") != std::string_view::npos;  // an error says where it came from
        said.known_paths += is_known && !is_url && kind == IdentifierKind::path ? 1 : 0;
        said.telling += is_known && !names_failure(name) ? 1 : 0;
        said.invented += is_explained || has_unread_ ? 0 : 1;
    });
    return said;
}

ShownNames::SharedWords ShownNames::words_shared_by(std::string_view text, std::span<const std::string_view> frames) {
    Hashes said;
    add_stems(text, said);
    for (const std::string_view frame : frames) add_stems(frame, other_stems_);
    reads_stems_ = true;
    if (fill_) fill_(*this);
    reads_stems_ = false;
    sort(other_stems_);
    for (Hashes* hashes : {&said, &stems_}) {
        sort(*hashes);
        std::erase_if(*hashes, [&](std::uint64_t stem) { return std::ranges::binary_search(other_stems_, stem); });
    }
    const auto is_shown = [&](std::uint64_t stem) { return std::ranges::binary_search(stems_, stem); };
    const auto pairs = static_cast<std::size_t>(std::ranges::count_if(stems_, [](auto stem) { return stem % 2 == 1; }));
    const std::size_t shown_words = stems_.size() - pairs + pairs / 4;  // four pairs are about a long word
    const SharedWords words{has_unread_ ? 0 : shown_words, said.size(),
                            static_cast<std::size_t>(std::ranges::count_if(said, is_shown))};
    stems_.clear();
    other_stems_.clear();
    return words;
}

}  // namespace whittle::inline v0
