#pragma once

#include "whittle/base/error.hpp"
#include "whittle/config/config_json.hpp"
#include "whittle/sealing/sealing_key_text.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace whittle::inline v0 {

/// What a configuration with "sealing_key_env" asks for: for `StorageOpeners::sealing`. Asks `settings.lookup` for the
/// keys, once. Throws Error(invalid_config) if the environment has none, and what `parse_sealing_keys` and
/// `sealed_storage` throw.
[[nodiscard]] inline std::shared_ptr<Storage> open_configured_sealing(std::shared_ptr<Storage> inner,
                                                                      const StorageSettings& settings) {
    const std::string& name = settings.sealing_key_env;
    const std::optional<std::string> text = settings.lookup ? settings.lookup(name) : std::nullopt;
    if (!text || text->empty())
        throw Error(Errc::invalid_config, "open storage: the environment has no value \"" + name + "\"");
    return sealed_storage(std::move(inner), sealing_with(parse_sealing_keys(*text, name)));
}

}  // namespace whittle::inline v0
