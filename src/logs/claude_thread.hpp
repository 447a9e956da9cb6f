#pragma once

#include "entries.hpp"
#include "least_since.hpp"

#include <cstddef>
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
    /// A prompt, or a `is_companion`: what the agent adds by itself or what was typed while the model worked.
    void add_prompt(ordered_json content, const ordered_json& record, std::size_t line, bool is_companion,
                    LogNotes& notes);
    /// A record of a compaction.
    void compact(const ordered_json& record, LogNotes& notes);
    /// Any other record with a "uuid": a prompt may name it as its parent.
    void pass(const ordered_json& record);
    /// No record follows.
    void close();

    /// Whether the record is a prompt that begins a conversation of its own, after others in this one.
    [[nodiscard]] bool begins_anew(const ordered_json& record) const;
    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
    [[nodiscard]] Entries& entries() noexcept { return entries_; }

    std::string version{};  ///< the last one seen
    std::string folder{};

private:
    /// What something stands behind.
    struct Place {
        std::size_t messages = 0;
        std::size_t compactions = 0;
        std::optional<std::size_t> own{};  // the message that the record is, or is a part of
        std::size_t moment = 0;            // as it was then: what was taken back since is not in it
    };
    /// Messages from the first one up to, but not with, the other.
    struct Range {
        std::size_t begin = 0;
        std::size_t end = 0;
    };

    [[nodiscard]] Place here() const noexcept { return {entries_.size(), entries_.compactions(), std::nullopt}; }
    [[nodiscard]] Place as_of_now(Place place) const;
    /// Of the record with this "uuid".
    [[nodiscard]] std::optional<Place> place_of(std::string_view id) const;
    [[nodiscard]] Place place_of_parent(const ordered_json& record) const;
    void mark(const ordered_json& record, Place place);
    [[nodiscard]] bool is_known(const ordered_json& record) const;
    /// Whether it stood here before, which is noted. What it said is not said again.
    [[nodiscard]] bool is_repeated(const ordered_json& record, LogNotes& notes) const;
    [[nodiscard]] std::size_t reply_of(const ordered_json& record, std::size_t line);
    [[nodiscard]] bool is_more_of(std::size_t reply, const ordered_json& record) const;
    void append_blocks(std::size_t reply, ordered_json blocks);
    void add_usage_of(std::size_t reply, const ordered_json& message, LogNotes& notes);
    void bill_within(const Call& call, std::size_t index, const ordered_json& iteration);
    void add_results(ordered_json blocks, const ordered_json& record, std::size_t line);
    [[nodiscard]] std::size_t message_for_results(const ordered_json& blocks, const ordered_json& record,
                                                  std::size_t line);
    void add_summary(ordered_json content);
    void make_room(std::size_t at);
    [[nodiscard]] std::size_t behind_results(std::size_t at) const;
    [[nodiscard]] std::size_t behind_companions(std::size_t at) const;
    void take_back_to(Place place);
    void forget_replies_from(std::size_t first);
    void forget_calls_of(std::size_t reply);
    [[nodiscard]] std::vector<std::size_t> preserved(const ordered_json& facts) const;
    [[nodiscard]] Range segment_of(const ordered_json& segment) const;
    [[nodiscard]] std::vector<ordered_json> sent_before(std::size_t end);
    [[nodiscard]] bool may_copy(const std::vector<std::size_t>& messages, bool keeps_front);
    void move_behind_compaction(const std::vector<std::size_t>& messages);
    [[nodiscard]] bool holds_results(std::size_t at) const;
    void close_calls();
    void close_calls_kept();

    CopyBudget* copies_;
    Entries entries_{};
    std::unordered_map<std::string, Place> places_{};          // by uuid
    std::unordered_map<std::string, std::size_t> replies_{};   // by message id, the newest of each
    std::vector<std::string> reply_ids_{};                     // of these, in the order of the replies
    std::unordered_map<std::string, std::string> requests_{};  // by message id: "requestId" of that reply
    std::unordered_map<std::string, std::size_t> callers_{};   // by id of a tool call: the reply that has it
    LeastSince messages_left_{};                               // of what was taken back
    LeastSince compactions_left_{};
    std::size_t summary_at_ = 0;                                // in what the newest compaction kept
    std::vector<Call> within_{};                                // calls that replies' own usage leaves out
    std::unordered_map<std::string, std::size_t> within_at_{};  // by "bill_id": where it is in these
};

}  // namespace whittle::inline v0::logs
