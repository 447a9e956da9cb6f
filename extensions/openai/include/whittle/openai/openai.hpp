#pragma once

#include "whittle/message/traits.hpp"
#include "whittle/openai/detail/openai_edit.hpp"
#include "whittle/openai/detail/openai_slots.hpp"
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

namespace whittle::inline v0::openai {

/// A message of OpenAI's chat completions, as the JSON it travels as. Whatever the library does not know stays in it,
/// in its order; what nobody edits keeps the same `dump()`. extensions/openai/README.md has the table of parts.
class Message {
public:
    /// Throws Error(invalid_argument) unless `json` is an object whose "role" is system, developer, user, assistant,
    /// tool or function, at most 200 levels deep, without binary values and numbers that are not finite.
    explicit Message(nlohmann::ordered_json json) : json_(std::move(json)) { require_message(json_); }

    /// Throws Error(parse_failed) with the byte offset, or with what is wrong with the role. `notes`, if there are any
    /// wanted, gets what parsing had to change.
    [[nodiscard]] static Message parse(std::string_view text, ParseNotes* notes = nullptr,
                                       const JsonLimits& limits = {});

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
        if (!reason.empty()) throw Error(Errc::invalid_argument, "make an OpenAI message: " + reason);
    }

    nlohmann::ordered_json json_;
    std::optional<Usage> usage_{};
};

inline Message Message::parse(std::string_view text, ParseNotes* notes, const JsonLimits& limits) {
    auto json = whittle::detail::parse_json("parse an OpenAI message", text, limits, notes);
    const std::string reason = detail::reason_not_a_message(json);
    if (!reason.empty()) throw Error(Errc::parse_failed, "parse an OpenAI message: " + reason);
    return Message(std::move(json));
}

}  // namespace whittle::inline v0::openai

namespace whittle::inline v0 {

template <>
struct message_traits<openai::Message> {
    using Json = nlohmann::ordered_json;

    static Role role(const openai::Message& m) {
        return openai::detail::role_of(detail::find_string(m.json_, "role").value_or(""));
    }

    template <typename Visit>
    static void for_each_part(const openai::Message& m, Visit&& visit) {
        std::string scratch;
        openai::detail::visit_slots(m.json_, [&](const openai::detail::Slot& slot) {
            visit(openai::detail::view_slot(m.json_, slot, scratch));
        });
    }

    /// Errors: invalid_argument for a part that is not there or is opaque, and for arguments that are no JSON object.
    /// `text` is taken as it is, also if it is not UTF-8 (rule G1 reports that).
    static void set_text(openai::Message& m, std::size_t part, std::string_view text) {
        openai::detail::set_text(m.json_, part, text);
    }

    using PartIndex = std::vector<openai::detail::Slot>;
    static PartIndex index_parts(const openai::Message& m) { return openai::detail::slots_of(m.json_); }
    template <typename Visit>
    static void visit_part(const openai::Message& m, const PartIndex& index, std::size_t part, Visit&& visit) {
        std::string scratch;
        visit(openai::detail::view_slot(m.json_, index[part], scratch));
    }
    static bool set_text_in_place(openai::Message& m, const PartIndex& index, std::size_t part, std::string_view text) {
        return openai::detail::set_text_in_place(m.json_, part, index[part], text);
    }

    /// Content that becomes empty is null (absent in a tool message), an emptied "tool_calls" goes as a whole.
    static void erase_part(openai::Message& m, std::size_t part) {
        Json edited = m.json_;
        openai::detail::erase_part(edited, part);
        m.json_ = std::move(edited);
    }
    static void erase_parts(openai::Message& m, const PartIndex& index, std::span<const std::size_t> parts) {
        Json edited = m.json_;
        openai::detail::erase_parts(edited, index, parts);
        m.json_ = std::move(edited);
    }

    /// In a tool message all parts have one id. Errors: invalid_argument for a part that is neither call nor result.
    static void rename_call(openai::Message& m, std::size_t part, std::string_view call_id, std::string_view tool) {
        openai::detail::rename_call(m.json_, part, call_id, tool);
    }
    static void rename_call(openai::Message& m, const PartIndex& index, std::size_t part, std::string_view call_id,
                            std::string_view tool) {
        openai::detail::rename_call(m.json_, part, index[part], call_id, tool);
    }

    /// Bytes that are not UTF-8 become U+FFFD.
    static openai::Message make(Role role, std::string_view text) {
        return openai::Message(Json{{"role", name_of(role)}, {"content", to_valid_utf8(text)}});
    }

    /// A tool message per result, in order, then one user message with the media of all of them, if there are any: the
    /// format has no media in tool messages. Text that is not UTF-8 is shown with U+FFFD; `is_error` has no field.
    static std::vector<openai::Message> make_tool_results(std::span<const ToolResult> results) {
        std::vector<openai::Message> messages;
        messages.reserve(results.size() + 1);
        for (const ToolResult& result : results) messages.emplace_back(openai::detail::make_tool_message(result));
        Json media = openai::detail::media_items(results);
        if (!media.empty()) messages.emplace_back(Json{{"role", "user"}, {"content", std::move(media)}});
        return messages;
    }

    static std::optional<Usage> usage(const openai::Message& m) { return m.usage_; }
    static std::string mark_id(const openai::Message& m) { return detail::mark_id_of(m.json_); }
    static void set_mark_id(openai::Message& m, std::string_view id) { detail::set_mark_id_of(m.json_, id); }
    static std::string id(const openai::Message& m) {
        return std::string(detail::find_string(m.json_, "id").value_or(""));
    }
    static bool is_error(const openai::Message&, std::size_t) { return false; }

    /// `dump()`. A message with text that is not UTF-8 has none: it becomes {"bytes_as_code_points": ...}, in whose
    /// strings every byte stands as the code point of its number.
    static std::string to_bytes(const openai::Message& m) { return detail::to_exact_text(m.json_); }
    /// The inverse of `to_bytes`. Throws Error(parse_failed).
    static openai::Message from_bytes(std::string_view bytes) {
        return openai::Message(openai::detail::from_exact_text(bytes));
    }
};

static_assert(ToolMessage<openai::Message> && HasCodec<openai::Message> && HasUsage<openai::Message> &&
              HasRenameCall<openai::Message> && HasPartIndex<openai::Message> && HasIndexedErase<openai::Message> &&
              HasMarkId<openai::Message>);

}  // namespace whittle::inline v0

#ifdef WHITTLE_MESSAGE_TYPE_1
#    error "WHITTLE_MESSAGE_TYPE_1 is taken: whittle/base/detail/compiled_types.hpp"
#endif
#define WHITTLE_MESSAGE_TYPE_1 openai::Message
#include "whittle/base/detail/compiled_types.hpp"
