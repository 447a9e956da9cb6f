#pragma once

#include "whittle/chain/config.hpp"
#include "whittle/chain/middleware_type.hpp"
#include "whittle/config/detail/registered.hpp"
#include "whittle/model/model_type.hpp"
#include "whittle/storage/store_type.hpp"
#include "whittle/tokens/counter_type.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

class ConfigTypes;

namespace detail {
/// What was added.
[[nodiscard]] const ConfigRows& rows_of(const ConfigTypes& types) noexcept;
}  // namespace detail

/// What configurations may name beside what the core has: a host's own middlewares, stores, models, counters and
/// profiles, and those of extensions. There is no global list. A value: copies are independent. Registering needs the
/// object for itself; reading with it is thread-safe. Checks and makers are called on the thread that reads or makes,
/// so that two threads that do may call them at once.
///
/// Registering throws Error(already_exists) if there is one of that name, and Error(invalid_argument) for a name of
/// other characters than a to z, 0 to 9 and _, a key without member or with a dot, two keys of one name or of one
/// member, `words` of what is no string, and a default which the key itself does not allow.
class ConfigTypes {
public:
    /// Adds a middleware for chains of each message type `Ms`. `make(config, context)` returns a
    /// `std::shared_ptr<Middleware<M>>` for a `MiddlewareBuildContext<M>` of each, whose name is that of the context.
    /// "type" and "name" are no keys of its own. A section of configurations is no name.
    template <AgentMessage... Ms, typename Config, typename Make>
    void register_middleware(MiddlewareType<Config> type, const Make& make) {
        static_assert(sizeof...(Ms) > 0, "name the message types: register_middleware<ChatMessage>(...)");
        auto row = detail::middleware_row(std::move(type));
        (row.makers.emplace(detail::type_id<Ms>(), detail::stage_maker<Ms, Config>(make)), ...);
        add(std::move(row));
    }

    /// Adds a model for chains of each message type `Ms`. `make(config, context)` returns a `std::shared_ptr<Model<N>>`
    /// for a `ModelContext<M>` of each. Where N is another message type, the model is converted: for models over
    /// OpenAI's and Anthropic's messages include `whittle/convert/converted_model.hpp`.
    template <AgentMessage... Ms, typename Config, typename Make>
    void register_model(ModelType<Config> type, const Make& make) {
        static_assert(sizeof...(Ms) > 0, "name the message types: register_model<ChatMessage>(...)");
        auto row = detail::row_of<detail::ModelRow>(type);
        (row.makers.emplace(detail::type_id<Ms>(), detail::model_maker<Ms, Config>(make)), ...);
        add(std::move(row));
    }

    /// Adds a store. "type" is no key of its own.
    template <typename Config>
    void register_store(StoreType<Config> type) {
        add(detail::store_row(std::move(type)));
    }

    /// Adds a store around others, whose keys stand among theirs.
    template <typename Config>
    void register_store_wrapper(StoreWrapper<Config> type) {
        if (!type.wrap) detail::fail_no_function(type.type);
        auto row = detail::row_of<detail::StoreAroundRow>(type);
        row.layer = type.layer;
        row.wrap = [wrap = std::move(type.wrap)](std::shared_ptr<Storage> inner, const std::any& config,
                                                 const ConfigContext& context) {
            return wrap(std::move(inner), detail::config_in<Config>(config), context);
        };
        add(std::move(row));
    }

    /// Adds a counter. "counter" is no key of its own.
    template <typename Config>
    void register_counter(CounterType<Config> type) {
        add(detail::counter_row(std::move(type)));
    }

    /// Adds what `profile.cache` and `profile.validity` may name. Throws Error(already_exists) for a name that is
    /// known.
    void register_cache_profile(CacheProfile profile);
    /// Likewise for `profile.validity`.
    void register_validity_profile(ValidityProfile profile);

private:
    friend const detail::ConfigRows& detail::rows_of(const ConfigTypes& types) noexcept;
    void add(detail::MiddlewareRow row);
    void add(detail::ModelRow row);
    void add(detail::StoreRow row);
    void add(detail::StoreAroundRow row);
    void add(detail::CounterRow row);

    detail::ConfigRows rows_{};
};

inline const detail::ConfigRows& detail::rows_of(const ConfigTypes& types) noexcept { return types.rows_; }

}  // namespace whittle::inline v0
