#pragma once

#include "entries.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::logs {

/// What Copilot CLI says was billed: sums by model when it ends, and what compactions took. What a reply took is on no
/// disk but for its output.
class CopilotBills {
public:
    /// The log is of a version whose sums may go on over several runs of the program.
    void note_running_sums() noexcept { may_go_on_ = true; }
    /// A reply told of so many tokens of output.
    void add_output(std::int64_t tokens) noexcept;
    /// "data" of session.compaction_complete. `event`: the id of it. `model`: where it names none.
    void add_compaction(const ordered_json& data, std::string_view event, std::string_view model,
                        std::optional<double> time);
    /// "data" of session.shutdown: what is billed by it, a call for each model that stands for all of them. nullopt: it
    /// has no bill, and what stands in front of it is still to be billed.
    [[nodiscard]] std::optional<std::vector<Call>> close(const ordered_json& data, std::string_view event,
                                                         std::optional<double> time, LogNotes& notes);
    /// Calls of compactions that nothing else bills.
    [[nodiscard]] std::vector<Call> take_compactions();

private:
    struct Sums {
        std::int64_t requests = 0;
        Usage counts{};  // as they were written: the input holds what the cache read and wrote

        [[nodiscard]] bool covers(const Sums& other) const noexcept;
        [[nodiscard]] Sums without(const Sums& other) const noexcept;
    };
    using SumsByModel = std::map<std::string, Sums, std::less<>>;

    [[nodiscard]] static SumsByModel sums_of(const ordered_json& metrics);
    [[nodiscard]] bool continues(const SumsByModel& now) const;

    bool may_go_on_ = false;
    SumsByModel before_{};             // of the session.shutdown in front
    std::int64_t output_ = 0;          // that replies told of since then
    std::vector<Call> compactions_{};  // since then
};

}  // namespace whittle::inline v0::logs
