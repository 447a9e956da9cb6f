#pragma once

#include "cline_bill.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0::logs {

/// Compactions, each in front of the message of this number of the file; by ascending numbers.
using ClineCompactions = std::vector<std::pair<std::size_t, Compaction>>;

/// Texts that Cline put in the place of others in its requests: "context_history.json".
class ClineChanges {
public:
    void add(const ordered_json& history);
    /// Those up to this time hold from now on, but for those of `but_of`. Whether there are any.
    [[nodiscard]] bool hold_up_to(std::int64_t ms, std::int64_t but_of);
    /// Returns how many bytes were put in.
    std::size_t change(std::size_t message, ordered_json& json) const;

private:
    struct Change {
        std::size_t message = 0;
        std::size_t block = 0;
        std::string text{};
    };

    std::multimap<std::int64_t, Change> changes_{};  // by time
    std::unordered_map<std::size_t, std::map<std::size_t, std::string>> held_{};
};

/// What Cline left out of its requests and changed in them. `of` has each message's request.
[[nodiscard]] ClineCompactions compactions_of_cline(const std::vector<ClineMessage>& messages,
                                                    const std::vector<ClineRequest>& requests,
                                                    const std::vector<std::size_t>& of, ClineChanges& changes,
                                                    CopyBudget& copies, LogNotes& notes);

/// What Roo Code left out by its summaries and markers among the messages.
[[nodiscard]] ClineCompactions compactions_of_roo(const std::vector<ClineMessage>& messages, const ClineBill& bill,
                                                  CopyBudget& copies, LogNotes& notes);

}  // namespace whittle::inline v0::logs
