#include "overflow_form.hpp"

#include "whittle/base/detail/ascii.hpp"

#include "whittle/base/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace whittle::inline v0::detail {
namespace {

using PhraseList = std::span<const std::string_view>;

constexpr std::size_t not_there = std::string_view::npos;

// What is measured. Longer words first, so that a match takes all of it.
constexpr std::array<std::string_view, 20> measured_words{
    "number of tokens", "requested tokens", "prompt tokens", "prompt length", "prompt_tokens", "prompt", "input tokens",
    "input length",     "inputs",           "input",         "total tokens",  "token count",   "tokens", "messages",
    "message",          "conversation",     "history",       "context",       "sequence",      "request"};
constexpr std::array<std::string_view, 4> vague_subjects{"request", "message", "messages", "sequence"};
constexpr std::array<std::string_view, 4> too_much_words{"too long", "too large", "too big", "too many tokens"};
constexpr std::array<std::string_view, 13> comparing_words{
    "exceed", "longer than", "larger than",  "greater than", "more than",     "bigger than", "higher than",
    "beyond", "surpass",     "must be less", "must not be",  "only supports", "does not fit"};
constexpr std::array<std::string_view, 11> limit_words{
    "max",     "limit",    "context length", "context size", "context window", "window",
    "allowed", "supports", "supported",      "capacity",     "session_len"};
/// What may stand between the subject and the comparison.
constexpr std::array<std::string_view, 45> filling_words{
    "a",    "all",   "and",    "are",    "as",     "body",    "but",  "by",    "can",    "cannot", "content", "count",
    "data", "for",   "has",    "have",   "in",     "input",   "is",   "it",    "length", "limit",  "may",     "model",
    "must", "not",   "of",     "output", "prompt", "request", "size", "sum",   "text",   "that",   "the",     "this",
    "to",   "token", "tokens", "total",  "was",    "which",   "with", "would", "your"};
/// Other sizes than that of the text, and other limit_words than that of one request.
constexpr std::array<std::string_view, 42> words_of_other_sizes{
    "character", "bytes",      "byte",          "pixel",        " mb",       "megabyte",      "image",
    "pdf",       "page",       "audio",         "video",        "file",      "tools",         "tool name",
    "items",     "array",      "schema",        "blocks",       "per min",   "per day",       "per second",
    "per hour",  "rate limit", "quota",         "credit",       "afford",    "should be",     "should have",
    "string",    "took",       "timed out",     "timeout",      "deadline",  "stop sequence", "temperature",
    "dimension", "tool_calls", "function name", "try again in", "concurren", "please wait",   "budget_tokens"};
constexpr std::array<std::string_view, 8> words_of_output{
    "max_tokens",    "max_completion_tokens", "max_output_tokens", "max_new_tokens",
    "output tokens", "completion tokens",     "generated tokens",  "max output"};
constexpr std::array<std::string_view, 6> words_of_input{"input",       "prompt",       "messages",
                                                         "request has", "conversation", "total tokens"};
/// Those that make a vague subject the text of the request.
constexpr std::array<std::string_view, 4> words_of_text{"input", "prompt", "conversation", "total tokens"};

bool mentions_any(std::string_view text, PhraseList words) noexcept {
    return std::ranges::any_of(words, [text](std::string_view word) { return text.find(word) != not_there; });
}

bool is_name_byte(char c) noexcept { return is_alnum(c) || c == '_'; }

/// Whole words, not parts of names and paths.
std::size_t find_whole_word(std::string_view text, std::string_view word, std::size_t from) noexcept {
    for (std::size_t at = text.find(word, from); at != not_there; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        const bool begins = at == 0 || (!is_name_byte(text[at - 1]) && text[at - 1] != '.' && text[at - 1] != '/');
        const bool ends = end == text.size() || (!is_name_byte(text[end]) && text[end] != '[' && text[end] != '/');
        const bool is_path = end + 1 < text.size() && text[end] == '.' && is_name_byte(text[end + 1]);
        if (begins && ends && !is_path) return at;
    }
    return not_there;
}

/// PhraseList that say nothing else, numbers and brackets.
bool is_filling(std::string_view gap) noexcept {
    constexpr std::size_t longest_gap = 80;
    if (gap.size() > longest_gap || gap.find_first_of(":'\"") != not_there) return false;
    while (!gap.empty()) {
        const auto begin = std::ranges::find_if(gap, is_letter);
        const auto end = std::find_if_not(begin, gap.end(), is_name_byte);
        const std::string_view word(begin, end);
        if (!word.empty() && !is_one_of(word, filling_words) && !is_one_of(word, words_of_output)) return false;
        gap = std::string_view(end, gap.end());
    }
    return true;
}

/// Where `relation` says something of a subject; not_there: nowhere.
std::size_t find_mention(std::string_view sentence, std::string_view relation, PhraseList of) noexcept {
    for (std::size_t at = sentence.find(relation); at != not_there; at = sentence.find(relation, at + 1)) {
        for (const std::string_view subject : of) {
            const std::string_view before = sentence.substr(0, at);
            for (std::size_t s = find_whole_word(before, subject, 0); s != not_there;
                 s = find_whole_word(before, subject, s + 1)) {
                if (is_filling(before.substr(s + subject.size()))) return at;
            }
        }
    }
    return not_there;
}

struct LoneNumber {
    std::size_t at = 0;
    std::int64_t value = 0;
};

/// Those that stand alone: no versions, dates or parts of names.
std::vector<LoneNumber> lone_numbers(std::string_view sentence) {
    constexpr std::int64_t least = 16;
    constexpr int most_digits = 12;
    std::vector<LoneNumber> numbers;
    for (std::size_t at = 0; at < sentence.size();) {
        if (!is_digit(sentence[at])) {
            ++at;
            continue;
        }
        const std::size_t begin = at;
        LoneNumber number{begin};
        int digits = 0;
        for (; at < sentence.size(); ++at) {
            const bool is_comma = sentence[at] == ',' && at + 1 < sentence.size() && is_digit(sentence[at + 1]);
            if (is_comma) continue;
            if (!is_digit(sentence[at])) break;
            if (++digits <= most_digits) number.value = 10 * number.value + (sentence[at] - '0');
        }
        const char before = begin == 0 ? ' ' : sentence[begin - 1];
        const char after = at == sentence.size() ? ' ' : sentence[at];
        const bool goes_on = after == '.' && at + 1 < sentence.size() && is_digit(sentence[at + 1]);
        const bool is_excess = sentence.substr(0, begin).ends_with("by ");  // by how much it is more
        const bool is_alone = !is_excess && !is_name_byte(before) && before != '-' && before != '.' &&
                              !is_name_byte(after) && after != '-' && !goes_on;
        if (is_alone && digits <= most_digits && number.value >= least) numbers.push_back(number);
    }
    return numbers;
}

/// The number that follows a word for a limit, as near as can be; not_there: none does.
std::size_t find_limit(std::string_view sentence, const std::vector<LoneNumber>& numbers) noexcept {
    constexpr std::size_t farthest = 40;
    std::size_t found = not_there;
    std::size_t nearest = farthest;
    for (const std::string_view word : limit_words) {
        for (std::size_t at = sentence.find(word); at != not_there; at = sentence.find(word, at + 1)) {
            for (std::size_t n = 0; n < numbers.size(); ++n) {
                if (numbers[n].at < at) continue;
                if (numbers[n].at - at < nearest) {
                    nearest = numbers[n].at - at;
                    found = n;
                }
                break;
            }
        }
    }
    return found;
}

OverflowNumbers sizes_in(std::string_view sentence, const std::vector<LoneNumber>& numbers) noexcept {
    if (numbers.size() == 2 && numbers[0].value != numbers[1].value)
        return {.limit = std::min(numbers[0].value, numbers[1].value),
                .input = std::max(numbers[0].value, numbers[1].value)};
    const std::size_t limit = find_limit(sentence, numbers);
    if (limit == not_there) return {};
    OverflowNumbers sizes{.limit = numbers[limit].value};
    for (const LoneNumber& number : numbers) {
        if (number.value > sizes.limit) sizes.input = std::max(sizes.input, number.value);
    }
    return sizes;
}

/// "Number of messages (1200)", "at most 500 messages".
bool counts_messages(std::string_view sentence) noexcept {
    constexpr std::string_view counted = " messages";
    if (sentence.find("number of messages") != not_there || sentence.find("message count") != not_there) return true;
    for (std::size_t at = sentence.find(counted); at != not_there; at = sentence.find(counted, at + 1)) {
        if (at > 0 && is_digit(sentence[at - 1])) return true;
    }
    return false;
}

std::optional<OverflowNumbers> form_of_overflow(std::string_view sentence) {
    if (mentions_any(sentence, words_of_other_sizes) || counts_messages(sentence)) return std::nullopt;
    if (mentions_any(sentence, words_of_output) && !mentions_any(sentence, words_of_input)) return std::nullopt;
    const bool is_of_tokens = sentence.find("token") != not_there || sentence.find("context") != not_there;
    const std::vector<LoneNumber> numbers = lone_numbers(sentence);
    const OverflowNumbers sizes = sizes_in(sentence, numbers);
    for (const std::string_view relation : too_much_words) {
        if (find_mention(sentence, relation, measured_words) != not_there) return sizes;
    }
    if (sentence.starts_with("too many tokens") || sentence.find("too many input tokens") != not_there) return sizes;
    for (const std::string_view relation : comparing_words) {
        const std::size_t at = find_mention(sentence, relation, measured_words);
        if (at == not_there) continue;
        const bool is_vague = find_mention(sentence, relation, vague_subjects) != not_there && !is_of_tokens &&
                              !mentions_any(sentence, words_of_text);
        if (!is_vague && (mentions_any(sentence.substr(at), limit_words) || sizes.input > 0)) return sizes;
    }
    const bool has_both = sizes.limit > 0 && sizes.input > sizes.limit && numbers.size() <= 3;
    const bool compares = mentions_any(sentence, comparing_words) || mentions_any(sentence, too_much_words);
    if (has_both && compares && sentence.find("token") != not_there && mentions_any(sentence, words_of_input))
        return sizes;
    return std::nullopt;
}

std::optional<std::int64_t> number_after(std::string_view text, std::string_view word) {
    const std::size_t at = text.find(word);
    if (at == not_there) return std::nullopt;
    constexpr std::size_t farthest = 4;  // a colon, a blank
    const std::string_view rest = text.substr(at + word.size(), 40);
    const std::vector<LoneNumber> numbers = lone_numbers(rest.substr(0, rest.find_last_of("0123456789") + 1));
    if (numbers.empty() || numbers.front().at > farthest) return std::nullopt;
    return numbers.front().value;
}

}  // namespace

std::optional<OverflowNumbers> read_overflow_form(std::string_view text) {
    while (!text.empty()) {
        std::size_t end = text.find('\n');
        end = std::min({end, text.find(". "), text.find("! "), text.size()});
        if (auto sizes = form_of_overflow(text.substr(0, end))) return sizes;
        text.remove_prefix(std::min(text.size(), end + 1));
    }
    return std::nullopt;
}

std::optional<OverflowNumbers> read_above_rate(std::string_view text) {
    const auto limit = number_after(text, "limit");
    const auto requested = number_after(text, "requested");
    if (!limit || !requested || *requested <= *limit || text.find("token") == not_there) return std::nullopt;
    return OverflowNumbers{.limit = *limit, .input = *requested};
}

}  // namespace whittle::inline v0::detail
