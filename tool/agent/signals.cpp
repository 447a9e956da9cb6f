#include "signals.hpp"

#include <chrono>
#include <csignal>

namespace agent {
namespace {

sigset_t ending_signals() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGINT);
    ::sigaddset(&set, SIGTERM);
    return set;
}

/// The signal of `set` that is pending, which is taken; 0: none. Only the watcher takes them, so that none is gone once
/// it is seen (sigtimedwait is not everywhere).
int take_pending(const sigset_t& set) {
    sigset_t pending;
    int signal = 0;
    const bool is_there =
        ::sigpending(&pending) == 0 && (::sigismember(&pending, SIGINT) == 1 || ::sigismember(&pending, SIGTERM) == 1);
    return is_there && ::sigwait(&set, &signal) == 0 ? signal : 0;
}

/// What the signal does to a program that knows nothing of it.
void end_by(int signal, const sigset_t& set) {
    std::signal(signal, SIG_DFL);  // a shell starts background jobs with SIGINT ignored
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    std::raise(signal);
}

}  // namespace

StopOnSignal::StopOnSignal() {
    const sigset_t set = ending_signals();
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    watcher_ = std::thread([this, set] {
        while (!is_over_) {
            const int signal = take_pending(set);
            if (signal == 0) {
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
            } else if (source_.stop_requested()) {
                return end_by(signal, set);
            } else {
                source_.request_stop();
            }
        }
    });
}

StopOnSignal::~StopOnSignal() {
    is_over_ = true;
    watcher_.join();
}

}  // namespace agent
