#pragma once

#include "whittle/base/platform.hpp"

#include <atomic>
#include <thread>

namespace agent {

/// Turns the first Ctrl-C (SIGINT) or SIGTERM into a stop request; a second one ends the program at once. Make it
/// before any other thread is started.
class StopOnSignal {
public:
    StopOnSignal();
    ~StopOnSignal();
    StopOnSignal(const StopOnSignal&) = delete;
    StopOnSignal& operator=(const StopOnSignal&) = delete;
    [[nodiscard]] whittle::StopToken token() const noexcept { return source_.get_token(); }

private:
    whittle::StopSource source_{};
    std::atomic<bool> is_over_ = false;
    std::thread watcher_{};
};

}  // namespace agent
