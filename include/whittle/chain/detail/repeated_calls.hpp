#pragma once

#include "whittle/base/event.hpp"
#include "whittle/base/hash.hpp"
#include "whittle/chain/detail/earlier_calls.hpp"
#include "whittle/conversation/conversation.hpp"
#include "whittle/conversation/detail/repeated_calls.hpp"
#include "whittle/conversation/tool.hpp"
#include "whittle/message/traits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace whittle::inline v0::detail {

/// Finds, for calls that are about to run, earlier ones of the same tool with the same arguments whose results the
/// model no longer sees as they came to it.
template <AgentMessage M>
class RepeatFinder {
public:
    /// Both are borrowed. `calls` are those of one message. O(calls).
    RepeatFinder(const Conversation<M>& conversation, std::vector<ToolContext>& calls) : conversation_(conversation) {
        for (ToolContext& call : calls) calls_[EarlierCalls::print_of(call.tool, call.arguments)].now.push_back(&call);
        round_ = calls.front().round_serial;
    }

    /// Sets `ToolContext::earlier_same_call_keys`. O(messages), and the parts of those that `earlier` has not seen.
    void find(EarlierCalls& earlier) {
        const auto& journal = conversation_.journal();
        earlier.follow(journal.empty() ? 0 : journal.back()->id, [&](std::uint64_t id) {
            return std::any_of(journal.rbegin(), journal.rend(), [id](const auto& entry) { return entry->id == id; });
        });
        note_new_calls(earlier);
        for (auto& [print, same] : calls_) {
            for (const EarlierCalls::Call& call : earlier.newest(print, round_)) {
                by_result_.emplace(call.key_safe_call_id, &same);
                rounds_.insert(call.message);
            }
        }
        if (by_result_.empty()) return;
        const Outline outline = conversation_.outline();
        for (std::size_t i = first_round(outline); i < outline.size(); ++i) {
            const MessageInfo& info = outline[i];
            if (rounds_.contains(info.round_serial) && info.has(PartKind::tool_result)) note_results(info);
        }
        for (const auto& [print, same] : calls_) {
            for (ToolContext* const call : same.now) {
                if (same.newest) call->earlier_same_call_keys = same.newest->stored_keys;
            }
        }
    }

private:
    /// Calls with one tool and the same arguments.
    struct Same {
        std::vector<ToolContext*> now{};
        Mark newest{};  // of the newest earlier result that is not whole
    };

    /// Where the oldest of the earlier calls stands: results stand behind their call.
    [[nodiscard]] std::size_t first_round(const Outline& outline) const {
        std::size_t first = outline.size();
        for (std::size_t left = rounds_.size(); first > 0 && left > 0;) {
            if (rounds_.contains(outline[--first].serial)) --left;
        }
        return first;
    }

    void note_new_calls(EarlierCalls& earlier) {
        const Outline outline = conversation_.outline();
        Serial newest = 0;
        for (std::size_t i = 0; i < outline.size(); ++i) {
            newest = (std::max)(newest, outline[i].serial);
            if (earlier.is_new(outline[i].serial) && outline[i].has(PartKind::tool_call)) note_calls(i, earlier);
        }
        earlier.note_seen(newest);
    }
    void note_calls(std::size_t message, EarlierCalls& earlier) {
        const MessageInfo& info = conversation_.outline()[message];
        std::size_t p = 0;
        message_traits<M>::for_each_part(conversation_.messages()[message], [&](const PartView& part) {
            const std::size_t index = p++;
            if (part.kind != PartKind::tool_call || index >= info.parts.size()) return;
            earlier.add(EarlierCalls::print_of(part.tool, part.text),
                        {info.serial, info.parts[index].key_safe_call_id});
        });
    }
    /// The newest result of a call counts: a whole one is there to be read.
    void note_results(const MessageInfo& info) {
        for (std::size_t p = 0; p < info.parts.size(); ++p) {
            const PartInfo& part = info.parts[p];
            if (part.kind != PartKind::tool_result) continue;
            const auto call = by_result_.find(part.key_safe_call_id);
            if (call == by_result_.end()) continue;
            const Mark& mark = mark_of(info, p);
            const bool is_edited = origin_of(mark) != Origin::original && mark->reason != truncate_reason;
            call->second->newest = is_edited && !mark->stored_keys.empty() ? mark : Mark{};
        }
    }

    const Conversation<M>& conversation_;
    Serial round_ = 0;
    std::unordered_map<Hash128, Same, EarlierCalls::HashOfPrint> calls_{};
    std::unordered_map<std::string_view, Same*> by_result_{};  // by the name of the earlier call's object
    std::unordered_set<Serial> rounds_{};                      // of the earlier calls
};

/// Finds them, counts each once, and tells of it.
template <AgentMessage M>
void note_repeated_calls(const Conversation<M>& conversation, std::vector<ToolContext>& calls) {
    if (calls.empty() || conversation.objects() == nullptr) return;  // nothing of it was ever stored
    const auto earlier = EarlierCalls::of(*calls.front().caches);
    const std::lock_guard lock(earlier->mutex);
    RepeatFinder<M>(conversation, calls).find(*earlier);
    for (const ToolContext& call : calls) {
        if (call.earlier_same_call_keys.empty() || !RepeatedCalls::of(*call.caches)->add(call.key_safe_call_id))
            continue;
        const std::string text = call.tool + " is called again with the same arguments; the result that left the " +
                                 "request is stored under " + call.earlier_same_call_keys.front();
        emit(*call.events,
             {.source = "chain", .kind = "repeated_call", .text = text, .conversation = call.conversation_id});
    }
}

}  // namespace whittle::inline v0::detail
