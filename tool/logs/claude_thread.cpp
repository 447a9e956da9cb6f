#include "claude_thread.hpp"

#include "claude_results.hpp"
#include "claude_usage.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

ordered_json to_blocks(ordered_json&& content) {
    if (content.is_array()) return std::move(content);
    return ordered_json::array({{{"type", "text"}, {"text", std::move(content)}}});
}

/// What the record's message says: a text or blocks; else null.
ordered_json* content_of(ordered_json& record) {
    const auto message = record.find("message");
    if (message == record.end() || !message->is_object()) return nullptr;
    const auto content = message->find("content");
    const bool has_content = content != message->end() && (content->is_array() || content->is_string());
    return has_content ? &*content : nullptr;
}

/// Kinds of "iterations" that the usage around them holds.
constexpr std::array<std::string_view, 3> claude_counted_iterations{"message", "fallback_message", "turn"};
/// Kinds that were billed beside it: another model was asked, or the request was summed up by the provider.
constexpr std::array<std::string_view, 2> claude_billed_iterations{"advisor_message", "compaction"};

/// Whether what a compaction kept stands in front of its summary: it is tied to the boundary, else to the summary.
bool keeps_what_is_in_front(const ordered_json& facts, std::string_view boundary) {
    for (const char* kind : {"preservedMessages", "preservedSegment"}) {
        const ordered_json* kept = tree_at(facts, kind);
        if (kept != nullptr && !boundary.empty() && text_at(*kept, "anchorUuid") == boundary) return true;
    }
    return false;
}

/// Or that of one of them was not known yet.
bool has_same_input(const Usage& a, const Usage& b) {
    return !has_input(a) || !has_input(b) ||
           (a.uncached_input == b.uncached_input && a.cache_read == b.cache_read && a.cache_write == b.cache_write);
}

/// Who gives no id to a request may give one id to all messages: then copies of a record are known by its time, too.
Call claude_call_of(const ordered_json& record, bool is_new_id) {
    const ordered_json& message = record["message"];
    Call call{.model = std::string(text_at(message, "model"))};
    const std::string id(text_at(message, "id"));
    if (id.empty()) return call;
    if (is_new_id && !text_at(record, "requestId").empty()) {
        call.id = id;
        return call;
    }
    std::string_view own = text_at(record, "timestamp");
    if (own.empty()) own = text_at(record, "uuid");
    if (!own.empty()) call.bill_id = "claude_code/" + id + "/" + std::string(own);
    return call;
}

std::optional<double> time_of(const ordered_json& record) { return to_seconds(text_at(record, "timestamp")); }

/// Whether it is one of the newest blocks.
bool was_written(const ordered_json& held, const ordered_json& block) {
    constexpr std::size_t newest = 64;
    for (std::size_t i = held.size(); i-- > held.size() - std::min(held.size(), newest);) {
        if (held[i] == block) return true;
    }
    return false;
}

}  // namespace

std::size_t ClaudeThread::point_behind(std::size_t size) const {
    return size == 0 ? 0 : 2 * size - (late_.contains(size - 1) ? 0 : 1);
}

ClaudePlace ClaudeThread::place_of_parent(const ordered_json& record) const {
    return places_.find(text_at(record, "parentUuid")).value_or(here());
}

void ClaudeThread::mark(const ordered_json& record, const ClaudePlace& place) {
    places_.mark(text_at(record, "uuid"), place);
}

bool ClaudeThread::is_known(const ordered_json& record) const { return places_.contains(text_at(record, "uuid")); }

bool ClaudeThread::is_repeated(const ordered_json& record, LogNotes& notes) const {
    if (!is_known(record)) return false;
    ++notes.left_out["repeated record"];
    return true;
}

void ClaudeThread::pass(const ordered_json& record) {
    if (is_known(record)) return;
    const ClaudePlace parent = place_of_parent(record);
    mark(record, {parent.point, parent.compactions, std::nullopt});
}

void ClaudeThread::add_reply(ordered_json& record, std::size_t line, LogNotes& notes) {
    ordered_json* const content = content_of(record);
    if (content == nullptr) return note_damage(notes, line, "a reply without content");
    if (is_repeated(record, notes)) return;
    const std::size_t reply = reply_of(record, line);
    append_blocks(reply, to_blocks(std::move(*content)));
    add_usage_of(reply, record["message"], notes);
    mark(record, place_of_message(2 * reply));
}

/// The one that the record is more of, or else a new one.
std::size_t ClaudeThread::reply_of(const ordered_json& record, std::size_t line) {
    const std::string id(text_at(record["message"], "id"));
    const auto known = id.empty() ? replies_.end() : replies_.find(id);
    if (known != replies_.end() && is_more_of(known->second, record)) return known->second;
    const std::size_t reply = entries_.add({.message = {{"role", "assistant"}, {"content", ordered_json::array()}},
                                            .time = time_of(record),
                                            .line = line,
                                            .call = claude_call_of(record, known == replies_.end())});
    if (!id.empty()) replies_.insert_or_assign(id, reply);
    if (!id.empty()) reply_ids_.push_back(id);
    if (!id.empty()) requests_.insert_or_assign(id, std::string(text_at(record, "requestId")));
    return reply;
}

/// Whether a record with the message id of this reply belongs to it: some gateways give one id to all replies. It does
/// if it is of the same request, or follows the reply itself, or its results while the bill's input is the same or as
/// the end that the reply did not have. Where the record that it follows is damaged, that may have been a result.
bool ClaudeThread::is_more_of(std::size_t reply, const ordered_json& record) const {
    const ordered_json& message = record["message"];
    const std::string_view request = text_at(record, "requestId");
    if (!request.empty() && requests_.at(std::string(text_at(message, "id"))) == request) return true;
    const Entry& entry = entries_[reply];
    const ordered_json* usage = tree_at(message, "usage");
    const bool may_be_same =
        usage == nullptr || !entry.call->usage || has_same_input(provider_usage(*usage), *entry.call->usage);
    const bool is_end = !text_at(message, "stop_reason").empty();
    const std::string_view parent = text_at(record, "parentUuid");
    const bool may_follow_result = !parent.empty() && !places_.contains(parent);
    if (place_of_parent(record).point <= 2 * reply + 1)
        return may_be_same || !may_follow_result || !entry.has_end || !is_end;
    const bool has_late = late_.contains(reply);
    const bool follows_results =
        has_late ? entries_.size() == reply + 1 : entries_.size() == reply + 2 && holds_results(reply + 1);
    return follows_results && (may_be_same || (is_end && !entry.has_end));
}

void ClaudeThread::add_usage_of(std::size_t reply, const ordered_json& message, LogNotes& notes) {
    const bool is_end = !text_at(message, "stop_reason").empty();
    entries_[reply].has_end = entries_[reply].has_end || is_end;
    const ordered_json* usage = tree_at(message, "usage");
    if (usage == nullptr || !usage->is_object()) return;
    take_usage(entries_[reply], provider_usage(*usage), is_end);
    const Entry& entry = entries_[reply];
    const ordered_json* iterations = tree_at(*usage, "iterations");
    if (iterations == nullptr || !iterations->is_array()) return;
    for (std::size_t i = 0; i < iterations->size(); ++i) {
        const ordered_json& iteration = (*iterations)[i];
        const std::string_view type = text_at(iteration, "type");
        if (std::ranges::find(claude_billed_iterations, type) != claude_billed_iterations.end()) {
            bill_within(entry, i, iteration);
        } else if (!type.empty() &&
                   std::ranges::find(claude_counted_iterations, type) == claude_counted_iterations.end()) {
            ++notes.unknown["usage.iterations/" + std::string(type.substr(0, 64))];
        }
    }
}

/// Records of a reply repeat the list.
void ClaudeThread::bill_within(const Entry& entry, std::size_t index, const ordered_json& iteration) {
    const Call& call = *entry.call;
    const std::string& reply = call.id.empty() ? call.bill_id : call.id;
    const std::string id = reply.empty() ? "" : reply + "/iterations/" + std::to_string(index);
    const std::size_t next = within_.size();
    const std::size_t one = id.empty() ? next : within_at_.try_emplace(id, next).first->second;
    if (one == next) {
        const std::string_view model = text_at(iteration, "model");
        within_.push_back({.bill_id = id,
                           .model = model.empty() ? call.model : std::string(model),
                           .time = entry.time,
                           .usage = Usage{}});
    }
    const Usage usage = provider_usage(iteration);
    if (usage.total() >= within_[one].usage->total()) within_[one].usage = usage;
}

void ClaudeThread::close() {
    std::vector<std::pair<std::size_t, Entry>> late;
    for (auto& [reply, results] : late_) late.emplace_back(reply + 1, std::move(results));
    entries_.insert_all(std::move(late));
    late_.clear();
    for (std::size_t at = 0; at < entries_.size(); ++at) estimate_output(entries_[at]);
    close_calls();
    close_calls_kept();
    for (Call& call : within_) entries_.bill_elsewhere(std::move(call));
    within_.clear();
    within_at_.clear();
}

void ClaudeThread::append_blocks(std::size_t reply, ordered_json blocks) {
    ordered_json& held = entries_[reply].message["content"];
    for (ordered_json& block : blocks) {
        if (was_written(held, block)) continue;  // written again while it streamed
        if (const std::string_view id = text_at(block, "id"); !id.empty() && text_at(block, "type") == "tool_use")
            callers_.insert_or_assign(std::string(id), reply);
        held.push_back(std::move(block));
    }
}

void ClaudeThread::add_user(ordered_json& record, std::size_t line, LogNotes& notes) {
    ordered_json* const content = content_of(record);
    if (content == nullptr) return note_damage(notes, line, "a user's message without content");
    if (is_repeated(record, notes)) return;
    if (is_set(record, "isCompactSummary")) {
        add_summary(std::move(*content));
        return mark(record, here());
    }
    if (is_set(record, "isVisibleInTranscriptOnly")) {
        ++notes.left_out["shown in the transcript only"];
        return pass(record);
    }
    if (has_tool_result(*content)) return add_results(std::move(*content), record, line);
    add_prompt(std::move(*content), record, line, is_set(record, "isMeta"), notes);
}

void ClaudeThread::add_summary(ordered_json content) {
    if (!entries_.was_compacted_here()) {
        entries_.compact();
        summary_at_ = 0;
    }
    auto& kept = entries_.newest_compaction().kept;
    kept.insert(kept.begin() + static_cast<std::ptrdiff_t>(std::min(summary_at_, kept.size())),
                ordered_json{{"role", "user"}, {"content", std::move(content)}});
    ++summary_at_;
}

void ClaudeThread::add_prompt(ordered_json content, const ordered_json& record, std::size_t line, bool is_injected,
                              LogNotes& notes) {
    if (is_repeated(record, notes)) return;
    ClaudePlace place = place_of_parent(record);
    place.point = behind_results(place.point);
    if (place.point < here().point || place.compactions < entries_.compactions()) take_back_to(place);
    const Entry* const newest = entries_.empty() ? nullptr : &entries_[entries_.size() - 1];
    const std::size_t injected = newest == nullptr || late_.contains(entries_.size() - 1) ? 0 : newest->injected;
    const std::size_t results = newest == nullptr ? 0 : newest->results_in_row;
    const bool holds = has_tool_result(content);
    const std::size_t at = entries_.add({.message = {{"role", "user"}, {"content", std::move(content)}},
                                         .time = time_of(record),
                                         .line = line,
                                         .call = std::nullopt,
                                         .injected = is_injected ? injected + 1 : 0,
                                         .results_in_row = holds ? results + 1 : 0});
    mark(record, place_of_message(2 * at));
}

bool ClaudeThread::restarts(const ordered_json& record) const {
    const ordered_json* parent = find_member(record, "parentUuid");
    if (entries_.empty() || entries_.was_compacted_here() || parent == nullptr || !parent->is_null()) return false;
    if (is_known(record)) return false;
    const ordered_json* message = tree_at(record, "message");
    const ordered_json* content = message == nullptr ? nullptr : find_member(*message, "content");
    return content != nullptr && !has_tool_result(*content) && !is_set(record, "isCompactSummary") &&
           text_at(record, "type") == "user";
}

/// All results of a reply are one message, the one behind it, as the interface wants them.
void ClaudeThread::add_results(ordered_json blocks, const ordered_json& record, std::size_t line) {
    const std::size_t number = message_for_results(blocks, record, line);
    Entry& entry = number % 2 == 0 ? entries_[number / 2] : late_[number / 2];
    for (ordered_json& block : blocks) entry.message["content"].push_back(std::move(block));
    mark(record, place_of_message(number));
}

/// Its number. What stands behind the reply already stays where it is.
std::size_t ClaudeThread::message_for_results(const ordered_json& blocks, const ordered_json& record,
                                              std::size_t line) {
    const auto first =
        std::ranges::find_if(blocks, [](const ordered_json& block) { return text_at(block, "type") == "tool_result"; });
    const auto caller = callers_.find(std::string(text_at(*first, "tool_use_id")));
    const std::size_t size = entries_.size();
    const std::size_t at = caller == callers_.end() ? size : caller->second + 1;
    if (caller != callers_.end() && late_.contains(at - 1)) return 2 * at - 1;
    if (at < size && holds_results(at)) return 2 * at;
    Entry entry{.message = {{"role", "user"}, {"content", ordered_json::array()}},
                .time = time_of(record),
                .line = line,
                .call = std::nullopt,
                .results_in_row = 1};
    if (at < size || (caller != callers_.end() && entries_.was_compacted_here())) {
        late_.emplace(at - 1, std::move(entry));
        return 2 * at - 1;
    }
    if (size > 0) entry.results_in_row += entries_[size - 1].results_in_row;
    return 2 * entries_.add_in_front_of_compaction(std::move(entry));
}

/// Behind results that stand there, or around there, and all messages injected behind these: of calls side by side each
/// result has its own ones as children, so a record that has another of these results as its parent takes none of them
/// back.
std::size_t ClaudeThread::behind_results(std::size_t point) const {
    std::size_t at = behind_row((point + 1) / 2, &Entry::results_in_row);
    if (at > 0 && stands_behind_results(at - entries_[at - 1].injected)) at = behind_row(at, &Entry::injected);
    return point_behind(at);
}

bool ClaudeThread::stands_behind_results(std::size_t at) const {
    return at > 0 && (late_.contains(at - 1) || holds_results(at - 1));
}

/// Behind those in a row that stand there.
std::size_t ClaudeThread::behind_row(std::size_t at, std::size_t Entry::*in_row) const {
    if (at == entries_.size() || entries_[at].*in_row == 0) return at;
    const std::size_t first = at + 1 - entries_[at].*in_row;
    for (std::size_t end = entries_.size(); at < end;) {
        const std::size_t middle = at + (end - at) / 2;
        if (entries_[middle].*in_row == middle + 1 - first) {
            at = middle + 1;
        } else {
            end = middle;
        }
    }
    return at;
}

/// Places of records that are known follow when they are looked up.
void ClaudeThread::take_back_to(const ClaudePlace& place) {
    const std::size_t size = (place.point + 1) / 2;
    forget_replies_from(size);
    late_.erase(late_.lower_bound(size), late_.end());
    entries_.truncate(size);
    while (entries_.compactions() > place.compactions) entries_.undo_compaction();
    places_.cut(here().point, entries_.compactions());
}

void ClaudeThread::forget_replies_from(std::size_t first) {
    for (std::size_t at = first; at < entries_.size(); ++at) {
        if (!entries_[at].call) continue;
        estimate_output(entries_[at]);
        forget_calls_of(at);
    }
    for (; !reply_ids_.empty(); reply_ids_.pop_back()) {
        const auto known = replies_.find(reply_ids_.back());
        if (known == replies_.end()) continue;  // it was the id of a later one, too
        if (known->second < first) return;
        replies_.erase(known);
    }
}

void ClaudeThread::forget_calls_of(std::size_t reply) {
    for (const ordered_json& block : entries_[reply].message["content"]) {
        const auto known = callers_.find(std::string(text_at(block, "id")));
        if (known != callers_.end() && known->second >= reply) callers_.erase(known);
    }
}

/// Calls without a result, such as of a session that was killed: the agent sent these results of its own.
void ClaudeThread::close_calls() {
    std::vector<std::pair<std::size_t, Entry>> added;
    for (std::size_t reply = 0; reply + 1 < entries_.size(); ++reply) {
        if (!entries_[reply].call) continue;
        ordered_json* const held = holds_results(reply + 1) ? &entries_[reply + 1].message["content"] : nullptr;
        ordered_json missing = results_missing(entries_[reply].message["content"], held, {});
        if (missing.empty()) continue;
        if (held != nullptr) {
            put_results_in_front(std::move(missing), *held);
            continue;
        }
        added.emplace_back(reply + 1, Entry{.message = {{"role", "user"}, {"content", std::move(missing)}},
                                            .time = entries_[reply].time,
                                            .line = entries_[reply].line});
    }
    entries_.insert_all(std::move(added));
}

void ClaudeThread::close_calls_kept() {
    if (entries_.compactions() == 0) return;
    ClaudeResults results;
    for (std::size_t at = 0; at < entries_.size(); ++at) {
        if (is_results_message(entries_[at].message)) add_results_of(entries_[at].message["content"], results);
    }
    for (Compaction& compaction : entries_.all_compactions())
        compaction.kept = with_results(std::move(compaction.kept), results);
}

void ClaudeThread::compact(const ordered_json& record, LogNotes& notes) {
    if (is_repeated(record, notes)) return;
    const ordered_json none;
    const ordered_json* known = tree_at(record, "compactMetadata");
    const ordered_json& facts = known == nullptr ? none : *known;
    const std::vector<ClaudeRange> ranges = preserved(facts);
    const bool keeps_front = !ranges.empty() && keeps_what_is_in_front(facts, text_at(record, "uuid"));
    const bool may_be_copied = may_copy(ranges, keeps_front);
    if (!may_be_copied) ++notes.unknown["compaction that keeps more than is copied"];
    std::vector<ordered_json> kept = may_be_copied ? copies_of(ranges, keeps_front) : std::vector<ordered_json>();
    summary_at_ = keeps_front ? kept.size() : 0;
    Compaction& compaction = entries_.compact();
    compaction.kept = std::move(kept);
    compaction.trigger = text_at(facts, "trigger");
    if (find_member(facts, "preTokens") != nullptr) compaction.tokens_before = count_at(facts, "preTokens");
    places_.move(ranges, here());  // a prompt may have one of them as its parent: they are behind the summary now
    mark(record, here());
}

/// Messages that requests go on to have, in their order.
std::vector<ClaudeRange> ClaudeThread::preserved(const ordered_json& facts) const {
    std::vector<ClaudeRange> ranges;
    const ordered_json* listed = tree_at(facts, "preservedMessages");
    const ordered_json* ids = listed == nullptr ? nullptr : tree_at(*listed, "uuids");
    for (const ordered_json& id : ids == nullptr ? ordered_json::array() : *ids) {
        const auto place = id.is_string() ? places_.find(id.get_ref<const std::string&>()) : std::nullopt;
        if (!place || !place->own) continue;
        if (ranges.empty() || *place->own >= ranges.back().end) ranges.push_back({*place->own, *place->own + 1});
    }
    const ordered_json* segment = tree_at(facts, "preservedSegment");
    if (ranges.empty() && segment != nullptr) {
        const ClaudeRange range = segment_of(*segment);
        if (range.begin < range.end) ranges.push_back(range);
    }
    return ranges;
}

/// From "headUuid" to "tailUuid", which may be records that are no messages; empty if one of them is not known.
ClaudeRange ClaudeThread::segment_of(const ordered_json& segment) const {
    const auto head = places_.find(text_at(segment, "headUuid"));
    const auto tail = places_.find(text_at(segment, "tailUuid"));
    if (!head || !tail) return {};
    ClaudeRange range{head->own.value_or(head->point), tail->own ? *tail->own + 1 : tail->point};
    const auto is_there = [&](std::size_t number) { return number % 2 == 0 || late_.contains(number / 2); };
    if (!is_there(range.begin)) ++range.begin;
    if (range.end > 0 && !is_there(range.end - 1)) --range.end;
    return range;
}

template <typename Take>
void ClaudeThread::for_each_message(const ClaudeRange& range, Take&& take) const {
    for (std::size_t number = range.begin; number < range.end; ++number) {
        if (number % 2 == 0) {
            take(entries_[number / 2].message);
        } else if (const auto late = late_.find(number / 2); late != late_.end()) {
            take(late->second.message);
        }
    }
}

/// Whether what a compaction keeps may be copied.
bool ClaudeThread::may_copy(const std::vector<ClaudeRange>& ranges, bool keeps_front) {
    if (ranges.empty()) return true;
    if (copies_->is_spent()) return false;
    std::size_t bytes = 0;
    const auto add = [&](const ordered_json& message) { bytes += memory_of(message); };
    if (!keeps_front) {
        for (const ClaudeRange& range : ranges) for_each_message(range, add);
    } else if (entries_.compactions() == 0) {
        for_each_message({0, ranges.back().end}, add);
    } else {
        std::ranges::for_each(entries_.newest_compaction().kept, add);
        for_each_message({2 * entries_.newest_compaction_at(), ranges.back().end}, add);
    }
    return copies_->take(bytes);
}

/// Of what a compaction keeps: of these messages, or the first part of a request as it would be now, up to the last of
/// them.
std::vector<ordered_json> ClaudeThread::copies_of(const std::vector<ClaudeRange>& kept, bool keeps_front) {
    std::vector<ordered_json> copies;
    const auto add = [&](const ordered_json& message) { copies.push_back(message); };
    if (!keeps_front) {
        for (const ClaudeRange& range : kept) for_each_message(range, add);
        return copies;
    }
    std::size_t first = 0;
    if (entries_.compactions() > 0) {
        copies = entries_.newest_compaction().kept;
        first = 2 * entries_.newest_compaction_at();
    }
    if (!kept.empty()) for_each_message({first, kept.back().end}, add);
    return copies;
}

}  // namespace whittle::inline v0::logs
