#pragma once

#include "entries.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::logs {

/// A message of a task of Cline, Roo Code or Kilo Code, with what stands beside its role and content.
struct ClineMessage {
    ordered_json json{};  ///< as it stands in the file
    std::int64_t ms = 0;  ///< since 1970; 0: not recorded
    std::string id{};     ///< of the message, or of the response
    std::string model{};
    std::string provider{};       ///< as the agent calls it, such as "openrouter"
    std::optional<Usage> bill{};  ///< as the message itself tells it
    bool is_reply = false;
    bool is_reasoning = false;      ///< an item beside the messages, as some versions of Roo Code have them
    bool is_summary = false;        ///< the agent wrote it for a compaction
    bool is_cut_marker = false;     ///< the agent put it where it leaves messages out
    std::string stands_for{};       ///< id of that summary or marker
    std::string summed_up_by{};     ///< id of the summary that stands for this one
    std::string left_out_behind{};  ///< id of the marker that stands for this one
};

/// What stands beside role and content; `json` is left empty.
[[nodiscard]] ClineMessage cline_message(const ordered_json& json);

/// As it is sent: Anthropic's role and blocks, without what the agents add. What no provider is sent is noted. Its
/// content is an empty array where nothing is left.
[[nodiscard]] ordered_json sent_by_cline(ordered_json message, LogNotes& notes);

/// Whether nothing is left of a message to send.
[[nodiscard]] bool is_empty_of_cline(const ordered_json& sent);

/// Cline answers calls of a reply that have no result in the message behind it, as after a cut: "result missing". Both
/// are as they are sent. Returns for how many.
std::int64_t add_missing_results(const ordered_json& reply, ordered_json& answer);

/// Whether one of the texts of a message begins so.
[[nodiscard]] bool has_text_with(const ordered_json& message, std::string_view front);

/// The first text between two marks in the texts of a message; "" if there is none.
[[nodiscard]] std::string_view text_between(const ordered_json& message, std::string_view front, std::string_view end);

}  // namespace whittle::inline v0::logs
