#pragma once

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

namespace whittle::inline v0 {

namespace detail {

/// What one provider's format of messages has of its own: `name`, `role_of`, `reason_not_a_message`, the `Slot` that a
/// part stands in, and what reads and edits one: `visit_slots`, `view_slot`, `set_text`, `is_set_in_place`,
/// `erase_parts`, `rename_call`. Specialised for each.
template <typename Message>
struct ProviderFormat;

/// All of them: where each part is.
template <typename Message>
[[nodiscard]] std::vector<typename ProviderFormat<Message>::Slot> slots_of(const ordered_json& m) {
    std::vector<typename ProviderFormat<Message>::Slot> slots;
    ProviderFormat<Message>::visit_slots(m, [&](const auto& slot) { slots.push_back(slot); });
    return slots;
}

/// Throws Error(invalid_argument) if `m` has no such part.
template <typename Message>
[[nodiscard]] typename ProviderFormat<Message>::Slot slot_at(const ordered_json& m, std::size_t part,
                                                             std::string_view operation) {
    const auto slots = slots_of<Message>(m);
    if (part < slots.size()) return slots[part];
    throw Error(Errc::invalid_argument, std::string(operation) + " of part " + std::to_string(part) +
                                            ": the message has " + std::to_string(slots.size()) + " parts");
}

}  // namespace detail

/// What a provider's message is that is the JSON it travels as: `Message` is derived from it. Whatever the library does
/// not know stays in the JSON, in its order; what nobody edits keeps the same `dump()`.
template <typename Message>
class ProviderMessage {
public:
    /// Throws Error(parse_failed) with the byte offset, or with what is wrong with the role. `notes`, if there are any
    /// wanted, gets what parsing had to change.
    [[nodiscard]] static Message parse(std::string_view text, ParseNotes* notes = nullptr,
                                       const JsonLimits& limits = {}) {
        const std::string operation = "parse an " + std::string(Format::name);
        auto json = detail::parse_json(operation, text, limits, notes);
        const std::string reason = Format::reason_not_a_message(json);
        if (!reason.empty()) throw Error(Errc::parse_failed, operation + ": " + reason);
        return Message(std::move(json));
    }

    /// The message as the provider has it, members in their order.
    [[nodiscard]] const nlohmann::ordered_json& json() const noexcept { return json_; }

    /// What the provider billed for the call that gave this reply. Stays beside the JSON: it is neither sent nor saved.
    Message& with_usage(const Usage& usage) & {
        usage_ = usage;
        return static_cast<Message&>(*this);
    }
    Message&& with_usage(const Usage& usage) && { return std::move(with_usage(usage)); }
    /// What was billed for it, as `with_usage` set it. Not part of the JSON.
    [[nodiscard]] const std::optional<Usage>& usage() const noexcept { return usage_; }

    /// The same JSON text; 1 and 1.0 differ. Usage is not looked at.
    friend bool operator==(const Message& a, const Message& b) {
        return a.json() == b.json() && detail::to_exact_text(a.json()) == detail::to_exact_text(b.json());
    }

protected:
    /// Throws Error(invalid_argument) unless `json` is a message.
    explicit ProviderMessage(nlohmann::ordered_json json) : json_(std::move(json)) { require_message(json_); }

    static void require_message(const nlohmann::ordered_json& json) {
        const std::string reason = Format::reason_not_a_message(json);
        if (!reason.empty())
            throw Error(Errc::invalid_argument, "make an " + std::string(Format::name) + ": " + reason);
    }

private:
    using Format = detail::ProviderFormat<Message>;
    template <typename>
    friend struct ProviderMessageTraits;

    nlohmann::ordered_json json_;
    std::optional<Usage> usage_{};
};

/// What `message_traits` of such messages have in common.
template <typename Message>
struct ProviderMessageTraits {
    static Role role(const Message& m) { return Format::role_of(detail::find_string(m.json(), "role").value_or("")); }

    template <typename Visit>
    static void for_each_part(const Message& m, Visit&& visit) {
        std::string scratch;
        Format::visit_slots(m.json(), [&](const auto& slot) { visit(Format::view_slot(m.json(), slot, scratch)); });
    }

    /// Errors: invalid_argument for a part that is not there or may not be set, and for arguments that are no JSON
    /// object. Text that is not UTF-8 gets U+FFFD.
    static void set_text(Message& m, std::size_t part, std::string_view text) {
        Format::set_text(json_of(m), part, detail::slot_at<Message>(m.json(), part, "set the text"), text);
    }

    using PartIndex = std::vector<typename detail::ProviderFormat<Message>::Slot>;
    static PartIndex index_parts(const Message& m) { return detail::slots_of<Message>(m.json()); }
    template <typename Visit>
    static void visit_part(const Message& m, const PartIndex& index, std::size_t part, Visit&& visit) {
        std::string scratch;
        visit(Format::view_slot(m.json(), index[part], scratch));
    }
    static bool set_text_in_place(Message& m, const PartIndex& index, std::size_t part, std::string_view text) {
        if (!Format::is_set_in_place(m.json(), index, index[part])) return false;
        Format::set_text(json_of(m), part, index[part], text);
        return true;
    }

    static void erase_part(Message& m, std::size_t part) {
        const PartIndex only{detail::slot_at<Message>(m.json(), part, "erase")};
        constexpr std::size_t first = 0;
        erase_parts(m, only, {&first, 1});
    }
    static void erase_parts(Message& m, const PartIndex& index, std::span<const std::size_t> parts) {
        nlohmann::ordered_json edited = m.json();
        Format::erase_parts(edited, index, parts);
        json_of(m) = std::move(edited);
    }

    /// All parts of a result have one id. Errors: invalid_argument for a part that is neither call nor result.
    static void rename_call(Message& m, std::size_t part, std::string_view call_id, std::string_view tool) {
        Format::rename_call(json_of(m), part, detail::slot_at<Message>(m.json(), part, "rename the call"), call_id,
                            tool);
    }
    static void rename_call(Message& m, const PartIndex& index, std::size_t part, std::string_view call_id,
                            std::string_view tool) {
        Format::rename_call(json_of(m), part, index[part], call_id, tool);
    }

    static std::optional<Usage> usage(const Message& m) { return m.usage(); }
    static std::string mark_id(const Message& m) { return detail::mark_id_of(m.json()); }
    static void set_mark_id(Message& m, std::string_view id) { detail::set_mark_id_of(json_of(m), id); }
    static std::string id(const Message& m) { return std::string(detail::find_string(m.json(), "id").value_or("")); }

    /// `dump()`. A message with text that is not UTF-8 has none: it becomes {"bytes_as_code_points": ...}, in whose
    /// strings every byte stands as the code point of its number.
    static std::string to_bytes(const Message& m) { return detail::to_exact_text(m.json()); }
    /// The inverse of `to_bytes`. Throws Error(parse_failed).
    static Message from_bytes(std::string_view bytes) {
        return Message(
            detail::from_exact_text("read a saved " + std::string(Format::name), bytes, Format::reason_not_a_message));
    }

private:
    using Format = detail::ProviderFormat<Message>;

    static nlohmann::ordered_json& json_of(Message& m) noexcept { return m.ProviderMessage<Message>::json_; }
};

}  // namespace whittle::inline v0
