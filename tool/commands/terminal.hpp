#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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

/// How much of something is done.
struct Share {
    double done = 0.0;
    double all = 0.0;  ///< 0: nobody knows
    std::string_view unit{};

    [[nodiscard]] static Share of_bytes(std::uint64_t done, std::uint64_t all) noexcept {
        constexpr double megabyte = 1e6;
        return {static_cast<double>(done) / megabyte, static_cast<double>(all) / megabyte, "MB"};
    }
};

/// One line on standard error that shows how far a long run is: on a terminal only, after half a second, ten times a
/// second at most. Removed at the end.
class Progress {
public:
    Progress();
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(std::string_view text);
    /// The text, how much is done, at which rate since the last `begin`, and how long the rest takes at that rate.
    void show(std::string_view text, const Share& share);
    /// What is done is counted from here on.
    void begin() { begin_ = Clock::now(); }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point begin_ = Clock::now();
    Clock::time_point next_;
    bool is_terminal_;
    bool is_shown_ = false;
};

}  // namespace whittle::cli
