#pragma once

#include "entries.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace whittle::inline v0::logs {

/// Contents of Qwen Code ({"role", "parts"}, as Gemini's interface has them), one after the other, as OpenAI chat
/// messages.
class QwenMessages {
public:
    /// `ids`: the beginning of ids that are made up for calls without one.
    QwenMessages(Entries& entries, LogNotes& notes, std::string ids)
        : entries_(entries), notes_(notes), ids_(std::move(ids)) {}

    /// What the model gave. One of calls alone, of which no bill is known, goes on with the reply in front of it: so
    /// sub-agents record theirs. nullopt: a copy, whose call is known elsewhere.
    void add_reply(const ordered_json& content, std::optional<Call> call, std::optional<double> time, std::size_t line);
    /// Results of tools, and what else the model was told.
    void add_input(const ordered_json& content, std::optional<double> time, std::size_t line);
    /// A copy of a content, by its role.
    void add_copy(const ordered_json& content, std::size_t line);
    /// The agent goes on with these contents, in place of all in front. What came since the last reply is behind them,
    /// since the agent puts it to the model after it compressed; not if `is_by_hand`.
    void compact(const ordered_json& contents, bool is_by_hand, std::string_view trigger,
                 std::optional<std::int64_t> tokens_before, std::size_t line);
    /// The newest message, if it is this prompt, was not sent.
    void take_back_prompt(std::string_view text);
    /// No results come any more: calls without one get an empty one, since a request has one for each.
    void close();
    /// Nothing comes any more: the last calls may be without results.
    void finish();

private:
    void start_reply(std::string text, std::optional<Call> call, std::optional<double> time, std::size_t line);
    void add_calls(const ordered_json& parts);
    void add_response(const ordered_json& response, std::optional<double> time, std::size_t line);
    [[nodiscard]] std::optional<std::string> id_of_response(const ordered_json& response);
    void bill_unspoken();
    void flush_waiting();
    [[nodiscard]] std::size_t place_of_compaction(bool is_by_hand, bool ends_open, const Entries& kept) const;

    Entries& entries_;
    LogNotes& notes_;
    std::string ids_;
    std::size_t made_up_ids_ = 0;
    std::optional<std::size_t> reply_{};      // the newest message, if it is one
    std::size_t after_reply_ = 0;             // the place behind the newest reply
    std::vector<std::string> calls_{};        // of the newest reply, in order
    std::unordered_set<std::string> open_{};  // those of them that have no result
    std::unordered_set<std::string> answered_{};
    std::deque<std::string> unnamed_{};  // those of them that were recorded without an id
    std::vector<Entry> waiting_{};       // what was said while results were to come
    std::optional<Call> unspoken_{};     // of a reply that gave nothing yet, such as thoughts
};

}  // namespace whittle::inline v0::logs
