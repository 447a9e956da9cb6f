#pragma once

#include "../summary/summary_attempt.hpp"
#include "summary_composer.hpp"
#include "whittle/summarization/detail/summarize.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// The fold of `Summarization`: the older part becomes one summary with what survives.
class SummarizationFold final : public SummaryFold {
public:
    explicit SummarizationFold(const SummarizationWork& work);

    [[nodiscard]] const FoldPlan& plan() const noexcept override { return plan_; }
    [[nodiscard]] std::span<const std::int64_t> tokens() const noexcept override { return tokens_; }
    [[nodiscard]] std::int64_t expected_tokens() const override {
        return add_saturating(plan_.kept_tokens, plan_.tail_tokens);
    }
    void restrict_to(std::vector<std::size_t> folded) override;
    void plan_again() override;
    [[nodiscard]] std::string refuse(const SummaryText& summary, bool is_prepared) override;
    [[nodiscard]] SummaryGenerationConfig request() override;
    [[nodiscard]] RuleBasedSummaryConfig rule_based_config() override { return composer_->rule_based_config(); }
    bool stage(const std::optional<SummaryText>& summary) override;
    /// The order to go on goes into the summary if the host does not want a message of its own for it.
    void call_host() override;

    /// What has to stay is too much already for every condition that is due: no summary can help.
    [[nodiscard]] bool is_over_minimum() const noexcept;
    /// Nothing new to fold, or less than the words around a summary take.
    [[nodiscard]] bool is_pointless() const;
    /// What stays whatever is folded, in tokens, with the reserve for the reply.
    [[nodiscard]] std::int64_t minimum_tokens() const noexcept { return minimum_of(sizes_, plan_, reserve()); }
    /// Why no summary is tried, with the numbers.
    [[nodiscard]] std::string describe_minimum() const;

private:
    [[nodiscard]] std::int64_t reserve() const noexcept { return turn_.config.profile.output_reserve; }
    [[nodiscard]] Role role() const noexcept { return role_of(config_.summary_role); }
    [[nodiscard]] bool has_levels() const noexcept;
    void plan_within(const FoldSizes& sizes, std::int64_t expected_tokens = 0);
    void forget_composed();
    [[nodiscard]] const ComposedSummary& composed(const SummaryText& summary);
    [[nodiscard]] bool is_continue_message_due() const;
    void stage_continue_message();
    void stage_composed(const ComposedSummary& composed, bool is_by_rule);

    const SummarizationWork& work_;
    HookTurn& turn_;
    const SummarizationConfig& config_;
    FoldSizes sizes_;
    std::vector<std::int64_t> tokens_{};
    FoldPlan plan_{};
    std::optional<SummaryComposer> composer_{};                          // of the plan
    std::optional<std::pair<SummaryText, ComposedSummary>> composed_{};  // the last one: it reads the whole fold
};

}  // namespace whittle::inline v0::detail
