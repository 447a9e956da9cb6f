#include "signals.hpp"

#include <csignal>
#include <ctime>

namespace agent {
namespace {

sigset_t ending_signals() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGINT);
    ::sigaddset(&set, SIGTERM);
    return set;
}

}  // namespace

StopOnSignal::StopOnSignal() {
    const sigset_t set = ending_signals();
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    watcher_ = std::jthread([set, source = source_](const std::stop_token& end) mutable {
        const timespec pause{.tv_sec = 0, .tv_nsec = 50'000'000};
        while (!end.stop_requested()) {
            if (::sigtimedwait(&set, nullptr, &pause) <= 0) continue;
            source.request_stop();
            ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
            return;
        }
    });
}

}  // namespace agent
