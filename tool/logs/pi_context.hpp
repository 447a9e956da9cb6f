#pragma once

#include "entries.hpp"
#include "pi_prompt.hpp"
#include "pi_tree.hpp"

#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace whittle::inline v0::logs {

/// Follows a session of pi from its first record to the newest, with what requests began with on the way.
class PiContext {
public:
    PiContext(PiTree& tree, Entries& entries, LogNotes& notes) : tree_(tree), entries_(entries), notes_(notes) {}

    /// Takes the messages out of the tree; those of other branches are billed and left out.
    void follow();
    [[nodiscard]] const PiPrompt& prompt() const noexcept { return prompt_; }

private:
    void pass(std::size_t at);
    void add(PiNode& node);
    /// Calls of the newest reply without a result get one, where something else comes.
    void answer_calls(const PiNode& next);
    void compact(std::size_t at);
    void edit(std::size_t at);
    /// What was edited since the last message is sent otherwise from here on.
    void begin_with_edits();
    /// The message at `place` as it is sent by now; null: it is not.
    [[nodiscard]] const ordered_json& sent(std::size_t place);
    /// Whether there is room for a copy of what requests begin with.
    [[nodiscard]] bool may_copy();
    void keep(Compaction& compaction);
    void leave_out_branches();

    PiTree& tree_;
    Entries& entries_;
    LogNotes& notes_;
    PiPrompt prompt_{};
    CopyBudget copies_{};
    ordered_json front_{};                                  // the summary that requests begin with; null: none
    std::size_t first_ = 0;                                 // the first message behind it
    std::size_t first_node_ = 0;                            // its record
    std::vector<std::string> open_{};                       // calls of the newest reply
    std::size_t reply_ = 0;                                 // where that reply is
    std::unordered_map<std::size_t, std::size_t> made_{};   // results that nobody gave: where their reply is
    std::unordered_set<std::string> answered_{};            // of these
    std::unordered_map<std::size_t, std::size_t> edits_{};  // the newest one of a message
    bool has_new_edits_ = false;
};

}  // namespace whittle::inline v0::logs
