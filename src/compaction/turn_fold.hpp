#pragma once

#include "../summary/summary_attempt.hpp"
#include "whittle/compaction/detail/compact.hpp"
#include "whittle/compaction/detail/turns.hpp"
#include "whittle/summary/detail/facts.hpp"
#include "whittle/summary/detail/work_state.hpp"

#include <cstdint>
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
[[nodiscard]] std::string compose_compacted(const detail::SummaryText& summary, std::string_view work,
                                            std::span<const RetainedFact> facts, bool is_system, Language language);

namespace detail {

/// The fold of `Compaction`: the oldest turns become one summary of a given size. Planned on what the cheap stages have
/// staged.
class TurnFold final : public SummaryFold {
public:
    /// Borrows both.
    TurnFold(const CompactionWork& work, const TurnLayout& layout) : work_(work), layout_(layout) { plan_again(); }

    [[nodiscard]] const TurnPlan& plan() const noexcept override { return plan_; }
    [[nodiscard]] std::span<const std::int64_t> tokens() const noexcept override { return tokens_; }
    [[nodiscard]] std::int64_t expected_tokens() const override { return messages_with(plan_.summary_tokens); }
    void restrict_to(std::vector<std::size_t> folded) override;
    void plan_again() override;
    [[nodiscard]] std::string refuse(const SummaryText& summary, bool is_prepared) override;
    [[nodiscard]] SummaryGenerationConfig request() override;
    [[nodiscard]] RuleBasedSummaryConfig rule_based_config() override;
    bool stage(const std::optional<SummaryText>& summary) override;
    void end(const CommitResult& result) override;

    /// Whether what stays leaves no room for a summary that is worth a call.
    [[nodiscard]] bool is_over_minimum() const noexcept;
    [[nodiscard]] bool is_possible() const noexcept {
        return !plan_.folded.empty() && !plan_.has_only_summaries && plan_.summary_tokens > 0;
    }
    /// What stays whatever is folded, in tokens of a request.
    [[nodiscard]] std::int64_t minimum_tokens() const noexcept;
    /// Why no summary is bought, with the numbers.
    [[nodiscard]] std::string describe_minimum() const;
    /// Why there is nothing to summarize, with the numbers.
    [[nodiscard]] std::string describe_nothing() const;

private:
    [[nodiscard]] HookTurn& turn() const noexcept { return work_.turn; }
    [[nodiscard]] std::string_view self() const noexcept { return work_.turn.report.middleware; }
    [[nodiscard]] Role role() const noexcept { return role_of(work_.config.summary_role); }
    [[nodiscard]] std::int64_t tokens_of(std::string_view text) const { return work_.edit.counter().count(text); }
    void plan_within(const FoldSizes& sizes);
    [[nodiscard]] std::int64_t smallest_summary() const noexcept;
    /// Of the messages with what is staged and a summary of so many tokens.
    [[nodiscard]] std::int64_t messages_with(std::int64_t summary_tokens) const noexcept;
    [[nodiscard]] const WorkOfFold& work_state();
    [[nodiscard]] std::string work_text(bool is_by_rule);
    [[nodiscard]] std::int64_t tokens_for_text(bool is_by_rule);
    [[nodiscard]] std::string text_with(const SummaryText& summary, std::string_view work,
                                        std::span<const RetainedFact> facts) const {
        return compose_compacted(summary, work, facts, role() == Role::system, work_.turn.language);
    }
    [[nodiscard]] std::string text_with_facts(const SummaryText& summary, std::string& note);

    const CompactionWork& work_;
    const TurnLayout& layout_;
    TurnBudget budget_{};
    TurnPlan plan_{};
    std::vector<std::int64_t> tokens_{};
    std::optional<WorkOfFold> work_state_{};
};

}  // namespace detail

}  // namespace whittle::inline v0
