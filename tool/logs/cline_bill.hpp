#pragma once

#include "cline_message.hpp"
#include "records.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0::logs {

/// Messages that requests left out: the first and the last one.
using ClineRange = std::pair<std::size_t, std::size_t>;

/// A request as `ui_messages.json` tells of it.
struct ClineRequest {
    std::int64_t ms = 0;                ///< when it was made
    std::int64_t answered = 0;          ///< when the first record behind it was written; 0: none was
    std::optional<std::size_t> reply;   ///< which message its reply would be, by the number of those there were
    std::optional<ClineRange> range{};  ///< that it left out
    std::int64_t input = 0;
    std::int64_t cache_write = 0;
    std::int64_t cache_read = 0;
    std::int64_t output = 0;
    std::string bill_id{};   ///< tells copies of the call; empty: it has no time
    std::string protocol{};  ///< of Roo Code and Kilo Code
    std::string model{};
    std::string provider{};

    [[nodiscard]] bool has_counts() const noexcept {
        return input > 0 || cache_write > 0 || cache_read > 0 || output > 0;
    }
};

/// What was billed, by the provider's way to count.
[[nodiscard]] Usage usage_of_request(const ClineRequest& request);

/// A summary or a cut of Roo Code.
struct RooCompaction {
    std::int64_t ms = 0;  ///< when it was made
    std::int64_t tokens_before = 0;
};

/// The records of `ui_messages.json`, and which models were used.
class ClineBill {
public:
    void add(const ordered_json& record, std::size_t line, const LogOptions& options, LogNotes& notes);
    /// "task_metadata.json".
    void add_models(const ordered_json& metadata);
    /// Nothing comes any more.
    void finish();

    [[nodiscard]] std::vector<ClineRequest>& requests() noexcept { return requests_; }
    /// Calls whose replies are in no message: of sub-agents, of what was taken back, and for compactions. When all is
    /// known of the requests.
    [[nodiscard]] std::vector<Call> side_calls() const;
    /// The compaction of this id; nothing but zeros: not recorded.
    [[nodiscard]] RooCompaction compaction_of(const std::string& id) const;
    /// Whether no record was added.
    [[nodiscard]] bool empty() const noexcept { return is_empty_; }

private:
    struct UsedModel {
        std::string model{};
        std::string provider{};
    };

    void begin_request(const ordered_json& record, const ordered_json* reported);
    void end_request(const ordered_json& reported);
    void note_answer(const ordered_json& record, std::string_view kind);
    void bill_side_request(const ordered_json& record, std::string_view kind, const ordered_json* reported);
    void note_compaction(const ordered_json& record);
    void know_model(ClineRequest& request) const;
    /// `kind` is of a sum. Further ones of the same time are numbered.
    [[nodiscard]] std::string next_bill_id(std::int64_t ms, std::string_view kind);

    std::vector<ClineRequest> requests_{};
    std::vector<ClineRequest> sums_{};
    std::unordered_map<std::string, std::size_t> bill_ids_{};  // how many there are of each
    std::unordered_map<std::string, RooCompaction> compactions_{};
    std::map<std::int64_t, UsedModel> models_{};  // by when they were first used
    ValueBudget values_{};
    std::int64_t first_ms_ = 0;
    bool is_empty_ = true;
};

/// For each message the request that it is the reply to: its number, or `none`. By when both were written; replies
/// without a time by how many messages there were at the request; and where neither is known in order, if there are as
/// many of the ones as of the others.
inline constexpr std::size_t no_cline_request = SIZE_MAX;
[[nodiscard]] std::vector<std::size_t> match_requests(const std::vector<ClineMessage>& messages,
                                                      const std::vector<ClineRequest>& requests);

}  // namespace whittle::inline v0::logs
