#pragma once

#include "whittle/message/part.hpp"
#include "whittle/provider/detail/json_message.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What the request bodies of both formats share. Bodies are written as text, message by message: a tree of the whole
/// history would be copied only to be dumped.
namespace whittle::inline v0::detail {

/// The further fields of a request: a JSON object, or empty. Throws ModelError(bad_request) for text that is no JSON
/// object, and for a field of `reserved`.
[[nodiscard]] ordered_json read_extra(std::string_view text, std::span<const std::string_view> reserved);

/// Sets the fields of `more`; arrays called "tools" are joined.
void merge_fields(ordered_json& fields, ordered_json&& more);

/// The tool's parameters, checked. Throws ModelError(bad_request) if they are no JSON object.
[[nodiscard]] std::string_view parameters_of(const ToolSpec& tool);

[[nodiscard]] std::string quoted(std::string_view text);

/// Adds `"name":[a,b]` to the object that `body` is; `items` are JSON texts.
void add_list(std::string& body, std::string_view name, const std::vector<std::string>& items);

/// A JSON object without its last brace; `more` says whether it has a member.
void add_name(std::string& body, std::string_view name);

/// Moves the array "tools" out of `fields` and adds its entries, as JSON text, to `tools`.
void take_tools(ordered_json& fields, std::vector<std::string>& tools);

/// Throws ModelError(bad_request).
[[noreturn]] void refuse_request(const std::string& reason);

/// What of `value` a 64-bit count can be: 0 for everything else.
[[nodiscard]] std::int64_t count_member(const ordered_json& value, const char* key);

}  // namespace whittle::inline v0::detail
