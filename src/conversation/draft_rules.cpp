#include "whittle/conversation/draft.hpp"

#include <fmt/format.h>

// What a draft may edit.

namespace whittle::inline v0 {

namespace {

/// The messages that a draft must leave alone; `spare_open_results`: not the results of the open round. Linear.
std::vector<bool> find_protected(const Outline& outline, std::string_view by,
                                 const std::function<bool(const MessageInfo&)>* pins, bool spare_open_results) {
    std::vector<bool> result(outline.size(), false);
    const Serial open = outline.open_group();
    for (std::size_t i = 0; i < outline.size(); ++i) {
        const MessageInfo& info = outline[i];
        const bool is_spared = spare_open_results && info.has(PartKind::tool_result);
        const bool is_open = open != 0 && info.group == open && !is_spared;
        const bool is_pinned = info.pinned || (pins != nullptr && *pins && (*pins)(info));
        const bool is_own_summary = origin_of(info.mark) == Origin::summary && info.mark->by == by;
        result[i] = (info.role == Role::system && !is_own_summary) || is_open || is_pinned;
    }
    if (const auto user = outline.newest_user()) result[*user] = true;
    return result;
}

}  // namespace

bool Draft::is_protected(std::size_t message) const {
    if (!protected_) protected_ = find_protected(side_->outline(), by_, env_.pins, allow_open_results_);
    const std::size_t base = is_open_ ? base_[message] : message;
    return base != inserted && (*protected_)[base];
}

void Draft::require_current(std::string_view attempted) const {
    if (is_current()) return;
    throw Error(Errc::conflict, by_ + ": " + std::string(attempted) +
                                    ": the conversation changed since the edits were planned; plan again");
}

void Draft::require(bool condition, std::string_view attempted, std::size_t message, std::string_view rule) const {
    if (condition) return;
    const Serial serial = message < outline().size() ? outline()[message].serial : 0;
    throw Error(Errc::pinned, fmt::format("{}: {} message {}: {}", by_, attempted, serial, rule));
}

/// What keeps a message as it is; empty if nothing does.
std::string_view Draft::rule_on(std::size_t message) const {
    if (allow_pinned_ || !is_protected(message)) return {};
    return "it is pinned, a system text, the newest user message or in the open round";
}

/// What keeps a part as it is, beside what keeps its message; empty if nothing does.
std::string_view Draft::rule_on(std::size_t message, std::size_t part) const {
    if (allow_pinned_) return {};
    const MessageInfo& info = outline()[message];
    const Mark& mark = mark_of(info, part);
    const bool is_stored = origin_of(mark) == Origin::placeholder && !mark->stored.empty();
    const bool is_others = origin_of(mark) != Origin::original && mark->by != by_;
    if (is_others && !(allow_stored_ && is_stored)) return "another middleware made this part";
    if (info.parts[part].kind == PartKind::thinking && is_in_open_loop(message))
        return "its thinking belongs to the open tool loop";
    if (info.parts[part].kind == PartKind::thinking && env_.validity != nullptr && env_.validity->calls_keep_thinking &&
        info.has(PartKind::tool_call))
        return "the server wants thinking back with the calls that it led to";
    return {};
}

bool Draft::is_in_open_loop(std::size_t message) const {
    if (!open_loop_) open_loop_ = outline().open_loop().value_or(outline().size());
    return message >= *open_loop_;
}

bool Draft::may_edit(std::size_t message) const {
    if (message >= outline().size() || !rule_on(message).empty()) return false;
    for (std::size_t p = 0; p < outline()[message].parts.size(); ++p) {
        if (!rule_on(message, p).empty()) return false;
    }
    return true;
}

bool Draft::may_edit(std::size_t message, std::size_t part) const {
    return message < outline().size() && part < outline()[message].parts.size() && rule_on(message).empty() &&
           rule_on(message, part).empty();
}

void Draft::require_editable(std::string_view attempted, std::size_t message) const {
    if (message >= outline().size()) {
        throw Error(Errc::invalid_argument, by_ + ": " + std::string(attempted) + " message " +
                                                std::to_string(message) + ": there are only " +
                                                std::to_string(outline().size()));
    }
    const std::string_view rule = rule_on(message);
    require(rule.empty(), attempted, message, rule);
}

void Draft::require_own_part(std::string_view attempted, std::size_t message, std::size_t part) const {
    const MessageInfo& info = outline()[message];
    if (part >= info.parts.size()) {
        throw Error(Errc::invalid_argument, by_ + ": " + std::string(attempted) + " part " + std::to_string(part) +
                                                " of message " + std::to_string(info.serial) + ": it has " +
                                                std::to_string(info.parts.size()));
    }
    const std::string_view rule = rule_on(message, part);
    require(rule.empty(), attempted, message, rule);
}

}  // namespace whittle::inline v0
