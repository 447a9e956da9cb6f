#pragma once

#include "whittle/base/language.hpp"
#include "whittle/conversation/tool.hpp"
#include "whittle/storage/storage.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace whittle::inline v0 {

/// Settings of `read_offloaded_tool`. Keep a page below `ReductionConfig::max_length_for_trunc`: what is larger is
/// truncated like any other result.
struct ReadOffloadedOptions {
    std::int64_t page_bytes = 40'000;                ///< of text in one result, 256 or more
    std::int64_t grep_result_bytes = 20'000;         ///< of matching lines in one result, 256 or more
    int grep_matches = 100;                          ///< lines found in one result, 1 or more
    int max_grep_context_lines = 5;                  ///< largest `context` that a call may ask for, 0 or more
    std::int64_t grep_line_bytes = 300;              ///< of one line that grep shows, 32 or more
    std::optional<Language> description_language{};  ///< of the description; absent: `default_language()`
};

/// A tool named `read_offloaded` that reads what was stored of the conversation it is called in, and nothing else:
/// pages by byte offset or by line, and lines that contain a text. A page does not end inside a character; bytes that
/// are not UTF-8 are shown as U+FFFD. It reads ranges only, so that memory does not grow with the object. What goes
/// wrong is an error result. Its outcome names the object in `read_back`, and it emits an event of kind "read_back".
/// `storage`: for objects whose store the conversation does not know (of a loaded one); null: the context's.
/// Throws Error(invalid_config) that lists every bad option.
[[nodiscard]] Tool read_offloaded_tool(std::shared_ptr<Storage> storage = nullptr,
                                       const ReadOffloadedOptions& options = {});

}  // namespace whittle::inline v0
