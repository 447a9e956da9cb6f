#pragma once

namespace whittle::inline v0::detail {

/// While it lives, a write to a closed connection does not end the process: libraries of connections leave that to
/// their user. Only the own thread is touched. Does nothing where there is no SIGPIPE.
class SigpipeGuard {
public:
    SigpipeGuard() noexcept;
    SigpipeGuard(const SigpipeGuard&) = delete;
    SigpipeGuard& operator=(const SigpipeGuard&) = delete;
    ~SigpipeGuard();

private:
    [[maybe_unused]] bool was_pending_ = false;
    [[maybe_unused]] bool was_blocked_ = false;
};

}  // namespace whittle::inline v0::detail
