// What a scripted summary says of a real conversation: one that names nothing of it is refused.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace whittle::testing {

/// The first `most` different words of a text that have a '/' or a '_' in them, in a row.
inline std::string some_names_in(std::string_view text, int most = 3) {
    constexpr std::string_view word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.-";
    std::string names;
    for (std::size_t at = text.find_first_of(word); at != std::string_view::npos && most > 0;) {
        const std::size_t end = std::min(text.find_first_not_of(word, at), text.size());
        const std::string_view found = text.substr(at, end - at);
        const bool is_url = found.find("//") != std::string_view::npos;  // without its scheme it is no name
        const bool is_new = names.find(found) == std::string::npos;
        if (found.size() > 4 && !is_url && is_new && found.find_first_of("_/", 1) < found.size() - 1) {
            names.append(found).append(" ");
            --most;
        }
        at = text.find_first_of(word, end);
    }
    return names;
}

}  // namespace whittle::testing
