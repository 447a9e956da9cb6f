#include "recording.hpp"

#include <whittle/base/hash.hpp>
#include <whittle/port/model.hpp>

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
    for (const char* name : {"id", "created", "model", "system_fingerprint", "timings", "object"}) json.erase(name);
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

ordered_json to_json(const Exchange& exchange) {
    ordered_json reply = ordered_json::parse(exchange.reply, nullptr, false);
    if (reply.is_discarded()) reply = exchange.reply;
    return {{"path", exchange.path},           {"request", exchange.request}, {"request_sha256", exchange.sha256},
            {"request_bytes", exchange.bytes}, {"status", exchange.status},   {"content_type", exchange.content_type},
            {"reply", std::move(reply)}};
}

Exchange from_json(const ordered_json& json) {
    const ordered_json& reply = json.at("reply");
    return {.path = json.at("path"),
            .request = json.at("request"),
            .sha256 = json.at("request_sha256"),
            .bytes = json.at("request_bytes"),
            .status = json.at("status"),
            .content_type = json.at("content_type"),
            .reply = reply.is_string() ? reply.get<std::string>() : reply.dump()};
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
    for (std::size_t i = 0; i < recording.exchanges.size(); ++i)
        out << (i == 0 ? "\n" : ",\n") << to_json(recording.exchanges[i]).dump();
    out << "\n]}\n";
    if (!out.flush()) throw std::runtime_error(fmt::format("write {}: it failed", file.string()));
}

Recording load(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw std::runtime_error(fmt::format("read {}: it cannot be opened", file.string()));
    try {
        const ordered_json json = ordered_json::parse(in);
        Recording recording{.server = json.at("server")};
        for (const ordered_json& exchange : json.at("exchanges")) recording.exchanges.push_back(from_json(exchange));
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
    const std::scoped_lock lock(mutex_);
    exchanges_.push_back({.path = path_of(request.url),
                          .request = outline_of(request.body),
                          .sha256 = whittle::sha256_hex(request.body),
                          .bytes = request.body.size(),
                          .status = response.status,
                          .content_type = std::string(response.header("Content-Type").value_or("")),
                          .reply = without_unread(streamed + response.body)});
    return response;
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
    const bool is_taken = on_body.on_head ? on_body.on_head(response) : is_success;
    if (is_taken && on_body.on_bytes) {
        on_body.on_bytes(exchange.reply);
    } else {
        response.body = exchange.reply;
    }
    return response;
}

}  // namespace real_model
