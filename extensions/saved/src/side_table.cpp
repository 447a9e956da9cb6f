#include "whittle/saved/side_table.hpp"

#include "whittle/provider/detail/json_tree.hpp"
#include "whittle/saved/detail/side_table_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace whittle::inline v0::detail {

namespace {

constexpr int format_version = 2;  // 2: counters have `sent`
constexpr std::size_t max_depth = 32;

void read_objects(const ordered_json* json, SavedConversation& saved) {
    if (json == nullptr) return;
    if (!json->is_object()) fail_side_table("objects", "not an object");
    for (const auto& [key, content] : json->items()) {
        if (!is_valid_key(key))
            fail_side_table("objects", fmt::format("\"{}\" is not a storage key", clip_for_error(key)));
        if (is_roots_key(key))
            fail_side_table("objects", fmt::format("\"{}\" says what a fork may read; no table brings it", key));
        saved.objects.emplace(key, bytes_of(content, "objects." + key));
    }
}

// The checks below are for what undo and later commits rely on.

/// Serials: below the next one, and different within a list.
void check_serials(std::span<const MessageInfo> infos, Serial next_serial, const std::string& where,
                   std::set<Serial>& seen) {
    for (const MessageInfo& info : infos) {
        if (info.serial >= next_serial || info.round_serial >= next_serial) {
            fail_side_table(
                where, fmt::format("serial {} or group {} is not below next_serial", info.serial, info.round_serial));
        }
        if (!seen.insert(info.serial).second)
            fail_side_table(where, fmt::format("serial {} stands there twice", info.serial));
    }
}

/// The length of the list once `entry`, the newest one, is undone.
std::size_t size_before(const SavedEntry& entry, std::size_t size, const std::string& where) {
    std::size_t end = 0;
    std::size_t result = size;
    for (const SavedEntry::Range& range : entry.undo) {
        const bool fits = range.first >= end && range.first <= size && range.count <= size - range.first;
        if (!fits) fail_side_table(where, "replaces messages that are not there");
        end = range.first + range.count;
        result = result - range.count + range.messages.size();
    }
    return result;
}

void check_journal(const SavedConversation& saved) {
    std::size_t size = saved.infos.size();
    std::uint64_t next = saved.counters.next_entry;
    for (std::size_t e = saved.journal.size(); e-- > 0;) {
        const SavedEntry& entry = saved.journal[e];
        const std::string where = fmt::format("journal[{}]", e);
        if (entry.id == 0 || entry.id >= next) fail_side_table(where, "its id is not below that of the next entry");
        next = entry.id;
        size = size_before(entry, size, where);
        std::set<Serial> seen;
        for (const SavedEntry::Range& range : entry.undo)
            check_serials(range.infos, saved.counters.next_serial, where, seen);
    }
}

ordered_json parse_side_table(std::string_view json, CancelCheck check_cancelled) {
    const std::size_t zero = json.find('\0');  // the parser would take it for the end
    if (zero != std::string_view::npos) fail_side_table(fmt::format("byte {}", zero), "a zero byte");
    return parse_json("read a side table", json, {.max_bytes = SIZE_MAX, .max_depth = max_depth}, nullptr,
                      check_cancelled);
}

void require_version(ObjectReader& reader) {
    const std::int64_t version = reader.integer("whittle_side_table", INT64_MIN, INT64_MAX, -1);
    if (version >= 1 && version <= format_version) return;
    fail_side_table("whittle_side_table",
                    version < 0 ? std::string("missing: this is no side table")
                                : fmt::format("version {} is not known; this library reads versions up to {}", version,
                                              format_version));
}

template <typename Visit>
void visit_keys(const MessageInfo& info, Visit&& visit) {
    const auto visit_mark = [&](const Mark& mark) {
        if (mark) std::ranges::for_each(mark->stored_keys, visit);
    };
    visit_mark(info.mark);
    for (const PartInfo& part : info.parts) visit_mark(part.mark);
}

}  // namespace

void check_saved(const SavedConversation& saved) {
    if (saved.counters.next_serial == 0 || saved.counters.next_entry == 0)
        fail_side_table("counters", "next_serial and next_entry are 1 or more");
    std::set<Serial> seen;
    check_serials(saved.infos, saved.counters.next_serial, "messages", seen);
    check_journal(saved);
}

std::string write_side_table(const SavedConversation& saved) {
    ordered_json json{{"whittle_side_table", format_version}, {"id", saved.id}};
    json["counters"] = json_of_counters(saved.counters);
    if (!saved.calibrations.fits.empty()) json["calibrations"] = json_of_calibrations(saved.calibrations);
    json["messages"] = ordered_json::array();
    for (const MessageInfo& info : saved.infos) json["messages"].push_back(json_of_info(info, false));
    json["journal"] = ordered_json::array();
    for (const SavedEntry& entry : saved.journal) json["journal"].push_back(json_of_entry(entry));
    json["notes"] = json_of_notes(saved.notes);
    if (!saved.objects.empty()) {
        ordered_json::object_t objects;  // by `emplace_back`: `[]` looks at every key before it
        for (const auto& [key, content] : saved.objects) objects.emplace_back(key, json_of_bytes(content));
        json["objects"] = std::move(objects);
    }
    return json.dump();
}

SavedConversation read_side_table(std::string_view text, CancelCheck check_cancelled) {
    const ordered_json json = parse_side_table(text, check_cancelled);
    ObjectReader reader(json, "side table");
    require_version(reader);
    SavedConversation saved;
    saved.id = bytes_of(reader.require("id"), "id");
    if (!is_safe_name(saved.id)) fail_side_table("id", "not a conversation's id");
    saved.counters = counters_of(reader.require("counters"));
    if (const ordered_json* const fits = reader.find("calibrations"))
        saved.calibrations = calibrations_of(*fits, "calibrations");
    read_array(&reader.require("messages"), "messages", [&](const ordered_json& element, const std::string& where) {
        check_cancelled();
        saved.infos.push_back(info_of(element, where));
    });
    read_array(&reader.require("journal"), "journal", [&](const ordered_json& element, const std::string& where) {
        check_cancelled();
        saved.journal.push_back(entry_of(element, where));
    });
    saved.notes = notes_of(reader.require("notes"), "notes");
    read_objects(reader.find("objects"), saved);
    reader.done();
    check_saved(saved);
    return saved;
}

void collect_objects(SavedConversation& saved, Storage& storage, const StoredObjects& objects) {
    const std::shared_ptr<Storage> embed(std::shared_ptr<void>(), &storage);  // owns nothing
    const auto collect = [&](const std::string& key, const std::shared_ptr<Storage>& own) {
        if (saved.objects.contains(key)) return;
        if (!objects.may_read(key, own ? own : embed)) {
            throw Error(Errc::not_found,
                        fmt::format("save conversation \"{}\": \"{}\" lies below none of its roots", saved.id, key));
        }
        auto content = storage.get(key);
        if (!content && own) content = own->get(key);
        if (!content)
            throw Error(Errc::not_found,
                        fmt::format("save conversation \"{}\": the storage has no object \"{}\"", saved.id, key));
        saved.objects.emplace(key, *std::move(content));
    };
    const auto visit = [&](const std::string& key) { collect(key, nullptr); };
    for (const SavedEntry& entry : saved.journal) {
        for (const StoredText& text : entry.texts_in_store) collect(text.key, text.storage);
    }
    for (const SavedEntry& entry : saved.journal) {
        std::ranges::for_each(entry.referenced_keys, visit);
        for (const auto& range : entry.undo) {
            for (const MessageInfo& info : range.infos) visit_keys(info, visit);
        }
    }
    for (const MessageInfo& info : saved.infos) visit_keys(info, visit);
}

void place_objects(SavedConversation& saved, const std::shared_ptr<Storage>& storage) {
    if (storage == nullptr && !saved.objects.empty()) {
        throw Error(Errc::invalid_argument,
                    fmt::format("load conversation \"{}\": it brings {} stored objects, but no storage is given",
                                saved.id, saved.objects.size()));
    }
    for (const auto& [key, content] : saved.objects) storage->put_if_absent(key, content);
    for (SavedEntry& entry : saved.journal) {
        for (StoredText& text : entry.texts_in_store) text.storage = storage;
    }
}

std::vector<std::string> roots_of(const SavedConversation& saved, std::vector<std::string> roots) {
    for (std::string& root : roots) {
        if (!root.ends_with('/')) root += '/';
    }
    for (const auto& [key, content] : saved.objects) roots.push_back(key);  // it knows what stands there
    return roots;
}

void check_id(const SavedConversation& saved, std::string_view expected) {
    if (expected.empty() || saved.id == to_safe_name(expected)) return;
    throw Error(Errc::damaged, fmt::format("load conversation \"{}\": the side table is that of \"{}\"",
                                           clip_for_error(expected), saved.id));
}

void check_message_count(const SavedConversation& saved, std::size_t messages) {
    if (messages == saved.infos.size()) return;
    throw Error(Errc::damaged,
                fmt::format("load conversation \"{}\": {} messages, but the side table was saved with {}", saved.id,
                            messages, saved.infos.size()));
}

MessageInfo join_saved(MessageInfo described, MessageInfo saved, std::size_t index) {
    if (described.fingerprint != saved.fingerprint) {
        throw Error(
            Errc::damaged,
            fmt::format("load conversation: message {} is not the one that was saved: its fingerprint differs", index));
    }
    if (!saved.parts.empty() && saved.parts.size() != described.parts.size()) {
        throw Error(Errc::damaged,
                    fmt::format("load conversation: message {} has {} parts, but the side table was saved with {}",
                                index, described.parts.size(), saved.parts.size()));
    }
    for (std::size_t p = 0; p < saved.parts.size(); ++p) {
        PartInfo& part = described.parts[p];
        if (!saved.parts[p].tool.empty()) part.tool = std::move(saved.parts[p].tool);
        part.key_safe_call_id = std::move(saved.parts[p].key_safe_call_id);
        part.mark = std::move(saved.parts[p].mark);
    }
    saved.parts = std::move(described.parts);
    saved.role = described.role;
    return saved;
}

StoredPlaces::StoredPlaces(const SavedEntry& entry) {
    for (const StoredText& text : entry.texts_in_store) places_.emplace_back(text.splice, text.message_in_splice);
    std::ranges::sort(places_);
}

bool StoredPlaces::contains(std::size_t range, std::size_t message) const {
    return std::ranges::binary_search(places_, std::pair(range, message));
}

void check_original(const MessageInfo& described, const SavedEntry& entry, std::size_t range, std::size_t message,
                    bool is_stored) {
    const MessageInfo& saved = entry.undo[range].infos[message];
    const bool same_shape = described.role == saved.role && described.parts.size() == saved.parts.size();
    if (same_shape && (is_stored || described.fingerprint == saved.fingerprint)) return;
    throw Error(
        Errc::damaged,
        fmt::format("load conversation: journal entry {}: the original of message {} is not the one that was saved",
                    entry.id, saved.serial));
}

}  // namespace whittle::inline v0::detail
