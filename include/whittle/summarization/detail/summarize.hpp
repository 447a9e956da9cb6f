#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/summarization/config.hpp"
#include "whittle/summarization/detail/fold_range.hpp"
#include "whittle/summarization/detail/preserved.hpp"
#include "whittle/summary/detail/summary_work.hpp"
#include "whittle/summary/detail/work_state.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// The functions of the host for one summary of `Summarization`. An empty one is absent.
struct SummarizationFunctions : SummaryFunctions {
    std::function<bool(std::size_t)> user_message_filter{};  ///< of a message
    std::function<std::vector<AttachedFile>(std::span<const FileUse>)> attach_files{};
    /// Stages the list that the host makes of a summary; the last argument gives the provenance of what replaces these
    /// messages.
    std::function<void(std::string_view, Role, FunctionRef<Provenance(std::span<const std::size_t>)>)> finalize{};
    std::string_view transcript_path{};
};

/// What one summary of `Summarization` works with. A view.
struct SummarizationWork {
    HookTurn& turn;
    Draft& edit;  ///< empty
    const SummarizationFunctions& functions;
    const SummarizationConfig& config;
    FoldSizes sizes{};
};

/// The sizes of a request of so many tokens.
[[nodiscard]] FoldSizes sizes_of(HookTurn& turn, const SummarizationConfig& config, std::int64_t tokens);
/// The same if a summary is due. Fills the report.
[[nodiscard]] std::optional<FoldSizes> due_sizes(HookTurn& turn, const SummarizationConfig& config,
                                                 std::int64_t tokens);
/// The trigger is now what the model takes; without a known window, half of the request.
[[nodiscard]] FoldSizes sizes_after_overflow(HookTurn& turn, const SummarizationConfig& config, std::int64_t tokens);

/// Orders a summary ahead of need. False: nothing is committed.
bool prepare_summarization(const SummarizationWork& work);
/// Makes the summary and commits it. False: nothing was committed.
bool summarize_when_due(const SummarizationWork& work);
bool summarize_after_overflow(const SummarizationWork& work);
/// The host asked for it: down to the target, or to little above what has to stay.
bool summarize_on_demand(const SummarizationWork& work);
/// Stages a summary on the draft, whatever the trigger says, and commits nothing. False: there is nothing to fold.
/// Throws Error(invalid_history), Error(model_failed) and Error(cancelled).
[[nodiscard]] bool stage_summary_now(const SummarizationWork& work);

/// Messages at the front that summarization under that name never touches: system texts and pins.
[[nodiscard]] std::size_t untouched_by_summarization(const Outline& outline, std::string_view name);

}  // namespace whittle::inline v0::detail
