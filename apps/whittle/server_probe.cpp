#include "diagnosis.hpp"
#include "table.hpp"
#include "tool_models.hpp"
#include "whittle/port/model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <optional>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;

/// What a server said to a question; null where it gave no JSON.
struct ServerAnswer {
    int status = 0;
    ordered_json json{};
};

std::string without_end(std::string_view text, std::string_view end) {
    while (text.ends_with('/')) text.remove_suffix(1);
    if (text.ends_with(end)) text.remove_suffix(end.size());
    while (text.ends_with('/')) text.remove_suffix(1);
    return std::string(text);
}

HttpHeaders headers_of(const ModelSettings& model, const std::string& key) {
    HttpHeaders headers{{"Accept", "application/json"}};
    if (model.type == ModelSettings::Type::anthropic) headers.emplace_back("anthropic-version", "2023-06-01");
    if (key.empty()) return headers;
    if (model.type == ModelSettings::Type::anthropic) {
        headers.emplace_back("x-api-key", key);
    } else {
        headers.emplace_back("Authorization", "Bearer " + key);
    }
    return headers;
}

ServerAnswer ask_server(const std::string& url, HttpHeaders headers) {
    using namespace std::chrono_literals;
    const HttpRequest request{
        .method = "GET",
        .url = url,
        .headers = std::move(headers),
        .limits = {.connect = 3s, .first_byte = 10s, .idle = 10s, .total = 20s, .max_response_bytes = 16 << 20},
        .stop = interrupt_token()};
    const HttpResponse response = tool_transport()->send(request);
    return {response.status, ordered_json::parse(response.body, nullptr, false)};
}

/// The first whole number above 0 at one of the places.
std::optional<std::int64_t> number_at(const ordered_json& json, std::initializer_list<const char*> pointers) {
    for (const char* pointer : pointers) {
        const ordered_json::json_pointer place(pointer);
        if (!json.is_structured() || !json.contains(place) || !json[place].is_number_integer()) continue;
        if (const auto number = json[place].get<std::int64_t>(); number > 0) return number;
    }
    return std::nullopt;
}

/// The entry of a list of models, as OpenAI's and Anthropic's servers give it: that of the id, or the only one.
const ordered_json* entry_of(const ordered_json& answer, const std::string& id) {
    if (!answer.is_object() || !answer.contains("data") || !answer["data"].is_array()) return nullptr;
    const ordered_json& list = answer["data"];
    for (const ordered_json& entry : list) {
        if (entry.is_object() && entry.contains("id") && entry["id"] == id) return &entry;
    }
    return list.size() == 1 ? &list[0] : nullptr;
}

std::vector<std::string> ids_in(const ordered_json& answer) {
    std::vector<std::string> ids;
    if (!answer.is_object() || !answer.contains("data") || !answer["data"].is_array()) return ids;
    for (const ordered_json& entry : answer["data"]) {
        if (entry.is_object() && entry.contains("id") && entry["id"].is_string()) ids.push_back(entry["id"]);
    }
    return ids;
}

/// One model of the configuration that is asked.
class ServerProbe {
public:
    ServerProbe(const ModelSettings& model, const ModelProfile& profile, std::string key, Symptoms& findings)
        : model_(model),
          profile_(profile),
          key_(std::move(key)),
          findings_(findings),
          topic_(fmt::format("model \"{}\"", model.name)) {}

    void run() {
        const std::string root = without_end(address_of(model_), "/v1");
        try {
            const ServerAnswer models = ask_server(root + "/v1/models", headers_of(model_, key_));
            tell_answer(models);
            if (models.status == 401 || models.status == 403) return;
            tell_id(models.json);
            // llama.cpp's server has its properties beside the API; others answer 404.
            const ServerAnswer props = ask_server(root + "/props", headers_of(model_, key_));
            if (props.status != 200) return tell_window(models.json, {});
            tell_window(models.json, props.json);
            tell_template(props.json);
        } catch (const ModelError& error) {
            add(Health::failed, error.what(), "start the server, or correct base_url");
        } catch (const Error& error) {  // without libcurl
            add(Health::warning, error.what());
        }
    }

private:
    void add(Health health, std::string text, std::string advice = {}) {
        findings_.push_back({health, topic_, std::move(text), std::move(advice)});
    }

    void tell_answer(const ServerAnswer& models) {
        const std::string host = host_of(address_of(model_));
        if (models.status == 401 || models.status == 403)
            return add(Health::failed, fmt::format("{} refuses the key (HTTP {})", host, models.status),
                       model_.api_key_env.empty() ? "set api_key_env to the name of the value that holds the key"
                                                  : fmt::format("set {} to a key that it takes", model_.api_key_env));
        if (models.status >= 500)
            return add(Health::warning, fmt::format("{} answers with HTTP {}", host, models.status),
                       "look at the server's log; it may still load its model");
        add(Health::ok, fmt::format("{} answers", host));
    }

    void tell_id(const ordered_json& models) {
        const std::vector<std::string> ids = ids_in(models);
        if (ids.empty() || std::ranges::find(ids, model_.model) != ids.end()) return;
        constexpr std::size_t most = 5;
        const auto few = std::vector<std::string>(
            ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(most, ids.size())));
        add(Health::warning,
            fmt::format("\"{}\" is not in its list of models: {}{}", model_.model, fmt::join(few, ", "),
                        ids.size() > most ? ", ..." : ""),
            fmt::format("set models.{}.model to one of them; a server of one model may not mind", model_.name));
    }

    void tell_window(const ordered_json& models, const ordered_json& props) {
        std::optional<std::int64_t> window = number_at(props, {"/default_generation_settings/n_ctx", "/n_ctx"});
        const ordered_json* entry = entry_of(models, model_.model);
        if (!window && entry != nullptr)
            window = number_at(*entry, {"/max_model_len", "/context_length", "/context_window", "/meta/n_ctx"});
        if (!window) return;
        const std::int64_t ours = profile_.context_window;
        const std::string text = fmt::format("its window has {} tokens", grouped(*window));
        if (ours > *window)
            return add(Health::warning, fmt::format("{}, profile.context_window {}", text, grouped(ours)),
                       fmt::format("if the agent's model is there too, set profile.context_window to {}; else set "
                                   "max_input_tokens of what asks it below that",
                                   *window));
        if (ours == 0)
            return add(Health::warning, fmt::format("{}, profile.context_window says nothing", text),
                       fmt::format("if the agent's model is there too, set profile.context_window to {}", *window));
        add(Health::ok, text);
    }

    void tell_template(const ordered_json& props) {
        if (!props.is_object() || !props.contains("chat_template") || !props["chat_template"].is_string()) return;
        const auto caps = ordered_json::json_pointer("/chat_template_caps/supports_tools");
        const bool has_tools = props.contains(caps) && props[caps].is_boolean()
                                   ? props[caps].get<bool>()
                                   : props["chat_template"].get<std::string>().find("tool") != std::string::npos;
        if (has_tools) return add(Health::ok, "its chat template renders tools");
        add(Health::warning, "its chat template renders no tools: a model there does not see them",
            "start it with a template that has tools if the agent's model is there too");
    }

    const ModelSettings& model_;
    const ModelProfile& profile_;
    std::string key_;
    Symptoms& findings_;
    std::string topic_;
};

/// Empty, with a finding, if the environment lacks it.
std::optional<std::string> key_for(const ModelSettings& model, Symptoms& findings) {
    if (model.api_key_env.empty()) return std::string();
    const std::optional<std::string> key = environment_value(model.api_key_env);
    if (key && !key->empty()) return key;
    findings.push_back({Health::failed, fmt::format("model \"{}\"", model.name),
                        fmt::format("the environment has no value {}", model.api_key_env),
                        fmt::format("set {} to the key", model.api_key_env)});
    return std::nullopt;
}

}  // namespace

void diagnose_models(const ChainSettings& settings, bool allow_remote, Symptoms& findings) {
    for (const ModelSettings& model : settings.models) {
        if (model.type == ModelSettings::Type::scripted) continue;
        throw_if_interrupted();
        const std::string address = address_of(model);
        const std::string topic = fmt::format("model \"{}\"", model.name);
        const auto key = key_for(model, findings);
        if (!allow_remote && !is_loopback(address)) {
            findings.push_back({Health::ok, topic,
                                fmt::format("{} is not asked: it is another machine", host_of(address)),
                                "--allow-remote asks for its list of models, which costs nothing"});
        } else if (key) {
            ServerProbe(model, settings.config.profile, *key, findings).run();
        }
    }
}

}  // namespace whittle::cli
