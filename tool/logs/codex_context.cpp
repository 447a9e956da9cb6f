#include "codex_context.hpp"

#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace whittle::inline v0::logs {
namespace {

/// How a text begins and ends that Codex wrote as the user.
struct CodexContextFrame {
    std::string_view begin;
    std::string_view end;
};

constexpr std::array codex_user_frames{
    CodexContextFrame{"<environment_context>", "</environment_context>"},
    CodexContextFrame{"# AGENTS.md instructions", "</INSTRUCTIONS>"},
    CodexContextFrame{"<user_instructions>", "</user_instructions>"},
    CodexContextFrame{"<skill>", "</skill>"},
    CodexContextFrame{"<user_shell_command>", "</user_shell_command>"},
    CodexContextFrame{"<turn_aborted>", "</turn_aborted>"},
    CodexContextFrame{"<subagent_notification>", "</subagent_notification>"},
    CodexContextFrame{"<hook_prompt ", "</hook_prompt>"},
    CodexContextFrame{"<extension_context>", "</extension_context>"},
    CodexContextFrame{"<goal_context>", "</goal_context>"},
    CodexContextFrame{"<codex_internal_context", "</codex_internal_context>"},
    CodexContextFrame{"<next_prompt_suggestion>", "</next_prompt_suggestion>"},
    CodexContextFrame{"Warning: The maximum number of unified exec processes you can keep open is", ""},
    CodexContextFrame{"Warning: Your account was flagged for potentially high-risk cyber activity", ""},
    CodexContextFrame{"Warning: apply_patch was requested via ", "Use the apply_patch tool instead of exec_command."},
};

constexpr std::array<std::string_view, 11> codex_developer_prefixes{
    "<permissions instructions>", "<model_switch>",        "<collaboration_mode>",     "<multi_agent_mode>",
    "<realtime_conversation>",    "<skills_instructions>", "<personality_spec>",       "<token_budget>",
    "<context_window>",           "<rollout_budget>",      "<context_window_guidance>"};

bool is_same_codex_letter(char a, char b) noexcept {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return lower(a) == lower(b);
}

bool has_codex_prefix(std::string_view text, std::string_view begin) {
    return text.size() >= begin.size() && std::ranges::equal(text.substr(0, begin.size()), begin, is_same_codex_letter);
}

/// What a client gave along, under a name of its own: <external_name>...</external_name>.
bool is_codex_external_context(std::string_view text) {
    constexpr std::string_view begin = "<external_";
    if (!text.starts_with(begin)) return false;
    const std::string_view name = text.substr(begin.size(), text.find_first_of(" >") - begin.size());
    return text.ends_with("</external_" + std::string(name) + ">");
}

bool is_codex_context_text(std::string_view text, bool is_developer) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return false;
    text = text.substr(first, text.find_last_not_of(blanks) + 1 - first);
    if (is_developer)
        return std::ranges::any_of(codex_developer_prefixes, [&](auto begin) { return has_codex_prefix(text, begin); });
    if (is_codex_external_context(text)) return true;
    return std::ranges::any_of(codex_user_frames, [&](const CodexContextFrame& frame) {
        return text.size() >= frame.begin.size() + frame.end.size() && has_codex_prefix(text, frame.begin) &&
               has_codex_prefix(text.substr(text.size() - frame.end.size()), frame.end);
    });
}

}  // namespace

bool is_codex_context(const ordered_json& item) {
    const bool is_developer = text_at(item, "role") == "developer";
    const ordered_json* content = detail::find_member(item, "content");
    if (content == nullptr || !content->is_array())
        return is_codex_context_text(text_at(item, "content"), is_developer);
    return std::ranges::any_of(
        *content, [&](const ordered_json& part) { return is_codex_context_text(text_at(part, "text"), is_developer); });
}

}  // namespace whittle::inline v0::logs
