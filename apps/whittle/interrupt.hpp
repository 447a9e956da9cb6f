#pragma once

#include <exception>

namespace whittle::cli {

/// Ctrl-C, SIGTERM or SIGHUP came. Unwinding removes temporary files; then the program dies of the signal.
struct Interrupted final : std::exception {
    explicit Interrupted(int number) : signal(number) {}
    [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
    int signal;
};

/// From here on these signals are noticed instead of ending the program, and a closed pipe is a write error.
void catch_signals();
/// Throws `Interrupted` if one came.
void throw_if_interrupted();
/// Ends the program by that signal, so that a shell sees it.
[[noreturn]] void die_of(int signal);

}  // namespace whittle::cli
