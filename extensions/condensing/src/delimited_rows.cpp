#include "delimited_rows.hpp"

#include "whittle/base/detail/ascii.hpp"
#include "whittle/base/text.hpp"
#include "whittle/trimming/detail/line_forms.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace whittle::inline v0::detail {

namespace {

constexpr std::size_t fewest_rows = 8;

/// Where the record that starts at `at` ends: at a line feed outside of quotes, or the end. A quote opens where a cell
/// begins; one that does not close within some lines is none (an inch).
std::size_t end_of_record(std::string_view text, std::size_t at) noexcept {
    constexpr std::size_t most_lines = 50;
    const std::size_t first_line = std::min(text.find('\n', at), text.size());
    bool is_quoted = false;
    std::size_t lines = 0;
    for (std::size_t i = at; i < text.size(); ++i) {
        const bool begins_cell = i == at || std::string_view(",;|").find(text[i - 1]) != std::string_view::npos;
        if (text[i] == '"' && (is_quoted || begins_cell)) is_quoted = !is_quoted;
        if (text[i] != '\n') continue;
        if (!is_quoted) return i;
        if (++lines > most_lines) return first_line;
    }
    return is_quoted ? first_line : text.size();
}

std::vector<std::string_view> records_of(std::string_view text) {
    std::vector<std::string_view> records;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = end_of_record(text, at);
        records.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return records;
}

std::size_t count_delimiters(std::string_view row, char delimiter) noexcept {
    std::size_t number = 0;
    bool is_quoted = false;
    for (const char c : row) {
        if (c == '"') is_quoted = !is_quoted;
        number += c == delimiter && !is_quoted ? 1 : 0;
    }
    return number;
}

/// Names of columns: short, begun by a letter, none of them a path, an id or a piece of a program.
bool is_header(std::string_view row, char delimiter) {
    constexpr std::size_t longest_name = 60;
    constexpr std::ptrdiff_t most_digits = 3;
    const std::vector<std::string_view> cells = cells_of(row, delimiter);
    return std::ranges::all_of(cells, [](std::string_view cell) {
        return cell.size() <= longest_name && (cell.empty() || !is_digit(cell[0])) &&
               std::ranges::count_if(cell, is_digit) <= most_digits &&
               cell.find_first_of("{}();=<>/") == std::string_view::npos;
    });
}

/// Nineteen of twenty rows have as many delimiters as the first one, at least two.
bool is_delimited(const std::vector<std::string_view>& rows, char delimiter) {
    constexpr std::size_t fewest = 2;
    const std::size_t columns = count_delimiters(rows.front(), delimiter);
    if (columns < fewest) return false;
    const auto like =
        std::ranges::count_if(rows, [&](std::string_view row) { return count_delimiters(row, delimiter) == columns; });
    return 20 * static_cast<std::size_t>(like) >= 19 * rows.size();
}

std::optional<TextTable> delimited_table(std::string_view text) {
    std::vector<std::string_view> rows = records_of(text);
    if (rows.size() < fewest_rows || std::ranges::any_of(rows, [](std::string_view row) { return is_blank(row); }))
        return std::nullopt;
    for (const char delimiter : {'\t', ',', ';', '|'}) {
        if (is_delimited(rows, delimiter) && is_header(rows.front(), delimiter))
            return TextTable{.rows = std::move(rows), .delimiter = delimiter};
    }
    return std::nullopt;
}

/// "|---|:--:|"
bool is_rule(std::string_view row) noexcept {
    return row.find('-') != std::string_view::npos && row.find_first_not_of("|-: \t\r") == std::string_view::npos;
}

std::optional<TextTable> markdown_table(std::string_view text) {
    std::vector<std::string_view> rows = split_lines(text);
    if (rows.size() < fewest_rows || !is_rule(rows[1])) return std::nullopt;
    const bool are_rows =
        std::ranges::all_of(rows, [](std::string_view row) { return trim_view(row).starts_with('|'); });
    return are_rows ? std::optional(TextTable{2, std::move(rows), '|'}) : std::nullopt;
}

/// Three words or more, all in capitals: "NAME  READY  STATUS", "USER PID %CPU".
bool is_line_of_capitals(std::string_view line) noexcept {
    std::size_t words = 0;
    bool in_word = false;
    for (const char c : line) {
        if (is_lower(c) || is_digit(c)) return false;
        if (is_upper(c) && !in_word) ++words;
        in_word = !is_space(c);
    }
    return words >= 3;
}

/// Programs fill columns with blanks: each row has about as many words as there are names, or more.
std::optional<TextTable> aligned_table(std::string_view text) {
    std::vector<std::string_view> rows = split_lines(text);
    if (rows.size() < fewest_rows || !is_line_of_capitals(rows.front())) return std::nullopt;
    const std::size_t names = cells_of(rows.front(), ' ').size();
    const auto full =
        std::ranges::count_if(rows, [&](std::string_view row) { return 4 * cells_of(row, ' ').size() >= 3 * names; });
    if (10 * static_cast<std::size_t>(full) < 9 * rows.size()) return std::nullopt;
    return TextTable{1, std::move(rows), ' '};
}

std::string_view without_quotes(std::string_view cell) noexcept {
    cell = trim_view(cell);
    const bool is_quoted = cell.size() >= 2 && cell.front() == '"' && cell.back() == '"';
    return is_quoted ? cell.substr(1, cell.size() - 2) : cell;
}

}  // namespace

std::vector<std::string_view> cells_of(std::string_view row, char delimiter) {
    std::vector<std::string_view> cells;
    bool is_quoted = false;
    std::size_t begin = 0;
    for (std::size_t at = 0; at <= row.size(); ++at) {
        if (at < row.size() && row[at] == '"' && delimiter != ' ') is_quoted = !is_quoted;
        const bool ends = at == row.size() || (row[at] == delimiter && !is_quoted);
        if (!ends) continue;
        const bool is_gap = delimiter == ' ' && at == begin;
        if (!is_gap) cells.push_back(without_quotes(row.substr(begin, at - begin)));
        begin = at + 1;
    }
    return cells;
}

std::optional<TextTable> table_of(std::string_view text) {
    while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
    if (auto table = markdown_table(text)) return table;
    if (auto table = aligned_table(text)) return table;
    return delimited_table(text);
}

}  // namespace whittle::inline v0::detail
