#include "whittle/servers/server_facts.hpp"

#include "server_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

// Fields as the servers' documentation has them: llama.cpp tools/server/README.md, Ollama docs/api.md, vLLM's OpenAI
// server, LM Studio's REST API v0.

namespace whittle::inline v0 {

namespace {

using detail::entry_of;
using detail::number_at;
using detail::query_server;
using detail::ServerAnswer;
using detail::text_at;
using nlohmann::ordered_json;

std::vector<std::string> ids_of(const ordered_json& answer) {
    std::vector<std::string> ids;
    if (!answer.is_object() || !answer.contains("data") || !answer["data"].is_array()) return ids;
    for (const ordered_json& entry : answer["data"]) {
        if (std::string id = text_at(entry, "id"); !id.empty()) ids.push_back(std::move(id));
    }
    return ids;
}

/// What the list of models has of a window. llama-server's `n_ctx` there is that of one slot.
void take_entry(const ordered_json& entry, ServerFacts& facts) {
    facts.context_window =
        number_at(entry, {"/max_model_len", "/context_length", "/context_window", "/meta/n_ctx"}).value_or(0);
    facts.trained_window = number_at(entry, {"/meta/n_ctx_train"}).value_or(0);
    const std::string owner = text_at(entry, "owned_by");
    if (owner == "vllm") facts.kind = ServerKind::vllm;
    if (owner == "llamacpp") facts.kind = ServerKind::llama_server;
    facts.has_tokenizer = facts.kind != ServerKind::other;
}

bool renders_tools(const ordered_json& props) {
    const ordered_json::json_pointer caps("/chat_template_caps/supports_tools");
    if (props.contains(caps) && props[caps].is_boolean()) return props[caps].get<bool>();
    return text_at(props, "chat_template").find("tool") != std::string::npos;
}

/// llama-server alone has these. The window is that of one slot.
void take_props(const ordered_json& props, ServerFacts& facts) {
    const auto window = number_at(props, {"/default_generation_settings/n_ctx", "/n_ctx"});
    if (!window && !props.contains("chat_template")) return;
    facts.kind = ServerKind::llama_server;
    facts.has_tokenizer = true;
    facts.context_window = window.value_or(facts.context_window);
    facts.slots = static_cast<int>(std::min<std::int64_t>(number_at(props, {"/total_slots"}).value_or(0), 1'000'000));
    if (!text_at(props, "chat_template").empty()) facts.renders_tools = renders_tools(props);
}

/// The number behind "num_ctx" in the lines of Ollama's `parameters`; 0: none.
std::int64_t num_ctx_of(std::string_view parameters) {
    constexpr std::string_view name = "num_ctx";
    while (!parameters.empty()) {
        const std::string_view line = parameters.substr(0, parameters.find('\n'));
        parameters.remove_prefix(std::min(line.size() + 1, parameters.size()));
        const std::size_t digits = line.find_first_of("0123456789", name.size());
        if (!line.starts_with(name) || digits == std::string_view::npos) continue;
        std::int64_t number = 0;
        std::from_chars(line.data() + digits, line.data() + line.size(), number);
        return number;
    }
    return 0;
}

/// What the file says of the model: "llama.context_length", by the name of its architecture.
std::int64_t trained_window_of(const ordered_json& shown) {
    if (!shown.contains("model_info") || !shown["model_info"].is_object()) return 0;
    for (const auto& [name, value] : shown["model_info"].items()) {
        if (name.ends_with(".context_length") && value.is_number_integer()) return value.get<std::int64_t>();
    }
    return 0;
}

/// Ollama takes "qwen3" for "qwen3:latest".
bool is_named(std::string_view name, std::string_view id) {
    return name == id || (name.starts_with(id) && name.substr(id.size()) == ":latest");
}

/// True: it is Ollama.
bool take_ollama(HttpTransport& transport, const ServerAddress& address, ServerFacts& facts) {
    const ServerAnswer running = query_server(transport, address, "/api/ps");
    if (!running.is_object() || !running.json.contains("models") || !running.json["models"].is_array()) return false;
    facts.kind = ServerKind::ollama;
    facts.truncates_silently = true;
    for (const ordered_json& model : running.json["models"]) {
        if (is_named(text_at(model, "name"), address.model))
            facts.context_window = number_at(model, {"/context_length"}).value_or(0);
    }
    if (address.model.empty()) return true;
    const ServerAnswer shown =
        query_server(transport, address, "/api/show", ordered_json{{"model", address.model}}.dump());
    if (!shown.is_object()) return true;
    facts.trained_window = trained_window_of(shown.json);
    if (facts.context_window == 0) facts.context_window = num_ctx_of(text_at(shown.json, "parameters"));
    if (shown.json.contains("capabilities") && shown.json["capabilities"].is_array())
        facts.renders_tools =
            std::ranges::find(shown.json["capabilities"], "tools") != shown.json["capabilities"].end();
    return true;
}

void take_lm_studio(HttpTransport& transport, const ServerAddress& address, ServerFacts& facts) {
    const ServerAnswer list = query_server(transport, address, "/api/v0/models");
    const ordered_json* model = list.is_object() ? entry_of(list.json, "data", "id", address.model) : nullptr;
    if (model == nullptr || !model->contains("max_context_length")) return;
    facts.kind = ServerKind::lm_studio;
    facts.trained_window = number_at(*model, {"/max_context_length"}).value_or(0);
    facts.context_window = number_at(*model, {"/loaded_context_length"}).value_or(0);
    if (model->contains("capabilities") && (*model)["capabilities"].is_array())
        facts.renders_tools = std::ranges::find((*model)["capabilities"], "tool_use") != (*model)["capabilities"].end();
}

}  // namespace

std::string_view to_string(ServerKind kind) noexcept {
    switch (kind) {
        case ServerKind::llama_server: return "llama_server";
        case ServerKind::ollama: return "ollama";
        case ServerKind::vllm: return "vllm";
        case ServerKind::lm_studio: return "lm_studio";
        case ServerKind::other: break;
    }
    return "other";
}

ServerFacts probe_server(HttpTransport& transport, const ServerAddress& address) {
    ServerFacts facts;
    const ServerAnswer models = query_server(transport, address, "/v1/models");
    facts.status = models.status;
    if (models.status == 401 || models.status == 403) return facts;
    facts.models = ids_of(models.json);
    if (const ordered_json* entry = entry_of(models.json, "data", "id", address.model)) take_entry(*entry, facts);
    if (facts.kind == ServerKind::vllm) return facts;
    const ServerAnswer props = query_server(transport, address, "/props");
    facts.is_loading = props.status == 503;
    if (props.is_object()) take_props(props.json, facts);
    if (facts.kind == ServerKind::llama_server || facts.context_window > 0) return facts;
    if (!take_ollama(transport, address, facts)) take_lm_studio(transport, address, facts);
    return facts;
}

ModelProfile profile_with(ModelProfile profile, const ServerFacts& facts) {
    const std::int64_t window = facts.context_window;
    if (window > 0 && (profile.context_window == 0 || profile.context_window > window)) profile.context_window = window;
    if (facts.kind != ServerKind::other && profile.cache.name == CacheProfile{}.name)
        profile.cache = *find_cache_profile("local");
    return profile;
}

std::string pinned_to_slot(std::string_view extra, int slot) {
    ordered_json fields = extra.empty() ? ordered_json::object() : ordered_json::parse(extra, nullptr, false);
    if (!fields.is_object()) throw Error(Errc::invalid_argument, "pin to a slot: extra is no JSON object");
    if (slot < 0) throw Error(Errc::invalid_argument, fmt::format("pin to a slot: {} is none", slot));
    fields["id_slot"] = slot;
    return fields.dump();
}

}  // namespace whittle::inline v0
