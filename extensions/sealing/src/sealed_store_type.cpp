#include "whittle/sealing/sealed_store_type.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace whittle::inline v0 {

namespace {

std::shared_ptr<Storage> seal(std::shared_ptr<Storage> inner, const SealedStoreConfig& config,
                              const ConfigContext& context) {
    const std::string& name = config.sealing_key_env;
    if (name.empty()) return inner;
    const std::optional<std::string> text = context.environment ? context.environment(name) : std::nullopt;
    if (!text || text->empty())
        throw Error(Errc::invalid_config, fmt::format("open storage: the environment has no value \"{}\"", name));
    return sealed_storage(std::move(inner), sealing_with(parse_sealing_keys(*text, name)));
}

}  // namespace

StoreAround<SealedStoreConfig> sealed_store_type() {
    return {
        .type = "sealing",
        .layer = StoreLayer::seals,
        .fields = {{.name = "sealing_key_env",
                    .member = &SealedStoreConfig::sealing_key_env,
                    .meaning = "encrypt what is stored: the name of an environment value that holds the keys, each "
                               "a line of an id, a space and 64 hexadecimal digits; the last one encrypts new objects",
                    .fallback = "not sealed"}},
        .wrap = seal};
}

}  // namespace whittle::inline v0
