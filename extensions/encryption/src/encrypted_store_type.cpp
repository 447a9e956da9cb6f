#include "whittle/encryption/encrypted_store_type.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace whittle::inline v0 {

namespace {

std::shared_ptr<Storage> encrypt(std::shared_ptr<Storage> inner, const EncryptedStoreConfig& config,
                                 const ConfigContext& context) {
    const std::string& name = config.encryption_key_env;
    if (name.empty()) return inner;
    const std::optional<std::string> text = context.lookup ? context.lookup(name) : std::nullopt;
    if (!text || text->empty())
        throw Error(Errc::invalid_config, fmt::format("open storage: the environment has no value \"{}\"", name));
    return encrypted_storage(std::move(inner), encryption_options(parse_encryption_keys(*text, name)));
}

}  // namespace

StoreWrapper<EncryptedStoreConfig> encrypted_store_type() {
    return {.type = "encryption",
            .layer = StoreLayer::encrypts,
            .fields = {{.name = "encryption_key_env",
                        .member = &EncryptedStoreConfig::encryption_key_env,
                        .meaning = "encrypt what is stored: the environment variable that holds the keys, each a line "
                                   "of an id, a space and 64 hexadecimal digits; the last one encrypts new objects",
                        .documented_default = "not encrypted"}},
            .wrap = encrypt};
}

}  // namespace whittle::inline v0
