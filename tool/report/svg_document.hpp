#pragma once

#include <string>
#include <string_view>

namespace whittle::cli {

/// What a chart is drawn on.
struct SvgFrame {
    double width = 0;  ///< pixels
    double height = 0;
    std::string_view label{};       ///< for who does not see it; markup
    std::string_view style{};       ///< CSS, beside that of the page, of `.title`, `.tick` and `.grid`
    std::string_view dark_style{};  ///< the same, where the reader wants dark pages
};

/// A document without scripts and links. `body` is markup.
[[nodiscard]] std::string svg_document(const SvgFrame& frame, std::string_view body);

}  // namespace whittle::cli
