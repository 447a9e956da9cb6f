#include "redaction_rules.hpp"

#include "made_words.hpp"
#include "whittle/base/detail/ascii.hpp"
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
using detail::lower;

namespace {

constexpr std::array<std::string_view, 4> built_in_rules{"key", "random", "named", "private_key"};
constexpr std::size_t least_listed_word = 4;

bool is_name(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return is_alnum(c) || c == '_'; });
}

void require_rules(const RedactionRules& rules) {
    Problems problems;
    for (const std::string& name : rules.disabled) {
        if (!detail::is_one_of(std::string_view(name), built_in_rules))
            problems.error("disabled", fmt::format("\"{}\"", name), "key, random, named or private_key");
    }
    for (const std::string& beginning : rules.api_key_prefixes) {
        if (beginning.empty() || !std::ranges::all_of(beginning, redaction::is_in_word))
            problems.error("api_key_prefixes", fmt::format("\"{}\"", beginning),
                           "letters, digits, \"_\", \"-\" and \".\"");
    }
    for (const std::string& name : rules.secret_field_names) {
        if (!is_name(name))
            problems.error("secret_field_names", fmt::format("\"{}\"", name), "letters, digits and \"_\"");
    }
    for (const std::string& word : rules.secret_words) {
        if (word.size() < least_listed_word || word.find('\n') != std::string::npos)
            problems.error("secret_words", fmt::format("one of {} bytes", word.size()),
                           "4 bytes or more, no line feed");
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

redaction::CompiledRedactionRules::CompiledRedactionRules(RedactionRules rules) : given(std::move(rules)) {
    require_rules(given);
    const auto is_on = [&](std::string_view name) { return !detail::is_one_of(name, given.disabled); };
    key = is_on("key");
    random = is_on("random");
    named = is_on("named");
    private_key = is_on("private_key");
    const auto add = [&](const KeyForm& form) {
        forms[static_cast<unsigned char>(form.beginning.front())].push_back(form);
    };
    std::ranges::for_each(key_forms(), add);
    for (const std::string& beginning : given.api_key_prefixes) add({beginning});
    for (std::string name : given.secret_field_names) {
        std::ranges::transform(name, name.begin(), [](char c) { return lower(c); });
        own_names.push_back(std::move(name));
    }
}

namespace redaction {

bool is_in_word(char c) noexcept { return is_alnum(c) || c == '_' || c == '-' || c == '.'; }

bool is_number(std::string_view word) noexcept {
    return std::ranges::all_of(word, [](char c) { return is_digit(c) || c == '.'; });
}

bool holds_name_of_secret(std::string_view word, const CompiledRedactionRules& rules) noexcept {
    const auto stands_in_word = [&](const std::string& own) {
        for (std::size_t at = 0; at < word.size(); ++at) {
            if (stands_at(word, at, own)) return true;
        }
        return false;
    };
    return holds_name_of_secret(word) || std::ranges::any_of(rules.own_names, stands_in_word);
}

NameKind kind_of_name(std::string_view name, const CompiledRedactionRules& rules) noexcept {
    const bool is_own = std::ranges::any_of(rules.own_names, [&](const std::string& own) {
        return name.size() >= own.size() && stands_at(name, name.size() - own.size(), own);
    });
    return is_own ? NameKind::secret : kind_of_name(name);
}

namespace {

/// Of letters alone: neither words nor bases of DNA.
bool is_made_of_capitals(std::string_view word) noexcept {
    constexpr std::string_view bases = "ACGTN";
    return word.find_first_not_of(bases) != std::string_view::npos && !reads_as_words(word);
}

}  // namespace

std::size_t size_of_exact_key(std::string_view text, std::size_t size) noexcept {
    constexpr std::size_t least_cut = 12;
    const std::string_view start = text.substr(0, size + 1);
    const auto end = std::ranges::find_if_not(start, is_alnum);
    const std::string_view key = start.substr(0, static_cast<std::size_t>(end - start.begin()));
    const bool is_cut = key.size() == text.size() && key.size() >= least_cut && key.size() < size;
    if ((key.size() != size && !is_cut) || std::ranges::any_of(key, is_lower)) return 0;
    return std::ranges::any_of(key, is_digit) || is_made_of_capitals(key) ? key.size() : 0;
}

/// Of a key that the text's end cuts off, half is enough.
const KeyForm* key_form_of(std::string_view text, std::size_t word, const CompiledRedactionRules& rules) noexcept {
    constexpr std::size_t least = 16;
    constexpr std::size_t least_cut = 12;
    const bool is_cut = word == text.size();
    const auto is_key = [&](const KeyForm& form) {
        if (!text.starts_with(form.beginning)) return false;
        if (form.trust == Trust::wide) return true;
        if (form.trust == Trust::exact) return size_of_exact_key(text, form.least) > 0;
        if (word < (is_cut ? std::max(least_cut, form.least / 2) : std::max(least, form.least))) return false;
        if (form.trust == Trust::sure) return true;
        return is_made(text.substr(0, word), form.beginning.size());
    };
    const auto& of_byte = rules.forms[static_cast<unsigned char>(text.front())];
    const auto form = std::ranges::find_if(of_byte, is_key);
    return form == of_byte.end() ? nullptr : &*form;
}

std::string mask_of(std::string_view secret, std::size_t shown_bytes) {
    return std::string(grapheme_prefix(secret, std::min(shown_bytes, secret.size() / 4))) + "***";
}

}  // namespace redaction
}  // namespace whittle::inline v0
