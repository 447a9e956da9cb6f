#pragma once

#include "whittle/conversation/detail/conversation_caches.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// The calls of a conversation that asked again for what had left the request. Thread-safe.
class RepeatedCalls {
public:
    [[nodiscard]] static std::shared_ptr<RepeatedCalls> find(const ConversationCaches& caches) {
        return std::static_pointer_cast<RepeatedCalls>(caches.find(owner));
    }
    [[nodiscard]] static std::shared_ptr<RepeatedCalls> of(ConversationCaches& caches) {
        auto found = find(caches);
        if (!found) caches.set(owner, found = std::make_shared<RepeatedCalls>());
        return found;
    }

    /// False: it is known already. `name`: of the call's object.
    bool add(std::string_view name) {
        const std::lock_guard lock(mutex_);
        return names_.emplace(name).second;
    }
    [[nodiscard]] std::int64_t count() const {
        const std::lock_guard lock(mutex_);
        return static_cast<std::int64_t>(names_.size());
    }

private:
    static constexpr std::string_view owner = "repeated_calls";

    mutable std::mutex mutex_{};
    std::set<std::string, std::less<>> names_{};
};

}  // namespace whittle::inline v0::detail
