#include "release_notes.hpp"

#include <algorithm>

namespace whittle::inline v0::detail {

std::shared_ptr<ReleaseNotes> ReleaseNotes::of(ConversationCaches& caches, std::string_view middleware) {
    const std::string owner = "release_context:" + std::string(middleware);
    auto notes = std::static_pointer_cast<ReleaseNotes>(caches.find(owner));
    if (!notes) caches.set(owner, notes = std::make_shared<ReleaseNotes>());
    return notes;
}

/// Serials grow towards the end, but for messages that an edit put in: these make no calls.
std::size_t ReleaseNotes::looked_at(const Outline& outline) const {
    std::size_t first = outline.size();
    while (first > 0 && outline[first - 1].serial > newest_) --first;
    return first;
}

void ReleaseNotes::look_on(const Outline& outline) {
    if (outline.size() > 0) newest_ = std::max(newest_, outline[outline.size() - 1].serial);
}

void ReleaseNotes::add(std::string call, ReleaseAnswer answer) {
    const std::lock_guard lock(mutex_);
    released_.insert(answer.names.begin(), answer.names.end());
    by_call_.insert_or_assign(std::move(call), std::move(answer));
}

std::optional<ReleaseAnswer> ReleaseNotes::find(const std::string& call) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_call_.find(call);
    return found == by_call_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace whittle::inline v0::detail
