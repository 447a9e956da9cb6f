#include "edit_json.hpp"

#include "whittle/provider/detail/json_tree.hpp"

#include <utility>

namespace whittle::inline v0::detail {

namespace {

ordered_json json_of_saved_range(const SavedRange& range) {
    ordered_json json{{"first", range.first}};
    if (range.count > 0) json["count"] = range.count;
    for (const std::string& message : range.messages) json["messages"].push_back(json_of_bytes(message));
    for (const MessageInfo& info : range.infos) json["infos"].push_back(json_of_info(info, false));
    return json;
}

SavedRange saved_stretch_of(const ordered_json& json, const std::string& where) {
    ObjectReader reader(json, where);
    SavedRange range{.first = reader.index("first"), .count = reader.index("count")};
    read_array(reader.find("messages"), reader.place("messages"),
               [&](const ordered_json& element, const std::string& place) {
                   range.messages.push_back(bytes_of(element, place));
               });
    read_array(reader.find("infos"), reader.place("infos"), [&](const ordered_json& element, const std::string& place) {
        range.infos.push_back(info_of(element, place));
    });
    reader.done();
    return range;
}

SavedPatch patch_of(const ordered_json& json, const std::string& where) {
    ObjectReader reader(json, where);
    SavedPatch patch{.at = reader.index("at"), .info = info_of(reader.require("info"), reader.place("info"))};
    reader.done();
    return patch;
}

NoteBook::Key note_key_of(const ordered_json& json, const std::string& where) {
    ObjectReader reader(json, where);
    NoteBook::Key key{reader.bytes("by"), reader.bytes("name")};
    reader.done();
    return key;
}

}  // namespace

ordered_json json_of_edit(const SavedEdit& edit) {
    ordered_json json = ordered_json::object();
    for (const SavedRange& range : edit.ranges) json["messages"].push_back(json_of_saved_range(range));
    for (const SavedPatch& patch : edit.patches)
        json["known"].push_back({{"at", patch.at}, {"info", json_of_info(patch.info, false)}});
    json["journal_kept"] = edit.journal_kept;
    for (const SavedEntry& entry : edit.journal) json["journal"].push_back(json_of_entry(entry));
    if (!edit.notes.all().empty()) json["notes"] = json_of_notes(edit.notes);
    for (const auto& [by, name] : edit.notes_erased)
        json["notes_erased"].push_back({{"by", json_of_bytes(by)}, {"name", json_of_bytes(name)}});
    json["counters"] = json_of_counters(edit.counters);
    if (edit.calibrations) json["calibrations"] = json_of_calibrations(*edit.calibrations);
    return json;
}

SavedEdit edit_of(const ordered_json& json, const std::string& where) {
    ObjectReader reader(json, where);
    SavedEdit edit;
    read_array(reader.find("messages"), reader.place("messages"),
               [&](const ordered_json& element, const std::string& place) {
                   edit.ranges.push_back(saved_stretch_of(element, place));
               });
    read_array(reader.find("known"), reader.place("known"), [&](const ordered_json& element, const std::string& place) {
        edit.patches.push_back(patch_of(element, place));
    });
    edit.journal_kept = reader.index("journal_kept");
    read_array(reader.find("journal"), reader.place("journal"),
               [&](const ordered_json& element, const std::string& place) {
                   edit.journal.push_back(entry_of(element, place));
               });
    if (const ordered_json* const notes = reader.find("notes")) edit.notes = notes_of(*notes, reader.place("notes"));
    read_array(reader.find("notes_erased"), reader.place("notes_erased"),
               [&](const ordered_json& element, const std::string& place) {
                   edit.notes_erased.push_back(note_key_of(element, place));
               });
    edit.counters = counters_of(reader.require("counters"));
    if (const ordered_json* const fits = reader.find("calibrations"))
        edit.calibrations = calibrations_of(*fits, reader.place("calibrations"));
    reader.done();
    return edit;
}

std::string write_document(const SavedDocument& document) {
    ordered_json messages = ordered_json::array();
    for (const std::string& message : document.messages) messages.push_back(json_of_bytes(message));
    return write_side_table(document.saved) + "\n" + messages.dump();
}

SavedDocument read_document(std::string_view text) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) fail_side_table("snapshot", "its messages are missing");
    SavedDocument document{.saved = read_side_table(text.substr(0, end), never_cancelled), .messages = {}};
    const ordered_json messages = parse_json("read a snapshot", text.substr(end + 1), {.max_bytes = SIZE_MAX});
    read_array(&messages, "messages", [&](const ordered_json& element, const std::string& place) {
        document.messages.push_back(bytes_of(element, place));
    });
    check_message_count(document.saved, document.messages.size());
    return document;
}

}  // namespace whittle::inline v0::detail
