#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/chain/hook_turn.hpp"
#include "whittle/summarization/config.hpp"
#include "whittle/summarization/detail/fold_range.hpp"
#include "whittle/summarization/detail/preserved.hpp"
#include "whittle/summary/detail/outcome.hpp"
#include "whittle/summary/detail/work_state.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

class PreparedSummary;

/// What of one summary takes or gives messages: the user's callbacks and the model.
class SummaryPort {
public:
    SummaryPort() = default;
    SummaryPort(const SummaryPort&) = delete;
    SummaryPort& operator=(const SummaryPort&) = delete;

    /// Whether `digest` has whom to ask.
    [[nodiscard]] virtual bool has_model() const noexcept = 0;
    /// Whether the user makes the new list himself.
    [[nodiscard]] virtual bool has_finalize() const noexcept = 0;
    /// Whether a request may go on from the agent's own prefix.
    [[nodiscard]] virtual bool may_use_prefix() const noexcept = 0;
    [[nodiscard]] virtual bool passes_filter(std::size_t message) const = 0;
    /// Of the transcript, if there is one.
    [[nodiscard]] virtual std::string_view transcript_path() const noexcept = 0;
    /// Writes the transcript and the host's long-term memory, if there are any.
    virtual void record(std::span<const std::size_t> fold) = 0;
    [[nodiscard]] virtual bool has_attach_files() const noexcept = 0;
    [[nodiscard]] virtual std::vector<AttachedFile> attach_files(std::span<const FileUse> files) = 0;
    /// Gives a draft to a function whose commit changes nothing, for nobody to see.
    virtual void with_trial(FunctionRef<void(Draft&)> work) = 0;
    /// Whether a summary can be prepared at all.
    [[nodiscard]] virtual bool may_prepare() const noexcept = 0;
    /// Has a summary of these messages of a request made on the host's executor.
    virtual void prepare(const DigestOrder& order, std::int64_t request_tokens) = 0;
    /// The one that was ordered; null: none.
    [[nodiscard]] virtual std::shared_ptr<PreparedSummary> prepared() const = 0;
    /// Nobody wants it any more.
    virtual void forget_prepared() = 0;
    [[nodiscard]] virtual DigestOutcome digest(const DigestOrder& order, bool with_prefix, DigestState& state) = 0;
    /// Stages what the user makes of a summary. `carry`: the provenance of what replaces these messages.
    virtual void stage_finalized(std::string_view summary, Role role,
                                 FunctionRef<Provenance(std::span<const std::size_t>)> carry) = 0;
    virtual void tell_due() = 0;
    /// The messages are as they will be `before` for the user's callback.
    virtual void keep_before() = 0;
    /// The summary stands.
    virtual void tell_done() = 0;

protected:
    ~SummaryPort() = default;
};

/// What one summary works with. A view.
struct SummaryWork {
    HookTurn& turn;
    Draft& edit;  ///< empty
    SummaryPort& port;
    const SummarizationConfig& config;
    FoldSizes sizes;
};

/// The sizes of a request of so many tokens.
[[nodiscard]] FoldSizes sizes_of(HookTurn& turn, const SummarizationConfig& config, std::int64_t tokens);
/// The same if a summary is due. Fills the report.
[[nodiscard]] std::optional<FoldSizes> due_sizes(HookTurn& turn, const SummarizationConfig& config,
                                                 std::int64_t tokens);
/// The trigger is now what the model takes; without a known window, half of the request.
[[nodiscard]] FoldSizes sizes_after_overflow(HookTurn& turn, const SummarizationConfig& config, std::int64_t tokens);

/// Orders a summary ahead of need if the request comes near to the trigger.
void prepare_when_near(const SummaryWork& work);
/// Makes the summary and commits it. False: nothing was committed.
bool summarize_when_due(const SummaryWork& work);
bool summarize_after_overflow(const SummaryWork& work);
/// The host asked for it: down to the target, or to little above what has to stay.
bool summarize_on_demand(const SummaryWork& work);
/// Stages a summary on the draft, whatever the trigger says, and commits nothing. False: there is nothing to fold.
/// Throws Error(model_failed) and Error(cancelled).
[[nodiscard]] bool stage_summary_now(const SummaryWork& work);

/// Messages at the front that summarization under that name never touches: system texts and pins.
[[nodiscard]] std::size_t untouched_by_summarization(const Outline& outline, std::string_view name);

}  // namespace whittle::inline v0::detail
