#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace agent {

/// One line at the foot of a terminal that changes in place. It is never wider than the terminal: a wrapped line could
/// not be erased.
class StatusLine {
public:
    /// Not live: nothing is ever written. `columns`: 0 asks the terminal, each time.
    StatusLine(std::FILE* out, bool is_live, std::size_t columns = 0)
        : out_(out), is_live_(is_live), columns_(columns) {}
    ~StatusLine() { erase(); }
    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;

    /// ASCII. The same text again writes nothing.
    void show(std::string_view text);
    /// Takes the line away, so that something else can be written in its place.
    void erase();

private:
    [[nodiscard]] std::size_t columns() const;

    std::FILE* out_;
    bool is_live_;
    std::size_t columns_;
    std::string shown_{};
};

}  // namespace agent
