#pragma once

#include "whittle/provider/detail/json_tree.hpp"

namespace whittle::inline v0::detail {

/// Adds a piece of a streamed JSON object to what came before: texts are joined, except those that name something (ids,
/// types, names, roles), which the newest one that is not empty replaces; objects are merged; elements of arrays that
/// have an "index" are merged with the element of that index, a text or thinking part without one goes on with the last
/// part if that has its type, others are appended; null never replaces anything; of numbers
/// and truth values the newest counts. Does not recurse. Throws ModelError(server) for more than `most_indexed`
/// elements of an array that have an index.
void merge_delta(ordered_json& target, const ordered_json& piece);

/// Elements are found by looking at all of them.
inline constexpr std::size_t most_indexed = 1'024;
/// Throws ModelError(server) if `list` has no room for another element with an index.
void require_room(const ordered_json& list);

/// The element of the array `list` whose "index" is that of `piece`; null if there is none.
[[nodiscard]] ordered_json* find_index(ordered_json& list, const ordered_json& piece);

/// Takes every "index" off the elements of the array `list`: requests do not have it.
void drop_indexes(ordered_json& list);

}  // namespace whittle::inline v0::detail
