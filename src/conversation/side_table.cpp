#include "whittle/conversation/detail/side_table.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/error.hpp"
#include "whittle/conversation/detail/checks.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

namespace whittle::inline v0::detail {

SideTable::SideTable(std::string name) : id(std::move(name)), objects(std::make_shared<StoredObjects>(id)) {}
SideTable::SideTable(const SideTable&) = default;
SideTable::SideTable(SideTable&&) noexcept = default;
SideTable& SideTable::operator=(SideTable&&) noexcept = default;
SideTable::~SideTable() = default;

SideTable::Tail SideTable::tail() const { return {infos.size(), log.size(), columns, counters}; }
SideTable::Savepoint SideTable::savepoint() const { return {log.size(), columns.size(), notes, counters}; }

StoredObjects& SideTable::own_objects() {
    if (!objects) objects = std::make_shared<StoredObjects>(id);
    return *objects;
}

void SideTable::number(MessageInfo& info) const noexcept {
    info.serial = counters.next_serial;
    info.model_calls_before = counters.model_calls;
    info.turn = counters.turn + (!counters.explicit_turns && starts_turn(info) ? 1 : 0);
}

void SideTable::prepare(MessageInfo& info) {
    groups.join(info, outline());
    grow(infos, 1);
    names.assign_to(info);
}

void SideTable::append(MessageInfo&& info) noexcept {
    infos.push_back(std::move(info));
    const MessageInfo& added = infos.back();
    add_to_sums(added);
    counters.turn = added.turn;
    ++counters.next_serial;
    ++counters.version;
}

void SideTable::note_reply(const std::optional<Usage>& usage) {
    ++counters.model_calls;
    if (!usage || usage->total() <= 0) return;
    columns.anchor_all(usage->total());
    counters.reported_tokens = usage->total();
    counters.reported_at = infos.back().serial;
}

std::size_t SideTable::column(const std::shared_ptr<const TokenCounter>& counter,
                              FunctionRef<std::int64_t(std::size_t)> count) {
    if (const auto found = columns.find(counter->id())) return *found;
    std::vector<std::int64_t> counts;
    counts.reserve(infos.size());
    for (std::size_t i = 0; i < infos.size(); ++i) {
        counts.push_back(count(i));
        infos[i].tokens_by_counter.reserve(columns.size() + 1);
    }
    const std::size_t added = columns.add(counter);
    for (std::size_t i = 0; i < infos.size(); ++i) infos[i].tokens_by_counter.push_back(counts[i]);
    columns.set_messages(added, counts);
    return added;
}

void SideTable::note_moved() noexcept {
    ++epoch;
    ++edits;
    groups.forget();
}

void SideTable::add_to_sums(const MessageInfo& info) noexcept {
    columns.add_message(info);
    if (info.has(PartKind::thinking)) ++thinking_messages;
}

void SideTable::take_from_sums(const MessageInfo& info) noexcept {
    columns.remove_message(info);
    if (info.has(PartKind::thinking)) --thinking_messages;
}

void SideTable::note_returned(JournalRecord& record, const ToolReturn& returned) {
    if (!returned.read_back.empty()) ++counters.read_backs;
    for (const StoredPart& stored : returned.stored) {
        if (stored.key.empty()) continue;
        record.referenced_keys.push_back(stored.key);
        own_objects().add(stored.key, stored.storage);
    }
}

ContextCount SideTable::context(std::size_t column, bool is_new, std::string_view system,
                                std::span<const ToolSpec> tools) {
    try {
        columns.set_overhead(column, system, tools);
    } catch (...) {  // the next call has to see a new column again, or it would not anchor it
        if (is_new) columns.shrink_to(column);
        for (MessageInfo& info : infos)
            info.tokens_by_counter.resize(std::min(info.tokens_by_counter.size(), columns.size()));
        throw;
    }
    if (is_new) anchor_late(column);
    return columns.context(column);
}

std::vector<std::int64_t> SideTable::tokens_of_each(std::size_t column) const {
    std::vector<std::int64_t> tokens;
    tokens.reserve(infos.size());
    for (const MessageInfo& info : infos) tokens.push_back(info.tokens_by_counter[column]);
    return tokens;
}

std::int64_t SideTable::sent_tokens_from(std::size_t first, std::size_t column) const noexcept {
    std::int64_t tokens = 0;
    for (std::size_t i = first; i < std::min(counters.sent, infos.size()); ++i)
        tokens = add_saturating(tokens, infos[i].tokens_by_counter[column]);
    return tokens;
}

bool SideTable::set_pinned(Serial serial, bool pinned) {
    const auto index = outline().index_of(serial);
    if (!index) return false;
    if (infos[*index].pinned != pinned) new_version();  // a plan made before must not go through
    infos[*index].pinned = pinned;
    return true;
}

void SideTable::pin(const std::function<bool(const MessageInfo&)>& predicate) {
    new_version();
    for (MessageInfo& info : infos) {
        if (predicate(info)) info.pinned = true;
    }
}

void SideTable::mark(std::size_t index, Provenance provenance) {
    if (index >= infos.size()) {
        throw Error(Errc::invalid_argument, "mark message " + std::to_string(index) + ": there are only " +
                                                std::to_string(infos.size()) + " messages");
    }
    Mark mark =
        provenance.origin == Origin::original ? nullptr : std::make_shared<const Provenance>(std::move(provenance));
    new_version();
    infos[index].mark = std::move(mark);
}

std::size_t SideTable::count_cut_off(std::size_t first, std::size_t last) const {
    std::unordered_set<Serial> rounds;
    for (std::size_t i = first; i < last; ++i) {
        if (infos[i].round_serial == infos[i].serial) rounds.insert(infos[i].serial);
    }
    std::size_t end = last;
    for (std::size_t i = last; i < infos.size() && !rounds.empty(); ++i) {
        if (rounds.contains(infos[i].round_serial)) end = i + 1;
    }
    return end - last;
}

void SideTable::anchor_late(std::size_t column) {
    if (counters.reported_at == 0) return;
    std::int64_t estimate = columns[column].overhead;
    for (const MessageInfo& info : infos) {
        estimate = add_saturating(estimate, info.tokens_by_counter[column]);
        if (info.serial == counters.reported_at) return columns.anchor(column, counters.reported_tokens, estimate);
    }
}

JournalRecord SideTable::new_record(JournalRecord::Kind kind, std::string by, std::string reason) const {
    return {.id = counters.next_entry,
            .kind = kind,
            .by = std::move(by),
            .reason = std::move(reason),
            .thinking_prefix_edited_before = counters.thinking_prefix_edited,
            .next_serial = counters.next_serial};
}

void SideTable::new_version() {
    log.add(counters.version + 1, 0, 0, 0, infos.size());
    ++counters.version;
}

bool SideTable::note_request(const Hash128& request) noexcept {
    const bool is_edit = counters.request != Hash128{} && counters.request != request && has_thinking();
    counters.request_edited = counters.request_edited || is_edit;
    counters.request = request;
    return is_edit;
}

void SideTable::cut_back(Tail& to) noexcept {
    note_moved();
    for (; infos.size() > to.size; infos.pop_back()) {
        if (infos.back().has(PartKind::thinking)) --thinking_messages;
        names.release(infos.back());
    }
    log.shrink_to(to.log);
    columns = std::move(to.columns);
    counters = to.counters;
}

void SideTable::roll_back(const Savepoint& to) noexcept {
    log.shrink_to(to.log);
    columns.shrink_to(to.columns);
    for (MessageInfo& info : infos) {
        if (info.tokens_by_counter.size() > to.columns) info.tokens_by_counter.resize(to.columns);
    }
    notes = to.notes;
    counters = to.counters;
}

void SideTable::take_names(const std::vector<MessageInfo>& of) {
    for (const MessageInfo& info : of) {
        for (const PartInfo& part : info.parts) {
            if (!part.key_safe_call_id.empty()) names.take(part.key_safe_call_id);
        }
    }
}

void SideTable::load(std::vector<MessageInfo> saved, NoteBook saved_notes, const Counters& saved_counters) {
    infos = std::move(saved);
    notes = std::move(saved_notes);
    counters = saved_counters;
    log.start_at(counters.version, infos.size());
    std::unordered_set<SharedString> known;
    const auto share = [&](SharedString& text) { text = *known.insert(text).first; };
    for (MessageInfo& info : infos) {
        info.tokens_by_counter.clear();
        if (info.has(PartKind::thinking)) ++thinking_messages;
        for (PartInfo& part : info.parts) share(part.call_id), share(part.tool), share(part.key_safe_call_id);
    }
    take_names(infos);
}

}  // namespace whittle::inline v0::detail
