#pragma once

#include "whittle/chain/text_blocks.hpp"
#include "whittle/port/storage.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace whittle::inline v0 {

/// An object in a store, by its key there.
struct StoredObject {
    std::string key{};
    std::shared_ptr<Storage> storage{};  ///< null: not known, ask the chain's
};

/// What was stored of one conversation: the only objects that its read-back tool may show. Grows only. All functions
/// are thread-safe.
class StoredObjects {
public:
    StoredObjects() = default;
    StoredObjects(const StoredObjects& other);
    StoredObjects& operator=(const StoredObjects&) = delete;
    ~StoredObjects() = default;

    /// `storage` null: an object of a loaded conversation, which lies in the store that it is asked for with.
    void add(std::string_view key, std::shared_ptr<Storage> storage);

    /// The object that `location` names, as `Storage::locate` gives it or as its key. `otherwise`: where objects of
    /// unknown stores are looked for. Nullopt if this conversation has no such object.
    [[nodiscard]] std::optional<StoredObject> find(std::string_view location,
                                                   const std::shared_ptr<Storage>& otherwise) const;

    [[nodiscard]] std::size_t size() const;

private:
    void locate_in(const Storage& storage) const;

    mutable std::mutex mutex_{};
    detail::TextBlocks keys_{};
    std::map<std::string_view, std::shared_ptr<Storage>> by_key_{};
    mutable std::unordered_map<std::string, StoredObject> by_location_{};
    mutable const Storage* located_in_ = nullptr;  // where the objects of unknown stores were last looked for
    mutable std::size_t located_ = 0;              // how many objects there were then
};

}  // namespace whittle::inline v0
