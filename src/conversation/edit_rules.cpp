#include "draft_state.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace whittle::inline v0::detail {

void DraftContext::require_current(std::string_view operation) const {
    if (is_current()) return;
    throw Error(Errc::conflict, fmt::format("{}: {}: the conversation changed since the edits were planned; plan again",
                                            by, operation));
}

namespace {

/// The messages that a draft must leave alone; `spare_open_results`: not the results of the open round. Linear.
std::vector<bool> find_pinned(const Outline& outline, std::string_view by,
                              const std::function<bool(const MessageInfo&)>* pins, bool spare_open_results) {
    std::vector<bool> result(outline.size(), false);
    const Serial open = outline.open_round_serial();
    for (std::size_t i = 0; i < outline.size(); ++i) {
        const MessageInfo& info = outline[i];
        const bool is_spared = spare_open_results && info.has(PartKind::tool_result);
        const bool is_open = open != 0 && info.round_serial == open && !is_spared;
        const bool is_pinned = info.pinned || (pins != nullptr && *pins && (*pins)(info));
        const bool is_own_summary = origin_of(info.mark) == Origin::summary && info.mark->by == by;
        result[i] = (info.role == Role::system && !is_own_summary) || is_open || is_pinned;
    }
    if (const auto user = outline.newest_turn_start()) result[*user] = true;
    return result;
}

}  // namespace

bool DraftState::is_pinned(std::size_t message) {
    if (!pinned) pinned = find_pinned(context.side.outline(), context.by, context.env.pins, allow_editing_open_results);
    const auto base = overlay.base_of(message);
    return base && (*pinned)[*base];
}

std::string_view DraftState::rule_on(std::size_t message) {
    if (allow_pinned || !is_pinned(message)) return {};
    return "it is pinned, a system text, the newest user message or in the open round";
}

std::string_view DraftState::rule_on(std::size_t message, std::size_t part) const {
    if (allow_pinned) return {};
    const MessageInfo& info = overlay.outline()[message];
    const Mark& mark = mark_of(info, part);
    const bool is_stored = origin_of(mark) == Origin::placeholder && !mark->stored_keys.empty();
    const bool is_others = origin_of(mark) != Origin::original && mark->by != context.by;
    if (is_others && !(allow_editing_foreign_placeholders && is_stored)) return "another middleware made this part";
    if (info.parts[part].kind != PartKind::thinking) return {};
    if (message >= overlay.open_loop_begin()) return "its thinking belongs to the open tool loop";
    const ValidityProfile* const validity = context.env.validity;
    if (validity != nullptr && validity->calls_keep_thinking && info.has(PartKind::tool_call))
        return "the server wants thinking back with the calls that it led to";
    return {};
}

void DraftState::begin(std::string_view operation) {
    context.require_current(operation);
    plan.mend();
    overlay.open();
}

void DraftState::require_no(std::string_view rule, std::string_view operation, std::size_t message) const {
    if (rule.empty()) return;
    const Outline outline = overlay.outline();
    const Serial serial = message < outline.size() ? outline[message].serial : 0;
    throw Error(Errc::pinned, fmt::format("{}: {} message {}: {}", context.by, operation, serial, rule));
}

void DraftState::require_message(std::string_view operation, std::size_t message) {
    const std::size_t size = overlay.outline().size();
    if (message >= size) {
        throw Error(Errc::invalid_argument,
                    fmt::format("{}: {} message {}: there are only {}", context.by, operation, message, size));
    }
    require_no(rule_on(message), operation, message);
}

void DraftState::require_part(std::string_view operation, std::size_t message, std::size_t part) const {
    const MessageInfo& info = overlay.outline()[message];
    if (part >= info.parts.size()) {
        throw Error(Errc::invalid_argument, fmt::format("{}: {} part {} of message {}: it has {}", context.by,
                                                        operation, part, info.serial, info.parts.size()));
    }
    require_no(rule_on(message, part), operation, message);
}

void DraftState::require_own_thinking(std::size_t first, std::size_t last, std::span<const AnyMessage> messages) const {
    std::vector<Hash128> known;
    for (const AnyMessage message : messages) {
        const BoundFingerprint print = port->bound_fingerprint(message);
        if (!print.has_thinking) continue;
        for (std::size_t i = first; i < last && known.size() < last - first; ++i)
            known.push_back(port->bound_fingerprint(overlay.message(i)).thinking);
        if (std::ranges::find(known, print.thinking) == known.end())
            require_no("a new message has thinking that none of the replaced ones has", "replace", first);
    }
}

}  // namespace whittle::inline v0::detail
