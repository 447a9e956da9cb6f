#pragma once

#include "whittle/base/detail/type_id.hpp"
#include "whittle/chain/middleware_type.hpp"
#include "whittle/fields/config_entry.hpp"
#include "whittle/fields/config_field.hpp"
#include "whittle/model/model_type.hpp"
#include "whittle/preset/core_types.hpp"
#include "whittle/storage/store_type.hpp"
#include "whittle/tokens/counter_type.hpp"

#include <any>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// What is registered without the type of its configuration, which `std::any` holds. Immutable once it is registered.
struct Row {
    std::string name{};
    TypeId config_type = nullptr;
    std::function<std::any()> defaults{};
    std::function<BoundFields(std::any&)> bind{};
    std::function<void(std::any&, ConfigEntry&)> after_fields_read{};
};

struct MiddlewareRow : Row {
    std::string task{};
    std::function<void(const std::any&, const ChainInfo&, std::string_view name, Problems&)> check{};
    std::map<TypeId, std::any> makers{};  ///< by message type; a `StageMaker` of it
};

struct ModelRow : Row {
    std::map<TypeId, std::any> makers{};  ///< by message type; a `ModelMakerOf` it
};

struct StoreRow : Row {
    std::function<std::shared_ptr<Storage>(const std::any&, const ConfigContext&)> open{};
    std::function<StorePlace(const std::any&)> place{};
};

struct StoreAroundRow : Row {
    StoreLayer layer = StoreLayer::encrypts;
    std::function<std::shared_ptr<Storage>(std::shared_ptr<Storage>, const std::any&, const ConfigContext&)> wrap{};
};

struct CounterRow : Row {
    std::function<std::shared_ptr<const TokenCounter>(const std::any&, const ConfigContext&)> open{};
};

template <typename RowType>
using SharedRows = std::vector<std::shared_ptr<const RowType>>;

struct ConfigRows {
    SharedRows<MiddlewareRow> middlewares{};
    SharedRows<ModelRow> models{};
    SharedRows<StoreRow> stores{};
    SharedRows<StoreAroundRow> around{};
    SharedRows<CounterRow> counters{};
    std::vector<CacheProfile> caches{};
    SharedRows<ValidityProfile> rules{};
};

template <AgentMessage M>
using StageMaker =
    std::function<std::shared_ptr<Middleware<M>>(const std::any& config, const MiddlewareBuildContext<M>&)>;
template <AgentMessage M>
using ModelMakerOf = std::function<std::shared_ptr<Model<M>>(const std::any& config, const ModelContext<M>&)>;

[[noreturn]] void fail_no_maker(std::string_view what, std::string_view type);
[[noreturn]] void fail_other_config();
/// `made`: the name of what the maker made; empty if it made nothing.
[[noreturn]] void fail_made(std::string_view what, std::string_view type, std::string_view name, std::string_view made);
/// A row without the function that makes what it names.
[[noreturn]] void fail_no_function(std::string_view type);

/// The configuration that `value` holds. Throws Error(invalid_argument) if it holds another type's, or none.
template <typename Config>
[[nodiscard]] const Config& config_in(const std::any& value) {
    const Config* config = std::any_cast<Config>(&value);
    if (config == nullptr) fail_other_config();
    return *config;
}
template <typename Config>
[[nodiscard]] Config& config_in(std::any& value) {
    return const_cast<Config&>(config_in<Config>(std::as_const(value)));
}

/// What all rows have.
template <typename RowType, template <typename> typename Type, typename Config>
[[nodiscard]] RowType row_of(const Type<Config>& type) {
    RowType row;
    row.name = type.type;
    row.config_type = type_id<Config>();
    row.defaults = [] { return std::any(Config{}); };
    row.bind = [table = shared_table(type.fields)](std::any& config) {
        return table->bind(&config_in<Config>(config));
    };
    if constexpr (requires { type.after_fields_read; }) {
        row.after_fields_read = [after_fields_read = type.after_fields_read](std::any& config, ConfigEntry& entry) {
            if (after_fields_read) after_fields_read(config_in<Config>(config), entry);
        };
    } else {
        row.after_fields_read = [](std::any&, ConfigEntry&) {};
    }
    return row;
}

template <typename Config>
[[nodiscard]] MiddlewareRow middleware_row(MiddlewareType<Config> type) {
    auto row = row_of<MiddlewareRow>(type);
    row.task = std::move(type.exclusive_task);
    row.check = [check = std::move(type.check)](const std::any& config, const ChainInfo& chain, std::string_view name,
                                                Problems& problems) {
        if (check) check(config_in<Config>(config), chain, name, problems);
    };
    return row;
}

template <typename Config>
[[nodiscard]] StoreRow store_row(StoreType<Config> type) {
    if (!type.open) fail_no_function(type.type);
    auto row = row_of<StoreRow>(type);
    row.open = [open = std::move(type.open)](const std::any& config, const ConfigContext& context) {
        return std::shared_ptr<Storage>(open(config_in<Config>(config), context));
    };
    row.place = [place = std::move(type.place)](const std::any& config) {
        return place ? place(config_in<Config>(config)) : StorePlace{};
    };
    return row;
}

template <typename Config>
[[nodiscard]] CounterRow counter_row(CounterType<Config> type) {
    if (!type.open) fail_no_function(type.type);
    auto row = row_of<CounterRow>(type);
    row.open = [open = std::move(type.open)](const std::any& config, const ConfigContext& context) {
        return open(config_in<Config>(config), context);
    };
    return row;
}

template <AgentMessage M, typename Config, typename Make>
[[nodiscard]] StageMaker<M> stage_maker(const Make& make) {
    return [make](const std::any& config, const MiddlewareBuildContext<M>& context) -> std::shared_ptr<Middleware<M>> {
        return make(config_in<Config>(config), context);
    };
}

template <AgentMessage M, typename Config, typename Make>
[[nodiscard]] ModelMakerOf<M> model_maker(const Make& make) {
    return [make](const std::any& config, const ModelContext<M>& context) -> std::shared_ptr<Model<M>> {
        auto made = make(config_in<Config>(config), context);
        if (!made) return nullptr;
        if constexpr (std::is_convertible_v<decltype(made), std::shared_ptr<Model<M>>>) {
            return made;
        } else {
            return adapt_model<M>(std::move(made));
        }
    };
}

/// The core's makers, by type.
template <AgentMessage M>
[[nodiscard]] const std::map<std::string, StageMaker<M>, std::less<>>& core_stage_makers() {
    static const auto makers = [] {
        std::map<std::string, StageMaker<M>, std::less<>> all;
        visit_core_middlewares(
            [&]<typename Config, typename Make>(const MiddlewareType<Config>& type, const Make& make) {
                all.emplace(type.type, stage_maker<M, Config>(make));
            });
        return all;
    }();
    return makers;
}
template <AgentMessage M>
[[nodiscard]] const std::map<std::string, ModelMakerOf<M>, std::less<>>& core_model_makers() {
    static const auto makers = [] {
        std::map<std::string, ModelMakerOf<M>, std::less<>> all;
        visit_core_models([&]<typename Config, typename Make>(const ModelType<Config>& type, const Make& make) {
            all.emplace(type.type, model_maker<M, Config>(make));
        });
        return all;
    }();
    return makers;
}

/// The maker for `M`, the host's or else the core's. Throws Error(not_offered) if there is none.
template <AgentMessage M, typename Maker, typename RowType>
[[nodiscard]] const Maker& maker_in(std::string_view what, const RowType& row,
                                    const std::map<std::string, Maker, std::less<>>& of_core) {
    if (const auto own = row.makers.find(type_id<M>()); own != row.makers.end())
        return std::any_cast<const Maker&>(own->second);
    const auto found = of_core.find(row.name);
    if (found == of_core.end()) fail_no_maker(what, row.name);
    return found->second;
}

/// Throws Error(not_offered) if the type was not registered for `M`, and Error(invalid_argument) for a configuration of
/// another type, and for a maker that makes nothing or a middleware of another name.
template <AgentMessage M>
[[nodiscard]] std::shared_ptr<Middleware<M>> make_middleware(const MiddlewareRow& row, const std::any& config,
                                                             const MiddlewareBuildContext<M>& context) {
    auto made = maker_in<M>("middleware", row, core_stage_makers<M>())(config, context);
    if (!made || made->name() != context.name_in_config)
        fail_made("middleware", row.name, context.name_in_config, made ? made->name() : std::string_view());
    return made;
}

template <AgentMessage M>
[[nodiscard]] std::shared_ptr<Model<M>> make_registered_model(const ModelRow& row, const std::any& config,
                                                              const ModelContext<M>& context) {
    auto made = maker_in<M>("model", row, core_model_makers<M>())(config, context);
    if (!made) fail_made("model", row.name, context.name_in_config, {});
    return made;
}

/// What the core has.
[[nodiscard]] const ConfigRows& core_rows();
/// What was registered behind what the core has.
[[nodiscard]] ConfigRows with_core(const ConfigRows& own);

/// Throws Error(not_offered): there is no `what` of that type.
[[noreturn]] void fail_unknown(std::string_view what, std::string_view name);

/// Null if there is none.
template <typename RowType>
[[nodiscard]] std::shared_ptr<const RowType> find_row(const SharedRows<RowType>& rows, std::string_view name) {
    for (const auto& row : rows) {
        if (row->name == name) return row;
    }
    return nullptr;
}
/// The core's, or else that of `own`; null if there is none.
template <typename RowType>
[[nodiscard]] std::shared_ptr<const RowType> find_row(SharedRows<RowType> ConfigRows::*rows, const ConfigRows& own,
                                                      std::string_view name) {
    auto found = find_row(core_rows().*rows, name);
    return found ? found : find_row(own.*rows, name);
}

}  // namespace whittle::inline v0::detail
