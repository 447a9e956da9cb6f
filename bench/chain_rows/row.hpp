// What the rows of bench_chain_rows share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

namespace whittle::bench {

/// What a row found.
struct Row {
    double seconds = 0;      ///< of one step (session: of all), of the processor
    long allocations = -1;   ///< of the same; -1 where the row does not count them
    std::int64_t check = 0;  ///< what every program must agree on, so that the work is the same
    std::vector<std::pair<const char*, double>> more{};
};

constexpr std::size_t bytes_per_result = 2'500;
constexpr std::int64_t never = 1'000'000'000'000;

/// Calls of operator new so far.
[[nodiscard]] long allocations_so_far();

/// Of the processor, not of the clock on the wall: other programs' work does not count.
[[nodiscard]] inline double cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

[[nodiscard]] double seconds_of(auto&& work) {
    const double start = cpu_seconds();
    work();
    return cpu_seconds() - start;
}

// hooks.cpp
[[nodiscard]] Row undue(std::size_t messages);
[[nodiscard]] Row undue_exact(std::size_t messages, const std::string& vocabulary);
[[nodiscard]] Row clear(std::size_t messages);
[[nodiscard]] Row session(std::size_t calls);
[[nodiscard]] Row preset(std::size_t calls);
[[nodiscard]] Row summary(std::size_t messages);
// host.cpp
[[nodiscard]] Row sync(std::size_t messages);
[[nodiscard]] Row memory(std::size_t messages);
// cut.cpp
[[nodiscard]] Row cut(std::size_t bytes);

}  // namespace whittle::bench
