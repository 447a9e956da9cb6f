#include "old_arguments.hpp"
#include "trimming_run.hpp"
#include "whittle/base/detail/saturating.hpp"
#include "whittle/conversation/detail/planned_keys.hpp"

#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

namespace {

class TrimCommit {
public:
    TrimCommit(TrimmingRun& run, Draft& edit) : run_(run), state_(run.state), edit_(edit) {}

    CommitResult commit(std::size_t first, std::int64_t enough) {
        for (const TrimPlace& place : state_.open_places(first)) {
            TrimPart& part = state_.at(place);
            if (!part.candidate) continue;
            const bool is_within = !staged_.empty() && staged_.back().place.first == place.first;
            const bool is_enough = sub_saturating(edit_.tokens_before(), edit_.tokens_after()) >= enough;
            if (is_enough && !is_within) {  // the calls of one message are edited together
                run_.report(place, false, "target_reached", 0);
            } else if (!stage(place)) {
                part.candidate.reset();
            }
        }
        if (staged_.empty()) return {};
        const CommitResult result = edit_.commit();
        settle(result, first);
        return result;
    }

private:
    struct Staged {
        TrimPlace place{};
        TrimmedText trimmed{};
        std::int64_t tokens = 0;
        std::int64_t freed = 0;
    };

    /// False: it stays as it is.
    [[nodiscard]] bool stage(const TrimPlace& place) {
        const auto& [m, p] = place;
        if (!edit_.may_edit(m, p)) return false;
        TrimPart& part = state_.at(place);
        const std::string text = edit_.text_of_part(m, p);
        std::vector<LineId> shown = part.shown;
        state_.transcript.show(part, {});
        auto trimmed = run_.trim(place, text, run_.reference_of(place));
        const std::int64_t tokens = trimmed ? run_.count(trimmed->text) : 0;
        if (!trimmed || tokens >= part.tokens) {
            state_.transcript.show(part, std::move(shown));
            return false;
        }
        const std::int64_t before = edit_.tokens_after();
        std::vector<std::string> stored = store(place, text);
        if (!stored.empty() && run_.reference_to_key(stored.front()) != run_.reference_of(place))
            trimmed = run_.trim(place, text, run_.reference_to_key(stored.front()));  // the usual key is taken
        edit_.set_text(
            m, p, trimmed->text,
            {.origin = Origin::placeholder, .reason = std::string(trimmed_reason), .stored_keys = std::move(stored)});
        const bool is_call = part.kind == TrimPart::Kind::call;
        state_.transcript.show_text(part, is_call ? text_of_call(trimmed->text, part.is_edit).shown : trimmed->text);
        staged_.push_back({place, *std::move(trimmed), tokens, before - edit_.tokens_after()});
        return true;
    }

    /// Plans the original of a part to be stored if it is not stored yet. The calls of one message stand or fall
    /// together.
    std::vector<std::string> store(const TrimPlace& place, std::string_view text) {
        const auto& [m, p] = place;
        const bool is_call = state_.at(place).kind == TrimPart::Kind::call;
        const bool is_stored_with_last = is_call && calls_of_ == m && !calls_key_.empty();
        if (!is_stored_with_last) edit_.begin_edit_group();
        if (const Mark& mark = mark_of(edit_.outline()[m], p); mark != nullptr) return mark->stored_keys;
        if (!run_.storage) return {};
        if (is_stored_with_last) return {calls_key_};
        const std::string whole = is_call ? whole_message(m) : std::string();
        const std::string_view content = is_call ? std::string_view(whole) : text;
        std::string key = free_key(*run_.storage, run_.key_of(place), content, planned_);
        planned_.add(key, hash128(content));
        if (content == text) {
            edit_.store_text_on_commit(key, m, p, run_.storage);
        } else {
            edit_.store_on_commit(key, whole, std::nullopt, run_.storage);
        }
        if (is_call) {
            calls_of_ = m;
            calls_key_ = key;
        }
        return {std::move(key)};
    }

    /// The arguments of a message are stored together, with what was said beside them: the object tells what was done
    /// and why.
    std::string whole_message(std::size_t message) const {
        std::string whole;
        run_.turn.visit_parts(message, [&](const PartView& part) {
            if (part.kind == PartKind::text || part.kind == PartKind::tool_call)
                whole.append(whole.empty() ? "" : "\n").append(part.text);
        });
        return whole;
    }

    void settle(const CommitResult& result, std::size_t first) {
        if (!result.committed() || result.unstored_edit_groups > 0) state_.is_valid = false;
        const bool is_planned = result.committed() || result.outcome == Outcome::planned;
        const Outline outline = run_.turn.outline();
        for (Staged& staged : staged_) {
            const auto& [m, p] = staged.place;
            const bool is_refused = is_planned && result.unstored_edit_groups > 0 && mark_of(outline[m], p) == nullptr;
            const std::string_view rule = is_refused                          ? "store_refused"
                                          : result.outcome == Outcome::vetoed ? "vetoed"
                                                                              : staged.trimmed.rule;
            run_.report(staged.place, is_planned && !is_refused, rule, staged.freed);
            if (result.committed() && !is_refused) settle(staged);
        }
        if (!result.committed()) return;
        run_.schedule.note_commit(result.first_changed.value_or(first));
        state_.accept(run_.turn, first);
    }

    void settle(Staged& staged) {
        TrimPart& part = state_.at(staged.place);
        part.trimmed_as = staged.trimmed.as;
        part.is_closed = part.trimmed_as == TrimmedAs::done;
        part.candidate.reset();
        part.tokens = staged.tokens;
        part.result.original.clear();
        part.result.read = std::move(staged.trimmed.read);
        if (part.kind == TrimPart::Kind::result) part.save_form();
    }

    TrimmingRun& run_;
    TrimmingState& state_;
    Draft& edit_;
    PlannedKeys planned_{};
    std::vector<Staged> staged_{};
    // The message whose calls were stored last, and where.
    std::size_t calls_of_ = 0;
    std::string calls_key_{};
};

}  // namespace

CommitResult commit_candidates(TrimmingRun& run, Draft& edit, std::size_t first, std::int64_t enough) {
    return TrimCommit(run, edit).commit(first, enough);
}

}  // namespace whittle::inline v0::detail
