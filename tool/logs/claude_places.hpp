#pragma once

#include "low_water_mark.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0::logs {

/// What a record of Claude Code stands behind. Messages have numbers that stay: 2 * i is the message at `i` of the
/// entries, 2 * i + 1 are results that came late and stand behind it. A point n is in front of number n.
struct ClaudePlace {
    std::size_t point = 0;
    std::size_t compactions = 0;
    std::optional<std::size_t> own{};  ///< the number of the message that the record is, or is a part of
    std::size_t tick = 0;              ///< as it was then
};

/// Numbers of messages from the first one up to, but not with, the other.
struct ClaudeRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// The places of the records of a conversation, by "uuid", while some of it is taken back and some moves behind
/// compactions: both take work for what they name, and places follow when they are looked up.
class ClaudePlaces {
public:
    void mark(std::string_view id, ClaudePlace place);
    [[nodiscard]] bool contains(std::string_view id) const { return places_.contains(std::string(id)); }
    /// As it is now; nullopt: no record has this id.
    [[nodiscard]] std::optional<ClaudePlace> find(std::string_view id) const;

    /// What stood behind was taken back.
    void cut(std::size_t point, std::size_t compactions);
    /// Records that are messages in `kept`, in ascending order, and those right behind the last of them that are none,
    /// stand at `place` from now on.
    void move(const std::vector<ClaudeRange>& kept, const ClaudePlace& place);

private:
    struct Move {
        std::size_t tick = 0;
        ClaudePlace of_messages{};
        ClaudePlace of_passed{};  ///< followed further where that was looked up
    };
    struct MovedRange {
        std::size_t end = 0;
        std::size_t move = 0;
    };

    [[nodiscard]] ClaudePlace as_of_now(ClaudePlace place) const;
    [[nodiscard]] std::optional<std::size_t> newest_move_of(std::size_t message, std::size_t since) const;
    [[nodiscard]] std::optional<std::size_t> first_move_at(std::size_t point, std::size_t since) const;
    void split_ranges(std::size_t at);

    std::unordered_map<std::string, ClaudePlace> places_{};
    LowWaterMark points_left_{};
    LowWaterMark compactions_left_{};
    mutable std::vector<Move> moves_{};
    std::map<std::size_t, MovedRange> moved_{};                              // by the first message of each range
    std::unordered_map<std::size_t, std::vector<std::size_t>> passed_at_{};  // moves by the point that they were at
};

}  // namespace whittle::inline v0::logs
