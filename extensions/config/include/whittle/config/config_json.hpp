#pragma once

#include "whittle/chain/chain.hpp"
#include "whittle/config/config_types.hpp"
#include "whittle/model/model.hpp"
#include "whittle/storage/storage.hpp"

#include <any>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// Where a configuration text comes from.
struct ConfigSource {
    std::string name = "configuration";  ///< starts every error line, such as "chain.json"
    std::string base_dir{};              ///< what relative paths are relative to; empty: the working directory
    /// For keys that end in `_env` and for `AGENT_COMPACTION_*` (docs/compaction.md). The library itself reads no
    /// environment. Empty: it has no values.
    EnvironmentLookup lookup{};
    /// Whether the host's maker of models (`make_chain`) takes that provider's name for a model. Then a middleware may
    /// name it instead of one of `models`, and so may AGENT_COMPACTION_MODEL. Empty: none.
    std::function<bool(std::string_view)> host_makes_model{};
    ConfigTypes types{};  ///< beside those of the core
};

/// A storage that is not open yet: reading a configuration opens none.
struct StorageSettings {
    std::string type{};  ///< empty: there is none
    std::any config{};   ///< of the type's configuration, such as `FileStoreConfig`
    StorePlace place{};  ///< where it is
    std::map<std::string, std::any, std::less<>> wrapper_configs{};  ///< configurations of stores around it, by name
    EnvironmentLookup lookup{};                                      ///< `ConfigSource::lookup`
    ConfigTypes types{};                                             ///< `ConfigSource::types`
};

/// Null if there is none. Masks go outside, encryption inside. Throws what the storage throws, and Error(not_offered)
/// if `types` lacks one.
[[nodiscard]] std::shared_ptr<Storage> open_storage(const StorageSettings& settings);

/// One entry of "middlewares".
struct StageSettings {
    std::string name{};  ///< of the middleware, as reports have it
    std::string type{};  ///< as `MiddlewareType::type`
    std::any config{};   ///< of the type's configuration, such as `ReductionConfig`; its storages are not open
    /// Storages of its own by key, such as "storage" or "tool_config.bash.backend".
    std::map<std::string, StorageSettings, std::less<>> storages{};
    /// Names of `ChainSettings::models` by key, such as "model" or "failover.model".
    std::map<std::string, std::string, std::less<>> models_by_key{};
};

/// One entry of "models", or a model that a middleware calls by its provider's name. It holds no key: only where to
/// find one.
struct ModelSettings {
    std::string name{};   ///< by which middlewares name it
    std::string type{};   ///< empty: no entry, `name` is the provider's, which `ConfigSource::host_makes_model` takes
    std::any config{};    ///< of the type's configuration, such as `ScriptedModelConfig`
    ConfigTypes types{};  ///< `ConfigSource::types`
};

/// A configuration file, read and checked.
struct ChainSettings {
    ChainConfig config{};  ///< `config.storage`, if the caller sets it, is taken instead of `storage_settings`
    StorageSettings storage_settings{};  ///< of the key "storage", not opened yet
    /// Of the key "models", and those that middlewares name by a provider's name.
    std::vector<ModelSettings> models{};
    std::vector<StageSettings> stages{};  ///< of the key "middlewares", in that order
    ConfigTypes types{};                  ///< `ConfigSource::types`
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
[[nodiscard]] std::string expand_preset(std::string_view json, const ConfigSource& source = {});

/// One key that a configuration can have.
struct ConfigKey {
    std::string path{};                ///< dotted, such as "profile.context_window" or "reduction.max_tokens_for_clear"
    std::string type{};                ///< of its value, for a person
    std::string documented_default{};  ///< for a person; empty: none
    std::string meaning{};             ///< one line, as the member's comment says it
    std::string only_for_type{};       ///< the type of store, model or counter that has it; empty: no matter
};

/// All keys, in the order of the documentation: those of the core, and of each section those of `types` behind them.
[[nodiscard]] std::vector<ConfigKey> config_keys(const ConfigTypes& types = {});

/// A JSON Schema (draft 2020-12) of configuration files, made of what reads them: types, ranges, words and required
/// keys. It says what one key may be, not what several say together.
[[nodiscard]] std::string config_schema(const ConfigTypes& types = {});

/// Makes a model from its settings: a host's own, or one that watches another.
template <AgentMessage M>
using ModelMaker = std::function<std::shared_ptr<Model<M>>(const ModelSettings&)>;

namespace detail {

/// The row of the model's type. Throws Error(not_offered) if there is none.
[[nodiscard]] std::shared_ptr<const ModelRow> row_of_model(const ModelSettings& settings);
[[nodiscard]] std::shared_ptr<const MiddlewareRow> row_of_stage(const StageSettings& stage, const ConfigTypes& types);
/// The stage's configuration with its storages opened.
[[nodiscard]] std::any with_open_storages(const MiddlewareRow& row, const StageSettings& stage);

}  // namespace detail

/// The model that the settings describe. Throws what its maker throws, and Error(not_offered) for a type that was not
/// registered for `M` and for a provider's name: for that give `make_chain` a maker of your own.
template <AgentMessage M>
[[nodiscard]] std::shared_ptr<Model<M>> make_model(const ModelSettings& settings) {
    const auto row = detail::row_of_model(settings);
    return detail::make_registered_model<M>(*row, settings.config, ModelContext<M>{settings.name});
}

/// Opens the storages and makes the chain with its models. Throws what these throw.
template <AgentMessage M>
[[nodiscard]] Chain<M> make_chain(const ChainSettings& settings, ChainCallbacks<M> callbacks = {},
                                  const ModelMaker<M>& make = &make_model<M>) {
    ChainConfig config = settings.config;
    if (config.storage == nullptr) config.storage = open_storage(settings.storage_settings);
    std::map<std::string, std::shared_ptr<Model<M>>, std::less<>> models;
    for (const ModelSettings& model : settings.models) models[model.name] = make(model);
    typename Chain<M>::Stages stages;
    for (const StageSettings& stage : settings.stages) {
        const auto row = detail::row_of_stage(stage, settings.types);
        MiddlewareBuildContext<M> context{.name_in_config = stage.name};
        for (const auto& [key, name] : stage.models_by_key) {
            if (const auto found = models.find(name); found != models.end())
                context.models_by_key.emplace(key, found->second);
        }
        stages.push_back(detail::make_middleware<M>(*row, detail::with_open_storages(*row, stage), context));
    }
    return Chain<M>(std::move(config), std::move(callbacks), std::move(stages));
}

}  // namespace whittle::inline v0
