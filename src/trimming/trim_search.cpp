#include "trimming_run.hpp"
#include "whittle/base/detail/names.hpp"

#include <algorithm>
#include <utility>
#include <vector>

// What may go before a model call.

namespace whittle::inline v0::detail {

namespace {

class TrimSearch {
public:
    explicit TrimSearch(TrimmingRun& run) : run_(run), state_(run.state), config_(run.config), rules_(run.rules) {}

    /// Results that have left the newest calls.
    void consider_old() {
        const std::size_t end = std::min(run_.schedule.newest(), state_.messages().size());
        for (std::size_t m = state_.considered; m < end; ++m) {
            const std::vector<TrimPart>& parts = state_.messages()[m].parts;
            const auto is_new = [](const TrimPart& part) {
                return part.kind == TrimPart::Kind::result && !part.is_considered;
            };
            if (std::ranges::none_of(parts, is_new)) continue;
            visit_texts(m, [&](const TrimPlace& place, std::string_view text) {
                if (place.second < parts.size() && is_new(parts[place.second])) consider(place, text);
            });
        }
        state_.considered = std::max(state_.considered, end);
    }

    /// Looks at what is open from message `first` on; with `only_results`, not at calls.
    void look(std::size_t first, bool is_pause, bool only_results) {
        std::vector<TrimPlace> due;
        for (const TrimPlace& place : state_.open_places(first)) {
            if (place.first >= run_.schedule.newest()) break;
            const bool is_call = state_.at(place).kind == TrimPart::Kind::call;
            const bool is_due = is_call ? !only_results && is_due_call(place) : is_due_result(place, is_pause);
            if (is_due) due.push_back(place);
        }
        offer_all(due);
    }

private:
    void visit_texts(std::size_t message, FunctionRef<void(const TrimPlace&, std::string_view)> visit) const {
        std::size_t part = 0;
        run_.turn.visit_parts(message, [&](const PartView& view) { visit({message, part++}, view.text); });
    }

    [[nodiscard]] bool is_protected(const TrimPlace& place) const {
        const MessageInfo& info = run_.turn.outline()[place.first];
        const SharedString& tool = info.parts[place.second].tool;
        const ChainConfig& chain = run_.turn.config;
        return info.pinned || (chain.pins && chain.pins(info)) || matches_tool(chain.protected_tools, tool) ||
               matches_tool(config_.exclude_tools, tool);
    }

    [[nodiscard]] bool is_trimmed_class(ResultClass kind) const noexcept {
        return kind == ResultClass::read ? config_.trim_reads
                                         : kind == ResultClass::edit || config_.trim_program_output;
    }

    void consider(const TrimPlace& place, std::string_view text) {
        TrimPart& part = state_.at(place);
        part.is_considered = true;
        part.tokens = run_.count(text);
        const bool is_short = text.size() <= static_cast<std::size_t>(config_.min_result_bytes);
        if (is_short || is_protected(place)) part.is_closed = true;
        if (run_.by_passages()) {
            part.is_closed = part.is_closed || !is_trimmed_class(part.result.form.kind);
            if (!part.is_closed)
                part.result.read =
                    std::make_unique<ReadForm>(text, part.result.form, config_.unit, state_.transcript.index);
        } else if (!part.is_closed) {
            state_.transcript.show(part, {});
            if (auto trimmed = run_.trim(place, text, run_.reference_of(place))) {
                part.result.read = std::move(trimmed->read);
                offer(part, trimmed->text);
            }
            part.is_closed = !part.result.read && !part.candidate;
        }
        state_.transcript.show_text(part, text);
    }

    void offer(TrimPart& part, std::string_view text) const {
        constexpr std::size_t least_gain_bytes = 40;
        constexpr std::int64_t least_gain_tokens = 8;
        const bool is_result = part.kind == TrimPart::Kind::result;
        if (is_result && text.size() + least_gain_bytes >= part.result.original_bytes) return;
        const bool is_first = is_result && part.trimmed_as == TrimmedAs::whole;
        const std::int64_t tokens = run_.count(text);
        if (tokens + (is_first ? 1 : least_gain_tokens) <= part.tokens) part.candidate = tokens;
    }

    /// `places`, ascending, of which those of one message are read together. An extract of which nothing more can go
    /// is closed.
    void offer_all(const std::vector<TrimPlace>& places) {
        for (auto next = places.begin(); next != places.end();) {
            const std::size_t m = next->first;
            visit_texts(m, [&](const TrimPlace& place, std::string_view text) {
                if (next == places.end() || *next != place) return;
                ++next;
                TrimPart& part = state_.at(place);
                if (part.tokens < 0) part.tokens = run_.count(text);
                if (const auto trimmed = preview(place, text)) offer(part, trimmed->text);
                part.is_closed = part.trimmed_as == TrimmedAs::extract && !part.candidate;
            });
            while (next != places.end() && next->first == m) ++next;
        }
    }

    /// What a part would become, without what only a commit needs.
    [[nodiscard]] std::optional<TrimmedText> preview(const TrimPlace& place, std::string_view text) {
        TrimPart& part = state_.at(place);
        const std::string reference = run_.reference_of(place);
        ReadForm* const read = part.result.read.get();
        if (read == nullptr) return run_.trim(place, text, reference);
        if (run_.by_passages()) return run_.trim_to_passages(part, run_.passages_of(part), reference);
        int next = 0;
        const std::vector<bool> lines = read->find_old(state_.transcript.index, run_.ages, run_.now, next);
        if (!run_.is_pause) part.next_due = lines.empty() ? next : run_.now;
        if (lines.empty()) return std::nullopt;
        return TrimmedText{read->text(reference, 0, lines), "old_lines"};
    }

    /// Thinking of the open loop that a provider has signed wants its calls as they were.
    [[nodiscard]] bool is_beside_open_thinking(std::size_t message) const {
        const Outline outline = run_.turn.outline();
        const auto loop = outline.open_loop_begin();
        return loop && message >= *loop && outline[message].has(PartKind::thinking);
    }

    [[nodiscard]] bool is_due_call(const TrimPlace& place) {
        const bool is_old = state_.messages()[place.first].call <= run_.now - rules_.argument_age_calls;
        if (!config_.trim_arguments || !is_old) return false;
        TrimPart& part = state_.at(place);
        const PartInfo& info = run_.turn.outline()[place.first].parts[place.second];
        const TrimCall* const call = state_.transcript.find_call(part.name);
        const bool has_failed = call == nullptr || call->verdict == TrimCall::Verdict::failed;
        part.is_closed = has_failed || info.text_bytes <= config_.min_argument_bytes || !info.has_object_arguments;
        if (part.is_closed || (!run_.is_pause && run_.now < part.next_due)) return false;
        return call->verdict == TrimCall::Verdict::worked && !is_beside_open_thinking(place.first) &&
               !is_protected(place);
    }

    [[nodiscard]] bool is_due_result(const TrimPlace& place, bool is_pause) {
        const TrimPart& part = state_.at(place);
        if (part.result.read == nullptr) return is_due_extract(place);
        return run_.by_passages() ? are_due_passages(place, is_pause) : are_due_lines(place);
    }

    /// What is offered already is not looked at again.
    [[nodiscard]] bool is_due_extract(const TrimPlace& place) const {
        const TrimPart& part = state_.at(place);
        return part.trimmed_as == TrimmedAs::extract && !run_.is_pause && !run_.by_passages() &&
               part.call < run_.now - rules_.extract_age_calls && !part.candidate && !is_protected(place);
    }

    [[nodiscard]] bool are_due_lines(const TrimPlace& place) const {
        const TrimPart& part = state_.at(place);
        const bool is_old = part.call <= run_.now - run_.ages.least();
        return is_old && (run_.is_pause || run_.now >= part.next_due) && !is_protected(place);
    }

    /// An agent reads, does other things, and then edits what it has read: how much later, its own edits show.
    [[nodiscard]] int whole_calls(bool is_read, bool is_pause) const {
        const int reach = is_read ? state_.transcript.edit_reach() : 0;
        const int usual = std::max(rules_.whole_calls, std::min(2 * reach, rules_.most_whole_calls));
        const int at_pause = std::max(rules_.pause_whole_calls, std::min(reach, rules_.most_whole_calls / 2));
        return is_pause ? std::min(usual, at_pause) : usual;
    }

    /// Results are whole while they are young, then what the agent came back to, then a mark.
    [[nodiscard]] bool are_due_passages(const TrimPlace& place, bool is_pause) {
        TrimPart& part = state_.at(place);
        const bool is_read = part.result.form.kind == ResultClass::read;
        const bool is_old = part.call <= run_.now - whole_calls(is_read, is_pause) ||
                            (is_read && part.result.read->stands_in_newer(state_.transcript.index, part.call));
        const bool may_go = is_old && !is_protected(place);
        if (may_go && !is_pause && run_.now < part.next_due) return false;
        part.candidate.reset();  // also of a pause that is over
        if (may_go) part.next_due = run_.now + calls_until_next_look(run_.now - part.call);
        return may_go;
    }

    TrimmingRun& run_;
    TrimmingState& state_;
    const TrimmingConfig& config_;
    const TrimmingRules& rules_;
};

}  // namespace

void find_candidates(TrimmingRun& run) {
    TrimSearch search(run);
    search.consider_old();
    const bool is_time =
        std::exchange(run.state.is_new, false) || run.is_pause || run.now % run.rules.look_every_calls == 0;
    if (is_time) search.look(0, run.is_pause, false);
}

void find_candidates_behind(TrimmingRun& run, std::size_t first) {
    if (run.by_passages() && !run.is_pause) TrimSearch(run).look(first, true, true);
}

}  // namespace whittle::inline v0::detail
