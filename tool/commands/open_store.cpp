#include "input.hpp"
#include "interrupt.hpp"
#include "store_commands.hpp"
#include "whittle/base/clock.hpp"
#include "whittle/base/error.hpp"
#if WHITTLE_HAVE_ENCRYPTION
#    include "whittle/encryption/encryption_key_text.hpp"
#endif
#if WHITTLE_HAVE_SQLITE
#    include "whittle/sqlite/sqlite_storage.hpp"
#endif

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>

namespace whittle::cli {
namespace {

/// Of a directory that is none, opening would make one, and each of its files would be an object.
void require_file_store(const std::string& root) {
    std::error_code error;
    if (std::filesystem::exists(std::filesystem::path(root) / ".whittle-lock", error) || error) return;
    if (std::filesystem::is_empty(root, error)) return;  // nobody stored anything yet
    throw Error(Errc::not_found,
                fmt::format("open store {}: the directory is no store (it has no .whittle-lock): give the one that "
                            "`storage.root` of the configuration names",
                            root));
}

}  // namespace

std::shared_ptr<Storage> open_bare_store(const std::string& root) {
    std::error_code error;
    if (std::filesystem::is_directory(root, error)) {
        require_file_store(root);
        return file_storage(root);
    }
#if WHITTLE_HAVE_SQLITE
    if (std::filesystem::is_regular_file(root, error))
        return sqlite_storage(root, {.check_cancelled = throw_if_interrupted});
    throw Error(Errc::not_found, fmt::format("open store {}: no such directory or file", root));
#else
    throw Error(Errc::not_found, fmt::format("open store {}: no such directory", root));
#endif
}

std::shared_ptr<Storage> open_store(const std::string& root, const std::string& key_file) {
    auto bare = open_bare_store(root);
    if (key_file.empty()) return bare;
#if WHITTLE_HAVE_ENCRYPTION
    EncryptionOptions options = encryption_options(parse_encryption_keys(read_all(key_file), key_file));
    options.current_key = []() -> EncryptionKey {
        throw Error(Errc::invalid_argument, "the commands of store write nothing");
    };
    options.read_unencrypted = true;
    return encrypted_storage(std::move(bare), std::move(options));
#else
    throw Error(Errc::not_offered, "--key-file: this program was built without libsodium");
#endif
}

std::int64_t age_of(std::int64_t stored_at_seconds) {
    constexpr std::int64_t ms_per_second = 1'000;
    return stored_at_seconds == 0
               ? 0
               : std::max<std::int64_t>(0, system_clock()->now() / ms_per_second - stored_at_seconds);
}

std::vector<StoredObject> objects_in(Storage& storage, std::string_view prefix) {
    std::vector<StoredObject> objects;
    storage.list(prefix, [&](const ObjectInfo& object) {
        throw_if_interrupted();
        objects.push_back({object.key, object.bytes, age_of(object.stored_at_seconds)});
        return true;
    });
    return objects;
}

}  // namespace whittle::cli
