#pragma once

namespace whittle::inline v0 {

/// A script, and the SHA-1 of its text, by which a server knows it that has run it before.
struct RedisScript {
    const char* sha1 = "";
    const char* text = "";
};

/// Makes an object, all at once. KEYS: the object, its shard's index, `new` chunks, and those that an object has that
/// is replaced. ARGV: value, bytes of a header, the header that is replaced or "", seconds to live or 0, entry, the
/// first and last of what the index may have of the key, bytes of the content and of a chunk, `new`. Returns 1, 0 if a
/// chunk is missing or not whole, or the header that is there.
constexpr RedisScript redis_publish_script{"8cb821c1a68cb731d8f57884afdbd3e187688bf3", R"(
local found = redis.call('GETRANGE', KEYS[1], 0, ARGV[2] - 1)
if found ~= '' and found ~= ARGV[3] then return found end
local live, last = tonumber(ARGV[4]), 2 + ARGV[10]
for i = 3, last do
  local whole = math.min(ARGV[9], ARGV[8] - (i - 3) * ARGV[9])
  if redis.call('STRLEN', KEYS[i]) ~= whole then return 0 end
end
for i = 3, last do
  if live > 0 then redis.call('EXPIRE', KEYS[i], live + 60) else redis.call('PERSIST', KEYS[i]) end
end
for i = last + 1, #KEYS do redis.call('UNLINK', KEYS[i]) end
if live > 0 then redis.call('SET', KEYS[1], ARGV[1], 'EX', live) else redis.call('SET', KEYS[1], ARGV[1]) end
redis.call('ZREMRANGEBYLEX', KEYS[2], ARGV[6], ARGV[7])
redis.call('ZADD', KEYS[2], 0, ARGV[5])
return 1
)"};

/// Removes an object. KEYS: the object, its shard's index, its chunks. ARGV: its header, bytes of a header, the first
/// and last of what the index may have of the key. Returns 1, or 0 if it has another header.
constexpr RedisScript redis_remove_script{"a8afec7d2e8f94c30ae86effd09cd5ae309f607b", R"(
if redis.call('GETRANGE', KEYS[1], 0, ARGV[2] - 1) ~= ARGV[1] then return 0 end
redis.call('UNLINK', KEYS[1])
for i = 3, #KEYS do redis.call('UNLINK', KEYS[i]) end
redis.call('ZREMRANGEBYLEX', KEYS[2], ARGV[3], ARGV[4])
return 1
)"};

/// Which objects have expired; their entries go. KEYS: a shard's index, objects. ARGV: their entries. Returns 1 for
/// each that is there, else 0.
constexpr const char* redis_prune_script = R"(
local live = {}
for i = 2, #KEYS do
  live[i - 1] = redis.call('EXISTS', KEYS[i])
  if live[i - 1] == 0 then redis.call('ZREM', KEYS[1], ARGV[i - 1]) end
end
return live
)";

}  // namespace whittle::inline v0
