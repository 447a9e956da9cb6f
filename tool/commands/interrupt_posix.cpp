#if !defined(_WIN32)

#    include "interrupt.hpp"

#    include <fcntl.h>
#    include <unistd.h>

#    include <array>
#    include <atomic>
#    include <cerrno>
#    include <csignal>
#    include <cstdlib>
#    include <system_error>

namespace whittle::cli {
namespace {

constexpr std::array<int, 3> caught{SIGINT, SIGTERM, SIGHUP};

/// Written by the handler, read by every thread.
std::atomic<int> signal_that_came = 0;
static_assert(std::atomic<int>::is_always_lock_free);
int wake_reader = -1;
int wake_writer = -1;

StopSource& stop_source() {
    static StopSource source;
    return source;
}

void set_handler(int number, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;  // without SA_RESTART: a blocked read returns
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, nullptr);
}

/// The one raised here comes when the handler returns, and finds the program's default.
void note_signal(int number) {
    const int saved = errno;
    if (signal_that_came != 0) {
        set_handler(number, SIG_DFL);
        ::raise(number);
    }
    signal_that_came = number;
    (void)!::write(wake_writer, "", 1);
    errno = saved;
}

bool is_ignored(int number) {
    struct sigaction old {};
    return sigaction(number, nullptr, &old) == 0 && old.sa_handler == SIG_IGN;
}

void wait_for_signal() {
    char byte = 0;
    ssize_t got = 0;
    do {
        got = ::read(wake_reader, &byte, 1);
    } while (got < 0 && errno == EINTR);
    if (got == 1) stop_source().request_stop();
}

/// Starts the thread with the signals blocked: they are for the thread whose calls they shall end.
std::thread start_waiting() {
    sigset_t blocked;
    sigset_t before;
    sigemptyset(&blocked);
    for (const int number : caught) sigaddset(&blocked, number);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    std::thread thread(wait_for_signal);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
}

}  // namespace

SignalWatch::SignalWatch() {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "make a pipe");
    for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    wake_reader = ends[0];
    wake_writer = ends[1];
    thread_ = start_waiting();
    for (const int number : caught) {
        if (number != SIGHUP || !is_ignored(number)) set_handler(number, note_signal);
    }
    std::signal(SIGPIPE, SIG_IGN);
}

SignalWatch::~SignalWatch() {
    for (const int number : caught) {
        if (!is_ignored(number)) set_handler(number, SIG_DFL);
    }
    ::close(wake_writer);
    thread_.join();
    ::close(wake_reader);
}

StopToken interrupt_token() { return stop_source().get_token(); }

int signal_received() noexcept { return signal_that_came; }

void throw_if_interrupted() {
    if (signal_that_came != 0) throw Interrupted(signal_that_came.load());
}

void die_of(int signal) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    std::_Exit(128 + signal);
}

}  // namespace whittle::cli

#endif
