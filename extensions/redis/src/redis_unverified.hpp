#pragma once

#include "whittle/base/version.hpp"

#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace whittle::inline v0 {

/// Settings that the server does not report, each once. Thread-safe.
class RedisUnverifiedSettings {
public:
    void add(std::string unverified) {
        const std::lock_guard lock(mutex_);
        unverified_.insert(std::move(unverified));
    }
    [[nodiscard]] std::vector<std::string> all() const {
        const std::lock_guard lock(mutex_);
        return {unverified_.begin(), unverified_.end()};
    }

private:
    mutable std::mutex mutex_;
    std::set<std::string> unverified_;
};

}  // namespace whittle::inline v0
