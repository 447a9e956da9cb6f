#pragma once

#include "whittle/conversation/detail/message_port.hpp"
#include "whittle/conversation/detail/side_table.hpp"
#include "whittle/conversation/draft.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// A copy of a message, edited and described. `message` goes with it.
class MessageCopy {
public:
    using Owned = std::unique_ptr<MessageCopy>;
    static constexpr EditGroup several = -1;

    /// `copied`: a copy of the port, which `known` describes.
    MessageCopy(MessagePort& port, AnyCopy copied, MessageInfo known)
        : message(copied), info(std::move(known)), port_(port) {}
    MessageCopy(const MessageCopy&) = delete;
    MessageCopy& operator=(const MessageCopy&) = delete;
    ~MessageCopy() { port_.free_copy(message); }

    /// Takes a copy over, which `known` describes.
    [[nodiscard]] static Owned owned(MessagePort& port, AnyCopy copied, const MessageInfo& known) {
        return guarded(port, copied, [&]() -> const MessageInfo& { return known; });
    }
    /// Of a message that nobody knows yet.
    [[nodiscard]] static Owned of_new(MessagePort& port, AnyMessage message);
    /// Of `message`, which `old` describes, with another text in a part. `mark`: of that part.
    [[nodiscard]] static Owned with_text(MessagePort& port, AnyMessage message, const MessageInfo& old,
                                         std::size_t part, std::string_view text, const Mark& mark);
    /// Without `parts`, which are ascending, each once. Those that are no longer shown go into `gone`.
    [[nodiscard]] static Owned without(MessagePort& port, AnyMessage message, const MessageInfo& old,
                                       std::span<const std::size_t> parts, std::vector<std::size_t>& gone);
    /// With other names. Results take what is known of their calls from the calls that they answer now.
    [[nodiscard]] static Owned renamed(MessagePort& port, AnyMessage message, const MessageInfo& old,
                                       std::span<const MessagePort::NewName> names);

    /// The part alone is edited, described and counted, so that many edits of one message cost what they change; the
    /// fingerprint is that before. False, and nothing done, where the message has to be looked at as a whole. It is
    /// torn if this throws with the text set.
    bool set_text_in_place(const TokenColumns& columns, std::size_t part, std::string_view text, const Mark& mark);
    [[nodiscard]] bool is_torn() const noexcept { return is_torn_; }
    void update_fingerprint();
    void add_editor(EditGroup editor) noexcept {
        if (edit_group != editor) edit_group = several;
    }

    AnyCopy message;
    MessageInfo info;
    EditGroup edit_group = several;  // whose edits made it

private:
    /// What tokens of a message or a part come from, in one column.
    struct Measure {
        std::int64_t units = 0;
        std::int64_t media = 0;
    };
    using Measures = std::vector<Measure>;

    [[nodiscard]] static Owned described(MessagePort& port, AnyCopy copied) {
        return guarded(port, copied, [&] { return port.describe(copied); });
    }
    template <typename Describe>
    [[nodiscard]] static Owned guarded(MessagePort& port, AnyCopy copied, Describe&& describe) {
        try {
            return std::make_unique<MessageCopy>(port, copied, describe());
        } catch (...) {
            port.free_copy(copied);
            throw;
        }
    }
    static void add_measure(const PartView& part, const TokenColumns& columns, Measures& measures);
    [[nodiscard]] Measures measure(const TokenColumns& columns, std::size_t part) const;
    void describe_part(const TokenColumns& columns, std::size_t part, const Measures& before);

    MessagePort& port_;
    Measures measures_{};  // of all its parts, once several were set
    bool has_old_fingerprint_ = false;
    bool is_torn_ = false;
};

/// A staged edit of one message, or of neighbours. A mark is an erase of no parts.
struct Edit {
    enum class Kind { set_text, erase_parts, replace };
    Kind kind{};
    EditGroup edit_group = 0;
    Serial target = 0;                 // the first message concerned; 0 for an insertion at the end
    std::size_t at = 0;                // where it stood then
    std::size_t part = 0;              // set_text
    std::vector<std::size_t> parts{};  // erase_parts: ascending, each once
    std::string_view text{};           // set_text: kept by the plan
    bool moves_parts = false;          // set_text: another part is no longer shown, those behind it move up
    std::vector<Serial> covered{};     // replace: the messages that go
    std::vector<AnyMessage> messages{};
    Serial first_serial = 0;  // replace: of the new messages
    Mark mark{};
};

/// The conversation as staged edits would leave it: shows its messages, and copies in place of those that were edited.
class Overlay {
public:
    struct Slot {
        std::size_t base = 0;       ///< index in the conversation, or `inserted`
        MessageCopy::Owned copy{};  ///< null: the conversation's own message
    };
    static constexpr std::size_t inserted = static_cast<std::size_t>(-1);

    Overlay(SideTable& side, MessagePort& port, std::size_t column) noexcept;

    [[nodiscard]] Outline outline() const noexcept {
        return is_open_ ? Outline(std::span<const MessageInfo* const>(infos_)) : side_.outline();
    }
    [[nodiscard]] std::int64_t tokens() const noexcept { return tokens_; }
    [[nodiscard]] bool is_open() const noexcept { return is_open_; }
    /// The messages, while it is open.
    [[nodiscard]] std::span<const AnyMessage> messages() const noexcept { return messages_; }
    [[nodiscard]] AnyMessage message(std::size_t at) const noexcept {
        return is_open_ ? messages_[at] : port_.original(at);
    }
    void visit_part(std::size_t at, std::size_t part, bool keep_index, MessagePort::Visit visit) const;
    /// The same of the conversation's own message `base`.
    void visit_original(std::size_t base, std::size_t part, MessagePort::Visit visit) const;
    /// Where message `at` stands in the conversation; absent where it is new.
    [[nodiscard]] std::optional<std::size_t> base_of(std::size_t at) const noexcept;
    [[nodiscard]] bool is_edited(std::size_t at) const noexcept { return is_open_ && slots_[at].copy != nullptr; }
    [[nodiscard]] std::optional<std::size_t> first_changed() const noexcept;
    /// Where the open tool loop starts; the number of messages if there is none.
    [[nodiscard]] std::size_t open_loop_begin() const;
    /// What this breaks of `profile` that the conversation does not; nothing where `profile` is null.
    [[nodiscard]] std::vector<Violation> introduced_violations(const ValidityProfile* profile) const;
    /// Messages, in order of their serials, of which the edits of their parts made nothing worse that a rule looks at:
    /// those edits break none. Their group may be another, where somebody took their call.
    [[nodiscard]] std::vector<Serial> harmlessly_edited() const;
    /// An edited message that would keep some of its thinking, and not all.
    [[nodiscard]] std::optional<Serial> split_thinking() const;
    /// The first kept thinking whose prefix the edits change.
    [[nodiscard]] std::optional<std::size_t> first_void_thinking() const;
    /// What a commit replaces. Valid until the next edit.
    [[nodiscard]] MessagePort::Replacement replacement() const;

    /// Shows the conversation as it is; nothing if it is open.
    void open();
    void close() noexcept;
    /// Shows these messages instead. Those of the conversation come in its order.
    void show(std::vector<Slot> slots);
    /// Carries out `edit`, which concerns message `at`. Gives the parts that are no longer shown, of an erase.
    std::vector<std::size_t> apply(const Edit& edit, std::size_t at);
    /// Where the message stands that `edit` was made on. `shift`: how far such messages moved since, as a first guess.
    [[nodiscard]] std::optional<std::size_t> find(const Edit& edit, std::ptrdiff_t& shift) const;
    /// Whether taking `edit` back gives the conversation's own message again, as `revert` does.
    [[nodiscard]] bool is_alone(const Edit& edit, std::size_t at) const;
    void revert(std::size_t at);
    /// Shows what `edits` leave. Gives the edit group of an edit that no longer finds what it was made on; then it is
    /// torn.
    [[nodiscard]] std::optional<EditGroup> rebuild(std::span<const Edit> edits);
    /// An edit failed half-way: it has to be rebuilt.
    [[nodiscard]] bool is_torn() const noexcept { return is_torn_; }
    void update_fingerprints();

private:
    [[nodiscard]] bool keeps_every_rule() const noexcept;
    [[nodiscard]] MessageCopy::Owned copy_of_new(AnyMessage message, const Edit& edit, std::size_t at) const;
    void put(std::size_t at, MessageCopy::Owned copy, EditGroup edit_group);
    void replace_tokens(std::int64_t old, std::int64_t now) noexcept;
    void set_text(const Edit& edit, std::size_t at);
    [[nodiscard]] bool set_text_in_place(MessageCopy& copy, const Edit& edit);
    std::vector<std::size_t> erase(const Edit& edit, std::size_t at);
    void replace(const Edit& edit, std::size_t at);
    void regroup_behind(std::size_t first, std::vector<Serial> replaced_calls);

    SideTable& side_;
    MessagePort& port_;
    std::size_t column_;
    std::int64_t tokens_;
    bool is_open_ = false;
    bool is_torn_ = false;
    // Parallel, while it is open.
    std::vector<AnyMessage> messages_{};
    std::vector<const MessageInfo*> infos_{};
    std::vector<Slot> slots_{};
    mutable std::optional<std::size_t> open_loop_{};  // made when first asked for
};

}  // namespace whittle::inline v0::detail
