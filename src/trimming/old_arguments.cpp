#include "old_arguments.hpp"

#include "json_strings.hpp"
#include "read_form.hpp"
#include "whittle/base/detail/json.hpp"
#include "whittle/base/text.hpp"
#include "whittle/trimming/detail/line_forms.hpp"

#include <algorithm>
#include <array>
#include <limits>

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

/// One text of a call without its old lines.
class OldText {
public:
    OldText(const LineIndex& index, int limit, bool is_edit) : index_(index), limit_(limit), is_edit_(is_edit) {}

    [[nodiscard]] std::string trim(std::string_view text) {
        const bool is_a_patch = is_patch(text);
        bool is_first = true;
        for (const std::string_view line : split_lines(text)) {
            const bool stays = is_a_patch ? stays_in_patch(line) : (is_first && !is_edit_) || is_young(line);
            is_first = false;
            if (!stays) {
                ++gap_;
                continue;
            }
            close_gap();
            out_.append(out_.empty() && !has_lines_ ? "" : "\n").append(line);
            has_lines_ = true;
        }
        close_gap();
        return std::move(out_);
    }

    [[nodiscard]] int oldest() const noexcept { return oldest_; }

private:
    [[nodiscard]] bool stays_in_patch(std::string_view line) {
        if (is_patch_mark(line)) return true;
        if (line.starts_with('-')) return false;
        return is_young(line.substr(line.empty() ? 0 : 1));
    }

    /// Short lines go with the line before.
    [[nodiscard]] bool is_young(std::string_view line) {
        const std::string_view normal = trimmed_line(line);
        if (normal.size() < shortest_telling_line) return gap_ == 0;
        const int touched = std::max(index_.touched(index_.find(normal)), 0);
        if (touched < limit_) return false;
        oldest_ = std::min(oldest_, touched);
        return true;
    }

    void close_gap() {
        if (gap_ == 0) return;
        if (has_lines_) out_ += '\n';
        append_gap(out_, gap_);
        has_lines_ = true;
        gap_ = 0;
    }

    const LineIndex& index_;
    int limit_;
    bool is_edit_;
    std::string out_{};
    bool has_lines_ = false;
    std::uint64_t gap_ = 0;
    int oldest_ = std::numeric_limits<int>::max();
};

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
                                         const LineIndex& index, int now, const ArgumentRules& rules, int& next) {
    next = std::numeric_limits<int>::max();
    if (arguments.size() <= rules.least_bytes || (!is_edit && !rules.other_tools)) return std::nullopt;
    std::string out;
    std::size_t at = 0;
    bool has_reference = false;
    const auto replace = [&](const JsonString& string, std::string value) {
        if (!has_reference)
            value.append(value.ends_with(']') && value.find('\n') == std::string::npos ? " " : "\n").append(reference);
        has_reference = true;
        out.append(arguments.substr(at, string.begin - at));
        append_json_literal(out, value);
        at = string.end;
    };
    for (const JsonString& string : json_strings(arguments)) {
        const std::string& value = string.value;
        if (value.size() < shortest_value) continue;
        const auto lines = static_cast<std::size_t>(std::ranges::count(value, '\n'));
        if (is_edit && is_key_of(string.key, old_keys)) {
            std::string marker;
            append_gap(marker, lines + 1);
            replace(string, std::move(marker));
        } else if ((is_edit && is_key_of(string.key, new_keys)) ||
                   (rules.other_tools && lines >= least_lines_of_other)) {
            OldText old(index, now - rules.age_calls, is_edit);
            std::string trimmed = old.trim(value);
            if (old.oldest() != std::numeric_limits<int>::max())
                next = std::min(next, old.oldest() + rules.age_calls + 1);
            if (trimmed.size() + least_gain_of_text < value.size()) replace(string, std::move(trimmed));
        }
    }
    if (at == 0) return std::nullopt;
    return out.append(arguments.substr(at));
}

namespace {

/// Whether a text that a call wrote may go.
bool is_old_text(std::string_view text, const LineIndex& index, int since, int limit) {
    const bool is_a_patch = is_patch(text);
    std::size_t telling = 0;
    std::size_t dead = 0;
    int newest = since;
    for (std::string_view line : split_lines(text)) {
        if (is_a_patch && (is_patch_mark(line) || line.starts_with('-'))) continue;
        if (is_a_patch && !line.empty()) line.remove_prefix(1);
        const LineId id = index.find(trimmed_line(line));
        if (id == 0) continue;
        const bool is_dead = index.died(id) >= index.touched(id);
        ++telling;
        dead += is_dead ? 1 : 0;
        if (!is_dead) newest = std::max(newest, index.touched(id));
    }
    return (telling > 0 && 10 * dead >= 9 * telling) || newest < limit;
}

}  // namespace

std::optional<std::string> old_texts_marked(std::string_view arguments, bool is_edit, const TextMark& mark,
                                            const LineIndex& index, int now, int since, const ArgumentRules& rules,
                                            int& next) {
    next = now + calls_until_next_look(now - since);
    if (arguments.size() <= rules.least_bytes || (!is_edit && !rules.other_tools)) return std::nullopt;
    const std::size_t shortest = std::max(rules.least_bytes / 2, shortest_value);
    std::string out;
    std::size_t at = 0;
    for (const JsonString& string : json_strings(arguments)) {
        const std::string& value = string.value;
        if (value.size() < shortest) continue;
        const auto line_feeds = static_cast<std::size_t>(std::ranges::count(value, '\n'));
        const bool is_replaced = is_edit && is_key_of(string.key, old_keys);
        const bool is_written = (is_edit && is_key_of(string.key, new_keys)) || line_feeds >= least_lines_of_other;
        if (!is_replaced && !(is_written && is_old_text(value, index, since, now - rules.age_calls))) continue;
        out.append(arguments.substr(at, string.begin - at));
        append_json_literal(out, mark.of_argument(string.key, line_feeds + 1, value.size()));
        at = string.end;
    }
    if (at == 0) return std::nullopt;
    return out.append(arguments.substr(at));
}

}  // namespace whittle::inline v0::detail
