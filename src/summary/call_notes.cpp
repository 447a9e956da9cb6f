#include "call_notes.hpp"

#include "identifiers.hpp"
#include "text_shape.hpp"
#include "whittle/base/detail/ascii.hpp"
#include "whittle/base/detail/json.hpp"

#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

constexpr std::array<std::string_view, 13> writing_words{"write",  "edit",   "patch", "create", "replace",
                                                         "insert", "apply",  "save",  "append", "delete",
                                                         "move",   "rename", "update"};

using Names = std::array<std::string_view, 4>;
constexpr Names command_names{"command", "cmd", "script", "commands"};
constexpr Names starts{"offset", "start_line", "line_start", "startLine"};
constexpr Names ends{"limit", "end_line", "line_end", "endLine"};
constexpr std::array<std::string_view, 7> item_names{"content", "step", "title", "task", "text", "description", "name"};
/// What a tool for files is told to do, beside a path.
constexpr std::array<std::string_view, 3> reading_verbs{"view", "read", "show"};
constexpr std::array<std::string_view, 9> writing_verbs{"create", "str_replace", "insert", "undo_edit", "write",
                                                        "edit",   "replace",     "append", "delete"};
/// Programs that show what is in files.
constexpr std::array<std::string_view, 9> reading_programs{"cat ", "head ", "tail ", "sed -n ", "less ",
                                                           "nl ",  "grep ", "rg ",   "awk "};
constexpr std::array<std::string_view, 5> patch_heads{
    "*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "+++ b/"};

template <std::size_t N>
const std::string* find_text(const JsonValue& object, const std::array<std::string_view, N>& names) {
    for (const std::string_view name : names) {
        if (const std::string* text = object.find_string(name)) return text;
    }
    return nullptr;
}

std::optional<std::int64_t> find_number(const JsonValue& object, const Names& names) {
    for (const std::string_view name : names) {
        if (const auto member = object.find(name)) return member->integer();
    }
    return std::nullopt;
}

/// Lines that a reading call names. `limit` counts lines, the other ends are lines.
std::string range_of(const JsonValue& arguments) {
    if (const auto range = arguments.find("view_range"); range && range->is_array() && range->size() == 2) {
        const auto first = range->values()[0].integer();
        const auto last = range->values()[1].integer();
        if (first && last) return *last < 0 ? fmt::format("from {}", *first) : fmt::format("{}-{}", *first, *last);
    }
    const auto first = find_number(arguments, starts);
    const auto last = find_number(arguments, ends);
    if (!first && !last) return {};
    const std::int64_t begin = std::clamp<std::int64_t>(first.value_or(1), 0, INT32_MAX);
    if (!last) return fmt::format("from {}", begin);
    const bool is_count = arguments.find("limit").has_value();
    const std::int64_t number = std::clamp<std::int64_t>(*last, 0, INT32_MAX);
    return fmt::format("{}-{}", begin, is_count ? begin + number - 1 : number);
}

void add(CallNotes& notes, FileTouch touch) {
    constexpr std::size_t most_files = 200;
    const auto known = std::ranges::find(notes.files, touch.path, &FileTouch::path);
    if (known == notes.files.end()) {
        if (notes.files.size() < most_files) notes.files.push_back(std::move(touch));
    } else {
        known->is_written |= touch.is_written;
        known->is_read |= touch.is_read;
    }
}

/// Files of a patch in one of the usual forms.
void add_patched(std::string_view text, CallNotes& notes) {
    for (const std::string_view head : patch_heads) {
        for (std::size_t at = text.find(head); at != std::string_view::npos; at = text.find(head, at + 1)) {
            if (at > 0 && text[at - 1] != '\n') continue;
            const std::string_view rest = text.substr(at + head.size());
            const std::string_view path = rest.substr(0, rest.find_first_of("\r\n\t"));
            if (is_path(path)) add(notes, {.path = std::string(path), .is_written = true});
        }
    }
}

/// "10-80" of `sed -n '10,80p'`.
std::string range_of_sed(std::string_view command) {
    const std::size_t sed = command.find("sed -n");
    if (sed == std::string_view::npos) return {};
    const std::string_view rest = command.substr(sed);
    const auto first = std::ranges::find_if(rest, is_digit);
    const auto comma = std::find_if_not(first, rest.end(), is_digit);
    if (comma == rest.end() || *comma != ',') return {};
    const auto end = std::find_if_not(comma + 1, rest.end(), is_digit);
    if (end == comma + 1 || end == rest.end() || *end != 'p') return {};
    return std::string(first, comma) + "-" + std::string(comma + 1, end);
}

void add_command(std::string_view text, CallNotes& notes) {
    constexpr std::size_t longest = 200;
    constexpr std::size_t most_named = 8;
    const std::string_view line = text.substr(0, text.find('\n'));
    notes.command = grapheme_prefix(line, longest);
    const bool is_read = holds_any(line, reading_programs);
    const std::string range = range_of_sed(line);
    for_each_identifier(line, [&](std::string_view word, IdentifierKind kind) {
        if (kind != IdentifierKind::path || notes.files.size() >= most_named) return;
        if (word.find("://") != word.npos || word.starts_with("/dev/")) return;
        const std::string_view before = line.substr(0, static_cast<std::size_t>(word.data() - line.data()));
        const std::string_view there = before.substr(0, before.find_last_not_of(" \"'") + 1);
        const bool is_written = there.ends_with('>') || there.ends_with("tee") || there.ends_with("tee -a");
        const bool reads = is_read && !is_written;
        add(notes, {std::string(word), reads ? range : std::string(), reads, is_written});
    });
}

/// The items of a list in which each has a status and a text.
std::vector<std::string> plan_of(const std::vector<JsonValue>& list) {
    std::vector<std::string> items;
    for (const JsonValue& item : list) {
        const std::string* status = item.find_string("status");
        const std::string* text = find_text(item, item_names);
        if (status == nullptr || text == nullptr) return {};
        items.push_back(fmt::format("[{}] {}", *status, *text));
    }
    return items;
}

/// Without the white space and the bullet in front.
std::string_view without_marks_of_lists(std::string_view line) {
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t\r")));
    if (line.starts_with("- ") || line.starts_with("* ")) line.remove_prefix(2);
    return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

/// A list of check boxes as text: its lines, if there is one.
std::vector<std::string> check_list_of(std::string_view text) {
    std::vector<std::string> items;
    bool has_box = false;
    while (!text.empty()) {
        const std::string_view line = without_marks_of_lists(text.substr(0, text.find('\n')));
        text.remove_prefix(std::min(text.size(), text.find('\n') == text.npos ? text.size() : text.find('\n') + 1));
        has_box |= line.starts_with("[ ]") || line.starts_with("[x]") || line.starts_with("[X]");
        if (!is_blank(line)) items.emplace_back(line);
    }
    return has_box ? items : std::vector<std::string>{};
}

/// A tool whose name says that it keeps a plan.
bool is_planning_tool(std::string_view tool) {
    constexpr std::array<std::string_view, 3> words{"todo", "plan", "task"};
    return holds_any(ascii_lower(tool), words);
}

/// Takes the plan that a member holds: a list of items with their states, or check boxes as text. A tool for plans may
/// also clear its list. `items`: of a list.
void add_plan(std::string_view tool, const JsonValue& value, const std::vector<JsonValue>& items, CallNotes& notes) {
    const bool is_list = value.is_array();
    if (notes.is_plan || (!is_list && !is_planning_tool(tool))) return;
    const std::string* text = value.string();
    notes.plan = is_list ? plan_of(items) : text != nullptr ? check_list_of(*text) : notes.plan;
    notes.is_plan = !notes.plan.empty() || (is_list && items.empty() && is_planning_tool(tool));
}

}  // namespace

bool is_writing_tool(std::string_view tool) { return holds_any(ascii_lower(tool), writing_words); }

CallNotes notes_of_call(std::string_view tool, std::string_view arguments) {
    CallNotes notes;
    const JsonValue json = parse_json(arguments);
    if (!json.is_object()) return notes;
    const std::string* told = find_text(json, command_names);
    const bool is_shown = told != nullptr && is_one_of(*told, reading_verbs);
    const bool is_verb = is_shown || (told != nullptr && is_one_of(*told, writing_verbs));
    const bool is_written = is_verb ? !is_shown : is_writing_tool(tool);
    const std::string range = is_written ? std::string() : range_of(json);
    for (const auto& [name, value] : json.members()) {
        const bool is_command = is_one_of(name, command_names);
        const std::vector<JsonValue> items = value.is_array() ? value.values() : std::vector<JsonValue>{};
        add_plan(tool, value, items, notes);
        // A command may come as a list of words, the last of which is a script.
        const std::string* text = is_command && !items.empty() ? items.back().string() : value.string();
        if (text == nullptr) continue;
        if (is_command && !is_verb && notes.command.empty()) add_command(*text, notes);
        if (!is_command && is_path(*text)) add(notes, {*text, range, !is_written, is_written});
        add_patched(*text, notes);
    }
    return notes;
}

}  // namespace whittle::inline v0::detail
