#include "whittle/base/detail/sigpipe_guard.hpp"

#include <csignal>
#include <ctime>

namespace whittle::inline v0::detail {

#if defined(_WIN32)

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
#    if defined(__APPLE__)
void take_pending() noexcept {
    if (!is_pending()) return;
    struct sigaction ignored {};
    struct sigaction before {};
    ignored.sa_handler = SIG_IGN;  // which drops what is pending; there is no sigtimedwait
    if (sigaction(SIGPIPE, &ignored, &before) == 0) sigaction(SIGPIPE, &before, nullptr);
}
#    else
void take_pending() noexcept {
    const sigset_t pipe = pipe_only();
    const timespec at_once{};
    sigtimedwait(&pipe, nullptr, &at_once);
}
#    endif

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
