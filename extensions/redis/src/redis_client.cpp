#include "redis_client.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <thread>
#include <utility>

namespace whittle::inline v0 {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Redirects that are followed at once. After so many in a row, a pause comes before each.
constexpr int max_redirects_in_a_row = 5;

/// 10 ms, doubled up to 640 ms, of which between a half and all.
milliseconds pause_before_try(int number, Random& random) {
    const std::int64_t whole = std::int64_t{10} << std::min(number, 6);
    return milliseconds(whole / 2 + static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(whole / 2)));
}

}  // namespace

/// Of a work, over its tries.
struct RedisClient::Progress {
    RedisDeadline deadline{};
    RedisAddress address{};                   ///< of the last try
    std::optional<RedisAddress> asked_for{};  ///< of the next one, instead of the slot's owner
    bool was_idle = false;                    ///< the last one's connection was an old one
    bool was_cut_off = false;                 ///< something was sent, and no answer came
    int pauses = 0;
    int redirects_in_a_row = 0;
    std::string reason{};  ///< of the last failure but this one that says more than that it was late
};

RedisClient::RedisClient(RedisStorageOptions options)
    : options_(std::move(options)),
      tls_(options_.tls.enabled ? std::make_unique<RedisTlsSettings>(options_.tls) : nullptr),
      random_(system_random()),
      router_(make_redis_router(options_, tls_.get())),
      pool_(options_, tls_.get(), unverified_),
      owner_(::getpid()) {
    if (tls_ && !tls_->unverified().empty()) unverified_.add(tls_->unverified());
}

void RedisClient::require_own_process(std::string_view operation) const {
    if (::getpid() == owner_) return;
    throw Error(Errc::storage_failed,
                fmt::format("{}: the storage was opened before a fork; the child has to open its own", operation));
}

RedisDeadline RedisClient::until_of_try(RedisDeadline deadline) const {
    return std::min(deadline, steady_clock::now() + milliseconds(options_.command_timeout_ms));
}

void RedisClient::perform(const RedisWork& work, const std::function<void(RedisConnection&)>& attempt) {
    require_own_process(work.operation);
    Progress progress{.deadline = std::min(work.until, steady_clock::now() + milliseconds(options_.deadline_ms))};
    while (true) {
        try {
            return try_once(work, progress, attempt);
        } catch (const RedisRetry& failed) {
            prepare_next(work, progress, failed);
        }
    }
}

void RedisClient::try_once(const RedisWork& work, Progress& progress,
                           const std::function<void(RedisConnection&)>& attempt) {
    const RedisTry finding{work.operation, until_of_try(progress.deadline)};
    const bool is_asking = progress.asked_for.has_value();
    progress.was_idle = false;
    progress.address =
        is_asking ? *std::exchange(progress.asked_for, std::nullopt) : router_->primary_of(work.slot, finding);
    const auto lease = pool_.lease(progress.address, finding);
    progress.was_idle = !lease.is_new();
    lease->begin({work.operation, until_of_try(progress.deadline)}, is_asking);
    try {
        attempt(*lease);
    } catch (const RedisRetry& failed) {
        progress.was_cut_off |= failed.why == RedisRetry::Why::broken;
        throw;
    }
}

void RedisClient::prepare_next(const RedisWork& work, Progress& progress, const RedisRetry& failed) {
    const bool is_sent_on = failed.why == RedisRetry::Why::moved || failed.why == RedisRetry::Why::asked;
    if (is_sent_on && options_.topology != RedisTopology::cluster)
        throw Error(Errc::storage_failed,
                    fmt::format("{}: {}: that is a node of a cluster, which `topology` has to say", work.operation,
                                failed.reason));
    switch (failed.why) {
        case RedisRetry::Why::moved:
            router_->moved(failed.slot, failed.to);
            if (++progress.redirects_in_a_row <= max_redirects_in_a_row && steady_clock::now() < progress.deadline)
                return;
            return pause(work, progress, failed);
        case RedisRetry::Why::asked:
            if (++progress.redirects_in_a_row > max_redirects_in_a_row) pause(work, progress, failed);
            progress.asked_for = failed.to;
            return;
        case RedisRetry::Why::broken:
        case RedisRetry::Why::wrong_primary:
            pool_.drop_idle(progress.address);
            // A server closes what was idle for long: that is no reason to wait, or to suspect it.
            if (progress.was_idle && failed.why == RedisRetry::Why::broken && steady_clock::now() < progress.deadline)
                return;
            router_->suspect(progress.address);
            return pause(work, progress, failed);
        case RedisRetry::Why::busy: router_->suspect(progress.address); return pause(work, progress, failed);
    }
}

void RedisClient::pause(const RedisWork& work, Progress& progress, const RedisRetry& failed) {
    const milliseconds length = pause_before_try(progress.pauses++, *random_);
    if (steady_clock::now() + length >= progress.deadline) {
        const std::string_view known = work.is_write && progress.was_cut_off
                                           ? "; whether it was done is not known, and doing it again is harmless"
                                           : "";
        // The last try may have been late, which says nothing.
        const bool has_more_detail = !progress.reason.empty() && progress.reason != failed.reason;
        throw Error(
            Errc::storage_failed,
            fmt::format("{}: not within {} ms, at last: {}{}{}{}", work.operation, options_.deadline_ms, failed.reason,
                        has_more_detail ? "; before: " : "", has_more_detail ? progress.reason : "", known));
    }
    if (progress.reason.empty() || !failed.reason.ends_with("timed out")) progress.reason = failed.reason;
    std::this_thread::sleep_for(length);
    progress.redirects_in_a_row = 0;
}

RedisReply RedisClient::call(const RedisWork& work, const RedisWords& words, RedisShape shape) {
    RedisReply reply;
    perform(work, [&](RedisConnection& connection) { reply = connection.call(words, shape); });
    return reply;
}

std::vector<RedisReply> RedisClient::call_all(const RedisTry& work, const std::vector<int>& slots,
                                              const std::vector<RedisWords>& commands,
                                              const std::function<bool(std::size_t, const redisReply&)>& fits) {
    require_own_process(work.operation);
    std::vector<RedisReply> replies(slots.size());
    const RedisTry once{work.operation, until_of_try(work.until)};
    try {
        std::map<RedisAddress, std::vector<std::size_t>> by_server;
        for (std::size_t i = 0; i < slots.size(); ++i) by_server[router_->primary_of(slots[i], once)].push_back(i);
        for (const auto& [address, numbers] : by_server) {
            const auto lease = pool_.lease(address, once);
            lease->begin(once, false);
            for (const std::size_t number : numbers) lease->send(commands[number]);
            for (const std::size_t number : numbers) {
                RedisReply reply = lease->receive();
                if (is_error(*reply)) continue;
                if (!fits(number, *reply)) lease->refuse_last();
                replies[number] = std::move(reply);
            }
        }
    } catch (const RedisRetry&) {
        // What has no reply is asked for by itself, with all that follows from what went wrong.
    }
    return replies;
}

}  // namespace whittle::inline v0
