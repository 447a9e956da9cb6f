#include "copilot_thread.hpp"

#include "openai_form.hpp"
#include "whittle/base/text.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

/// Arguments are an object; of calls in a provider's own form a text that is no JSON.
std::string copilot_arguments(const ordered_json& request) {
    const ordered_json* arguments = find_member(request, "arguments");
    if (arguments == nullptr || arguments->is_null()) return "{}";
    if (!arguments->is_string()) return to_json_text(*arguments);
    const bool is_custom =
        text_at(request, "type") == "custom" || text_at(request, "toolCallId").starts_with("custom_");
    return is_custom ? to_json_text(ordered_json{{"input", *arguments}}) : arguments->get<std::string>();
}

ordered_json copilot_calls_of(const ordered_json& data) {
    ordered_json calls = ordered_json::array();
    const ordered_json* requests = tree_at(data, "toolRequests");
    if (requests == nullptr || !requests->is_array()) return calls;
    for (const ordered_json& request : *requests) {
        if (!request.is_object()) continue;
        calls.push_back(
            openai_call(text_at(request, "toolCallId"), text_at(request, "name"), copilot_arguments(request)));
    }
    return calls;
}

/// What the model was told; the longer text that the terminal shows stands beside it.
std::string copilot_output(const ordered_json& data) {
    const ordered_json* result = find_member(data, "result");
    if (result != nullptr && result->is_string()) return result->get<std::string>();
    const std::string_view text_shown = result == nullptr ? std::string_view() : text_at(*result, "content");
    if (!data.contains("success") || is_set(data, "success")) return std::string(text_shown);
    const ordered_json* error = tree_at(data, "error");
    const std::string_view reason = error == nullptr ? std::string_view() : text_at(*error, "message");
    if (!reason.empty()) return std::string(reason);
    return text_shown.empty() ? "Tool execution failed" : std::string(text_shown);
}

void append_copilot_text(ordered_json& message, std::string_view text) {
    if (text.empty()) return;
    ordered_json& content = message["content"];
    if (!content.is_string()) content = "";
    std::string& words = content.get_ref<std::string&>();
    words.append(words.empty() ? "" : "\n").append(text);
}

void append_copilot_calls(ordered_json& message, ordered_json calls) {
    ordered_json& all = message["tool_calls"];
    if (!all.is_array()) all = ordered_json::array();
    for (ordered_json& call : calls) all.push_back(std::move(call));
}

constexpr std::string_view interrupted_copilot_call = "The execution of this tool, or a previous tool was interrupted.";

}  // namespace

void CopilotThread::add_user(std::string text, std::string_view words, const CopilotStamp& stamp) {
    if (!words.empty()) words_.emplace_back(words);
    entries_.add({.message = {{"role", "user"}, {"content", std::move(text)}},
                  .time = stamp.time,
                  .line = stamp.line,
                  .call = std::nullopt});
}

bool CopilotThread::continues_newest(const std::optional<Call>& call) const {
    if (!call || call->id.empty() || !newest_reply_ || *newest_reply_ + 1 != entries_.size()) return false;
    const std::optional<Call>& newest = entries_[*newest_reply_].call;
    return newest && newest->id == call->id;
}

CopilotThread::Reply CopilotThread::add_reply(const ordered_json& data, std::optional<Call> call,
                                              const CopilotStamp& stamp) {
    const std::string_view text = text_at(data, "content");
    ordered_json calls = copilot_calls_of(data);
    const bool is_more = continues_newest(call);
    const std::int64_t output = call ? call->unrecorded_output : 0;
    if (text.empty() && calls.empty() && !is_more) return {.new_output = output};
    if (!is_more) {
        newest_reply_ = entries_.add({.message = {{"role", "assistant"}, {"content", nullptr}},
                                      .time = stamp.time,
                                      .line = stamp.line,
                                      .call = std::move(call)});
    }
    const std::size_t at = *newest_reply_;
    Entry& entry = entries_[at];
    append_copilot_text(entry.message, text);
    for (const ordered_json& one : calls) open_call(text_at(one, "id"), at);
    if (!calls.empty()) append_copilot_calls(entry.message, std::move(calls));
    if (!is_more) return {at, output, true};
    std::int64_t& known = entry.call->unrecorded_output;  // one part of a response tells that of all
    const std::int64_t before = std::exchange(known, std::max(known, output));
    return {at, known - before, false};
}

void CopilotThread::add_message(ordered_json message, Call call, const CopilotStamp& stamp) {
    const std::string_view role = text_at(message, "role");
    const bool is_reply = role == "assistant";
    if (is_reply) newest_reply_ = entries_.size();
    if (const ordered_json* calls = is_reply ? tree_at(message, "tool_calls") : nullptr) {
        for (const ordered_json& one : *calls) open_call(text_at(one, "id"), entries_.size());
    }
    std::size_t row = 0;
    if (role == "tool") {
        row = entries_.empty() ? 1 : entries_[entries_.size() - 1].results_in_row + 1;
        const auto known = asked_.find(std::string(text_at(message, "tool_call_id")));
        if (known != asked_.end()) known->second.is_answered = true;
    }
    entries_.add({.message = std::move(message),
                  .time = stamp.time,
                  .line = stamp.line,
                  .call = is_reply ? std::optional(std::move(call)) : std::nullopt,
                  .results_in_row = row});
}

void CopilotThread::open_call(std::string_view id, std::size_t reply) {
    if (id.empty()) return;
    asked_.insert_or_assign(std::string(id), Asked{reply});
    open_.emplace_back(id);
}

void CopilotThread::start_call(const ordered_json& data) {
    std::string id(text_at(data, "toolCallId"));
    if (id.empty() || asked_.contains(id)) return;
    ordered_json call = openai_call(id, text_at(data, "toolName"), copilot_arguments(data));
    started_.insert_or_assign(std::move(id), std::move(call));
}

bool CopilotThread::is_newest_reply(std::size_t at) const {
    return at + 1 + entries_[entries_.size() - 1].results_in_row == entries_.size();
}

/// The call of a result; null, which is noted, where there is none that waits for it.
CopilotThread::Asked* CopilotThread::asked(std::string_view id, LogNotes& notes) {
    const std::string key(id);
    auto known = asked_.find(key);
    if (known == asked_.end()) {
        const auto started = started_.find(key);
        if (started == started_.end() || !newest_reply_ || !is_newest_reply(*newest_reply_)) {
            ++notes.left_out["result of a call that no reply has"];
            return nullptr;
        }
        append_copilot_calls(entries_[*newest_reply_].message, ordered_json::array({std::move(started->second)}));
        started_.erase(started);
        known = asked_.emplace(key, Asked{*newest_reply_}).first;
    }
    if (!known->second.is_answered) return &known->second;
    ++notes.left_out["result of a call that has one"];
    return nullptr;
}

void CopilotThread::answer(std::string_view id, Asked& asked, std::string content, const CopilotStamp& stamp) {
    asked.is_answered = true;
    const bool is_in_time = is_newest_reply(asked.reply);
    const std::size_t row = entries_[entries_.size() - 1].results_in_row;
    Entry entry{.message = openai_result(id, std::move(content)),
                .time = stamp.time,
                .line = stamp.line,
                .call = std::nullopt,
                .results_in_row = is_in_time ? row + 1 : 1};
    if (is_in_time) {
        entries_.add(std::move(entry));
    } else {
        late_.emplace_back(asked.reply, std::move(entry));
    }
}

void CopilotThread::add_result(const ordered_json& data, const CopilotStamp& stamp, LogNotes& notes) {
    const std::string_view id = text_at(data, "toolCallId");
    if (Asked* const call = asked(id, notes)) answer(id, *call, copilot_output(data), stamp);
}

void CopilotThread::interrupt(const CopilotStamp& stamp) {
    for (const std::string& id : std::exchange(open_, {})) {
        Asked& call = asked_.at(id);
        if (!call.is_answered) answer(id, call, std::string(interrupted_copilot_call), stamp);
    }
}

/// A result is kept with its call.
std::size_t CopilotThread::first_kept() const {
    const std::size_t first = std::min(summarized_.value_or(entries_.size()), entries_.size());
    if (first == entries_.size()) return first;
    const std::size_t row = entries_[first].results_in_row;
    return first - std::min(first, row);
}

/// As much of what the user typed as the agent repeats beside a summary: the first of it and most of the newest.
std::string CopilotThread::words_of_user() const {
    constexpr std::size_t first_texts = 4;
    constexpr std::size_t newest_texts = 16;
    constexpr std::size_t first_bytes = 6'000;
    constexpr std::size_t newest_bytes = 24'000;
    std::size_t newest = words_.size();
    for (std::size_t bytes = 0; newest > 0 && words_.size() - newest < newest_texts; --newest) {
        bytes += words_[newest - 1].size();
        if (bytes > newest_bytes) break;
    }
    std::string text;
    const auto add = [&](const std::string& words) { text += "<user_message>\n" + words + "\n</user_message>\n"; };
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < std::min(newest, first_texts); ++i) {
        bytes += words_[i].size();
        if (bytes > first_bytes) break;
        add(words_[i]);
    }
    for (std::size_t i = newest; i < words_.size(); ++i) add(words_[i]);
    return text;
}

void CopilotThread::compact(const ordered_json& data, LogNotes& notes) {
    const std::string_view summary = text_at(data, "summaryContent");
    const std::size_t first = first_kept();
    summarized_.reset();
    if (summary.empty()) {
        ++notes.unknown["compaction without its summary"];
        return;
    }
    Compaction& compaction = entries_.compact();
    compaction.trigger = text_at(data, "trigger").substr(0, 64);
    if (const std::int64_t tokens = count_at(data, "preCompactionTokens"); tokens > 0)
        compaction.tokens_before = tokens;
    if (copies_->is_spent() || !keep(summary, first, compaction)) {
        compaction.kept.clear();
        ++notes.unknown["compaction that keeps more than is copied"];
    }
}

/// False where that is more than may be copied.
bool CopilotThread::keep(std::string_view summary, std::size_t first, Compaction& compaction) {
    compaction.kept.push_back(
        {{"role", "user"}, {"content", words_of_user() + "<summary>\n" + std::string(summary) + "\n</summary>"}});
    if (!copies_->take(memory_of(compaction.kept.front()))) return false;
    for (std::size_t i = first; i < entries_.size(); ++i) {
        if (!copies_->take(memory_of(entries_[i].message))) return false;
        compaction.kept.push_back(entries_[i].message);
    }
    return true;
}

void CopilotThread::clear() {
    summarized_.reset();
    entries_.compact().trigger = "cleared";
}

/// Results that came late stand behind those of their reply, in the order in which they came.
void CopilotThread::close() {
    std::ranges::stable_sort(late_, {}, &std::pair<std::size_t, Entry>::first);
    std::optional<std::size_t> reply;
    std::size_t behind = 0;
    for (auto& [place, entry] : late_) {
        if (reply != place) {
            reply = place;
            for (behind = place + 1; behind < entries_.size() && entries_[behind].results_in_row > 0;) ++behind;
        }
        place = behind;
    }
    entries_.insert_all(std::exchange(late_, {}));
}

}  // namespace whittle::inline v0::logs
