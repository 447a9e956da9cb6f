#include "whittle/base/detail/sigpipe_guard.hpp"

#include <csignal>
#include <ctime>

namespace whittle::inline v0::detail {

#if defined(_WIN32) || defined(__APPLE__)

// On macOS the signal goes to the process, whose other threads do not block it: sockets are told not to raise it.
SigpipeGuard::SigpipeGuard() noexcept = default;
SigpipeGuard::~SigpipeGuard() = default;

#else

namespace {

sigset_t pipe_only() noexcept {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return set;
}

bool is_pending() noexcept {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

/// Takes the signal if it is pending. Never waits: one to the process may have been taken by another thread's guard.
void take_pending() noexcept {
    const sigset_t pipe = pipe_only();
    const timespec at_once{};
    sigtimedwait(&pipe, nullptr, &at_once);
}

}  // namespace

SigpipeGuard::SigpipeGuard() noexcept : was_pending_(is_pending()) {
    const sigset_t pipe = pipe_only();
    sigset_t before;
    was_blocked_ = pthread_sigmask(SIG_BLOCK, &pipe, &before) != 0 || sigismember(&before, SIGPIPE) == 1;
}

SigpipeGuard::~SigpipeGuard() {
    if (!was_pending_) take_pending();
    if (was_blocked_) return;
    const sigset_t pipe = pipe_only();
    pthread_sigmask(SIG_UNBLOCK, &pipe, nullptr);
}

#endif

}  // namespace whittle::inline v0::detail
