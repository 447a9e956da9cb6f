#pragma once

#include "whittle/message/outline.hpp"

#include <cstddef>
#include <optional>
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
    explicit HistoryFacts(const Outline& outline);

    [[nodiscard]] const Outline& outline() const noexcept { return outline_; }
    [[nodiscard]] const std::vector<CallFact>& calls() const noexcept { return calls_; }
    [[nodiscard]] const std::vector<ResultFact>& results() const noexcept { return results_; }
    [[nodiscard]] std::optional<std::size_t> open_call() const noexcept { return open_call_; }

private:
    struct SameId {
        std::size_t newest = 0;
        std::vector<std::size_t> unanswered{};
    };

    void add_calls(std::size_t message);
    void add_results(std::size_t message);
    void pair(ResultFact& result);

    Outline outline_;
    std::optional<std::size_t> open_call_;
    std::vector<CallFact> calls_;
    std::vector<ResultFact> results_;
    std::unordered_map<std::string_view, SameId> by_id_;
};

/// A part that belongs to a tool's result.
[[nodiscard]] bool is_result_part(const PartInfo& part) noexcept;

/// A tool message, or a message of another role that holds results.
[[nodiscard]] bool is_result_message(const MessageInfo& info) noexcept;

}  // namespace whittle::inline v0
