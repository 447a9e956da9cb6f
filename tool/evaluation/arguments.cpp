#include "arguments.hpp"

#include "characters.hpp"
#include "identifiers.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace whittle::inline v0::evaluation {
namespace {

constexpr std::string_view patch_begin = "*** Begin Patch";

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
    return std::ranges::find(words, word) != words.end();
}

/// Members whose text is new: nothing of it had to be known.
bool is_written(std::string_view key) {
    constexpr std::array<std::string_view, 10> keys{"new_string",       "content", "newText", "new_str",    "file_text",
                                                    "replacement_text", "replace", "text",    "new_source", "thought"};
    return is_one_of(key, keys);
}

/// Members whose text has to stand in a file word for word.
bool is_replaced(std::string_view key) {
    constexpr std::array<std::string_view, 4> keys{"old_string", "oldText", "old_str", "search"};
    return is_one_of(key, keys);
}

void add_new(std::vector<std::string>& list, std::string text, std::size_t most) {
    if (list.size() < most && std::ranges::find(list, text) == list.end()) list.push_back(std::move(text));
}

std::string text_of_number(double number) {
    std::string text = fmt::format("{}", number);
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

/// Collects without building the document, so that its depth does not matter.
class ArgumentReader final : public nlohmann::json_sax<nlohmann::json> {
public:
    explicit ArgumentReader(std::vector<Argument>& to) : to_(to) {}

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t value) override { return add(std::to_string(value), true); }
    bool number_unsigned(number_unsigned_t value) override { return add(std::to_string(value), true); }
    bool number_float(number_float_t value, const string_t&) override { return add(text_of_number(value), true); }
    bool string(string_t& value) override { return add(std::move(value), false); }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override { return open(true); }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(false); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override {
        levels_.back().key = std::move(name);
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override { return false; }

private:
    struct Level {
        bool is_object = false;
        std::string key{};
    };

    [[nodiscard]] std::string current_key() const { return levels_.empty() ? std::string() : levels_.back().key; }
    bool open(bool is_object) {
        levels_.push_back({is_object, is_object ? std::string() : current_key()});
        return true;
    }
    bool close() {
        levels_.pop_back();
        return true;
    }
    bool add(std::string text, bool is_number) {
        const bool is_member = levels_.size() == 1 && levels_.front().is_object;
        to_.push_back({current_key(), std::move(text), is_number, is_member});
        return true;
    }

    std::vector<Argument>& to_;
    std::vector<Level> levels_{};
};

/// What follows `mark` at the start of each line that begins with one of `marks`.
template <std::size_t N>
std::vector<std::string> paths_behind(std::string_view text, const std::array<std::string_view, N>& marks) {
    std::vector<std::string> paths;
    for (const std::string_view line : lines_of(text)) {
        for (const std::string_view mark : marks) {
            if (line.starts_with(mark) && line.size() > mark.size()) paths.emplace_back(line.substr(mark.size()));
        }
    }
    return paths;
}

constexpr std::int64_t shortest_line = 20;

void add_replaced_lines(std::string_view text, CallNeeds& needs, std::size_t most) {
    constexpr std::size_t most_of_one_text = 3;
    std::size_t taken = 0;
    for (const std::string_view line : lines_of(text)) {
        const std::string_view bare = stripped(line);
        if (count_characters(bare) < shortest_line) continue;
        if (taken++ == most_of_one_text) return;
        add_new(needs.lines, std::string(bare), most);
    }
}

/// Lines that a patch takes out, and those around them.
void add_patched_lines(std::string_view patch, CallNeeds& needs, std::size_t most) {
    constexpr std::size_t most_of_one_patch = 6;
    std::size_t taken = 0;
    for (const std::string_view line : lines_of(patch)) {
        if (!line.starts_with('-') && !line.starts_with(' ')) continue;
        const std::string_view bare = stripped(line.substr(1));
        if (line.starts_with("---") || count_characters(bare) < shortest_line) continue;
        if (taken++ == most_of_one_patch) return;
        add_new(needs.lines, std::string(bare), most);
    }
}

constexpr std::size_t most_identifiers = 8;

void add_identifiers(std::string_view text, CallNeeds& needs) {
    IdentifierScanner scanner(text);
    for (std::string_view found = scanner.next(); !found.empty(); found = scanner.next()) {
        const std::int64_t length = count_characters(found);
        if (length >= 8 && length <= 120) add_new(needs.identifiers, std::string(found), most_identifiers);
    }
}

bool is_short_value(std::string_view text) {
    const std::int64_t length = count_characters(text);
    return length >= 5 && length <= 60 && !has_two_spaces(text);
}

void add_needs(const Argument& argument, CallNeeds& needs, std::vector<std::string>& values) {
    constexpr std::size_t most_lines = 3;
    constexpr std::size_t any = SIZE_MAX;
    const std::string& text = argument.text;
    if (argument.is_number) {
        if (text.size() >= 4) add_new(values, text, any);
    } else if (is_replaced(argument.key)) {
        add_replaced_lines(text, needs, most_lines);
    } else if (text.find(patch_begin) != std::string::npos || text.starts_with("diff --git")) {
        add_patched_lines(text, needs, most_lines);
        for (std::string& path : paths_behind<2>(text, {"*** Update File: ", "*** Delete File: "}))
            add_new(needs.identifiers, std::move(path), most_identifiers);
    } else if (!is_written(argument.key)) {
        add_identifiers(text, needs);
        if (is_short_value(text)) add_new(values, text, any);
    }
}

bool is_edit_tool(std::string_view tool) {
    const std::string name = ascii_lower(tool);
    constexpr std::array<std::string_view, 8> words{"edit",    "write",      "create",      "insert",
                                                    "replace", "applypatch", "apply_patch", "notebook"};
    if (name.starts_with("todo") || name.find("issue") != std::string::npos) return false;
    return std::ranges::any_of(words, [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

/// The member that names the file, in the order of how sure that is.
const Argument* find_path(const std::vector<Argument>& arguments) {
    constexpr std::array<std::string_view, 7> keys{"file_path",     "path",     "filename",   "file",
                                                   "notebook_path", "filePath", "target_file"};
    for (const std::string_view key : keys) {
        const auto found = std::ranges::find_if(arguments, [&](const Argument& a) {
            return a.is_member && !a.is_number && a.key == key && count_characters(a.text) >= 8 &&
                   a.text.find('\n') == std::string::npos;
        });
        if (found != arguments.end()) return &*found;
    }
    return nullptr;
}

}  // namespace

std::vector<Argument> read_arguments(std::string_view json) {
    std::vector<Argument> arguments;
    if (json.empty()) return arguments;
    ArgumentReader reader(arguments);
    if (nlohmann::json::sax_parse(json.begin(), json.end(), &reader)) return arguments;
    arguments.clear();
    arguments.push_back({.text = std::string(json)});
    return arguments;
}

CallNeeds needs_of(const std::vector<Argument>& arguments, bool with_values) {
    constexpr std::size_t max_values = 8;
    CallNeeds needs;
    std::vector<std::string> values;
    for (const Argument& argument : arguments) add_needs(argument, needs, values);
    for (std::string& value : values) {
        if (!with_values || needs.values.size() == max_values) break;
        if (std::ranges::find(needs.identifiers, value) == needs.identifiers.end())
            needs.values.push_back(std::move(value));
    }
    return needs;
}

std::vector<std::string> written_paths(std::string_view tool, const std::vector<Argument>& arguments) {
    std::vector<std::string> paths;
    const Argument* path = is_edit_tool(tool) ? find_path(arguments) : nullptr;
    if (path != nullptr) paths.push_back(path->text);
    for (const Argument& argument : arguments) {
        if (!argument.is_member || argument.is_number || argument.text.find(patch_begin) == std::string::npos) continue;
        for (std::string& file : paths_behind<2>(argument.text, {"*** Add File: ", "*** Update File: "}))
            paths.push_back(std::move(file));
    }
    return paths;
}

}  // namespace whittle::inline v0::evaluation
