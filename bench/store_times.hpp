// What the benchmarks of stores share: contents, times, and a line for each.
#pragma once

#include <whittle/base/hash.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

namespace whittle::bench {

inline double seconds_of(const std::function<void()>& work) {
    const auto begun = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

inline std::string random_bytes(std::size_t bytes) {
    std::mt19937_64 random(bytes);
    std::string content(bytes, '\0');
    for (char& c : content) c = static_cast<char>(random());
    return content;
}

/// Seconds of all objects of a round, the best so far.
struct StoreTimes {
    double put = std::numeric_limits<double>::max();
    double get = std::numeric_limits<double>::max();
};

/// A round: puts `content` under `count` keys that begin with `folder`, and gets them. `put` takes a key and a content,
/// `get` gives the content of a key.
template <typename Put, typename Get>
void measure_round(StoreTimes& best, std::string_view folder, int count, const std::string& content, const Put& put,
                   const Get& get) {
    const auto key = [&](int i) { return fmt::format("{}/{:06}", folder, i); };
    best.put = std::min(best.put, seconds_of([&] {
                            for (int i = 0; i < count; ++i) put(key(i), content);
                        }));
    best.get = std::min(best.get, seconds_of([&] {
                            for (int i = 0; i < count; ++i) {
                                if (get(key(i)).size() != content.size()) throw std::runtime_error("another length");
                            }
                        }));
}

/// SHA-256 of `content` alone: seconds, the best so far.
inline void measure_hash(double& best, const std::string& content) {
    best = std::min(best, seconds_of([&] {
                        if (sha256_hex(content).empty()) throw std::runtime_error("no hash");
                    }));
}

/// Of one object; `hash` is SHA-256 alone.
inline std::string row_of(std::string_view what, double ours, double bare, double hash, std::size_t bytes) {
    const double mib = static_cast<double>(bytes) / (1 << 20);
    return fmt::format(
        "  {:5} whittle {:10.1f} us {:7.0f} MiB/s   bare {:10.1f} us {:7.0f} MiB/s   ratio {:.2f}, hash {:.2f}\n", what,
        ours * 1e6, mib / ours, bare * 1e6, mib / bare, ours / bare, hash / bare);
}

/// The rows of put and get.
inline std::string rows_of(const StoreTimes& ours, const StoreTimes& bare, double hash, int count, std::size_t bytes) {
    return fmt::format("{} bytes, {} objects\n", bytes, count) +
           row_of("put", ours.put / count, bare.put / count, hash, bytes) +
           row_of("get", ours.get / count, bare.get / count, hash, bytes);
}

}  // namespace whittle::bench
