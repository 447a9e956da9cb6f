#include "gemini_history.hpp"

#include "gemini_form.hpp"
#include "whittle/adapter/detail/json_tree.hpp"

#include <algorithm>
#include <array>
#include <iterator>
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
        const ordered_json* old = find_member(record.message, key);
        const ordered_json* now = find_member(message, key);
        const bool is_lost = now == nullptr || now->is_null() || std::string_view(key) == "id";
        if (is_lost && old != nullptr) message[key] = *old;
    }
    record.message = std::move(message);
    record.line = line;
}

/// A message as the model is shown it.
struct ShownGemini {
    ordered_json message{};
    std::size_t record = 0;
};

/// Without what the agent writes anew when it resumes.
template <typename RecordAt>
std::vector<ShownGemini> shown_gemini(std::size_t size, RecordAt record_at) {
    Entries entries;
    LogNotes notes;
    GeminiMessages messages(entries, notes);
    for (std::size_t i = 0; i < size; ++i) {
        const ordered_json& message = record_at(i).message;
        if (is_gemini_turn(message) && !is_gemini_setup(message)) messages.add(message, i);
    }
    std::vector<ShownGemini> shown;
    for (std::size_t i = 0; i < entries.size(); ++i) shown.push_back({std::move(entries[i].message), entries[i].line});
    return shown;
}

std::vector<ShownGemini> shown_gemini(const std::vector<GeminiRecord>& records) {
    return shown_gemini(records.size(), [&](std::size_t i) -> const GeminiRecord& { return records[i]; });
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

void GeminiHistory::put(GeminiRecord record) {
    const std::size_t last = spans_.size() - 1;
    Span& newest = spans_[last];
    Places& places = places_[record.id];
    const auto [known, is_new] = places.try_emplace(last, newest.size());
    if (is_new) return newest.records.push_back(std::move(record));
    if (known->second < newest.kept.size()) {  // what was in front of the compaction gets it, too
        const std::size_t bytes = copies_.is_spent() ? 0 : memory_of(record.message);
        for (auto earlier = places.begin(); earlier != known; ++earlier) {
            if (copies_.is_spent() || !copies_.take(bytes)) {
                ++left_as_they_were_;
                break;
            }
            write_again(spans_[earlier->first].at(earlier->second), record.message, record.line);
        }
        if (known->second == newest.differs) newest.differs = newest.kept.size();  // it may be the same now
    }
    write_again(newest.at(known->second), std::move(record.message), record.line);
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
    std::vector<GeminiRecord> now = records_of_gemini(messages, line);
    drop_copies(now);
    Span& newest = spans_.back();
    const auto before = shown_gemini(newest.size(), [&](std::size_t i) -> const GeminiRecord& { return newest.at(i); });
    const auto after = shown_gemini(now);
    const std::size_t same = common_start(before, after);
    const bool is_compacted = same < before.size() && same < after.size();
    const std::size_t same_end = is_compacted ? common_end(before, after, same) : 0;
    forget(spans_.size() - 1, 0);
    const auto give_id = [&](std::size_t old, std::size_t as) {
        if (begins_record(before, old) && begins_record(after, as))
            newest.at(before[old].record).id = now[after[as].record].id;
    };
    for (std::size_t i = 0; i < before.size() && i < after.size(); ++i) {
        const bool is_in_step = before.size() == after.size() && are_one(before[i], after[i]);
        if (i < same || is_in_step) give_id(i, i);
        if (i < same_end) give_id(before.size() - 1 - i, after.size() - 1 - i);
    }
    remember(spans_.size() - 1, 0);
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
    remember(spans_.size() - 1, 0);
}

void GeminiHistory::compact(std::vector<GeminiRecord> now, std::size_t differs) {
    for (const GeminiRecord& record : now) {
        if (Call call = gemini_call(record.message); call.usage && !places_.contains(record.id))
            taken_back_.push_back(std::move(call));
    }
    spans_.push_back({std::move(now), {}, differs});
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
    Places first_gone;
    for (std::size_t i = from; from < newest.kept.size() && i < newest.size(); ++i) {
        for (const auto& [span, at] : places_.at(newest.at(i).id)) {
            std::size_t& first = first_gone.try_emplace(span, at).first->second;
            first = std::min(first, at);
        }
    }
    forget(spans_.size() - 1, from);
    take_back(newest.records, from - std::min(from, newest.kept.size()));
    if (from >= newest.kept.size()) return;
    newest.kept.resize(from);
    cut_earlier(first_gone);
}

/// What a compaction kept and the person took back is taken back in front of it as well. One that then keeps all that
/// is left was none.
void GeminiHistory::cut_earlier(const Places& first_gone) {
    for (std::size_t i = spans_.size() - 1; i-- > 0;) {
        const auto first = first_gone.find(i);
        if (first == first_gone.end()) break;
        Span& span = spans_[i];
        const std::size_t from = first->second;
        forget(i, from);
        take_back(span.records, from - std::min(from, span.kept.size()));
        if (from >= span.kept.size()) break;
        span.kept.resize(from);
    }
    while (spans_.size() > 1 && spans_.back().records.empty() && spans_.back().kept.size() <= spans_.back().differs) {
        Span& earlier = spans_[spans_.size() - 2];
        const auto before =
            shown_gemini(earlier.size(), [&](std::size_t i) -> const GeminiRecord& { return earlier.at(i); });
        const auto kept = shown_gemini(spans_.back().kept);
        const std::size_t same = common_start(kept, before);
        if (same < kept.size()) spans_.back().differs = kept[same].record;
        if (kept.size() != before.size() || same < kept.size()) break;
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
    if (known == places_.end() || known->second.rbegin()->first + 1 != spans_.size()) return std::nullopt;
    return known->second.rbegin()->second;
}

void GeminiHistory::remember(std::size_t span, std::size_t from) {
    for (std::size_t i = from; i < spans_[span].size(); ++i) places_[spans_[span].at(i).id].try_emplace(span, i);
}

void GeminiHistory::forget(std::size_t span, std::size_t from) {
    for (std::size_t i = from; i < spans_[span].size(); ++i) {
        const auto known = places_.find(spans_[span].at(i).id);
        if (known == places_.end()) continue;
        if (const auto place = known->second.find(span); place != known->second.end() && place->second >= from)
            known->second.erase(place);
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
    for (Call& call : taken_back_) entries.bill_elsewhere(std::move(call));
}

}  // namespace whittle::inline v0::logs
