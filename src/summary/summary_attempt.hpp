#pragma once

#include "whittle/chain/detail/cooldown.hpp"
#include "whittle/summary/detail/prepared.hpp"
#include "whittle/summary/detail/rule_based_summary.hpp"
#include "whittle/summary/detail/summary_work.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// An accepted summary.
struct SummaryText {
    std::string text{};
    bool is_by_rule = false;  ///< `rule_based_summary` wrote it

    friend bool operator==(const SummaryText&, const SummaryText&) = default;
};

/// How a middleware folds: which messages a summary stands for, and what is put in their place. Indices are those of
/// the conversation and of the draft: what is staged before a summary erases and inserts no messages.
class SummaryFold {
public:
    SummaryFold() = default;
    SummaryFold(const SummaryFold&) = delete;
    SummaryFold& operator=(const SummaryFold&) = delete;

    [[nodiscard]] virtual const FoldedMessages& plan() const noexcept = 0;
    /// Of each message, when the plan was made.
    [[nodiscard]] virtual std::span<const std::int64_t> tokens() const noexcept = 0;
    /// Tokens of the messages with a summary as large as it may be.
    [[nodiscard]] virtual std::int64_t expected_tokens() const = 0;
    /// Folds no more than these of the planned messages.
    virtual void restrict_to(std::vector<std::size_t> folded) = 0;
    /// Undoes `restrict_to`.
    virtual void plan_again() = 0;
    /// Why a text is no summary of these messages; empty: it is. `is_prepared`: it also has to be enough.
    [[nodiscard]] virtual std::string refuse(const SummaryText& summary, bool is_prepared) = 0;
    [[nodiscard]] virtual SummaryGenerationConfig request() = 0;
    [[nodiscard]] virtual RuleBasedSummaryConfig rule_based_config() = 0;
    /// Stages a summary. Nullopt: the frame of one, to see whether it may stand there; false: nobody can know.
    virtual bool stage(const std::optional<SummaryText>& summary) = 0;
    /// Asks the host about what a summary may go without; it has agreed to the summary itself.
    virtual void call_host() {}
    /// What came of the commit, before it is reported.
    virtual void end(const CommitResult&) {}

protected:
    ~SummaryFold() = default;
};

/// Lists in the report what a plan does with each message. `is_due`: it is carried out.
void list_candidates(HookTurn& turn, const FoldedMessages& plan, std::span<const std::int64_t> tokens, bool is_due);

/// Takes out of a plan what is not in `folded`; these messages stay as recent ones. Their tokens.
std::int64_t restrict_plan(FoldedMessages& plan, std::span<const std::int64_t> tokens, std::vector<std::size_t> folded);

/// What came of an attempt.
enum class AttemptResult {
    committed,
    nothing,     ///< the report says why
    impossible,  ///< no summary may stand there, whatever it says; or there is no model, and none by rule is smaller
    no_call,     ///< the hook's model calls or time were used up before this attempt
};

/// One attempt at a summary: takes a prepared one or writes one, by the model or by rule, and commits it. What fails is
/// reported, and the next attempt waits until the request has grown.
class SummaryAttempt {
public:
    SummaryAttempt(const SummaryWork& work, SummaryFold& fold) : work_(work), turn_(work.turn), fold_(fold) {}

    /// Throws what a failure is thrown as, Error(cancelled) and std::bad_alloc.
    AttemptResult run();
    /// Stages a summary and commits nothing. Throws Error(invalid_history), Error(model_failed) and Error(cancelled).
    void stage();

private:
    /// A summary that takes several hooks: what came of this one.
    struct Progress {
        SummaryGenerationOutcome outcome{};
        bool is_by_rule = false;
        bool is_unfinished = false;  ///< the failure is only that the hook's calls or time are used up
        std::size_t messages_read = 0;
    };

    AttemptResult attempt();
    [[nodiscard]] std::optional<SummaryText> take_prepared();

    /// The rules that a summary there would break; empty: none. `host_would_veto`: asks the host, before a model is
    /// paid.
    [[nodiscard]] std::string find_broken_rules(bool* host_would_veto);
    [[nodiscard]] SummaryGenerationOutcome generate(SummaryGenerationState& state, bool& is_by_rule);
    [[nodiscard]] SummaryGenerationOutcome write_plain();
    [[nodiscard]] Progress go_on();
    AttemptResult write_summary();
    AttemptResult commit(const SummaryText& summary);

    [[nodiscard]] std::int64_t grown(std::int64_t tokens) const noexcept {
        return add_saturating(tokens, work_.cool_down);
    }
    void warn(std::string_view kind, const std::string& text, std::int64_t before = 0, std::int64_t after = 0);
    AttemptResult report_planned();
    AttemptResult report_veto();
    AttemptResult report_invalid(const std::string& broken);
    AttemptResult report_failure(const SummaryError& failure);
    AttemptResult report_plain_failure(const SummaryError& failure);
    AttemptResult report_unfinished(const Progress& progress);
    void report_success(const CommitResult& result);

    const SummaryWork& work_;
    HookTurn& turn_;
    SummaryFold& fold_;
    Cooldown cooldown_{turn_};
};

/// Whether a summary that was ordered is being made, and the request is not far above the trigger: it is waited for
/// without blocking, and the report says so. One that comes too late is dropped. False in dry runs.
[[nodiscard]] bool waits_for_prepared(const SummaryWork& work);

/// Whether a summary can be made ahead of need and none is being made. One that has come to nothing is made again once
/// the request has grown by the cool-down.
[[nodiscard]] bool may_prepare(const SummaryWork& work);

/// Orders a summary of the planned messages ahead of need, unless the one that is there still stands for them.
void prepare_summary(const SummaryWork& work, SummaryFold& fold);

}  // namespace whittle::inline v0::detail
