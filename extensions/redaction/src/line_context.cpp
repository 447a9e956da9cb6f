#include "line_context.hpp"

#include "private_key_text.hpp"
#include "whittle/base/detail/ascii.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace whittle::inline v0::redaction {
namespace {

constexpr std::size_t most_command_bytes = 1'024;

std::string_view take_word_of(std::string_view& text) {
    text = detail::trim_view(text);
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    text.remove_prefix(word.size());
    return word;
}

enum class NetrcLine : std::uint8_t {
    none,
    entry,  ///< an entry goes on or begins
    login,  ///< and it tells a user, or a machine by a name with points
};

/// Whether a line is nothing but names of .netrc with their values, of which a "machine" or "default" is the first one
/// of an entry.
NetrcLine kind_of_netrc_line(std::string_view line, bool goes_on) {
    constexpr std::array<std::string_view, 4> names{"machine", "login", "account", "password"};
    const LineCore core = core_of(line);
    std::string_view rest = detail::trim_view(line.substr(core.begin, core.end - core.begin));
    if (rest.empty() || (!goes_on && !rest.starts_with("machine ") && !rest.starts_with("default")))
        return NetrcLine::none;
    if (rest.starts_with("default")) (void)take_word_of(rest);
    NetrcLine kind = NetrcLine::entry;
    while (!rest.empty()) {
        const std::string_view name = take_word_of(rest);
        const std::string_view value = take_word_of(rest);
        if (!detail::is_one_of(name, names) || value.empty()) return NetrcLine::none;
        if (name == "login" || (name == "machine" && value.find('.') != std::string_view::npos))
            kind = NetrcLine::login;
        rest = detail::trim_view(rest);
    }
    return kind;
}

}  // namespace

std::size_t size_of_continuation(std::string_view text) noexcept {
    if (text.ends_with('\r')) {
        const std::size_t size = size_of_continuation(text.substr(0, text.size() - 1));
        return size == 0 ? 0 : size + 1;
    }
    if (text.ends_with('\\')) return text.ends_with("\\\\") ? 0 : 1;
    return text.ends_with(" ^") || text.ends_with(" `") ? 1 : 0;
}

void LineContext::pass(std::string_view line) {
    if (size_of_continuation(line) > 0) {
        command.append(line.substr(line.size() - std::min(line.size(), most_command_bytes))).append("\n");
        if (command.size() > most_command_bytes) command.erase(0, command.size() - most_command_bytes);
    } else {
        command.clear();
    }
    constexpr std::size_t longest_entry = 512;
    const std::string_view words(std::ranges::find_if(line, detail::is_letter), line.end());
    const bool may_be = is_entry || words.starts_with("machine ") || words.starts_with("default");
    const auto kind = may_be && line.size() <= longest_entry ? kind_of_netrc_line(line, is_entry) : NetrcLine::none;
    is_login = kind == NetrcLine::login || (is_login && kind == NetrcLine::entry);
    is_entry = kind != NetrcLine::none;
}

}  // namespace whittle::inline v0::redaction
