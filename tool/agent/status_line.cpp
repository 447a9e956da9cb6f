#include "status_line.hpp"

#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>

namespace agent {

std::size_t StatusLine::columns() const {
    if (columns_ > 0) return columns_;
    winsize size{};
    return ::ioctl(::fileno(out_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void StatusLine::show(std::string_view text) {
    if (!is_live_) return;
    const std::string_view fitting = whittle::grapheme_prefix(text, columns() - 1);
    if (fitting == shown_) return;
    shown_ = fitting;
    fmt::print(out_, "\r\033[K{}", shown_);
    std::fflush(out_);
}

void StatusLine::erase() {
    if (shown_.empty()) return;
    shown_.clear();
    std::fputs("\r\033[K", out_);
    std::fflush(out_);
}

}  // namespace agent
