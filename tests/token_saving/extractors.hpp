// Finds in a text what word-level compression must not lose. Written without a look at the code that protects it: by
// scanning characters, not by splitting into words.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::testing {

using Found = std::vector<std::string>;

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_small(char c) { return c >= 'a' && c <= 'z'; }
inline bool is_big(char c) { return c >= 'A' && c <= 'Z'; }
inline bool is_alpha(char c) { return is_small(c) || is_big(c); }

/// All maximal runs of bytes for which `accepts` holds, and of these the ones that `wanted` names.
template <typename Accepts, typename Wanted>
Found runs(std::string_view text, Accepts&& accepts, Wanted&& wanted) {
    Found found;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        while (at < text.size() && accepts(text[at])) ++at;
        const std::string_view run = text.substr(begin, at - begin);
        if (!run.empty() && wanted(run)) found.emplace_back(run);
        if (run.empty()) ++at;
    }
    return found;
}

inline Found numbers_in(std::string_view text) {
    return runs(
        text, [](char c) { return is_digit(c) || c == '.' || c == ','; },
        [](std::string_view run) { return std::ranges::any_of(run, is_digit); });
}

inline Found urls_in(std::string_view text) {
    Found found;
    for (std::size_t at = text.find("://"); at != std::string_view::npos; at = text.find("://", at + 3)) {
        std::size_t begin = at;
        while (begin > 0 && is_alpha(text[begin - 1])) --begin;
        const std::size_t end = std::min(text.find_first_of(" \t\r\n\"'<>)", at), text.size());
        if (begin < at) found.emplace_back(text.substr(begin, end - begin));
    }
    return found;
}

/// `a/b`, `a\b`, `name.ext`
inline Found paths_in(std::string_view text) {
    return runs(
        text,
        [](char c) {
            return is_alpha(c) || is_digit(c) || std::string_view("/\\._-~").find(c) != std::string_view::npos;
        },
        [](std::string_view run) {
            if (!std::ranges::any_of(run, is_alpha)) return false;
            if (run.find_first_of("/\\") != std::string_view::npos) return true;
            const std::size_t dot = run.rfind('.');
            return dot != std::string_view::npos && dot > 0 && dot + 1 < run.size() && is_alpha(run[dot + 1]);
        });
}

/// snake_case, camelCase, CONSTANTS, and what is called: `name(`.
inline Found identifiers_in(std::string_view text) {
    Found found = runs(
        text, [](char c) { return is_alpha(c) || is_digit(c) || c == '_'; },
        [](std::string_view run) {
            if (!std::ranges::any_of(run, is_alpha)) return false;
            if (run.find('_') != std::string_view::npos) return true;
            if (run.size() > 1 && std::ranges::all_of(run, is_big)) return true;
            for (std::size_t i = 1; i < run.size(); ++i)
                if (is_small(run[i - 1]) && is_big(run[i])) return true;
            return false;
        });
    for (std::size_t at = text.find('('); at != std::string_view::npos; at = text.find('(', at + 1)) {
        std::size_t begin = at;
        while (begin > 0 && (is_alpha(text[begin - 1]) || text[begin - 1] == '_')) --begin;
        if (begin < at) found.emplace_back(text.substr(begin, at - begin));
    }
    return found;
}

inline Found negations_in(std::string_view text) {
    return runs(
        text, [](char c) { return is_alpha(c) || c == '\''; },
        [](std::string_view run) {
            std::string word;
            for (const char c : run) word += is_big(c) ? static_cast<char>(c - 'A' + 'a') : c;
            if (word.size() > 3 && word.substr(word.size() - 3) == "n't") return true;
            static const std::array<std::string_view, 12> list{"no",      "not",     "never",  "none",
                                                               "nothing", "cannot",  "nor",    "neither",
                                                               "nobody",  "without", "unless", "nicht"};
            return std::ranges::find(list, word) != list.end();
        });
}

inline Found fences_in(std::string_view text) {
    Found found;
    std::string fence;
    bool inside = false;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        const std::size_t first = line.find_first_not_of(" \t");
        const bool is_mark = first != std::string_view::npos && line.substr(first, 3) == "```";
        if (inside || is_mark) fence.append(line).append(1, '\n');
        if (is_mark && inside) found.push_back(std::exchange(fence, {}));
        if (is_mark) inside = !inside;
        at = end + 1;
    }
    return found;
}

inline Found other_scripts_in(std::string_view text) {
    return runs(
        text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, [](std::string_view) { return true; });
}

/// What of `before` is missing in `after`: everything must be there, in order.
inline Found lost(std::string_view before, std::string_view after) {
    Found missing;
    for (const auto& extract :
         {numbers_in, urls_in, paths_in, identifiers_in, negations_in, fences_in, other_scripts_in}) {
        const Found then = extract(before);
        const Found now = extract(after);
        std::size_t at = 0;
        for (const std::string& item : then) {
            const auto found = std::find(now.begin() + static_cast<std::ptrdiff_t>(at), now.end(), item);
            if (found == now.end()) {
                missing.push_back(item);
            } else {
                at = static_cast<std::size_t>(found - now.begin()) + 1;
            }
        }
    }
    return missing;
}

}  // namespace whittle::testing
