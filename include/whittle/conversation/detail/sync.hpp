#pragma once

// How a history follows a host that owns the list, and how such a list is brought up to date.

#include "whittle/conversation/detail/append_host.hpp"
#include "whittle/conversation/detail/bound_thinking.hpp"
#include "whittle/conversation/detail/replace.hpp"
#include "whittle/conversation/report.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

namespace detail {

/// Fills `infos` for `fresh` messages that take the place of a stretch, and for those behind it that lose their tool
/// round with it. `describe`: the nth fresh message. The names that calls get are taken, also where it throws. Returns
/// the newest turn.
[[nodiscard]] int describe_stretch(SideTable& side, MessageRange stretch, std::size_t fresh,
                                   std::vector<MessageInfo>& infos, FunctionRef<MessageInfo(std::size_t)> describe);

/// Whether message `index` is the host's.
template <AgentMessage M>
[[nodiscard]] bool is_same(const History<M>& history, std::size_t index, const M& host) {
    const M& ours = history.messages[index];
    if constexpr (HasStamp<M>) {
        return message_traits<M>::stamp(ours) == message_traits<M>::stamp(host);
    } else {
        const MessageInfo& info = history.side.infos[index];
        const bool looks_same = info.fingerprint == fingerprint(host);
        if (looks_same && (!info.has(PartKind::thinking) || same_thinking_signature(ours, host))) return true;
        return same_message(ours, host);
    }
}

/// The host has other messages than those between the first `front` and the last `back`.
template <AgentMessage M>
void replace_by_host(History<M>& history, std::span<const M> host, std::size_t front, std::size_t back) {
    SideTable& side = history.side;
    const std::size_t last = history.size() - back;
    const std::span<const M> fresh = host.subspan(front, host.size() - back - front);
    SideTable::Tail tail = side.tail();
    std::vector<Splice<M>> splices(1);
    Splice<M>& splice = splices.front();
    try {
        const int turn = describe_stretch(side, {front, last}, fresh.size(), splice.infos,
                                          [&](std::size_t i) { return describe_new(side, fresh[i]); });
        const auto regrouped = std::span(history.messages).subspan(last, splice.infos.size() - fresh.size());
        splice.first = front;
        splice.count = last + regrouped.size() - front;
        splice.messages.assign(fresh.begin(), fresh.end());
        splice.messages.insert(splice.messages.end(), regrouped.begin(), regrouped.end());
        commit(history, splices, new_entry(history, JournalRecord::Kind::sync, "host", "sync"));
        side.counters.turn = turn;
    } catch (...) {
        for (std::size_t i = 0; i < (std::min)(fresh.size(), splice.infos.size()); ++i)
            side.names.release(splice.infos[i]);
        cut_back(history, tail);
        throw;
    }
}

/// Takes over what is new in `host`. Strong guarantee.
template <AgentMessage M>
SyncResult follow(History<M>& history, std::span<const M> host) {
    const std::size_t shorter = (std::min)(history.size(), host.size());
    std::size_t front = 0;
    while (front < shorter && is_same(history, front, host[front])) ++front;
    if (front == history.size()) {
        append_all_or_nothing(history, [&] {
            grow(history.side.infos, host.size() - front);
            grow(history.messages, host.size() - front);
            for (const M& m : host.subspan(front)) push(history, M(m));
        });
        return {.common_prefix = front, .appended = host.size() - front, .version = history.side.counters.version};
    }
    std::size_t back = 0;
    while (back < shorter - front && is_same(history, history.size() - 1 - back, host[host.size() - 1 - back])) ++back;
    const std::size_t replaced = history.size() - back - front;
    replace_by_host(history, host, front, back);
    return {.common_prefix = front,
            .removed_or_replaced = replaced,
            .diverged = true,
            .version = history.side.counters.version};
}

/// The results that came last have their messages at the end of the list, behind all that both sides know.
template <AgentMessage M>
[[nodiscard]] std::size_t find_first_result(const History<M>& history, std::span<const M> host,
                                            std::span<const ToolReturn> returns) {
    ReturnQueue waiting(returns, ReturnQueue::Missing::passed_over);
    std::size_t first = host.size();
    for (std::size_t i = host.size(); i-- > 0 && waiting.taken().size() < returns.size();) {
        if (i < history.size() && is_same(history, i, host[i])) break;
        if (!holds_results(host[i])) continue;
        for (const HostResult& result : host_results(host[i])) {
            if (waiting.take(result.result.call_id) != nullptr) first = i;
        }
    }
    return first;
}

/// The same where results came in shortened.
template <AgentMessage M>
SyncResult follow(History<M>& history, std::span<const M> host, std::span<const ToolReturn> returns) {
    const std::size_t first = find_first_result(history, host, returns);
    SyncResult result = follow(history, host.first(first));
    if (first == host.size()) return result;
    ReturnQueue queue(returns, ReturnQueue::Missing::passed_over);
    append_all_or_nothing(history, [&] { result.version = append_host(history, host.subspan(first), queue); });
    result.appended += host.size() - first;
    return result;
}

/// Brings a host's list that was in step at `version` up to date with `messages`. Strong guarantee.
template <AgentMessage M, typename T, std::invocable<const M&> Make>
void apply_changes(std::vector<T>& host, const ChangeLog& log, std::uint64_t version, std::span<const M> messages,
                   const Make& make) {
    const Changes changes = log.since(version, host.size(), messages.size());
    std::vector<T> result;
    result.reserve(messages.size());
    std::vector<T> fresh;  // copies first: they can fail, moving cannot
    for (const Change& c : changes) {
        for (const M& m : messages.subspan(c.new_first, c.new_count)) fresh.emplace_back(make(m));
    }
    auto next_fresh = fresh.begin();
    auto next_host = host.begin();
    const auto take = [&](auto& from, std::size_t count) {
        for (; count > 0; --count) result.push_back(std::move(*from++));
    };
    std::size_t done = 0;
    for (const Change& c : changes) {
        take(next_host, c.old_first - done);
        take(next_fresh, c.new_count);
        next_host += static_cast<std::ptrdiff_t>(c.old_count);
        done = c.old_first + c.old_count;
    }
    host = std::move(result);
}

}  // namespace detail

}  // namespace whittle::inline v0
