#pragma once

#include "claude_places.hpp"
#include "entries.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0::logs {

/// A conversation within a log of Claude Code: the main one, or a sub-agent's. Its records form a tree by "parentUuid".
class ClaudeThread {
public:
    /// `copies`: of the file; has to outlive this.
    explicit ClaudeThread(CopyBudget& copies) : copies_(&copies) {}

    /// A record of type assistant, whose content is taken. One reply of the model is several of these with one
    /// "message"."id".
    void add_reply(ordered_json& record, std::size_t line, LogNotes& notes);
    /// A record of type user: a prompt, or results, which are taken.
    void add_user(ordered_json& record, std::size_t line, LogNotes& notes);
    /// A prompt. `is_injected`: one that the agent adds by itself or what was typed while the model worked.
    void add_prompt(ordered_json content, const ordered_json& record, std::size_t line, bool is_injected,
                    LogNotes& notes);
    /// A record of a compaction.
    void compact(const ordered_json& record, LogNotes& notes);
    /// Any other record with a "uuid": a prompt may name it as its parent.
    void pass(const ordered_json& record);
    /// No record follows.
    void close();

    /// Whether the record is a prompt that begins a conversation of its own, after others in this one.
    [[nodiscard]] bool restarts(const ordered_json& record) const;
    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
    [[nodiscard]] Entries& entries() noexcept { return entries_; }

    std::string version{};  ///< the last one seen
    std::string folder{};

private:
    /// The point behind the first `size` entries and what came late behind them.
    [[nodiscard]] std::size_t point_behind(std::size_t size) const;
    [[nodiscard]] ClaudePlace here() const {
        return {point_behind(entries_.size()), entries_.compactions(), std::nullopt};
    }
    /// Of a record that is the message of this number, or a part of it.
    [[nodiscard]] ClaudePlace place_of_message(std::size_t number) const {
        return {number + 1, entries_.compactions(), number};
    }
    [[nodiscard]] ClaudePlace place_of_parent(const ordered_json& record) const;
    void mark(const ordered_json& record, const ClaudePlace& place);
    [[nodiscard]] bool is_known(const ordered_json& record) const;
    /// Those that are there of a range, in order.
    template <typename Take>
    void for_each_message(const ClaudeRange& range, Take&& take) const;
    /// Whether it stood here before, which is noted. What it said is not said again.
    [[nodiscard]] bool is_repeated(const ordered_json& record, LogNotes& notes) const;
    [[nodiscard]] std::size_t reply_of(const ordered_json& record, std::size_t line);
    [[nodiscard]] bool is_more_of(std::size_t reply, const ordered_json& record) const;
    void append_blocks(std::size_t reply, ordered_json blocks);
    void add_usage_of(std::size_t reply, const ordered_json& message, LogNotes& notes);
    void bill_within(const Entry& entry, std::size_t index, const ordered_json& iteration);
    void add_results(ordered_json blocks, const ordered_json& record, std::size_t line);
    [[nodiscard]] std::size_t message_for_results(const ordered_json& blocks, const ordered_json& record,
                                                  std::size_t line);
    void add_summary(ordered_json content);
    [[nodiscard]] std::size_t behind_results(std::size_t point) const;
    [[nodiscard]] bool stands_behind_results(std::size_t at) const;
    [[nodiscard]] std::size_t behind_row(std::size_t at, std::size_t Entry::*in_row) const;
    void take_back_to(const ClaudePlace& place);
    void forget_replies_from(std::size_t first);
    void forget_calls_of(std::size_t reply);
    [[nodiscard]] std::vector<ClaudeRange> preserved(const ordered_json& facts) const;
    [[nodiscard]] ClaudeRange segment_of(const ordered_json& segment) const;
    [[nodiscard]] std::vector<ordered_json> copies_of(const std::vector<ClaudeRange>& kept, bool keeps_front);
    [[nodiscard]] bool may_copy(const std::vector<ClaudeRange>& ranges, bool keeps_front);
    [[nodiscard]] bool holds_results(std::size_t at) const { return entries_[at].results_in_row > 0; }
    void close_calls();
    void close_calls_kept();

    CopyBudget* copies_;
    Entries entries_{};
    std::map<std::size_t, Entry> late_{};                       // results behind the reply at that place, with others
    ClaudePlaces places_{};                                     // of records
    std::unordered_map<std::string, std::size_t> replies_{};    // by message id, the newest of each
    std::vector<std::string> reply_ids_{};                      // of these, in the order of the replies
    std::unordered_map<std::string, std::string> requests_{};   // by message id: "requestId" of that reply
    std::unordered_map<std::string, std::size_t> callers_{};    // by id of a tool call: the reply that has it
    std::size_t summary_at_ = 0;                                // in what the newest compaction kept
    std::vector<Call> within_{};                                // calls that replies' own usage leaves out
    std::unordered_map<std::string, std::size_t> within_at_{};  // by "bill_id": where it is in these
};

}  // namespace whittle::inline v0::logs
