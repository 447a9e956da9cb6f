#include "redis_reply.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include <array>
#include <charconv>

namespace whittle::inline v0 {
namespace {

/// What passes: a start, a failover, resharding, a long script, replicas that are away.
constexpr std::array<std::string_view, 7> passing_refusals{"LOADING",    "TRYAGAIN",   "CLUSTERDOWN", "BUSY",
                                                           "MASTERDOWN", "NOREPLICAS", "UNBLOCKED"};

std::string_view take_word(std::string_view& text) noexcept {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

/// "3999 127.0.0.1:6381" behind MOVED or ASK. An empty host is the one that was asked.
RedisRetry redirection(RedisRetry::Why why, std::string_view rest, const RedisAddress& from, std::string reason) {
    const std::string_view digits = take_word(rest);
    int slot = -1;
    std::from_chars(digits.data(), digits.data() + digits.size(), slot);
    std::string_view place = take_word(rest);
    const auto to = parse_redis_address(place.starts_with(':') ? from.host + std::string(place) : std::string(place));
    if (slot < 0 || slot >= 16'384 || !to) return {.why = RedisRetry::Why::broken, .reason = std::move(reason)};
    return {.why = why, .reason = std::move(reason), .slot = slot, .to = *to};
}

}  // namespace

void RedisReplyFree::operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }

bool is_error(const redisReply& reply) noexcept { return reply.type == REDIS_REPLY_ERROR; }
bool is_nil(const redisReply& reply) noexcept { return reply.type == REDIS_REPLY_NIL; }
bool is_text(const redisReply& reply) noexcept {
    return reply.type == REDIS_REPLY_STRING || reply.type == REDIS_REPLY_STATUS;
}
bool is_integer(const redisReply& reply) noexcept { return reply.type == REDIS_REPLY_INTEGER; }
bool is_array(const redisReply& reply) noexcept { return reply.type == REDIS_REPLY_ARRAY; }

std::string_view text_of_reply(const redisReply& reply) noexcept {
    return is_text(reply) || is_error(reply) ? std::string_view(reply.str, reply.len) : std::string_view();
}
std::int64_t integer_of_reply(const redisReply& reply) noexcept { return is_integer(reply) ? reply.integer : 0; }
std::span<redisReply* const> elements_of(const redisReply& reply) noexcept {
    if (!is_array(reply)) return {};
    return {reply.element, reply.elements};
}

void refuse_reply(const RedisAddress& from) {
    throw RedisRetry{.why = RedisRetry::Why::broken, .reason = to_string(from) + ": an answer of another shape"};
}

bool has_shape(const redisReply& reply, RedisShape shape) noexcept {
    const bool is_string = reply.type == REDIS_REPLY_STRING;
    switch (shape) {
        case RedisShape::ok: return reply.type == REDIS_REPLY_STATUS && text_of_reply(reply) == "OK";
        case RedisShape::status: return reply.type == REDIS_REPLY_STATUS;
        case RedisShape::text: return is_string;
        case RedisShape::text_or_nil: return is_string || is_nil(reply);
        case RedisShape::integer: return is_integer(reply);
        case RedisShape::integer_or_text: return is_integer(reply) || is_string;
        case RedisShape::array: return is_array(reply);
        case RedisShape::any: return true;
    }
    return false;
}

void require_fine(const redisReply& reply, std::string_view operation, const RedisAddress& from) {
    if (is_error(reply)) refuse_error(text_of_reply(reply), operation, from);
}

void refuse_error(std::string_view text, std::string_view operation, const RedisAddress& from) {
    std::string reason = fmt::format("{}: {}", to_string(from), text);
    std::string_view rest = text;
    const std::string_view word = take_word(rest);
    if (word == "MOVED") throw redirection(RedisRetry::Why::moved, rest, from, std::move(reason));
    if (word == "ASK") throw redirection(RedisRetry::Why::asked, rest, from, std::move(reason));
    // A script meets READONLY within the text of another error.
    if (word == "READONLY" || text.find("-READONLY") != std::string_view::npos)
        throw RedisRetry{.why = RedisRetry::Why::wrong_primary, .reason = std::move(reason)};
    for (const std::string_view passing : passing_refusals) {
        if (word == passing) throw RedisRetry{.why = RedisRetry::Why::busy, .reason = std::move(reason)};
    }
    throw Error(Errc::storage_failed, fmt::format("{}: {}", operation, reason));
}

}  // namespace whittle::inline v0
