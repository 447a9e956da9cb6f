#include "gemini_history.hpp"

#include "gemini_form.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

std::vector<GeminiRecord> records_of_gemini(const ordered_json& messages, std::size_t line) {
    std::vector<GeminiRecord> records;
    for (const ordered_json& message : messages) {
        if (message.is_object()) records.push_back({std::string(text_at(message, "id")), message, line});
    }
    return records;
}

/// What the agent says again of a message may lack what it does not send.
void write_again(GeminiRecord& record, ordered_json message, std::size_t line) {
    for (const char* key : {"id", "tokens", "model", "toolCalls"}) {
        const auto old = record.message.find(key);
        const ordered_json* now = find_member(message, key);
        const bool is_lost = now == nullptr || now->is_null() || std::string_view(key) == "id";
        if (is_lost && old != record.message.end()) message[key] = std::move(*old);
    }
    record.message = std::move(message);
    record.line = line;
}

/// A message as the model is shown it.
struct ShownGemini {
    ordered_json message{};
    std::size_t record = 0;
};

/// Without what the agent writes anew when it resumes, and what is no message.
bool is_shown_gemini(const ordered_json& message) {
    return is_gemini_turn(message) && !is_gemini_setup(message) && !is_empty_gemini_reply(message);
}

/// The first messages of records that the model is shown.
struct ShownStart {
    std::vector<ShownGemini> messages{};
    bool is_whole = true;  ///< there are no more than these
};

/// At least `least` messages, if there are so many; nullopt if `may_read(message)` says no of one. `shown`: which of
/// the records to look at.
template <typename Shown, typename RecordAt, typename MayRead>
std::optional<ShownStart> start_of_shown(const Shown& shown, RecordAt record_at, std::size_t least, MayRead may_read) {
    Entries entries;
    LogNotes notes;
    GeminiMessages messages(entries, notes);
    ShownStart start;
    for (const std::size_t at : shown) {
        if (entries.size() > least) {
            start.is_whole = false;
            break;
        }
        if (!may_read(record_at(at).message)) return std::nullopt;
        messages.add(record_at(at).message, at);
    }
    // The newest one may get more by what comes.
    const std::size_t size = start.is_whole ? entries.size() : entries.size() - 1;
    for (std::size_t i = 0; i < size; ++i) start.messages.push_back({std::move(entries[i].message), entries[i].line});
    return start;
}

/// Of a list as it was read.
std::vector<ShownGemini> shown_gemini(const std::vector<GeminiRecord>& records) {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (is_shown_gemini(records[i].message)) shown.push_back(i);
    }
    const auto record_at = [&](std::size_t i) -> const GeminiRecord& { return records[i]; };
    return start_of_shown(shown, record_at, SIZE_MAX, [](const ordered_json&) { return true; })->messages;
}

std::string without_zero_width(std::string_view text) {
    std::string seen;
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t at = std::min(text.find("\xE2\x80", from), text.size());
        const std::string_view character = text.substr(at, 3);
        const bool is_unseen = character.size() == 3 && character[2] >= '\x8B' && character[2] <= '\x8F';
        seen.append(text.substr(from, at - from)).append(is_unseen ? "" : character);
        from = at + character.size();
    }
    return seen;
}

std::string without_comments(std::string_view text) {
    std::string seen;
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t at = text.find("<!--", from);
        const std::size_t end = at == std::string_view::npos ? at : text.find("-->", at);
        seen.append(text.substr(from, end == std::string_view::npos ? end : at - from));
        if (end == std::string_view::npos) break;
        from = end + 3;
    }
    return seen;
}

/// Text as the agent records it of a reply: without what is not seen, which its history has.
std::string seen_text(const ordered_json& content) {
    if (!content.is_string()) return "";
    const std::string text = without_comments(without_zero_width(content.get_ref<const std::string&>()));
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first);
}

std::vector<std::string_view> ids_of_calls(const ordered_json& message) {
    std::vector<std::string_view> ids;
    if (const ordered_json* calls = tree_at(message, "tool_calls")) {
        for (const ordered_json& call : *calls) ids.push_back(text_at(call, "id"));
    }
    return ids;
}

bool have_same_calls(const ShownGemini& a, const ShownGemini& b) {
    for (const char* key : {"role", "tool_call_id"}) {
        if (text_at(a.message, key) != text_at(b.message, key)) return false;
    }
    return ids_of_calls(a.message) == ids_of_calls(b.message);
}

bool are_same(const ShownGemini& a, const ShownGemini& b) {
    return have_same_calls(a, b) && seen_text(a.message["content"]) == seen_text(b.message["content"]);
}

/// Calls and results are known by their ids, whatever they say by now, such as that they were cleared.
bool are_one(const ShownGemini& a, const ShownGemini& b) {
    const bool has_calls = !text_at(a.message, "tool_call_id").empty() || tree_at(a.message, "tool_calls") != nullptr;
    return has_calls ? have_same_calls(a, b) : are_same(a, b);
}

/// Results may stand in the record of their calls, which has the id of the reply.
bool begins_record(const std::vector<ShownGemini>& shown, std::size_t i) {
    return i == 0 || shown[i].record != shown[i - 1].record;
}

std::size_t common_start(const std::vector<ShownGemini>& a, const std::vector<ShownGemini>& b) {
    std::size_t same = 0;
    while (same < std::min(a.size(), b.size()) && are_same(a[same], b[same])) ++same;
    return same;
}

std::size_t common_end(const std::vector<ShownGemini>& a, const std::vector<ShownGemini>& b, std::size_t start) {
    std::size_t same = 0;
    while (start + same < std::min(a.size(), b.size()) && are_same(a[a.size() - 1 - same], b[b.size() - 1 - same]))
        ++same;
    return same;
}

bool may_be_copy(const GeminiRecord& record) {
    const ordered_json& message = record.message;
    return text_at(message, "type") == "user" ||
           (text_at(message, "type") == "gemini" && tree_at(message, "tokens") == nullptr &&
            text_at(message, "model").empty());
}

bool begins_with_results(const std::vector<GeminiRecord>& records) {
    const auto first =
        std::ranges::find_if(records, [](const GeminiRecord& record) { return is_gemini_turn(record.message); });
    return first != records.end() && holds_gemini_results(first->message);
}

}  // namespace

void GeminiHistory::Span::note(std::size_t i) {
    if (is_shown_gemini(at(i).message)) {
        shown.insert(shown.end(), i);
    } else {
        shown.erase(i);
    }
}

void GeminiHistory::Span::note_cut(std::size_t size) { shown.erase(shown.lower_bound(size), shown.end()); }

bool GeminiHistory::may_read_again(const ordered_json& message) {
    const std::size_t bytes = std::min(memory_of(message), may_read_again_);
    may_read_again_ -= bytes;
    return may_read_again_ > 0;
}

void GeminiHistory::note_read(const ordered_json& message) {
    constexpr std::size_t times = 8;
    may_read_again_ += times * memory_of(message);
}

void GeminiHistory::put(GeminiRecord record) {
    note_read(record.message);
    const std::size_t last = spans_.size() - 1;
    Span& newest = spans_[last];
    Places& places = places_[record.id];
    const auto known = places.lower_bound({last, 0});
    if (known == places.end()) {
        places.emplace(last, newest.size());
        newest.records.push_back(std::move(record));
        return newest.note(newest.size() - 1);
    }
    const std::size_t at = known->second;
    if (at < newest.kept.size()) {  // what was in front of the compaction gets it, too
        const std::size_t bytes = copies_.is_spent() ? 0 : memory_of(record.message);
        for (auto earlier = places.begin(); earlier != known; earlier = places.lower_bound({earlier->first + 1, 0})) {
            if (copies_.is_spent() || !copies_.take(bytes)) {
                ++left_as_they_were_;
                break;
            }
            Span& span = spans_[earlier->first];
            write_again(span.at(earlier->second), record.message, record.line);
            span.note(earlier->second);
        }
        if (at == newest.differs) newest.differs = newest.kept.size();  // it may be the same now
    }
    write_again(newest.at(at), std::move(record.message), record.line);
    newest.note(at);
}

void GeminiHistory::rewind(const std::string& id) {
    if (const auto known = position(id)) return cut(*known);
    for (Span& span : spans_) take_back(span.records, 0);
    spans_.assign(1, {});
    places_.clear();
}

/// Its messages as the model is shown them tell what happened: the agent writes them in other ways than it recorded
/// them, and those that it was given without ids once more under new ones.
void GeminiHistory::replace(const ordered_json& messages, std::size_t line) {
    note_read(messages);
    std::vector<GeminiRecord> now = records_of_gemini(messages, line);
    drop_copies(now);
    Span& newest = spans_.back();
    const auto record_at = [&](std::size_t i) -> const GeminiRecord& { return newest.at(i); };
    const auto may_read = [&](const ordered_json& message) { return may_read_again(message); };
    const auto after = shown_gemini(now);
    auto start = start_of_shown(newest.shown, record_at, after.size() + 1, may_read);
    const std::size_t same = start ? common_start(start->messages, after) : 0;
    const bool is_compacted = start && same < start->messages.size() && same < after.size();
    if (is_compacted && !start->is_whole) start = start_of_shown(newest.shown, record_at, SIZE_MAX, may_read);
    if (!start) {
        ++not_compared_;
        return compact(std::move(now), 0);
    }
    const std::vector<ShownGemini>& before = start->messages;
    const std::size_t same_end = is_compacted ? common_end(before, after, same) : 0;
    const auto take_id = [&](std::size_t old, std::size_t as) {
        if (begins_record(before, old) && begins_record(after, as))
            give_id(before[old].record, now[after[as].record].id);
    };
    for (std::size_t i = 0; i < before.size() && i < after.size(); ++i) {
        const bool is_in_step = before.size() == after.size() && are_one(before[i], after[i]);
        if (i < same || is_in_step) take_id(i, i);
        if (i < same_end) take_id(before.size() - 1 - i, after.size() - 1 - i);
    }
    if (is_compacted) return compact(std::move(now), after[same].record);
    if (same == after.size()) cut(end_of(same == 0 ? 0 : before[same - 1].record + 1, now));
    const bool has_more = same > 0 && same < after.size() && after[same].record == after[same - 1].record;
    add_news(std::move(now), same == 0 ? 0 : after[same - 1].record + (has_more ? 0 : 1));
}

/// What is known is as it was; what the history has from `from` on goes on with it.
void GeminiHistory::add_news(std::vector<GeminiRecord> now, std::size_t from) {
    if (!now.empty() && is_gemini_setup(now.front().message) && !position(now.front().id) && from > 0)
        put_in_front(std::move(now.front()));
    for (std::size_t i = from; i < now.size(); ++i) {
        if (!position(now[i].id) || text_at(now[i].message, "type") == "gemini") put(std::move(now[i]));
    }
}

void GeminiHistory::put_in_front(GeminiRecord record) {
    Span& newest = spans_.back();
    if (newest.size() > 0 && is_gemini_setup(newest.at(0).message)) return;  // the same, of an earlier run
    std::vector<GeminiRecord>& list = newest.kept.empty() ? newest.records : newest.kept;
    forget(spans_.size() - 1, 0);
    if (!newest.kept.empty()) ++newest.differs;
    list.insert(list.begin(), std::move(record));
    newest.shown.clear();
    remember(spans_.size() - 1, 0);
}

void GeminiHistory::compact(std::vector<GeminiRecord> now, std::size_t differs) {
    for (const GeminiRecord& record : now) {
        if (Call call = gemini_call(record.message); call.usage && !places_.contains(record.id))
            taken_back_.push_back(std::move(call));
    }
    spans_.push_back({.kept = std::move(now), .differs = differs});
    remember(spans_.size() - 1, 0);
}

/// Messages that the agent had without ids it records as new ones, right in front of the history that they are of.
void GeminiHistory::drop_copies(const std::vector<GeminiRecord>& now) {
    Span& newest = spans_.back();
    std::vector<GeminiRecord>& records = newest.records;
    if (records.empty()) return;
    const auto last = std::ranges::find(now, records.back().id, &GeminiRecord::id);
    if (last == now.end()) return;
    const auto count = static_cast<std::size_t>(last - now.begin()) + 1;
    if (count > records.size() || count == newest.size()) return;
    const auto first = records.end() - static_cast<std::ptrdiff_t>(count);
    const bool are_copies =
        std::equal(first, records.end(), now.begin(),
                   [](const GeminiRecord& a, const GeminiRecord& b) { return a.id == b.id && may_be_copy(a); });
    if (!are_copies) return;
    forget(spans_.size() - 1, newest.size() - count);
    records.erase(first, records.end());
    newest.note_cut(newest.size());
}

/// The end of what is left, from `from` on: what the history has is.
std::size_t GeminiHistory::end_of(std::size_t from, const std::vector<GeminiRecord>& now) const {
    std::size_t end = from;
    for (const GeminiRecord& record : now) {
        if (const auto known = position(record.id)) end = std::max(end, *known + 1);
    }
    return end;
}

void GeminiHistory::cut(std::size_t from) {
    Span& newest = spans_.back();
    std::map<std::size_t, std::size_t> first_gone;  // by span
    for (std::size_t i = from; from < newest.kept.size() && i < newest.size(); ++i) {
        for (const auto& [span, at] : places_.at(newest.at(i).id)) {
            std::size_t& first = first_gone.try_emplace(span, at).first->second;
            first = std::min(first, at);
        }
    }
    forget(spans_.size() - 1, from);
    take_back(newest.records, from - std::min(from, newest.kept.size()));
    newest.note_cut(from);
    if (from >= newest.kept.size()) return;
    newest.kept.resize(from);
    cut_earlier(first_gone);
}

/// What a compaction kept and the person took back is taken back in front of it as well. One that then keeps all that
/// is left was none.
void GeminiHistory::cut_earlier(const std::map<std::size_t, std::size_t>& first_gone) {
    for (std::size_t i = spans_.size() - 1; i-- > 0;) {
        const auto first = first_gone.find(i);
        if (first == first_gone.end()) break;
        Span& span = spans_[i];
        const std::size_t from = first->second;
        forget(i, from);
        take_back(span.records, from - std::min(from, span.kept.size()));
        span.note_cut(from);
        if (from >= span.kept.size()) break;
        span.kept.resize(from);
    }
    while (spans_.size() > 1 && spans_.back().records.empty() && spans_.back().kept.size() <= spans_.back().differs) {
        Span& earlier = spans_[spans_.size() - 2];
        const auto may_read = [&](const ordered_json& message) { return may_read_again(message); };
        const auto record_of = [](Span& span) {
            return [&](std::size_t i) -> const GeminiRecord& { return span.at(i); };
        };
        const auto kept = start_of_shown(spans_.back().shown, record_of(spans_.back()), SIZE_MAX, may_read);
        if (!kept) break;
        const auto before = start_of_shown(earlier.shown, record_of(earlier), kept->messages.size() + 1, may_read);
        if (!before) break;
        const std::size_t same = common_start(kept->messages, before->messages);
        if (same < kept->messages.size()) spans_.back().differs = kept->messages[same].record;
        if (kept->messages.size() != before->messages.size() || same < kept->messages.size()) break;
        forget(spans_.size() - 1, 0);
        spans_.pop_back();
    }
}

void GeminiHistory::take_back(std::vector<GeminiRecord>& records, std::size_t from) {
    for (std::size_t i = from; i < records.size(); ++i) {
        if (Call call = gemini_call(records[i].message); call.usage) taken_back_.push_back(std::move(call));
    }
    records.resize(std::min(from, records.size()));
}

std::optional<std::size_t> GeminiHistory::position(const std::string& id) const {
    const auto known = places_.find(id);
    if (known == places_.end()) return std::nullopt;
    const auto place = known->second.lower_bound({spans_.size() - 1, 0});
    return place == known->second.end() ? std::nullopt : std::optional(place->second);
}

/// To a record of the newest span.
void GeminiHistory::give_id(std::size_t at, const std::string& id) {
    const std::pair place{spans_.size() - 1, at};
    GeminiRecord& record = spans_.back().at(at);
    if (record.id == id) return;
    const auto old = places_.find(record.id);
    old->second.erase(place);
    if (old->second.empty()) places_.erase(old);
    places_[id].insert(place);
    record.id = id;
}

void GeminiHistory::remember(std::size_t span, std::size_t from) {
    for (std::size_t i = from; i < spans_[span].size(); ++i) {
        places_[spans_[span].at(i).id].emplace(span, i);
        spans_[span].note(i);
    }
}

void GeminiHistory::forget(std::size_t span, std::size_t from) {
    for (std::size_t i = from; i < spans_[span].size(); ++i) {
        const auto known = places_.find(spans_[span].at(i).id);
        if (known == places_.end()) continue;
        known->second.erase({span, i});
        if (known->second.empty()) places_.erase(known);
    }
}

void GeminiHistory::write_to(Entries& entries, LogNotes& notes) {
    GeminiMessages all(entries, notes);
    for (const Span& span : spans_) {
        if (&span != &spans_.front()) {
            const bool is_open = begins_with_results(span.records);
            if (!is_open) all.close();
            Entries kept;
            LogNotes of_copies;  // what was kept was noted where it came
            GeminiMessages messages(kept, of_copies);
            for (const GeminiRecord& record : span.kept) messages.add(record.message, record.line);
            if (!is_open) messages.close();
            Compaction& compaction = entries.compact();
            for (std::size_t i = 0; i < kept.size(); ++i) compaction.kept.push_back(std::move(kept[i].message));
        }
        for (const GeminiRecord& record : span.records) all.add(record.message, record.line);
    }
    if (left_as_they_were_ > 0)
        notes.unknown["message written again that too many compactions kept"] += left_as_they_were_;
    if (not_compared_ > 0) notes.unknown["list of messages that was not compared any more"] += not_compared_;
    for (Call& call : taken_back_) entries.bill_elsewhere(std::move(call));
}

}  // namespace whittle::inline v0::logs
