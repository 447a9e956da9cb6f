#pragma once

#include "redis_chunks.hpp"

namespace whittle::inline v0 {

/// Gives a content its key, as the promise of `put_if_absent` says: nothing happens if the key has it whole,
/// Error(already_exists) if it has another; a damaged object with the same length and hash is mended. Short contents
/// are `inline_content`; for longer ones `chunks` has been brought to the key's shard. True if they are the object's
/// now. Nullopt: a chunk is missing.
[[nodiscard]] std::optional<bool> publish_redis_object(RedisStore& store, std::string_view key,
                                                       const Fingerprint& fingerprint, std::string_view inline_content,
                                                       RedisChunks* chunks);

/// Whether the key has this content, whole and as durable as asked for. Throws Error(already_exists) for another one.
[[nodiscard]] bool has_redis_object(RedisStore& store, std::string_view key, const Fingerprint& fingerprint);

/// As `Storage::remove`.
[[nodiscard]] bool remove_redis_object(RedisStore& store, std::string_view key);

}  // namespace whittle::inline v0
