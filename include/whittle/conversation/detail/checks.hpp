#pragma once

// Checks of `History<M>` and of drafts that do not depend on the message type.

#include "whittle/conversation/journal.hpp"
#include "whittle/conversation/tool.hpp"
#include "whittle/message/outline.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0 {

namespace detail {

/// Where each message stands, asked with a guess: linear only from the first wrong one on.
class Positions {
public:
    explicit Positions(Outline outline) noexcept;
    ~Positions();
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
    if (needed > v.capacity()) v.reserve((std::max)(needed, v.capacity() + v.capacity() / 2));
}

/// Adds `texts` of that splice and message of the record's entry. False if there are none.
bool add_texts(JournalRecord& record, std::vector<StoredText> texts, std::size_t splice, std::size_t message);

/// Throws Error(invalid_argument) in a hook.
void require_outside_hook(bool is_in_hook, std::string_view operation);
/// Throws Error(not_found) unless a message has the serial of one to restore; `replaced`: those that commits took out.
[[nodiscard]] std::size_t require_index(const Outline& outline, Serial serial,
                                        std::span<const ReplacedMessage> replaced);
[[noreturn]] void throw_is_original(Serial serial);
/// Throws Error(invalid_history) if `original` in place of message `index` broke a rule of `openai_chat` that is kept
/// now: the journal entry took out other messages that belong to it.
void require_restorable(const Outline& outline, std::size_t index, const MessageInfo& original, std::uint64_t entry);

/// The mark of a result part whose original is stored.
[[nodiscard]] Mark mark_of_stored(const StoredPart& stored);
/// The mark of a result part that is not what the tool gave, or that a store has too. `stored`: what it stands for, if
/// that is in a store; `is_changed`: where others are shown than the tool gave, this part is one of them.
[[nodiscard]] Mark mark_of_return(const ToolReturn& r, const StoredPart* stored, bool is_changed);
/// The mark of a message that an adapter added beside the results, such as media that a provider wants in a user
/// message.
[[nodiscard]] Mark mark_of_result_media();

[[nodiscard]] std::vector<ToolResult> shown_results(std::span<const ToolReturn> returns);
/// Whether each is shown as the tool gave it, and in no store.
[[nodiscard]] bool is_plain(std::span<const ToolReturn> returns) noexcept;
/// `returns` with the original parts where others are shown.
[[nodiscard]] std::vector<ToolReturn> as_given(std::span<const ToolReturn> returns);

/// The names and tools of calls, by their ids. A view of the messages that show them.
class NamesOfCalls {
public:
    explicit NamesOfCalls(std::span<const MessageInfo> shown);
    ~NamesOfCalls();
    /// The parts of `info` take those of the same calls.
    void give_to(MessageInfo& info) const;

private:
    std::unordered_map<std::string_view, const PartInfo*> first_{};
};

/// The part of `old` that is gone if `now` parts are left after an edit of part `edited`; the number of parts if none
/// is. Text that was set in place of a result's media takes away the empty part that stood for its missing text.
[[nodiscard]] std::size_t find_gone(std::span<const PartInfo> old, std::size_t now, std::size_t edited,
                                    bool is_text_set);
/// `info` describes a message anew after its content changed: gives it what was known of it as `old`, whose parts
/// `gone`, ascending and each once, are not in it.
void keep_known(MessageInfo& info, const MessageInfo& old, std::span<const std::size_t> gone);
/// `part` is described anew after its text changed: keeps what was known of it beside its content.
void describe_again(PartInfo& part, const PartView& shown);

}  // namespace detail

}  // namespace whittle::inline v0
