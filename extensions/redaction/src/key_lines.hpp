// Which lines of a text are a private key's.
#pragma once

#include "private_key_text.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::redaction {

/// Follows a text line by line. What stands in front of a key's first line, such as a time or a mark of a comment, may
/// stand in front of the others too, with other digits.
class KeyLines {
public:
    enum class Place : std::uint8_t {
        other,
        in_key,         ///< its core is to be hidden
        may_be_in_key,  ///< of a key whose BEGIN is not to be seen: the END in a later line tells
    };

    /// Of the next line. `may_wait`: it is a whole line, which may be one that waits for an END.
    [[nodiscard]] Place take(std::string_view line, bool may_wait);
    /// Of a line that is an `other` one: what it begins, for those that follow.
    void note(std::string_view line);

    /// What of a line is the key's.
    [[nodiscard]] LineCore core(std::string_view line) const noexcept;
    /// Between BEGIN and END of a certificate or the like.
    [[nodiscard]] bool is_in_public_block() const noexcept { return block_ == Block::public_block; }
    /// The first line of the key that is taken now was masked as an `other` one.
    [[nodiscard]] bool began_within_line() const noexcept { return began_within_line_; }

private:
    enum class Block : std::uint8_t { none, private_key, public_block };

    [[nodiscard]] bool may_wait_for_end(std::string_view line);

    Block block_ = Block::none;
    bool is_waiting_ = false;
    bool began_within_line_ = false;
    bool is_begun_ = false;  // a line of the key was there
    std::string front_{};    // of the first line
};

/// What a line is in a text whose lines are all known.
struct LineOfKey {
    std::optional<LineCore> hidden{};  ///< of a private key; nullopt: it is none of one
    bool is_public = false;            ///< of a certificate or the like
};
[[nodiscard]] std::vector<LineOfKey> lines_of_keys(std::span<const std::string_view> lines);

}  // namespace whittle::inline v0::redaction
