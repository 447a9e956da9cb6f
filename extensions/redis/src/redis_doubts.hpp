#pragma once

#include "whittle/base/version.hpp"

#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace whittle::inline v0 {

/// What could not be made sure of, each once. Thread-safe.
class RedisDoubts {
public:
    void add(std::string doubt) {
        const std::lock_guard lock(mutex_);
        doubts_.insert(std::move(doubt));
    }
    [[nodiscard]] std::vector<std::string> all() const {
        const std::lock_guard lock(mutex_);
        return {doubts_.begin(), doubts_.end()};
    }

private:
    mutable std::mutex mutex_;
    std::set<std::string> doubts_;
};

}  // namespace whittle::inline v0
