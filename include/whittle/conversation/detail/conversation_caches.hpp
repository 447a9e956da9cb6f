#pragma once

#include "whittle/base/version.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// What middlewares keep beside a conversation because making it again would take long: it follows from the messages,
/// the journal and the notes, is never saved, and a fork starts without it. Thread-safe.
class ConversationCaches {
public:
    /// What `owner` keeps here; null: nothing.
    [[nodiscard]] std::shared_ptr<void> find(std::string_view owner) const {
        const std::lock_guard lock(mutex_);
        const auto found = by_owner_.find(owner);
        return found == by_owner_.end() ? nullptr : found->second;
    }
    /// Keeps `what` in place of what `owner` had.
    void set(std::string_view owner, std::shared_ptr<void> what) {
        const std::lock_guard lock(mutex_);
        by_owner_.insert_or_assign(std::string(owner), std::move(what));
    }

private:
    mutable std::mutex mutex_{};
    std::map<std::string, std::shared_ptr<void>, std::less<>> by_owner_{};
};

namespace detail {

/// Those of one conversation: a copy of it has none.
class OwnAttachments {
public:
    OwnAttachments() = default;
    OwnAttachments(const OwnAttachments&) : OwnAttachments() {}
    OwnAttachments(OwnAttachments&&) noexcept = default;
    OwnAttachments& operator=(const OwnAttachments&) {
        all_ = std::make_shared<ConversationCaches>();
        return *this;
    }
    OwnAttachments& operator=(OwnAttachments&&) noexcept = default;
    ~OwnAttachments() = default;

    /// Null once moved from.
    [[nodiscard]] const std::shared_ptr<ConversationCaches>& get() const noexcept { return all_; }

private:
    std::shared_ptr<ConversationCaches> all_ = std::make_shared<ConversationCaches>();
};

}  // namespace detail

}  // namespace whittle::inline v0
