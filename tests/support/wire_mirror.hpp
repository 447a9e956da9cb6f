// The streams that the two providers would send for a message: the other side of our stream readers.
#pragma once

#include "whittle/anthropic/anthropic.hpp"
#include "whittle/openai/openai.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::testing {

namespace detail {

using Json = nlohmann::ordered_json;

/// Pieces of at most nine bytes, cut between characters.
inline std::vector<std::string> pieces_of(const std::string& text) {
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = std::min(at + 9, text.size());
        while (end > at + 1 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
        pieces.push_back(text.substr(at, end - at));
        at = end;
    }
    return pieces;
}

inline std::string event(const Json& data) {
    const std::string type = data.value("type", "");
    return (type.empty() ? "" : "event: " + type + "\n") + "data: " + data.dump() + "\n\n";
}

inline std::string chunk(Json delta, const Json& finish = nullptr) {
    return event({{"object", "chat.completion.chunk"},
                  {"choices", Json::array({{{"index", 0}, {"delta", std::move(delta)}, {"finish_reason", finish}}})}});
}

inline std::string call_chunks(std::size_t index, const Json& call) {
    Json head = call;
    head["index"] = index;
    head["function"]["arguments"] = "";
    std::string stream = chunk({{"tool_calls", Json::array({head})}});
    for (const std::string& piece : pieces_of(call["function"]["arguments"].get<std::string>()))
        stream += chunk({{"tool_calls", Json::array({{{"index", index}, {"function", {{"arguments", piece}}}}})}});
    return stream;
}

inline std::string block_events(std::size_t index, const Json& block) {
    Json head = block;
    std::string deltas;
    const auto add = [&](const char* type, const char* key, const std::string& text) {
        for (const std::string& piece : pieces_of(text))
            deltas +=
                event({{"type", "content_block_delta"}, {"index", index}, {"delta", {{"type", type}, {key, piece}}}});
    };
    const std::string type = block["type"].get<std::string>();
    if (type == "text") {
        add("text_delta", "text", block["text"].get<std::string>());
        head["text"] = "";
    } else if (type == "thinking") {
        add("thinking_delta", "thinking", block["thinking"].get<std::string>());
        add("signature_delta", "signature", block["signature"].get<std::string>());
        head["thinking"] = "";
        head["signature"] = "";
    } else if (type == "tool_use") {
        add("input_json_delta", "partial_json", block["input"].dump());
        head["input"] = Json::object();
    }
    return event({{"type", "content_block_start"}, {"index", index}, {"content_block", head}}) + deltas +
           event({{"type", "content_block_stop"}, {"index", index}});
}

}  // namespace detail

/// Chunks of a chat completion, in pieces of a few bytes.
inline std::string chat_stream(const openai::Message& message) {
    using namespace detail;
    Json head = message.json();
    const Json calls = head.contains("tool_calls") ? head["tool_calls"] : Json::array();
    head.erase("tool_calls");
    std::string stream;
    for (const char* key : {"reasoning_content", "content"}) {
        if (!head.contains(key) || !head[key].is_string()) continue;
        for (const std::string& piece : pieces_of(head[key].get<std::string>())) stream += chunk({{key, piece}});
        head[key] = "";
    }
    stream = chunk(std::move(head)) + stream;
    for (std::size_t i = 0; i < calls.size(); ++i) stream += call_chunks(i, calls[i]);
    return stream + chunk(Json::object(), calls.empty() ? "stop" : "tool_calls") + "data: [DONE]\n\n";
}

/// Events of the Messages API, in pieces of a few bytes.
inline std::string messages_stream(const anthropic::Message& message) {
    using namespace detail;
    const Json usage{{"input_tokens", 1}, {"output_tokens", 1}};
    std::string stream = event({{"type", "message_start"},
                                {"message", {{"role", "assistant"}, {"content", Json::array()}, {"usage", usage}}}});
    std::size_t index = 0;
    bool has_call = false;
    for (const Json& block : message.json()["content"]) {
        stream += block_events(index++, block);
        has_call = has_call || block["type"] == "tool_use";
    }
    return stream +
           event({{"type", "message_delta"}, {"delta", {{"stop_reason", has_call ? "tool_use" : "end_turn"}}}}) +
           event({{"type", "message_stop"}});
}

}  // namespace whittle::testing
