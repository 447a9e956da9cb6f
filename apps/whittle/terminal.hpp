#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

namespace whittle::cli {

/// Whether standard output may be coloured: a terminal, without NO_COLOR and --no-color.
[[nodiscard]] bool may_colour(bool no_color_flag);

/// Columns for lines of free text: those of the terminal on standard output, or what COLUMNS says; else 100. At
/// least 40.
[[nodiscard]] std::size_t text_columns();

/// Columns that a table may take: those of the terminal on standard output, or what COLUMNS says, at least 40; without
/// either as many as it needs.
[[nodiscard]] std::size_t table_columns();

/// One line on standard error that shows how far a long run is: on a terminal only, after half a second, ten times a
/// second at most. Removed at the end.
class Progress {
public:
    Progress();
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(std::string_view text);

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point next_;
    bool is_terminal_;
    bool is_shown_ = false;
};

}  // namespace whittle::cli
