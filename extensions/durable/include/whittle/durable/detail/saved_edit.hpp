#pragma once

#include "whittle/conversation/conversation.hpp"
#include "whittle/saved/side_table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// A saved conversation, whatever its message type is: the messages are bytes by the codec.
struct SavedDocument {
    SavedConversation saved{};
    std::vector<std::string> messages{};
};

/// Messages [first, first + count) of the list as it was saved last are replaced by these, which stand at `now`.
struct SavedRange {
    std::size_t first = 0;
    std::size_t count = 0;
    std::size_t now = 0;
    std::vector<std::string> messages{};
    std::vector<MessageInfo> infos{};
};

/// What became known of a message that stayed, such as a pin.
struct SavedPatch {
    std::size_t at = 0;  ///< place after the stretches
    MessageInfo info{};
};

/// All that one save adds to what is saved.
struct SavedEdit {
    std::vector<SavedRange> ranges{};  ///< in list order
    std::vector<SavedPatch> patches{};
    std::size_t journal_kept = 0;       ///< entries from the front that stay; later ones were undone
    std::vector<SavedEntry> journal{};  ///< new ones
    NoteBook notes{};                   ///< new or changed
    std::vector<NoteBook::Key> notes_erased{};
    Counters counters{};
    std::optional<Calibrations> calibrations{};  ///< absent: unchanged
};

/// Throws Error(parse_failed) for an edit that does not fit.
void apply_edit(SavedDocument& document, SavedEdit edit);

/// What of a conversation is in the log, as far as it takes to find what is not.
class SavedBase {
public:
    SavedBase() = default;
    template <AgentMessage M>
    explicit SavedBase(const Conversation<M>& conversation) {
        take(conversation);
    }

    /// What is new; nullopt if nothing is. Cost: what is new, and a look at each message if one in the middle changed.
    template <AgentMessage M>
    requires HasCodec<M>
    [[nodiscard]] std::optional<SavedEdit> edit_to(const Conversation<M>& conversation) const;

    /// All of `conversation` is saved now.
    template <AgentMessage M>
    void take(const Conversation<M>& conversation);

private:
    struct Known {
        bool pinned = false;
        Mark mark{};
    };

    /// Everything but the bytes of messages and the journal. False if nothing is new.
    [[nodiscard]] bool plan(SavedEdit& edit, const Outline& outline, const Changes& changes) const;
    [[nodiscard]] bool plan_notes(SavedEdit& edit, const NoteBook& notes) const;
    void take_list(const Outline& outline, const Changes& changes, std::uint64_t version);

    Counters counters_{};
    Calibrations calibrations_{};
    NoteBook notes_{};
    std::vector<std::uint64_t> journal_{};  // ids
    std::vector<Known> known_{};            // of each message
    bool is_new_ = true;
};

template <AgentMessage M>
requires HasCodec<M> std::optional<SavedEdit> SavedBase::edit_to(const Conversation<M>& conversation)
const {
    SavedEdit edit{.counters = conversation.counters()};
    const auto& journal = conversation.journal();
    edit.journal_kept = (std::min)(journal.size(), journal_.size());
    while (edit.journal_kept > 0 && journal[edit.journal_kept - 1]->id != journal_[edit.journal_kept - 1])
        --edit.journal_kept;
    bool is_changed = plan(edit, conversation.outline(), conversation.replacements_since(counters_.version));
    is_changed = plan_notes(edit, conversation.middleware_notes()) || is_changed;
    if (Calibrations now = conversation.calibrations(); now != calibrations_) edit.calibrations = std::move(now);
    is_changed = is_changed || edit.calibrations || edit.counters != counters_ || edit.journal_kept < journal_.size() ||
                 edit.journal_kept < journal.size();
    if (!is_changed) return std::nullopt;
    for (SavedRange& range : edit.ranges) {
        for (const M& m : conversation.messages().subspan(range.now, range.infos.size()))
            range.messages.push_back(message_traits<M>::to_bytes(m));
    }
    for (std::size_t e = edit.journal_kept; e < journal.size(); ++e) edit.journal.push_back(to_saved(*journal[e]));
    return edit;
}

template <AgentMessage M>
void SavedBase::take(const Conversation<M>& conversation) {
    take_list(conversation.outline(), is_new_ ? Changes() : conversation.replacements_since(counters_.version),
              conversation.version());
    is_new_ = false;
    counters_ = conversation.counters();
    calibrations_ = conversation.calibrations();
    notes_ = conversation.middleware_notes();
    const auto& journal = conversation.journal();
    std::size_t kept = (std::min)(journal.size(), journal_.size());
    while (kept > 0 && journal[kept - 1]->id != journal_[kept - 1]) --kept;
    journal_.resize(kept);
    for (std::size_t e = kept; e < journal.size(); ++e) journal_.push_back(journal[e]->id);
}

}  // namespace whittle::inline v0::detail
