#include "whittle/reduction/detail/clearing_run.hpp"

#include "whittle/base/detail/names.hpp"

#include <algorithm>
#include <utility>

// How the newest results are shortened.

namespace whittle::inline v0::detail {

/// What may be shortened: results of retained rounds that nobody else has made or wants as they are.
ClearingPlan ClearingRun::plan_shortening() const {
    ClearingPlan planned = plan();
    std::erase_if(planned.candidates, [&](const ClearingCandidate& candidate) {
        if (!candidate.is_retained || edit_.is_pinned(candidate.message)) return true;
        if (matches_tool(turn_.config.protected_tools, tool_of(candidate))) return true;
        if (skips_truncation(config_, tool_of(candidate))) return true;
        return std::ranges::any_of(candidate.parts, [&](std::size_t part) {
            const Mark& mark = mark_of(edit_.outline()[candidate.message], part);
            return origin_of(mark) != Origin::original && (mark->by != name_ || mark->reason == "clear");
        });
    });
    return planned;
}

/// The largest limit for each of their texts that frees so much of our count, by estimate.
std::int64_t ClearingRun::limit_that_frees(std::int64_t tokens,
                                           const std::vector<ClearingCandidate>& candidates) const {
    constexpr std::int64_t notice = 250;
    constexpr std::int64_t least = 1'000;
    std::vector<std::pair<std::int64_t, std::int64_t>> sizes;  // bytes, tokens
    std::int64_t largest = least;
    for (const ClearingCandidate& candidate : candidates) {
        for (const Part& part : parts_of_result(candidate)) {
            if (part.kind == PartKind::media) continue;
            sizes.emplace_back(static_cast<std::int64_t>(part.text.size()), turn_.counter().count(part.text));
            largest = std::max(largest, sizes.back().first);
        }
    }
    const auto frees = [&](std::int64_t limit) {
        double sum = 0.0;
        for (const auto& [bytes, count] : sizes) {
            if (bytes > limit + notice)
                sum += static_cast<double>(count) * static_cast<double>(bytes - limit - notice) /
                       static_cast<double>(bytes);
        }
        return sum;
    };
    std::int64_t limit = least;
    std::int64_t too_high = add_saturating(largest, 1);
    while (limit + 1 < too_high) {
        const std::int64_t middle = limit + (too_high - limit) / 2;
        (frees(middle) >= static_cast<double>(tokens) ? limit : too_high) = middle;
    }
    return limit;
}

void ClearingRun::shorten_newest(std::int64_t tokens) {
    edit_.allow_open_results();
    const ClearingPlan planned = plan_shortening();
    const std::int64_t limit = limit_that_frees(counted_for(tokens), planned.candidates);
    for (const ClearingCandidate& candidate : planned.candidates) {
        const std::int64_t less = shorten(candidate, limit);
        if (less > 0) {
            turn_.report.more().candidates.push_back(
                {edit_.outline()[candidate.message].serial, candidate.parts.front(), true, "newest_shortened", less});
        }
    }
}

/// Plans one result's shortening as a unit of its own. Returns the tokens that it frees.
std::int64_t ClearingRun::shorten(const ClearingCandidate& candidate, std::int64_t max_bytes) {
    const auto storage = storage_for(tool_of(candidate));
    if (!storage) return 0;
    const std::vector<Part> parts = parts_of_result(candidate);
    const std::int64_t before = edit_.tokens_after();
    const Unit unit = edit_.begin_unit();
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool is_long = static_cast<std::int64_t>(parts[i].text.size()) > max_bytes;
        if (parts[i].kind != PartKind::media && is_long) shorten_text(candidate, i, parts[i].text, max_bytes, storage);
    }
    const std::int64_t freed = before - edit_.tokens_after();
    if (freed > 0) return freed;
    edit_.drop_unit(unit);
    return 0;
}

/// The notice names the object that has the text, or one that is made. A text that nobody has stays.
void ClearingRun::shorten_text(const ClearingCandidate& candidate, std::size_t i, const std::string& whole,
                               std::int64_t max_bytes, const std::shared_ptr<Storage>& storage) {
    const std::span<const std::string> stored = candidate.stored_of(i);
    const bool is_new = stored.empty();
    const Mark& mark = mark_of(edit_.outline()[candidate.message], candidate.parts[i]);
    if (is_new && origin_of(mark) != Origin::original) return;
    Provenance provenance{.origin = Origin::placeholder,
                          .reason = std::string(truncate_reason),
                          .stored = {stored.begin(), stored.end()}};
    if (is_new)
        provenance.stored.push_back(
            free_key(*storage, usual_key(config_, turn_.conversation_id(), "trunc", object_name_of(candidate)), whole,
                     planned_));
    const std::string location = reference_to(*storage, provenance.stored.front(), reader());
    const TruncatedText text{.tool = tool_of(candidate), .location = location, .reader = reader()};
    edit_.set_text(candidate.message, candidate.parts[i],
                   cut_to(whole, static_cast<std::size_t>(max_bytes), text, turn_.language), provenance);
    if (is_new) offload(provenance.stored.front(), whole, storage, original_at(candidate, i));
}

}  // namespace whittle::inline v0::detail
