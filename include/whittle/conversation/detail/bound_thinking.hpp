#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/hash.hpp"
#include "whittle/message/outline.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace whittle::inline v0::detail {

/// What of a message matters to thinking that is bound to its prefix.
struct BoundFingerprint {
    Hash128 up_to_thinking{};  ///< role and parts up to the last thinking
    Hash128 thinking{};
    Hash128 rest{};  ///< role and other parts
    bool has_thinking = false;
    Hash128 whole{};  ///< `fingerprint` of the message
};

template <AgentMessage M>
[[nodiscard]] BoundFingerprint bound_fingerprint(const M& m) {
    const Hash128 start{static_cast<std::uint64_t>(message_traits<M>::role(m)) + 1, 0};
    BoundFingerprint print{start, start, start, false, start};
    message_traits<M>::for_each_part(m, [&](const PartView& part) {
        print.whole = fingerprint(part, print.whole);
        Hash128& own = part.kind == PartKind::thinking ? print.thinking : print.rest;
        own = fingerprint(part, own);
        if (part.kind != PartKind::thinking) return;
        print.has_thinking = true;
        print.up_to_thinking = print.whole;
    });
    if constexpr (HasThinkingSignature<M>) {
        const std::string signature = print.has_thinking ? message_traits<M>::thinking_signature(m) : std::string();
        if (!signature.empty()) {
            print.thinking = hash128(signature, print.thinking);
            print.up_to_thinking = hash128(signature, print.up_to_thinking);
        }
    }
    return print;
}

template <AgentMessage M>
[[nodiscard]] bool same_thinking_signature(const M& a, const M& b) {
    if constexpr (HasThinkingSignature<M>) {
        return message_traits<M>::thinking_signature(a) == message_traits<M>::thinking_signature(b);
    } else {
        return true;
    }
}

/// The index in `after`, an edited form of `before`, of the first message whose thinking is void: something in front of
/// it is not what it was. Taking thinking away is no edit as long as none is kept in front of it. Messages that nobody
/// edited are those of `before` themselves; `prints`: of message `old` of `before` and message `now` of `after`, which
/// is another form of it. `since`: older thinking gets back what it was bound to.
[[nodiscard]] std::optional<std::size_t> first_void_thinking(
    std::span<const MessageInfo> before, const Outline& after, Serial since,
    FunctionRef<std::pair<BoundFingerprint, BoundFingerprint>(std::size_t old, std::size_t now)> prints);

}  // namespace whittle::inline v0::detail
