#include "replaced.hpp"

#include "../base/ascii.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>

namespace whittle::inline v0::detail {
namespace {

constexpr std::array<std::string_view, 26> small_words{
    "the", "and", "for", "with", "that", "this", "from", "must", "never", "always", "only", "not", "don't",
    "are", "was", "has", "have", "per",  "than", "more", "less", "most",  "least",  "its",  "now", "will"};
constexpr std::array<std::string_view, 16> changing_words{
    "now",     "new",   "changed", "changes", "rotated", "updated",  "replaced", "replaces",
    "instead", "moved", "renamed", "raised",  "lowered", "switched", "longer",   "corrected"};

bool is_value(std::string_view word) noexcept { return std::ranges::any_of(word, is_digit); }

bool names_something(std::string_view word) noexcept {
    return word.size() >= 3 && std::ranges::all_of(word, is_letter) && !is_one_of(word, small_words);
}

/// "orders_2023" and "orders_2024" are names of two things, not two values of one.
bool are_names(std::string_view value, std::string_view other) {
    const auto letters_of = [](std::string_view word) {
        std::string letters;
        std::ranges::copy_if(word, std::back_inserter(letters), is_letter);
        return letters;
    };
    const std::string letters = letters_of(value);
    return letters.size() >= 3 && letters == letters_of(other);
}

/// What is forbidden stays so, whatever is said of its like: only a word that changes something replaces it.
bool forbids(const SentenceWords& sentence) {
    constexpr std::array<std::string_view, 8> forbidding_words{"never",   "not",    "don't", "cannot",
                                                               "without", "forbid", "avoid", "nobody"};
    return std::ranges::any_of(sentence, [&](const std::string& w) { return is_one_of(w, forbidding_words); });
}

/// The last words that name something in front of the value at `at`: of what it is the value.
std::vector<std::string_view> names_before(const SentenceWords& words, std::size_t at) {
    constexpr std::size_t most = 2;
    constexpr std::size_t farthest = 6;
    std::vector<std::string_view> names;
    for (std::size_t i = at; i-- > 0 && at - i <= farthest && names.size() < most;) {
        if (is_value(words[i])) break;
        if (names_something(words[i])) names.push_back(words[i]);
    }
    return names;
}

bool has_near(const SentenceWords& words, std::size_t at, std::string_view name) {
    constexpr std::size_t before = 7;
    constexpr std::size_t behind = 3;
    const std::size_t first = at - std::min(at, before);
    const std::size_t last = std::min(words.size(), at + behind + 1);
    return std::any_of(words.begin() + static_cast<std::ptrdiff_t>(first),
                       words.begin() + static_cast<std::ptrdiff_t>(last),
                       [name](const std::string& word) { return word == name; });
}

}  // namespace

SentenceWords words_of_sentence(std::string_view sentence) {
    constexpr std::string_view around = ".,;:!?()[]{}\"'`*<>$";
    constexpr std::size_t most = 100;
    SentenceWords words;
    while (words.size() < most) {
        const std::size_t begin = sentence.find_first_not_of(" \t\r\n");
        if (begin == sentence.npos) break;
        sentence.remove_prefix(begin);
        const std::size_t end = std::min(sentence.find_first_of(" \t\r\n"), sentence.size());
        std::string_view word = sentence.substr(0, end);
        sentence.remove_prefix(end);
        const std::size_t first = word.find_first_not_of(around);
        if (first == word.npos) continue;
        word = word.substr(first, word.find_last_not_of(around) + 1 - first);
        words.push_back(ascii_lower(word));
    }
    return words;
}

std::vector<SentenceWords> sentences_with_values(std::string_view text, std::size_t most) {
    std::vector<SentenceWords> sentences;
    while (!text.empty()) {
        const std::size_t end =
            std::min({text.find('\n'), text.find(". "), text.find("; "), text.find("! "), text.size()});
        const std::string_view sentence = text.substr(0, end);
        text.remove_prefix(std::min(text.size(), end + 1));
        if (!is_value(sentence)) continue;
        SentenceWords words = words_of_sentence(sentence.substr(0, 1'000));
        if (sentences.size() >= 2 * most)
            sentences.erase(sentences.begin(), sentences.begin() + static_cast<std::ptrdiff_t>(most));
        if (!words.empty()) sentences.push_back(std::move(words));
    }
    if (sentences.size() > most)
        sentences.erase(sentences.begin(), sentences.end() - static_cast<std::ptrdiff_t>(most));
    return sentences;
}

bool is_replaced_by(const SentenceWords& sentence, const SentenceWords& later) {
    if (std::ranges::none_of(sentence, [](const std::string& w) { return is_value(w); })) return false;
    const bool changes = std::ranges::any_of(later, [](const std::string& w) { return is_one_of(w, changing_words); });
    if (!changes && forbids(sentence)) return false;
    for (std::size_t v = 0; v < sentence.size(); ++v) {
        if (!is_value(sentence[v])) continue;
        const std::vector<std::string_view> names = names_before(sentence, v);
        if (names.empty() || (names.size() == 1 && !changes)) continue;
        if (!changes && std::ranges::count(later, sentence[v]) > 0) continue;
        for (std::size_t at = 0; at < later.size(); ++at) {
            if (!is_value(later[at]) || later[at] == sentence[v]) continue;
            if (!changes && are_names(sentence[v], later[at])) continue;
            if (std::ranges::all_of(names, [&](std::string_view name) { return has_near(later, at, name); }))
                return true;
        }
    }
    return false;
}

}  // namespace whittle::inline v0::detail
