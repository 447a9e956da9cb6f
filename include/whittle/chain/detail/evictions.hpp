#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/chain/config.hpp"
#include "whittle/conversation/conversation.hpp"
#include "whittle/conversation/detail/repair.hpp"
#include "whittle/message/traits.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// Tells of the tool results that commits of a journal took out of the request, in whole or in part.
template <AgentMessage M>
class EvictionReporter {
public:
    /// Both are borrowed. `from`: the first journal entry that counts.
    EvictionReporter(const Conversation<M>& conversation, std::size_t from)
        : conversation_(conversation), from_(from) {}

    /// The oldest commit first. O(parts of the conversation and of these entries) if one of them replaced a result.
    void report(FunctionRef<void(const EvictedResult&)> on_evicted) {
        for_each_replaced([&](const ReplacedMessage& replaced) { look_at(replaced); });
        if (gone_.empty()) return;
        read_arguments();
        for (const Gone& gone : gone_) {
            const auto arguments = arguments_.find(gone.part->key_safe_call_id);
            on_evicted({.conversation = conversation_.id(),
                        .middleware = gone.record->by,
                        .serial = gone.serial,
                        .tool = gone.part->tool,
                        .call_id = gone.part->call_id,
                        .arguments = arguments == arguments_.end() ? std::string_view() : arguments->second,
                        .stored_keys = gone.stored,
                        .is_in_summary = gone.is_folded});
        }
    }

private:
    struct Gone {
        const JournalRecord* record = nullptr;
        const PartInfo* part = nullptr;  // as it was
        Serial serial = 0;
        std::vector<std::string> stored{};
        bool is_folded = false;
    };
    using Marks = std::unordered_map<std::string_view, Mark>;  // by the name of the call's object

    /// Messages that commits of middlewares replaced. What a repair removes was nobody's result.
    void for_each_replaced(FunctionRef<void(const ReplacedMessage&)> visit) const {
        visit_replaced<M>(std::span(conversation_.journal()).subspan(from_), [&](const ReplacedMessage& replaced) {
            if (replaced.record.by != repair_name) visit(replaced);
        });
    }

    /// The mark of each result: that of an edited part, if it has one.
    [[nodiscard]] static Marks marks_of(const MessageInfo& info) {
        Marks marks;
        for (std::size_t p = 0; p < info.parts.size(); ++p) {
            if (info.parts[p].kind != PartKind::tool_result) continue;
            Mark& mark = marks[info.parts[p].key_safe_call_id];
            if (origin_of(mark) == Origin::original) mark = mark_of(info, p);
        }
        return marks;
    }

    void look_at(const ReplacedMessage& replaced) {
        const MessageInfo& before = replaced.info;
        if (!before.has(PartKind::tool_result)) return;
        if (!is_read_) read_now();
        const Marks marks = marks_of(before);
        for (const PartInfo& part : before.parts) {
            if (part.kind != PartKind::tool_result || told_.contains(part.key_safe_call_id)) continue;
            if (origin_of(marks.at(part.key_safe_call_id)) != Origin::original) continue;
            const auto now = now_.find(part.key_safe_call_id);
            const bool is_folded = now == now_.end();
            if (!is_folded && origin_of(now->second) == Origin::original) continue;
            told_.insert(part.key_safe_call_id);
            gone_.push_back({&replaced.record, &part, before.serial, {}, is_folded});
            gone_.back().stored = is_folded ? keys_of(replaced) : now->second->stored_keys;
        }
    }

    /// Of the texts of a message that the commit stored.
    [[nodiscard]] std::vector<std::string> keys_of(const ReplacedMessage& replaced) {
        if (std::exchange(keys_of_, &replaced.record) != &replaced.record) {
            keys_.clear();
            for (const StoredText& text : replaced.record.texts_in_store)
                keys_[{text.splice, text.message_in_splice}].push_back(text.key);
        }
        const auto found = keys_.find({replaced.splice, replaced.message_in_splice});
        return found == keys_.end() ? std::vector<std::string>{} : found->second;
    }

    void read_now() {
        is_read_ = true;
        const Outline outline = conversation_.outline();
        for (std::size_t i = 0; i < outline.size(); ++i) {
            if (outline[i].has(PartKind::tool_result)) now_.merge(marks_of(outline[i]));
        }
    }

    /// Of calls that these commits replaced, and of those that are still there.
    void read_arguments() {
        for_each_replaced(
            [&](const ReplacedMessage& replaced) { read_calls(replaced.info, message_in_memory<M>(replaced)); });
        for (std::size_t i = 0; i < conversation_.size(); ++i)
            read_calls(conversation_.outline()[i], conversation_.messages()[i]);
    }

    void read_calls(const MessageInfo& info, const M& message) {
        if (!info.has(PartKind::tool_call)) return;
        std::size_t p = 0;
        message_traits<M>::for_each_part(message, [&](const PartView& part) {
            const std::size_t index = p++;
            if (part.kind != PartKind::tool_call || index >= info.parts.size()) return;
            const std::string_view name = info.parts[index].key_safe_call_id;
            if (told_.contains(name) && origin_of(mark_of(info, index)) == Origin::original)
                arguments_.emplace(name, part.text);
        });
    }

    const Conversation<M>& conversation_;
    std::size_t from_;
    const JournalRecord* keys_of_ = nullptr;
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::string>> keys_{};  // by splice and message
    bool is_read_ = false;
    Marks now_{};
    std::unordered_set<std::string_view> told_{};
    std::vector<Gone> gone_{};
    std::unordered_map<std::string_view, std::string> arguments_{};
};

/// Tells of what was evicted from journal entry `from` on. What the callback throws is told as an event.
template <AgentMessage M>
void report_evictions(const Conversation<M>& conversation, std::size_t from,
                      const ChainCallbacks<M>& callbacks) noexcept {
    const auto or_tell_failure = [&](const auto& work) {
        try {
            work();
        } catch (...) {
            emit_failure(callbacks.on_event, "on_evicted", conversation.id(), current_error_text());
        }
    };
    or_tell_failure([&] {
        EvictionReporter<M>(conversation, from).report([&](const EvictedResult& eviction) {
            or_tell_failure([&] { callbacks.on_evicted(eviction); });
        });
    });
}

}  // namespace whittle::inline v0::detail
