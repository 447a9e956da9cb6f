// Everything of a conversation that can be compared, as text.
#pragma once

#include "whittle/conversation/conversation.hpp"
#include "whittle/conversation/detail/history.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace whittle::testing {

namespace detail {

inline void add_text(std::string& out, std::string_view text) {
    out += std::to_string(text.size()) + ":" + std::string(text) + ";";
}
inline void add_number(std::string& out, auto number) { out += std::to_string(number) + ","; }

inline void add_mark(std::string& out, const Mark& mark) {
    if (!mark) return;
    out +=
        std::string(to_string(mark->origin)) + "/" + mark->by + "/" + mark->reason + "/" + std::to_string(mark->when);
    for (const std::string& key : mark->stored_keys) add_text(out, key);
    for (const Serial serial : mark->covers) add_number(out, serial);
}

inline void add_info(std::string& out, const MessageInfo& info) {
    out += "\n  [";
    add_number(out, info.serial);
    add_number(out, info.round_serial);
    add_number(out, info.turn);
    add_number(out, info.model_calls_before);
    out += info.pinned ? "pinned " : "";
    add_mark(out, info.mark);
    for (const PartInfo& part : info.parts) {
        out += "(" + std::string(to_string(part.kind)) + " ";
        add_number(out, part.text_bytes);
        add_text(out, part.key_safe_call_id);
        add_text(out, part.tool);
        add_mark(out, part.mark);
        out += ")";
    }
    out += "]";
}

}  // namespace detail

/// A message's bytes: by its codec, else role and parts.
template <AgentMessage M>
[[nodiscard]] std::string bytes_of(const M& m) {
    if constexpr (HasCodec<M>) {
        return message_traits<M>::to_bytes(m);
    } else {
        std::string out(to_string(message_traits<M>::role(m)));
        message_traits<M>::for_each_part(m, [&](const PartView& part) {
            out += to_string(part.kind);
            for (const std::string_view text : {part.text, part.call_id, part.tool}) detail::add_text(out, text);
        });
        return out;
    }
}

template <AgentMessage M>
[[nodiscard]] std::vector<std::string> all_bytes(std::span<const M> messages) {
    std::vector<std::string> bytes;
    for (const M& m : messages) bytes.push_back(bytes_of(m));
    return bytes;
}

/// Messages, side table, journal, notes, version and counters. Not what was learnt of the models' counting: whoever
/// counts with a new counter adds to it.
template <AgentMessage M>
[[nodiscard]] std::string snapshot(const Conversation<M>& conversation) {
    const ConversationState<M> state = conversation.state();
    std::string out = state.id + "\n";
    for (const M& m : state.messages) detail::add_text(out, bytes_of(m));
    for (const MessageInfo& info : state.infos) detail::add_info(out, info);
    for (const auto& entry : state.journal) {
        out += "\n  entry ";
        detail::add_number(out, entry->id);
        detail::add_number(out, static_cast<int>(entry->kind));
        detail::add_number(out, entry->when);
        detail::add_number(out, entry->tokens_before);
        detail::add_number(out, entry->tokens_after);
        out += entry->by + "/" + entry->reason;
        for (const std::string& key : entry->referenced_keys) detail::add_text(out, key);
        for (const auto& splice : entry->undo) {
            detail::add_number(out, splice.first);
            detail::add_number(out, splice.count);
            for (const M& m : splice.messages) detail::add_text(out, bytes_of(m));
            for (const MessageInfo& info : splice.infos) detail::add_info(out, info);
        }
        for (const StoredText& text : entry->texts_in_store) detail::add_text(out, text.key);
    }
    for (const auto& [key, note] : state.notes.all()) {
        out += "\n  note " + key.first + "." + key.second + "=";
        if (const auto* text = std::get_if<std::string>(&note.value)) out += *text;
        if (const auto* integer = std::get_if<std::int64_t>(&note.value)) detail::add_number(out, *integer);
        if (const auto* real = std::get_if<double>(&note.value)) detail::add_number(out, *real);
    }
    out += "\n  ";
    detail::add_number(out, state.counters.version);
    detail::add_number(out, state.counters.next_serial);
    detail::add_number(out, state.counters.next_entry);
    detail::add_number(out, state.counters.turn);
    detail::add_number(out, state.counters.run);
    detail::add_number(out, state.counters.model_calls);
    detail::add_number(out, state.counters.reported_tokens);
    detail::add_number(out, state.counters.reported_at);
    detail::add_number(out, static_cast<int>(state.counters.thinking_prefix_edited));
    detail::add_number(out, static_cast<int>(state.counters.request_edited));
    detail::add_number(out, state.counters.request.low);
    return out;
}

/// Where two texts part, for a failure's message.
[[nodiscard]] inline std::string difference(const std::string& a, const std::string& b) {
    if (a == b) return {};
    std::size_t at = 0;
    while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
    const std::size_t from = at < 40 ? 0 : at - 40;
    return "differ at byte " + std::to_string(at) + ": <" + a.substr(from, 120) + "> against <" + b.substr(from, 120) +
           ">";
}

}  // namespace whittle::testing
