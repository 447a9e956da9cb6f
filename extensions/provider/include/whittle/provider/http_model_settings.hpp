#pragma once

#include "whittle/fields/config_entry.hpp"
#include "whittle/fields/config_field.hpp"
#include "whittle/provider/http_transport.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace whittle::inline v0 {

/// A model of a provider as configurations name it. It holds no key: only where to find one.
struct HttpModelSettings {
    std::string model{};                 ///< the provider's name of the model
    std::string base_url{};              ///< the address in front of a call's path. Empty: the provider's own
    std::string api_key_env{};           ///< the environment variable that holds the key. Empty: no key is sent
    std::int64_t max_output_tokens = 0;  ///< tokens of a reply, where a call does not say. 0: the model's own
    std::string extra{};                 ///< further fields of every request, as a JSON object. Empty: none
};

/// Where the models of a configuration get what a file should not hold.
struct HttpModelSource {
    std::shared_ptr<HttpTransport> transport{};  ///< makes the requests
    EnvironmentLookup lookup{};                  ///< for `api_key_env`. The library itself reads no environment
    HttpLimits limits{};                         ///< of each exchange
};

namespace detail {

/// The keys of every such model. `path`: of what is called below the address.
template <typename Settings>
[[nodiscard]] ConfigFields<Settings> http_model_fields(const std::string& path) {
    using C = Settings;
    return {
        {.name = "model", .member = &C::model, .meaning = "the provider's name of the model", .required = true},
        {.name = "base_url",
         .member = &C::base_url,
         .meaning = "the address in front of a call's path: `" + path + "`",
         .documented_default = "the provider's"},
        {.name = "api_key_env",
         .member = &C::api_key_env,
         .meaning = "the environment variable that holds the key",
         .documented_default = "none"},
        {.name = "max_output_tokens",
         .member = &C::max_output_tokens,
         .meaning = "tokens of a reply, where a call does not say",
         .lowest = 1,
         .documented_default = "the model's own"},
        {.name = "extra",
         .member = JsonMember<C>{&C::extra},
         .meaning = "further fields of every request, as a JSON object",
         .documented_default = "{}"},
    };
}

/// Reports an address and a name of a key that are none. Somebody who writes the key itself there must not find it in a
/// log.
void check_http_model(const HttpModelSettings& settings, ConfigEntry& entry);

/// The key of the model `name`. Throws Error(invalid_config) for one that is not there, whose name is told, and for a
/// name that is none, which is not told.
[[nodiscard]] std::string look_up_key(const HttpModelSettings& settings, const std::string& name,
                                      const HttpModelSource& source);

}  // namespace detail

}  // namespace whittle::inline v0
