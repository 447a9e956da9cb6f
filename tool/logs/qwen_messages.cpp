#include "qwen_messages.hpp"

#include "gemini_parts.hpp"
#include "openai_form.hpp"

#include <algorithm>

namespace whittle::inline v0::logs {
namespace {

bool has_qwen_calls(const ordered_json& parts) {
    return std::ranges::any_of(parts,
                               [](const ordered_json& part) { return tree_at(part, "functionCall") != nullptr; });
}

bool is_qwen_result(const Entry& entry) { return text_at(entry.message, "role") == "tool"; }

/// Whether a message that was kept is one that was recorded: reminders may stand in front of a prompt.
bool is_qwen_copy(const ordered_json& kept, const ordered_json& recorded) {
    if (text_at(kept, "role") != text_at(recorded, "role")) return false;
    if (const std::string_view id = text_at(recorded, "tool_call_id"); !id.empty())
        return text_at(kept, "tool_call_id") == id;
    const std::string_view said = text_at(recorded, "content");
    return !said.empty() && text_at(kept, "content").ends_with(said);
}

}  // namespace

void QwenMessages::add_reply(const ordered_json& content, std::optional<Call> call, std::optional<double> time,
                             std::size_t line) {
    const ordered_json parts = gemini_parts(content, "parts");
    std::string text = joined_gemini_text(parts, "", notes_);
    const bool has_calls = has_qwen_calls(parts);
    const bool has_bill = call && call->usage;
    if (text.empty() && !has_calls) {  // thoughts alone, or a reply that was cut off
        bill_unspoken();
        reply_.reset();
        unspoken_ = std::move(call);
        return;
    }
    if (reply_ && text.empty() && !has_bill) return add_calls(parts);
    close();
    if (unspoken_ && text.empty() && !has_bill) call = std::exchange(unspoken_, std::nullopt);
    bill_unspoken();
    start_reply(std::move(text), std::move(call), time, line);
    add_calls(parts);
}

void QwenMessages::start_reply(std::string text, std::optional<Call> call, std::optional<double> time,
                               std::size_t line) {
    ReplyParts parts;
    parts.add_text(text);
    answered_.clear();
    reply_ = entries_.add({.message = parts.message(), .time = time, .line = line, .call = std::move(call)});
    after_reply_ = entries_.size();
}

void QwenMessages::add_calls(const ordered_json& parts) {
    ordered_json& reply = entries_[*reply_].message;
    for (const ordered_json& part : parts) {
        const ordered_json* call = tree_at(part, "functionCall");
        if (call == nullptr) continue;
        std::string id(text_at(*call, "id"));
        const bool is_unnamed = id.empty();
        if (is_unnamed) id = ids_ + std::to_string(++made_up_ids_);
        if (!open_.insert(id).second) continue;
        if (is_unnamed) unnamed_.push_back(id);
        reply["tool_calls"].push_back(openai_call(id, text_at(*call, "name"), arguments_of_gemini(*call)));
        calls_.push_back(std::move(id));
    }
}

void QwenMessages::add_input(const ordered_json& content, std::optional<double> time, std::size_t line) {
    bill_unspoken();
    const ordered_json parts = gemini_parts(content, "parts");
    for (const ordered_json& part : parts) {
        if (const ordered_json* response = tree_at(part, "functionResponse")) add_response(*response, time, line);
    }
    std::string text = joined_gemini_text(parts, "\n", notes_);
    if (!text.empty())
        waiting_.push_back({.message = {{"role", "user"}, {"content", std::move(text)}},
                            .time = time,
                            .line = line,
                            .call = std::nullopt});
    if (open_.empty()) flush_waiting();
}

void QwenMessages::add_response(const ordered_json& response, std::optional<double> time, std::size_t line) {
    const auto id = id_of_response(response);
    if (!id) return;
    open_.erase(*id);
    answered_.insert(*id);
    reply_.reset();
    entries_.add({.message = openai_result(*id, text_of_gemini_response(response)),
                  .time = time,
                  .line = line,
                  .call = std::nullopt});
}

/// Of the call that it answers. A call that was recorded without an id is known by the order of the responses.
std::optional<std::string> QwenMessages::id_of_response(const ordered_json& response) {
    std::string id(text_at(response, "id"));
    if (open_.contains(id)) return id;
    if (!id.empty() && answered_.contains(id)) return std::nullopt;
    while (!unnamed_.empty()) {
        std::string made_up = std::move(unnamed_.front());
        unnamed_.pop_front();
        if (!open_.contains(made_up)) continue;
        if (!id.empty()) answered_.insert(std::move(id));
        return made_up;
    }
    ++notes_.left_out["functionResponse without its call"];
    return std::nullopt;
}

void QwenMessages::add_copy(const ordered_json& content, std::size_t line) {
    if (text_at(content, "role") == "model") return add_reply(content, std::nullopt, std::nullopt, line);
    add_input(content, std::nullopt, line);
}

void QwenMessages::compact(const ordered_json& contents, bool is_by_hand, std::string_view trigger,
                           std::optional<std::int64_t> tokens_before, std::size_t line) {
    bill_unspoken();
    Entries kept;
    LogNotes of_copies;  // what was kept was noted where it came
    QwenMessages copies(kept, of_copies, ids_ + "kept-" + std::to_string(entries_.compactions() + 1) + "-");
    for (const ordered_json& content : contents) copies.add_copy(content, line);
    if (!copies.waiting_.empty()) copies.close();
    const bool ends_open = !copies.open_.empty();
    const bool are_results_to_come = ends_open && !open_.empty();
    if (!are_results_to_come) close();
    const std::size_t place = place_of_compaction(is_by_hand, ends_open, kept);
    const bool is_answered = place < entries_.size() && is_qwen_result(entries_[place]);
    if (!are_results_to_come && !is_answered) copies.close();
    Compaction& compaction = entries_.compact_at(place);
    for (std::size_t i = 0; i < kept.size(); ++i) compaction.kept.push_back(std::move(kept[i].message));
    compaction.trigger = trigger;
    compaction.tokens_before = tokens_before;
    reply_.reset();
}

/// Results of calls that are not kept stay in front.
std::size_t QwenMessages::place_of_compaction(bool is_by_hand, bool ends_open, const Entries& kept) const {
    const std::size_t end = entries_.size();
    const bool holds_newest =
        end > 0 && !kept.empty() && is_qwen_copy(kept[kept.size() - 1].message, entries_[end - 1].message);
    if (is_by_hand || holds_newest) return end;
    std::size_t place =
        entries_.compactions() == 0 ? after_reply_ : std::max(after_reply_, entries_.newest_compaction_at());
    while (!ends_open && place < end && is_qwen_result(entries_[place])) ++place;
    return place;
}

void QwenMessages::take_back_prompt(std::string_view text) {
    if (!waiting_.empty()) {
        if (text_at(waiting_.back().message, "content") == text) waiting_.pop_back();
        return;
    }
    if (entries_.size() <= after_reply_ || entries_.was_compacted_here()) return;
    const ordered_json& newest = entries_[entries_.size() - 1].message;
    if (text_at(newest, "role") == "user" && text_at(newest, "content") == text) entries_.truncate(entries_.size() - 1);
}

void QwenMessages::close() {
    answer_open_calls(std::exchange(calls_, {}), open_, entries_, notes_);
    unnamed_.clear();
    reply_.reset();
    flush_waiting();
}

void QwenMessages::finish() {
    bill_unspoken();
    if (!waiting_.empty()) close();
}

void QwenMessages::bill_unspoken() {
    if (!unspoken_) return;
    ++notes_.left_out["reply without text and calls"];
    if (unspoken_->usage) entries_.bill_elsewhere(*std::move(unspoken_));
    unspoken_.reset();
}

void QwenMessages::flush_waiting() {
    if (waiting_.empty()) return;
    reply_.reset();
    for (Entry& said : std::exchange(waiting_, {})) entries_.add(std::move(said));
}

}  // namespace whittle::inline v0::logs
