#pragma once

#include "redis_address.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct redisReply;

namespace whittle::inline v0 {

using RedisDeadline = std::chrono::steady_clock::time_point;

struct RedisReplyFree {
    void operator()(redisReply* reply) const noexcept;
};
using RedisReply = std::unique_ptr<redisReply, RedisReplyFree>;

/// Thrown where the same may be tried again, here or elsewhere; never leaves this folder.
struct RedisRetry {
    enum class Why {
        broken,         ///< no connection, or none any more; what was sent may have been done
        busy,           ///< the server says: not now
        wrong_primary,  ///< a replica
        moved,          ///< the slot is `to`'s from now on
        asked,          ///< `to` may be asked this once
    };
    Why why = Why::broken;
    std::string reason{};
    int slot = -1;
    RedisAddress to{};
};

/// What a command answers; another answer is a server that speaks of something else.
enum class RedisShape {
    ok,               ///< +OK
    status,           ///< a short text, as of PING
    text,             ///< a string
    text_or_nil,      ///< a string, or that there is none
    integer,          ///< a number
    integer_or_text,  ///< of a script
    array,
    any,  ///< the caller looks
};
[[nodiscard]] bool has_shape(const redisReply& reply, RedisShape shape) noexcept;

/// Throws what an error reply from `from` asks for: RedisRetry where another try may go well, else
/// Error(storage_failed), which begins with `operation`. Any other reply is fine.
void require_fine(const redisReply& reply, std::string_view operation, const RedisAddress& from);
/// The same for the text of an error reply.
[[noreturn]] void refuse_error(std::string_view text, std::string_view operation, const RedisAddress& from);

/// Throws RedisRetry: the reply has another shape than the command has.
[[noreturn]] void refuse_reply(const RedisAddress& from);

[[nodiscard]] bool is_error(const redisReply& reply) noexcept;
[[nodiscard]] bool is_nil(const redisReply& reply) noexcept;
/// A string or a status.
[[nodiscard]] bool is_text(const redisReply& reply) noexcept;
[[nodiscard]] bool is_integer(const redisReply& reply) noexcept;
[[nodiscard]] bool is_array(const redisReply& reply) noexcept;
/// Of a string, status or error; empty for others.
[[nodiscard]] std::string_view text_of_reply(const redisReply& reply) noexcept;
/// Of an integer; 0 for others.
[[nodiscard]] std::int64_t integer_of_reply(const redisReply& reply) noexcept;
/// Of an array; empty for others.
[[nodiscard]] std::span<redisReply* const> elements_of(const redisReply& reply) noexcept;

}  // namespace whittle::inline v0
