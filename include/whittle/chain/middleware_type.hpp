#pragma once

#include "whittle/chain/config.hpp"
#include "whittle/chain/middleware.hpp"
#include "whittle/fields/config_entry.hpp"
#include "whittle/fields/config_field.hpp"
#include "whittle/model/model.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

/// A type of middleware, as configurations write it: whittle's own and a host's are told in the same way. Beside
/// `fields` an entry has "type" and "name".
template <typename Config>
struct MiddlewareType {
    std::string type{};             ///< a to z, 0 to 9 and _
    ConfigFields<Config> fields{};  ///< the keys of an entry
    /// Reports what the middleware would refuse, by the names of the keys, with or without the entry's name and a dot
    /// in front. Called once for each entry that is read, on the thread that reads, which gets what it throws. Empty:
    /// every value that the fields allow is good.
    std::function<void(const Config&, const ChainInfo&, std::string_view name, Problems&)> check{};
    std::string exclusive_task{};  ///< as `Middleware::exclusive_task`
    /// Called once the keys are read: what several of them say together, or the environment. Empty: nothing.
    std::function<void(Config&, ConfigEntry&)> after_fields_read{};
};

/// The key of a storage of the middleware's own.
template <typename Config>
[[nodiscard]] ConfigField<Config> own_storage_field(std::shared_ptr<Storage> Config::*member,
                                                    std::string name = "storage") {
    return {.name = std::move(name),
            .member = member,
            .meaning = "own storage; keys as in `storage`",
            .documented_default = "the chain's"};
}

/// What the maker of a middleware is told beside its configuration.
template <AgentMessage M>
struct MiddlewareBuildContext {
    std::string name_in_config{};  ///< the entry's "name", or the type's
    std::map<std::string, std::shared_ptr<Model<M>>, std::less<>> models_by_key{};  ///< by the key that names each

    /// The model of that key, such as "failover.model"; null: the entry has none.
    [[nodiscard]] std::shared_ptr<Model<M>> model(std::string_view key = "model") const {
        const auto found = models_by_key.find(key);
        return found == models_by_key.end() ? nullptr : found->second;
    }
};

}  // namespace whittle::inline v0
