#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/message/part.hpp"

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// How the library reads and edits messages of type M. Specialise it for your own type; all members are static.
/// docs/message.md has the list and an example (`examples/04_own_message_type.cpp`).
template <typename M>
struct message_traits;

/// `Role role(const M&)`
template <typename M>
concept HasRole = requires(const M& m) {
    { message_traits<M>::role(m) } -> std::same_as<Role>;
};

/// `void for_each_part(const M&, visit)`: calls `visit(const PartView&)` for each part, in order.
template <typename M>
concept HasForEachPart = requires(const M& m, FunctionRef<void(const PartView&)> visit) {
    message_traits<M>::for_each_part(m, visit);
};

/// `void set_text(M&, std::size_t part, std::string_view text)`: replaces the text of a text, thinking or tool_result
/// part, or the arguments of a tool_call (throws if they are no JSON object), or turns a media part into a text part.
/// What the library does not know of the message survives. Throws without having changed the message.
template <typename M>
concept HasSetText = requires(M& m, std::size_t part, std::string_view text) {
    message_traits<M>::set_text(m, part, text);
};

/// `void erase_part(M&, std::size_t part)`: a message may become empty; the caller then drops it.
template <typename M>
concept HasErasePart = requires(M& m, std::size_t part) {
    message_traits<M>::erase_part(m, part);
};

/// `M make(Role, std::string_view text)`
template <typename M>
concept HasMake = requires(Role role, std::string_view text) {
    { message_traits<M>::make(role, text) } -> std::same_as<M>;
};

/// A message type that whittle can work on. The concepts above name what is missing.
template <typename M>
concept AgentMessage =
    std::copyable<M> && std::is_nothrow_move_constructible_v<M> && std::is_nothrow_move_assignable_v<M> && HasRole<M> &&
    HasForEachPart<M> && HasSetText<M> && HasErasePart<M> && HasMake<M>;

/// `std::vector<M> make_tool_results(std::span<const ToolResult>)`: one message or several, as the provider wants it.
template <typename M>
concept HasMakeToolResults = requires(std::span<const ToolResult> results) {
    { message_traits<M>::make_tool_results(results) } -> std::same_as<std::vector<M>>;
};

/// A message type with tools; `AgentLoop` and `Conversation::push_tool_results` need it.
template <typename M>
concept ToolMessage = AgentMessage<M> && HasMakeToolResults<M>;

/// Optional: `std::optional<Usage> usage(const M&)`, what the provider billed for the call that gave this reply.
template <typename M>
concept HasUsage = requires(const M& m) {
    { message_traits<M>::usage(m) } -> std::same_as<std::optional<Usage>>;
};

/// Optional: `std::string to_bytes(const M&)` and `M from_bytes(std::string_view)`, exact inverses; needed for saving.
template <typename M>
concept HasCodec = requires(const M& m, std::string_view bytes) {
    { message_traits<M>::to_bytes(m) } -> std::same_as<std::string>;
    { message_traits<M>::from_bytes(bytes) } -> std::same_as<M>;
};

/// Optional: `void rename_call(M&, std::size_t part, std::string_view call_id, std::string_view tool)`: gives a
/// tool_call part another id and, unless `tool` is empty, another tool name; gives a part of a result the id of another
/// call, and the tool's name where it holds one. Lets a repair mend ids and names.
template <typename M>
concept HasRenameCall = requires(M& m, std::size_t part, std::string_view name) {
    message_traits<M>::rename_call(m, part, name, name);
};

/// Optional: `std::string thinking_signature(const M&)`: what belongs to the thinking of a message but stands in none
/// of its parts, such as signatures and redacted data; empty if nothing. Lets the library see that thinking is not what
/// it was.
template <typename M>
concept HasThinkingSignature = requires(const M& m) {
    { message_traits<M>::thinking_signature(m) } -> std::same_as<std::string>;
};

/// A host's own mark of a message: which it is, and which revision of it.
struct Stamp {
    std::uint64_t id = 0;        ///< the same for all revisions of a message
    std::uint64_t revision = 0;  ///< another one after each change

    friend bool operator==(const Stamp&, const Stamp&) = default;
};

/// Optional: `Stamp stamp(const M&)`; lets `Conversation::sync` skip hashing.
template <typename M>
concept HasStamp = requires(const M& m) {
    { message_traits<M>::stamp(m) } -> std::same_as<Stamp>;
};

/// Optional: `std::string mark_id(const M&)` and `void set_mark_id(M&, std::string_view id)`: a place for one short
/// string of the library's beside what the message says; empty takes it away. It is saved with the message and never
/// sent to a provider. Lets marks (turn, where a text comes from, what it stands for) go with messages that are saved
/// alone: `save_marks`.
template <typename M>
concept HasMarkId = requires(M& m, const M& read, std::string_view id) {
    { message_traits<M>::mark_id(read) } -> std::same_as<std::string>;
    message_traits<M>::set_mark_id(m, id);
};

/// All parts of `m`, owned.
template <AgentMessage M>
[[nodiscard]] std::vector<Part> parts_of(const M& m) {
    std::vector<Part> parts;
    message_traits<M>::for_each_part(m, [&](const PartView& part) { parts.push_back(to_part(part)); });
    return parts;
}

/// The text of part `index` of `m`; empty if there is no such part.
template <AgentMessage M>
[[nodiscard]] std::string text_of(const M& m, std::size_t index) {
    std::string text;
    std::size_t at = 0;
    message_traits<M>::for_each_part(m, [&](const PartView& part) {
        if (at++ == index) text = part.text;
    });
    return text;
}

/// The text parts of `m`, joined; what a person would read.
template <AgentMessage M>
[[nodiscard]] std::string text_of(const M& m) {
    std::string text;
    message_traits<M>::for_each_part(m, [&](const PartView& part) {
        if (part.kind == PartKind::text) text += part.text;
    });
    return text;
}

/// Whether two messages are the same: by `==` where there is one, else by codec, else part by part.
template <AgentMessage M>
[[nodiscard]] bool same_message(const M& a, const M& b) {
    if constexpr (std::equality_comparable<M>) {
        return a == b;
    } else if constexpr (HasCodec<M>) {
        return message_traits<M>::to_bytes(a) == message_traits<M>::to_bytes(b);
    } else {
        return message_traits<M>::role(a) == message_traits<M>::role(b) && parts_of(a) == parts_of(b);
    }
}

/// Optional: an index of a message's parts, so that one part is read or set without walking over the others. Without it
/// many edits of one message cost the square of its parts.
/// * `PartIndex index_parts(const M&)`, a type of your own whose `size()` is the number of parts: where they are.
/// * `void visit_part(const M&, const PartIndex&, std::size_t part, visit)`: as `for_each_part`, for one part that is
///   there.
/// * `bool set_text_in_place(M&, const PartIndex&, std::size_t part, std::string_view text)`: does as `set_text` and
///   says true where no part but this comes, goes or changes, so that the index and what is known of the other parts
///   stay true. Else it does nothing and says false.
template <typename M>
concept HasPartIndex = requires(M& m, const M& shown, std::size_t part, std::string_view text,
                                FunctionRef<void(const PartView&)> visit) {
    { message_traits<M>::index_parts(shown).size() } -> std::convertible_to<std::size_t>;
    message_traits<M>::visit_part(shown, message_traits<M>::index_parts(shown), part, visit);
    {
        message_traits<M>::set_text_in_place(m, message_traits<M>::index_parts(shown), part, text)
        } -> std::same_as<bool>;
};

/// Optional beside these: `void rename_call(M&, const PartIndex&, std::size_t part, std::string_view call_id,
/// std::string_view tool)`, as the trait without an index, for a part that is there.
template <typename M>
concept HasIndexedRename = HasPartIndex<M> && requires(M& m, const M& shown, std::size_t part, std::string_view name) {
    message_traits<M>::rename_call(m, message_traits<M>::index_parts(shown), part, name, name);
};

/// Optional beside these: `void erase_parts(M&, const PartIndex&, std::span<const std::size_t> parts)`: takes out two
/// or more parts that are there, ascending and each named once, as `erase_part` does from the last of them to the
/// first. Throws without having changed the message.
template <typename M>
concept HasIndexedErase = HasPartIndex<M> && requires(M& m, const M& shown, std::span<const std::size_t> parts) {
    message_traits<M>::erase_parts(m, message_traits<M>::index_parts(shown), parts);
};

/// Takes these parts out of `m`, ascending and each named once: by an index where its type has that, else one by one,
/// from the last to the first.
template <AgentMessage M>
void erase_parts_of(M& m, std::span<const std::size_t> parts) {
    if constexpr (HasIndexedErase<M>) {
        if (parts.size() > 1) {
            const auto index = message_traits<M>::index_parts(m);
            if (parts.back() < index.size()) return message_traits<M>::erase_parts(m, index, parts);
        }
    }
    for (std::size_t i = parts.size(); i-- > 0;) message_traits<M>::erase_part(m, parts[i]);
}

/// Calls `visit(const PartView&)` for part `part` of `m`, if there is one.
template <AgentMessage M, typename Visit>
void visit_one_part(const M& m, std::size_t part, Visit&& visit) {
    std::size_t at = 0;
    message_traits<M>::for_each_part(m, [&](const PartView& view) {
        if (at++ == part) visit(view);
    });
}

/// Reads and sets single parts of one message, by its index where its type has one. The index is made for the second
/// of them, since the first alone is sooner walked to, and is true until the message changes in another way.
template <AgentMessage M>
class PartFinder {
public:
    /// As `visit_one_part`.
    template <typename Visit>
    void visit(const M& m, std::size_t part, Visit&& visit) {
        if constexpr (HasPartIndex<M>) {
            if (!is_first()) {
                const Index& index = index_of(m);
                if (part < index.size()) message_traits<M>::visit_part(m, index, part, visit);
                return;
            }
        }
        visit_one_part(m, part, visit);
    }

    /// As the trait of that name: false, and nothing done, where other parts would change or nobody knows.
    bool set_text_in_place(M& m, std::size_t part, std::string_view text) {
        if constexpr (HasPartIndex<M>) {
            const Index& index = index_of(m);
            return part < index.size() && message_traits<M>::set_text_in_place(m, index, part, text);
        } else {
            return false;
        }
    }

    /// By the trait `rename_call`: false, and nothing done, where the type has none that takes an index.
    bool rename_call_in_place(M& m, std::size_t part, std::string_view call_id, std::string_view tool) {
        if constexpr (HasIndexedRename<M>) {
            const Index& index = index_of(m);
            if (part >= index.size()) return false;
            message_traits<M>::rename_call(m, index, part, call_id, tool);
            return true;
        } else {
            return false;
        }
    }

    /// As the trait of that name, in place where that can be.
    void set_text(M& m, std::size_t part, std::string_view text) {
        if (!is_first() && set_text_in_place(m, part, text)) return;
        forget();
        message_traits<M>::set_text(m, part, text);
    }

    /// The message changed otherwise.
    void forget() noexcept { index_.reset(); }

private:
    struct None {};
    template <typename T>
    struct IndexOf {
        using type = None;
    };
    template <HasPartIndex T>
    struct IndexOf<T> {
        using type = decltype(message_traits<T>::index_parts(std::declval<const T&>()));
    };
    using Index = typename IndexOf<M>::type;

    const Index& index_of(const M& m) {
        if constexpr (HasPartIndex<M>) {
            if (!index_) index_.emplace(message_traits<M>::index_parts(m));
        }
        return *index_;
    }

    [[nodiscard]] bool is_first() noexcept { return !std::exchange(is_used_, true); }

    bool is_used_ = false;
    std::optional<Index> index_{};
};

}  // namespace whittle::inline v0
