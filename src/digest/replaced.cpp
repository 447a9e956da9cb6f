#include "replaced.hpp"

#include "../base/ascii.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string>
#include <utility>

namespace whittle::inline v0::detail {
namespace {

constexpr std::array<std::string_view, 60> small_words{
    "the",    "and",   "for",     "with",  "that",   "this",     "from",       "must",  "never", "always",
    "only",   "not",   "don't",   "are",   "was",    "has",      "have",       "per",   "than",  "more",
    "less",   "most",  "least",   "its",   "will",   "any",      "all",        "each",  "every", "keep",
    "put",    "use",   "your",    "our",   "their",  "them",     "they",       "who",   "may",   "can",
    "should", "would", "let",     "stay",  "please", "which",    "when",       "into",  "onto",  "upon",
    "target", "total", "current", "final", "quick",  "internal", "internally", "below", "under", "above"};
constexpr std::array<std::string_view, 24> changing_words{
    "now",      "new",      "changed",   "changes", "rotated", "rotation", "updated",   "update",
    "replaced", "replaces", "instead",   "moved",   "renamed", "raised",   "lowered",   "switched",
    "switch",   "longer",   "corrected", "rather",  "rebased", "extended", "postponed", "previous"};
constexpr std::array<std::string_view, 9> forbidding_words{"no",      "never",  "not",   "don't", "cannot",
                                                           "without", "forbid", "avoid", "nobody"};

/// Words of one meaning where a rule gives something a value. The first stands for all.
constexpr std::array<std::array<std::string_view, 8>, 7> synonym_rows{{
    {"budget", "spend", "spending", "cost", "expense", "expenditure"},
    {"limit", "cap", "ceiling", "maximum"},
    {"date", "deadline", "due", "timing", "schedule", "scheduled"},
    {"name", "codename", "label", "called", "calling", "named", "designated"},
    {"time", "timestamp", "clock", "timezone"},
    {"owner", "own", "pager", "duty", "handling", "belong", "responsible"},
    {"answer", "reply", "replie", "response", "respond"},
}};

constexpr std::array<std::string_view, 19> day_words{
    "monday", "tuesday", "wednesday", "thursday", "friday",    "saturday", "sunday",   "january",  "february", "march",
    "april",  "june",    "july",      "august",   "september", "october",  "november", "december", "tomorrow"};
constexpr std::array<std::string_view, 12> zone_words{"utc", "gmt", "cet",     "cest",    "est",     "edt",
                                                      "pst", "pdt", "pacific", "eastern", "central", "mountain"};
constexpr std::array<std::string_view, 2> unit_words{"metric", "imperial"};
constexpr std::array<std::string_view, 14> language_words{"english",    "german", "french",  "spanish", "italian",
                                                          "portuguese", "dutch",  "polish",  "russian", "chinese",
                                                          "japanese",   "korean", "turkish", "arabic"};
constexpr std::array<std::string_view, 12> tone_words{"terse",   "brief", "concise", "short",  "verbose",  "detailed",
                                                      "playful", "warm",  "formal",  "casual", "friendly", "light"};
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
    return names ? WordKind::subject : WordKind::small;
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
        StatementWord added{.kind = kind_of_word(lower), .begin = begin, .length = length};
        if (added.kind == WordKind::subject && !begins_sentence_ && length > 1 && is_upper(word[0]))
            added.kind = WordKind::name;
        added.id = added.kind == WordKind::subject ? id_of_subject(lower) : std::hash<std::string>{}(lower);
        if (added.kind == WordKind::code) added.letters = letters_of_code(lower);
        statement_.changes = statement_.changes || added.kind == WordKind::changing;
        if (is_one_of(lower, magnitude_words)) join_number(added);
        statement_.words.push_back(added);
        begins_sentence_ = false;
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

/// How one sentence gives a value to what another one gives one.
class StatementComparison {
public:
    StatementComparison(const Statement& sentence, const Statement& later) : sentence_(sentence), later_(later) {}

    /// Whether the value at `v` became the one at `w`.
    [[nodiscard]] bool replaces(std::size_t v, std::size_t w) const {
        const WordKind kind = sentence_.words[v].kind;
        if (later_.words[w].kind != kind || has(later_, sentence_.words[v].id) || has(sentence_, later_.words[w].id))
            return false;
        if (!later_.changes) {
            const bool are_names =
                sentence_.words[v].letters != 0 && sentence_.words[v].letters == later_.words[w].letters;
            if (sentence_.forbids || are_names) return false;
            return are_named_alike(v, w) || (is_choice(kind) && are_about_one(v, w, 2));
        }
        return are_named_alike(v, w) || are_about_one(v, w, is_choice(kind) ? 1 : 2) || are_about_one_subject(v, w);
    }

private:
    static bool has(const Statement& statement, std::size_t id) {
        return std::ranges::any_of(statement.words, [id](const StatementWord& word) { return word.id == id; });
    }

    static std::span<const StatementWord> around(const Statement& statement, std::size_t at, std::size_t before,
                                                 std::size_t behind) {
        const std::size_t first = at - std::min(at, before);
        return std::span(statement.words).subspan(first, std::min(statement.words.size(), at + behind + 1) - first);
    }
    static bool is_near(const Statement& statement, std::size_t at, std::size_t before, std::size_t behind,
                        std::size_t id) {
        return std::ranges::any_of(around(statement, at, before, behind),
                                   [id](const StatementWord& w) { return w.id == id; });
    }

    /// The last two words that name something in front of the value stand near the other one as well.
    [[nodiscard]] bool are_named_alike(std::size_t v, std::size_t w) const {
        constexpr std::size_t enough = 2;
        constexpr std::size_t farthest = 6;
        std::size_t found = 0;
        for (std::size_t i = v; i-- > 0 && v - i <= farthest && found < enough;) {
            const StatementWord& word = sentence_.words[i];
            if (is_value(word.kind)) break;
            if (word.kind != WordKind::subject) continue;
            if (!is_near(later_, w, 7, 3, word.id)) return false;
            ++found;
        }
        return found == enough;
    }

    /// At least `enough` words that name something stand near both, and none of them with another word in front.
    [[nodiscard]] bool are_about_one(std::size_t v, std::size_t w, std::size_t enough) const {
        constexpr std::size_t reach = 12;
        std::vector<std::size_t> shared;
        for (const StatementWord& word : around(sentence_, v, reach, reach)) {
            if (word.kind != WordKind::subject || !is_near(later_, w, reach, reach, word.id)) continue;
            if (are_two(word.id)) return false;
            if (std::ranges::find(shared, word.id) == shared.end()) shared.push_back(word.id);
        }
        return shared.size() >= enough;
    }

    /// "Use port 8080", "the port is 9090 now": one word, with nothing beside it that could tell two things apart.
    [[nodiscard]] bool are_about_one_subject(std::size_t v, std::size_t w) const {
        for (std::size_t i = v; i-- > 0 && v - i <= 6;) {
            const StatementWord& word = sentence_.words[i];
            if (is_value(word.kind)) return false;
            if (word.kind != WordKind::subject) continue;
            return is_near(later_, w, 7, 3, word.id) && !qualifier(sentence_, word.id) && !qualifier(later_, word.id);
        }
        return false;
    }

    /// "staging database" and "production database", "service alpha" and "service beta": each has a word beside it that
    /// the other sentence does not have at all.
    [[nodiscard]] bool are_two(std::size_t id) const {
        const auto differ = [&](std::optional<std::size_t> a, std::optional<std::size_t> b) {
            return a && b && !has(later_, *a) && !has(sentence_, *b);
        };
        return differ(qualifier(sentence_, id), qualifier(later_, id)) ||
               differ(behind_of(sentence_, id), behind_of(later_, id));
    }

    static std::optional<std::size_t> subject_at(const Statement& statement, std::size_t at) {
        if (at >= statement.words.size() || statement.words[at].kind != WordKind::subject) return std::nullopt;
        return statement.words[at].id;
    }
    static std::size_t place_of(const Statement& statement, std::size_t id) {
        return static_cast<std::size_t>(std::ranges::find(statement.words, id, &StatementWord::id) -
                                        statement.words.begin());
    }
    /// The word that names something right in front of it.
    static std::optional<std::size_t> qualifier(const Statement& statement, std::size_t id) {
        const std::size_t at = place_of(statement, id);
        return at == 0 ? std::nullopt : subject_at(statement, at - 1);
    }
    static std::optional<std::size_t> behind_of(const Statement& statement, std::size_t id) {
        return subject_at(statement, place_of(statement, id) + 1);
    }

    const Statement& sentence_;
    const Statement& later_;
};

/// Whether a sentence ends with the character at `at`, which is not the last.
bool ends_statement(std::string_view text, std::size_t at) noexcept {
    return text[at] == '\n' ||
           (text[at + 1] == ' ' && std::string_view(".;!").find(text[at]) != std::string_view::npos);
}

bool gives_a_value(const Statement& statement) {
    return std::ranges::any_of(statement.words, [](const StatementWord& word) { return is_value(word.kind); });
}

}  // namespace

Statement statement_of(std::string_view sentence) { return StatementReader(sentence).read(); }

void for_each_statement(std::string_view text, std::size_t most, FunctionRef<void(std::string_view, Statement)> visit) {
    constexpr std::size_t longest = 1'000;
    std::vector<std::string_view> sentences;  // the last one first
    std::size_t end = text.size();
    for (std::size_t at = end; at > 0 && sentences.size() < most; --at) {
        const std::size_t begin = at - 1;
        if (begin > 0 && !ends_statement(text, begin - 1)) continue;
        if (begin < end) sentences.push_back(text.substr(begin, std::min(end - begin, longest)));
        end = begin;
    }
    for (auto sentence = sentences.rbegin(); sentence != sentences.rend(); ++sentence) {
        if (Statement said = statement_of(*sentence); gives_a_value(said)) visit(*sentence, std::move(said));
    }
}

std::optional<StatementWord> replaced_value(const Statement& sentence, const Statement& later) {
    const StatementComparison comparison(sentence, later);
    for (std::size_t v = 0; v < sentence.words.size(); ++v) {
        if (!is_value(sentence.words[v].kind)) continue;
        for (std::size_t w = 0; w < later.words.size(); ++w) {
            if (is_value(later.words[w].kind) && comparison.replaces(v, w)) return sentence.words[v];
        }
    }
    return std::nullopt;
}

}  // namespace whittle::inline v0::detail
