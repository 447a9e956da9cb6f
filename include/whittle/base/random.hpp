#pragma once

#include "whittle/base/version.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace whittle::inline v0 {

/// Source of random numbers for jitter and ids. Injected. Thread-safe.
class Random {
public:
    virtual ~Random() = default;
    /// 64 random bits.
    [[nodiscard]] virtual std::uint64_t next() = 0;
};

/// Seeded by the operating system.
[[nodiscard]] std::shared_ptr<Random> system_random();

/// Always the same sequence for a seed (SplitMix64).
class SeededRandom final : public Random {
public:
    /// Any seed will do, 0 too.
    explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
    [[nodiscard]] std::uint64_t next() override;

private:
    std::mutex mutex_;
    std::uint64_t state_;
};

/// Source of ids for conversations and for tool calls that came without one. Injected. Thread-safe.
class IdSource {
public:
    virtual ~IdSource() = default;
    /// At most 40 characters of `[a-z0-9]`, never the same twice from one source.
    [[nodiscard]] virtual std::string next() = 0;
};

/// 128 random bits as 32 hex digits.
[[nodiscard]] std::shared_ptr<IdSource> random_ids(std::shared_ptr<Random> random = system_random());

/// "{prefix}1", "{prefix}2", ... for tests and replays. `prefix` of `[a-z0-9]`.
[[nodiscard]] std::shared_ptr<IdSource> counting_ids(std::string prefix = "id");

}  // namespace whittle::inline v0
