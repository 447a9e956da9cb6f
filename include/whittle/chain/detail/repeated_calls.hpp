#pragma once

#include "whittle/base/event.hpp"
#include "whittle/base/hash.hpp"
#include "whittle/conversation/conversation.hpp"
#include "whittle/conversation/detail/repeated_calls.hpp"
#include "whittle/conversation/tool.hpp"
#include "whittle/message/traits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// Finds, for calls that are about to run, earlier ones of the same tool with the same arguments whose results the
/// model no longer sees as they came to it.
template <AgentMessage M>
class RepeatFinder {
public:
    /// Both are borrowed. O(calls).
    RepeatFinder(const Conversation<M>& conversation, std::vector<ToolContext>& calls) : conversation_(conversation) {
        for (ToolContext& call : calls) {
            calls_[print_of(call.tool, call.arguments)].now.push_back(&call);
            forms_.emplace(call.tool, call.arguments.size());
        }
    }

    /// Sets `ToolContext::stored_before`. O(parts of the conversation, and the arguments of its calls of the same tool
    /// that are as long).
    void find() {
        const Outline outline = conversation_.outline();
        for (std::size_t i = 0; i < outline.size(); ++i) {
            if (outline[i].has(PartKind::tool_call)) note_calls(i);
            if (!earlier_.empty() && outline[i].has(PartKind::tool_result)) note_results(outline[i]);
        }
        for (const auto& [print, same] : calls_) {
            for (ToolContext* const call : same.now) {
                if (same.newest) call->stored_before = same.newest->stored;
            }
        }
    }

private:
    /// Calls with one tool and the same arguments.
    struct Same {
        std::vector<ToolContext*> now{};
        Mark newest{};  // of the newest earlier result that is not whole
    };

    [[nodiscard]] static Hash128 print_of(std::string_view tool, std::string_view arguments) {
        return hash128(arguments, hash128(tool));
    }
    struct HashOfPrint {
        std::size_t operator()(const Hash128& print) const noexcept { return static_cast<std::size_t>(print.low); }
    };

    [[nodiscard]] bool may_match(const MessageInfo& info) const {
        return std::ranges::any_of(info.parts, [&](const PartInfo& part) {
            return part.kind == PartKind::tool_call &&
                   forms_.contains({part.tool.view(), static_cast<std::size_t>(part.bytes)});
        });
    }
    void note_calls(std::size_t message) {
        const MessageInfo& info = conversation_.outline()[message];
        if (!may_match(info)) return;
        std::size_t p = 0;
        message_traits<M>::for_each_part(conversation_.messages()[message], [&](const PartView& part) {
            const std::size_t index = p++;
            if (part.kind != PartKind::tool_call || index >= info.parts.size()) return;
            const auto same = calls_.find(print_of(part.tool, part.text));
            if (same != calls_.end()) earlier_.emplace(info.parts[index].object_name, &same->second);
        });
    }
    /// The newest result of a call counts: a whole one is there to be read.
    void note_results(const MessageInfo& info) {
        for (std::size_t p = 0; p < info.parts.size(); ++p) {
            const PartInfo& part = info.parts[p];
            if (part.kind != PartKind::tool_result) continue;
            const auto call = earlier_.find(part.object_name);
            if (call == earlier_.end()) continue;
            const Mark& mark = mark_of(info, p);
            const bool is_edited = origin_of(mark) != Origin::original && mark->reason != truncate_reason;
            call->second->newest = is_edited && !mark->stored.empty() ? mark : Mark{};
        }
    }

    const Conversation<M>& conversation_;
    std::unordered_map<Hash128, Same, HashOfPrint> calls_{};
    std::set<std::pair<std::string_view, std::size_t>> forms_{};  // tool, bytes of the arguments
    std::unordered_map<std::string_view, Same*> earlier_{};       // by the name of the earlier call's object
};

/// Finds them, counts each once, and tells of it.
template <AgentMessage M>
void note_repeated_calls(const Conversation<M>& conversation, std::vector<ToolContext>& calls) {
    if (calls.empty() || conversation.objects() == nullptr) return;  // nothing of it was ever stored
    RepeatFinder<M>(conversation, calls).find();
    for (const ToolContext& call : calls) {
        if (call.stored_before.empty() || !RepeatedCalls::of(*call.attachments)->add(call.object_name)) continue;
        const std::string text = call.tool + " is called again with the same arguments; the result that left the " +
                                 "request is stored under " + call.stored_before.front();
        emit(*call.events,
             {.source = "chain", .kind = "repeated_call", .text = text, .conversation = call.conversation});
    }
}

}  // namespace whittle::inline v0::detail
