#include "whittle/openai/detail/openai_stream.hpp"

#include "whittle/provider/detail/json_body.hpp"
#include "whittle/provider/detail/merge_delta.hpp"
#include "whittle/provider/detail/reply_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace whittle::inline v0::openai {

namespace {

using nlohmann::ordered_json;
using whittle::detail::count_member;
using whittle::detail::fail_answered;
using whittle::detail::fail_reply;
using whittle::detail::find_member;
using whittle::detail::find_string;

const ordered_json* find_array(const ordered_json& value, const char* key) {
    const ordered_json* member = find_member(value, key);
    return member != nullptr && member->is_array() ? member : nullptr;
}

bool has_text(const ordered_json& message, const char* key) {
    const auto text = find_string(message, key);
    return text && !text->empty();
}

bool has_calls(const ordered_json& message) {
    const ordered_json* calls = find_array(message, "tool_calls");
    const ordered_json* old_call = find_member(message, "function_call");
    return (calls != nullptr && !calls->empty()) || (old_call != nullptr && old_call->is_object());
}

FinishReason finish_of(std::string_view reason, const ordered_json& message) {
    if (reason == "content_filter" || has_text(message, "refusal")) return FinishReason::refusal;
    if (reason == "length") return FinishReason::length;
    if (has_calls(message)) return FinishReason::tool_calls;  // some servers say "stop" all the same
    return reason == "stop" || reason.empty() ? FinishReason::stop : FinishReason::other;
}

/// The server broke the reply off.
bool is_failure(std::string_view reason) {
    return reason == "error" || reason == "abort" || reason == "insufficient_system_resource";
}

/// Throws what an answer with status 200, or one choice of it, says went wrong. Only the error itself is judged: a
/// reply beside it may hold any words.
void require_no_error(const ordered_json& answer, const HttpHeaders& headers) {
    const ordered_json* error = find_member(answer, "error");
    if (error != nullptr && !error->is_null()) fail_answered(whittle::detail::render({{"error", *error}}), headers);
    if (find_string(answer, "object") == "error") fail_answered(whittle::detail::render(answer), headers);
}

Reply<Message> to_reply(ordered_json message, std::string_view reason, std::optional<Usage> usage) {
    if (is_failure(reason)) fail_reply(ModelErrorClass::server, fmt::format("the server ended it with \"{}\"", reason));
    if (find_string(message, "role").value_or("").empty()) message["role"] = "assistant";
    const FinishReason finish = finish_of(reason, message);
    return whittle::detail::reply_of<Message>(std::move(message), reason, usage, finish);
}

/// What a server kept of the prompt, where its usage does not say: llama-server of 2025 tells it by its timings alone.
void take_kept(Reply<Message>& reply) {
    if (!reply.usage || !reply.timing || reply.usage->cache_read > 0) return;
    const std::int64_t kept = std::clamp<std::int64_t>(reply.timing->cached_tokens, 0, reply.usage->uncached_input);
    reply.usage->cache_read = kept;
    reply.usage->uncached_input -= kept;
}

/// The choice with index 0: more than one comes only if the caller asked for it.
const ordered_json* first_choice(const ordered_json& answer) {
    const ordered_json* choices = find_array(answer, "choices");
    if (choices == nullptr) return nullptr;
    for (const ordered_json& choice : *choices) {
        const ordered_json* index = find_member(choice, "index");
        if (index == nullptr || !index->is_number_integer() || *index == 0) return &choice;
    }
    return nullptr;
}

}  // namespace

std::optional<Usage> usage_of(const ordered_json& usage) {
    if (!usage.is_object()) return std::nullopt;
    static const ordered_json none = ordered_json::object();
    const auto details = [&](const char* key) -> const ordered_json& {
        const ordered_json* found = find_member(usage, key);
        return found != nullptr ? *found : none;
    };
    const std::int64_t prompt = count_member(usage, "prompt_tokens");
    Usage result;
    result.cache_read = count_member(details("prompt_tokens_details"), "cached_tokens");
    if (result.cache_read == 0) result.cache_read = count_member(usage, "prompt_cache_hit_tokens");
    result.cache_read = std::min(result.cache_read, prompt);
    result.cache_write =
        std::min(count_member(details("prompt_tokens_details"), "cache_write_tokens"), prompt - result.cache_read);
    result.uncached_input = prompt - result.cache_read - result.cache_write;
    result.output = count_member(usage, "completion_tokens");
    const std::int64_t reasoning = count_member(details("completion_tokens_details"), "reasoning_tokens");
    const std::int64_t rest = count_member(usage, "total_tokens") - prompt;
    if (reasoning > 0 && rest - result.output == reasoning) result.output = rest;
    if (result.total() == 0) return std::nullopt;  // some servers send zeros for what they do not count
    return result;
}

std::optional<ServerTiming> timing_of(const ordered_json& response) {
    const ordered_json* timings = find_member(response, "timings");
    if (timings == nullptr || !timings->is_object()) return std::nullopt;
    for (const char* name : {"prompt_n", "prompt_ms", "predicted_n", "predicted_ms"}) {
        const ordered_json* number = find_member(*timings, name);
        if (number == nullptr || !number->is_number()) return std::nullopt;
    }
    ServerTiming timing{.prefill_tokens = count_member(*timings, "prompt_n"),
                        .prefill_ms = (*timings)["prompt_ms"].get<double>(),
                        .cached_tokens = count_member(*timings, "cache_n"),
                        .output_tokens = count_member(*timings, "predicted_n"),
                        .output_ms = (*timings)["predicted_ms"].get<double>()};
    const ordered_json* usage = find_member(response, "usage");
    if (!timings->contains("cache_n") && usage != nullptr && usage->is_object())
        timing.cached_tokens = std::max<std::int64_t>(0, count_member(*usage, "prompt_tokens") - timing.prefill_tokens);
    return timing;
}

Reply<Message> chat_reply(std::string_view body, const DeltaSink* on_delta, const HttpHeaders& headers) {
    const ordered_json answer = whittle::detail::read_answer(body);
    require_no_error(answer, headers);
    const ordered_json* choice = first_choice(answer);
    if (choice != nullptr) require_no_error(*choice, headers);
    const ordered_json* message = choice != nullptr ? find_member(*choice, "message") : nullptr;
    if (message == nullptr || !message->is_object()) fail_reply(ModelErrorClass::server, "it has no message");
    const ordered_json* usage = find_member(answer, "usage");
    Reply<Message> reply = to_reply(*message, find_string(*choice, "finish_reason").value_or(""),
                                    usage != nullptr ? usage_of(*usage) : std::nullopt);
    reply.timing = timing_of(answer);
    take_kept(reply);
    whittle::detail::notify_whole(on_delta, reply.message);
    return reply;
}

void ChatStream::take_answer(const ordered_json& chunk, const SseEvent& event) {
    require_no_error(chunk, headers());
    if (event.event == "error") fail_answered(event.data, headers());
    take_usage(chunk);
    if (auto timing = timing_of(chunk)) timing_ = timing;
    if (const ordered_json* choice = first_choice(chunk)) {
        require_no_error(*choice, headers());
        take_usage(*choice);  // where some servers have it
        take_choice(*choice);
    }
}

void ChatStream::take_usage(const ordered_json& holder) {
    const ordered_json* found = find_member(holder, "usage");
    if (found != nullptr && found->is_object()) usage_ = usage_of(*found);
}

void ChatStream::take_choice(const ordered_json& choice) {
    if (const auto text = find_string(choice, "finish_reason"); text && !text->empty()) {  // some send "" till then
        reason_ = *text;
        has_reason_ = true;
    }
    const ordered_json* delta = find_member(choice, "delta");
    if (delta == nullptr || !delta->is_object()) return;
    ordered_json rest = *delta;
    rest.erase("tool_calls");
    match_content(rest);
    whittle::detail::merge_delta(message_, rest);
    notify_text(*delta);
    if (const ordered_json* list = find_array(*delta, "tool_calls")) {
        for (const ordered_json& piece : *list) take_call(piece);
    }
}

/// Content may come as text in one chunk and as a list of parts in another: then all of it is parts.
void ChatStream::match_content(ordered_json& delta) {
    ordered_json* piece = delta.contains("content") ? &delta["content"] : nullptr;
    ordered_json& sum = message_["content"];
    if (piece == nullptr || piece->is_array() == sum.is_array()) return;
    ordered_json& text = piece->is_array() ? sum : *piece;
    if (!text.is_string()) return;
    const bool is_empty = text.get_ref<const std::string&>().empty();
    text = is_empty ? ordered_json(nullptr) : ordered_json::array({{{"type", "text"}, {"text", std::move(text)}}});
}

void ChatStream::notify_text(const ordered_json& delta) const {
    if (const auto text = find_string(delta, "reasoning_content")) {
        notify(Delta::Kind::thinking, *text);
    } else if (const auto other = find_string(delta, "reasoning")) {
        notify(Delta::Kind::thinking, *other);
    }
    if (const auto text = find_string(delta, "content")) notify(Delta::Kind::text, *text);
    if (const ordered_json* parts = find_array(delta, "content")) {
        for (const ordered_json& part : *parts) notify_part(part);
    }
}

void ChatStream::notify_part(const ordered_json& part) const {
    const std::string_view type = find_string(part, "type").value_or("");
    if (type == "text") notify(Delta::Kind::text, find_string(part, "text").value_or(""));
    const ordered_json* thoughts = type == "thinking" ? find_array(part, "thinking") : nullptr;
    if (thoughts == nullptr) return;
    for (const ordered_json& thought : *thoughts)
        notify(Delta::Kind::thinking, find_string(thought, "text").value_or(""));
}

void ChatStream::take_call(const ordered_json& piece) {
    if (!piece.is_object()) return;
    ordered_json& call = call_of(piece);
    whittle::detail::merge_delta(call, piece);
    for (const auto& [key, field] : {std::pair{"function", "arguments"}, std::pair{"custom", "input"}}) {
        const ordered_json* body = find_member(piece, key);
        if (body == nullptr) continue;
        if (const auto text = find_string(*body, field)) {
            notify(Delta::Kind::tool_arguments, *text, find_string(call, "id").value_or(""),
                   find_string(call[key], "name").value_or(""));
        }
    }
}

/// Some servers give all calls one index, or none: then an id begins a call.
ordered_json& ChatStream::call_of(const ordered_json& piece) {
    const std::string_view id = find_string(piece, "id").value_or("");
    ordered_json* call = whittle::detail::find_index(calls_, piece);
    if (call == nullptr && find_member(piece, "index") == nullptr && !calls_.empty()) call = &calls_.back();
    if (call != nullptr) {
        const std::string_view known = find_string(*call, "id").value_or("");
        if (id.empty() || known.empty() || id == known) return *call;
    }
    whittle::detail::require_room(calls_);
    calls_.push_back(ordered_json::object());
    return calls_.back();
}

Reply<Message> ChatStream::finish() {
    const bool is_empty = calls_.empty() && message_.size() == 2 && message_["content"].is_null();
    if (!has_reason_ && (!is_done() || is_empty))
        fail_reply(ModelErrorClass::transport, "the stream ended before the reply did");
    if (!calls_.empty()) {
        whittle::detail::drop_indexes(calls_);
        for (ordered_json& call : calls_) {
            if (call.contains("function") && !call.contains("type")) call["type"] = "function";
        }
        message_["tool_calls"] = std::move(calls_);
    }
    Reply<Message> reply = to_reply(std::move(message_), reason_, usage_);
    reply.timing = timing_;
    take_kept(reply);
    return reply;
}

}  // namespace whittle::inline v0::openai
