#pragma once

#include "whittle/base/clock.hpp"
#include "whittle/base/detail/shared_string.hpp"
#include "whittle/base/detail/small_vector.hpp"
#include "whittle/base/hash.hpp"
#include "whittle/message/traits.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// A message's name within its conversation: given in order of arrival from 1, never used again, kept by edits.
using Serial = std::uint64_t;

/// Where a message or a part of one comes from.
enum class Origin {
    original,     ///< from the user, the model or a tool
    summary,      ///< written in place of folded messages
    skills,       ///< skill texts carried over a fold
    attachment,   ///< files of the host, read again after a fold
    placeholder,  ///< stands where a stored or dropped text stood
    nudge,        ///< an instruction of a middleware
    repair,       ///< added to make a history acceptable to a provider
    transient,    ///< for one request
};

/// "original", "summary", ...
[[nodiscard]] std::string_view to_string(Origin origin) noexcept;
/// The inverse of `to_string`; original for a word that is none.
[[nodiscard]] Origin origin_or_original(std::string_view name) noexcept;

/// The `Provenance::reason` of what stands in place of media.
inline constexpr std::string_view media_reason = "media";

/// That of a result that was shortened so that the model never saw more: when it came, or where a request was too
/// large.
inline constexpr std::string_view truncate_reason = "truncate";

/// The side table's record of one message or part that is not original. Immutable and shared: text in a message is
/// never searched for such marks (L11).
struct Provenance {
    Origin origin = Origin::original;        ///< what kind of text it is
    std::string by{};                        ///< the middleware's name
    std::string reason{};                    ///< why, a stable word such as "clear"
    UnixMillis when = 0;                     ///< when it was made
    std::vector<std::string> stored_keys{};  ///< keys of the objects that hold what was taken out
    std::vector<Serial> covers{};            ///< messages that a summary stands for
    int level = 0;  ///< of a summary: how often what it stands for was folded as summaries of one level
    std::vector<std::string> verbatim_user_messages{};  ///< user messages that a summary carries word for word
    /// For each of `verbatim_user_messages`, how often it stood beside tool results: 0 (a message of its own), 1, or 2
    /// for more. Empty: none did.
    std::vector<int> times_beside_results{};
    std::vector<std::string> skill_records{};  ///< skills that a message carries
    std::string work_state{};      ///< the state of the work that a summary carries, as summary generation writes it
    std::string retained_facts{};  ///< what a summary must not lose, as `to_note` writes it; empty: not looked for

    friend bool operator==(const Provenance&, const Provenance&) = default;
};

/// Null means original.
using Mark = std::shared_ptr<const Provenance>;

/// What a mark says; original for null.
[[nodiscard]] inline Origin origin_of(const Mark& mark) noexcept { return mark ? mark->origin : Origin::original; }

/// What plans and validity rules need to know of a part, without its text.
struct PartInfo {
    PartKind kind = PartKind::text;     ///< what the part is
    bool is_error = false;              ///< tool_result: the call failed
    bool starts_new_result = false;     ///< without it, parts of one message with one id are one result
    bool is_blank = false;              ///< nothing but white space
    bool ends_in_space = false;         ///< the last byte of its text is ASCII white space
    bool is_invalid_utf8 = false;       ///< text, arguments, names or ids
    bool has_object_arguments = false;  ///< tool_call: the arguments are a JSON object
    bool is_image = false;              ///< media with an image's mime type
    std::int64_t text_bytes = 0;        ///< of its text
    /// Of a call, of a result and of media inside a result; as the model gave it.
    SharedString call_id{};
    SharedString tool{};                  ///< of a result too, where its call is known
    SharedString key_safe_call_id{};      ///< of calls and results: unique in the conversation, safe in a storage key
    std::int64_t media_base64_bytes = 0;  ///< media: what it takes in a request, as base64; of a link the link's
    int longer_side_pixels = 0;           ///< the longer one, in pixels; 0 if unknown
    Mark mark{};                          ///< of this part; null: original
};

/// What plans and validity rules need to know of a message.
struct MessageInfo {
    Serial serial = 0;                              ///< names it for good in its conversation, from 1
    Role role = Role::user;                         ///< who speaks
    bool pinned = false;                            ///< by the host, or because it was restored
    SmallVector<PartInfo> parts{};                  ///< one for each part, in order
    Serial round_serial = 0;                        ///< the tool round: serial of the message with the calls; 0 in none
    int turn = 0;                                   ///< from 1; 0 before the first
    int model_calls_before = 0;                     ///< model replies that were there when it came
    Hash128 fingerprint{};                          ///< of role and parts
    Mark mark{};                                    ///< of the whole message
    SmallVector<std::int64_t> tokens_by_counter{};  ///< by column of the conversation

    /// Whether it has a part of that kind.
    [[nodiscard]] bool has(PartKind kind) const noexcept;
};

/// The provenance of a part: its own, else that of its message; null is original.
[[nodiscard]] inline const Mark& mark_of(const MessageInfo& info, std::size_t part) noexcept {
    return part < info.parts.size() && info.parts[part].mark ? info.parts[part].mark : info.mark;
}

/// Words from the user's side: role user, original, with text of its own that is no tool result.
[[nodiscard]] bool is_original_user_message(const MessageInfo& info) noexcept;
/// A user message that opens a turn: one of its own. Text beside tool results belongs to their round, whoever wrote it:
/// a person's word in the middle of a run cannot be told from a host's reminder without reading it (L11).
[[nodiscard]] bool starts_turn(const MessageInfo& info) noexcept;
/// A user message that opens no turn: its text stands beside tool results.
[[nodiscard]] bool is_text_beside_results(const MessageInfo& info) noexcept;

[[nodiscard]] PartInfo describe(const PartView& part);

/// Adds a part to a message's fingerprint.
[[nodiscard]] Hash128 fingerprint(const PartView& part, Hash128 seed) noexcept;

template <AgentMessage M>
[[nodiscard]] Hash128 fingerprint(const M& m) {
    Hash128 hash{static_cast<std::uint64_t>(message_traits<M>::role(m)) + 1, 0};
    message_traits<M>::for_each_part(m, [&](const PartView& part) { hash = fingerprint(part, hash); });
    return hash;
}

/// Role, parts and fingerprint of `m`; what depends on the conversation is left at its defaults.
template <AgentMessage M>
[[nodiscard]] MessageInfo describe(const M& m) {
    MessageInfo info;
    info.role = message_traits<M>::role(m);
    info.fingerprint = Hash128{static_cast<std::uint64_t>(info.role) + 1, 0};
    message_traits<M>::for_each_part(m, [&](const PartView& part) {
        info.parts.push_back(describe(part));
        info.fingerprint = fingerprint(part, info.fingerprint);
    });
    return info;
}

/// A tool round: an assistant message with calls and the results of these calls.
struct Round {
    Serial round_serial = 0;             ///< of the assistant message
    std::size_t call_message_index = 0;  ///< index of the assistant message
    std::vector<std::size_t> results{};  ///< indices of the messages that hold its results, in list order
};

/// Neighbours in a list: the messages [begin, end).
struct MessageRange {
    std::size_t begin = 0;  ///< index of the first one
    std::size_t end = 0;    ///< index behind the last one

    /// Whether message `i` is one of them.
    [[nodiscard]] bool contains(std::size_t i) const noexcept { return i >= begin && i < end; }
};

/// The messages of a conversation or of a transaction's projection, as plans see them. A view: valid until the
/// conversation or the transaction changes.
class Outline {
public:
    Outline() = default;
    /// Of messages that stand one behind the other. `infos` is not copied.
    explicit Outline(std::span<const MessageInfo> infos) noexcept : infos_(infos) {}
    /// Of messages that stand anywhere. Neither the pointers nor what they point to are copied.
    explicit Outline(std::span<const MessageInfo* const> overlay) noexcept : overlay_(overlay), is_overlay_(true) {}

    /// Number of messages.
    [[nodiscard]] std::size_t size() const noexcept { return is_overlay_ ? overlay_.size() : infos_.size(); }
    /// The message at index `i`, which must be below `size()`.
    [[nodiscard]] const MessageInfo& operator[](std::size_t i) const noexcept {
        return is_overlay_ ? *overlay_[i] : infos_[i];
    }

    /// Index of the newest user message that opens a turn.
    [[nodiscard]] std::optional<std::size_t> newest_turn_start() const noexcept;
    /// Index of the newest assistant message if it has calls: its round is open until the model's next message.
    [[nodiscard]] std::optional<std::size_t> open_round_begin() const noexcept;
    /// Index of the first assistant message of the open tool loop: of the steps from the newest user message that is
    /// no answer to a call up to the open round. Thinking of these steps must stay as it is (A6).
    [[nodiscard]] std::optional<std::size_t> open_loop_begin() const noexcept;
    /// The first step of the open tool loop where the rest of the loop needs it: it starts with thinking, as the first
    /// step of a loop has to (A7), and not every later step does. With all results up to the next step; empty if none.
    [[nodiscard]] MessageRange required_first_step() const noexcept;
    /// The group of the newest message in a tool round, or 0.
    [[nodiscard]] Serial newest_round_serial() const noexcept;
    /// The group of the open round, or 0.
    [[nodiscard]] Serial open_round_serial() const noexcept;
    /// Whether the open round has all its results, so that something may stand behind them; true without one.
    [[nodiscard]] bool is_open_round_complete() const;
    /// All tool rounds, oldest first.
    [[nodiscard]] std::vector<Round> rounds() const;
    /// Where the history can be cut in two with every tool round whole on one side: indices of the first message behind
    /// the cut, ascending, neither 0 nor the end.
    [[nodiscard]] std::vector<std::size_t> cut_points() const;
    /// Where the message with that serial is; absent if there is none.
    [[nodiscard]] std::optional<std::size_t> index_of(Serial serial) const noexcept;

private:
    std::span<const MessageInfo> infos_{};
    std::span<const MessageInfo* const> overlay_{};
    bool is_overlay_ = false;
};

/// Sets the group of `info`, which stands right after `before`: that of its own calls, or of the call that its results
/// answer (the newest earlier call with that id that has no answer yet, else the newest with that id). Gives its
/// results the tool and the object name of their call. A repair right after a round, such as media that a provider
/// wants outside of it, joins the round.
void link_to_round(MessageInfo& info, const Outline& before);

/// Sets the groups of a whole list, in linear time.
void link_rounds(std::span<MessageInfo> infos);

}  // namespace whittle::inline v0
