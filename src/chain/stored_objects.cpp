#include "whittle/chain/stored_objects.hpp"

#include <utility>

namespace whittle::inline v0 {

StoredObjects::StoredObjects(const StoredObjects& other) {
    const std::lock_guard lock(other.mutex_);
    by_key_ = other.by_key_;
    by_location_ = other.by_location_;
}

void StoredObjects::add(std::string_view key, std::shared_ptr<Storage> storage) {
    const std::lock_guard lock(mutex_);
    if (storage) by_location_.insert_or_assign(storage->locate(key), std::string(key));
    auto& known = by_key_[std::string(key)];
    if (storage) known = std::move(storage);
}

std::optional<StoredObject> StoredObjects::find(std::string_view location,
                                                const std::shared_ptr<Storage>& otherwise) const {
    const std::lock_guard lock(mutex_);
    const auto to_object = [&](const auto& entry) {
        return StoredObject{entry.first, entry.second ? entry.second : otherwise};
    };
    if (const auto known = by_location_.find(std::string(location)); known != by_location_.end())
        return to_object(*by_key_.find(known->second));
    if (const auto named = by_key_.find(location); named != by_key_.end()) return to_object(*named);
    if (otherwise == nullptr) return std::nullopt;
    for (const auto& entry : by_key_) {  // those of a loaded conversation have no location of their own
        if (entry.second == nullptr && otherwise->locate(entry.first) == location) return to_object(entry);
    }
    return std::nullopt;
}

std::size_t StoredObjects::size() const {
    const std::lock_guard lock(mutex_);
    return by_key_.size();
}

}  // namespace whittle::inline v0
