#include "whittle/adapter/side_table.hpp"

#include "side_table_json.hpp"
#include "whittle/adapter/detail/json_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace whittle::inline v0::detail {

namespace {

constexpr int format_version = 1;
constexpr std::size_t max_depth = 32;
constexpr std::array<std::string_view, 4> entry_kinds{"edit", "tool_return", "restore", "sync"};

ordered_json json_of(const SavedEntry::Stretch& stretch) {
    ordered_json json{{"first", stretch.first}, {"count", stretch.count}};
    for (const std::string& message : stretch.messages) json["messages"].push_back(json_of_bytes(message));
    for (const MessageInfo& info : stretch.infos) json["infos"].push_back(json_of_info(info, true));
    return json;
}

ordered_json json_of(const SavedEntry& entry) {
    ordered_json json{{"id", entry.id},
                      {"kind", entry_kinds.at(static_cast<std::size_t>(entry.kind))},
                      {"by", json_of_bytes(entry.by)},
                      {"reason", json_of_bytes(entry.reason)},
                      {"when", entry.when},
                      {"tokens_before", entry.tokens_before},
                      {"tokens_after", entry.tokens_after},
                      {"next_serial", entry.next_serial}};
    if (entry.prefix_edited_before) json["prefix_edited_before"] = true;
    for (const std::string& key : entry.stored) json["stored"].push_back(json_of_bytes(key));
    for (const SavedEntry::Stretch& stretch : entry.undo) json["undo"].push_back(json_of(stretch));
    for (const StoredText& text : entry.texts) {
        json["texts"].push_back(
            {{"splice", text.splice}, {"message", text.message}, {"part", text.part}, {"key", text.key}});
        if (text.element) json["texts"].back()["element"] = *text.element;
    }
    return json;
}

SavedEntry::Stretch stretch_of(const ordered_json& json, const std::string& where) {
    ObjectReader reader(json, where);
    SavedEntry::Stretch stretch{.first = reader.index("first"), .count = reader.index("count")};
    read_array(reader.find("messages"), reader.place("messages"),
               [&](const ordered_json& element, const std::string& place) {
                   stretch.messages.push_back(bytes_of(element, place));
               });
    read_array(reader.find("infos"), reader.place("infos"), [&](const ordered_json& element, const std::string& place) {
        stretch.infos.push_back(info_of(element, place));
    });
    reader.done();
    if (stretch.messages.size() != stretch.infos.size()) fail_side_table(where, "not as many infos as messages");
    return stretch;
}

StoredText text_of_entry(const ordered_json& json, const std::string& where, const SavedEntry& entry) {
    ObjectReader reader(json, where);
    StoredText text{.splice = reader.index("splice"),
                    .message = reader.index("message"),
                    .part = reader.index("part"),
                    .key = reader.bytes("key")};
    if (reader.find("element") != nullptr) text.element = reader.index("element");
    reader.done();
    if (!is_valid_key(text.key)) fail_side_table(where + ".key", "not a storage key");
    const bool is_there = text.splice < entry.undo.size() && text.message < entry.undo[text.splice].infos.size() &&
                          text.part < entry.undo[text.splice].infos[text.message].parts.size();
    if (!is_there) fail_side_table(where, "names a part that is not there");
    return text;
}

SavedEntry entry_of(const ordered_json& json, const std::string& where) {
    ObjectReader reader(json, where);
    SavedEntry entry;
    entry.id = reader.serial("id");
    entry.kind = static_cast<JournalRecord::Kind>(reader.word("kind", entry_kinds));
    entry.by = reader.bytes("by");
    entry.reason = reader.bytes("reason");
    entry.when = reader.integer("when", INT64_MIN, INT64_MAX);
    entry.tokens_before = reader.integer("tokens_before", INT64_MIN, INT64_MAX);
    entry.tokens_after = reader.integer("tokens_after", INT64_MIN, INT64_MAX);
    entry.next_serial = reader.serial("next_serial");
    entry.prefix_edited_before = reader.flag("prefix_edited_before");
    entry.stored = reader.list("stored");
    read_array(reader.find("undo"), reader.place("undo"), [&](const ordered_json& element, const std::string& place) {
        entry.undo.push_back(stretch_of(element, place));
    });
    read_array(reader.find("texts"), reader.place("texts"), [&](const ordered_json& element, const std::string& place) {
        entry.texts.push_back(text_of_entry(element, place, entry));
    });
    reader.done();
    return entry;
}

ordered_json json_of_counters(const Counters& counters) {
    ordered_json json{{"version", counters.version},
                      {"next_serial", counters.next_serial},
                      {"next_entry", counters.next_entry},
                      {"turn", counters.turn},
                      {"run", counters.run},
                      {"model_calls", counters.model_calls},
                      {"read_backs", counters.read_backs},
                      {"explicit_turns", counters.explicit_turns},
                      {"reported_tokens", counters.reported_tokens},
                      {"reported_at", counters.reported_at}};
    if (counters.prefix_edited) json["prefix_edited"] = true;
    if (counters.request_edited) json["request_edited"] = true;
    if (counters.request != Hash128{}) json["request"] = hex_of(counters.request);
    return json;
}

Counters counters_of(const ordered_json& json) {
    ObjectReader reader(json, "counters");
    Counters counters;
    counters.version = reader.serial("version");
    counters.next_serial = reader.serial("next_serial");
    counters.next_entry = reader.serial("next_entry");
    counters.turn = reader.small("turn");
    counters.run = reader.small("run");
    counters.model_calls = reader.small("model_calls");
    counters.read_backs = reader.integer("read_backs", 0, INT64_MAX, 0);
    counters.explicit_turns = reader.flag("explicit_turns");
    counters.reported_tokens = reader.integer("reported_tokens", 0, INT64_MAX);
    counters.reported_at = reader.serial("reported_at");
    counters.prefix_edited = reader.flag("prefix_edited");
    counters.request_edited = reader.flag("request_edited");
    if (reader.find("request") != nullptr) counters.request = hash_of(reader.bytes("request"), reader.place("request"));
    reader.done();
    return counters;
}

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
        if (info.serial >= next_serial || info.group >= next_serial) {
            fail_side_table(where,
                            fmt::format("serial {} or group {} is not below next_serial", info.serial, info.group));
        }
        if (!seen.insert(info.serial).second)
            fail_side_table(where, fmt::format("serial {} stands there twice", info.serial));
    }
}

/// The length of the list once `entry`, the newest one, is undone.
std::size_t size_before(const SavedEntry& entry, std::size_t size, const std::string& where) {
    std::size_t end = 0;
    std::size_t result = size;
    for (const SavedEntry::Stretch& stretch : entry.undo) {
        const bool fits = stretch.first >= end && stretch.first <= size && stretch.count <= size - stretch.first;
        if (!fits) fail_side_table(where, "replaces messages that are not there");
        end = stretch.first + stretch.count;
        result = result - stretch.count + stretch.messages.size();
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
        for (const SavedEntry::Stretch& stretch : entry.undo)
            check_serials(stretch.infos, saved.counters.next_serial, where, seen);
    }
}

void check_consistency(const SavedConversation& saved) {
    if (saved.counters.next_serial == 0 || saved.counters.next_entry == 0)
        fail_side_table("counters", "next_serial and next_entry are 1 or more");
    std::set<Serial> seen;
    check_serials(saved.infos, saved.counters.next_serial, "messages", seen);
    check_journal(saved);
}

ordered_json parse_side_table(std::string_view json, Poll poll) {
    const std::size_t zero = json.find('\0');  // the parser would take it for the end
    if (zero != std::string_view::npos) fail_side_table(fmt::format("byte {}", zero), "a zero byte");
    return parse_json("read a side table", json, {.max_bytes = SIZE_MAX, .max_depth = max_depth}, nullptr, poll);
}

void require_version(ObjectReader& reader) {
    const std::int64_t version = reader.integer("whittle_side_table", INT64_MIN, INT64_MAX, -1);
    if (version == format_version) return;
    fail_side_table(
        "whittle_side_table",
        version < 0 ? std::string("missing: this is no side table")
                    : fmt::format("version {} is not known; this library reads version {}", version, format_version));
}

template <typename Visit>
void visit_keys(const MessageInfo& info, Visit&& visit) {
    const auto visit_mark = [&](const Mark& mark) {
        if (mark) std::ranges::for_each(mark->stored, visit);
    };
    visit_mark(info.mark);
    for (const PartInfo& part : info.parts) visit_mark(part.mark);
}

}  // namespace

std::string write_side_table(const SavedConversation& saved) {
    ordered_json json{{"whittle_side_table", format_version}, {"id", saved.id}};
    json["counters"] = json_of_counters(saved.counters);
    if (!saved.calibrations.fits.empty()) json["calibrations"] = json_of_calibrations(saved.calibrations);
    json["messages"] = ordered_json::array();
    for (const MessageInfo& info : saved.infos) json["messages"].push_back(json_of_info(info, false));
    json["journal"] = ordered_json::array();
    for (const SavedEntry& entry : saved.journal) json["journal"].push_back(json_of(entry));
    json["notes"] = json_of_notes(saved.notes);
    if (!saved.objects.empty()) {
        ordered_json::object_t objects;  // by `emplace_back`: `[]` looks at every key before it
        for (const auto& [key, content] : saved.objects) objects.emplace_back(key, json_of_bytes(content));
        json["objects"] = std::move(objects);
    }
    return json.dump();
}

SavedConversation read_side_table(std::string_view text, Poll poll) {
    const ordered_json json = parse_side_table(text, poll);
    ObjectReader reader(json, "side table");
    require_version(reader);
    SavedConversation saved;
    saved.id = bytes_of(reader.require("id"), "id");
    if (!is_safe_name(saved.id)) fail_side_table("id", "not a conversation's id");
    saved.counters = counters_of(reader.require("counters"));
    if (const ordered_json* const fits = reader.find("calibrations"))
        saved.calibrations = calibrations_of(*fits, "calibrations");
    read_array(&reader.require("messages"), "messages", [&](const ordered_json& element, const std::string& where) {
        poll();
        saved.infos.push_back(info_of(element, where));
    });
    read_array(&reader.require("journal"), "journal", [&](const ordered_json& element, const std::string& where) {
        poll();
        saved.journal.push_back(entry_of(element, where));
    });
    saved.notes = notes_of(reader.require("notes"), "notes");
    read_objects(reader.find("objects"), saved);
    reader.done();
    check_consistency(saved);
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
        for (const StoredText& text : entry.texts) collect(text.key, text.storage);
    }
    for (const SavedEntry& entry : saved.journal) {
        std::ranges::for_each(entry.stored, visit);
        for (const auto& stretch : entry.undo) {
            for (const MessageInfo& info : stretch.infos) visit_keys(info, visit);
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
        for (StoredText& text : entry.texts) text.storage = storage;
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
        part.object_name = std::move(saved.parts[p].object_name);
        part.mark = std::move(saved.parts[p].mark);
    }
    saved.parts = std::move(described.parts);
    saved.role = described.role;
    return saved;
}

StoredPlaces::StoredPlaces(const SavedEntry& entry) {
    for (const StoredText& text : entry.texts) places_.emplace_back(text.splice, text.message);
    std::ranges::sort(places_);
}

bool StoredPlaces::contains(std::size_t stretch, std::size_t message) const {
    return std::ranges::binary_search(places_, std::pair(stretch, message));
}

void check_original(const MessageInfo& described, const SavedEntry& entry, std::size_t stretch, std::size_t message,
                    bool is_stored) {
    const MessageInfo& saved = entry.undo[stretch].infos[message];
    const bool same_shape = described.role == saved.role && described.parts.size() == saved.parts.size();
    if (same_shape && (is_stored || described.fingerprint == saved.fingerprint)) return;
    throw Error(
        Errc::damaged,
        fmt::format("load conversation: journal entry {}: the original of message {} is not the one that was saved",
                    entry.id, saved.serial));
}

}  // namespace whittle::inline v0::detail
