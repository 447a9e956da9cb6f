#include "passages.hpp"
#include "trimming_run.hpp"

#include <algorithm>
#include <utility>

// Results that go by passages: whole while they are young, then what the agent came back to, then a mark.

namespace whittle::inline v0::detail {

bool TrimmingRun::is_trimmed_class(ResultClass kind) const noexcept {
    return kind == ResultClass::read   ? config_.trim_reads
           : kind == ResultClass::edit ? config_.trim_edit_results
                                       : config_.trim_outputs;
}

/// An agent reads, does other things, and then edits what it has read: how much later, its own edits show.
int TrimmingRun::whole_calls(const TrimPart& part, bool is_pause) const {
    const int reach = part.form.kind == ResultClass::read ? state_.edit_reach() : 0;
    const int usual = std::max(config_.whole_calls, std::min(2 * reach, config_.most_whole_calls));
    const int at_pause = std::max(config_.pause_whole_calls, std::min(reach, config_.most_whole_calls / 2));
    return is_pause ? std::min(usual, at_pause) : usual;
}

void TrimmingRun::look_at_passages(bool is_pause, std::size_t first) {
    const int now = schedule_.call();
    const std::vector<TrimPlace> places(state_.open_reads.lower_bound({first, 0}), state_.open_reads.end());
    for (const TrimPlace& place : places) {
        TrimPart& part = state_.at(place);
        const int call = state_.messages()[place.first].call;
        if (place.first >= schedule_.newest()) break;
        const bool is_read = part.form.kind == ResultClass::read;
        const bool is_due =
            call <= now - whole_calls(part, is_pause) || (is_read && part.read->stands_in_newer(state_.index(), call));
        const bool may_go = is_due && !is_protected(place);
        if (may_go && !is_pause && now < part.next_due) continue;
        part.candidate.reset();  // also of a pause that is over
        state_.file(place);
        if (!may_go) continue;
        part.next_due = now + calls_until_next_look(now - call);
        if (part.tokens < 0)
            for_each_text(place.first, [&](std::size_t p, const PartView& view) {
                if (p == place.second) part.tokens = count(view.text);
            });
        const Form form = form_of_passages(part, passages_of(part, call), reference_of(place));
        offer(place, form.text.size(), count(form.text), form.rule);
    }
}

std::vector<bool> TrimmingRun::passages_of(const TrimPart& part, int call) const {
    const PassageRules rules{.most_lines = static_cast<std::size_t>(config_.passage_lines),
                             .most_passages = static_cast<std::size_t>(config_.most_passages),
                             .age_calls = config_.passage_age_calls,
                             .outcome_calls = config_.outcome_age_calls};
    const bool is_output = part.form.kind == ResultClass::shell || part.form.kind == ResultClass::other;
    return part.read->find_passages(state_.index(), rules, call, schedule_.call(), is_output);
}

TrimmingRun::Form TrimmingRun::form_of_passages(const TrimPart& part, const std::vector<bool>& stays,
                                                std::string_view reference) const {
    Form form;
    form.is_closed = std::ranges::find(stays, true) == stays.end();
    form.rule = form.is_closed ? "old_result" : "old_passages";
    const TextMark mark = mark_with(reference);
    form.text = part.read->text_with_marks(stays, [&](std::uint64_t first, std::uint64_t lines) {
        return form.is_closed ? mark.of_result(lines, part.original_bytes) : mark.of_lines(first, lines);
    });
    return form;
}

}  // namespace whittle::inline v0::detail
