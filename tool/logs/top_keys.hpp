#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::logs {

/// The keys of the JSON object at the start of a text, and those of the objects that are its members, as "key" and
/// "key.inner", or stand in arrays that are, as "key[].inner". The text may end anywhere, or not be JSON at all: then
/// it is what was found up to there.
class TopKeys {
public:
    explicit TopKeys(std::string_view text);

    /// Whether the object ends in the text, or is none.
    [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }
    [[nodiscard]] bool has(std::string_view path) const { return keys_.contains(path); }
    /// The first value if it is a string, without its escapes undone; else "".
    [[nodiscard]] std::string_view text(std::string_view path) const;
    /// Keys of the object itself, in order of the alphabet, without escapes undone; at most `most`, of 64 bytes each.
    [[nodiscard]] std::vector<std::string> names(std::size_t most) const;
    /// The first key of the first object in the array `key`; "" if there is none.
    [[nodiscard]] std::string_view first_of(std::string_view key) const;

private:
    std::map<std::string, std::string_view, std::less<>> keys_{};
    std::map<std::string, std::string_view, std::less<>> first_{};
    bool is_whole_ = false;
};

}  // namespace whittle::inline v0::logs
