#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/conversation/detail/bound_thinking.hpp"
#include "whittle/conversation/journal.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// The address of a message whose type only a `MessagePort` knows: one of the conversation's, a new one, or a copy.
using AnyMessage = const void*;
/// That of a copy, which may be changed.
using AnyCopy = void*;

/// What a draft asks of messages, whatever their type is. New messages are the port's and stay where they are until the
/// commit. Copies are the caller's, who drops them.
class MessagePort {
public:
    using Visit = FunctionRef<void(const PartView&)>;

    /// Which optional traits the message type has.
    struct Abilities {
        bool has_part_index = false;  ///< `HasPartIndex`
        bool makes_results = false;   ///< `ToolMessage`
        bool renames_calls = false;   ///< `HasRenameCall`
    };
    /// New names for a part, as the trait `rename_call` takes them.
    struct NewName {
        std::size_t part = 0;
        std::string_view call_id{};
        std::string_view tool{};
    };
    struct Copied {
        AnyCopy message = nullptr;
        MessageInfo* info = nullptr;
    };
    /// Messages [first, first + count) of the conversation make way for `copies[begin]` to `copies[end]`.
    struct Stretch {
        std::size_t first = 0;
        std::size_t count = 0;
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    struct Replacement {
        std::vector<Stretch> stretches{};  ///< in order of the conversation
        std::vector<Copied> copies{};
    };

    explicit MessagePort(Abilities of_type) noexcept : abilities(of_type) {}
    MessagePort(const MessagePort&) = delete;
    MessagePort& operator=(const MessagePort&) = delete;
    virtual ~MessagePort();

    const Abilities abilities;

    /// Message `index` of the conversation.
    [[nodiscard]] virtual AnyMessage original(std::size_t index) const noexcept = 0;
    virtual void visit_parts(AnyMessage message, Visit visit) const = 0;
    /// `keep_index`: more parts of this message will be read; only `set_text_in_place` changes it meanwhile.
    virtual void visit_part(AnyMessage message, std::size_t part, bool keep_index, Visit visit) = 0;
    /// With its counts in all columns.
    [[nodiscard]] virtual MessageInfo describe(AnyMessage message) const = 0;
    [[nodiscard]] virtual BoundFingerprint bound_fingerprint(AnyMessage message) const = 0;

    [[nodiscard]] virtual AnyMessage make(Role role, std::string_view text) = 0;
    /// None if the type has no results.
    [[nodiscard]] virtual std::vector<AnyMessage> make_results(const ToolResult& result) = 0;
    /// A copy with another text in `part`. Throws what the message type throws.
    [[nodiscard]] virtual AnyCopy copy_with_text(AnyMessage message, std::size_t part, std::string_view text) = 0;
    /// A copy without `parts`, which are ascending, each named once.
    [[nodiscard]] virtual AnyCopy copy_without(AnyMessage message, std::span<const std::size_t> parts) = 0;
    /// A copy with other names, in that order; one with the same if the type cannot rename.
    [[nodiscard]] virtual AnyCopy copy_renamed(AnyMessage message, std::span<const NewName> names) = 0;
    /// False, and nothing done, where more than this part would change or the type has no index of its parts.
    [[nodiscard]] virtual bool set_text_in_place(AnyCopy copy, std::size_t part, std::string_view text) = 0;
    virtual void free_copy(AnyCopy copy) noexcept = 0;

    /// Replaces, and adds `record` to the journal. Takes the messages out of the copies. New messages are gone then,
    /// also where it throws. True if it changes what kept thinking is bound to.
    virtual bool commit(const Replacement& replacement, JournalRecord record) = 0;
};

}  // namespace whittle::inline v0::detail
