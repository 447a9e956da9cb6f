#pragma once

#include "whittle/base/detail/function_ref.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// What a word of a sentence is, as far as one sentence gives another value to what an earlier one gave one.
enum class WordKind : std::uint8_t {
    function_word,  ///< names nothing: "the", "must"
    subject,        ///< names something: "budget", "port"
    changing,       ///< says that something is not as before: "now", "moved"
    number,         ///< a value of digits, or "three hundred"
    code,           ///< a value of letters and digits: "adwgk-18"
    name,           ///< a value: a name of a person, a place, a product within a sentence
    day,            ///< and the values of a closed list: days and months,
    zone,           ///< time zones,
    unit,           ///< systems of units,
    language,       ///< languages,
    tone,           ///< and manners of an answer
};

struct StatementWord {
    WordKind kind = WordKind::function_word;
    std::size_t id = 0;  ///< equal for equal words, and for words of one meaning: "spend" and "budget"
    std::size_t letters =
        0;                   ///< of a code: equal where the letters are, "orders_2023" and "orders_2024"; 0: hardly any
    std::size_t begin = 0;   ///< bytes, in the sentence
    std::size_t length = 0;  ///< bytes
    bool is_linking = false;  ///< "of", "for"

    /// The same word, wherever it stands.
    friend bool operator==(const StatementWord& a, const StatementWord& b) noexcept { return a.id == b.id; }
};

/// A sentence, as what says which value something has.
struct Statement {
    std::vector<StatementWord> words{};  ///< at most 100
    bool changes = false;                ///< says that something is not as before
    bool forbids = false;
    bool bounds = false;    ///< its value is a limit: "at least", "below"
    bool is_joint = false;  ///< has an "and": perhaps several rules

    friend bool operator==(const Statement&, const Statement&) = default;
};

[[nodiscard]] Statement statement_of(std::string_view sentence);

/// Visits sentences of `text` that give something a value, at most `most`: a quarter of these from its beginning, the
/// others from its end. O(size).
void for_each_statement(std::string_view text, std::size_t most,
                        FunctionRef<void(std::string_view sentence, Statement)> visit);

/// The values of `sentence` to which `later` gives others: "the vault code rotated, bolib-77" to "Never disclose the
/// vault code adwgk-18". Told by the words around both values, without knowledge of the world: two things that differ
/// in a word beside them ("staging database", "production database") are two, and what is said in quite other words is
/// not recognised. The lists of words are English.
[[nodiscard]] std::vector<StatementWord> replaced_values(const Statement& sentence, const Statement& later);
/// Whether nothing of `sentence` holds any more once `replaced` is none of its values: it is no prohibition, has no
/// other value, and no other rule beside an "and".
[[nodiscard]] bool is_replaced_whole(const Statement& sentence, const Statement& later,
                                     std::span<const StatementWord> replaced);

}  // namespace whittle::inline v0::detail
