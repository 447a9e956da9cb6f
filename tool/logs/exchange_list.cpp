#include "exchange_list.hpp"

#include "whittle/provider/detail/json_tree.hpp"
#include "whittle/saved/detail/trajectory_fields.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

/// What stays the same when a client sends a message back: role, texts and ids. Texts may be one string or several
/// blocks, joined with line ends or without; calls may be blocks or stand beside; thinking and other members come and
/// go.
class CanonicalMessage {
public:
    explicit CanonicalMessage(const ordered_json& message) {
        role_ = text_at(message, "role");
        add_content(find_member(message, "content"));
        add_id(text_at(message, "tool_call_id"));
        const ordered_json* calls = tree_at(message, "tool_calls");
        if (calls == nullptr) return;
        for (const ordered_json& call : *calls) add_id(text_at(call, "id"));
    }

    [[nodiscard]] std::uint64_t mark() const { return std::hash<std::string>{}(role_ + '\n' + texts_ + '\n' + ids_); }

private:
    void add_content(const ordered_json* content) {
        if (content == nullptr) return;
        if (content->is_string()) return add_text(content->get_ref<const std::string&>());
        if (!content->is_array()) return;
        for (const ordered_json& block : *content) {
            const std::string_view type = text_at(block, "type");
            if (type == "thinking" || type == "redacted_thinking" || type == "reasoning") continue;
            add_text(text_at(block, "text"));
            for (const char* key : {"id", "tool_use_id"}) add_id(text_at(block, key));
            add_result(find_member(block, "content"));
        }
    }

    /// What a block of a result holds: a text, or blocks of text.
    void add_result(const ordered_json* content) {
        if (content == nullptr) return;
        if (content->is_string()) return add_text(content->get_ref<const std::string&>());
        if (!content->is_array()) return;
        for (const ordered_json& block : *content) add_text(text_at(block, "text"));
    }

    void add_text(std::string_view text) { std::ranges::remove_copy(text, std::back_inserter(texts_), '\n'); }

    void add_id(std::string_view id) {
        if (!id.empty()) ids_.append(id).push_back('\n');
    }

    std::string role_{};
    std::string texts_{};
    std::string ids_{};
};

/// The reply in a response of either interface; null if there is none.
ordered_json reply_in(const ordered_json& response) {
    if (const ordered_json* choices = tree_at(response, "choices"); choices != nullptr && !choices->empty()) {
        const ordered_json* message = choices->is_array() ? tree_at(choices->front(), "message") : nullptr;
        if (message != nullptr && text_at(*message, "role") == "assistant") return *message;
    }
    const ordered_json* content = tree_at(response, "content");
    if (content == nullptr || text_at(response, "role") != "assistant") return nullptr;
    return {{"role", "assistant"}, {"content", *content}};
}

Call call_of(const Exchange& exchange) {
    Call call{
        .model = std::string(text_at(*exchange.request, "model")), .time = exchange.time, .usage = exchange.usage};
    if (exchange.response == nullptr) return call;
    call.id = text_at(*exchange.response, "id");
    if (const std::string_view model = text_at(*exchange.response, "model"); !model.empty()) call.model = model;
    const ordered_json* usage = tree_at(*exchange.response, "usage");
    if (!call.usage && usage != nullptr) call.usage = provider_usage(*usage);
    return call;
}

/// Why a request that has no reply was not billed; empty if it may have been.
std::string_view reason_not_billed(const Exchange& exchange) {
    if (is_bill(call_of(exchange).usage)) return {};
    const ordered_json* error = exchange.response == nullptr ? nullptr : find_member(*exchange.response, "error");
    if (exchange.has_failed || (error != nullptr && !error->is_null())) return "request that failed";
    const bool is_count = exchange.response != nullptr && find_member(*exchange.response, "input_tokens") != nullptr;
    return is_count ? "count of tokens" : std::string_view();
}

}  // namespace

bool holds_reply(const ordered_json& response) { return !reply_in(response).is_null(); }

void ExchangeList::add(const Exchange& exchange) {
    const ordered_json* messages = tree_at(*exchange.request, "messages");
    if (messages == nullptr || !messages->is_array()) {
        Call call = call_of(exchange);
        if (call.usage && call.usage->output > 0) return bill_alone(std::move(call), exchange.group);
        ++notes_.unknown["request without messages"];
        return;
    }
    ordered_json reply = exchange.response == nullptr ? ordered_json(nullptr) : reply_in(*exchange.response);
    if (const std::string_view reason = reply.is_null() ? reason_not_billed(exchange) : ""; !reason.empty()) {
        ++notes_.left_out[std::string(reason)];
        return;
    }
    std::vector<std::uint64_t> marks;
    for (const ordered_json& message : *messages) marks.push_back(CanonicalMessage(message).mark());
    auto [open, first_new] = place_of(exchange, marks);
    if (!exchange.group.empty()) groups_.try_emplace(std::string(exchange.group), open.number);
    for (std::size_t i = first_new; i < messages->size(); ++i) {
        const ordered_json& message = (*messages)[i];
        const bool is_awaited = open.awaited && text_at(message, "role") == "assistant";
        if (is_awaited) {
            add_reply(open, exchange, *std::exchange(open.awaited, std::nullopt), message);
        } else {
            open.entries.add({.message = message, .time = exchange.time, .line = exchange.line, .call = std::nullopt});
            open.marks.push_back(marks[i]);
        }
    }
    Call call = call_of(exchange);
    if (!reply.is_null()) return add_reply(open, exchange, std::move(call), std::move(reply));
    ++notes_.unknown["response that holds no reply"];
    if (open.awaited) open.entries.bill_elsewhere(*std::move(open.awaited));
    open.awaited = std::move(call);
}

void ExchangeList::add_reply(Open& open, const Exchange& exchange, Call call, ordered_json reply) {
    open.marks.push_back(CanonicalMessage(reply).mark());
    if (!call.id.empty()) replies_.insert_or_assign(call.id, Reply{open.number, open.marks.size()});
    open.entries.add(
        {.message = std::move(reply), .time = exchange.time, .line = exchange.line, .call = std::move(call)});
}

/// The session whose messages the request begins with, the longest of them; or a new one.
ExchangeList::Place ExchangeList::place_of(const Exchange& exchange, const std::vector<std::uint64_t>& marks) {
    if (const std::string_view previous = text_at(*exchange.request, "previous_response_id"); !previous.empty())
        return {.session = behind(previous, exchange), .first_new = 0};
    constexpr std::size_t newest = 64;
    Open* best = nullptr;
    for (std::size_t i = open_.size(); i-- > open_.size() - std::min(open_.size(), newest);) {
        Open& one = open_[i];
        const bool continues =
            one.marks.size() <= marks.size() && std::ranges::equal(one.marks, std::span(marks).first(one.marks.size()));
        if (continues && (best == nullptr || one.marks.size() > best->marks.size())) best = &one;
    }
    if (best != nullptr) return {.session = *best, .first_new = best->marks.size()};
    return {.session = open(exchange), .first_new = 0};
}

/// The session that ends with that reply; a new one that begins like it if others have gone on from there already, or
/// without what stood in front if the log does not have the reply or too much was copied.
ExchangeList::Open& ExchangeList::behind(std::string_view reply, const Exchange& exchange) {
    const auto known = replies_.find(std::string(reply));
    if (known == replies_.end()) {
        ++notes_.unknown["previous_response_id that is not in the log"];
        return open(exchange);
    }
    Open& from = open_[known->second.session];
    const std::size_t size = known->second.messages;
    if (from.marks.size() == size) return from;
    Open& fork = open(exchange);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < size && !copies_.is_spent(); ++i)
        bytes += sizeof(Entry) + memory_of(from.entries[i].message);
    if (copies_.is_spent() || !copies_.take(bytes)) {
        ++notes_.unknown["previous_response_id that too many others go on from"];
        return fork;
    }
    fork.marks.assign(from.marks.begin(), from.marks.begin() + static_cast<std::ptrdiff_t>(size));
    for (std::size_t i = 0; i < size; ++i) {
        Entry entry = from.entries[i];
        entry.call.reset();  // it was billed there
        fork.entries.add(std::move(entry));
    }
    return fork;
}

void ExchangeList::bill_alone(Call call, std::string_view group) {
    ++notes_.left_out["call whose messages the log lacks, billed elsewhere"];
    alone_.emplace_back(group, std::move(call));
}

ExchangeList::Open& ExchangeList::session_of_group(const std::string& group) {
    const auto known = groups_.find(group);
    if (known != groups_.end()) return open_[known->second];
    Open& one = open_empty();
    groups_.emplace(group, one.number);
    return one;
}

ExchangeList::Open& ExchangeList::open_empty() {
    Open& one = open_.emplace_back();
    one.number = open_.size() - 1;
    one.session.format = format_;
    one.session.recording.id = stem_ + "-" + std::to_string(open_.size());
    return one;
}

ExchangeList::Open& ExchangeList::open(const Exchange& exchange) {
    Open& one = open_empty();
    const detail::InputPlace place("line " + std::to_string(exchange.line));
    try {
        one.session.recording.system = detail::system_of(place, *exchange.request);
        one.session.recording.tools = detail::tools_of(place, *exchange.request);
    } catch (const Error& error) {
        if (error.errc() != Errc::parse_failed) throw;
        note_damage(notes_, exchange.line, error.what());
    }
    return one;
}

void ExchangeList::finish(FunctionRef<void(Session&&)> visit) {
    for (auto& [group, call] : alone_) session_of_group(group).entries.bill_elsewhere(std::move(call));
    alone_.clear();
    for (Open& one : open_) {
        if (one.awaited) one.entries.bill_elsewhere(*std::move(one.awaited));
        one.entries.finish(one.session, false, notes_);
        hand_over(std::move(one.session), notes_, visit);
    }
    open_.clear();
}

}  // namespace whittle::inline v0::logs
