#pragma once

#include "repair_plan.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// What is known of a broken history while its repair is planned, and what is decided so far. The steps below fill it.
struct RepairHistory {
    struct Call {
        std::size_t message = 0;
        std::size_t part = 0;
        SharedString id{};  ///< as the repair leaves it; so is the tool's name
        SharedString tool{};
        std::optional<std::size_t> result{};
        std::string_view answer_code{};  ///< a result is written for it, for this reason
    };
    struct Result {
        std::size_t message = 0;
        SharedString id{};
        std::vector<std::size_t> parts{};
        std::optional<std::size_t> call{};
        bool is_taken_out = false;  ///< it becomes a message of its own
        bool is_opaque = true;      ///< nothing in it is text or a medium
    };
    struct Item {
        std::vector<bool> erased{};
        std::vector<PartRepair> edits{};
        std::vector<std::size_t> results{};
        std::optional<std::size_t> home{};        ///< the message with the calls that it has to stand behind
        std::optional<std::size_t> before_run{};  ///< a result message: what stands in front of its run
        bool is_broken = false;                   ///< breaks some rule
        bool is_unpaired = false;                 ///< breaks a rule about calls and results
        bool is_dropped = false;
    };

    RepairHistory(const Outline& of, const std::vector<Violation>& violations, const ValidityProfile& rules,
                  const RepairOptions& wanted, MessagePort::Abilities of_type);

    [[nodiscard]] bool has(Rule rule) const { return has_rule(profile, rule); }
    [[nodiscard]] const PartInfo& part_of(const Call& call) const { return outline[call.message].parts[call.part]; }
    /// Whether a part is left where it stands.
    [[nodiscard]] bool is_left(std::size_t message, std::size_t part) const {
        return !items[message].is_dropped && !items[message].erased[part];
    }
    [[nodiscard]] bool any_left(std::size_t message, FunctionRef<bool(const PartInfo&)> is_one) const;
    [[nodiscard]] bool is_cut(std::size_t message) const;
    [[nodiscard]] bool holds_results(std::size_t message) const;
    /// Anything of its own beside results.
    [[nodiscard]] bool holds_other(std::size_t message) const;
    /// A result of the message that answers a call.
    [[nodiscard]] bool holds_answer(std::size_t message) const;
    /// The message whose calls are running: nothing but results and repairs stand behind it.
    [[nodiscard]] std::optional<std::size_t> running_call() const;
    /// The message whose running calls a request comes too early for: some have a result or get one here, but not all.
    [[nodiscard]] std::optional<std::size_t> half_answered_call() const;
    /// The repair answers a call with such arguments even while it runs.
    [[nodiscard]] bool has_bad_arguments(const Call& call) const;

    void note(std::size_t message, std::size_t part, std::string_view code, std::string text) {
        repairs.push_back({outline[message].serial, part, code, std::move(text)});
    }
    void note_new(std::string_view code, std::string text) { repairs.push_back({0, 0, code, std::move(text)}); }
    void erase(std::size_t message, std::size_t part, std::string_view code);

    const Outline& outline;
    const ValidityProfile& profile;
    const RepairOptions& options;
    MessagePort::Abilities abilities;
    bool pairs = false;          ///< the profile asks that calls and results stand together
    bool results_first = false;  ///< and in front of other content
    bool in_order = false;       ///< and in the order of the calls, alone in their message
    bool merges = false;         ///< the provider reads neighbours of one role as one message
    std::vector<Item> items;     ///< by message
    std::vector<Call> calls{};
    std::vector<Result> results{};
    std::vector<Repair> repairs{};
};

// The steps, in the order in which they build on each other.

/// Finds what stands in front of each run of result messages.
void find_runs(RepairHistory& h);
/// Finds calls and results, and which belong together.
void pair_results(RepairHistory& h);
/// Takes out calls and results that belong to nothing, and finds a home for each result that stands elsewhere.
void place_results(RepairHistory& h);
/// Mends single parts, and drops messages of which nothing is left.
void mend_parts(RepairHistory& h);
/// Decides which calls get a result that says that theirs is missing.
void answer_missing(RepairHistory& h);
/// Mends ids and tools of calls, and their results with them.
void mend_names(RepairHistory& h);
/// The list as it stands then: each result behind its call, and who speaks when as the profile wants it.
[[nodiscard]] std::vector<RepairedMessage> lay_out(RepairHistory& h);

/// An id as a report shows it: valid UTF-8, at most 64 bytes.
[[nodiscard]] std::string shown_id(std::string_view id);

}  // namespace whittle::inline v0::detail
