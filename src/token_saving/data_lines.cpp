#include "data_lines.hpp"

#include "whittle/token_saving/detail/word_text.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

using Text = std::string_view;

/// `key = value`, `key=value`, `key := value`: prose has no such sign.
bool is_assignment(Text trimmed) noexcept { return trimmed.find('=', 1) != Text::npos; }

/// `key: value` or `- key: value`, and `key:` alone. A key is one word, or stands in quotes.
bool is_yaml(Text trimmed) noexcept {
    while (trimmed.starts_with("- ")) trimmed = trim_view(trimmed.substr(2));
    if (trimmed.empty()) return false;
    const char quote = trimmed.front() == '"' || trimmed.front() == '\'' ? trimmed.front() : '\0';
    std::size_t end = 0;
    if (quote != '\0') {
        end = trimmed.find(quote, 1);
        end = end == Text::npos ? end : end + 1;
    } else {
        end = trimmed.find_first_of(" \t:");
    }
    if (end == Text::npos || end == 0 || end >= trimmed.size() || trimmed[end] != ':') return false;
    return end + 1 == trimmed.size() || trimmed[end + 1] == ' ' || trimmed[end + 1] == '\t';
}

/// A separator between two values with no blank behind it, a tab, or a row between bars.
bool is_row(Text trimmed) noexcept {
    if (trimmed.starts_with('|') || trimmed.find('\t') != Text::npos) return true;
    for (std::size_t i = 1; i + 1 < trimmed.size(); ++i) {
        if (trimmed[i] != ',' && trimmed[i] != ';' && trimmed[i] != '|') continue;
        const bool is_number = is_digit(trimmed[i - 1]) && is_digit(trimmed[i + 1]);
        const bool is_end_of_quote = trimmed[i + 1] == '"' || trimmed[i + 1] == '\'';  // as in: "yes," he said
        if (!is_space(trimmed[i + 1]) && !is_number && (!is_end_of_quote || trimmed[i - 1] == '"')) return true;
    }
    return false;
}

/// A line that `diff` wrote outside of a hunk: `+new`, `-old`, `< old`, `> new`, `! changed`. A list has a blank behind
/// its dash.
bool is_change(Text line) noexcept {
    if (line.size() < 2) return false;
    const char first = line[0];
    const char second = line[1];
    if (first == '<' || first == '>' || first == '!') return second == ' ';
    return (first == '+' || first == '-') && !is_space(second);
}

/// The lines of a hunk that are still to come.
class Hunk {
public:
    /// `@@ -1,3 +1,4 @@`; without a count it is one line.
    [[nodiscard]] static std::optional<Hunk> from(Text line) noexcept {
        if (!line.starts_with("@@ -")) return std::nullopt;
        const std::size_t plus = line.find(" +");
        if (plus == Text::npos) return std::nullopt;
        return Hunk(count_in(line.substr(4, plus - 4)), count_in(line.substr(plus + 2)));
    }

    /// Whether `line` is the next one of it.
    bool take(Text line) noexcept {
        if (old_ <= 0 && new_ <= 0) return line.starts_with('\\');  // "\ No newline at end of file"
        const char first = line.empty() ? ' ' : line.front();
        if (first != ' ' && first != '+' && first != '-' && first != '\\' && first != '\r') return false;
        if (first != '+' && first != '\\') --old_;
        if (first != '-' && first != '\\') --new_;
        return true;
    }

private:
    Hunk(std::int64_t old_lines, std::int64_t new_lines) noexcept : old_(old_lines), new_(new_lines) {}

    /// Of "start,count".
    static std::int64_t count_in(Text range) noexcept {
        range = range.substr(0, range.find(' '));
        const std::size_t comma = range.find(',');
        std::int64_t count = 1;
        if (comma != Text::npos) std::from_chars(range.data() + comma + 1, range.data() + range.size(), count);
        return count;
    }

    std::int64_t old_;
    std::int64_t new_;
};

/// Goes through the lines once, paragraph by paragraph.
class Finder {
public:
    Finder(Text text, std::span<const Stretch> lines) : text_(text), lines_(lines), is_data_(lines.size(), false) {}

    std::vector<bool> run() {
        for (std::size_t i = 0; i < lines_.size(); ++i) look_at(i);
        end_paragraph(lines_.size());
        end_row(lines_.size());
        return std::move(is_data_);
    }

private:
    [[nodiscard]] Text line(std::size_t i) const {
        return text_.substr(lines_[i].begin, lines_[i].end - lines_[i].begin);
    }

    void look_at(std::size_t i) {
        const Text whole = line(i);
        const Text trimmed = trim_view(whole);
        const auto opened = Hunk::from(whole);
        const bool is_in_hunk = opened || (hunk_ && hunk_->take(whole));
        if (opened) hunk_ = opened;
        if (!is_in_hunk) hunk_.reset();
        const bool is_setting = is_assignment(trimmed) || is_yaml(trimmed);
        is_data_[i] = is_in_hunk || is_setting || is_row(trimmed) || is_change(whole);
        if (trimmed.empty()) {
            end_paragraph(i);
            first_ = i + 1;
        }
        settings_ += is_setting ? 1 : 0;
        const auto commas = std::ranges::count(trimmed, ',');
        if (commas != commas_) {
            end_row(i);
            commas_ = commas;
            first_of_row_ = i;
        }
    }

    void end_paragraph(std::size_t end) {
        if (settings_ > 0 && 3 * settings_ >= end - first_) mark(first_, end);
        settings_ = 0;
    }

    void end_row(std::size_t end) {
        if (commas_ >= 2 && end - first_of_row_ >= 3) mark(first_of_row_, end);
    }

    void mark(std::size_t first, std::size_t end) {
        std::fill(is_data_.begin() + static_cast<std::ptrdiff_t>(first),
                  is_data_.begin() + static_cast<std::ptrdiff_t>(end), true);
    }

    Text text_;
    std::span<const Stretch> lines_;
    std::vector<bool> is_data_;
    std::optional<Hunk> hunk_{};
    std::size_t first_ = 0;         // of the paragraph
    std::size_t settings_ = 0;      // in it
    std::size_t first_of_row_ = 0;  // of the lines with the same number of commas
    std::ptrdiff_t commas_ = 0;
};

}  // namespace

std::vector<bool> find_data_lines(std::string_view text, std::span<const Stretch> lines) {
    return Finder(text, lines).run();
}

}  // namespace whittle::inline v0::detail
