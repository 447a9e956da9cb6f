#pragma once

#include "redis_store.hpp"

#include <optional>

namespace whittle::inline v0 {

/// How often an object may be another one whenever it is looked at; then Error(storage_failed).
constexpr int redis_most_rounds = 100;
[[noreturn]] void refuse_restless_redis(std::string_view verb, std::string_view key);

/// The header of the object, as it lies there; empty if there is none. `verb` begins the texts of errors.
[[nodiscard]] std::string read_raw_redis_header(RedisStore& store, std::string_view verb, std::string_view key);

/// The object's header; nullopt if there is none. Throws Error(damaged) for what is no header of this key.
[[nodiscard]] std::optional<RedisHeader> find_redis_object(RedisStore& store, std::string_view verb,
                                                           std::string_view key);

/// As `Storage::get`. A full read checks length and SHA-256, a range the lengths of the chunks that it reads and of the
/// last one.
[[nodiscard]] std::optional<std::string> read_redis_object(RedisStore& store, std::string_view key, std::int64_t offset,
                                                           std::int64_t max_bytes);

/// What is wrong with the object that has this header, read chunk by chunk; empty if it is whole.
[[nodiscard]] std::string damage_of_redis_object(RedisStore& store, std::string_view key, const RedisHeader& header);

}  // namespace whittle::inline v0
