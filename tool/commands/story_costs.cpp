#include "story_costs.hpp"

#include <vector>

namespace whittle::cli {
namespace {

StoryCost cost_under_chain(const evaluation::CallFigures& call, std::size_t profile) {
    const evaluation::CallCost& cost = call.costs[profile];
    return {.tokens = call.sent, .cached = call.cached_sent, .cost = cost.sent + cost.repairs, .repairs = cost.repairs};
}

StoryCall& call_of(SessionStory& story, const evaluation::CallFigures& call) {
    if (call.call >= story.calls.size()) story.calls.resize(call.call + 1);
    return story.calls[call.call];
}

}  // namespace

void tell_costs(SessionStory& story, const evaluation::Figures& under_chain) {
    story.base = "everything sent";
    for (const evaluation::CallFigures& figures : under_chain.by_call) {
        StoryCall& call = call_of(story, figures);
        call.is_counted = figures.is_counted;
        call.recorded = {.tokens = figures.raw, .cached = figures.cached_raw, .cost = figures.costs.front().raw};
        call.sent = cost_under_chain(figures, 0);
    }
}

void tell_costs(SessionStory& story, const evaluation::Figures& as_sent, const evaluation::Figures& under_chain,
                std::size_t profile) {
    story.base = "as sent";
    for (const evaluation::CallFigures& figures : under_chain.by_call) {
        StoryCall& call = call_of(story, figures);
        call.is_counted = figures.is_counted;
        call.sent = cost_under_chain(figures, profile);
    }
    for (const evaluation::CallFigures& figures : as_sent.by_call)
        call_of(story, figures).recorded = cost_under_chain(figures, profile);
}

}  // namespace whittle::cli
