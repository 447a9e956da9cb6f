#include "whittle/trimming/detail/result_class.hpp"

#include "whittle/base/detail/ascii.hpp"
#include "whittle/base/detail/json.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace whittle::inline v0::detail {

namespace {

/// The bare name in lower case, without what separates its words.
std::string squeezed(std::string_view tool) {
    if (const std::size_t bare = tool.rfind("__"); bare != std::string_view::npos) tool.remove_prefix(bare + 2);
    std::string name = ascii_lower(tool);
    std::erase_if(name, [](char c) { return c == '_' || c == '-' || c == '.' || c == ' '; });
    return name;
}

constexpr std::string_view read_names =
    "readtextfile readmultiplefiles readmediafile notebookread readnotebook readresource read readfile"
    " readfiles view viewfile viewfiles open openfile cat catfile fetchfile getfilecontent getfile"
    " getfilecontents readmanyfiles strreplacebasededittool";
constexpr std::string_view search_names =
    "grep rg search grepsearch searchfilecontent codebasesearch searchfiles findinfiles searchcode ripgrep"
    " grepfiles";
constexpr std::string_view listing_names =
    "glob ls find findfile list listdir listdirectory listfiles filesearch globsearch findfiles";
constexpr std::string_view edit_names =
    "applypatch applydiff todowrite taskupdate taskcreate updateplan notebookedit updatetodolist"
    " managetodolist";
constexpr std::array<std::string_view, 4> edit_prefixes{"multi", "file", "string", ""};
constexpr std::array<std::string_view, 8> edit_verbs{"edit",    "write",      "create", "insert",
                                                     "replace", "strreplace", "patch",  "delete"};
constexpr std::array<std::string_view, 7> edit_suffixes{"file",     "infile",       "editor", "string",
                                                        "notebook", "stringinfile", ""};
constexpr std::array<std::string_view, 8> command_words{"bash",       "shell",   "exec",       "terminal",
                                                        "powershell", "command", "taskoutput", "process"};

bool is_edit_name(std::string_view name) {
    if (is_word_of(name, edit_names)) return true;
    for (const std::string_view prefix : edit_prefixes) {
        if (!name.starts_with(prefix)) continue;
        for (const std::string_view verb : edit_verbs) {
            const std::string_view rest = name.substr(prefix.size());
            if (rest.starts_with(verb) && is_one_of(rest.substr(verb.size()), edit_suffixes)) return true;
        }
    }
    return false;
}

/// The text of a command argument: a string, or the words of one, of which a shell's "-c" has the last.
std::optional<std::string> command_of(const JsonValue& value) {
    if (const std::string* const line = value.string()) return *line;
    if (!value.is_array() || value.size() == 0) return std::nullopt;
    const std::vector<JsonValue> words = value.values();
    if (!std::ranges::all_of(words, [](const JsonValue& word) { return word.string() != nullptr; }))
        return std::nullopt;
    const auto word = [&](std::size_t i) -> const std::string& { return *words[i].string(); };
    if (words.size() > 2 && (word(1) == "-c" || word(1) == "-lc" || word(1) == "-Command"))
        return word(words.size() - 1);
    std::string joined;
    for (std::size_t i = 0; i < words.size(); ++i) joined.append(i == 0 ? "" : " ").append(word(i));
    return joined;
}

/// Whether a tool runs command lines, by its name.
bool is_command_tool(std::string_view tool) {
    const std::string name = squeezed(tool);
    return std::ranges::any_of(command_words,
                               [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

}  // namespace

bool is_word_of(std::string_view word, std::string_view words) noexcept {
    if (word.empty() || word.find(' ') != std::string_view::npos) return false;
    for (std::size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
    }
    return false;
}

std::optional<ResultClass> class_of_tool(std::string_view tool) {
    const std::string name = squeezed(tool);
    if (is_word_of(name, read_names)) return ResultClass::read;
    if (is_edit_name(name)) return ResultClass::edit;
    if (is_word_of(name, search_names)) return ResultClass::search;
    if (is_word_of(name, listing_names)) return ResultClass::listing;
    return std::nullopt;
}

std::optional<std::string> command_line_of(std::string_view arguments) {
    constexpr std::array<const char*, 4> keys{"command", "cmd", "script", "commandline"};
    if (!std::ranges::any_of(keys, [&](const char* key) { return arguments.find(key) != std::string_view::npos; }))
        return std::nullopt;
    const JsonValue json = parse_json(arguments);
    for (const char* const key : keys) {
        const auto found = json.find(key);
        if (!found) continue;
        if (auto command = command_of(*found)) return command;
    }
    return std::nullopt;
}

CallClass class_of_call(std::string_view tool, std::string_view arguments) {
    CallClass call{.by_name = class_of_tool(tool)};
    if (call.by_name) return call;
    if (const auto command = command_line_of(arguments)) call.by_command = class_of_command(*command);
    call.runs_commands = is_command_tool(tool);
    return call;
}

ResultForm form_of_result(const CallClass& call, std::string_view text, std::span<const std::string_view> lines) {
    constexpr std::size_t long_enough_for_shape = 1'200;
    constexpr std::size_t longest_word_of_edit = 600;
    ResultForm form;
    form.kind = call.by_name         ? *call.by_name
                : call.by_command    ? *call.by_command
                : call.runs_commands ? ResultClass::shell
                                     : ResultClass::other;
    const bool is_edit = form.kind == ResultClass::edit;
    const TextShape shape = is_edit && text.size() <= longest_word_of_edit ? TextShape{} : shape_of(lines);
    const bool is_program = form.kind == ResultClass::shell || form.kind == ResultClass::other;
    if (is_program && text.size() > long_enough_for_shape) {
        if (shape.is_content()) form.kind = ResultClass::read;
        if (shape.is_hits) form.kind = ResultClass::search;
    }
    if (is_edit && call.by_command && text.size() > longest_word_of_edit)
        form.kind = shape.is_content() ? ResultClass::read : shape.is_hits ? ResultClass::search : ResultClass::shell;
    if (form.kind == ResultClass::search && shape.is_numbered) form.kind = ResultClass::read;
    const bool has_content = form.kind == ResultClass::read || form.kind == ResultClass::edit;
    form.marks = form.kind == ResultClass::search ? LineMarks::hits
                 : !has_content                   ? LineMarks::none
                 : shape.is_numbered              ? LineMarks::numbers
                 : shape.is_diff                  ? LineMarks::diff
                                                  : LineMarks::some_hits;
    return form;
}

}  // namespace whittle::inline v0::detail
