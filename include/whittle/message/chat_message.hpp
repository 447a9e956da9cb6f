#pragma once

#include "whittle/message/traits.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// The library's own message: what a host without a message type of its own uses.
struct ChatMessage {
    Role role = Role::user;        ///< who speaks
    std::vector<Part> parts{};     ///< texts, calls, results and media, in order
    std::string host_id{};         ///< what the host calls the message, optional; the library keeps it
    std::optional<Usage> usage{};  ///< on replies, where the provider reports it
    std::string mark_id{};         ///< the library's (`save_marks`)

    /// A system message of one text.
    [[nodiscard]] static ChatMessage system(std::string text);
    /// A message of the user, of one text.
    [[nodiscard]] static ChatMessage user(std::string text);
    /// Without text: a message to which calls are added.
    [[nodiscard]] static ChatMessage assistant(std::string text = {});
    /// Adds a call; `arguments` is a JSON object as text.
    ChatMessage& call(std::string id, std::string tool, std::string arguments = "{}") &;
    ChatMessage&& call(std::string id, std::string tool, std::string arguments = "{}") &&;
    /// The result of a tool call: one message of role `tool` with one text.
    [[nodiscard]] static ChatMessage result(std::string call_id, std::string tool, std::string text,
                                            bool is_error = false);

    friend bool operator==(const ChatMessage&, const ChatMessage&) = default;
};

/// What whittle reads and writes in a `ChatMessage`.
template <>
struct message_traits<ChatMessage> {
    static Role role(const ChatMessage& m) noexcept { return m.role; }
    template <typename Visit>
    static void for_each_part(const ChatMessage& m, Visit&& visit) {
        for (const Part& part : m.parts) visit(view_of(part));
    }
    static void set_text(ChatMessage& m, std::size_t part, std::string_view text);

    /// The parts stand in a vector: their numbers are all there is to know.
    class PartIndex {
    public:
        explicit PartIndex(std::size_t size) noexcept : size_(size) {}
        [[nodiscard]] std::size_t size() const noexcept { return size_; }

    private:
        std::size_t size_;
    };
    static PartIndex index_parts(const ChatMessage& m) noexcept { return PartIndex(m.parts.size()); }
    template <typename Visit>
    static void visit_part(const ChatMessage& m, const PartIndex&, std::size_t part, Visit&& visit) {
        visit(view_of(m.parts[part]));
    }
    static bool set_text_in_place(ChatMessage& m, const PartIndex& index, std::size_t part, std::string_view text);

    static void erase_part(ChatMessage& m, std::size_t part);
    static void erase_parts(ChatMessage& m, const PartIndex&, std::span<const std::size_t> parts);
    static ChatMessage make(Role role, std::string_view text);
    static std::vector<ChatMessage> make_tool_results(std::span<const ToolResult> results);
    static void rename_call(ChatMessage& m, std::size_t part, std::string_view call_id, std::string_view tool);
    static void rename_call(ChatMessage& m, const PartIndex&, std::size_t part, std::string_view call_id,
                            std::string_view tool) {
        rename_call(m, part, call_id, tool);
    }
    static std::optional<Usage> usage(const ChatMessage& m) { return m.usage; }
    static std::string id(const ChatMessage& m) { return m.host_id; }
    static std::string mark_id(const ChatMessage& m) { return m.mark_id; }
    static void set_mark_id(ChatMessage& m, std::string_view id) { m.mark_id = id; }
    static bool is_error(const ChatMessage& m, std::size_t part) {
        return part < m.parts.size() && m.parts[part].is_error;
    }
    /// Compact JSON, one line; a string that is not valid UTF-8 becomes {"base64": "..."}.
    static std::string to_bytes(const ChatMessage& m);
    /// The exact inverse of `to_bytes`. Throws `Error(Errc::parse_failed)`.
    static ChatMessage from_bytes(std::string_view bytes);
};

static_assert(ToolMessage<ChatMessage> && HasCodec<ChatMessage> && HasRenameCall<ChatMessage> &&
              HasPartIndex<ChatMessage> && HasIndexedErase<ChatMessage> && HasMarkId<ChatMessage>);

}  // namespace whittle::inline v0
