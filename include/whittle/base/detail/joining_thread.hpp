#pragma once

#include <thread>
#include <utility>

namespace whittle::inline v0::detail {

/// A thread that its destructor joins: `std::jthread` without its stop token, which libc++ before 20 does not have.
class JoiningThread {
public:
    JoiningThread() noexcept = default;
    template <typename Work>
    explicit JoiningThread(Work&& work) : thread_(std::forward<Work>(work)) {}
    JoiningThread(JoiningThread&&) noexcept = default;
    JoiningThread& operator=(JoiningThread&& other) noexcept {
        join();
        thread_ = std::move(other.thread_);
        return *this;
    }
    ~JoiningThread() { join(); }

    void join() {
        if (thread_.joinable()) thread_.join();
    }

private:
    std::thread thread_{};
};

}  // namespace whittle::inline v0::detail
