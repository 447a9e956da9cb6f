#include "recording.hpp"

#include <whittle/base/hash.hpp>
#include <whittle/model/model.hpp>
#include <whittle/preset/presets.hpp>
#include <whittle/servers/local_server.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace real_model {

namespace {

using nlohmann::ordered_json;
using whittle::BodySink;
using whittle::HttpRequest;
using whittle::HttpResponse;

std::string path_of(std::string_view url) {
    const std::size_t host = url.find("://") + 3;
    return std::string(url.substr(url.find('/', host)));
}

/// "system user assistant/1 tool": the roles, with the number of calls.
std::string roles_of(const ordered_json& messages) {
    std::string roles;
    for (const ordered_json& message : messages) {
        if (!roles.empty()) roles += ' ';
        roles += message.value("role", "");
        if (message.contains("tool_calls")) roles += fmt::format("/{}", message["tool_calls"].size());
    }
    return roles;
}

/// Without members that the library does not read: they are most of what a server sends for a token.
void drop_unread(ordered_json& json) {
    for (const char* name : {"id", "created", "model", "system_fingerprint", "object"}) json.erase(name);
    if (!json.contains("choices")) return;
    for (ordered_json& choice : json["choices"]) {
        if (!choice.contains("logprobs") || !choice["logprobs"].is_object()) continue;
        choice["logprobs"].erase("top_logprobs");
        choice["logprobs"].erase("text_offset");
    }
}

/// The same for a whole answer, or for each event of a stream.
std::string without_unread(std::string_view reply) {
    ordered_json json = ordered_json::parse(reply, nullptr, false);
    if (json.is_object()) {
        drop_unread(json);
        return json.dump();
    }
    std::string lines;
    while (!reply.empty()) {
        const std::string_view line = reply.substr(0, reply.find('\n'));
        reply.remove_prefix(std::min(line.size() + 1, reply.size()));
        json = line.starts_with("data: {") ? ordered_json::parse(line.substr(6), nullptr, false) : ordered_json();
        if (json.is_object()) drop_unread(json);
        lines += json.is_object() ? "data: " + json.dump() : std::string(line);
        lines += '\n';
    }
    return lines;
}

using Tokens = std::vector<whittle::TokenId>;

/// A prompt is written as what it shares with the one before it, and the rest.
ordered_json to_json(const Exchange& exchange, Tokens& before) {
    ordered_json reply = ordered_json::parse(exchange.reply, nullptr, false);
    if (reply.is_discarded()) reply = exchange.reply;
    ordered_json json{
        {"path", exchange.path},           {"request", exchange.request}, {"request_sha256", exchange.sha256},
        {"request_bytes", exchange.bytes}, {"status", exchange.status},   {"content_type", exchange.content_type},
        {"reply", std::move(reply)}};
    const Tokens& prompt = exchange.prompt_tokens;
    if (prompt.empty()) return json;
    const auto shared = std::ranges::mismatch(before, prompt).in1 - before.begin();
    json["prompt_tokens"] = {{"shared", shared}, {"rest", Tokens(prompt.begin() + shared, prompt.end())}};
    json["reply_tokens"] = exchange.reply_tokens;
    before = prompt;
    return json;
}

Exchange from_json(const ordered_json& json, Tokens& before) {
    const ordered_json& reply = json.at("reply");
    if (json.contains("prompt_tokens")) {
        const ordered_json& prompt = json["prompt_tokens"];
        before.resize(prompt.at("shared").get<std::size_t>());
        for (const ordered_json& token : prompt.at("rest")) before.push_back(token);
    }
    return {.path = json.at("path"),
            .request = json.at("request"),
            .sha256 = json.at("request_sha256"),
            .bytes = json.at("request_bytes"),
            .status = json.at("status"),
            .content_type = json.at("content_type"),
            .reply = reply.is_string() ? reply.get<std::string>() : reply.dump(),
            .prompt_tokens = json.contains("prompt_tokens") ? before : Tokens(),
            .reply_tokens = json.value("reply_tokens", Tokens())};
}

}  // namespace

ordered_json outline_of(std::string_view body) {
    ordered_json outline = ordered_json::parse(body);
    if (outline.contains("prompt")) outline["prompt"] = nullptr;
    if (outline.contains("messages")) outline["messages"] = roles_of(outline["messages"]);
    if (!outline.contains("tools")) return outline;
    for (ordered_json& tool : outline["tools"]) {
        ordered_json name = tool["function"]["name"];
        tool = std::move(name);
    }
    return outline;
}

void save(const Recording& recording, const std::filesystem::path& file) {
    std::ofstream out(file, std::ios::binary);
    out << "{\"server\":" << ordered_json(recording.server).dump() << ",\"exchanges\":[";
    Tokens before;
    for (std::size_t i = 0; i < recording.exchanges.size(); ++i)
        out << (i == 0 ? "\n" : ",\n") << to_json(recording.exchanges[i], before).dump();
    out << "\n]}\n";
    if (!out.flush()) throw std::runtime_error(fmt::format("write {}: it failed", file.string()));
}

Recording load(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw std::runtime_error(fmt::format("read {}: it cannot be opened", file.string()));
    try {
        const ordered_json json = ordered_json::parse(in);
        Recording recording{.server = json.at("server")};
        Tokens before;
        for (const ordered_json& exchange : json.at("exchanges"))
            recording.exchanges.push_back(from_json(exchange, before));
        return recording;
    } catch (const nlohmann::json::exception& error) {
        throw std::runtime_error(fmt::format("read {}: {}", file.string(), error.what()));
    }
}

HttpResponse RecordingTransport::send(const HttpRequest& request, const BodySink& on_body) {
    std::string streamed;
    BodySink sink = on_body;
    if (on_body.on_bytes) {
        sink.on_bytes = [&](std::string_view bytes) {
            streamed += bytes;
            return on_body.on_bytes(bytes);
        };
    }
    HttpResponse response = transport_->send(request, sink);
    Exchange exchange{.path = path_of(request.url),
                      .request = outline_of(request.body),
                      .sha256 = whittle::sha256_hex(request.body),
                      .bytes = request.body.size(),
                      .status = response.status,
                      .content_type = std::string(response.header("Content-Type").value_or("")),
                      .reply = without_unread(streamed + response.body)};
    if (!tokens_from_.empty() && response.status == 200) add_tokens(request.body, exchange);
    const std::scoped_lock lock(mutex_);
    exchanges_.push_back(std::move(exchange));
    return response;
}

/// Of a chat reply that came whole.
void RecordingTransport::add_tokens(std::string_view body, Exchange& exchange) {
    const ordered_json request = ordered_json::parse(body);
    const ordered_json reply = ordered_json::parse(exchange.reply, nullptr, false);
    if (!request.contains("messages") || !reply.is_object()) return;
    const ordered_json& text = reply.at("choices").at(0).at("message").at("content");
    exchange.prompt_tokens = tokens_of(ask("/apply-template", request).at("prompt").get<std::string>(), true);
    if (text.is_string()) exchange.reply_tokens = tokens_of(text.get<std::string>(), false);
}

std::vector<whittle::TokenId> RecordingTransport::tokens_of(std::string_view text, bool is_prompt) {
    return ask("/tokenize", {{"content", text}, {"add_special", is_prompt}, {"parse_special", true}}).at("tokens");
}

ordered_json RecordingTransport::ask(std::string_view path, const ordered_json& body) {
    const HttpResponse response = transport_->send({.url = tokens_from_ + std::string(path),
                                                    .headers = {{"Content-Type", "application/json"}},
                                                    .body = body.dump()});
    if (response.status != 200)
        throw std::runtime_error(fmt::format("ask {} for tokens: status {}: {}", path, response.status, response.body));
    return ordered_json::parse(response.body);
}

std::vector<Prefill> prefills_of(const std::vector<Exchange>& exchanges) {
    std::vector<Prefill> prefills;
    whittle::ServerSlot slot;
    for (const Exchange& exchange : exchanges) {
        if (exchange.status != 200) continue;  // it read nothing
        const ordered_json reply = ordered_json::parse(exchange.reply, nullptr, false);
        if (exchange.prompt_tokens.empty() || !reply.is_object() || !reply.contains("timings")) break;
        const ordered_json& timings = reply["timings"];
        prefills.push_back({.predicted = slot.prefill_tokens(exchange.prompt_tokens),
                            .timing = {.prefill_tokens = timings.at("prompt_n"),
                                       .prefill_ms = timings.at("prompt_ms"),
                                       .cached_tokens = timings.at("cache_n"),
                                       .output_tokens = timings.at("predicted_n"),
                                       .output_ms = timings.at("predicted_ms")}});
        slot.answered(exchange.prompt_tokens, exchange.reply_tokens);
    }
    return prefills;
}

std::vector<Exchange> RecordingTransport::take() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(exchanges_, {});
}

HttpResponse ReplayTransport::send(const HttpRequest& request, const BodySink& on_body) {
    const std::size_t number = sent_++;
    const auto refuse = [&](std::string why) {
        if (mismatch_.empty()) mismatch_ = fmt::format("request {}: {}", number + 1, why);
        throw whittle::ModelError(whittle::ModelErrorClass::bad_request, std::nullopt, "replay: " + why);
    };
    if (number >= recording_.exchanges.size()) refuse("more requests than were recorded");
    const Exchange& exchange = recording_.exchanges[number];
    const ordered_json outline = outline_of(request.body);
    if (path_of(request.url) != exchange.path) refuse("another path than " + exchange.path);
    if (nlohmann::json(outline) != nlohmann::json(exchange.request))  // members have no order
        refuse(fmt::format("recorded was {}, sent is {}", exchange.request.dump(), outline.dump()));
    if (whittle::sha256_hex(request.body) == exchange.sha256) ++same_bytes_;
    HttpResponse response{.status = exchange.status, .headers = {{"Content-Type", exchange.content_type}}};
    const bool is_success = response.status >= 200 && response.status < 300;
    const bool is_taken = on_body.should_stream_body ? on_body.should_stream_body(response) : is_success;
    if (is_taken && on_body.on_bytes) {
        on_body.on_bytes(exchange.reply);
    } else {
        response.body = exchange.reply;
    }
    return response;
}

}  // namespace real_model
