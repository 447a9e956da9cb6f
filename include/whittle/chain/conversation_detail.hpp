#pragma once

// Helpers of Conversation<M> that do not depend on the message type.

#include "whittle/chain/journal.hpp"
#include "whittle/chain/tool.hpp"
#include "whittle/message/outline.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0 {

namespace detail {

/// Where each message stands. Linear.
[[nodiscard]] std::unordered_map<Serial, std::size_t> positions_of(const Outline& outline);

/// The same, asked with a guess: linear only from the first wrong one on.
class Positions {
public:
    explicit Positions(Outline outline) noexcept : outline_(outline) {}
    [[nodiscard]] std::optional<std::size_t> find(Serial serial, std::size_t guess);

private:
    Outline outline_;
    std::optional<std::unordered_map<Serial, std::size_t>> all_{};
};

/// Room for `extra` more elements without giving up geometric growth; by a half: room that stays empty is paid for as
/// long as the conversation lives.
template <typename T>
void grow(std::vector<T>& v, std::size_t extra) {
    const std::size_t needed = v.size() + extra;
    if (needed > v.capacity()) v.reserve(std::max(needed, v.capacity() + v.capacity() / 2));
}

[[noreturn]] void throw_is_original(Serial serial);
/// Throws Error(invalid_history) if `original` in place of message `index` broke a rule of `openai_chat` that is kept
/// now: the journal entry took out other messages that belong to it.
void require_restorable(const Outline& outline, std::size_t index, const MessageInfo& original, std::uint64_t entry);

/// The mark of a result part whose original is stored.
[[nodiscard]] Mark mark_of_stored(const StoredPart& stored);
/// The mark of a message that an adapter added beside the results, such as media that a provider wants in a user
/// message.
[[nodiscard]] Mark mark_of_result_media();

[[nodiscard]] std::vector<ToolResult> shown_results(std::span<const ToolReturn> returns);
[[nodiscard]] bool has_original(std::span<const ToolReturn> returns) noexcept;
/// `returns` with the original parts where others are shown.
[[nodiscard]] std::vector<ToolReturn> as_given(std::span<const ToolReturn> returns);
/// Gives the parts of `info` the names and tools that the same calls have in `shown`.
void take_names_of_calls(MessageInfo& info, std::span<const MessageInfo> shown);

/// Marks the parts of `info` that show stored results, and collects how to get these back. `seen` is, for each result,
/// its part from which on earlier messages held none.
void mark_returned_parts(MessageInfo& info, std::span<const ToolReturn> returns, std::vector<std::size_t>& seen,
                         std::vector<StoredText>& texts);

}  // namespace detail

}  // namespace whittle::inline v0
