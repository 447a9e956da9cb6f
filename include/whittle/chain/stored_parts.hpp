#pragma once

#include "whittle/message/part.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// What is stored of a result: the raw text of a single text part, else a JSON array of all parts, media included.
/// Bytes that are not UTF-8 stand in it as {"base64": ...}.
[[nodiscard]] std::string offload_content(std::span<const Part> parts);

/// The text of element `element` of such a JSON array, byte for byte. Throws Error(damaged) if `content` is none, or
/// has no text there.
[[nodiscard]] std::string text_in_content(std::string_view content, std::size_t element);

}  // namespace whittle::inline v0
