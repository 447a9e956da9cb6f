#include "whittle/saved/detail/marks.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/hash.hpp"
#include "whittle/conversation/detail/mark_keys.hpp"
#include "whittle/conversation/detail/object_names.hpp"
#include "whittle/message/detail/group_finder.hpp"
#include "whittle/provider/detail/json_tree.hpp"
#include "whittle/saved/detail/side_table_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <span>
#include <system_error>

namespace whittle::inline v0::detail {

namespace {

constexpr int marks_version = 1;
constexpr std::size_t marks_depth = 32;
constexpr Serial serials_per_object = 32;  // neighbours by serial: a fold changes the objects that it touches alone

/// `counters`: null but in the newest object, for they change with every message.
std::string write_marks(const std::string& conversation, const Outline& outline, std::size_t first, std::size_t last,
                        const Counters* counters) {
    ordered_json json{{"whittle_marks", marks_version}, {"id", conversation}};
    if (counters != nullptr) json["counters"] = json_of_counters(*counters);
    if (counters != nullptr) json["size"] = outline.size();
    json["messages"] = ordered_json::array();
    for (std::size_t i = first; i < last; ++i) json["messages"].push_back(json_of_info(outline[i], false));
    return json.dump();
}

/// "{name of the object}-{place in it}".
struct MarkPlace {
    std::string_view name{};
    std::size_t place = 0;
};

std::optional<MarkPlace> mark_place_of(std::string_view mark_id) {
    const std::string_view name = marks_name_in_id(mark_id);
    if (name.empty()) return std::nullopt;
    const std::string_view digits = mark_id.substr(name.size() + 1);
    MarkPlace found{.name = name};
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), found.place);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return found;
}

/// The table's word over the message's own; nullopt if it is of another message.
std::optional<MessageInfo> known_as(const MessageInfo& described, const MessageInfo& saved) {
    const bool is_same = described.fingerprint == saved.fingerprint &&
                         (saved.parts.empty() || saved.parts.size() == described.parts.size());
    if (!is_same) return std::nullopt;
    return join_saved(described, saved, 0);
}

/// Serials that a mark names, where messages came in between.
Mark moved_on(const Mark& mark, Serial by) {
    if (mark == nullptr || mark->covers.empty() || by == 0) return mark;
    Provenance moved = *mark;
    for (Serial& serial : moved.covers) serial += by;
    return std::make_shared<const Provenance>(std::move(moved));
}

}  // namespace

std::vector<std::string> save_marks(const std::string& conversation, const Outline& outline, const Counters& counters,
                                    Storage& storage) {
    std::vector<std::string> ids;
    ids.reserve(outline.size());
    for (std::size_t first = 0; first < outline.size();) {
        const Serial group = outline[first].serial / serials_per_object;
        std::size_t last = first;
        while (last < outline.size() && outline[last].serial / serials_per_object == group) ++last;
        const bool is_newest = last == outline.size();
        const std::string content = write_marks(conversation, outline, first, last, is_newest ? &counters : nullptr);
        const std::string name = hex_of(hash128(content));
        storage.put_if_absent(key_of_marks(conversation, name), content);
        for (std::size_t i = first; i < last; ++i) ids.push_back(fmt::format("{}-{}", name, i - first));
        first = last;
    }
    return ids;
}

KnownMarks::KnownMarks(std::string_view conversation, Storage* storage)
    : conversation_(to_safe_name(conversation)), storage_(*storage) {
    if (conversation.empty() || storage == nullptr)
        throw Error(Errc::invalid_argument,
                    "load marked messages: a conversation's id (LoadOptions::expected_id) and a storage are needed, "
                    "since marks "
                    "are looked up below that id");
}

/// An object is what its name says, or none.
const KnownMarks::Object* KnownMarks::load(const std::string& name) {
    auto [found, is_new] = objects_.try_emplace(name);
    std::optional<Object>& object = found->second;
    if (!is_new) return object ? &*object : nullptr;
    const auto content = storage_.get(key_of_marks(conversation_, name));
    if (!content || hex_of(hash128(*content)) != name) return nullptr;
    try {
        const ordered_json json =
            parse_json("read marks", *content, {.max_bytes = SIZE_MAX, .max_depth = marks_depth}, nullptr, [] {});
        ObjectReader reader(json, "marks");
        if (reader.integer("whittle_marks", INT64_MIN, INT64_MAX) != marks_version) return nullptr;
        if (bytes_of(reader.require("id"), "id") != conversation_) return nullptr;
        Object read;
        if (const ordered_json* const counters = reader.find("counters")) read.counters = counters_of(*counters);
        read.size = reader.index("size");
        for (const ordered_json& info : reader.require("messages")) read.infos.push_back(info_of(info, "messages"));
        reader.done();
        object = std::move(read);
    } catch (const Error& error) {
        if (error.errc() != Errc::parse_failed) throw;
        return nullptr;  // of a later version, perhaps
    }
    return &*object;
}

const MessageInfo* KnownMarks::find(std::string_view mark_id, const Object*& object) {
    const std::optional<MarkPlace> place = mark_place_of(mark_id);
    if (!place) return nullptr;
    object = load(std::string(place->name));
    return object != nullptr && place->place < object->infos.size() ? &object->infos[place->place] : nullptr;
}

/// A message that stands twice, or in front of one that it stood behind, is known once at most.
void KnownMarks::add(MessageInfo described, std::string_view mark_id) {
    const Object* object = nullptr;
    const MessageInfo* const saved = mark_id.empty() ? nullptr : find(mark_id, object);
    std::optional<MessageInfo> known;
    if (saved != nullptr && saved->serial > last_known_) known = known_as(described, *saved);
    if (!known) return static_cast<void>(messages_.push_back({std::move(described), false}));
    last_known_ = known->serial;
    newest_ = object;
    messages_.push_back({*std::move(known), true});
    known_ = messages_.size();
}

/// Messages that came in between get numbers between; what stands behind them moves on.
void KnownMarks::renumber() {
    ObjectNames names;
    for (const Message& message : messages_) {
        for (const PartInfo& part : message.info.parts) {
            if (!part.key_safe_call_id.empty()) names.take(part.key_safe_call_id);
        }
    }
    GroupFinder groups;
    std::vector<MessageInfo> before;
    before.reserve(messages_.size());
    Serial by = 0;
    for (Message& message : messages_) {
        MessageInfo& info = message.info;
        if (message.is_known) {
            info.serial += by;
            info.mark = moved_on(info.mark, by);
            for (PartInfo& part : info.parts) part.mark = moved_on(part.mark, by);
        } else {
            ++by;
            const MessageInfo last = before.empty() ? MessageInfo{} : before.back();
            info.serial = last.serial + 1;
            info.model_calls_before = last.model_calls_before + (last.role == Role::assistant ? 1 : 0);
            info.turn = last.turn;
        }
        groups.join(info, Outline(std::span<const MessageInfo>(before)));
        if (!message.is_known) names.assign_to(info);
        before.push_back(info);
    }
    last_known_ += by;
}

/// What was counted when the newest message that is known was saved, as far as the list still is that one.
Counters KnownMarks::counters() const {
    Counters counters;
    if (newest_ != nullptr && newest_->counters) counters = *newest_->counters;
    const MessageInfo& last = messages_.back().info;
    const bool is_as_saved =
        newest_ != nullptr && newest_->size == messages_.size() && std::ranges::all_of(messages_, &Message::is_known);
    if (!is_as_saved) {
        counters.sent = 0;
        counters.reported_tokens = 0;
        counters.reported_at = 0;
        counters.model_calls =
            std::max(counters.model_calls, last.model_calls_before + (last.role == Role::assistant ? 1 : 0));
        counters.turn = std::max(counters.turn, last.turn);
    }
    const Serial moved = counters.next_serial + (is_as_saved ? 0 : messages_.size());
    counters.next_serial = std::max(moved, last.serial + 1);
    return counters;
}

MarkedList KnownMarks::take() {
    messages_.resize(known_);  // those behind are pushed
    if (messages_.empty()) return {};
    renumber();
    MarkedList list{.counters = counters()};
    for (Message& message : messages_) list.infos.push_back(std::move(message.info));
    return list;
}

}  // namespace whittle::inline v0::detail
