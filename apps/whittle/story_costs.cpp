#include "story_costs.hpp"

#include <vector>

namespace whittle::cli {
namespace {

StoryCost cost_under_chain(const evaluation::CallFigures& call) {
    return {.tokens = call.sent,
            .cached = call.cached_sent,
            .cost = call.cost_sent + call.cost_repairs,
            .repairs = call.cost_repairs};
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
        call.recorded = {.tokens = figures.raw, .cached = figures.cached_raw, .cost = figures.cost_raw};
        call.sent = cost_under_chain(figures);
    }
}

void tell_costs(SessionStory& story, const evaluation::Figures& as_sent, const evaluation::Figures& under_chain) {
    tell_costs(story, under_chain);
    story.base = "as sent";
    for (const evaluation::CallFigures& figures : as_sent.by_call)
        call_of(story, figures).recorded = cost_under_chain(figures);
}

}  // namespace whittle::cli
