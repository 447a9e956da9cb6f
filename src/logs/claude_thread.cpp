#include "claude_thread.hpp"

#include "claude_results.hpp"
#include "whittle/adapter/detail/json_tree.hpp"

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
    const bool says = content != message->end() && (content->is_array() || content->is_string());
    return says ? &*content : nullptr;
}

/// Of each count the larger one: the records of a reply repeat its usage, and the first ones were written before its
/// end was known.
void take_largest(Usage& usage, const Usage& other) {
    usage.input = std::max(usage.input, other.input);
    usage.cache_read = std::max(usage.cache_read, other.cache_read);
    usage.cache_write = std::max(usage.cache_write, other.cache_write);
    usage.output = std::max(usage.output, other.output);
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
    const auto is_unknown = [](const Usage& usage) {
        return usage.input == 0 && usage.cache_read == 0 && usage.cache_write == 0;
    };
    return is_unknown(a) || is_unknown(b) ||
           (a.input == b.input && a.cache_read == b.cache_read && a.cache_write == b.cache_write);
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
bool was_held(const ordered_json& held, const ordered_json& block) {
    constexpr std::size_t newest = 64;
    for (std::size_t i = held.size(); i-- > held.size() - std::min(held.size(), newest);) {
        if (held[i] == block) return true;
    }
    return false;
}

template <typename Map>
void shift_from(Map& map, std::size_t first) {
    for (auto& [key, value] : map) {
        if (value >= first) ++value;
    }
}

}  // namespace

/// Without what was taken back since.
ClaudeThread::Place ClaudeThread::as_of_now(Place place) const {
    const std::size_t left = messages_left_.held(place.messages, place.moment);
    if (place.own && messages_left_.held(*place.own + 1, place.moment) <= *place.own) place.own.reset();
    return {left, compactions_left_.held(place.compactions, place.moment), place.own, messages_left_.now()};
}

std::optional<ClaudeThread::Place> ClaudeThread::place_of(std::string_view id) const {
    const auto known = places_.find(std::string(id));
    return known == places_.end() ? std::nullopt : std::optional(as_of_now(known->second));
}

ClaudeThread::Place ClaudeThread::place_of_parent(const ordered_json& record) const {
    return place_of(text_at(record, "parentUuid")).value_or(here());
}

void ClaudeThread::mark(const ordered_json& record, Place place) {
    place.moment = messages_left_.now();
    if (const std::string_view id = text_at(record, "uuid"); !id.empty()) places_[std::string(id)] = place;
}

bool ClaudeThread::is_known(const ordered_json& record) const {
    return places_.contains(std::string(text_at(record, "uuid")));
}

bool ClaudeThread::is_repeated(const ordered_json& record, LogNotes& notes) const {
    if (!is_known(record)) return false;
    ++notes.left_out["repeated record"];
    return true;
}

void ClaudeThread::pass(const ordered_json& record) {
    if (is_known(record)) return;
    const Place parent = place_of_parent(record);
    mark(record, {parent.messages, parent.compactions, std::nullopt});
}

void ClaudeThread::add_reply(ordered_json& record, std::size_t line, LogNotes& notes) {
    ordered_json* const content = content_of(record);
    if (content == nullptr) return note_damage(notes, line, "a reply without content");
    if (is_repeated(record, notes)) return;
    const std::size_t reply = reply_of(record, line);
    append_blocks(reply, to_blocks(std::move(*content)));
    add_usage_of(reply, record["message"], notes);
    mark(record, {reply + 1, entries_.compactions(), reply});
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
/// if it is of the same request, or follows the reply itself, or its results while the bill's input is the same.
bool ClaudeThread::is_more_of(std::size_t reply, const ordered_json& record) const {
    const ordered_json& message = record["message"];
    const std::string_view request = text_at(record, "requestId");
    if (!request.empty() && requests_.at(std::string(text_at(message, "id"))) == request) return true;
    if (place_of_parent(record).messages <= reply + 1) return true;
    const bool follows_results = entries_.size() == reply + 2 && holds_results(reply + 1);
    const ordered_json* usage = tree_at(message, "usage");
    return follows_results && (usage == nullptr || !entries_[reply].call->usage ||
                               has_same_input(provider_usage(*usage), *entries_[reply].call->usage));
}

void ClaudeThread::add_usage_of(std::size_t reply, const ordered_json& message, LogNotes& notes) {
    const ordered_json* usage = tree_at(message, "usage");
    if (usage == nullptr || !usage->is_object()) return;
    Call& call = *entries_[reply].call;
    if (!call.usage) call.usage.emplace();
    take_largest(*call.usage, provider_usage(*usage));
    const ordered_json* iterations = tree_at(*usage, "iterations");
    if (iterations == nullptr || !iterations->is_array()) return;
    for (std::size_t i = 0; i < iterations->size(); ++i) {
        const ordered_json& iteration = (*iterations)[i];
        const std::string_view type = text_at(iteration, "type");
        if (std::ranges::find(claude_billed_iterations, type) != claude_billed_iterations.end()) {
            bill_within(call, i, iteration);
        } else if (!type.empty() &&
                   std::ranges::find(claude_counted_iterations, type) == claude_counted_iterations.end()) {
            ++notes.unknown["usage.iterations/" + std::string(type.substr(0, 64))];
        }
    }
}

/// Records of a reply repeat the list.
void ClaudeThread::bill_within(const Call& call, std::size_t index, const ordered_json& iteration) {
    const std::string& reply = call.id.empty() ? call.bill_id : call.id;
    const std::string id = reply.empty() ? "" : reply + "/iterations/" + std::to_string(index);
    const std::size_t next = within_.size();
    const std::size_t one = id.empty() ? next : within_at_.try_emplace(id, next).first->second;
    if (one == next) {
        const std::string_view model = text_at(iteration, "model");
        within_.push_back({.bill_id = id, .model = model.empty() ? call.model : std::string(model), .usage = Usage{}});
    }
    take_largest(*within_[one].usage, provider_usage(iteration));
}

void ClaudeThread::close() {
    close_calls();
    close_calls_kept();
    for (Call& call : within_) entries_.bill_elsewhere(std::move(call));
    within_.clear();
    within_at_.clear();
}

void ClaudeThread::append_blocks(std::size_t reply, ordered_json blocks) {
    ordered_json& held = entries_[reply].message["content"];
    for (ordered_json& block : blocks) {
        if (was_held(held, block)) continue;  // written again while it streamed
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

void ClaudeThread::add_prompt(ordered_json content, const ordered_json& record, std::size_t line, bool is_companion,
                              LogNotes& notes) {
    if (is_repeated(record, notes)) return;
    Place place = place_of_parent(record);
    place.messages = behind_results(place.messages);
    if (place.messages < entries_.size() || place.compactions < entries_.compactions()) take_back_to(place);
    const std::size_t before = entries_.empty() ? 0 : entries_[entries_.size() - 1].companions;
    entries_.add({.message = {{"role", "user"}, {"content", std::move(content)}},
                  .time = time_of(record),
                  .line = line,
                  .call = std::nullopt,
                  .companions = is_companion ? before + 1 : 0});
    mark(record, {entries_.size(), entries_.compactions(), entries_.size() - 1});
}

bool ClaudeThread::begins_anew(const ordered_json& record) const {
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
    const std::size_t at = message_for_results(blocks, record, line);
    ordered_json& held = entries_[at].message["content"];
    for (ordered_json& block : blocks) held.push_back(std::move(block));
    mark(record, {at + 1, entries_.compactions(), at});
}

std::size_t ClaudeThread::message_for_results(const ordered_json& blocks, const ordered_json& record,
                                              std::size_t line) {
    const auto first =
        std::ranges::find_if(blocks, [](const ordered_json& block) { return text_at(block, "type") == "tool_result"; });
    const auto caller = callers_.find(std::string(text_at(*first, "tool_use_id")));
    const std::size_t at = caller == callers_.end() ? entries_.size() : caller->second + 1;
    if (at < entries_.size() && holds_results(at)) return at;
    make_room(at);
    entries_.insert(at, {.message = {{"role", "user"}, {"content", ordered_json::array()}},
                         .time = time_of(record),
                         .line = line,
                         .call = std::nullopt});
    return at;
}

/// Behind results that stand there, or around there, and all companions of these: of calls side by side each result has
/// its own ones as children, so a record that has another of these results as its parent takes none of them back.
std::size_t ClaudeThread::behind_results(std::size_t at) const {
    while (at < entries_.size() && holds_results(at)) ++at;
    const std::size_t results = at == 0 ? 0 : at - entries_[at - 1].companions;
    return results == 0 || !holds_results(results - 1) ? at : behind_companions(at);
}

/// Behind those in a row that stand there.
std::size_t ClaudeThread::behind_companions(std::size_t at) const {
    if (at == entries_.size() || entries_[at].companions == 0) return at;
    const std::size_t first = at + 1 - entries_[at].companions;
    for (std::size_t end = entries_.size(); at < end;) {
        const std::size_t middle = at + (end - at) / 2;
        if (entries_[middle].companions == middle + 1 - first) {
            at = middle + 1;
        } else {
            end = middle;
        }
    }
    return at;
}

/// What is known of places from `at` on moves by one.
void ClaudeThread::make_room(std::size_t at) {
    if (at == entries_.size()) return;
    for (auto& [id, place] : places_) {
        place = as_of_now(place);
        if (place.messages > at) ++place.messages;
        if (place.own && *place.own >= at) ++*place.own;
    }
    shift_from(replies_, at);
    shift_from(callers_, at);
}

/// Places of records that are known follow when they are looked up.
void ClaudeThread::take_back_to(Place place) {
    forget_replies_from(place.messages);
    entries_.truncate(place.messages);
    while (entries_.compactions() > place.compactions) entries_.undo_compaction();
    messages_left_.cut(place.messages);
    compactions_left_.cut(entries_.compactions());
}

void ClaudeThread::forget_replies_from(std::size_t first) {
    for (std::size_t at = first; at < entries_.size(); ++at) {
        if (entries_[at].call) forget_calls_of(at);
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

bool ClaudeThread::holds_results(std::size_t at) const { return is_results_message(entries_[at].message); }

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
        if (holds_results(at)) add_results_of(entries_[at].message["content"], results);
    }
    for (Compaction& compaction : entries_.all_compactions())
        compaction.kept = with_results(std::move(compaction.kept), results);
}

void ClaudeThread::compact(const ordered_json& record, LogNotes& notes) {
    if (is_repeated(record, notes)) return;
    const ordered_json none;
    const ordered_json* known = tree_at(record, "compactMetadata");
    const ordered_json& facts = known == nullptr ? none : *known;
    const std::vector<std::size_t> messages = preserved(facts);
    const bool keeps_front = !messages.empty() && keeps_what_is_in_front(facts, text_at(record, "uuid"));
    std::vector<ordered_json> kept;
    if (!may_copy(messages, keeps_front)) {
        ++notes.unknown["compaction that keeps more than is copied"];
    } else if (keeps_front) {
        kept = sent_before(messages.back() + 1);
    } else {
        for (const std::size_t at : messages) kept.push_back(entries_[at].message);
    }
    summary_at_ = keeps_front ? kept.size() : 0;
    Compaction& compaction = entries_.compact();
    compaction.kept = std::move(kept);
    compaction.trigger = text_at(facts, "trigger");
    if (find_member(facts, "preTokens") != nullptr) compaction.tokens_before = count_at(facts, "preTokens");
    move_behind_compaction(messages);
    mark(record, here());
}

/// Messages that requests go on to have, in their order.
std::vector<std::size_t> ClaudeThread::preserved(const ordered_json& facts) const {
    std::vector<std::size_t> messages;
    const ordered_json* listed = tree_at(facts, "preservedMessages");
    const ordered_json* ids = listed == nullptr ? nullptr : tree_at(*listed, "uuids");
    for (const ordered_json& id : ids == nullptr ? ordered_json::array() : *ids) {
        const auto place = id.is_string() ? place_of(id.get_ref<const std::string&>()) : std::nullopt;
        if (!place || !place->own) continue;
        if (messages.empty() || *place->own > messages.back()) messages.push_back(*place->own);
    }
    const ordered_json* segment = tree_at(facts, "preservedSegment");
    if (messages.empty() && segment != nullptr) {
        const Range range = segment_of(*segment);
        for (std::size_t at = range.begin; at < range.end; ++at) messages.push_back(at);
    }
    return messages;
}

/// From "headUuid" to "tailUuid", which may be records that are no messages; empty if one of them is not known.
ClaudeThread::Range ClaudeThread::segment_of(const ordered_json& segment) const {
    const auto head = place_of(text_at(segment, "headUuid"));
    const auto tail = place_of(text_at(segment, "tailUuid"));
    if (!head || !tail) return {};
    return {head->own.value_or(head->messages), tail->own ? *tail->own + 1 : tail->messages};
}

/// Whether what a compaction keeps may be copied.
bool ClaudeThread::may_copy(const std::vector<std::size_t>& messages, bool keeps_front) {
    if (messages.empty()) return true;
    if (copies_->is_spent()) return false;
    std::size_t bytes = 0;
    if (keeps_front) {
        std::size_t first = 0;
        if (entries_.compactions() > 0) {
            first = entries_.newest_compaction().before;
            for (const ordered_json& message : entries_.newest_compaction().kept) bytes += memory_of(message);
        }
        for (std::size_t at = first; at <= messages.back(); ++at) bytes += memory_of(entries_[at].message);
    } else {
        for (const std::size_t at : messages) bytes += memory_of(entries_[at].message);
    }
    return copies_->take(bytes);
}

/// The first part of a request as it would be now, up to a message.
std::vector<ordered_json> ClaudeThread::sent_before(std::size_t end) {
    std::vector<ordered_json> sent;
    std::size_t first = 0;
    if (entries_.compactions() > 0) {
        sent = entries_.newest_compaction().kept;
        first = entries_.newest_compaction().before;
    }
    for (std::size_t at = first; at < end; ++at) sent.push_back(entries_[at].message);
    return sent;
}

/// A prompt may have one of them as its parent: they are behind the summary now, whatever their own parents are.
void ClaudeThread::move_behind_compaction(const std::vector<std::size_t>& messages) {
    if (messages.empty()) return;
    for (auto& [id, place] : places_) {
        place = as_of_now(place);
        const bool is_passed = !place.own && place.messages == messages.back() + 1;
        if (!is_passed && !(place.own && std::ranges::binary_search(messages, *place.own))) continue;
        place.messages = entries_.size();
        place.compactions = entries_.compactions();
    }
}

}  // namespace whittle::inline v0::logs
