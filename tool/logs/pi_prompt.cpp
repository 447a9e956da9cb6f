#include "pi_prompt.hpp"

#include "pi_form.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

ToolSpec pi_tool(const ordered_json& tool) {
    ToolSpec spec{.name = std::string(text_at(tool, "name")), .description = std::string(text_at(tool, "description"))};
    if (const ordered_json* parameters = tree_at(tool, "parameters")) spec.parameters = to_json_text(*parameters);
    return spec;
}

/// What stands under its names, in the order in which these came.
template <typename Names>
auto in_order(const Names& names) {
    std::vector<const typename Names::mapped_type*> list;
    for (const auto& [name, value] : names) list.push_back(&value);
    std::ranges::sort(list, std::less<>(), [](const auto* value) { return value->order; });
    return list;
}

}  // namespace

void PiPrompt::change(const ordered_json& message) {
    LogNotes unsaid;  // of blocks: a text is all that may be here
    const ordered_json content = pi_content(find_member(message, "content"), unsaid);
    if (content.is_string() && !content.empty()) texts_.push_back(content.get<std::string>());
    if (const ordered_json* sections = tree_at(message, "sections")) change_sections(*sections);
    change_tools(message);
}

void PiPrompt::begin_with(const ordered_json& message) {
    *this = PiPrompt();
    change(message);
}

std::string PiPrompt::text() const {
    std::string text;
    const auto add = [&](const std::string& part) {
        if (!part.empty()) text.append(text.empty() ? "" : "\n\n").append(part);
    };
    for (const std::string& part : texts_) add(part);
    for (const auto* section : in_order(sections_)) add(section->value);
    return text;
}

std::vector<ToolSpec> PiPrompt::tools() const {
    std::vector<ToolSpec> tools;
    for (const auto* tool : in_order(tools_)) tools.push_back(tool->value);
    return tools;
}

void PiPrompt::change_sections(const ordered_json& sections) {
    if (!sections.is_object()) return;
    for (const auto& [name, value] : sections.items()) {
        if (value.is_null()) sections_.erase(name);
        if (!value.is_string()) continue;
        const auto section = sections_.try_emplace(name, Named<std::string>{.order = next_++}).first;
        section->second.value = value.get<std::string>();
    }
}

void PiPrompt::change_tools(const ordered_json& message) {
    if (const ordered_json* removed = tree_at(message, "toolsRemoved")) {
        for (const ordered_json& tool : *removed) tools_.erase(std::string(text_at(tool, "name")));
    }
    const ordered_json* added = tree_at(message, "toolsAdded");
    if (added == nullptr) return;
    for (const ordered_json& tool : *added) {
        const std::string_view name = text_at(tool, "name");
        if (name.empty()) continue;
        const auto known = tools_.try_emplace(std::string(name), Named<ToolSpec>{.order = next_++}).first;
        known->second.value = pi_tool(tool);
    }
}

}  // namespace whittle::inline v0::logs
