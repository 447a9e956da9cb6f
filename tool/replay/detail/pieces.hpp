#pragma once

#include "prefix_cache.hpp"
#include "whittle/conversation/conversation.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// A message as a prompt cache sees it: by its bytes where the type has a codec, else by role and parts.
template <AgentMessage M>
[[nodiscard]] PrefixElement piece_of(const M& m, const TokenCounter& counter) {
    const std::int64_t tokens = count_message(m, counter);
    if constexpr (HasCodec<M>) {
        return {hash128(message_traits<M>::to_bytes(m)), tokens};
    } else {
        return {fingerprint(m), tokens};
    }
}

/// System text and tools: the first piece of every request.
[[nodiscard]] PrefixElement overhead_piece(std::string_view system, std::span<const ToolSpec> tools,
                                           const TokenCounter& counter);

/// The pieces of a conversation's next request, kept up to date in time proportional to what is new or edited.
template <AgentMessage M>
class RequestPieces {
public:
    RequestPieces(std::shared_ptr<const TokenCounter> counter, PrefixElement overhead)
        : counter_(std::move(counter)), pieces_{overhead} {}

    /// Takes over what happened since the last call with this conversation.
    void update(const Conversation<M>& conversation);
    /// One more message, for a list that only grows.
    void push_back(const M& m) { pieces_.push_back(piece_of(m, *counter_)); }

    /// The overhead, then one per message.
    [[nodiscard]] std::span<const PrefixElement> all() const noexcept { return pieces_; }
    [[nodiscard]] std::span<const PrefixElement> messages() const noexcept { return all().subspan(1); }

private:
    void apply(const Conversation<M>& conversation, const Changes& changes);

    std::shared_ptr<const TokenCounter> counter_;
    std::vector<PrefixElement> pieces_;
    std::uint64_t version_ = 0;
};

template <AgentMessage M>
void RequestPieces<M>::update(const Conversation<M>& conversation) {
    if (pieces_.size() > 1) {
        const Changes changes = conversation.replacements_since(version_);
        if (!changes.empty()) apply(conversation, changes);
    }
    for (std::size_t i = pieces_.size() - 1; i < conversation.size(); ++i) push_back(conversation.messages()[i]);
    version_ = conversation.version();
}

template <AgentMessage M>
void RequestPieces<M>::apply(const Conversation<M>& conversation, const Changes& changes) {
    const std::span<const PrefixElement> old = messages();
    std::vector<PrefixElement> fresh{pieces_.front()};
    std::size_t from = 0;
    for (const Change& c : changes) {
        if (c.old_first + c.old_count > old.size())
            break;  // touches messages that came and were edited since: made anew
        fresh.insert(fresh.end(), old.begin() + static_cast<std::ptrdiff_t>(from),
                     old.begin() + static_cast<std::ptrdiff_t>(c.old_first));
        for (const M& m : conversation.messages().subspan(c.new_first, c.new_count))
            fresh.push_back(piece_of(m, *counter_));
        from = c.old_first + c.old_count;
        if (&c == &changes.back())
            fresh.insert(fresh.end(), old.begin() + static_cast<std::ptrdiff_t>(from), old.end());
    }
    pieces_ = std::move(fresh);
}

}  // namespace whittle::inline v0
