#include "condense_forms.hpp"

#include "delimited_rows.hpp"
#include "row_picker.hpp"
#include "whittle/trimming/detail/result_class.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

namespace {

/// Which rows below the header stay. A row with more or fewer cells than others does; so does one that tells of an
/// error, if few do.
std::vector<bool> pick_table_rows(const TextTable& table, const CondensingConfig& config) {
    constexpr std::size_t longest_status = 40;
    const std::size_t number = table.rows.size() - table.header_rows;
    const std::size_t columns = cells_of(table.rows.front(), table.delimiter).size();
    RowPicker picker(number, config);
    for (std::size_t row = 0; row < number; ++row) {
        const std::vector<std::string_view> cells = cells_of(table.rows[table.header_rows + row], table.delimiter);
        const bool is_other = table.delimiter != ' ' && cells.size() != columns;
        bool has_error = is_other;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            picker.add_cell(row, i, cells[i]);
            has_error = has_error || (cells[i].size() <= longest_status && tells_of_error(cells[i]));
        }
        if (has_error) picker.add_error(row);
    }
    return picker.pick();
}

std::string table_legend(std::size_t rows, std::size_t left_out, Language language) {
    if (language == Language::chinese)
        return fmt::format("共 {} 行数据，省略 {} 行，[..n] 处省略 n 行；保留首尾、错误、罕见值和极值", grouped(rows),
                           grouped(left_out));
    return fmt::format(
        "{} of its {} rows are left out, [..n] stands for n of them; its ends, errors, rare values and "
        "the least and greatest numbers stay as far as there is room",
        grouped(left_out), grouped(rows));
}

}  // namespace

std::optional<CondensedText> condense_table(std::string_view text, const CondensingConfig& config, Language language) {
    const auto table = table_of(text);
    if (!table) return std::nullopt;
    const std::size_t number = table->rows.size() - table->header_rows;
    if (number <= static_cast<std::size_t>(config.cut_above_rows)) return std::nullopt;
    const std::vector<bool> stays = pick_table_rows(*table, config);
    CondensedText form{.format = TextFormat::table};
    std::size_t gap = 0;
    for (std::size_t i = 0; i < table->rows.size(); ++i) {
        if (i >= table->header_rows && !stays[i - table->header_rows]) {
            ++gap;
            continue;
        }
        if (gap > 0) append_lines_mark(form.text, std::exchange(gap, 0));
        form.text.append(table->rows[i]).append("\n");
    }
    if (gap > 0) append_lines_mark(form.text, gap);
    form.legend = table_legend(number, static_cast<std::size_t>(std::ranges::count(stays, false)), language);
    return form;
}

}  // namespace whittle::inline v0::detail
