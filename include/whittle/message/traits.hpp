#pragma once

#include "whittle/base/function_ref.hpp"
#include "whittle/message/part.hpp"

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace whittle::inline v0 {

/// How the library reads and edits messages of type M. Specialise it for your own type; all members are static.
/// docs/message.md has the table and an example (`examples/04_own_message_type.cpp`).
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

/// Optional: `std::string thinking_seal(const M&)`: what belongs to the thinking of a message but stands in none of its
/// parts, such as signatures and redacted data; empty if nothing. Lets the library see that thinking is not what it
/// was.
template <typename M>
concept HasThinkingSeal = requires(const M& m) {
    { message_traits<M>::thinking_seal(m) } -> std::same_as<std::string>;
};

/// A host's own mark of a message: which it is, and which revision of it.
struct Stamp {
    std::uint64_t id = 0;
    std::uint64_t revision = 0;

    friend bool operator==(const Stamp&, const Stamp&) = default;
};

/// Optional: `Stamp stamp(const M&)`; lets `Conversation::sync` skip hashing.
template <typename M>
concept HasStamp = requires(const M& m) {
    { message_traits<M>::stamp(m) } -> std::same_as<Stamp>;
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

}  // namespace whittle::inline v0
