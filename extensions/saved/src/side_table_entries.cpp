#include "whittle/saved/detail/side_table_json.hpp"
#include "whittle/storage/storage.hpp"

#include <array>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

constexpr std::array<std::string_view, 4> entry_kinds{"edit", "tool_return", "restore", "sync"};

ordered_json json_of_stretch(const SavedEntry::Range& range) {
    ordered_json json{{"first", range.first}, {"count", range.count}};
    for (const std::string& message : range.messages) json["messages"].push_back(json_of_bytes(message));
    for (const MessageInfo& info : range.infos) json["infos"].push_back(json_of_info(info, true));
    return json;
}

SavedEntry::Range stretch_of(const ordered_json& json, const std::string& where) {
    ObjectReader reader(json, where);
    SavedEntry::Range range{.first = reader.index("first"), .count = reader.index("count")};
    read_array(reader.find("messages"), reader.place("messages"),
               [&](const ordered_json& element, const std::string& place) {
                   range.messages.push_back(bytes_of(element, place));
               });
    read_array(reader.find("infos"), reader.place("infos"), [&](const ordered_json& element, const std::string& place) {
        range.infos.push_back(info_of(element, place));
    });
    reader.done();
    if (range.messages.size() != range.infos.size()) fail_side_table(where, "not as many infos as messages");
    return range;
}

StoredText text_of_entry(const ordered_json& json, const std::string& where, const SavedEntry& entry) {
    ObjectReader reader(json, where);
    StoredText text{.splice = reader.index("splice"),
                    .message_in_splice = reader.index("message"),
                    .part = reader.index("part"),
                    .key = reader.bytes("key")};
    if (reader.find("element") != nullptr) text.index_in_object = reader.index("element");
    reader.done();
    if (!is_valid_key(text.key)) fail_side_table(where + ".key", "not a storage key");
    const bool is_there = text.splice < entry.undo.size() &&
                          text.message_in_splice < entry.undo[text.splice].infos.size() &&
                          text.part < entry.undo[text.splice].infos[text.message_in_splice].parts.size();
    if (!is_there) fail_side_table(where, "names a part that is not there");
    return text;
}

}  // namespace

ordered_json json_of_entry(const SavedEntry& entry) {
    ordered_json json{{"id", entry.id},
                      {"kind", entry_kinds.at(static_cast<std::size_t>(entry.kind))},
                      {"by", json_of_bytes(entry.by)},
                      {"reason", json_of_bytes(entry.reason)},
                      {"when", entry.when},
                      {"tokens_before", entry.tokens_before},
                      {"tokens_after", entry.tokens_after},
                      {"next_serial", entry.next_serial}};
    if (entry.thinking_prefix_edited_before) json["thinking_prefix_edited_before"] = true;
    for (const std::string& key : entry.referenced_keys) json["stored"].push_back(json_of_bytes(key));
    for (const SavedEntry::Range& range : entry.undo) json["undo"].push_back(json_of_stretch(range));
    for (const StoredText& text : entry.texts_in_store) {
        json["texts"].push_back(
            {{"splice", text.splice}, {"message", text.message_in_splice}, {"part", text.part}, {"key", text.key}});
        if (text.index_in_object) json["texts"].back()["element"] = *text.index_in_object;
    }
    return json;
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
    entry.thinking_prefix_edited_before = reader.flag("thinking_prefix_edited_before");
    entry.referenced_keys = reader.list("stored");
    read_array(reader.find("undo"), reader.place("undo"), [&](const ordered_json& element, const std::string& place) {
        entry.undo.push_back(stretch_of(element, place));
    });
    read_array(reader.find("texts"), reader.place("texts"), [&](const ordered_json& element, const std::string& place) {
        entry.texts_in_store.push_back(text_of_entry(element, place, entry));
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
    if (counters.thinking_prefix_edited) json["prefix_edited"] = true;
    if (counters.request_edited) json["request_edited"] = true;
    if (counters.request != Hash128{}) json["request"] = hex_of(counters.request);
    if (counters.sent > 0) json["sent"] = counters.sent;
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
    counters.thinking_prefix_edited = reader.flag("prefix_edited");
    counters.request_edited = reader.flag("request_edited");
    if (reader.find("request") != nullptr) counters.request = hash_of(reader.bytes("request"), reader.place("request"));
    counters.sent = reader.index("sent");
    reader.done();
    return counters;
}

}  // namespace whittle::inline v0::detail
