#pragma once

#include "whittle/base/detail/saturating.hpp"
#include "whittle/compaction/detail/compact.hpp"
#include "whittle/compaction/detail/turns.hpp"
#include "whittle/message/validity.hpp"
#include "whittle/summary/detail/facts.hpp"
#include "whittle/summary/detail/work_state.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// The built-in task of compaction's summaries: one paragraph with goals, decisions, tool calls with their results, and
/// the state.
[[nodiscard]] std::string_view compaction_instruction(Language language) noexcept;

/// The sentence behind a task that says how long a summary of at most `max_tokens` may be: in words, with some room.
[[nodiscard]] std::string length_sentence(std::int64_t max_tokens, Language language);

/// The text of the message that stands for folded turns. `work`: the state of the work, as text. `is_system`: it is a
/// system message, which needs no word on who wrote it.
[[nodiscard]] std::string compose_compacted(std::string_view summary, std::string_view work,
                                            std::span<const RetainedFact> facts, bool is_system, Language language);

namespace detail {

/// Why no summary is bought, with the numbers.
[[nodiscard]] std::string describe_floor(const TurnPlan& plan, const TurnBudget& budget);
/// Why there is nothing to summarise, with the numbers.
[[nodiscard]] std::string describe_idle(const TurnPlan& plan, const TurnBudget& budget);
/// The rules that a summary would break; empty: none.
[[nodiscard]] std::string describe_broken(std::span<const Violation> violations);
/// Numbers as one line of text, for `Notes`.
[[nodiscard]] std::string joined_numbers(std::initializer_list<std::int64_t> numbers);
/// That compaction did not bring the request below the threshold.
[[nodiscard]] std::string describe_compacted(std::int64_t tokens, std::int64_t threshold);

/// What stays whatever is folded, in tokens of a request.
[[nodiscard]] std::int64_t floor_of(const TurnPlan& plan, const TurnBudget& budget) noexcept;
/// Whether what stays leaves no room for a summary that is worth a call.
[[nodiscard]] bool is_over_floor(const TurnPlan& plan, const TurnBudget& budget) noexcept;

/// The start of `summary` that has at most `max_tokens`, at a line border if one is near.
[[nodiscard]] std::string cut_summary(std::string_view summary, std::int64_t max_tokens, const TokenCounter& counter);

/// One run of the ladder over one draft: what it stages, a later stage sees.
class CompactionRun {
public:
    explicit CompactionRun(const CompactionWork& work)
        : work_(work),
          turn_(work.turn),
          edit_(work.edit),
          scale_(work.sizes.counted.scale_to(work.sizes.tokens)),
          layout_(layout_of(edit_.outline(), self(), work.config.current_turn_keep_rounds)) {}

    /// Stages 0 and 1. What the store refuses is taken back here: stage 2 stands on what really goes.
    void stage_cheap();
    /// Whether the store refused something.
    [[nodiscard]] bool is_refused() const noexcept { return refused_ > 0; }
    /// What decides what a run can do while messages only come at the end. O(size).
    [[nodiscard]] std::string situation() const;
    /// The whole request with what is staged, by the ruler that judged it.
    [[nodiscard]] std::int64_t tokens_now() const noexcept {
        return tokens_after(edit_.tokens_before(), edit_.tokens_after());
    }
    /// The whole request once its messages have `after` tokens of what were `before`, counted.
    [[nodiscard]] std::int64_t tokens_after(std::int64_t before, std::int64_t after) const noexcept {
        return sub_saturating(work_.sizes.tokens, scale_.to_request(sub_saturating(before, after)));
    }
    /// Whether the cheap stages neither reached the target nor left a runway.
    [[nodiscard]] bool needs_summary() const noexcept {
        return tokens_now() > limits().target && tokens_now() > runway_end(work_.config, limits().threshold);
    }

    /// Plans stage 2 on what is staged.
    void plan_summary();
    [[nodiscard]] const TurnPlan& plan() const noexcept { return plan_; }
    [[nodiscard]] const TurnBudget& budget() const noexcept { return budget_; }
    [[nodiscard]] bool can_summarise() const noexcept {
        return !plan_.folded.empty() && !plan_.has_only_summaries && plan_.summary_tokens > 0;
    }
    /// `is_due`: they will be folded.
    void list_candidates(bool is_due) const;
    [[nodiscard]] std::int64_t tokens_before() const noexcept { return edit_.tokens_before(); }
    /// Tokens of the messages with what is staged and a summary as large as it may be.
    [[nodiscard]] std::int64_t expected_tokens() const noexcept {
        return add_saturating(sub_saturating(edit_.tokens_after(), plan_.folded_tokens),
                              add_saturating(budget_.frame, plan_.summary_tokens));
    }

    /// Why a summary may not stand there, whatever it says: found out before a model is paid for it.
    struct Rehearsal {
        std::string broken{};  ///< the rules that it would break; empty: none
        bool is_vetoed = false;
    };
    [[nodiscard]] Rehearsal rehearse();
    /// Asks the model. Throws Error(cancelled), and what a digest throws.
    [[nodiscard]] DigestOutcome generate(DigestState& state);
    void stage_summary(std::string_view summary);
    [[nodiscard]] CommitResult commit();

private:
    [[nodiscard]] std::string_view self() const noexcept { return turn_.report.middleware; }
    [[nodiscard]] const CompactionLimits& limits() const noexcept { return work_.sizes.limits; }
    [[nodiscard]] Role role() const noexcept {
        return work_.config.summary_role == SummaryRole::system ? Role::system : Role::user;
    }
    [[nodiscard]] std::string text_with(std::string_view summary, std::span<const RetainedFact> facts) const {
        return compose_compacted(summary, work_text_, facts, role() == Role::system, turn_.language);
    }
    [[nodiscard]] std::int64_t tokens_of(std::string_view text) const { return edit_.counter().count(text); }
    void plan_within(const TokenScale& scale);
    void collect_work_once();
    /// What is left of the summary's size for the model's words.
    [[nodiscard]] std::int64_t tokens_for_model() const {
        return std::max<std::int64_t>(1, plan_.summary_tokens - tokens_of(work_text_));
    }
    [[nodiscard]] std::string refuse(std::string_view summary) const;
    [[nodiscard]] DigestConfig config_of_digest() const;
    [[nodiscard]] std::string text_with_facts(std::string_view summary, std::string& note) const;
    Unit stage_message(std::string_view text, std::string facts);

    const CompactionWork& work_;
    HookTurn& turn_;
    Draft& edit_;
    TokenScale scale_;
    TurnLayout layout_;
    TurnBudget budget_{};
    TurnPlan plan_{};
    std::vector<std::int64_t> tokens_{};     ///< of each message, when the plan was made
    std::optional<WorkState> known_work_{};  ///< of the messages that go
    std::string work_text_{};                ///< what is shown of it
    int refused_ = 0;
};

}  // namespace detail

}  // namespace whittle::inline v0
