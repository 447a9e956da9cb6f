#include "made_words.hpp"

#include "whittle/base/detail/ascii.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace whittle::inline v0::redaction {
namespace {

using detail::is_alnum;
using detail::is_digit;
using detail::is_letter;
using detail::is_lower;
using detail::is_upper;
using detail::lower;

/// Behind each letter those that often follow it in English words and in names of programs: a third of all pairs, and
/// nearly all that stand in words.
constexpr std::array<std::string_view, 26> followers{
    "bcdgiklmnprstuvy",  // a
    "aeijloruy",
    "aehikloqrtuy",
    "aeiorsuvy",
    "abcdefgilmnopqrstvwxy",
    "aefiloru",
    "aeghilnorsu",
    "aeiortuy",
    "abcdefgklmnoprstvz",
    "aeosu",
    "aeinsy",
    "adefiklostuvy",
    "abeimnopsuy",
    "acdefgiknostuvy",
    "abcdfgiklmnoprstuvwx",
    "aehiloprstuy",
    "u",
    "abcdegiklmnoprstuvy",
    "acehiklmnopqrstuwy",
    "aehiloprstuwy",
    "abcdegilmnprst",
    "aeio",
    "aehinors",
    "acehipty",
    "aelmnopst",
    "aeioz",
};

bool follow_each_other(char first, char second) noexcept {
    return followers[static_cast<std::size_t>(lower(first) - 'a')].find(lower(second)) != std::string_view::npos;
}

bool is_hex(std::string_view word) noexcept {
    return std::ranges::all_of(word, [](char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f'); });
}

bool is_hash(std::string_view word) noexcept {
    constexpr std::array<std::size_t, 7> sizes{24, 32, 40, 56, 64, 96, 128};
    return std::ranges::find(sizes, word.size()) != sizes.end() && is_hex(word);
}

/// "Qm" and 44 characters of base58.
bool is_hash_of_ipfs(std::string_view word) noexcept {
    constexpr std::size_t size = 46;
    return word.size() == size && word.starts_with("Qm") && word.find_first_of("0OIl") == std::string_view::npos;
}

bool is_uuid(std::string_view word) noexcept {
    constexpr std::size_t size = 36;
    if (word.size() != size) return false;
    for (std::size_t i = 0; i < size; ++i) {
        const bool is_line = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_line ? word[i] != '-' : !is_hex(word.substr(i, 1))) return false;
    }
    return true;
}

bool is_hex_of_one_case(std::string_view word) noexcept {
    return is_hex(word) && (std::ranges::none_of(word, is_upper) || std::ranges::none_of(word, is_lower));
}

/// "20241105T101112Z", "28T05", "123Z".
bool is_time(std::string_view word) noexcept {
    return std::ranges::all_of(word, [](char c) { return is_digit(c) || c == 'T' || c == 'Z'; });
}

/// "Linux", "PROD", "node20".
bool is_short_word(std::string_view word) noexcept {
    constexpr std::size_t longest = 12;
    constexpr std::size_t longest_with_digits = 8;
    const auto size = static_cast<std::size_t>(std::ranges::find_if_not(word, is_letter) - word.begin());
    const std::string_view letters = word.substr(0, size);
    const bool is_of_one_case = std::ranges::all_of(letters, is_upper) ||
                                (!letters.empty() && std::ranges::all_of(letters.substr(1), is_lower));
    const std::string_view digits = word.substr(size);
    return is_of_one_case && std::ranges::all_of(digits, is_digit) &&
           word.size() <= (digits.empty() ? longest : longest_with_digits);
}

/// "x64", "3rd", "1a2b", and not "7KQ2" of a license.
bool is_short_part(std::string_view part) noexcept {
    constexpr std::size_t shortest = 3;
    constexpr std::size_t longest = 4;
    if (part.size() > longest) return false;
    int turns = 0;
    for (std::size_t i = 1; i < part.size(); ++i) turns += is_digit(part[i - 1]) != is_digit(part[i]) ? 1 : 0;
    return part.size() <= shortest || turns <= 1;
}

/// What keys of caches and names of files are composed of.
bool is_usual_part(std::string_view part) noexcept {
    constexpr std::size_t longest_hash_cut = 16;
    return is_short_part(part) || is_time(part) || is_hash(part) ||
           (part.size() <= longest_hash_cut && is_hex_of_one_case(part)) || is_short_word(part) || reads_as_words(part);
}

/// Out of words, hashes, UUIDs, dates and paths, with signs between.
bool is_composed(std::string_view value) noexcept {
    std::size_t parts = 0;
    bool is_usual = true;
    for (std::size_t at = 0; at < value.size() && is_usual;) {
        const auto end = static_cast<std::size_t>(
            std::find_if_not(value.begin() + static_cast<std::ptrdiff_t>(at), value.end(), is_alnum) - value.begin());
        if (end > at) ++parts;
        is_usual = is_usual_part(value.substr(at, end - at));
        at = end + 1;
    }
    return is_usual && parts > 1;
}

/// In bits for each byte.
double entropy_of(std::string_view word) noexcept {
    std::array<double, 256> counts{};
    for (const char c : word) ++counts[static_cast<unsigned char>(c)];
    const auto size = static_cast<double>(word.size());
    double bits = 0;
    for (const double count : counts) {
        if (count > 0) bits -= count / size * std::log2(count / size);
    }
    return bits;
}

}  // namespace

bool reads_as_words(std::string_view word) noexcept {
    constexpr double least_usual = 0.75;
    constexpr double most_turns = 0.3;  // from small letters to capitals, from letters to digits and back
    int pairs = 0;
    int usual = 0;
    int turns = 0;
    for (std::size_t i = 1; i < word.size(); ++i) {
        const char first = word[i - 1];
        const char second = word[i];
        if (is_digit(first) != is_digit(second) || (is_lower(first) && is_upper(second))) ++turns;
        if (!is_letter(first) || !is_letter(second)) continue;
        ++pairs;
        usual += follow_each_other(first, second) ? 1 : 0;
    }
    const auto size = static_cast<double>(word.size());
    return pairs >= 3 && 3.0 * pairs >= size && usual >= least_usual * pairs && turns <= most_turns * size;
}

bool looks_random(std::string_view word) noexcept {
    constexpr std::size_t least = 32;
    return word.size() >= least && !is_hash_of_ipfs(word) && std::ranges::all_of(word, is_alnum) &&
           std::ranges::count_if(word, is_digit) >= 3 && std::ranges::any_of(word, is_lower) &&
           std::ranges::any_of(word, is_upper) && !reads_as_words(word);
}

bool is_path(std::string_view value) noexcept {
    if (value.find('/') == std::string_view::npos || value.find_first_of("+=") != std::string_view::npos) return false;
    std::size_t parts = 0;
    std::size_t words = 0;
    for (std::string_view rest = value; !rest.empty();) {
        const std::string_view part = rest.substr(0, rest.find('/'));
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
        if (part.empty()) continue;
        ++parts;
        words += part.size() <= 4 || reads_as_words(part) ? 1U : 0U;
    }
    return words * 2 > parts;
}

bool is_made(std::string_view word, std::size_t beginning) noexcept {
    constexpr std::size_t least_run = 12;
    const std::string_view rest = word.substr(beginning);
    if (is_hash(word) || reads_as_words(rest)) return false;
    if (std::ranges::any_of(rest, is_digit)) return true;
    std::size_t run = 0;
    return std::ranges::any_of(rest, [&](char c) { return (run = is_alnum(c) ? run + 1 : 0) >= least_run; });
}

bool looks_made(std::string_view value) noexcept {
    constexpr std::size_t least = 16;
    constexpr double least_bits = 3.0;
    if (value.size() < least || std::ranges::none_of(value, is_digit) || std::ranges::none_of(value, is_letter) ||
        std::ranges::any_of(value, [](char c) { return c <= ' ' || c > '~'; }))
        return false;
    return !is_path(value) && !is_hash(value) && !is_uuid(value) && !is_composed(value) && !reads_as_words(value) &&
           entropy_of(value) >= least_bits;
}

}  // namespace whittle::inline v0::redaction
