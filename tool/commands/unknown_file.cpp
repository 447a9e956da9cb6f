#include "unknown_file.hpp"

#include "documentation.hpp"
#include "masked.hpp"
#include "shown.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace whittle::cli {
namespace {

constexpr std::size_t max_shown = 40;  // columns

std::string_view without_mark(std::string_view start) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (start.starts_with(byte_order_mark)) start.remove_prefix(byte_order_mark.size());
    start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
    return start;
}

/// The first line, without half a character at its end.
std::string first_line_of(std::string_view start) {
    std::string line(start.substr(0, start.find_first_of("\r\n")));
    if (line.size() <= 4 * max_shown) return line;
    line.resize(4 * max_shown);
    while (!line.empty() && static_cast<unsigned char>(line.back()) >= 0x80U) line.pop_back();
    return line;
}

std::string look_of(const logs::Recognition& recognised, std::string_view start) {
    if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) return "text in UTF-16, which has to be UTF-8";
    start = without_mark(start);
    if (start.empty()) return {};
    if (start.front() == '{' || start.front() == '[') {
        for (const char* own : {"messages", "role"}) {
            if (std::ranges::find(recognised.keys, own) != recognised.keys.end()) return {};
        }
        if (recognised.keys.empty()) return "JSON without keys at its start";
        return fmt::format("JSON whose first object has the keys {}", fmt::join(recognised.keys, ", "));
    }
    const std::string line = first_line_of(start);
    const bool is_text = line.find('\0') == std::string::npos && to_valid_utf8(line) == line;
    return is_text ? fmt::format("a text that begins \"{}\"", clipped_to_width(shown(printed(line)), max_shown))
                   : "binary data, or text that is not UTF-8";
}

}  // namespace

UnknownFile::UnknownFile(const logs::Recognition& recognised, std::string_view start) {
    if (!recognised.format) looks_ = look_of(recognised, start);
}

Error UnknownFile::explained(const std::string& name, const Error& error) const {
    if (looks_.empty() || error.errc() != Errc::parse_failed) return error;
    std::string_view reason = error.what();
    if (reason.starts_with(name)) reason.remove_prefix(name.size());
    return {Errc::parse_failed, fmt::format("{}: expected sessions, found {} ({}). {}", name, looks_,
                                            "read as a session, line " +
                                                std::string(reason.substr(std::min<std::size_t>(1, reason.size()))),
                                            what_is_read())};
}

std::string what_is_read() {
    std::vector<std::string_view> names;
    for (const logs::Format format : logs::formats()) names.push_back(logs::to_string(format));
    return fmt::format(
        "whittle reads lines of JSON with \"messages\" (OpenAI's or Anthropic's), a list of messages, and logs of {}: "
        "{} says where agents keep them",
        fmt::join(names, ", "), documentation("tool/docs/logs.md"));
}

}  // namespace whittle::cli
