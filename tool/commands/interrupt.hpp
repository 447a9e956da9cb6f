#pragma once

#include "whittle/base/platform.hpp"

#include <exception>
#include <thread>

namespace whittle::cli {

/// Ctrl-C, SIGTERM or SIGHUP came. Unwinding removes temporary files; then the program dies of the signal.
struct Interrupted final : std::exception {
    explicit Interrupted(int number) : signal(number) {}
    [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
    int signal;
};

/// As long as it lives these signals are noticed instead of ending the program, and a closed pipe is a write error. The
/// first one requests a stop, from a thread that waits for it, since a handler may not; a second one ends the program
/// at once. SIGHUP stays ignored where it was, as under nohup. One at a time.
class SignalWatch {
public:
    SignalWatch();
    ~SignalWatch();
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;

private:
    std::thread thread_{};
};

/// Stopped once a signal came: for what runs longer than between two calls of `throw_if_interrupted`.
[[nodiscard]] StopToken interrupt_token();
/// The signal that came, or 0.
[[nodiscard]] int signal_received() noexcept;
/// Throws `Interrupted` if one came.
void throw_if_interrupted();
/// Ends the program by that signal, so that a shell sees it.
[[noreturn]] void die_of(int signal);

}  // namespace whittle::cli
