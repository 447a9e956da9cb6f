#pragma once

#include "whittle/base/language.hpp"
#include "whittle/message/part.hpp"
#include "whittle/storage/storage.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

// The library's own tools that show what was stored: texts, and media.
inline constexpr std::string_view read_offloaded_name = "read_offloaded";
inline constexpr std::string_view fetch_media_name = "fetch_media";

/// The tool of a request that notices name for reading what was stored: `preferred`, `read_offloaded`, or none.
[[nodiscard]] std::string_view reader_among(std::span<const ToolSpec> tools,
                                            std::string_view preferred = "read_file") noexcept;

/// How a notice names an object: by its key, short and the same wherever the store stands, where it tells the model to
/// read it with `read_offloaded`; for any other `reader`, and for none, as `Storage::locate` says.
[[nodiscard]] std::string reference_to(const Storage& storage, std::string_view key, std::string_view reader);

/// The end of a notice that says how to get back what it stands for: `; read_offloaded("k/6")` where the request lists
/// that tool, with `range` behind the reference (`, first_line=22, lines=157`); else `. Full text: location`, and the
/// reader that is listed. Empty without a location.
[[nodiscard]] std::string way_back(std::string_view location, std::string_view reader, Language language,
                                   std::string_view range = {});

/// The short name of a conversation's folder of keys: the id itself up to eight bytes, else eight letters and digits
/// made of it. For references that stand in a request many times.
[[nodiscard]] std::string short_root(std::string_view conversation);

/// An object in a store, by its key there.
struct StoredObject {
    std::string key{};                   ///< in the store
    std::shared_ptr<Storage> storage{};  ///< null: not known, ask the chain's
};

/// What was stored of one conversation: the only objects that its read-back tools, `undo` and `restore_and_pin` may
/// show. That is what it has stored itself, and what lies below one of its roots: its id, what `allow` names, what a
/// fork's list names, and the short names of these. A saved table adds none. Grows only. All functions are thread-safe.
class StoredObjects {
public:
    StoredObjects();
    explicit StoredObjects(std::string_view conversation);
    /// Those of a fork, under its own id.
    StoredObjects(const StoredObjects& other, std::string_view conversation);
    StoredObjects(const StoredObjects&) = delete;
    StoredObjects& operator=(const StoredObjects&) = delete;
    ~StoredObjects();

    /// An object that the conversation has stored.
    void add(std::string_view key, std::shared_ptr<Storage> storage);
    /// An object that a saved table names: read only below a root. `storage` null: in the one that it is asked for
    /// with.
    void claim(std::string_view key, std::shared_ptr<Storage> storage);
    /// `root`: a folder of keys, with a "/" at its end, or one key. What lies there is the conversation's.
    void allow(std::string_view root);
    /// All roots in that form, and the keys of those own objects that lie below none.
    [[nodiscard]] std::vector<std::string> roots() const;

    /// The object that `reference` names: what `Storage::locate` gives or gave while the store stood elsewhere, or its
    /// key. `otherwise`: where objects of unknown stores are looked for. Nullopt if this conversation has no such
    /// object, or may not read it.
    [[nodiscard]] std::optional<StoredObject> find(std::string_view reference,
                                                   const std::shared_ptr<Storage>& otherwise) const;
    /// Whether the conversation may read what lies in `storage` under `key`.
    [[nodiscard]] bool may_read(std::string_view key, const std::shared_ptr<Storage>& storage) const;

    /// Writes the roots of a fork below its id, into each store that holds objects, and into `storage`: once it is
    /// saved and loaded, nothing else tells which of its origin's objects it may read. Throws what the store throws.
    void save_roots(const std::shared_ptr<Storage>& storage) const;

    /// How many are known.
    [[nodiscard]] std::size_t size() const;

private:
    struct Known {
        std::shared_ptr<Storage> storage{};
        bool is_claimed = true;  // by a saved table
    };
    using ByKey = std::pmr::map<std::string, Known, std::less<>>;

    void note(std::string_view key, std::shared_ptr<Storage> storage, bool is_claimed);
    void locate_in(const Storage& storage) const;
    [[nodiscard]] std::optional<StoredObject> named(std::string_view reference) const;
    [[nodiscard]] std::optional<StoredObject> named_elsewhere(std::string_view reference) const;
    [[nodiscard]] bool is_allowed(std::string_view key, const std::shared_ptr<Storage>& storage) const;
    [[nodiscard]] bool is_below_root(std::string_view key) const;
    void load_roots(Storage& storage) const;
    /// The root as it is kept, and whether it is new.
    std::pair<std::string, bool> insert_root(std::string_view root) const;
    [[nodiscard]] std::vector<std::string> known_roots() const;

    mutable std::mutex mutex_{};
    std::string conversation_{};
    mutable std::set<std::string, std::less<>> roots_{};
    mutable std::set<std::string, std::less<>> short_roots_{};  // of those with one component
    mutable std::set<const Storage*> asked_for_roots_{};
    std::pmr::monotonic_buffer_resource memory_{};
    ByKey by_key_{&memory_};
    std::size_t of_unknown_store_ = 0;  // of these
    mutable std::unordered_map<std::string, StoredObject> by_location_{};
    mutable const Storage* located_in_ = nullptr;  // where the objects of unknown stores were last looked for
    mutable std::size_t located_ = 0;              // how many objects there were then
};

namespace detail {

/// Whether `key` is that of a list of roots, which only `save_roots` writes: a tool's text under it would give its
/// conversation what it names.
[[nodiscard]] bool is_roots_key(std::string_view key) noexcept;
/// Throws Error(invalid_key) for such a key.
void require_no_roots_key(std::string_view operation, std::string_view key);

}  // namespace detail

}  // namespace whittle::inline v0
