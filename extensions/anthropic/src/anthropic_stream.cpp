#include "whittle/anthropic/detail/anthropic_stream.hpp"

#include "whittle/provider/detail/json_body.hpp"
#include "whittle/provider/detail/merge_delta.hpp"
#include "whittle/provider/detail/reply_text.hpp"

#include "whittle/base/text.hpp"
#include "whittle/model/detail/broken_off.hpp"
#include "whittle/provider/classify_error.hpp"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace whittle::inline v0::anthropic {

namespace {

using detail::find_member;
using detail::find_string;
using nlohmann::ordered_json;

constexpr std::string_view attempted = "read the reply";

[[noreturn]] void fail(ModelErrorClass error_class, std::string_view reason) {
    throw ModelError(error_class, fmt::format("{}: {}", attempted, reason));
}

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
        throw to_model_error(classify_error(200, headers, text), attempted);
}

Reply<Message> to_reply(const ordered_json& response) {
    const ordered_json* content = find_member(response, "content");
    if (find_string(response, "role") != "assistant" || content == nullptr || !content->is_array())
        fail(ModelErrorClass::server, "it is no message of the assistant");
    const ordered_json* found = find_member(response, "usage");
    const std::optional<Usage> usage = found != nullptr ? usage_of(*found) : std::nullopt;
    const std::string_view reason = find_string(response, "stop_reason").value_or("");
    if (reason.empty()) fail(ModelErrorClass::server, "it has no stop reason");
    if (reason == "model_context_window_exceeded") {
        throw ModelError(Overflow{.used = usage ? usage->total() : 0},
                         fmt::format("{}: it ended because the context window was full", attempted));
    }
    try {
        return {Message(ordered_json{{"role", "assistant"}, {"content", *content}}), usage, finish_of(reason)};
    } catch (const Error& error) {
        fail(ModelErrorClass::server, error.what());
    }
}

}  // namespace

Reply<Message> messages_reply(std::string_view body, const DeltaSink* on_delta, const HttpHeaders& headers) {
    const ordered_json response = whittle::detail::read_answer(body);
    require_no_error(response, body, headers);
    Reply<Message> reply = to_reply(response);
    whittle::detail::tell_whole(on_delta, reply.message);
    return reply;
}

std::int64_t counted_tokens(std::string_view body) {
    const ordered_json answer = whittle::detail::read_answer(body);
    const ordered_json* tokens = find_member(answer, "input_tokens");
    if (tokens == nullptr || !tokens->is_number_integer()) fail(ModelErrorClass::server, "it has no input_tokens");
    return whittle::detail::count_member(answer, "input_tokens");
}

struct MessagesStream::State {
    struct Block {
        ordered_json json{};
        std::string input{};  // JSON of a call's input, as far as it has come
        bool is_open = true;
        bool is_cut = false;  // its input is no JSON object
    };

    const DeltaSink* on_delta = nullptr;
    HttpHeaders headers{};
    ordered_json response = nullptr;         // the message so far, without its content
    std::map<std::int64_t, Block> blocks{};  // by index
    bool is_done = false;

    void tell(Delta::Kind kind, std::string_view text, const ordered_json& block) const {
        if (on_delta == nullptr || !*on_delta || text.empty()) return;
        const bool is_call = kind == Delta::Kind::tool_arguments;
        (*on_delta)({kind, text, is_call ? find_string(block, "id").value_or("") : std::string_view(),
                     is_call ? find_string(block, "name").value_or("") : std::string_view()});
    }

    void take(const ordered_json& event) {
        const std::string_view type = find_string(event, "type").value_or("");
        if (type == "message_start") return start(event);
        if (type == "ping") return;
        const bool is_content = type.starts_with("content_block_");
        if (!is_content && type != "message_delta" && type != "message_stop") return;  // a kind that came later
        if (response.is_null()) fail(ModelErrorClass::server, "the stream does not begin with its message");
        if (type == "content_block_start") return start_block(event);
        if (type == "content_block_delta") return add_to(open_block(event), event);
        if (type == "content_block_stop") return close(open_block(event));
        if (type == "message_delta") return update(event);
        if (type == "message_stop") is_done = true;
    }

    void start(const ordered_json& event) {
        const ordered_json* message = find_member(event, "message");
        if (!response.is_null() || message == nullptr || !message->is_object())
            fail(ModelErrorClass::server, "the stream begins with something else than one message");
        response = *message;
        response.erase("content");
    }

    [[nodiscard]] static std::int64_t index_of(const ordered_json& event) {
        const ordered_json* index = find_member(event, "index");
        if (index == nullptr || !index->is_number_integer()) fail(ModelErrorClass::server, "a block has no index");
        return index->get<std::int64_t>();
    }

    void start_block(const ordered_json& event) {
        const ordered_json* block = find_member(event, "content_block");
        const bool is_new =
            block != nullptr && block->is_object() && blocks.try_emplace(index_of(event), Block{.json = *block}).second;
        if (!is_new) fail(ModelErrorClass::server, "a block begins twice, or is no object");
        if (const auto text = find_string(*block, "text")) tell(Delta::Kind::text, *text, *block);
        if (const auto text = find_string(*block, "thinking")) tell(Delta::Kind::thinking, *text, *block);
    }

    [[nodiscard]] Block& open_block(const ordered_json& event) {
        const auto found = blocks.find(index_of(event));
        if (found == blocks.end() || !found->second.is_open)
            fail(ModelErrorClass::server, "a piece belongs to a block that is not open");
        return found->second;
    }

    void add_to(Block& block, const ordered_json& event) {
        const ordered_json* delta = find_member(event, "delta");
        if (delta == nullptr || !delta->is_object()) return;
        const std::string_view type = find_string(*delta, "type").value_or("");
        if (type == "text_delta") return append(block, *delta, "text", Delta::Kind::text);
        if (type == "thinking_delta") return append(block, *delta, "thinking", Delta::Kind::thinking);
        if (type == "input_json_delta") {
            const std::string_view text = find_string(*delta, "partial_json").value_or("");
            block.input += text;
            return tell(Delta::Kind::tool_arguments, text, block.json);
        }
        if (type == "citations_delta") return add_citation(block, *delta);
        if (type == "signature_delta" || type == "compaction_delta") return assign(block, *delta);
        ordered_json rest = *delta;
        rest.erase("type");
        whittle::detail::merge_delta(block.json, rest);
    }

    void append(Block& block, const ordered_json& delta, const char* key, Delta::Kind kind) const {
        const std::string_view text = find_string(delta, key).value_or("");
        ordered_json& target = block.json[key];
        if (!target.is_string()) target = "";
        target.get_ref<std::string&>() += text;
        tell(kind, text, block.json);
    }

    static void add_citation(Block& block, const ordered_json& delta) {
        const ordered_json* citation = find_member(delta, "citation");
        ordered_json& list = block.json["citations"];
        if (!list.is_array()) list = ordered_json::array();
        if (citation != nullptr) list.push_back(*citation);
    }

    /// Such a delta holds the final values.
    static void assign(Block& block, const ordered_json& delta) {
        for (const auto& [key, value] : delta.items()) {
            if (key != "type") block.json[key] = value;
        }
    }

    /// The input of calls to our tools and the server's came as text.
    static void close(Block& block) {
        block.is_open = false;
        if (block.input.empty()) {
            if (find_string(block.json, "type") == "tool_use" && !block.json.contains("input"))
                block.json["input"] = ordered_json::object();
            return;
        }
        try {
            block.json["input"] = whittle::detail::parse_json(attempted, to_valid_utf8(block.input));
        } catch (const Error&) {
            block.is_cut = true;
        }
        block.is_cut = block.is_cut || !block.json["input"].is_object();
    }

    /// Counts are sums over the whole message: they replace what message_start said.
    void update(const ordered_json& event) {
        for (const auto& [key, value] : event.items()) {
            if (key == "delta" || key == "type" || value.is_null()) continue;
            if (key == "usage" && value.is_object()) {
                set_members(response["usage"], value);
            } else {
                response[key] = value;
            }
        }
        if (const ordered_json* delta = find_member(event, "delta"); delta != nullptr && delta->is_object())
            set_members(response, *delta);
    }

    static void set_members(ordered_json& target, const ordered_json& members) {
        if (!target.is_object()) target = ordered_json::object();
        for (const auto& [key, value] : members.items()) {
            if (!value.is_null() || !target.contains(key)) target[key] = value;
        }
    }

    /// Half a call must not be made. Where the reply was broken off it is left out; else the server is to blame.
    [[nodiscard]] ordered_json take_content() {
        const std::string_view reason = find_string(response, "stop_reason").value_or("");
        const bool may_be_cut = !reason.empty() && is_broken_off(finish_of(reason));
        ordered_json content = ordered_json::array();
        std::set<std::string, std::less<>> cut_calls;
        for (auto& [index, block] : blocks) {
            if (block.is_open && !block.input.empty()) close(block);
            if (block.is_cut && !may_be_cut)
                fail(ModelErrorClass::server, "the input of a tool call is no JSON object");
            if (block.is_cut) cut_calls.emplace(find_string(block.json, "id").value_or(""));
            const bool is_orphan = cut_calls.contains(find_string(block.json, "tool_use_id").value_or("-"));
            if (!block.is_cut && !is_orphan) content.push_back(std::move(block.json));
        }
        return content;
    }
};

MessagesStream::MessagesStream(const DeltaSink* on_delta, HttpHeaders headers) : state_(std::make_unique<State>()) {
    state_->on_delta = on_delta;
    state_->headers = std::move(headers);
}
MessagesStream::~MessagesStream() = default;
MessagesStream::MessagesStream(MessagesStream&&) noexcept = default;
MessagesStream& MessagesStream::operator=(MessagesStream&&) noexcept = default;

bool MessagesStream::is_done() const noexcept { return state_->is_done; }

void MessagesStream::take(const SseEvent& event) {
    if (state_->is_done || event.data.empty()) return;
    const ordered_json json = whittle::detail::read_answer(event.data);
    if (event.event == "error" || find_string(json, "type") == "error")
        throw to_model_error(classify_error(200, state_->headers, event.data), attempted);
    state_->take(json);
}

Reply<Message> MessagesStream::finish() {
    if (!state_->is_done) fail(ModelErrorClass::transport, "the stream ended before the message did");
    state_->response["content"] = state_->take_content();
    return to_reply(state_->response);
}

}  // namespace whittle::inline v0::anthropic
