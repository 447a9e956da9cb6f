#include "cut_middle.hpp"

#include <algorithm>

namespace whittle::inline v0::logs {
namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

/// How many bytes the first `characters` of a text take.
std::size_t bytes_of_head(std::string_view text, std::size_t characters) {
    std::size_t at = 0;
    for (; at < text.size(); ++at) {
        if (begins_character(text[at]) && characters-- == 0) break;
    }
    return at;
}

/// Where the last `characters` of a text begin.
std::size_t begin_of_last(std::string_view text, std::size_t characters) {
    std::size_t at = text.size();
    while (at > 0 && characters > 0) {
        if (begins_character(text[--at])) --characters;
    }
    return at;
}

}  // namespace

std::string MiddleCut::operator()(std::string_view text) const {
    const bool may_be_longer = text.size() > most;  // a character takes a byte or more
    if (!may_be_longer || std::ranges::count_if(text, begins_character) <= static_cast<std::ptrdiff_t>(most))
        return std::string(text);
    std::string sent(text.substr(0, bytes_of_head(text, head)));
    return sent.append(notice).append(text.substr(begin_of_last(text, tail)));
}

}  // namespace whittle::inline v0::logs
