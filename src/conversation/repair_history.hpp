#pragma once

#include "repair_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// An id as a report shows it: valid UTF-8, at most 64 bytes.
[[nodiscard]] std::string shown_id(std::string_view id);

/// A broken history while its repair is planned: `plan` runs the steps in the order in which they build on each other.
class RepairHistory {
public:
    RepairHistory(const Outline& outline, const ValidityProfile& profile, const RepairOptions& options,
                  MessagePort::Abilities abilities, const std::vector<Violation>& violations);

    [[nodiscard]] RepairPlan plan();

private:
    struct Call {
        std::size_t message = 0;
        std::size_t part = 0;
        std::optional<std::size_t> result{};
        std::string_view answer_code{};  ///< a result is written for it, for this reason
        std::string new_id{};
        std::string new_tool{};
    };
    struct Result {
        std::size_t message = 0;
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
        std::string_view code{};
    };
    struct BlockEntry {
        std::size_t key = 0;  ///< the first call that it answers
        bool is_last = false;
        bool was_there = false;
        RepairedMessage message{};
    };
    struct Block {
        std::vector<BlockEntry> entries{};
        std::size_t highest = 0;  ///< key
        bool has_last = false;

        void push_back(BlockEntry entry) {
            highest = std::max(highest, entry.key);
            has_last = has_last || entry.is_last;
            entries.push_back(std::move(entry));
        }
    };
    using Ids = std::unordered_map<std::string_view, std::vector<std::size_t>>;
    using OpenCalls = std::unordered_map<std::string_view, std::set<std::size_t>>;

    // Calls and results (repair_pairing.cpp).
    void collect();
    void collect_results(std::size_t message);
    [[nodiscard]] bool continues(const Result& result, std::size_t part) const;
    void find_runs();
    void pair();
    void pair_displaced();
    [[nodiscard]] std::optional<std::size_t> find_call(std::size_t result, const std::set<std::size_t>& waiting) const;
    [[nodiscard]] std::optional<std::size_t> find_later_call(const std::set<std::size_t>& waiting, bool is_only,
                                                             std::optional<std::size_t> running) const;
    [[nodiscard]] std::vector<bool> find_clean_groups() const;
    [[nodiscard]] bool is_out_of_place(std::size_t message, Role usual) const;
    [[nodiscard]] bool is_sound_answer(std::size_t message, std::size_t call, std::size_t run_end) const;
    void drop_stray_calls(const std::vector<bool>& clean);
    void drop_orphans();
    void find_homes(const std::vector<bool>& clean);
    void find_home(std::size_t message, const std::vector<bool>& clean);
    [[nodiscard]] bool must_split(std::size_t message, std::size_t home) const;
    void take_out(std::size_t result);
    [[nodiscard]] bool only_answers(std::size_t message) const;
    [[nodiscard]] bool has_bad_arguments(const Call& call) const;
    [[nodiscard]] std::optional<std::size_t> running_call() const;
    [[nodiscard]] std::optional<std::size_t> half_answered_call() const;
    void answer_missing();

    // Parts, names and the list as a whole (repair.cpp).
    void mend_parts();
    void mend_part(std::size_t message, std::size_t part, bool holds_results, bool is_running);
    void drop_empty();
    void mend_names();
    void name_answer(const Call& call);
    void rename(Call& call, std::string id, std::string tool, std::string_view code);
    [[nodiscard]] std::string free_id(std::string_view id, const Ids& taken);
    [[nodiscard]] std::string valid_id(std::string_view id) const;
    [[nodiscard]] std::string valid_tool(std::string_view tool) const;
    [[nodiscard]] RepairedMessage keep(std::size_t message) const;
    [[nodiscard]] std::map<std::size_t, Block> make_blocks();
    [[nodiscard]] RepairedMessage answer(const Call& call);
    [[nodiscard]] RepairedMessage take_over(const Result& result) const;
    [[nodiscard]] BlockEntry take_over_entry(std::size_t call) const;
    void insert_into(Block& block, BlockEntry entry) const;
    [[nodiscard]] std::vector<RepairedMessage> lay_out();
    void put_system_first(std::vector<RepairedMessage>& list);
    void open_with_user(std::vector<RepairedMessage>& list);
    void end_with_user(std::vector<RepairedMessage>& list);
    void take_turns(std::vector<RepairedMessage>& list);
    [[nodiscard]] bool ends_in_space(std::size_t message) const;
    [[nodiscard]] Role role_of(const RepairedMessage& message) const;

    [[nodiscard]] bool has(Rule rule) const;
    [[nodiscard]] const PartInfo& part(std::size_t message, std::size_t part) const {
        return outline_[message].parts[part];
    }
    [[nodiscard]] const PartInfo& part(const Call& call) const { return part(call.message, call.part); }
    /// The call's id as the repair leaves it.
    [[nodiscard]] std::string id_of(const Call& call) const {
        return call.new_id.empty() ? part(call).call_id.str() : call.new_id;
    }
    /// The tool's name as the repair leaves it.
    [[nodiscard]] std::string tool_of(const Call& call) const {
        return call.new_tool.empty() ? part(call).tool.str() : call.new_tool;
    }
    void erase(std::size_t message, std::size_t part, std::string_view code);
    void note(std::size_t message, std::size_t part, std::string_view code, std::string text);
    void note_new(std::string_view code, std::string text);
    /// Whether anything of a message is left where it stands.
    [[nodiscard]] bool is_left(std::size_t message, std::size_t part) const;
    [[nodiscard]] bool holds_results(std::size_t message) const;
    [[nodiscard]] bool is_beside(std::size_t message, std::size_t part) const;

    const Outline& outline_;
    const ValidityProfile& profile_;
    const RepairOptions& options_;
    MessagePort::Abilities abilities_;
    bool pairs_ = false;          ///< the profile asks that calls and results stand together
    bool results_first_ = false;  ///< and in front of other content
    bool merges_ = false;         ///< the provider reads neighbours of one role as one message
    bool in_order_ = false;       ///< and in the order of the calls, alone in their message
    std::vector<Item> items_{};
    std::vector<Call> calls_{};
    std::vector<Result> results_{};
    std::vector<Repair> repairs_{};
    std::unordered_map<std::string, std::size_t> next_number_{};  ///< by id: numbers below are taken
};

}  // namespace whittle::inline v0::detail
