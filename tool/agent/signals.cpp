#include "signals.hpp"

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
        for (int signal = 0; ::sigwait(&set, &signal) == 0 && !is_over_;) {
            if (source_.stop_requested()) return end_by(signal, set);
            source_.request_stop();
        }
    });
}

StopOnSignal::~StopOnSignal() {
    is_over_ = true;
    ::pthread_kill(watcher_.native_handle(), SIGTERM);  // wakes it
    watcher_.join();
}

}  // namespace agent
