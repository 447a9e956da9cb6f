#include "request_view.hpp"

#include <algorithm>

namespace agent {
namespace {

using whittle::PartKind;
using whittle::PartView;
using whittle::Role;
using Traits = whittle::message_traits<whittle::openai::Message>;

void add_result(RequestView& view, const PartView& part) {
    const auto call = std::ranges::find(view.calls, part.call_id, &CallSeen::id);
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

const CallSeen* RequestView::find(std::string_view tool, const char* name, std::string_view value) const {
    const auto found = std::ranges::find_if(calls, [&](const CallSeen& call) {
        return call.tool == tool && call.arguments.is_object() && call.arguments.value(name, "") == value;
    });
    return found == calls.end() ? nullptr : &*found;
}

std::string RequestView::reply_with(std::string_view start) const {
    const auto found = std::ranges::find_if(replies, [&](const std::string& text) { return text.starts_with(start); });
    return found == replies.end() ? std::string() : *found;
}

std::optional<std::string> cleared_location(std::string_view result) {
    constexpr std::string_view start = "[Old ";
    constexpr std::string_view label = "Full text: ";
    constexpr std::string_view reader = " - read it with ";
    if (!result.starts_with(start) || !result.ends_with(']')) return std::nullopt;
    const std::size_t at = result.find(label);
    const std::size_t end = result.rfind(reader);
    if (at == std::string_view::npos || end == std::string_view::npos || end < at) return std::nullopt;
    return std::string(result.substr(at + label.size(), end - at - label.size()));
}

std::optional<std::string> truncated_location(std::string_view result) {
    constexpr std::string_view notice = " result truncated: ";
    constexpr std::string_view label = "Full text: ";
    constexpr std::string_view reader = " - read the part you need with ";
    const std::size_t at = result.find(label, std::min(result.find(notice), result.size()));
    const std::size_t end = result.find(reader, std::min(at, result.size()));
    if (end == std::string_view::npos) return std::nullopt;
    return std::string(result.substr(at + label.size(), end - at - label.size()));
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
