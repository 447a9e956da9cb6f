#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/chain/config.hpp"
#include "whittle/conversation/conversation.hpp"
#include "whittle/message/traits.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// Tells of the tool results that commits of a journal took out of the request, in whole or in part.
template <AgentMessage M>
class EvictionTeller {
public:
    /// Both are borrowed. `from`: the first journal entry that counts.
    EvictionTeller(const Conversation<M>& conversation, std::size_t from) : conversation_(conversation), from_(from) {}

    /// The oldest commit first. O(size of the conversation) once something was taken out.
    void tell(FunctionRef<void(const Eviction&)> on_evicted) {
        const auto& journal = conversation_.journal();
        for (std::size_t e = from_; e < journal.size(); ++e) {
            const JournalEntry<M>& entry = *journal[e];
            for (std::size_t s = 0; s < entry.undo.size(); ++s) {
                for (std::size_t m = 0; m < entry.undo[s].infos.size(); ++m) tell_message(entry, s, m, on_evicted);
            }
        }
    }

private:
    using Arguments = std::unordered_map<std::string_view, std::string>;  // by the name of the call's object

    void tell_message(const JournalEntry<M>& entry, std::size_t splice, std::size_t message,
                      FunctionRef<void(const Eviction&)> on_evicted) {
        const MessageInfo& before = entry.undo[splice].infos[message];
        std::unordered_set<std::string_view> told;
        for (std::size_t p = 0; p < before.parts.size(); ++p) {
            const PartInfo& part = before.parts[p];
            const bool is_original = origin_of(mark_of(before, p)) == Origin::original;
            if (part.kind != PartKind::tool_result || !is_original || told.contains(part.object_name)) continue;
            const std::optional<Mark> now = mark_now(before.serial, part.object_name);
            if (now && origin_of(*now) == Origin::original) continue;
            told.insert(part.object_name);
            std::vector<std::string> stored;
            if (now && *now) stored = (*now)->stored;
            for (const StoredText& text : entry.texts) {
                if (!now && text.splice == splice && text.message == message) stored.push_back(text.key);
            }
            on_evicted({.conversation = conversation_.id(),
                        .middleware = entry.by,
                        .serial = before.serial,
                        .tool = part.tool,
                        .call_id = part.call_id,
                        .arguments = arguments_of(part.object_name),
                        .stored = stored,
                        .is_folded = !now});
        }
    }

    /// Of what stands for that result now; nullopt: nothing does.
    [[nodiscard]] std::optional<Mark> mark_now(Serial serial, std::string_view object_name) const {
        const Outline outline = conversation_.outline();
        const auto index = outline.index_of(serial);
        if (!index) return std::nullopt;
        std::optional<Mark> found;
        for (std::size_t p = 0; p < outline[*index].parts.size(); ++p) {
            const PartInfo& part = outline[*index].parts[p];
            if (part.kind != PartKind::tool_result || part.object_name != object_name) continue;
            const Mark& mark = mark_of(outline[*index], p);
            if (!found || origin_of(*found) == Origin::original) found = mark;
        }
        return found;
    }

    [[nodiscard]] std::string_view arguments_of(std::string_view object_name) {
        if (!arguments_) {
            arguments_.emplace();
            for (std::size_t i = 0; i < conversation_.size(); ++i)
                note_calls(conversation_.outline()[i], conversation_.messages()[i]);
            for (const auto& entry : conversation_.journal()) {
                for (const Splice<M>& splice : entry->undo) {
                    for (std::size_t m = 0; m < splice.infos.size(); ++m)
                        note_calls(splice.infos[m], splice.messages[m]);
                }
            }
        }
        const auto found = arguments_->find(object_name);
        return found == arguments_->end() ? std::string_view() : std::string_view(found->second);
    }

    /// The first that is met stands, unless it was edited.
    void note_calls(const MessageInfo& info, const M& message) {
        if (!info.has(PartKind::tool_call)) return;
        std::size_t p = 0;
        message_traits<M>::for_each_part(message, [&](const PartView& part) {
            const std::size_t index = p++;
            if (part.kind != PartKind::tool_call || index >= info.parts.size()) return;
            if (origin_of(mark_of(info, index)) != Origin::original) return;
            arguments_->emplace(info.parts[index].object_name, part.text);
        });
    }

    const Conversation<M>& conversation_;
    std::size_t from_;
    std::optional<Arguments> arguments_{};
};

}  // namespace whittle::inline v0::detail
