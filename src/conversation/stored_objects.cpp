#include "whittle/conversation/detail/stored_objects.hpp"

#include "whittle/base/detail/ascii.hpp"
#include "whittle/base/detail/names.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace whittle::inline v0 {

std::string_view reader_among(std::span<const ToolSpec> tools, std::string_view preferred) noexcept {
    for (const std::string_view name : {preferred, read_offloaded_name}) {
        const auto exact = std::ranges::find(tools, name, &ToolSpec::name);
        if (exact != tools.end()) return exact->name;
        const auto meant = std::ranges::find_if(tools, [&](const ToolSpec& t) { return names_tool(name, t.name); });
        if (meant != tools.end()) return meant->name;
    }
    return {};
}

std::string reference_to(const Storage& storage, std::string_view key, std::string_view reader) {
    return reader == read_offloaded_name ? std::string(key) : storage.locate(key);
}

std::string way_back(std::string_view location, std::string_view reader, Language language, std::string_view range) {
    if (location.empty()) return {};
    const bool is_chinese = language == Language::chinese;
    if (reader == read_offloaded_name)
        return fmt::format("{}{}(\"{}\"{})", is_chinese ? "；" : "; ", reader, location, range);
    std::string text = fmt::format("{}{}", is_chinese ? "。全文：" : ". Full text: ", location);
    if (!reader.empty())
        text += fmt::format("{}{}{}", is_chinese ? "，可用 " : " - read it with ", reader, is_chinese ? " 读取" : "");
    return text;
}

StoredObjects::StoredObjects() = default;
StoredObjects::~StoredObjects() = default;

namespace {

constexpr std::string_view roots_name = "whittle-roots";
constexpr int most_lists = 100;                 // of one conversation: each fork to its id with other roots writes one
constexpr std::int64_t largest_list = 4 << 20;  // bytes
constexpr std::string_view list_title = "whittle roots 1\n";

std::string roots_key(std::string_view conversation, int number) {
    return number == 1 ? fmt::format("{}/{}", conversation, roots_name)
                       : fmt::format("{}/{}-{}", conversation, roots_name, number);
}

/// The lines behind the title that are keys; none if `text` is no list.
std::vector<std::string> roots_in(std::string_view text) {
    std::vector<std::string> roots;
    if (!text.starts_with(list_title)) return roots;
    text.remove_prefix(list_title.size());
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
        const std::string_view line = text.substr(0, end);  // one that is cut off would allow more than it did
        if (is_valid_key(line.ends_with('/') ? line.substr(0, line.size() - 1) : line)) roots.emplace_back(line);
        text.remove_prefix(end + 1);
    }
    return roots;
}

void put_list(Storage& storage, std::string_view conversation, std::string_view list) {
    for (int number = 1;; ++number) {
        try {
            return storage.put_verbatim(roots_key(conversation, number), list);  // keys, no text
        } catch (const Error& error) {
            if (error.errc() != Errc::already_exists || number == most_lists) throw;
        }
    }
}

}  // namespace

bool detail::is_roots_key(std::string_view key) noexcept {
    const std::size_t slash = key.find('/');  // the names of conversations have none
    return slash != std::string_view::npos && key.substr(slash + 1).starts_with(roots_name) &&
           key.find('/', slash + 1) == std::string_view::npos;
}

void detail::require_no_roots_key(std::string_view operation, std::string_view key) {
    if (!is_roots_key(key)) return;
    throw Error(Errc::invalid_key, fmt::format("{} \"{}\": names that start with \"{}\" are kept for what forks may "
                                               "read",
                                               operation, key, roots_name));
}

std::string short_root(std::string_view conversation) {
    constexpr std::size_t length = 8;
    constexpr std::string_view digits = "abcdefghijkmnpqrstuvwxyz23456789";
    if (conversation.size() <= length) return std::string(conversation);
    std::uint64_t rest = hash128(conversation).low;
    std::string root;
    for (std::size_t i = 0; i < length; ++i, rest /= digits.size()) root += digits[rest % digits.size()];
    return root;
}

StoredObjects::StoredObjects(std::string_view conversation) : conversation_(conversation) {
    insert_root(conversation_ + "/");
}

StoredObjects::StoredObjects(const StoredObjects& other, std::string_view conversation) : conversation_(conversation) {
    const std::lock_guard lock(other.mutex_);
    roots_ = other.roots_;
    short_roots_ = other.short_roots_;
    insert_root(conversation_ + "/");
    by_key_ = other.by_key_;
    of_unknown_store_ = other.of_unknown_store_;
    by_location_ = other.by_location_;
}

void StoredObjects::add(std::string_view key, std::shared_ptr<Storage> storage) {
    note(key, std::move(storage), false);
}

void StoredObjects::claim(std::string_view key, std::shared_ptr<Storage> storage) {
    note(key, std::move(storage), true);
}

void StoredObjects::note(std::string_view key, std::shared_ptr<Storage> storage, bool is_claimed) {
    const std::lock_guard lock(mutex_);
    std::string location = storage ? storage->locate(key) : std::string();  // may throw: nothing is noted then
    auto found = by_key_.lower_bound(key);
    if (found == by_key_.end() || found->first != key) {
        found = by_key_.emplace_hint(found, key, Known{});
        ++of_unknown_store_;
    }
    Known& known = found->second;
    known.is_claimed = known.is_claimed && is_claimed;
    if (!storage) return;
    if (known.storage && known.storage != storage && known.storage->locate(key) == key)
        by_location_.try_emplace(found->first, StoredObject{found->first, known.storage});
    if (location != key || (known.storage && known.storage != storage)) {
        by_location_.insert_or_assign(std::move(location), StoredObject{found->first, storage});
    } else if (!by_location_.empty()) {
        by_location_.erase(location);  // `find` takes it for the key
    }
    if (!known.storage) --of_unknown_store_;
    known.storage = std::move(storage);
}

void StoredObjects::allow(std::string_view root) {
    const std::lock_guard lock(mutex_);
    if (!roots_.contains(root)) insert_root(root);
}

std::pair<std::string, bool> StoredObjects::insert_root(std::string_view root) const {
    const auto [place, is_new] = roots_.emplace(root);
    if (root.size() > 1 && root.find('/') == root.size() - 1)
        short_roots_.insert(short_root(root.substr(0, root.size() - 1)));
    return {*place, is_new};
}

std::vector<std::string> StoredObjects::roots() const {
    const std::lock_guard lock(mutex_);
    return known_roots();
}

std::vector<std::string> StoredObjects::known_roots() const {
    std::vector<std::string> roots(roots_.begin(), roots_.end());
    for (const auto& [key, known] : by_key_) {
        if (!known.is_claimed && !is_below_root(key)) roots.emplace_back(key);
    }
    return roots;
}

std::optional<StoredObject> StoredObjects::named(std::string_view reference) const {
    if (const auto known = by_location_.find(std::string(reference)); known != by_location_.end()) return known->second;
    if (const auto known = by_key_.find(reference); known != by_key_.end())
        return StoredObject{known->first, known->second.storage};
    return std::nullopt;
}

/// An absolute path from before the store was moved ends with the key.
std::optional<StoredObject> StoredObjects::named_elsewhere(std::string_view reference) const {
    constexpr std::size_t longest_path = 8'192;
    const bool climbs = reference.find("/../") != std::string_view::npos;
    const bool has_drive = reference.size() > 2 && detail::is_letter(reference[0]) && reference.substr(1, 2) == ":/";
    const bool is_absolute = reference.starts_with('/') || has_drive;
    if (!is_absolute || climbs || reference.size() > longest_path) return std::nullopt;
    for (std::size_t slash = reference.find('/', 1); slash != std::string_view::npos;
         slash = reference.find('/', slash + 1)) {
        const auto known = by_key_.find(reference.substr(slash + 1));
        if (known != by_key_.end()) return StoredObject{known->first, known->second.storage};
    }
    return std::nullopt;
}

std::optional<StoredObject> StoredObjects::find(std::string_view reference,
                                                const std::shared_ptr<Storage>& otherwise) const {
    const std::lock_guard lock(mutex_);
    if (otherwise) locate_in(*otherwise);
    std::optional<StoredObject> object = named(reference);
    if (!object) object = named_elsewhere(reference);
    if (!object) return std::nullopt;
    if (!object->storage) object->storage = otherwise;
    if (!is_allowed(object->key, object->storage)) return std::nullopt;
    return object;
}

/// Objects of a loaded conversation have no location of their own.
void StoredObjects::locate_in(const Storage& storage) const {
    if (of_unknown_store_ == 0 || (located_in_ == &storage && located_ == by_key_.size())) return;
    for (const auto& [key, known] : by_key_) {
        if (known.storage) continue;
        std::string location = storage.locate(key);
        const auto other = by_key_.find(location);
        const bool is_other =
            other != by_key_.end() && other->second.storage && other->second.storage->locate(location) == location;
        if (!is_other) by_location_.try_emplace(std::move(location), StoredObject{key, nullptr});
    }
    located_in_ = &storage;
    located_ = by_key_.size();
}

bool StoredObjects::may_read(std::string_view key, const std::shared_ptr<Storage>& storage) const {
    const std::lock_guard lock(mutex_);
    return is_allowed(key, storage);
}

/// A list is looked for where nothing else allows the key.
bool StoredObjects::is_allowed(std::string_view key, const std::shared_ptr<Storage>& storage) const {
    if (const auto known = by_key_.find(key); known != by_key_.end() && !known->second.is_claimed) return true;
    if (is_below_root(key)) return true;
    if (!storage || asked_for_roots_.contains(storage.get())) return false;
    try {
        load_roots(*storage);
    } catch (
        const std::exception&) {  // then what the list would allow is not to be had either; the next call asks again
        return false;
    }
    asked_for_roots_.insert(storage.get());
    return is_below_root(key);
}

/// Whether a root is `key` or one of the folders that it lies in.
bool StoredObjects::is_below_root(std::string_view key) const {
    if (short_roots_.contains(key.substr(0, key.find('/')))) return true;
    for (std::size_t slash = key.find('/'); slash != std::string_view::npos; slash = key.find('/', slash + 1)) {
        if (roots_.contains(key.substr(0, slash + 1))) return true;
    }
    return roots_.contains(key);
}

/// What forks to this id have written, and to those that it was forked from.
void StoredObjects::load_roots(Storage& storage) const {
    std::vector<std::string> conversations;
    const auto add = [&](const std::string& root) {
        if (root.size() > 1 && root.find('/') == root.size() - 1)
            conversations.push_back(root.substr(0, root.size() - 1));
    };
    for (const std::string& root : roots_) add(root);
    for (std::size_t c = 0; c < conversations.size(); ++c) {
        for (int number = 1; number <= most_lists; ++number) {
            const auto list = storage.get(roots_key(conversations[c], number), 0, largest_list);
            if (!list) break;
            for (const std::string& root : roots_in(*list)) {
                if (const auto [place, is_new] = insert_root(root); is_new) add(place);
            }
        }
    }
}

void StoredObjects::save_roots(const std::shared_ptr<Storage>& storage) const {
    std::vector<std::shared_ptr<Storage>> storages;
    std::string list(list_title);
    {
        const std::lock_guard lock(mutex_);
        if (by_key_.empty()) return;
        if (storage) storages.push_back(storage);
        for (const auto& [key, known] : by_key_) {
            const bool is_new = known.storage && std::ranges::find(storages, known.storage) == storages.end();
            if (is_new) storages.push_back(known.storage);
        }
        for (const std::string& root : known_roots()) {
            if (root != conversation_ + "/") list.append(root).append("\n");
        }
    }
    if (list.size() == list_title.size()) return;
    for (const auto& target : storages) put_list(*target, conversation_, list);
}

std::size_t StoredObjects::size() const {
    const std::lock_guard lock(mutex_);
    return by_key_.size();
}

}  // namespace whittle::inline v0
