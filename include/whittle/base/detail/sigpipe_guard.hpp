#pragma once

#include <csignal>
#include <ctime>

namespace whittle::inline v0::detail {

/// While it lives, a write to a closed connection does not end the process: libraries of connections leave that to
/// their user. Only the own thread is touched.
class SigpipeGuard {
public:
    SigpipeGuard() noexcept : was_pending_(is_pending()) {
        const sigset_t pipe = pipe_only();
        pthread_sigmask(SIG_BLOCK, &pipe, &old_);
    }
    SigpipeGuard(const SigpipeGuard&) = delete;
    SigpipeGuard& operator=(const SigpipeGuard&) = delete;
    ~SigpipeGuard() {
        if (!was_pending_) {
            const sigset_t pipe = pipe_only();
            const timespec at_once{};  // a signal to the process may have been taken by another thread's guard
            sigtimedwait(&pipe, nullptr, &at_once);
        }
        pthread_sigmask(SIG_SETMASK, &old_, nullptr);
    }

private:
    static sigset_t pipe_only() noexcept {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGPIPE);
        return set;
    }
    static bool is_pending() noexcept {
        sigset_t pending;
        return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
    }

    sigset_t old_{};
    bool was_pending_;
};

}  // namespace whittle::inline v0::detail
