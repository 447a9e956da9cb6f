#include "step_keys.hpp"
#include "whittle/base/detail/json.hpp"
#include "whittle/token_saving/detail/word_text.hpp"

#include <algorithm>
#include <initializer_list>

namespace whittle::inline v0::detail {

namespace {

std::vector<std::string_view> split_at_blanks(std::string_view text) {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        while (at < text.size() && !is_space(text[at])) ++at;
        if (at > begin) words.push_back(text.substr(begin, at - begin));
        ++at;
    }
    return words;
}

/// `12:30`, `0.31s`, `15ms`, `0x7f`
bool is_volatile(std::string_view word) noexcept {
    const std::string_view core = core_of(word);
    if (core.empty() || !is_digit(core.front())) return false;
    if (core.starts_with("0x")) return true;
    const std::size_t unit = core.find_first_not_of("0123456789.,:");
    const std::string_view rest = unit == std::string_view::npos ? std::string_view() : core.substr(unit);
    const bool is_clock = rest.empty() && core.find(':') != std::string_view::npos;
    return is_clock || rest == "s" || rest == "ms" || rest == "us" || rest == "ns";
}

bool is_plain_number(std::string_view word) noexcept {
    return !core_of(word).empty() && core_of(word).find_first_not_of("0123456789.,") == std::string_view::npos;
}

bool is_unit_of_time(std::string_view word) noexcept {
    const std::string_view core = core_of(word);
    return core == "s" || core == "ms" || core == "sec" || core.starts_with("second") || core.starts_with("millisec");
}

/// Without blanks between the tokens; in strings a run of blanks is one.
std::string normal_arguments(std::string_view json) {
    std::string result;
    bool in_string = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (c == '"' && (i == 0 || json[i - 1] != '\\')) in_string = !in_string;
        if (is_space(c) && (!in_string || (!result.empty() && result.back() == ' '))) continue;
        result += is_space(c) ? ' ' : c;
    }
    return result;
}

/// The first of these members that is a string.
std::optional<std::string> text_member(const JsonValue& json, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        if (const std::string* text = json.find_string(name)) return *text;
    }
    return std::nullopt;
}

}  // namespace

std::string normal_observation(std::string_view text, bool is_shortened) {
    const std::vector<std::string_view> words = split_at_blanks(text);
    std::string result;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (is_volatile(word)) continue;
        if (is_plain_number(word) && i + 1 < words.size() && is_unit_of_time(words[i + 1])) continue;
        if (is_shortened && word.find_first_of("0123456789/") != std::string_view::npos) continue;
        result.append(word).append(1, ' ');
    }
    return result;
}

std::vector<StepKey> keys_of(std::span<const Step> steps) {
    std::vector<StepKey> keys;
    keys.reserve(steps.size());
    for (const Step& step : steps) {
        StepKey key{.is_call = !step.action.empty()};
        key.input = hash128(step.action);
        key.input = hash128(key.is_call ? normal_arguments(step.action_input) : normal_observation(step.thought, false),
                            key.input);
        key.whole = hash128(normal_observation(step.observation, step.is_shortened), key.input);
        keys.push_back(key);
    }
    return keys;
}

std::optional<FileEdit> edit_of(const Step& step) {
    if (step.action.empty()) return std::nullopt;
    const JsonValue json = parse_json(step.action_input);
    if (!json.is_object()) return std::nullopt;
    auto path = text_member(json, {"file_path", "path", "filename", "file", "filepath"});
    if (!path) return std::nullopt;
    auto before = text_member(json, {"old_string", "oldText", "old_str", "old_text", "search"});
    auto after = before ? text_member(json, {"new_string", "newText", "new_str", "new_text", "replace"})
                        : text_member(json, {"content", "file_text"});
    if (!after) return std::nullopt;
    return FileEdit{*std::move(path), std::move(before), *std::move(after)};
}

bool reverts_edit(const FileEdit& edit, const FileEdit& earlier) {
    if (edit.path != earlier.path) return false;
    if (edit.before && earlier.before) return *edit.before == earlier.after && edit.after == *earlier.before;
    return !edit.before && !earlier.before && edit.after == earlier.after;
}

}  // namespace whittle::inline v0::detail
