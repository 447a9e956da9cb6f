#include "stores.hpp"

#include <whittle/base/error.hpp>
#include <whittle/redaction/configured_redaction.hpp>
#if WHITTLE_HAVE_REDIS
#    include <whittle/redis/configured_redis.hpp>
#endif
#if WHITTLE_HAVE_SEALING
#    include <whittle/sealing/configured_sealing.hpp>
#endif
#if WHITTLE_HAVE_SQLITE
#    include <whittle/sqlite/configured_sqlite.hpp>
#endif

#include <sys/stat.h>
#include <cerrno>
#include <string>
#include <system_error>

namespace agent {

whittle::StorageSettings default_store(const std::filesystem::path& folder, whittle::StorageSettings configured) {
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
        throw whittle::Error(whittle::Errc::storage_failed, "create the store's folder " + folder.string() + ": " +
                                                                std::generic_category().message(errno));
    }
#if WHITTLE_HAVE_SQLITE
    configured.type = whittle::StorageSettings::Type::sqlite;
    configured.root = (folder / "objects.db").string();
#else
    configured.type = whittle::StorageSettings::Type::file;
    configured.root = folder.string();
#endif
    return configured;
}

whittle::StorageOpeners store_openers() {
    whittle::StorageOpeners openers{.redaction = whittle::open_configured_redaction};
#if WHITTLE_HAVE_REDIS
    openers.redis = whittle::open_configured_redis;
#endif
#if WHITTLE_HAVE_SEALING
    openers.sealing = whittle::open_configured_sealing;
#endif
#if WHITTLE_HAVE_SQLITE
    openers.sqlite = whittle::open_configured_sqlite;
#endif
    return openers;
}

}  // namespace agent
