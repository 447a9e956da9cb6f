#include "cache_breakpoints.hpp"

#include "whittle/base/text.hpp"

#include <algorithm>

namespace whittle::inline v0::anthropic::detail {

namespace {

bool has_breakpoint(const ordered_json& block) {
    const ordered_json* breakpoint = find_member(block, "cache_control");
    return breakpoint != nullptr && !breakpoint->is_null();
}

bool can_take_breakpoint(const ordered_json& block) {
    if (!block.is_object() || has_breakpoint(block)) return false;
    return !is_thinking(block) && !is_blank_text(block) && find_string(block, "type") != "compaction";
}

/// Whether `set_breakpoint` would find a place; also false if a block behind that place is marked already.
bool has_place(const ordered_json& message) {
    const ordered_json* content = find_member(message, "content");
    if (content == nullptr) return false;
    if (content->is_string()) return !is_blank(content->get_ref<const std::string&>());
    if (!content->is_array() || std::any_of(content->begin(), content->end(), has_breakpoint)) return false;
    return std::any_of(content->begin(), content->end(), can_take_breakpoint);
}

/// The newest message before `end` that can have a breakpoint.
std::optional<std::size_t> last_place(std::span<const Message> messages, std::size_t end) {
    for (std::size_t i = std::min(end, messages.size()); i-- > 0;) {
        if (has_place(messages[i].json())) return i;
    }
    return std::nullopt;
}

std::optional<std::size_t> last_user_place(std::span<const Message> messages, std::size_t end) {
    for (std::size_t i = std::min(end, messages.size()); i-- > 0;) {
        if (find_string(messages[i].json(), "role") == "user" && has_place(messages[i].json())) return i;
    }
    return std::nullopt;
}

}  // namespace

std::size_t count_breakpoints(const ordered_json& message) {
    const ordered_json* content = find_member(message, "content");
    if (content == nullptr || !content->is_array()) return 0;
    std::size_t breakpoints = 0;
    for (const ordered_json& block : *content) {
        breakpoints += has_breakpoint(block) ? 1 : 0;
        const ordered_json* items = find_member(block, "content");
        if (items == nullptr || !items->is_array()) continue;
        breakpoints += static_cast<std::size_t>(std::count_if(items->begin(), items->end(), has_breakpoint));
    }
    return breakpoints;
}

std::vector<std::size_t> plan_breakpoints(std::span<const Message> messages, std::optional<std::size_t> stable,
                                          bool is_agents, std::size_t room) {
    std::vector<std::size_t> places;
    const auto add = [&](std::optional<std::size_t> place) {
        if (!place || places.size() == room) return;
        if (std::ranges::find(places, *place) == places.end()) places.push_back(*place);
    };
    const auto last = last_place(messages, messages.size());
    if (is_agents) add(last);
    if (stable) add(last_place(messages, *stable));
    if (is_agents && last) add(last_user_place(messages, *last));
    return places;
}

bool set_breakpoint(ordered_json& content, const ordered_json& breakpoint) {
    if (content.is_string()) content = ordered_json::array({{{"type", "text"}, {"text", content}}});
    if (!content.is_array()) return false;
    for (auto block = content.rbegin(); block != content.rend(); ++block) {
        if (!can_take_breakpoint(*block)) continue;
        (*block)["cache_control"] = breakpoint;
        return true;
    }
    return false;
}

}  // namespace whittle::inline v0::anthropic::detail
