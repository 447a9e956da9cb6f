#pragma once

#include "whittle/base/hash.hpp"
#include "whittle/message/outline.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace whittle::inline v0::detail {

/// What of a message matters to thinking that is bound to its prefix.
struct BoundPrint {
    Hash128 up_to_thinking{};  ///< role and parts up to the last thinking
    Hash128 thinking{};
    Hash128 rest{};  ///< role and other parts
    bool has_thinking = false;
    Hash128 whole{};  ///< `fingerprint` of the message
};

template <AgentMessage M>
[[nodiscard]] BoundPrint bound_print(const M& m) {
    const Hash128 start{static_cast<std::uint64_t>(message_traits<M>::role(m)) + 1, 0};
    BoundPrint print{start, start, start, false, start};
    message_traits<M>::for_each_part(m, [&](const PartView& part) {
        print.whole = fingerprint(part, print.whole);
        Hash128& own = part.kind == PartKind::thinking ? print.thinking : print.rest;
        own = fingerprint(part, own);
        if (part.kind != PartKind::thinking) return;
        print.has_thinking = true;
        print.up_to_thinking = print.whole;
    });
    if constexpr (HasThinkingSeal<M>) {
        const std::string seal = print.has_thinking ? message_traits<M>::thinking_seal(m) : std::string();
        if (!seal.empty()) {
            print.thinking = hash128(seal, print.thinking);
            print.up_to_thinking = hash128(seal, print.up_to_thinking);
        }
    }
    return print;
}

template <AgentMessage M>
[[nodiscard]] bool same_thinking_seal(const M& a, const M& b) {
    if constexpr (HasThinkingSeal<M>) {
        return message_traits<M>::thinking_seal(a) == message_traits<M>::thinking_seal(b);
    } else {
        return true;
    }
}

/// Walks an edited list, in its order, and finds the first message whose thinking is void: something in front of it is
/// not what it was. Taking thinking away is no edit as long as none is kept in front of it.
class PrefixWalk {
public:
    /// Looks only at thinking of messages from `since` on: older thinking gets back what it was bound to.
    explicit PrefixWalk(Serial since = 0) noexcept : since_(since) {}

    void keep(const MessageInfo& info) noexcept {
        if (info.has(PartKind::thinking)) keep_thinking(info.serial, false);
        ++index_;
    }
    void insert(const MessageInfo& info) noexcept {
        is_edited_ = true;
        keep(info);
    }
    void remove(const MessageInfo& info) noexcept {
        std::size_t thinking = 0;
        for (const PartInfo& part : info.parts) thinking += part.kind == PartKind::thinking ? 1 : 0;
        const bool is_only_thinking = thinking == info.parts.size();
        if (!is_only_thinking || (thinking > 0 && has_kept_)) is_edited_ = true;
    }
    void change(const BoundPrint& before, const BoundPrint& after, Serial serial) noexcept {
        const bool is_same_rest = before.rest == after.rest;
        const bool is_taken = is_same_rest && before.has_thinking && !after.has_thinking;
        const bool is_same = is_same_rest && before.up_to_thinking == after.up_to_thinking;
        if (after.has_thinking) keep_thinking(serial, before.up_to_thinking != after.up_to_thinking);
        if (!is_same && (!is_taken || has_kept_)) is_edited_ = true;
        ++index_;
    }

    /// Index in the edited list.
    [[nodiscard]] std::optional<std::size_t> first_void() const noexcept { return first_void_; }

private:
    void keep_thinking(Serial serial, bool is_void) noexcept {
        has_kept_ = true;
        if ((is_edited_ || is_void) && serial >= since_ && !first_void_) first_void_ = index_;
    }

    Serial since_;
    std::size_t index_ = 0;
    bool has_kept_ = false;
    bool is_edited_ = false;
    std::optional<std::size_t> first_void_{};
};

}  // namespace whittle::inline v0::detail
