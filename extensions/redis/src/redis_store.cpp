#include "redis_store.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace whittle::inline v0 {
namespace {

RedisWork work_on_key(std::string_view verb, std::string_view key, bool is_write) {
    return {.operation = fmt::format("{} \"{}\"", verb, key),
            .slot = redis_slot_of_shard(redis_shard_of(key)),
            .is_write = is_write};
}

/// A server looks at the time ten times a second only, and we still listen when its answer comes. Never 0, which is for
/// ever.
std::int64_t longest_wait_ms(RedisDeadline until) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    return std::max<std::int64_t>(left > 400 ? left - 200 : left / 2, 1);
}

}  // namespace

RedisStore::RedisStore(RedisStorageOptions options)
    : client_(std::move(options)),
      names_(client_.options().key_prefix),
      ids_(random_ids()),
      clock_(client_.options().clock ? client_.options().clock : system_clock()) {}

RedisWork RedisStore::reading(std::string_view verb, std::string_view key) { return work_on_key(verb, key, false); }
RedisWork RedisStore::writing(std::string_view verb, std::string_view key) { return work_on_key(verb, key, true); }

bool RedisStore::can_span_shards() const noexcept { return options().topology != RedisTopology::cluster; }

std::string RedisStore::new_id() { return ids_->next(); }

std::int64_t RedisStore::now_seconds() const { return clock_->now() / 1'000; }

/// How many replicas have to acknowledge.
std::int64_t RedisStore::replicas_of(RedisConnection& connection) const {
    if (options().durability == RedisDurability::one_replica) return 1;
    if (options().replicas > 0) return options().replicas;
    const RedisReply reply = connection.call({"INFO", "replication"}, RedisShape::text);
    constexpr std::string_view field = "connected_slaves:";
    const std::string_view info = text_of_reply(*reply);
    const std::size_t at = info.find(field);
    std::int64_t replicas = 0;
    if (at != std::string_view::npos)
        std::from_chars(info.data() + at + field.size(), info.data() + info.size(), replicas);
    return std::max<std::int64_t>(replicas, 1);
}

void RedisStore::make_durable(RedisConnection& connection) const {
    if (options().durability == RedisDurability::reply) return;
    const std::int64_t wanted = replicas_of(connection);
    const std::int64_t longest = longest_wait_ms(connection.until());
    const RedisReply reply =
        connection.call({"WAIT", std::to_string(wanted), std::to_string(longest)}, RedisShape::integer);
    const std::int64_t acknowledged = integer_of_reply(*reply);
    if (acknowledged >= wanted) return;
    throw Error(Errc::storage_failed,
                fmt::format("{}: written on the primary {}, acknowledged by {} of {} replicas within {} ms; doing it "
                            "again is harmless",
                            connection.operation(), to_string(connection.address()), acknowledged, wanted, longest));
}

/// WAIT knows what its own connection has written: a write behind the others is as good as all of them.
void RedisStore::make_shard_durable(const RedisWork& work, int shard) {
    if (options().durability == RedisDurability::reply) return;
    const std::string name = names_.touch(shard);
    client_.perform(work, [&](RedisConnection& connection) {
        (void)connection.call({"SET", name, "1", "EX", "60"}, RedisShape::ok);
        make_durable(connection);
    });
}

RedisEntryRange entries_of_key(std::string_view key) {
    RedisEntryRange range{.first = "[", .last = "("};
    range.first.append(key).append(1, '\0');
    range.last.append(key).append(1, '\1');
    return range;
}

}  // namespace whittle::inline v0
