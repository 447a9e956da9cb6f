#include "old_arguments.hpp"

#include "json_strings.hpp"
#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/detail/json.hpp"
#include "whittle/base/text.hpp"
#include "whittle/trimming/detail/line_forms.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

constexpr std::size_t shortest_value = 80;
constexpr std::size_t least_lines_of_other = 4;  // line feeds
constexpr std::size_t least_gain_of_text = 40;

constexpr std::array<std::string_view, 4> old_keys{"oldstring", "oldtext", "oldstr", "oldcontent"};
constexpr std::array<std::string_view, 6> new_keys{"newstring", "newtext",  "newstr",
                                                   "content",   "filetext", "newcontent"};

template <std::size_t N>
bool is_key_of(std::string_view key, const std::array<std::string_view, N>& keys) {
    std::string name = ascii_lower(key);
    std::erase(name, '_');
    return std::ranges::find(keys, name) != keys.end();
}

bool is_patch(std::string_view text) noexcept {
    return text.find("*** Begin Patch") != std::string_view::npos || text.starts_with("diff --git");
}

bool is_patch_mark(std::string_view line) noexcept {
    return line.starts_with("*** ") || line.starts_with("@@") || line.starts_with("diff --git ") ||
           line.starts_with("--- ") || line.starts_with("+++ ");
}

void add_patch(std::string_view patch, CallText& text) {
    for (const std::string_view line : split_lines(patch)) {
        if (line.starts_with('-') && !line.starts_with("---")) {
            text.gone.append(line.substr(1)).append("\n");
        } else {
            const bool is_marked = line.starts_with('+') || line.starts_with(' ');
            text.shown.append(line.substr(is_marked ? 1 : 0)).append("\n");
        }
    }
}

/// One text of a call without lines that came up before call `limit` only. `oldest`: when the oldest of the others did,
/// where that is less. Short lines go with the line before.
std::string without_old_lines(std::string_view text, const LineIndex& index, int limit, bool is_edit, int& oldest) {
    GappedText out;
    const auto is_young = [&](std::string_view line) {
        const std::string_view normal = trim_view(line);
        if (normal.size() < shortest_telling_line) return out.gap() == 0;
        const int touched = std::max(index.touched(index.find(normal)), 0);
        if (touched >= limit) oldest = std::min(oldest, touched);
        return touched >= limit;
    };
    const auto stays_in_patch = [&](std::string_view line) {
        if (is_patch_mark(line)) return true;
        return !line.starts_with('-') && is_young(line.substr(line.empty() ? 0 : 1));
    };
    const bool is_a_patch = is_patch(text);
    bool is_first = true;
    for (const std::string_view line : split_lines(text)) {
        const bool is_head = std::exchange(is_first, false) && !is_edit;
        if (is_a_patch ? stays_in_patch(line) : is_head || is_young(line)) {
            out.add(line);
        } else {
            out.skip();
        }
    }
    return out.take();
}

/// Whether a text that a call wrote may go.
bool is_old_text(std::string_view text, const LineIndex& index, int since, int limit) {
    const bool is_a_patch = is_patch(text);
    std::size_t telling = 0;
    std::size_t dead = 0;
    int newest = since;
    for (std::string_view line : split_lines(text)) {
        if (is_a_patch && (is_patch_mark(line) || line.starts_with('-'))) continue;
        if (is_a_patch && !line.empty()) line.remove_prefix(1);
        const LineId id = index.find(trim_view(line));
        if (id == 0) continue;
        const bool is_dead = index.died(id) >= index.touched(id);
        ++telling;
        dead += is_dead ? 1 : 0;
        if (!is_dead) newest = std::max(newest, index.touched(id));
    }
    return (telling > 0 && 10 * dead >= 9 * telling) || newest < limit;
}

/// What an edit takes out of a file.
bool is_replaced(const JsonString& text, bool is_edit) { return is_edit && is_key_of(text.key, old_keys); }
/// What it puts in.
bool is_put_in(const JsonString& text, bool is_edit) { return is_edit && is_key_of(text.key, new_keys); }

bool may_lose_texts(std::string_view arguments, const TrimmingConfig& config) noexcept {
    return arguments.size() > static_cast<std::size_t>(config.min_argument_bytes);
}

/// The arguments with what `value_of` gives in place of strings of `shortest` bytes and more. Nullopt: it gives
/// nothing.
std::optional<std::string> replace_strings(std::string_view arguments, std::size_t shortest,
                                           FunctionRef<std::optional<std::string>(const JsonString&)> value_of) {
    std::string out;
    std::size_t at = 0;
    for (const JsonString& string : json_strings(arguments)) {
        if (string.value.size() < shortest) continue;
        const std::optional<std::string> value = value_of(string);
        if (!value) continue;
        out.append(arguments.substr(at, string.begin - at));
        append_json_literal(out, *value);
        at = string.end;
    }
    if (at == 0) return std::nullopt;
    return out.append(arguments.substr(at));
}

}  // namespace

CallText text_of_call(std::string_view arguments, bool is_edit) {
    CallText text;
    for (const JsonString& string : json_strings(arguments)) {
        if (is_edit && is_key_of(string.key, old_keys)) {
            text.gone.append(string.value).append("\n");
        } else if (is_patch(string.value)) {
            add_patch(string.value, text);
        } else {
            text.shown.append(string.value).append("\n");
        }
    }
    return text;
}

std::optional<std::string> old_arguments(std::string_view arguments, bool is_edit, std::string_view reference,
                                         const LineIndex& index, int now, const TrimmingSettings& settings, int& next) {
    const int age = settings.rules.ages.rare;
    constexpr int never = std::numeric_limits<int>::max();
    next = never;
    if (!may_lose_texts(arguments, settings.config)) return std::nullopt;
    bool has_reference = false;
    const auto with_reference = [&](std::string value) {
        if (!std::exchange(has_reference, true))
            value.append(value.ends_with(']') && value.find('\n') == std::string::npos ? " " : "\n").append(reference);
        return value;
    };
    return replace_strings(arguments, shortest_value, [&](const JsonString& string) -> std::optional<std::string> {
        const auto line_feeds = static_cast<std::size_t>(count_line_feeds(string.value));
        if (is_replaced(string, is_edit)) return with_reference(gap_mark(line_feeds + 1));
        const bool is_other = line_feeds >= least_lines_of_other;
        if (!is_other && !is_put_in(string, is_edit)) return std::nullopt;
        int oldest = never;
        std::string trimmed = without_old_lines(string.value, index, now - age, is_edit, oldest);
        if (oldest != never) next = std::min(next, oldest + age + 1);
        if (trimmed.size() + least_gain_of_text >= string.value.size()) return std::nullopt;
        return with_reference(std::move(trimmed));
    });
}

std::optional<std::string> old_texts_marked(std::string_view arguments, bool is_edit, const TextMark& mark,
                                            const LineIndex& index, int now, int since,
                                            const TrimmingSettings& settings, int& next) {
    next = now + calls_until_next_look(now - since);
    if (!may_lose_texts(arguments, settings.config)) return std::nullopt;
    const std::size_t shortest =
        std::max(static_cast<std::size_t>(settings.config.min_argument_bytes) / 2, shortest_value);
    return replace_strings(arguments, shortest, [&](const JsonString& string) -> std::optional<std::string> {
        const auto line_feeds = static_cast<std::size_t>(count_line_feeds(string.value));
        const bool is_written = is_put_in(string, is_edit) || line_feeds >= least_lines_of_other;
        const bool goes =
            is_replaced(string, is_edit) ||
            (is_written && is_old_text(string.value, index, since, now - settings.rules.written_age_calls));
        if (!goes) return std::nullopt;
        return mark.of_argument(string.key, line_feeds + 1, string.value.size());
    });
}

}  // namespace whittle::inline v0::detail
