// What a host has to replace, against a list that every commit is carried out on.
#include "whittle/conversation/detail/changes.hpp"

#include "support/catch.hpp"
#include "support/generators.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

using Numbers = std::vector<int>;

/// Replaces random stretches of one version, in list order, and logs them as a commit does.
void commit_at_random(Dice& dice, std::uint64_t version, Numbers& list, int& next, ChangeLog& log) {
    struct Piece {
        std::size_t first;
        std::size_t removed;
        std::size_t inserted;
    };
    std::vector<Piece> pieces;
    std::size_t size = list.size();
    for (std::size_t at = dice.below(3); at < list.size(); at += dice.below(4)) {
        const std::size_t removed = dice.below(std::min<std::size_t>(3, list.size() - at) + 1);
        const std::size_t inserted = dice.below(3);
        pieces.push_back({at, removed, inserted});
        size = size - removed + inserted;
        at += removed + (removed == 0 ? 1 : 0);
    }
    std::ptrdiff_t shift = 0;
    for (const Piece& piece : pieces) {
        const auto first = static_cast<std::ptrdiff_t>(piece.first) + shift;
        list.erase(list.begin() + first, list.begin() + first + static_cast<std::ptrdiff_t>(piece.removed));
        for (std::size_t i = 0; i < piece.inserted; ++i)
            list.insert(list.begin() + first + static_cast<std::ptrdiff_t>(i), next++);
        log.add(version, static_cast<std::size_t>(first), piece.removed, piece.inserted, size);
        shift += static_cast<std::ptrdiff_t>(piece.inserted) - static_cast<std::ptrdiff_t>(piece.removed);
    }
    if (pieces.empty()) log.add(version, 0, 0, 0, size);
}

/// The list of a host that had `old` and follows `changes`.
Numbers followed(const Numbers& old, const Numbers& now, const Changes& changes) {
    Numbers host;
    std::size_t done = 0;
    for (const Change& c : changes) {
        host.insert(host.end(), old.begin() + static_cast<std::ptrdiff_t>(done),
                    old.begin() + static_cast<std::ptrdiff_t>(c.old_first));
        host.insert(host.end(), now.begin() + static_cast<std::ptrdiff_t>(c.new_first),
                    now.begin() + static_cast<std::ptrdiff_t>(c.new_first + c.new_count));
        done = c.old_first + c.old_count;
    }
    host.insert(host.end(), old.begin() + static_cast<std::ptrdiff_t>(done), old.end());
    if (host.size() < now.size())
        host.insert(host.end(), now.begin() + static_cast<std::ptrdiff_t>(host.size()), now.end());
    return host;
}

}  // namespace

TEST_CASE("a host that follows the changes since any version has the list of now", "[chain]") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Dice dice(seed);
        Numbers list;
        int next = 0;
        for (std::size_t n = dice.below(12); n > 0; --n) list.push_back(next++);
        ChangeLog log;
        log.start_at(0, list.size());
        std::vector<Numbers> versions{list};
        for (std::uint64_t version = 1; version <= 12; ++version) {
            if (dice.one_in(3)) {
                list.push_back(next++);  // an append needs no entry
            } else {
                commit_at_random(dice, version, list, next, log);
            }
            versions.push_back(list);
        }
        for (std::size_t version = 0; version < versions.size(); ++version) {
            INFO("seed " << seed << ", version " << version);
            CHECK(followed(versions[version], list, log.since(version)) == list);
        }
    }
}
