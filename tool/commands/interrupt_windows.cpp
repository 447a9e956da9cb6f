#if defined(_WIN32)

#    include "interrupt.hpp"

#    if !defined(WIN32_LEAN_AND_MEAN)
#        define WIN32_LEAN_AND_MEAN
#    endif
#    if !defined(NOMINMAX)
#        define NOMINMAX
#    endif
#    include <windows.h>

#    include <atomic>
#    include <csignal>
#    include <cstdlib>

namespace whittle::cli {
namespace {

std::atomic<int> signal_that_came = 0;

StopSource& stop_source() {
    static StopSource source;
    return source;
}

/// On a thread that the system makes. When the console is closed or the user logs off, the program ends once this
/// returns, or after some seconds: it waits for these.
BOOL WINAPI note_event(DWORD event) {
    const int signal = event == CTRL_C_EVENT ? SIGINT : SIGTERM;
    int none = 0;
    if (!signal_that_came.compare_exchange_strong(none, signal)) return FALSE;  // the second one ends the program
    stop_source().request_stop();
    if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) ::Sleep(INFINITE);
    return TRUE;
}

}  // namespace

SignalWatch::SignalWatch() {
    (void)stop_source();
    ::SetConsoleCtrlHandler(note_event, TRUE);
}

SignalWatch::~SignalWatch() { ::SetConsoleCtrlHandler(note_event, FALSE); }

StopToken interrupt_token() { return stop_source().get_token(); }

int signal_received() noexcept { return signal_that_came; }

void throw_if_interrupted() {
    if (signal_that_came != 0) throw Interrupted(signal_that_came.load());
}

void die_of(int signal) { std::_Exit(128 + signal); }

}  // namespace whittle::cli

#endif
