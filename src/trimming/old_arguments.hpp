#pragma once

#include "read_form.hpp"
#include "whittle/trimming/detail/trimming_rules.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// What a call says, as it comes up in a conversation.
struct CallText {
    std::string shown{};  ///< lines that stand in the call from now on, without the marks of patches
    std::string gone{};   ///< lines that it takes out of files
};
/// `is_edit`: the tool edits, so that members such as "old_string" have what goes.
[[nodiscard]] CallText text_of_call(std::string_view arguments, bool is_edit);

/// The arguments of an old call that worked: what it took out goes, of what it put in the lines that are old. Valid
/// JSON of the same shape and order: nothing but string values changes. Nullopt if that saves nothing. `next`: the
/// first call at which there can be more.
[[nodiscard]] std::optional<std::string> old_arguments(std::string_view arguments, bool is_edit,
                                                       std::string_view reference, const LineIndex& index, int now,
                                                       const TrimmingSettings& settings, int& next);

/// The same with whole texts, and a mark in place of each: what an edit replaced goes at once, what was written once
/// nothing has come back to a line of it for `written_age_calls`, or edits took nearly all of it out since. `since`:
/// the call that it came with.
[[nodiscard]] std::optional<std::string> old_texts_marked(std::string_view arguments, bool is_edit,
                                                          const TextMark& mark, const LineIndex& index, int now,
                                                          int since, const TrimmingSettings& settings, int& next);

}  // namespace whittle::inline v0::detail
