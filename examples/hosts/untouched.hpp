// Counts what a change of a list leaves alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <vector>

/// How many messages of the list have their content where it was before `change`: they were neither copied nor built
/// anew. `place_of` gives the address of a message's content.
template <typename M>
std::size_t count_untouched(std::vector<M>& list, const auto& place_of, const auto& change) {
    std::unordered_set<const void*> places;
    for (const M& m : list) places.insert(place_of(m));
    change();
    return static_cast<std::size_t>(
        std::ranges::count_if(list, [&](const M& m) { return places.contains(place_of(m)); }));
}
