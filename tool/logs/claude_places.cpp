#include "claude_places.hpp"

#include <algorithm>
#include <iterator>

namespace whittle::inline v0::logs {

void ClaudePlaces::mark(std::string_view id, ClaudePlace place) {
    if (id.empty()) return;
    place.tick = points_left_.now();
    places_[std::string(id)] = place;
}

std::optional<ClaudePlace> ClaudePlaces::find(std::string_view id) const {
    const auto known = places_.find(std::string(id));
    return known == places_.end() ? std::nullopt : std::optional(as_of_now(known->second));
}

void ClaudePlaces::cut(std::size_t point, std::size_t compactions) {
    points_left_.cut(point);
    compactions_left_.cut(compactions);
}

void ClaudePlaces::move(const std::vector<ClaudeRange>& kept, const ClaudePlace& place) {
    if (kept.empty()) return;
    const std::size_t number = moves_.size();
    Move& one = moves_.emplace_back(Move{.tick = points_left_.now(), .of_messages = place, .of_passed = place});
    one.of_messages.tick = one.of_passed.tick = one.tick + 1;
    points_left_.pass();
    compactions_left_.pass();
    for (const ClaudeRange& range : kept) {
        split_ranges(range.begin);
        split_ranges(range.end);
        moved_.erase(moved_.lower_bound(range.begin), moved_.lower_bound(range.end));
        moved_.emplace(range.begin, MovedRange{range.end, number});
    }
    passed_at_[kept.back().end].push_back(number);
}

/// Of what was moved no range goes over `at`.
void ClaudePlaces::split_ranges(std::size_t at) {
    const auto next = moved_.upper_bound(at);
    if (next == moved_.begin()) return;
    const auto range = std::prev(next);
    if (range->first == at || range->second.end <= at) return;
    moved_.emplace(at, range->second);
    range->second.end = at;
}

std::optional<std::size_t> ClaudePlaces::newest_move_of(std::size_t message, std::size_t since) const {
    const auto next = moved_.upper_bound(message);
    if (next == moved_.begin()) return std::nullopt;
    const MovedRange& range = std::prev(next)->second;
    const bool is_moved = message < range.end && moves_[range.move].tick >= since;
    return is_moved ? std::optional(range.move) : std::nullopt;
}

std::optional<std::size_t> ClaudePlaces::first_move_at(std::size_t point, std::size_t since) const {
    const auto known = passed_at_.find(point);
    if (known == passed_at_.end()) return std::nullopt;
    const auto first =
        std::ranges::partition_point(known->second, [&](std::size_t move) { return moves_[move].tick < since; });
    return first == known->second.end() ? std::nullopt : std::optional(*first);
}

ClaudePlace ClaudePlaces::as_of_now(ClaudePlace place) const {
    std::size_t counted = place.tick;  // when it had so many compactions
    const auto take = [&](const ClaudePlace& other) {
        place.point = other.point;
        place.compactions = other.compactions;
        place.tick = counted = other.tick;
    };
    if (const auto cut = points_left_.lowest(place.tick); place.own && cut && cut->size <= *place.own)
        place.own.reset();
    if (place.own) {
        if (const auto move = newest_move_of(*place.own, place.tick)) take(moves_[*move].of_messages);
        place.point = points_left_.limited(place.point, place.tick);
    }
    std::vector<std::size_t> followed;
    while (!place.own) {
        if (const auto cut = points_left_.lowest(place.tick); cut && cut->size < place.point) {
            place.point = cut->size;
            place.tick = cut->tick + 1;
        } else if (const auto move = first_move_at(place.point, place.tick)) {
            followed.push_back(*move);
            take(moves_[*move].of_passed);
        } else {
            break;
        }
    }
    place.compactions = compactions_left_.limited(place.compactions, counted);
    place.tick = points_left_.now();
    for (const std::size_t move : followed) moves_[move].of_passed = place;
    return place;
}

}  // namespace whittle::inline v0::logs
