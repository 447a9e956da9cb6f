#include "codex_thread.hpp"

#include "codex_context.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

/// The first of two members that is there; else null.
ordered_json* first_member(ordered_json& value, const char* key, const char* other) {
    auto at = value.find(key);
    if (at == value.end()) at = value.find(other);
    return at == value.end() ? nullptr : &*at;
}

/// What a result says, taken out of the item: a text, content items, an object that holds one of them, or tools.
ordered_json take_output(ordered_json& item, LogNotes& notes) {
    if (const ordered_json* tools = tree_at(item, "tools")) return to_json_text(*tools);
    const auto at = item.find("output");
    if (at == item.end()) return "";
    ordered_json* output = &*at;
    if (output->is_object()) {
        ordered_json* const content = first_member(*output, "content", "output");
        if (content != nullptr && !content->is_null()) output = content;
    }
    if (output->is_object()) return to_json_text(*output);
    return to_openai_content(std::move(*output), "output", notes);
}

std::string arguments_of(const ordered_json& item, std::string_view type) {
    if (type == "function_call") return std::string(text_at(item, "arguments"));
    const char* const key = type == "local_shell_call" ? "action" : type == "tool_search_call" ? "arguments" : "input";
    const ordered_json* value = find_member(item, key);
    const ordered_json shown = value == nullptr ? ordered_json(nullptr) : *value;
    const ordered_json arguments = shown.is_object() ? shown : ordered_json{{key, shown}};
    return to_json_text(arguments);
}

std::string name_of_call(const ordered_json& item, std::string_view type) {
    if (type == "local_shell_call") return "local_shell";
    if (type == "tool_search_call") return "tool_search";
    const std::string_view space = text_at(item, "namespace");
    if (space.empty() || space == "functions") return std::string(text_at(item, "name"));
    return std::string(space).append(space.ends_with("__") ? "" : "__").append(text_at(item, "name"));
}

/// A search for tools that the server ran within the reply, as it does for the web.
bool is_search_of_server(const ordered_json& item, std::string_view type) {
    if (type != "tool_search_call" && type != "tool_search_output") return false;
    return text_at(item, "execution") == "server" || text_at(item, "call_id").empty();
}

std::string_view id_of_call(const ordered_json& item) {
    const std::string_view id = text_at(item, "call_id");
    return id.empty() ? text_at(item, "id") : id;
}

constexpr std::array<std::string_view, 10> codex_side_items{
    "reasoning",        "web_search_call", "image_generation_call", "ghost_snapshot",     "configuration_update",
    "additional_tools", "compaction",      "context_compaction",    "compaction_trigger", "compaction_summary"};

}  // namespace

bool CodexThread::add_item(ordered_json& item, std::optional<double> time, std::size_t line, LogNotes& notes) {
    const std::string_view type = text_at(item, "type");
    if (const ordered_json* passed = tree_at(item, "internal_chat_message_metadata_passthrough"))
        enter_turn(text_at(*passed, "turn_id"));
    if (std::ranges::find(codex_side_items, type) != codex_side_items.end() || is_search_of_server(item, type)) {
        ++notes.left_out[std::string(type)];
        if (type == "reasoning") think();
        return true;
    }
    const bool is_short_message = type.empty() && !text_at(item, "role").empty();  // as clients may write it
    if (type == "message" || is_short_message) {
        add_message(item, time, line, notes);
    } else if (type == "agent_message") {
        const ordered_json* content = find_member(item, "content");
        add_input("user", content == nullptr ? "" : to_openai_content(*content, "agent_message", notes), time, line);
        prompts_.push_back(entries_.size() - 1);
    } else if (type == "function_call" || type == "custom_tool_call" || type == "local_shell_call" ||
               type == "tool_search_call") {
        add_call(item, type, time, line);
    } else if (type == "function_call_output" || type == "custom_tool_call_output" ||
               type == "local_shell_call_output" || type == "tool_search_output") {
        add_result(item, time, line, notes);
    } else {
        return false;
    }
    return true;
}

void CodexThread::add_message(const ordered_json& item, std::optional<double> time, std::size_t line, LogNotes& notes) {
    const ordered_json* content = find_member(item, "content");
    ordered_json message_content =
        content == nullptr ? ordered_json("") : to_openai_content(*content, "message", notes);
    if (text_at(item, "role") == "assistant") {
        ReplyParts& parts = reply(time, line);
        if (message_content.is_string()) return parts.add_text(message_content.get_ref<const std::string&>());
        for (const ordered_json& part : message_content) parts.add_text(text_at(part, "text"));
        return;
    }
    const std::string_view role = text_at(item, "role");
    add_input(role, std::move(message_content), time, line);
    if (is_codex_context(item)) {
        contexts_.insert(entries_.size() - 1);
    } else if (role == "user") {
        prompts_.push_back(entries_.size() - 1);
    }
}

/// A message to the model.
void CodexThread::add_input(std::string_view role, ordered_json message_content, std::optional<double> time,
                            std::size_t line) {
    close_reply();
    has_only_thought_ = false;
    if (role == "user") drop_pending();
    entries_.add({.message = {{"role", role}, {"content", std::move(message_content)}},
                  .time = time,
                  .line = line,
                  .call = std::nullopt});
}

void CodexThread::add_call(const ordered_json& item, std::string_view type, std::optional<double> time,
                           std::size_t line) {
    reply(time, line).call(openai_call(id_of_call(item), name_of_call(item, type), arguments_of(item, type)));
}

void CodexThread::add_result(ordered_json& item, std::optional<double> time, std::size_t line, LogNotes& notes) {
    const std::string id(text_at(item, "call_id"));
    ordered_json output = take_output(item, notes);
    if (id.empty()) return add_input("user", std::move(output), time, line);  // nobody asked for it
    had_result_ = true;
    entries_.add({.message = openai_result(id, std::move(output)), .time = time, .line = line, .call = std::nullopt});
}

void CodexThread::go_on_replying() {
    const bool is_over = open_ && (pending_ || (!is_counted_ahead_ && (had_result_ || entries_[*open_].call->usage)));
    if (is_over) close_reply();
    had_result_ = false;
}

/// It is the beginning of a reply, which is none as long as it says nothing.
void CodexThread::think() {
    go_on_replying();
    has_only_thought_ = !open_ && !pending_;
}

/// The reply that an item of the model belongs to.
ReplyParts& CodexThread::reply(std::optional<double> time, std::size_t line) {
    go_on_replying();
    if (open_) return parts_;
    has_only_thought_ = false;
    Call call = std::exchange(pending_, std::nullopt).value_or(Call{});
    call.model = model;
    open_ = entries_.add({.message = {{"role", "assistant"}, {"content", nullptr}},
                          .time = time,
                          .line = line,
                          .call = std::move(call)});
    is_counted_ahead_ = entries_[*open_].call->usage.has_value();
    return parts_;
}

void CodexThread::close_reply() {
    if (!open_) return;
    const bool has_no_content = parts_.empty() && *open_ + 1 == entries_.size();
    if (has_no_content) {
        entries_.truncate(*open_);  // it was broken off while it thought
    } else {
        entries_[*open_].message = parts_.message();
    }
    parts_ = {};
    open_.reset();
    is_counted_ahead_ = false;
    had_result_ = false;
}

void CodexThread::drop_pending() {
    if (pending_) entries_.bill_elsewhere(*std::exchange(pending_, std::nullopt));
}

CodexThread::Counts CodexThread::counts_of(const ordered_json& usage) {
    return {.input = count_at(usage, "input_tokens"),
            .cached = count_at(usage, "cached_input_tokens"),
            .written = count_at(usage, "cache_write_input_tokens"),
            .output = count_at(usage, "output_tokens")};
}

Usage CodexThread::to_usage(const Counts& counts) noexcept {
    const std::int64_t cached = std::min(counts.cached, counts.input);
    const std::int64_t written = std::min(counts.written, counts.input - cached);
    return {.uncached_input = counts.input - cached - written,
            .cache_read = cached,
            .cache_write = written,
            .output = counts.output};
}

/// What the sums grew by. Counts are written again with the same sums; a session that goes on from another one begins
/// with that one's sums.
std::optional<CodexThread::Counts> CodexThread::newly_billed(const ordered_json& info) {
    const ordered_json* sums = tree_at(info, "total_token_usage");
    const ordered_json* last = tree_at(info, "last_token_usage");
    if (sums == nullptr) return std::nullopt;
    const Counts now = counts_of(*sums);
    const std::optional<Counts> before = std::exchange(total_, now);
    if (before == now) return std::nullopt;
    const bool grew = before && now.input >= before->input && now.cached >= before->cached &&
                      now.written >= before->written && now.output >= before->output;
    if (grew)
        return Counts{now.input - before->input, now.cached - before->cached, now.written - before->written,
                      now.output - before->output};
    return last == nullptr ? now : counts_of(*last);
}

void CodexThread::count(const ordered_json& info, std::optional<double> time) {
    const auto counts = newly_billed(info);
    if (!counts || *counts == Counts{}) return;
    const Usage usage = to_usage(*counts);
    claim_record(usage);
    if (open_ && !entries_[*open_].call->usage) {
        entries_[*open_].call->usage = usage;
        entries_[*open_].call->bill_id = bill_id();
        entries_[*open_].call->time = time;
        return;
    }
    drop_pending();
    pending_ = Call{.bill_id = bill_id(), .model = model, .time = time, .usage = usage};
    if (std::exchange(has_only_thought_, false)) drop_pending();  // that was all of the reply
}

void CodexThread::record_usage(const ordered_json& record, std::optional<double> time) {
    const ordered_json* usage = tree_at(record, "usage");
    if (usage == nullptr) return;
    Call call{.id = std::string(text_at(record, "response_id")),
              .model = model,
              .time = time,
              .usage = to_usage(counts_of(*usage))};
    if (std::exchange(unrecorded_, std::nullopt) == call.usage || call.usage == Usage{}) return;
    recorded_.add(std::move(call));
}

/// Or all of them are, where a count between them is missing.
void CodexThread::claim_record(const Usage& usage) {
    unrecorded_.reset();
    if (!recorded_.claim(usage)) unrecorded_ = usage;
}

/// Calls that no sum holds, such as a compaction's own: the one with this id, or all.
void CodexThread::bill_records(std::string_view id) {
    for (Call& call : recorded_.take(id)) entries_.bill_elsewhere(std::move(call));
}

void CodexThread::enter_turn(std::string_view id) {
    constexpr std::size_t min_unique = 16;  // older versions number them
    if (id.size() >= min_unique) turn_ = id;
}

std::string CodexThread::bill_id() const {
    const std::string& anchor = turn_.empty() ? origin : turn_;
    if (anchor.empty()) return {};
    std::string id = "codex/" + anchor;
    for (const std::int64_t sum : {total_->input, total_->cached, total_->output}) id += "/" + std::to_string(sum);
    return id;
}

void CodexThread::compact(const ordered_json& compacted, LogNotes& notes) {
    close_reply();
    drop_pending();
    if (const std::string_view id = text_at(compacted, "compaction_response_id"); !id.empty()) bill_records(id);
    Compaction& compaction = entries_.compact();
    const ordered_json* history = tree_at(compacted, "replacement_history");
    if (history == nullptr || !history->is_array()) {
        if (compacted.contains("replacement_history_entries")) ++notes.unknown["compacted/replacement_history_entries"];
        compaction.kept.push_back({{"role", "user"}, {"content", text_at(compacted, "message")}});
        return;
    }
    compaction.kept = messages_of(*history, "replacement_history", notes);
}

std::vector<ordered_json> CodexThread::messages_of(ordered_json items, std::string_view what, LogNotes& notes) {
    CodexThread thread;
    for (ordered_json& item : items) {
        const bool is_wrapped = tree_at(item, "item") != nullptr;  // some versions of Codex do that to each of them
        if (!thread.add_item(is_wrapped ? item["item"] : item, std::nullopt, 0, notes))
            ++notes.unknown[std::string(what) + "/" + std::string(text_at(item, "type").substr(0, 64))];
    }
    thread.close_reply();
    std::vector<ordered_json> messages;
    for (std::size_t i = 0; i < thread.entries_.size(); ++i) messages.push_back(std::move(thread.entries_[i].message));
    return messages;
}

void CodexThread::roll_back(std::int64_t turns) {
    close_reply();
    drop_pending();
    if (turns <= 0 || prompts_.empty()) return;
    const std::size_t all = prompts_.size();
    const std::size_t left = std::cmp_less(turns, all) ? all - static_cast<std::size_t>(turns) : 0;
    std::size_t size = prompts_[left];
    while (size > prompts_.front() && contexts_.contains(size - 1)) --size;
    entries_.truncate(size);
    prompts_.resize(left);
    contexts_.erase(contexts_.lower_bound(size), contexts_.end());
}

void CodexThread::finish(Session& session, LogNotes& notes) {
    close_reply();
    drop_pending();
    bill_records({});
    entries_.finish(session, false, notes);
}

}  // namespace whittle::inline v0::logs
