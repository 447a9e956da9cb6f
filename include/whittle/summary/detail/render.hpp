#pragma once

#include "whittle/base/language.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/message/traits.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// One part of a message as the summarizer sees it: labelled data. `to_text` closes it.
struct SummaryEntry {
    std::string label{};  ///< the opening tag without its `>`
    std::string body{};   ///< escaped: holds no tag of ours
};

struct RenderOptions {
    std::int64_t max_tool_result_bytes = 8'000;  ///< 0: all of it
    Language language = Language::english;
};

/// Part `index` of the message that `info` describes. Text, calls and results become text, media a line that says what
/// and where it is, never its bytes. Nullopt for thinking, for opaque parts and for blank texts.
[[nodiscard]] std::optional<SummaryEntry> render_part(const PartView& part, const MessageInfo& info, std::size_t index,
                                                      const RenderOptions& options);

/// All parts of a message that are shown.
template <AgentMessage M>
[[nodiscard]] std::vector<SummaryEntry> render_message(const M& m, const MessageInfo& info,
                                                       const RenderOptions& options) {
    std::vector<SummaryEntry> entries;
    std::size_t p = 0;
    message_traits<M>::for_each_part(m, [&](const PartView& part) {
        if (auto entry = render_part(part, info, p++, options)) entries.push_back(*std::move(entry));
    });
    return entries;
}

/// Appends an entry, or the stretch `body` of one; `is_continued` if it is not its first.
void append_text(std::string& text, const SummaryEntry& entry, std::string_view body, bool is_continued);
/// An entry, or the stretch `body` of one, as a text of its own.
[[nodiscard]] std::string to_text(const SummaryEntry& entry, std::string_view body, bool is_continued);

/// What stands around the entries in the data message.
struct DataFrame {
    std::string before{};
    std::string after{};
};

struct DataFrameOptions {
    bool is_part = false;            ///< the conversation comes in several requests
    bool is_last = false;            ///< of these
    std::string summary_so_far{};    ///< of the earlier ones
    std::int64_t target_tokens = 0;  ///< size that the summary should not exceed; 0: nothing is said
    Language language = Language::english;
};

[[nodiscard]] DataFrame data_frame(const DataFrameOptions& options);

}  // namespace whittle::inline v0
