#pragma once

#include <stop_token>
#include <thread>

namespace agent {

/// Turns the first Ctrl-C (SIGINT) or SIGTERM into a stop request; a second one ends the program at once. Make it
/// before any other thread is started.
class StopOnSignal {
public:
    StopOnSignal();
    [[nodiscard]] std::stop_token token() const noexcept { return source_.get_token(); }

private:
    std::stop_source source_{};
    std::jthread watcher_{};
};

}  // namespace agent
