#pragma once

#include "part_facts.hpp"
#include "whittle/base/detail/function_ref.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/message/part.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0 {

/// A tool call as the validity rules see it.
struct CallFact {
    std::size_t message = 0;
    std::size_t part = 0;
    std::string_view id{};
    std::optional<std::size_t> result{};  ///< index of the first result that answers it
    bool is_repeated = false;             ///< an earlier call has the same id
};

/// What one message says about one call: all its result parts with the same id.
struct ResultFact {
    std::size_t message = 0;
    std::size_t part = 0;  ///< the first of them
    std::string_view id{};
    std::optional<std::size_t> call{};  ///< index of the call that it answers
    bool is_second = false;             ///< that call has an earlier result
};

/// The calls and results of a history, in list order and paired: a result answers the newest earlier call with its id
/// that has no result yet; if all have one, it is a second result of the newest. Views into the outline.
class HistoryFacts {
public:
    /// Calls `check_cancelled` for each message and each part.
    HistoryFacts(const Outline& outline, std::optional<std::span<const ToolSpec>> tools, CancelCheck check_cancelled);

    [[nodiscard]] const Outline& outline() const noexcept { return outline_; }
    [[nodiscard]] const std::vector<CallFact>& calls() const noexcept { return calls_; }
    [[nodiscard]] const std::vector<ResultFact>& results() const noexcept { return results_; }
    [[nodiscard]] std::optional<std::size_t> open_round_begin() const noexcept { return open_call_; }
    /// The calls of that message are still running: nothing but results and repairs stands behind it.
    [[nodiscard]] bool is_running(std::size_t message) const noexcept { return running_ == message; }
    /// The tools of the request, if they are known.
    [[nodiscard]] const std::optional<std::span<const ToolSpec>>& tools() const noexcept { return tools_; }

private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    struct SameId {
        std::size_t newest = 0;
        std::size_t unanswered = none;  // the newest such call
    };

    void add_calls(std::size_t message);
    void add_results(std::size_t message, CancelCheck check_cancelled);
    void pair(ResultFact& result);

    Outline outline_;
    std::optional<std::span<const ToolSpec>> tools_;
    std::optional<std::size_t> open_call_;
    std::optional<std::size_t> running_;
    std::vector<CallFact> calls_;
    std::vector<std::size_t> older_unanswered_;  // of each call, with its id: mostly none, so no list for each id
    std::vector<ResultFact> results_;
    std::unordered_map<std::string_view, SameId> by_id_;
};

/// Neighbours of one side, as adapters and servers merge them: the assistant's, or those of user and tools. System
/// messages in between are passed over.
struct Run {
    bool is_assistant = false;
    std::size_t begin = 0;
    std::size_t end = 0;  ///< behind the last
};

[[nodiscard]] std::vector<Run> merged_runs(const Outline& outline);

}  // namespace whittle::inline v0
