#pragma once

#include "whittle/anthropic/detail/anthropic_edit.hpp"
#include "whittle/anthropic/detail/anthropic_results.hpp"
#include "whittle/anthropic/detail/anthropic_slots.hpp"
#include "whittle/anthropic/detail/anthropic_usage.hpp"
#include "whittle/message/traits.hpp"
#include "whittle/provider/detail/json_message.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::anthropic {

/// The "usage" object of a response: the context as the provider counted it, and the output. Where the server called
/// the model several times for one response ("iterations"), its newest call, since the sums over all of them are no
/// context. nullopt if `usage` is no object.
[[nodiscard]] inline std::optional<Usage> usage_of(const nlohmann::ordered_json& usage) {
    if (!usage.is_object()) return std::nullopt;
    const nlohmann::ordered_json* step = detail::newest_step(usage);
    return detail::counts_of(step != nullptr ? *step : usage);
}

/// A message of Anthropic's Messages API, as the JSON it travels as. The system text of a request stands outside the
/// list. Whatever the library does not know stays in it, in its order; what nobody edits keeps the same `dump()`.
/// extensions/anthropic/README.md has the table of blocks.
class Message {
public:
    /// Throws Error(invalid_argument) unless `json` is an object whose "role" is user, assistant or system, at most 200
    /// levels deep, without binary values and numbers that are not finite.
    explicit Message(nlohmann::ordered_json json) : json_(std::move(json)) { require_message(json_); }

    /// Throws Error(parse_failed) with the byte offset, or with what is wrong with the role. `notes`, if there are any
    /// wanted, gets what parsing had to change.
    [[nodiscard]] static Message parse(std::string_view text, ParseNotes* notes = nullptr,
                                       const JsonLimits& limits = {});

    /// The reply in a response of the API: its role and content, which is all that may be sent back, and its usage.
    /// Throws Error(invalid_argument) if `response` is no message.
    [[nodiscard]] static Message from_response(const nlohmann::ordered_json& response);

    [[nodiscard]] const nlohmann::ordered_json& json() const noexcept { return json_; }

    /// What the provider billed for the call that gave this reply. Stays beside the JSON: it is neither sent nor saved.
    Message& with_usage(const Usage& usage) & {
        usage_ = usage;
        return *this;
    }
    Message&& with_usage(const Usage& usage) && { return std::move(with_usage(usage)); }
    [[nodiscard]] const std::optional<Usage>& usage() const noexcept { return usage_; }

    /// The same JSON text; 1 and 1.0 differ. Usage is not looked at.
    friend bool operator==(const Message& a, const Message& b) {
        return a.json_ == b.json_ && whittle::detail::to_exact_text(a.json_) == whittle::detail::to_exact_text(b.json_);
    }

private:
    friend struct message_traits<Message>;

    static void require_message(const nlohmann::ordered_json& json) {
        const std::string reason = detail::reason_not_a_message(json);
        if (!reason.empty()) throw Error(Errc::invalid_argument, "make an Anthropic message: " + reason);
    }

    nlohmann::ordered_json json_;
    std::optional<Usage> usage_{};
};

inline Message Message::parse(std::string_view text, ParseNotes* notes, const JsonLimits& limits) {
    auto json = whittle::detail::parse_json("parse an Anthropic message", text, limits, notes);
    const std::string reason = detail::reason_not_a_message(json);
    if (!reason.empty()) throw Error(Errc::parse_failed, "parse an Anthropic message: " + reason);
    return Message(std::move(json));
}

inline Message Message::from_response(const nlohmann::ordered_json& response) {
    require_message(response);
    nlohmann::ordered_json json{{"role", response["role"]}};
    json["content"] = response.contains("content") ? response["content"] : nlohmann::ordered_json::array();
    Message message(std::move(json));
    if (response.contains("usage")) message.usage_ = usage_of(response["usage"]);
    return message;
}

}  // namespace whittle::inline v0::anthropic

namespace whittle::inline v0 {

template <>
struct message_traits<anthropic::Message> {
    using Json = nlohmann::ordered_json;

    /// user also for a message that holds tool results: the format has no role of its own for them.
    static Role role(const anthropic::Message& m) {
        return anthropic::detail::role_of(detail::find_string(m.json_, "role").value_or(""));
    }

    template <typename Visit>
    static void for_each_part(const anthropic::Message& m, Visit&& visit) {
        std::string scratch;
        anthropic::detail::visit_slots(m.json_, [&](const anthropic::detail::Slot& slot) {
            visit(anthropic::detail::view_slot(m.json_, slot, scratch));
        });
    }

    /// Errors: invalid_argument for a part that is not there or is opaque, for thinking that is signed or redacted, and
    /// for arguments that are no JSON object. Text that is not UTF-8 gets U+FFFD.
    static void set_text(anthropic::Message& m, std::size_t part, std::string_view text) {
        anthropic::detail::set_text(m.json_, part, text);
    }

    using PartIndex = std::vector<anthropic::detail::Slot>;
    static PartIndex index_parts(const anthropic::Message& m) { return anthropic::detail::slots_of(m.json_); }
    template <typename Visit>
    static void visit_part(const anthropic::Message& m, const PartIndex& index, std::size_t part, Visit&& visit) {
        std::string scratch;
        visit(anthropic::detail::view_slot(m.json_, index[part], scratch));
    }
    static bool set_text_in_place(anthropic::Message& m, const PartIndex& index, std::size_t part,
                                  std::string_view text) {
        return anthropic::detail::set_text_in_place(m.json_, index, part, text);
    }

    /// The last part of a tool result takes its block with it; an emptied message has content [].
    static void erase_part(anthropic::Message& m, std::size_t part) {
        Json edited = m.json_;
        anthropic::detail::erase_part(edited, part);
        m.json_ = std::move(edited);
    }
    static void erase_parts(anthropic::Message& m, const PartIndex& index, std::span<const std::size_t> parts) {
        Json edited = m.json_;
        anthropic::detail::erase_parts(edited, index, parts);
        m.json_ = std::move(edited);
    }

    /// All parts of a result have one id. Errors: invalid_argument for a part that is neither call nor result.
    static void rename_call(anthropic::Message& m, std::size_t part, std::string_view call_id, std::string_view tool) {
        anthropic::detail::rename_call(m.json_, part, call_id, tool);
    }
    static void rename_call(anthropic::Message& m, const PartIndex& index, std::size_t part, std::string_view call_id,
                            std::string_view tool) {
        anthropic::detail::rename_call(m.json_, part, index[part], call_id, tool);
    }

    /// A message of role tool becomes one of the user. Bytes that are not UTF-8 become U+FFFD.
    static anthropic::Message make(Role role, std::string_view text) {
        const std::string_view name = role == Role::tool ? name_of(Role::user) : name_of(role);
        return anthropic::Message(Json{{"role", name}, {"content", to_valid_utf8(text)}});
    }

    /// One user message with all results in order, media inside them; none for no results. A failed tool's result may
    /// hold only text: its media follow all results in the same message. Text that is not UTF-8 is shown with U+FFFD.
    static std::vector<anthropic::Message> make_tool_results(std::span<const ToolResult> results) {
        std::vector<anthropic::Message> messages;
        if (!results.empty())
            messages.emplace_back(Json{{"role", "user"}, {"content", anthropic::detail::results_content(results)}});
        return messages;
    }

    /// Signatures and redacted data, block by block.
    static std::string thinking_seal(const anthropic::Message& m) { return anthropic::detail::thinking_seal(m.json_); }

    static std::optional<Usage> usage(const anthropic::Message& m) { return m.usage_; }
    static std::string mark_id(const anthropic::Message& m) { return detail::mark_id_of(m.json_); }
    static void set_mark_id(anthropic::Message& m, std::string_view id) { detail::set_mark_id_of(m.json_, id); }
    static std::string id(const anthropic::Message& m) {
        return std::string(detail::find_string(m.json_, "id").value_or(""));
    }
    static bool is_error(const anthropic::Message& m, std::size_t part) {
        bool is_error = false;
        std::size_t at = 0;
        anthropic::detail::visit_slots(m.json_, [&](const anthropic::detail::Slot& slot) {
            if (at++ == part) is_error = anthropic::detail::is_in_failed_result(m.json_, slot);
        });
        return is_error;
    }

    /// `dump()`. A message with text that is not UTF-8 has none: it becomes {"bytes_as_code_points": ...}, in whose
    /// strings every byte stands as the code point of its number.
    static std::string to_bytes(const anthropic::Message& m) { return detail::to_exact_text(m.json_); }
    /// The inverse of `to_bytes`. Throws Error(parse_failed).
    static anthropic::Message from_bytes(std::string_view bytes) {
        return anthropic::Message(
            detail::from_exact_text("read a saved Anthropic message", bytes, anthropic::detail::reason_not_a_message));
    }
};

static_assert(ToolMessage<anthropic::Message> && HasCodec<anthropic::Message> && HasUsage<anthropic::Message> &&
              HasPartIndex<anthropic::Message> && HasIndexedErase<anthropic::Message> && HasMarkId<anthropic::Message>);

}  // namespace whittle::inline v0

#ifdef WHITTLE_MESSAGE_TYPE_2
#    error "WHITTLE_MESSAGE_TYPE_2 is taken: whittle/base/detail/compiled_types.hpp"
#endif
#define WHITTLE_MESSAGE_TYPE_2 anthropic::Message
#include "whittle/base/detail/compiled_types.hpp"
