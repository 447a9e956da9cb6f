#pragma once

#include "whittle/base/detail/function_ref.hpp"

#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// Best first.
enum class IdentifierKind { path, name, number };

/// Paths, URLs, code names, hashes and numbers of three digits or more in `text`, in order. Plain words are none. At
/// most 200 bytes each, ASCII. O(size).
void for_each_identifier(std::string_view text, FunctionRef<void(std::string_view, IdentifierKind)> visit);

/// One text for all names that differ in their numbers only: digits in a row are one '#'.
[[nodiscard]] std::string series_of(std::string_view name);

/// Whether `text` as a whole is a path: no white space, a slash or an extension.
[[nodiscard]] bool is_path(std::string_view text) noexcept;

/// Sentences that set a condition: must, never, always, do not, 必须, 不要, ... At most 400 bytes each. O(size).
void for_each_constraint(std::string_view text, FunctionRef<void(std::string_view)> visit);

/// The same of text that a tool returned: sentences of prose, each in one line; no comments of source code. O(size).
void for_each_stated_condition(std::string_view text, FunctionRef<void(std::string_view)> visit);

}  // namespace whittle::inline v0::detail
