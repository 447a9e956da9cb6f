#pragma once

#include "whittle/chain/chain.hpp"
#include "whittle/compaction/compaction.hpp"
#include "whittle/condensing/condensing.hpp"
#include "whittle/config/config_json_types.hpp"
#include "whittle/model/model.hpp"
#include "whittle/preset/presets.hpp"
#include "whittle/pruning/pruning.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/release_context/release_context.hpp"
#include "whittle/summarization/summarization.hpp"
#include "whittle/token_saving/token_saving.hpp"
#include "whittle/trimming/trimming.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace whittle::inline v0 {

struct StorageSettings;

/// What opens a storage that is not whittle::json's own, from whatever library the program links:
/// `open_configured_sqlite` and the like, in `whittle/{sqlite,redis,sealing,redaction}/configured_*.hpp`. A null one is
/// refused at opening.
struct StorageOpeners {
    std::function<std::shared_ptr<Storage>(const StorageSettings&)> sqlite{};
    std::function<std::shared_ptr<Storage>(const StorageSettings&)> redis{};
    std::function<std::shared_ptr<Storage>(std::shared_ptr<Storage>, const StorageSettings&)> sealing{};
    std::function<std::shared_ptr<Storage>(std::shared_ptr<Storage>, const StorageSettings&)> redaction{};
};

/// Where a configuration text comes from.
struct ConfigSource {
    std::string name = "configuration";  ///< starts every error line, such as "chain.json"
    std::string base_dir{};              ///< what a relative storage root is relative to; empty: the working directory
    /// Environment values by name, for keys that end in `_env` and for `AGENT_COMPACTION_*` (docs/compaction.md). The
    /// library itself reads no environment. Empty: none.
    std::function<std::optional<std::string>(std::string_view)> lookup{};
    /// Whether the host's maker of models (`make_chain`) takes that provider's name for a model. Then a middleware may
    /// name it instead of one of `models`, and so may AGENT_COMPACTION_MODEL. Empty: none.
    std::function<bool(std::string_view)> knows_model{};
    MiddlewareTypes types{};   ///< the host's own, beside those of whittle
    StorageOpeners openers{};  ///< of storages that other libraries have
};

/// A storage that is not open yet: reading a configuration opens none.
struct StorageSettings {
    enum class Type { none, memory, file, sqlite, redis };
    Type type = Type::none;
    std::string root{};  ///< file: the directory; sqlite: the file. Absolute, or relative to the working directory
    FileStorageOptions file{};  ///< `durability` is that of sqlite too
    MemoryStorageOptions memory{};
    std::int64_t busy_timeout_ms = 10'000;  ///< sqlite: how long other writers are waited for
    std::int64_t max_file_bytes = 0;        ///< sqlite: of the file without its log; 0: no limit
    std::int64_t expire_after_seconds = 0;  ///< sqlite, redis: older objects are absent; 0: never
    std::vector<std::string> addresses =
        std::vector<std::string>(1, "127.0.0.1:6379");  ///< redis: "host:port", "[v6]:port" or "unix:/path"
    std::string topology{"single"};                     ///< redis: a name of `RedisTopology`
    std::string sentinel_primary{};                     ///< redis: the name that sentinels know the primary by
    std::string redis_durability{"reply"};              ///< redis: a name of `RedisDurability`
    std::string key_prefix{"whittle:"};                 ///< redis: of all keys there
    std::string user{};                                 ///< redis: empty: the default user
    std::string password_env{};     ///< redis: name of the environment value that holds the password; empty: none
    bool redaction = false;         ///< masked by the rules of `RedactionRules{}` before it is stored
    std::string sealing_key_env{};  ///< sealed; name of the environment value that holds the keys; empty: not sealed
    std::function<std::optional<std::string>(std::string_view)> lookup{};  ///< `ConfigSource::lookup`
    StorageOpeners openers{};                                              ///< `ConfigSource::openers`
};

/// Null for `Type::none`. Masks go outside, seals inside. Throws what the storage throws; Error(not_offered) if
/// `openers` lacks what it takes, Error(invalid_config) for an environment value that is not there.
[[nodiscard]] std::shared_ptr<Storage> open_storage(const StorageSettings& settings);

/// Settings of any middleware that a configuration can name.
using StageConfig =
    std::variant<ReductionConfig, TrimmingConfig, CondensingConfig, SummarizationConfig, TokenSavingConfig,
                 PruningConfig, ReleaseContextConfig, CompactionConfig, RegisteredConfig>;

/// One entry of "middlewares".
struct StageSettings {
    std::string name{};
    StageConfig config{};
    StorageSettings backend{};  ///< own storage; none: the chain's
    std::map<std::string, StorageSettings> tool_backends{};
    std::string model{};           ///< the model that the stage asks: a name of `ChainSettings::models`
    std::string failover_model{};  ///< summarization, compaction: the same; empty: `model`
};

/// One entry of "models", or a model that a middleware calls by its provider's name. It holds no key: only where to
/// find one.
struct ModelSettings {
    enum class Type {
        scripted,
        openai,
        anthropic,
        named,  ///< no entry: `name` and `model` are the provider's name, which `ConfigSource::knows_model` takes
    };
    struct Reply {
        std::string text{};
        std::optional<ModelErrorClass> error{};  ///< instead of a text
    };
    std::string name{};
    std::vector<Reply> replies{};  ///< scripted: in order; the last one repeats
    Type type = Type::scripted;
    // Of the others:
    std::string model{};                 ///< the provider's name of it
    std::string base_url{};              ///< empty: the provider's own
    std::string api_key_env{};           ///< name of the environment value that holds the key; empty: no key is sent
    std::string dialect{};               ///< openai: a name of `openai::dialects()`; empty: "openai"
    std::int64_t max_output_tokens = 0;  ///< 0: the model's own
    std::string extra{};                 ///< further fields of every request as a JSON object; empty: none
};

/// A configuration file, read and checked.
struct ChainSettings {
    ChainConfig config{};  ///< `config.storage`, if the caller sets it, is taken instead of `storage`
    StorageSettings storage{};
    std::vector<ModelSettings> models{};
    std::vector<StageSettings> stages{};
    std::vector<std::string> warnings{};  ///< doubtful settings, each with its place
};

/// Reads a chain's configuration; extensions/config/README.md has the keys. Throws one Error(invalid_config) with a
/// line
/// "{name}:{line}:{column}: {key}: found ..., expected ..." for every problem (at most 100): text that is no JSON,
/// unknown and duplicate keys, wrong types, and values that `Chain` or a middleware would refuse. Columns count
/// characters from 1.
[[nodiscard]] ChainSettings read_chain_settings(std::string_view json, const ConfigSource& source = {});

/// The same configuration without the key "preset": what the preset says stands where you would write it. As it is,
/// with other spaces, if it has none. Throws what `read_chain_settings` throws.
[[nodiscard]] std::string write_out_preset(std::string_view json, const ConfigSource& source = {});

/// One key that a configuration can have.
struct ConfigKey {
    std::string path{};  ///< dotted, such as "profile.context_window" or "reduction.max_tokens_for_clear"
    std::string type{};
    std::string fallback{};
    std::string meaning{};
};

/// All keys, in the order of the documentation, and those of a host's own types behind them.
[[nodiscard]] std::vector<ConfigKey> config_keys(const MiddlewareTypes& types = {});

/// A JSON Schema (draft 2020-12) of configuration files, made by the functions that read them: types, ranges, words and
/// required keys. It says what one key may be, not what several say together; a host's own types are not in it.
[[nodiscard]] std::string config_schema();

namespace detail {
/// The configuration with its storages opened.
[[nodiscard]] ReductionConfig open_backends(const StageSettings& stage, ReductionConfig config);
}  // namespace detail

/// Makes a model from its settings: a host's own, or one that watches another.
template <AgentMessage M>
using ModelMaker = std::function<std::shared_ptr<Model<M>>(const ModelSettings&)>;

/// The scripted model that the settings describe. Thread-safe. Throws Error(not_offered) for another type: pass
/// `http_models` (whittle/config/configured_models.hpp) to `make_chain`, or for `Type::named` a maker of your own.
template <AgentMessage M>
[[nodiscard]] std::shared_ptr<Model<M>> make_model(const ModelSettings& settings) {
    class Repeating final : public Model<M> {
    public:
        explicit Repeating(const ModelSettings& settings) : settings_(settings) {}
        Reply<M> generate(const ModelRequest<M>& request) override {
            if (request.stop.stop_requested())
                throw ModelError(ModelErrorClass::cancelled, "model \"" + settings_.name + "\": stopped");
            const std::size_t last = settings_.replies.size() - 1;
            const ModelSettings::Reply& reply = settings_.replies[std::min(next_.fetch_add(1), last)];
            if (!reply.error) return {message_traits<M>::make(Role::assistant, reply.text)};
            throw ModelError(*reply.error, "model \"" + settings_.name + "\": a scripted error");
        }

    private:
        ModelSettings settings_;
        std::atomic<std::size_t> next_ = 0;
    };
    if (settings.type == ModelSettings::Type::named)
        throw Error(Errc::not_offered, "make model \"" + settings.name +
                                           "\": it is a provider's name: give make_chain a maker that knows it");
    if (settings.type != ModelSettings::Type::scripted)
        throw Error(Errc::not_offered,
                    "make model \"" + settings.name + "\": its type needs HTTP: give make_chain the maker http_models");
    if (settings.replies.empty())
        throw Error(Errc::invalid_config, "make model \"" + settings.name + "\": it has no replies");
    return std::make_shared<Repeating>(settings);
}

namespace detail {

/// The models of a configuration, by name.
template <AgentMessage M>
using NamedModels = std::map<std::string, std::shared_ptr<Model<M>>, std::less<>>;

template <AgentMessage M>
[[nodiscard]] std::shared_ptr<Model<M>> find_model(const NamedModels<M>& models, const std::string& name) {
    const auto found = models.find(name);
    return found == models.end() ? nullptr : found->second;
}

/// The model of a stage's failover attempts, if it names one.
template <AgentMessage M>
[[nodiscard]] FailoverCallbacks<M> failover_to(const NamedModels<M>& models, const std::string& name) {
    FailoverCallbacks<M> callbacks;
    if (const auto other = find_model<M>(models, name))
        callbacks.get_failover_model = [other](const FailoverContext<M>&) { return FailoverModel<M>{other}; };
    return callbacks;
}

// `make_stage`: a middleware of its settings, one for each alternative of `StageConfig`.

template <AgentMessage M>
[[nodiscard]] std::shared_ptr<Middleware<M>> make_stage(const ReductionConfig& config, const StageSettings& stage,
                                                        const NamedModels<M>&) {
    return std::make_shared<Reduction<M>>(open_backends(stage, config), ReductionCallbacks<M>{}, stage.name);
}

template <AgentMessage M>
[[nodiscard]] std::shared_ptr<Middleware<M>> make_stage(TrimmingConfig config, const StageSettings& stage,
                                                        const NamedModels<M>&) {
    if (auto storage = open_storage(stage.backend)) config.storage = std::move(storage);
    return std::make_shared<Trimming<M>>(std::move(config), stage.name);
}

template <AgentMessage M>
[[nodiscard]] std::shared_ptr<Middleware<M>> make_stage(CondensingConfig config, const StageSettings& stage,
                                                        const NamedModels<M>& models) {
    if (auto storage = open_storage(stage.backend)) config.storage = std::move(storage);
    if (auto model = find_model<M>(models, stage.model)) config.distiller = as_text_model<M>(std::move(model));
    return std::make_shared<Condensing<M>>(std::move(config), stage.name);
}

template <AgentMessage M>
[[nodiscard]] std::shared_ptr<Middleware<M>> make_stage(const SummarizationConfig& config, const StageSettings& stage,
                                                        const NamedModels<M>& models) {
    SummarizationCallbacks<M> callbacks;
    callbacks.failover = failover_to<M>(models, stage.failover_model);
    return std::make_shared<Summarization<M>>(find_model<M>(models, stage.model), config, std::move(callbacks),
                                              stage.name);
}

/// A classifier that is to ask a model gets it.
template <AgentMessage M>
[[nodiscard]] std::shared_ptr<Middleware<M>> make_stage(TokenSavingConfig config, const StageSettings& stage,
                                                        const NamedModels<M>& models) {
    if (auto storage = open_storage(stage.backend)) config.storage = std::move(storage);
    if (auto model = find_model<M>(models, stage.model))
        config.perplexity_classifier = make_model_classifier(as_text_model<M>(std::move(model)));
    return std::make_shared<TokenSaving<M>>(std::move(config), stage.name);
}

template <AgentMessage M>
[[nodiscard]] std::shared_ptr<Middleware<M>> make_stage(PruningConfig config, const StageSettings& stage,
                                                        const NamedModels<M>&) {
    if (auto storage = open_storage(stage.backend)) config.storage = std::move(storage);
    return std::make_shared<Pruning<M>>(std::move(config), stage.name);
}

template <AgentMessage M>
[[nodiscard]] std::shared_ptr<Middleware<M>> make_stage(ReleaseContextConfig config, const StageSettings& stage,
                                                        const NamedModels<M>&) {
    if (auto storage = open_storage(stage.backend)) config.storage = std::move(storage);
    return std::make_shared<ReleaseContext<M>>(std::move(config), stage.name);
}

template <AgentMessage M>
[[nodiscard]] std::shared_ptr<Middleware<M>> make_stage(const CompactionConfig& config, const StageSettings& stage,
                                                        const NamedModels<M>& models) {
    return std::make_shared<Compaction<M>>(find_model<M>(models, stage.model), config,
                                           CompactionCallbacks<M>{{}, failover_to<M>(models, stage.failover_model)},
                                           stage.name);
}

template <AgentMessage M>
[[nodiscard]] std::shared_ptr<Middleware<M>> make_stage(const RegisteredConfig& config, const StageSettings& stage,
                                                        const NamedModels<M>& models) {
    return make_registered<M>(config, {.name = stage.name, .model = find_model<M>(models, stage.model)});
}

}  // namespace detail

/// Opens the storages and makes the chain with its models. Throws what these throw.
template <AgentMessage M>
[[nodiscard]] Chain<M> make_chain(const ChainSettings& settings, ChainCallbacks<M> callbacks = {},
                                  const ModelMaker<M>& make = &make_model<M>) {
    ChainConfig config = settings.config;
    if (config.storage == nullptr) config.storage = open_storage(settings.storage);
    detail::NamedModels<M> models;
    for (const ModelSettings& model : settings.models) models[model.name] = make(model);
    typename Chain<M>::Stages stages;
    for (const StageSettings& stage : settings.stages) {
        const auto make_from = [&](const auto& own) { return detail::make_stage<M>(own, stage, models); };
        stages.push_back(std::visit(make_from, stage.config));
    }
    return Chain<M>(std::move(config), std::move(callbacks), std::move(stages));
}

}  // namespace whittle::inline v0
