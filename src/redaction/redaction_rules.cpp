#include "redaction_rules.hpp"

#include "../base/ascii.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace whittle::inline v0 {

using detail::is_alnum;
using detail::is_digit;
using detail::is_lower;
using detail::is_upper;
using detail::lower;

namespace {

constexpr std::array<std::string_view, 4> built_in_rules{"key", "random", "named", "private_key"};
constexpr std::size_t least_listed_word = 4;

constexpr std::array<std::string_view, 18> known_beginnings{"sk-",  "sk_",  "pk_",    "rk_",   "ghp_",  "gho_",
                                                            "ghs_", "ghu_", "glpat-", "xoxb-", "xoxp-", "AKIA",
                                                            "ASIA", "AIza", "eyJ",    "hf_",   "npm_",  "github_pat_"};
constexpr std::array<std::string_view, 8> known_names{"password", "passwd", "secret",        "token",
                                                      "api_key",  "apikey", "authorization", "bearer"};

bool is_name(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return is_alnum(c) || c == '_'; });
}

void require_rules(const RedactionRules& rules) {
    Problems problems;
    for (const std::string& name : rules.off) {
        if (!detail::is_one_of(std::string_view(name), built_in_rules))
            problems.error("off", fmt::format("\"{}\"", name), "key, random, named or private_key");
    }
    for (const std::string& beginning : rules.beginnings) {
        if (beginning.empty() || !std::ranges::all_of(beginning, redaction::is_in_word))
            problems.error("beginnings", fmt::format("\"{}\"", beginning), "letters, digits, \"_\", \"-\" and \".\"");
    }
    for (const std::string& name : rules.names) {
        if (!is_name(name)) problems.error("names", fmt::format("\"{}\"", name), "letters, digits and \"_\"");
    }
    for (const std::string& word : rules.words) {
        if (word.size() < least_listed_word || word.find('\n') != std::string::npos)
            problems.error("words", fmt::format("one of {} bytes", word.size()), "4 bytes or more, no line feed");
    }
    problems.throw_if_errors("redaction");
}

/// `name`, which is in lower case, at `at` of `word`.
bool stands_at(std::string_view word, std::size_t at, std::string_view name) noexcept {
    if (name.size() > word.size() - at) return false;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (lower(word[at + i]) != name[i]) return false;
    }
    return true;
}

}  // namespace

std::int64_t Redacted::count() const noexcept {
    std::int64_t sum = 0;
    for (const auto& [rule, number] : places) sum += number;
    return sum;
}

redaction::MaskRules::MaskRules(RedactionRules rules) : given(std::move(rules)) {
    require_rules(given);
    const auto is_on = [&](std::string_view name) { return !detail::is_one_of(name, given.off); };
    key = is_on("key");
    random = is_on("random");
    named = is_on("named");
    private_key = is_on("private_key");
    beginnings.assign(known_beginnings.begin(), known_beginnings.end());
    std::ranges::copy(given.beginnings, std::back_inserter(beginnings));
    names.assign(known_names.begin(), known_names.end());
    for (std::string name : given.names) {
        std::ranges::transform(name, name.begin(), [](char c) { return lower(c); });
        names.push_back(std::move(name));
    }
    for (const std::string& name : names) {
        const char first = name[0];
        begins_name[static_cast<unsigned char>(first)] = true;
        if (is_lower(first)) begins_name[static_cast<unsigned char>(first - 'a' + 'A')] = true;
    }
}

namespace redaction {

bool is_in_word(char c) noexcept { return is_alnum(c) || c == '_' || c == '-' || c == '.'; }

bool is_number(std::string_view word) noexcept {
    return std::ranges::all_of(word, [](char c) { return is_digit(c) || c == '.'; });
}

bool looks_random(std::string_view word) noexcept {
    constexpr std::size_t least = 32;
    return word.size() >= least && std::ranges::all_of(word, is_alnum) && std::ranges::count_if(word, is_digit) >= 3 &&
           std::ranges::any_of(word, is_lower) && std::ranges::any_of(word, is_upper);
}

bool names_a_secret(std::string_view word, const MaskRules& rules) noexcept {
    for (std::size_t at = 0; at < word.size(); ++at) {
        if (!rules.begins_name[static_cast<unsigned char>(word[at])]) continue;
        for (const std::string& name : rules.names) {
            if (stands_at(word, at, name)) return true;
        }
    }
    return false;
}

bool is_key_of_secret(std::string_view key, const std::vector<std::string>& names) noexcept {
    return std::ranges::any_of(names, [&](const std::string& name) {
        return key.size() >= name.size() && stands_at(key, key.size() - name.size(), name);
    });
}

bool begins_as_key(std::string_view word, const std::vector<std::string>& beginnings) noexcept {
    constexpr std::size_t least = 16;
    return word.size() >= least &&
           std::ranges::any_of(beginnings, [&](const std::string& beginning) { return word.starts_with(beginning); });
}

std::string mask_of(std::string_view secret, std::size_t shown_bytes) {
    return std::string(utf8_prefix(secret, shown_bytes)) + "***";
}

}  // namespace redaction
}  // namespace whittle::inline v0
