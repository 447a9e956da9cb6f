#pragma once

#include "redis_chunks.hpp"
#include "whittle/storage/storage.hpp"

namespace whittle::inline v0 {

/// As `Storage::put_if_absent`.
void put_redis_object(const std::shared_ptr<RedisStore>& store, std::string_view key, std::string_view content);

[[nodiscard]] std::unique_ptr<StorageWriter> redis_writer(std::shared_ptr<RedisStore> store);

}  // namespace whittle::inline v0
