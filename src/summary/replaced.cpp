#include "replaced.hpp"

#include "whittle/base/detail/ascii.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace whittle::inline v0::detail {
namespace {

constexpr std::array<std::string_view, 66> small_words{
    "the",    "and",    "for",   "with",    "that",  "this",  "from",     "must",       "never", "always", "only",
    "not",    "don't",  "are",   "was",     "has",   "have",  "per",      "than",       "more",  "less",   "most",
    "least",  "its",    "will",  "any",     "all",   "each",  "every",    "keep",       "put",   "use",    "your",
    "our",    "their",  "them",  "they",    "who",   "may",   "can",      "should",     "would", "let",    "stay",
    "please", "which",  "when",  "into",    "onto",  "upon",  "dollars",  "dollar",     "euros", "euro",   "usd",
    "eur",    "target", "total", "current", "final", "quick", "internal", "internally", "below", "under",  "above"};
constexpr std::array<std::string_view, 24> changing_words{
    "now",      "new",      "changed",   "changes", "rotated", "rotation", "updated",   "update",
    "replaced", "replaces", "instead",   "moved",   "renamed", "raised",   "lowered",   "switched",
    "switch",   "longer",   "corrected", "rather",  "rebased", "extended", "postponed", "previous"};
constexpr std::array<std::string_view, 9> forbidding_words{"no",      "never",  "not",   "don't", "cannot",
                                                           "without", "forbid", "avoid", "nobody"};

/// Words of one meaning where a rule gives something a value. The first stands for all.
/// bench/conformance_kit.py was at hand when they were chosen: its figures do not say how many replacements are found
/// elsewhere.
constexpr std::array<std::array<std::string_view, 8>, 8> synonym_rows{{
    {"budget", "spend", "spending", "cost", "expense", "expenditure"},
    {"limit", "cap", "ceiling", "maximum"},
    {"date", "deadline", "due", "timing", "schedule", "scheduled"},
    {"name", "codename", "label", "called", "calling", "named", "designated"},
    {"time", "timestamp", "clock", "timezone"},
    {"owner", "own", "pager", "duty", "handling", "belong", "responsible"},
    {"answer", "reply", "replie", "response", "respond"},
    {"measurement", "unit"},
}};

constexpr std::array<std::string_view, 19> day_words{
    "monday", "tuesday", "wednesday", "thursday", "friday",    "saturday", "sunday",   "january",  "february", "march",
    "april",  "june",    "july",      "august",   "september", "october",  "november", "december", "tomorrow"};
constexpr std::array<std::string_view, 8> zone_words{"utc", "gmt", "cet", "cest", "est", "edt", "pst", "pdt"};
/// In front of "time".
constexpr std::array<std::string_view, 4> zone_regions{"pacific", "eastern", "central", "mountain"};
/// A value that is a bound: what something is now does not replace it.
constexpr std::array<std::string_view, 10> bounding_words{"least",  "most",    "below",  "under",   "above",
                                                          "exceed", "exceeds", "within", "minimum", "maximum"};
constexpr std::array<std::string_view, 2> unit_words{"metric", "imperial"};
constexpr std::array<std::string_view, 14> language_words{"english",    "german", "french",  "spanish", "italian",
                                                          "portuguese", "dutch",  "polish",  "russian", "chinese",
                                                          "japanese",   "korean", "turkish", "arabic"};
constexpr std::array<std::string_view, 9> tone_words{"terse",   "brief",  "concise", "verbose", "detailed",
                                                     "playful", "formal", "casual",  "friendly"};
constexpr std::array<std::string_view, 3> magnitude_words{"hundred", "thousand", "million"};

constexpr std::string_view word_edges = ".,;:!?()[]{}\"'`*<>$";

WordKind kind_of_plain(std::string_view lower) noexcept {
    if (is_one_of(lower, changing_words)) return WordKind::changing;
    if (is_one_of(lower, magnitude_words)) return WordKind::number;
    if (is_one_of(lower, day_words)) return WordKind::day;
    if (is_one_of(lower, zone_words)) return WordKind::zone;
    if (is_one_of(lower, unit_words)) return WordKind::unit;
    if (is_one_of(lower, language_words)) return WordKind::language;
    if (is_one_of(lower, tone_words)) return WordKind::tone;
    const bool names = lower.size() >= 3 && std::ranges::all_of(lower, is_letter) && !is_one_of(lower, small_words);
    return names ? WordKind::subject : WordKind::function_word;
}

WordKind kind_of_word(std::string_view lower) noexcept {
    if (std::ranges::none_of(lower, is_digit)) return kind_of_plain(lower);
    return std::ranges::any_of(lower, is_letter) ? WordKind::code : WordKind::number;
}

/// Of a closed list: one of them stands for a choice, whatever is said around it.
bool is_choice(WordKind kind) noexcept { return kind >= WordKind::zone; }
bool is_value(WordKind kind) noexcept { return kind >= WordKind::number; }

/// "costs" is "cost", and each of a row of synonym_rows the first.
std::size_t id_of_subject(std::string_view lower) {
    if (lower.size() > 3 && lower.ends_with('s') && !lower.ends_with("ss")) lower.remove_suffix(1);
    for (const auto& row : synonym_rows) {
        if (is_one_of(lower, row)) lower = row[0];
    }
    return std::hash<std::string_view>{}(lower);
}

/// "orders_2023" and "orders_2024" are names of two things, not two values of one.
std::size_t letters_of_code(std::string_view lower) {
    constexpr std::size_t fewest = 3;
    std::string letters;
    std::ranges::copy_if(lower, std::back_inserter(letters), is_letter);
    return letters.size() < fewest ? 0 : std::hash<std::string>{}(letters);
}

/// "HARD CONSTRAINT: " says what kind of sentence it is.
std::size_t behind_label(std::string_view sentence) noexcept {
    constexpr std::size_t longest_label = 40;
    const std::size_t colon = sentence.substr(0, longest_label).find(": ");
    if (colon == sentence.npos || std::ranges::any_of(sentence.substr(0, colon), is_lower)) return 0;
    return colon + 1;
}

class StatementReader {
public:
    explicit StatementReader(std::string_view sentence) : sentence_(sentence) {}

    Statement read() {
        constexpr std::size_t most = 100;
        std::size_t at = behind_label(sentence_);
        while (statement_.words.size() < most) {
            at = sentence_.find_first_not_of(" \t\r\n", at);
            if (at == sentence_.npos) break;
            const std::size_t end = std::min(sentence_.find_first_of(" \t\r\n", at), sentence_.size());
            add_token(at, end);
            begins_sentence_ = std::string_view(".!?:;").find(sentence_[end - 1]) != std::string_view::npos;
            at = end;
        }
        return std::move(statement_);
    }

private:
    /// "Access-code" is two words, "adwgk-18" is one.
    void add_token(std::size_t begin, std::size_t end) {
        const std::string_view token = sentence_.substr(begin, end - begin);
        const std::size_t first = token.find_first_not_of(word_edges);
        if (first == token.npos) return;
        const std::size_t last = token.find_last_not_of(word_edges) + 1;
        std::size_t at = begin + first;
        const std::size_t stop = begin + last;
        const bool is_joined =
            std::ranges::all_of(sentence_.substr(at, stop - at), [](char c) { return is_letter(c) || c == '-'; });
        while (at < stop) {
            const std::size_t dash = is_joined ? std::min(sentence_.find('-', at), stop) : stop;
            if (dash > at) add_word(at, dash - at);
            at = dash + 1;
        }
    }

    void add_word(std::size_t begin, std::size_t length) {
        const std::string_view word = sentence_.substr(begin, length);
        std::string lower = ascii_lower(word);
        if (lower.ends_with("'s")) lower.resize(lower.size() - 2);
        statement_.forbids = statement_.forbids || is_one_of(lower, forbidding_words);
        statement_.bounds = statement_.bounds || is_one_of(lower, bounding_words);
        statement_.is_joint = statement_.is_joint || lower == "and";
        StatementWord added{.kind = kind_of_word(lower), .begin = begin, .length = length};
        added.is_linking = lower == "of" || lower == "for";
        if (added.kind == WordKind::subject && !begins_sentence_ && length > 1 && is_upper(word[0]))
            added.kind = WordKind::name;
        added.id = added.kind == WordKind::subject ? id_of_subject(lower) : std::hash<std::string>{}(lower);
        if (added.kind == WordKind::code) added.letters = letters_of_code(lower);
        // "Now run the tests" says what is next, not that something is not as before.
        const bool is_next = begins_sentence_ && lower == "now";
        statement_.changes = statement_.changes || (added.kind == WordKind::changing && !is_next);
        if (id_of_subject(lower) == id_of_subject("time")) note_zone();
        if (is_one_of(lower, magnitude_words)) join_number(added);
        statement_.words.push_back(added);
        begins_sentence_ = false;
    }

    /// "Pacific time".
    void note_zone() {
        if (statement_.words.empty()) return;
        StatementWord& region = statement_.words.back();
        if (is_one_of(ascii_lower(sentence_.substr(region.begin, region.length)), zone_regions))
            region.kind = WordKind::zone;
    }

    /// "three hundred" is one value.
    void join_number(StatementWord& magnitude) {
        if (statement_.words.empty() || statement_.words.back().kind == WordKind::changing) return;
        const StatementWord count = statement_.words.back();
        statement_.words.pop_back();
        magnitude.length += magnitude.begin - count.begin;
        magnitude.begin = count.begin;
        magnitude.id = std::hash<std::string>{}(ascii_lower(sentence_.substr(magnitude.begin, magnitude.length)));
    }

    std::string_view sentence_;
    Statement statement_{};
    bool begins_sentence_ = true;
};

/// How one sentence gives values to what another one gives some.
class StatementComparison {
public:
    StatementComparison(const Statement& sentence, const Statement& later) : sentence_(sentence), later_(later) {}

    [[nodiscard]] std::vector<StatementWord> replaced() const {
        std::vector<StatementWord> found;
        if (!share_subjects()) return found;
        for (std::size_t v = 0; v < sentence_.words.size(); ++v) {
            const StatementWord& value = sentence_.words[v];
            if (!is_value(value.kind)) continue;
            const bool is_known = std::ranges::find(found, value.id, &StatementWord::id) != found.end();
            if (is_known || is_replaced(v)) found.push_back(value);
        }
        return found;
    }

private:
    static bool has(const Statement& statement, std::size_t id) {
        return std::ranges::find(statement.words, id, &StatementWord::id) != statement.words.end();
    }

    [[nodiscard]] bool share_subjects() const {
        return std::ranges::any_of(sentence_.words, [&](const StatementWord& word) {
            return word.kind == WordKind::subject && has(later_, word.id);
        });
    }

    [[nodiscard]] bool is_replaced(std::size_t v) const {
        const StatementWord& value = sentence_.words[v];
        if (!later_.changes && (sentence_.forbids || (sentence_.bounds && !later_.bounds) || has(later_, value.id)))
            return false;
        for (std::size_t w = 0; w < later_.words.size(); ++w) {
            const StatementWord& other = later_.words[w];
            if (other.kind == value.kind && !has(sentence_, other.id) && replaces(v, w)) return true;
        }
        return false;
    }

    /// Whether the value at `v` became the one at `w`.
    [[nodiscard]] bool replaces(std::size_t v, std::size_t w) const {
        const StatementWord& value = sentence_.words[v];
        const bool are_names = value.letters != 0 && value.letters == later_.words[w].letters;
        if (are_names || measure_two_things(v, w)) return false;
        const std::optional<std::size_t> shared = subjects_of_both(v, w);
        if (!shared) return false;
        if (*shared >= enough && (later_.changes || is_choice(value.kind) || are_named_alike(v, w))) return true;
        if (!later_.changes || value.kind == WordKind::name) return false;
        return is_choice(value.kind) ? *shared > 0 : are_about_one_subject(v, w);
    }

    /// "30 seconds" and "3 tests", "in English" and "the English customer".
    [[nodiscard]] bool measure_two_things(std::size_t v, std::size_t w) const {
        const auto of_sentence = subject_at(sentence_, v + 1);
        const auto of_later = subject_at(later_, w + 1);
        const auto is_apart = [](const Statement& other, std::optional<std::size_t> id) {
            return id && !has(other, *id);
        };
        return is_apart(later_, of_sentence) || is_apart(sentence_, of_later);
    }

    static std::span<const StatementWord> around(const Statement& statement, std::size_t at, std::size_t before,
                                                 std::size_t behind) {
        const std::size_t first = at - std::min(at, before);
        return std::span(statement.words).subspan(first, std::min(statement.words.size(), at + behind + 1) - first);
    }

    /// How many words that name something stand near both values; nullopt: one of them is of two things.
    [[nodiscard]] std::optional<std::size_t> subjects_of_both(std::size_t v, std::size_t w) const {
        constexpr std::size_t reach = 12;
        std::vector<std::size_t> shared;
        for (const StatementWord& word : around(sentence_, v, reach, reach)) {
            if (word.kind != WordKind::subject || std::ranges::find(shared, word.id) != shared.end()) continue;
            for (const StatementWord& other : around(later_, w, reach, reach)) {
                if (other.id != word.id) continue;
                if (are_two_things(word, other)) return std::nullopt;
                shared.push_back(word.id);
                break;
            }
        }
        return shared.size();
    }

    /// Both of the last two words that name something in front of the value stand in the later sentence.
    [[nodiscard]] bool are_named_alike(std::size_t v, std::size_t w) const {
        constexpr std::size_t farthest = 6;
        std::size_t found = 0;
        for (std::size_t i = v; i-- > 0 && v - i <= farthest && found < enough;) {
            const StatementWord& word = sentence_.words[i];
            if (is_value(word.kind)) break;
            if (word.kind != WordKind::subject) continue;
            if (std::ranges::find(around(later_, w, 7, 3), word.id, &StatementWord::id) ==
                around(later_, w, 7, 3).end())
                return false;
            ++found;
        }
        return found == enough;
    }

    /// "Use port 8080", "the port is 9090 now": one word, with nothing beside it that could tell two things apart.
    [[nodiscard]] bool are_about_one_subject(std::size_t v, std::size_t w) const {
        constexpr std::size_t farthest = 6;
        for (std::size_t i = v; i-- > 0 && v - i <= farthest;) {
            const StatementWord& word = sentence_.words[i];
            if (is_value(word.kind)) return false;
            if (word.kind != WordKind::subject) continue;
            for (const StatementWord& other : around(later_, w, 7, 3)) {
                if (other.id == word.id) return !word_before(sentence_, word) && !word_before(later_, other);
            }
            return false;
        }
        return false;
    }

    /// "staging database" and "production database", "service alpha" and "service beta", "port of db1" and "port of
    /// db2": each has a word beside it that the other sentence does not have at all.
    [[nodiscard]] bool are_two_things(const StatementWord& word, const StatementWord& other) const {
        const auto differ = [&](std::optional<std::size_t> a, std::optional<std::size_t> b) {
            return a && b && !has(later_, *a) && !has(sentence_, *b);
        };
        return differ(word_before(sentence_, word), word_before(later_, other)) ||
               differ(word_behind(sentence_, word), word_behind(later_, other));
    }

    static std::optional<std::size_t> subject_at(const Statement& statement, std::size_t at) {
        if (at >= statement.words.size() || statement.words[at].kind != WordKind::subject) return std::nullopt;
        return statement.words[at].id;
    }
    static std::size_t place_of(const Statement& statement, const StatementWord& word) {
        return static_cast<std::size_t>(&word - statement.words.data());
    }
    /// What it is called by: a name, or a word that names something, right in front of it.
    static std::optional<std::size_t> word_before(const Statement& statement, const StatementWord& word) {
        const std::size_t at = place_of(statement, word);
        if (at == 0) return std::nullopt;
        const StatementWord& before = statement.words[at - 1];
        const bool tells = before.kind == WordKind::subject || before.kind == WordKind::name;
        return tells ? std::optional(before.id) : std::nullopt;
    }
    /// Or right behind it, also behind "of" and "for".
    static std::optional<std::size_t> word_behind(const Statement& statement, const StatementWord& word) {
        const std::size_t at = place_of(statement, word) + 1;
        if (const auto subject = subject_at(statement, at)) return subject;
        if (at + 1 >= statement.words.size() || !statement.words[at].is_linking) return std::nullopt;
        return statement.words[at + 1].kind == WordKind::function_word ? std::nullopt
                                                                       : std::optional(statement.words[at + 1].id);
    }

    static constexpr std::size_t enough = 2;

    const Statement& sentence_;
    const Statement& later_;
};

/// Whether a sentence ends with the character at `at`, which is not the last.
bool ends_statement(std::string_view text, std::size_t at) noexcept {
    return text[at] == '\n' ||
           (text[at + 1] == ' ' && std::string_view(".;!").find(text[at]) != std::string_view::npos);
}

/// Rows of numbers are data, and say nothing of anything.
bool gives_a_value(const Statement& statement) {
    constexpr std::ptrdiff_t most = 8;
    const auto values =
        std::ranges::count_if(statement.words, [](const StatementWord& word) { return is_value(word.kind); });
    return values > 0 && values <= most;
}

/// The sentence that begins at `begin`: where it ends.
std::size_t statement_end(std::string_view text, std::size_t begin) noexcept {
    for (std::size_t at = begin; at + 1 < text.size(); ++at) {
        if (ends_statement(text, at)) return at + 1;
    }
    return text.size();
}

/// The one that ends at `end`: where it begins.
std::size_t statement_begin(std::string_view text, std::size_t end) noexcept {
    for (std::size_t at = end; at-- > 1;) {
        if (ends_statement(text, at - 1) && at < end) return at;
    }
    return 0;
}

}  // namespace

Statement statement_of(std::string_view sentence) { return StatementReader(sentence).read(); }

void for_each_statement(std::string_view text, std::size_t most, FunctionRef<void(std::string_view, Statement)> visit) {
    constexpr std::size_t longest = 1'000;
    const std::size_t most_in_front = most / 4;  // an instruction stands in front of what was pasted, or behind it
    const auto take = [&](std::size_t begin, std::size_t end) {
        std::optional<Statement> said = statement_of(text.substr(begin, std::min(end - begin, longest)));
        if (!gives_a_value(*said)) said.reset();
        return said;
    };
    std::size_t begin = 0;
    for (std::size_t found = 0; begin < text.size() && found < most_in_front;) {
        const std::size_t end = statement_end(text, begin);
        if (auto said = take(begin, end)) {
            visit(text.substr(begin, std::min(end - begin, longest)), *std::move(said));
            ++found;
        }
        begin = end;
    }
    std::vector<std::pair<std::string_view, Statement>> last;  // the newest first
    for (std::size_t end = text.size(); end > begin && last.size() < most - most_in_front;) {
        const std::size_t first = std::max(begin, statement_begin(text, end));
        if (auto said = take(first, end))
            last.emplace_back(text.substr(first, std::min(end - first, longest)), *std::move(said));
        end = first;
    }
    for (auto it = last.rbegin(); it != last.rend(); ++it) visit(it->first, std::move(it->second));
}

std::vector<StatementWord> replaced_values(const Statement& sentence, const Statement& later) {
    return StatementComparison(sentence, later).replaced();
}

bool is_replaced_whole(const Statement& sentence, const Statement& later, std::span<const StatementWord> replaced) {
    constexpr std::ptrdiff_t most_apart = 1;
    if (sentence.forbids && !later.forbids) return false;
    const auto is_said = [&](const StatementWord& word) {
        return std::ranges::find(later.words, word.id, &StatementWord::id) != later.words.end() ||
               std::ranges::find(replaced, word.id, &StatementWord::id) != replaced.end();
    };
    const auto is_apart = [&](const StatementWord& word) { return word.kind == WordKind::subject && !is_said(word); };
    const bool has_more_values = std::ranges::any_of(sentence.words, [&](const StatementWord& word) {
        return is_value(word.kind) && word.kind != WordKind::name && !is_said(word);
    });
    if (has_more_values) return false;
    return !sentence.is_joint || std::ranges::count_if(sentence.words, is_apart) <= most_apart;
}

}  // namespace whittle::inline v0::detail
