#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/language.hpp"
#include "whittle/message/detail/message_view.hpp"
#include "whittle/message/detail/visit_parts.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/summarization/config.hpp"
#include "whittle/tokens/counter.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// What a summary carries of the user's messages, oldest first.
struct KeptUserMessages {
    std::vector<std::string> texts{};
    std::size_t left_out = 0;  ///< older ones for which there was no room
};

/// A text from the user's side.
struct UserText {
    std::string text{};
    int times_beside_results = 0;  ///< how often it stood there, as in `Provenance::times_beside_results`

    friend bool operator==(const UserText&, const UserText&) = default;
};

/// The newest of `texts` (oldest first) that fit `max_tokens`; the last one that is taken is cut to what is left, head
/// and tail. O(size of what is kept, times the logarithm of a cut text).
[[nodiscard]] KeptUserMessages keep_user_messages(std::vector<std::string> texts, std::int64_t max_tokens,
                                                  const TokenCounter& counter, Language language);

/// The newest of texts that may have stood beside results: what repeated there gets what the others leave. `left_out`
/// counts the texts without room.
[[nodiscard]] std::vector<UserText> keep_user_texts(std::vector<UserText> texts, std::int64_t max_tokens,
                                                    const TokenCounter& counter, Language language,
                                                    std::size_t& left_out);
[[nodiscard]] std::vector<std::string> strings_of(std::span<const UserText> texts);
/// `Provenance::times_beside_results` of these.
[[nodiscard]] std::vector<int> times_of(std::span<const UserText> texts);

/// Texts beside results that begin with the same so many bytes, or that are the same as a whole, are one that repeats.
inline constexpr std::size_t repeated_beginning_bytes = 64;
/// `texts` (oldest first) with one copy, the newest, of each that repeats beside results, and none of those that repeat
/// one of `standing`. O(size).
[[nodiscard]] std::vector<UserText> without_repeats(std::vector<UserText> texts, std::span<const std::string> standing);

/// `text` if it has at most `max_tokens`; else its head with a note that something was cut (its head and its tail with
/// `with_tail`); empty if not even the note fits. Valid UTF-8 stays valid.
[[nodiscard]] std::string cut_to_tokens(std::string_view text, std::int64_t max_tokens, bool with_tail,
                                        const TokenCounter& counter, Language language);

/// A skill that a tool loaded.
struct Skill {
    std::string name{};
    std::string content{};

    friend bool operator==(const Skill&, const Skill&) = default;
};

/// The name in the arguments of a skill call: member `skill`, `skill_name` or `name`, else the only string. Absent if
/// they cannot be read.
[[nodiscard]] std::optional<std::string> skill_name_in(std::string_view arguments);

/// As `Provenance::skill_records` holds a skill: its name, a line feed, its content.
[[nodiscard]] std::string to_record(const Skill& skill);
[[nodiscard]] Skill skill_from_record(std::string_view record);

/// The newest copy of each skill, newest skills first within the limits, then in the order in which they came. The
/// first that does not fit ends the list.
[[nodiscard]] std::vector<Skill> keep_skills(std::vector<Skill> oldest_first, const PreserveSkillsConfig& config,
                                             std::int64_t room_tokens, const TokenCounter& counter, Language language);

/// One message's text that holds skills as reference that is already loaded. Empty for none.
[[nodiscard]] std::string to_text(std::span<const Skill> skills, Language language);

/// A file of the host as it is now.
struct AttachedFile {
    std::string path{};  ///< as it is shown to the model
    std::string text{};  ///< what is in it

    friend bool operator==(const AttachedFile&, const AttachedFile&) = default;
};

/// The first of `files` within the limits, a long one cut at its end. The first that does not fit ends the list.
[[nodiscard]] std::vector<AttachedFile> keep_files(std::span<const AttachedFile> files, const AttachFilesConfig& config,
                                                   std::int64_t room_tokens, const TokenCounter& counter,
                                                   Language language);

/// One message's text that holds files. Empty for none.
[[nodiscard]] std::string to_text(std::span<const AttachedFile> files, Language language);

namespace detail {

/// What stands at `indices` from the user's side, oldest first, and what summaries among them carry of it; each text
/// that repeats beside results once, and none that repeats what the messages at `staying` have. `is_wanted` false: not
/// that message.
[[nodiscard]] std::vector<UserText> collect_user_texts(VisitParts visit_parts, const Outline& outline,
                                                       std::span<const std::size_t> indices,
                                                       std::span<const std::size_t> staying,
                                                       FunctionRef<bool(std::size_t)> is_wanted);
/// `skills_in` of messages that `visit_parts` reads.
[[nodiscard]] std::vector<Skill> collect_skills(VisitParts visit_parts, const Outline& outline,
                                                std::span<const std::size_t> indices, std::string_view skill_tool);

}  // namespace detail

/// What stands at `indices` from the user's side, oldest first, and what summaries among them carry of it; each text
/// that repeats beside results once. `filter` false: not that message.
template <AgentMessage M>
[[nodiscard]] std::vector<std::string> user_messages_in(MessageView<M> messages, const Outline& outline,
                                                        std::span<const std::size_t> indices,
                                                        const std::function<bool(const M&)>& filter) {
    return strings_of(detail::collect_user_texts(detail::part_visitor<M>(messages), outline, indices, {},
                                                 [&](std::size_t i) { return !filter || filter(messages[i]); }));
}

/// Skills that tools loaded in the messages at `indices` and those that earlier summaries carry, oldest first. Failed
/// calls, unreadable arguments and results that were cut or cleared are passed over.
template <AgentMessage M>
[[nodiscard]] std::vector<Skill> skills_in(MessageView<M> messages, const Outline& outline,
                                           std::span<const std::size_t> indices, std::string_view skill_tool) {
    return detail::collect_skills(detail::part_visitor<M>(messages), outline, indices, skill_tool);
}

}  // namespace whittle::inline v0
