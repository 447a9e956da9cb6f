// Places of Claude Code's records against the same done by hand: each cut and each move walks over all of them.
#include "logs/claude_places.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace whittle;
using logs::ClaudePlace;
using logs::ClaudePlaces;
using logs::ClaudeRange;

namespace {

/// What `ClaudePlaces` promises, at once.
class PlacesByHand {
public:
    void mark(const ClaudePlace& place) { all.push_back(place); }

    void cut(std::size_t point, std::size_t compactions) {
        for (ClaudePlace& place : all) {
            if (place.own && *place.own >= point) place.own.reset();
            place.point = std::min(place.point, point);
            place.compactions = std::min(place.compactions, compactions);
        }
    }

    void move(const std::vector<ClaudeRange>& kept, const ClaudePlace& to) {
        for (ClaudePlace& place : all) {
            const bool is_kept = place.own && std::ranges::any_of(kept, [&](const ClaudeRange& range) {
                                     return range.begin <= *place.own && *place.own < range.end;
                                 });
            if (!is_kept && (place.own || place.point != kept.back().end)) continue;
            place.point = to.point;
            place.compactions = to.compactions;
        }
    }

    std::vector<ClaudePlace> all{};
};

}  // namespace

TEST_CASE("places that follow when they are looked up are where walks over all of them put them", "[logs]") {
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
        std::mt19937 random(seed);
        const auto up_to = [&](std::size_t most) { return random() % (most + 1); };
        ClaudePlaces places;
        PlacesByHand by_hand;
        std::size_t end = 0;                    // of the messages
        std::vector<std::size_t> compacted_at;  // ends at which compactions were
        for (int step = 0; step < 120; ++step) {
            const std::size_t what = up_to(9);
            if (what < 6 || end == 0) {
                ClaudePlace place{.point = up_to(end), .compactions = compacted_at.size()};
                if (what % 2 == 0) {
                    place.own = what == 0 && end > 0 ? up_to(end - 1) : end++;
                    place.point = *place.own + 1;
                }
                places.mark(std::to_string(by_hand.all.size()), place);
                by_hand.mark(place);
            } else if (what < 8) {
                std::vector<ClaudeRange> kept;
                for (std::size_t at = up_to(end - 1); at < end; at += 1 + up_to(3)) {
                    const std::size_t behind = std::min(end, at + 1 + up_to(2));
                    kept.push_back({at, behind});
                    at = behind;
                }
                compacted_at.push_back(end);
                const ClaudePlace here{.point = end, .compactions = compacted_at.size()};
                places.move(kept, here);
                by_hand.move(kept, here);
            } else {
                end = up_to(end);
                while (!compacted_at.empty() && (compacted_at.back() > end || up_to(9) == 0)) compacted_at.pop_back();
                places.cut(end, compacted_at.size());
                by_hand.cut(end, compacted_at.size());
            }
            const bool is_last = step == 119;
            for (std::size_t i = 0; i < by_hand.all.size(); ++i) {
                if (!is_last && up_to(4) != 0) continue;  // most are looked up later
                const auto found = places.find(std::to_string(i));
                REQUIRE(found);
                CAPTURE(seed, step, i);
                REQUIRE(found->point == by_hand.all[i].point);
                REQUIRE(found->own == by_hand.all[i].own);
                REQUIRE(found->compactions == by_hand.all[i].compactions);
            }
        }
    }
}
