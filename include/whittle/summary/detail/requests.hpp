#pragma once

#include "whittle/summary/detail/attempt.hpp"
#include "whittle/summary/detail/chunk_planner.hpp"
#include "whittle/tokens/counter.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

/// The data message of one summary request.
struct SummaryRequest {
    std::string data{};
    ChunkPlan plan{};         ///< its text has become `data`
    bool is_last = false;     ///< it reaches the end of the fold
    std::int64_t tokens = 0;  ///< of `data`
};

/// Writes the data messages of a request.
class SummaryRequests {
public:
    struct Options {
        std::int64_t fixed_tokens = 0;        ///< of the system message and the instruction
        std::int64_t max_summary_tokens = 0;  ///< said to the model; 0: nothing is said
        Language language = Language::english;
        std::int64_t max_output_tokens = 0;  ///< of any reply: no part is asked for more; 0: not bounded
    };

    SummaryRequests(ChunkPlanner planner, const TokenCounter& counter, Options options)
        : planner_(std::move(planner)), counter_(counter), options_(options) {}

    /// The request from `from` on: one for everything if that fits `limit_tokens`, else a part, with the summary of
    /// what was before. The data message and the fixed messages together have at most `limit_tokens`. Nullopt: not even
    /// a character of the next message fits.
    [[nodiscard]] std::optional<SummaryRequest> build(FoldPosition from, std::string_view summary_so_far,
                                                      std::int64_t limit_tokens);

    [[nodiscard]] std::size_t size() const noexcept { return planner_.size(); }
    [[nodiscard]] std::int64_t fixed_tokens() const noexcept { return options_.fixed_tokens; }

private:
    [[nodiscard]] std::int64_t size_of_part(std::int64_t room) const noexcept;
    [[nodiscard]] std::optional<SummaryRequest> whole(FoldPosition from, std::int64_t room);
    [[nodiscard]] std::optional<SummaryRequest> part(FoldPosition from, DataFrameOptions frame, std::int64_t room);

    ChunkPlanner planner_;
    const TokenCounter& counter_;
    Options options_;
};

/// The bound after a provider called a request of `request_tokens` too large: what it said, by the same scale, else
/// half of what is not fixed. Always below `request_tokens`.
[[nodiscard]] std::int64_t limit_after_overflow(std::int64_t request_tokens, std::int64_t fixed_tokens,
                                                const Overflow& overflow) noexcept;

/// The exception in flight, thrown by a model, as data. Rethrows a cancellation and std::bad_alloc.
[[nodiscard]] SummaryError current_model_error();

/// The text of the exception in flight, thrown by a user's callback. Rethrows a cancellation and std::bad_alloc.
[[nodiscard]] std::string current_callback_error(std::string_view callback);

/// The error of a generation whose attempts are used up; `last` is that of the last one, null if it was accepted.
[[nodiscard]] SummaryError attempts_used_up(std::string_view what, int max_retries, const SummaryError* last);

[[nodiscard]] SummaryError error_without_call(SummaryFailure failure, std::string message);

}  // namespace whittle::inline v0
