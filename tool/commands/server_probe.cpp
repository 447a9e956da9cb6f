#include "diagnosis.hpp"
#include "interrupt.hpp"
#include "table.hpp"
#include "tool_models.hpp"
#include "whittle/model/model.hpp"
#include "whittle/servers/server_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace whittle::cli {
namespace {

HttpHeaders headers_of(const ModelSettings& model, const std::string& key) {
    HttpHeaders headers;
    if (model.type == "anthropic") headers.emplace_back("anthropic-version", "2023-06-01");
    if (key.empty()) return headers;
    if (model.type == "anthropic") {
        headers.emplace_back("x-api-key", key);
    } else {
        headers.emplace_back("Authorization", "Bearer " + key);
    }
    return headers;
}

/// One model of the configuration that is asked.
class ServerProbe {
public:
    ServerProbe(const ModelSettings& model, const ModelProfile& profile, std::string key, Symptoms& findings)
        : model_(model),
          http_(*http_settings_of(model)),
          profile_(profile),
          key_(std::move(key)),
          findings_(findings),
          topic_(fmt::format("model \"{}\"", model.name)) {}

    void run() {
        try {
            const ServerFacts facts = probe_server(*tool_transport(), {.base_url = address_of(model_),
                                                                       .model = http_.model,
                                                                       .headers = headers_of(model_, key_),
                                                                       .stop = interrupt_token()});
            report_answer(facts);
            if (facts.status == 401 || facts.status == 403 || (facts.status >= 300 && facts.status < 400)) return;
            report_id(facts.models);
            report_kind(facts);
            report_window(facts);
            report_template(facts);
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

    void report_answer(const ServerFacts& facts) {
        const std::string host = host_of(address_of(model_));
        if (facts.status == 401 || facts.status == 403)
            return add(Health::failed, fmt::format("{} refuses the key (HTTP {})", host, facts.status),
                       http_.api_key_env.empty() ? "set api_key_env to the name of the value that holds the key"
                                                 : fmt::format("set {} to a key that it takes", http_.api_key_env));
        if (facts.status >= 300 && facts.status < 400)
            return add(Health::failed, fmt::format("{} sends on to another address (HTTP {})", host, facts.status),
                       fmt::format("set models.{}.base_url to where it sends: nobody follows it", model_.name));
        if (facts.status >= 500)
            return add(Health::warning, fmt::format("{} answers with HTTP {}", host, facts.status),
                       "look at the server's log; it may still load its model");
        if (facts.is_loading)
            return add(Health::warning, fmt::format("{} still loads its model", host), "ask again in a while");
        add(Health::ok, fmt::format("{} answers", host));
    }

    void report_id(const std::vector<std::string>& ids) {
        const auto is_ours = [&](const std::string& id) { return id == http_.model || id == http_.model + ":latest"; };
        if (ids.empty() || std::ranges::any_of(ids, is_ours)) return;
        constexpr std::size_t most = 5;
        const auto few = std::vector<std::string>(
            ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(most, ids.size())));
        add(Health::warning,
            fmt::format("\"{}\" is not in its list of models: {}{}", http_.model, fmt::join(few, ", "),
                        ids.size() > most ? ", ..." : ""),
            fmt::format("set models.{}.model to one of them; a server of one model may not mind", model_.name));
    }

    /// What it is, where that changes how it is used.
    void report_kind(const ServerFacts& facts) {
        if (facts.slots > 0)
            add(Health::ok, fmt::format("it keeps {} conversation{} side by side (id_slot)", facts.slots,
                                        facts.slots == 1 ? "" : "s"));
        if (facts.has_tokenizer) add(Health::ok, "it counts tokens by its own vocabulary (/tokenize)");
        if (facts.truncates_silently)
            add(Health::warning, "it silently truncates a request that is too large",
                "keep profile.context_window at its window; with_truncation_check notices");
    }

    void report_window(const ServerFacts& facts) {
        if (facts.context_window == 0) return;
        const std::int64_t window = facts.context_window;
        const std::int64_t ours = profile_.context_window;
        const std::string text = fmt::format("its window has {} tokens", grouped(window));
        if (ours > window)
            return add(Health::warning, fmt::format("{}, profile.context_window {}", text, grouped(ours)),
                       fmt::format("if the agent's model is there too, set profile.context_window to {}; else set "
                                   "max_input_tokens of what asks it below that",
                                   window));
        if (ours == 0)
            return add(Health::warning, fmt::format("{}, profile.context_window says nothing", text),
                       fmt::format("if the agent's model is there too, set profile.context_window to {}", window));
        add(Health::ok, text);
    }

    void report_template(const ServerFacts& facts) {
        if (!facts.renders_tools) return;
        if (*facts.renders_tools) return add(Health::ok, "its chat template renders tools");
        add(Health::warning, "its chat template renders no tools: a model there does not see them",
            "start it with a template that has tools if the agent's model is there too");
    }

    const ModelSettings& model_;
    const HttpModelSettings& http_;
    const ModelProfile& profile_;
    std::string key_;
    Symptoms& findings_;
    std::string topic_;
};

/// Empty, with a finding, if the environment lacks it.
std::optional<std::string> key_for(const ModelSettings& model, Symptoms& findings) {
    const std::string& variable = http_settings_of(model)->api_key_env;
    if (variable.empty()) return std::string();
    const std::optional<std::string> key = environment_value(variable);
    if (key && !key->empty()) return key;
    findings.push_back({Health::failed, fmt::format("model \"{}\"", model.name),
                        fmt::format("the environment has no value {}", variable),
                        fmt::format("set {} to the key", variable)});
    return std::nullopt;
}

}  // namespace

void diagnose_models(const ChainSettings& settings, bool allow_remote, Symptoms& findings) {
    for (const ModelSettings& model : settings.models) {
        if (http_settings_of(model) == nullptr) continue;
        throw_if_interrupted();
        const std::string address = address_of(model);
        const std::string topic = fmt::format("model \"{}\"", model.name);
        const auto key = key_for(model, findings);
        if (!allow_remote && !is_loopback(address)) {
            findings.push_back({Health::ok, topic,
                                fmt::format("{} is not queried: it is another machine", host_of(address)),
                                "--allow-remote queries its list of models, which costs nothing"});
        } else if (key) {
            ServerProbe(model, settings.config.profile, *key, findings).run();
        }
    }
}

}  // namespace whittle::cli
