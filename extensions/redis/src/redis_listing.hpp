#pragma once

#include "redis_store.hpp"

#include "whittle/storage/storage.hpp"

#include <functional>

namespace whittle::inline v0 {

/// As `Storage::list`: the indexes of all shards, merged. No connection is held while `visit` runs.
void list_redis_objects(RedisStore& store, std::string_view prefix,
                        const std::function<bool(const ObjectInfo&)>& visit);

}  // namespace whittle::inline v0
