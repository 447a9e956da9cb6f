#include "request_view.hpp"

#include <algorithm>

namespace agent {
namespace {

using whittle::PartKind;
using whittle::PartView;
using whittle::Role;
using Traits = whittle::message_traits<whittle::openai::Message>;

void add_result(RequestView& view, const PartView& part) {
    const auto call = std::ranges::find(view.calls, part.call_id, &SeenCall::id);
    if (call != view.calls.end()) call->result += part.text;
}

}  // namespace

RequestView read_request(std::span<const whittle::openai::Message> messages) {
    RequestView view;
    for (const whittle::openai::Message& message : messages) {
        const Role role = Traits::role(message);
        if (role == Role::user) view.task = whittle::text_of(message);
        if (role == Role::assistant) view.replies.push_back(whittle::text_of(message));
        Traits::for_each_part(message, [&](const PartView& part) {
            if (part.kind == PartKind::tool_call)
                view.calls.push_back({std::string(part.call_id),
                                      std::string(part.tool),
                                      nlohmann::json::parse(part.text, nullptr, false),
                                      {}});
            if (part.kind == PartKind::tool_result) add_result(view, part);
        });
    }
    return view;
}

const SeenCall* RequestView::find(std::string_view tool, const char* name, std::string_view value) const {
    const auto found = std::ranges::find_if(calls, [&](const SeenCall& call) {
        return call.tool == tool && call.arguments.is_object() && call.arguments.value(name, "") == value;
    });
    return found == calls.end() ? nullptr : &*found;
}

std::string RequestView::reply_with(std::string_view start) const {
    const auto found = std::ranges::find_if(replies, [&](const std::string& text) { return text.starts_with(start); });
    return found == replies.end() ? std::string() : *found;
}

namespace {

/// What stands between `before` and `behind`, from byte `from` on.
std::optional<std::string> between(std::string_view text, std::size_t from, std::string_view before,
                                   std::string_view behind) {
    const std::size_t at = text.find(before, std::min(from, text.size()));
    if (at == std::string_view::npos) return std::nullopt;
    const std::size_t end = text.find(behind, at + before.size());
    if (end == std::string_view::npos) return std::nullopt;
    return std::string(text.substr(at + before.size(), end - at - before.size()));
}

/// The location in a notice that begins at byte `from`: of `read_offloaded` the reference, of another reader the place.
std::optional<std::string> location_from(std::string_view text, std::size_t from) {
    if (auto reference = between(text, from, "read_offloaded(\"", "\"")) return reference;
    return between(text, from, "Full text: ", " - read it with ");
}

}  // namespace

std::optional<std::string> cleared_location(std::string_view result) {
    if (!result.starts_with("[Old ") || !result.ends_with(']')) return std::nullopt;
    return location_from(result, 0);
}

std::optional<std::string> truncated_location(std::string_view result) {
    const std::size_t notice = result.find(" result truncated: ");
    return notice == std::string_view::npos ? std::nullopt : location_from(result, notice);
}

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.emplace_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace agent
