#include "whittle/chain/stored_objects.hpp"

#include <utility>

namespace whittle::inline v0 {

StoredObjects::StoredObjects(const StoredObjects& other) {
    const std::lock_guard lock(other.mutex_);
    for (const auto& [key, storage] : other.by_key_) by_key_.emplace_hint(by_key_.end(), keys_.keep(key), storage);
    by_location_ = other.by_location_;
}

void StoredObjects::add(std::string_view key, std::shared_ptr<Storage> storage) {
    const std::lock_guard lock(mutex_);
    std::string location = storage ? storage->locate(key) : std::string();  // may throw: nothing is noted then
    auto known = by_key_.lower_bound(key);
    if (known == by_key_.end() || known->first != key) known = by_key_.emplace_hint(known, keys_.keep(key), nullptr);
    if (!storage) return;
    if (known->second && known->second != storage && known->second->locate(key) == key)
        by_location_.try_emplace(std::string(known->first), StoredObject{std::string(known->first), known->second});
    if (location != key || (known->second && known->second != storage)) {
        by_location_.insert_or_assign(std::move(location), StoredObject{std::string(known->first), storage});
    } else if (!by_location_.empty()) {
        by_location_.erase(location);  // `find` takes it for the key
    }
    known->second = std::move(storage);
}

std::optional<StoredObject> StoredObjects::find(std::string_view location,
                                                const std::shared_ptr<Storage>& otherwise) const {
    const std::lock_guard lock(mutex_);
    if (otherwise) locate_in(*otherwise);
    std::optional<StoredObject> object;
    if (const auto known = by_location_.find(std::string(location)); known != by_location_.end()) {
        object = known->second;
    } else if (const auto named = by_key_.find(location); named != by_key_.end()) {
        object = {std::string(named->first), named->second};
    }
    if (object && !object->storage) object->storage = otherwise;
    return object;
}

/// Objects of a loaded conversation have no location of their own.
void StoredObjects::locate_in(const Storage& storage) const {
    if (located_in_ == &storage && located_ == by_key_.size()) return;
    for (const auto& [key, own] : by_key_) {
        if (own) continue;
        std::string location = storage.locate(key);
        const auto named = by_key_.find(location);
        const bool is_named = named != by_key_.end() && named->second && named->second->locate(location) == location;
        if (!is_named) by_location_.try_emplace(std::move(location), StoredObject{std::string(key), nullptr});
    }
    located_in_ = &storage;
    located_ = by_key_.size();
}

std::size_t StoredObjects::size() const {
    const std::lock_guard lock(mutex_);
    return by_key_.size();
}

}  // namespace whittle::inline v0
