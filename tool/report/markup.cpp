#include "markup.hpp"

#include <fmt/format.h>

namespace whittle::cli {

std::string escaped_markup(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'') {
            out += fmt::format("&#{};", static_cast<int>(c));
        } else {
            out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    }
    return out;
}

}  // namespace whittle::cli
