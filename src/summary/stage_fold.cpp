#include "stage_fold.hpp"

#include "whittle/conversation/detail/repair_options.hpp"
#include "whittle/summary/detail/fold.hpp"

#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

namespace {

class FoldStaging {
public:
    FoldStaging(Draft& edit, const FoldReplacement& with, const ValidityProfile& rules, Language language)
        : edit_(edit),
          with_(with),
          language_(language),
          is_in_turns_(with.role == Role::user && has_rule(rules, Rule::OC6_user_turns)) {}

    void erase(std::size_t first, std::size_t last, FoldNeighbours near) {
        edit_.erase_range(first, last, {.reason = "summary"});
        if (near.before && near.behind) bridge(first);
    }
    /// `place`: whose turn number the summary gets.
    void replace(std::size_t first, std::size_t place, std::size_t last, FoldNeighbours near) {
        edit_.replace_with_text(place, last, with_.role, with_.summary, with_.provenance);
        if (first < place) edit_.erase_range(first, place, {.reason = "summary"});
        if (near.behind && is_in_turns_) bridge(first + 1);
        if (!with_.behind.empty()) {
            edit_.insert_text(first + 1, Role::user, with_.behind, with_.behind_provenance);
            if (is_in_turns_) bridge(first + 1);
        }
        if (!with_.before.empty()) {
            if (is_in_turns_) bridge(first);
            edit_.insert_text(first, Role::user, with_.before, with_.before_provenance);
        }
        if (near.before && is_in_turns_) bridge(first);
    }

private:
    void bridge(std::size_t at) {
        edit_.insert_text(
            at, Role::assistant, bridge_text(language_),
            {.origin = Origin::repair, .reason = std::string(bridge_reason), .covers = with_.provenance.covers});
    }

    Draft& edit_;
    const FoldReplacement& with_;
    Language language_;
    bool is_in_turns_;
};

}  // namespace

void stage_fold(Draft& edit, std::span<const std::size_t> folded, const FoldReplacement& with,
                const ValidityProfile& rules, Language language) {
    const Outline outline = edit.outline();
    const auto stretches = stretches_of(folded);
    const std::size_t chosen = stretch_for_summary(outline, folded, rules);
    const auto [chosen_first, chosen_last] = stretches[chosen];
    const std::size_t place =
        with.has_newest_turn ? place_of_summary(outline, chosen_first, chosen_last) : chosen_first;
    std::vector<FoldNeighbours> neighbours;  // before the first edit: `outline` is valid until then
    for (const auto& [first, last] : stretches)
        neighbours.push_back(neighbours_of(outline, first, last, folded, rules));
    FoldStaging staging(edit, with, rules, language);
    for (std::size_t s = stretches.size(); s-- > 0;) {
        const auto [first, last] = stretches[s];
        s == chosen ? staging.replace(first, place, last, neighbours[s]) : staging.erase(first, last, neighbours[s]);
    }
}

}  // namespace whittle::inline v0::detail
