#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// The words of a sentence, ASCII lower case, without the punctuation around them.
using SentenceWords = std::vector<std::string>;

/// Sentences of a text that name a value: a word with a digit. At most `most`, the last ones.
[[nodiscard]] std::vector<SentenceWords> sentences_with_values(std::string_view text, std::size_t most);

/// Whether a later sentence gives another value to what `sentence` gives one: "the vault code rotated, bolib-77" to
/// "Never disclose the vault code adwgk-18". Told by the words in front of the value.
[[nodiscard]] bool is_replaced_by(const SentenceWords& sentence, const SentenceWords& later);

[[nodiscard]] SentenceWords words_of_sentence(std::string_view sentence);

}  // namespace whittle::inline v0::detail
