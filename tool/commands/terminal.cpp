#include "terminal.hpp"

#include "masked.hpp"
#include "output.hpp"
#include "shown.hpp"
#include "system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace whittle::cli {
namespace {

/// What COLUMNS says, else the terminal, else `otherwise`.
std::size_t columns_or(std::size_t otherwise) {
    constexpr std::size_t fewest = 40;
    std::size_t columns = 0;
    if (const char* given = std::getenv("COLUMNS"); given != nullptr) columns = std::strtoul(given, nullptr, 10);
    if (columns == 0) columns = system::columns(system::standard_output);
    return columns == 0 ? otherwise : std::clamp<std::size_t>(columns, fewest, 1'000);
}

/// One less than the terminal has, since what reaches its last column may wrap, and then only a part is removed.
std::size_t progress_columns() {
    constexpr std::size_t most = 100;
    const std::size_t columns = system::columns(system::standard_error);
    return columns > 1 ? std::min(most, columns - 1) : most;
}

}  // namespace

bool may_colour(bool no_color_flag) {
    const char* no_color = std::getenv("NO_COLOR");
    const bool refused = no_color_flag || (no_color != nullptr && *no_color != '\0');
    return !refused && system::is_terminal(system::standard_output);
}

std::size_t text_columns() {
    constexpr std::size_t without_terminal = 100;
    return columns_or(without_terminal);
}

std::size_t table_columns() { return columns_or(SIZE_MAX); }

Progress::Progress()
    : next_(Clock::now() + std::chrono::milliseconds(500)), is_terminal_(system::is_terminal(system::standard_error)) {}

Progress::~Progress() {
    if (is_shown_) write_error_stream("\r\x1b[K");
}

void Progress::show(std::string_view text) {
    if (!is_terminal_ || Clock::now() < next_) return;
    next_ = Clock::now() + std::chrono::milliseconds(100);
    is_shown_ = true;
    write_error_stream(fmt::format("\r\x1b[K{}", clipped_to_width(shown(printed(text)), progress_columns())));
}

void Progress::show(std::string_view text, const Share& share) {
    if (!is_terminal_ || Clock::now() < next_) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    std::string line(text);
    line += share.all > 0.0 ? fmt::format("{:.0f} of {:.0f} {}", share.done, share.all, share.unit)
                            : fmt::format("{:.0f} {}", share.done, share.unit);
    if (share.done > 0.0 && seconds > 0.0) {
        constexpr double rounded = 10.0;
        const double rate = share.done / seconds;
        line += fmt::format(", {:.{}f} {}/s", rate, rate < rounded ? 1 : 0, share.unit);
        if (share.all > 0.0) line += fmt::format(", {:.0f} s left", std::max(0.0, share.all - share.done) / rate);
    }
    show(line);
}

}  // namespace whittle::cli
