#include "whittle/base/random.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <utility>

namespace whittle::inline v0 {
namespace {

/// Asks the operating system each time, so that a forked process has numbers of its own.
class SystemRandom final : public Random {
public:
    [[nodiscard]] std::uint64_t next() override {
        const std::lock_guard lock(mutex_);
        const std::uint64_t high = device_();
        return high << 32 | device_();
    }

private:
    std::mutex mutex_;
    std::random_device device_;
};

class RandomIds final : public IdSource {
public:
    explicit RandomIds(std::shared_ptr<Random> random) : random_(std::move(random)) {}

    [[nodiscard]] std::string next() override {
        const std::uint64_t first = random_->next();
        return fmt::format("{:016x}{:016x}", first, random_->next());
    }

private:
    std::shared_ptr<Random> random_;
};

class CountingIds final : public IdSource {
public:
    explicit CountingIds(std::string prefix) : prefix_(std::move(prefix)) {}

    [[nodiscard]] std::string next() override { return fmt::format("{}{}", prefix_, ++count_); }

private:
    std::string prefix_;
    std::atomic<std::uint64_t> count_{0};
};

bool is_id_char(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

}  // namespace

std::shared_ptr<Random> system_random() { return std::make_shared<SystemRandom>(); }

std::uint64_t SeededRandom::next() {
    const std::lock_guard lock(mutex_);
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

std::shared_ptr<IdSource> random_ids(std::shared_ptr<Random> random) {
    return std::make_shared<RandomIds>(random ? std::move(random) : system_random());
}

std::shared_ptr<IdSource> counting_ids(std::string prefix) {
    constexpr std::size_t longest = 20;  // leaves room for a 64-bit count in 40 characters
    if (prefix.size() > longest || !std::ranges::all_of(prefix, is_id_char)) {
        throw Error(Errc::invalid_argument,
                    fmt::format("make counting ids: the prefix must be at most {} of [a-z0-9]", longest));
    }
    return std::make_shared<CountingIds>(std::move(prefix));
}

}  // namespace whittle::inline v0
