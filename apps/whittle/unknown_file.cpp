#include "unknown_file.hpp"

#include "masked.hpp"
#include "shown.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace whittle::cli {
namespace {

constexpr std::string_view blanks = " \t\r\n\xEF\xBB\xBF";

std::string look_of(const logs::Recognition& recognised, std::string_view start) {
    constexpr std::size_t most = 40;  // columns
    start.remove_prefix(std::min(start.find_first_not_of(blanks), start.size()));
    if (start.empty()) return {};
    if (start.front() == '{' || start.front() == '[') {
        for (const char* own : {"messages", "role"}) {
            if (std::ranges::find(recognised.keys, own) != recognised.keys.end()) return {};
        }
        if (recognised.keys.empty()) return "JSON without an object in its first record";
        return fmt::format("JSON whose first object has the keys {}", fmt::join(recognised.keys, ", "));
    }
    std::string line(start.substr(0, std::min(start.find_first_of("\r\n"), 4 * most)));
    while (!line.empty() && static_cast<unsigned char>(line.back()) >= 0x80U)
        line.pop_back();  // may be half a character
    const bool is_text = line.find('\0') == std::string::npos && to_valid_utf8(line) == line;
    return is_text ? fmt::format("a text that begins \"{}\"", clipped_to_width(shown(printed(line)), most))
                   : "binary data";
}

}  // namespace

UnknownFile::UnknownFile(const logs::Recognition& recognised, std::string_view start) {
    if (!recognised.format) looks_ = look_of(recognised, start);
}

Error UnknownFile::explained(const std::string& name, const Error& error) const {
    if (looks_.empty() || error.errc() != Errc::parse_failed) return error;
    return {Errc::parse_failed, fmt::format("{}: expected sessions, found {}. {}", name, looks_, what_is_read())};
}

std::string what_is_read() {
    std::vector<std::string_view> names;
    for (const logs::Format format : logs::formats()) names.push_back(logs::name_of(format));
    return fmt::format(
        "whittle reads lines of JSON with \"messages\" (OpenAI's or Anthropic's), a list of messages, and logs of {}: "
        "docs/logs.md says where agents keep them",
        fmt::join(names, ", "));
}

}  // namespace whittle::cli
