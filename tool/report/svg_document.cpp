#include "svg_document.hpp"

#include <fmt/format.h>

namespace whittle::cli {

std::string svg_document(const SvgFrame& frame, std::string_view body) {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" "
        "role=\"img\" aria-label=\"{2}\">\n"
        "<style>\n"
        "svg {{ background: #fff; font: 11px system-ui, sans-serif; fill: #222 }}\n"
        ".title {{ font-size: 14px; font-weight: 600 }} .tick {{ fill: #666 }}\n"
        ".grid {{ stroke: #e4e4e4 }}\n"
        "{3}"
        "@media (prefers-color-scheme: dark) {{\n"
        "  svg {{ background: #16181b; fill: #e6e6e6 }} .tick {{ fill: #9aa0a6 }} .grid {{ stroke: #2d3136 }}\n"
        "{4}"
        "}}\n"
        "</style>\n"
        "{5}</svg>\n",
        frame.width, frame.height, frame.label, frame.style, frame.dark_style, body);
}

}  // namespace whittle::cli
