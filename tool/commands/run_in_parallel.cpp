#include "run_in_parallel.hpp"
#include "whittle/base/detail/joining_thread.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>

namespace whittle::cli {

void run_in_parallel(const std::vector<std::function<void()>>& parts) {
    std::atomic<std::size_t> next = 0;
    std::vector<std::exception_ptr> thrown(parts.size());
    const auto work = [&] {
        for (std::size_t part = next++; part < parts.size(); part = next++) {
            try {
                parts[part]();
            } catch (...) {
                thrown[part] = std::current_exception();
            }
        }
    };
    {
        const std::size_t threads =
            std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), parts.size());
        std::vector<detail::JoiningThread> others;
        for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
        work();
    }
    for (const std::exception_ptr& exception : thrown) {
        if (exception) std::rethrow_exception(exception);
    }
}

}  // namespace whittle::cli
