#pragma once

#include "entries.hpp"

#include <string_view>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0::logs {

/// Results by the id of their call.
using ClaudeResults = std::unordered_map<std::string_view, const ordered_json*>;

/// Whether content is an array with a block of type tool_result.
[[nodiscard]] bool has_tool_result(const ordered_json& content);
[[nodiscard]] bool is_results_message(const ordered_json& message);

/// The views are of `content`.
void add_results_of(const ordered_json& content, ClaudeResults& results);
/// For each call of a reply that has no result in `results`, which may be null: the one that came elsewhere, or else
/// what Claude Code sends in its place.
[[nodiscard]] ordered_json results_missing(const ordered_json& reply, const ordered_json* results,
                                           const ClaudeResults& elsewhere);
void put_results_in_front(ordered_json blocks, ordered_json& content);
/// What a compaction kept was copied when it was made, when results may not have been there.
[[nodiscard]] std::vector<ordered_json> with_results(std::vector<ordered_json> kept, const ClaudeResults& results);

}  // namespace whittle::inline v0::logs
