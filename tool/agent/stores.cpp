#include "stores.hpp"

#include <whittle/base/error.hpp>
#if WHITTLE_HAVE_SQLITE
#    include <whittle/sqlite/sqlite_store_type.hpp>
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
    whittle::SqliteStoreConfig store;
    store.root = (folder / "objects.db").string();
    configured.type = "sqlite";
#else
    whittle::FileStoreConfig store;
    store.root = folder.string();
    configured.type = "file";
#endif
    configured.place = {.path = store.root};
    configured.config = std::move(store);
    return configured;
}

}  // namespace agent
