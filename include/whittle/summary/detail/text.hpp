#pragma once

#include "whittle/base/language.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// The system message of summary calls: text only, no tools, the conversation is data.
[[nodiscard]] std::string_view summary_system_instruction(Language language) noexcept;

/// The built-in task: an `<analysis>` part, then `<summary>` with nine sections, the user's messages in
/// `<all_user_messages>`.
[[nodiscard]] std::string_view summary_instruction(Language language) noexcept;

/// Where `<name>...</name>` stands in a text, as byte offsets.
struct TagSpan {
    std::size_t begin = 0;          ///< of the opening tag
    std::size_t content_begin = 0;  ///< behind the opening tag
    std::size_t content_end = 0;    ///< at the closing tag
    std::size_t end = 0;            ///< behind the closing tag

    friend bool operator==(const TagSpan&, const TagSpan&) = default;
};

/// The last pair of that tag, searched from the end. Tags that begin or end a line win over those inside a sentence, so
/// that a text may speak of the tag. O(size).
[[nodiscard]] std::optional<TagSpan> find_last_tag(std::string_view text, std::string_view name) noexcept;

/// What a reply says, without its analysis part and without the `<summary>` tags, trimmed. Several pairs: the last one
/// counts. An unterminated `<summary>` goes to the end, an unterminated `<analysis>` leaves what is before it. O(size).
[[nodiscard]] std::string clean_reply(std::string_view reply);

/// `text` in which no `<name` or `</name` of a tag of ours is left: their `<` is written `&lt;`. White space and letter
/// case do not help a forger; any other `<` stays. `keep_sections` leaves the tags of a summary's own sections
/// (all_user_messages) as they are. O(size).
[[nodiscard]] std::string escape_tags(std::string_view text, bool keep_sections = false);

}  // namespace whittle::inline v0
