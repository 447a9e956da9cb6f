#include "encryption_keys.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace whittle::inline v0::encryption {
namespace {

constexpr std::size_t key_bytes = 32;

void require_usable(const EncryptionKey& key, std::string_view callback) {
    if (!is_key_id(key.id))
        throw Error(Errc::callback_failed, fmt::format("{}: the id \"{}\" is not 1 to {} bytes of [A-Za-z0-9_.-]",
                                                       callback, key.id, longest_key_id));
    if (key.bytes.size() != key_bytes)
        throw Error(Errc::callback_failed, fmt::format("{}: the key \"{}\" has {} bytes instead of {}", callback,
                                                       key.id, key.bytes.size(), key_bytes));
}

}  // namespace

EncryptionKeys::EncryptionKeys(EncryptionOptions options) : options_(std::move(options)) {
    if (!options_.current_key || !options_.find_key)
        throw Error(Errc::invalid_config, "encrypted_storage: current_key and find_key have to be given");
}

EncryptionKey EncryptionKeys::to_write() const {
    EncryptionKey key = options_.current_key();
    require_usable(key, "current_key");
    return key;
}

EncryptionKey EncryptionKeys::to_read(const EncryptedHeader& header, std::string_view operation,
                                      std::string_view key) const {
    std::optional<EncryptionKey> found = options_.find_key(header.key_id);
    if (!found)
        throw Error(Errc::not_found,
                    fmt::format("{} \"{}\": it is encrypted with the key \"{}\", which is not known here", operation,
                                key, header.key_id));
    require_usable(*found, "find_key");
    return *std::move(found);
}

}  // namespace whittle::inline v0::encryption
