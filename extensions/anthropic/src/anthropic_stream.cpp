#include "whittle/anthropic/detail/anthropic_stream.hpp"

#include "whittle/provider/detail/json_body.hpp"
#include "whittle/provider/detail/merge_delta.hpp"
#include "whittle/provider/detail/reply_text.hpp"

#include "whittle/base/text.hpp"
#include "whittle/model/detail/broken_off.hpp"

#include <functional>
#include <optional>
#include <set>

namespace whittle::inline v0::anthropic {

namespace {

using detail::find_member;
using detail::find_string;
using nlohmann::ordered_json;

[[noreturn]] void fail(std::string_view reason) { whittle::detail::fail_reply(ModelErrorClass::server, reason); }

FinishReason finish_of(std::string_view reason) {
    if (reason == "end_turn" || reason == "stop_sequence") return FinishReason::stop;
    if (reason == "tool_use") return FinishReason::tool_calls;
    if (reason == "max_tokens") return FinishReason::length;
    if (reason == "refusal") return FinishReason::refusal;
    if (reason == "pause_turn") return FinishReason::paused;
    return FinishReason::other;  // compaction, and what comes later
}

void require_no_error(const ordered_json& answer, std::string_view text, const HttpHeaders& headers) {
    if (find_string(answer, "type") == "error" || find_member(answer, "error") != nullptr)
        whittle::detail::fail_answered(text, headers);
}

Reply<Message> to_reply(const ordered_json& response) {
    const ordered_json* content = find_member(response, "content");
    if (find_string(response, "role") != "assistant" || content == nullptr || !content->is_array())
        fail("it is no message of the assistant");
    const ordered_json* found = find_member(response, "usage");
    const std::optional<Usage> usage = found != nullptr ? usage_of(*found) : std::nullopt;
    const std::string_view reason = find_string(response, "stop_reason").value_or("");
    if (reason.empty()) fail("it has no stop reason");
    ordered_json message{{"role", "assistant"}, {"content", *content}};
    return whittle::detail::reply_of<Message>(std::move(message), reason, usage, finish_of(reason));
}

std::int64_t index_of(const ordered_json& event) {
    const ordered_json* index = find_member(event, "index");
    if (index == nullptr || !index->is_number_integer()) fail("a block has no index");
    return index->get<std::int64_t>();
}

void add_citation(ordered_json& block, const ordered_json& delta) {
    const ordered_json* citation = find_member(delta, "citation");
    ordered_json& list = block["citations"];
    if (!list.is_array()) list = ordered_json::array();
    if (citation != nullptr) list.push_back(*citation);
}

/// Such a delta holds the final values.
void assign(ordered_json& block, const ordered_json& delta) {
    for (const auto& [key, value] : delta.items()) {
        if (key != "type") block[key] = value;
    }
}

void set_members(ordered_json& target, const ordered_json& members) {
    if (!target.is_object()) target = ordered_json::object();
    for (const auto& [key, value] : members.items()) {
        if (!value.is_null() || !target.contains(key)) target[key] = value;
    }
}

}  // namespace

Reply<Message> messages_reply(std::string_view body, const DeltaSink* on_delta, const HttpHeaders& headers) {
    const ordered_json response = whittle::detail::read_answer(body);
    require_no_error(response, body, headers);
    Reply<Message> reply = to_reply(response);
    whittle::detail::notify_whole(on_delta, reply.message);
    return reply;
}

std::int64_t counted_tokens(std::string_view body) {
    const ordered_json answer = whittle::detail::read_answer(body);
    const ordered_json* tokens = find_member(answer, "input_tokens");
    if (tokens == nullptr || !tokens->is_number_integer()) fail("it has no input_tokens");
    return whittle::detail::count_member(answer, "input_tokens");
}

void MessagesStream::take_answer(const ordered_json& answer, const SseEvent& event) {
    const std::string_view type = find_string(answer, "type").value_or("");
    if (event.event == "error" || type == "error") whittle::detail::fail_answered(event.data, headers());
    if (type == "message_start") return start(answer);
    if (type == "ping") return;
    const bool is_content = type.starts_with("content_block_");
    if (!is_content && type != "message_delta" && type != "message_stop") return;  // a kind that came later
    if (response_.is_null()) fail("the stream does not begin with its message");
    if (type == "content_block_start") return start_block(answer);
    if (type == "content_block_delta") return add_to(open_block(answer), answer);
    if (type == "content_block_stop") return open_block(answer).close();
    if (type == "message_delta") return update(answer);
    if (type == "message_stop") set_done();
}

void MessagesStream::start(const ordered_json& event) {
    const ordered_json* message = find_member(event, "message");
    if (!response_.is_null() || message == nullptr || !message->is_object())
        fail("the stream begins with something else than one message");
    response_ = *message;
    response_.erase("content");
}

void MessagesStream::start_block(const ordered_json& event) {
    const ordered_json* block = find_member(event, "content_block");
    const bool is_new =
        block != nullptr && block->is_object() && blocks_.try_emplace(index_of(event), Block{.json = *block}).second;
    if (!is_new) fail("a block begins twice, or is no object");
    if (const auto text = find_string(*block, "text")) notify(Delta::Kind::text, *text);
    if (const auto text = find_string(*block, "thinking")) notify(Delta::Kind::thinking, *text);
}

MessagesStream::Block& MessagesStream::open_block(const ordered_json& event) {
    const auto found = blocks_.find(index_of(event));
    if (found == blocks_.end() || !found->second.is_open) fail("a piece belongs to a block that is not open");
    return found->second;
}

void MessagesStream::add_to(Block& block, const ordered_json& event) const {
    const ordered_json* delta = find_member(event, "delta");
    if (delta == nullptr || !delta->is_object()) return;
    const std::string_view type = find_string(*delta, "type").value_or("");
    if (type == "text_delta") return append(block, *delta, "text", Delta::Kind::text);
    if (type == "thinking_delta") return append(block, *delta, "thinking", Delta::Kind::thinking);
    if (type == "input_json_delta") {
        const std::string_view text = find_string(*delta, "partial_json").value_or("");
        block.input += text;
        return notify(Delta::Kind::tool_arguments, text, find_string(block.json, "id").value_or(""),
                      find_string(block.json, "name").value_or(""));
    }
    if (type == "citations_delta") return add_citation(block.json, *delta);
    if (type == "signature_delta" || type == "compaction_delta") return assign(block.json, *delta);
    ordered_json rest = *delta;
    rest.erase("type");
    whittle::detail::merge_delta(block.json, rest);
}

void MessagesStream::append(Block& block, const ordered_json& delta, const char* key, Delta::Kind kind) const {
    const std::string_view text = find_string(delta, key).value_or("");
    ordered_json& target = block.json[key];
    if (!target.is_string()) target = "";
    target.get_ref<std::string&>() += text;
    notify(kind, text);
}

/// Counts are sums over the whole message: they replace what message_start said.
void MessagesStream::update(const ordered_json& event) {
    for (const auto& [key, value] : event.items()) {
        if (key == "delta" || key == "type" || value.is_null()) continue;
        if (key == "usage" && value.is_object()) {
            set_members(response_["usage"], value);
        } else {
            response_[key] = value;
        }
    }
    if (const ordered_json* delta = find_member(event, "delta"); delta != nullptr && delta->is_object())
        set_members(response_, *delta);
}

/// Half a call must not be made. Where the reply was broken off it is left out; else the server is to blame.
ordered_json MessagesStream::take_content() {
    const std::string_view reason = find_string(response_, "stop_reason").value_or("");
    const bool may_be_cut = !reason.empty() && is_broken_off(finish_of(reason));
    ordered_json content = ordered_json::array();
    std::set<std::string, std::less<>> cut_calls;
    for (auto& [index, block] : blocks_) {
        if (block.is_open && !block.input.empty()) block.close();
        if (block.is_cut && !may_be_cut) fail("the input of a tool call is no JSON object");
        if (block.is_cut) cut_calls.emplace(find_string(block.json, "id").value_or(""));
        const bool is_orphan = cut_calls.contains(find_string(block.json, "tool_use_id").value_or("-"));
        if (!block.is_cut && !is_orphan) content.push_back(std::move(block.json));
    }
    return content;
}

/// The input of calls to our tools and the server's came as text.
void MessagesStream::Block::close() {
    is_open = false;
    if (input.empty()) {
        if (find_string(json, "type") == "tool_use" && !json.contains("input")) json["input"] = ordered_json::object();
        return;
    }
    try {
        json["input"] = whittle::detail::parse_json("read the input of a call", to_valid_utf8(input));
    } catch (const Error&) {
        is_cut = true;
    }
    is_cut = is_cut || !json["input"].is_object();
}

Reply<Message> MessagesStream::finish() {
    if (!is_done()) whittle::detail::fail_reply(ModelErrorClass::transport, "the stream ended before the message did");
    response_["content"] = take_content();
    return to_reply(response_);
}

}  // namespace whittle::inline v0::anthropic
