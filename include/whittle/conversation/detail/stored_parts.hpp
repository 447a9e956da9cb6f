#pragma once

#include "whittle/message/part.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// What is stored of a result: the raw text of a single text part, else a JSON array of all parts, media included.
/// Bytes that are not UTF-8 stand in it as {"base64": ...}.
[[nodiscard]] std::string offload_content(std::span<const Part> parts);

/// The text of element `element` of such a JSON array, byte for byte. Throws Error(damaged) if `content` is none, or
/// has no text there.
[[nodiscard]] std::string text_in_content(std::string_view content, std::size_t element);

/// Such an array, read once for all its texts.
class StoredContent {
public:
    explicit StoredContent(std::string_view content);
    /// As `text_in_content`.
    [[nodiscard]] std::string text(std::size_t element) const;

private:
    std::vector<std::optional<std::string>> texts_{};
};

}  // namespace whittle::inline v0
