#pragma once

#include "entries.hpp"
#include "openai_form.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Messages and bills as pi writes them, in OpenAI's form.
namespace whittle::inline v0::logs {

/// Content of a message: a text, or blocks of text and images. Kinds that are not known are counted.
[[nodiscard]] ordered_json pi_content(const ordered_json* content, LogNotes& notes);
/// What a reply said and called. Thinking is left out and counted.
[[nodiscard]] ReplyParts pi_reply(const ordered_json* content, LogNotes& notes);
/// A command that the person ran, as the model is told of it.
[[nodiscard]] std::string pi_command_text(const ordered_json& message);
/// What stands in place of messages that a compaction took out, or of a branch that was left.
[[nodiscard]] ordered_json pi_compaction_summary(std::string_view summary);
[[nodiscard]] ordered_json pi_branch_summary(std::string_view summary);
/// What else a message may be, all of it said as the user; null for roles that are not known.
[[nodiscard]] ordered_json pi_input(const ordered_json& message, LogNotes& notes);
/// The same message with other content.
[[nodiscard]] ordered_json with_pi_content(const ordered_json& message, const ordered_json& content, LogNotes& notes);

/// "usage" of a record or of a message of this API; nullopt: none.
[[nodiscard]] std::optional<Usage> pi_usage(const ordered_json& holder, std::string_view api);

/// Of a record or a message: ISO 8601, or milliseconds since 1970. In seconds.
[[nodiscard]] std::optional<double> pi_time(const ordered_json& holder);

/// A call, by the same id in every copy of it. `record`: what holds the message.
[[nodiscard]] Call pi_call(const ordered_json& record, const ordered_json& message, std::string_view known_model);
/// A call that the agent made beside the conversation, of which `record` has the usage; `what` it was for.
[[nodiscard]] Call pi_side_call(const ordered_json& record, const ordered_json& holder, std::string_view what);

}  // namespace whittle::inline v0::logs
