#pragma once

#include "redis_reply.hpp"
#include "redis_scripts.hpp"
#include "redis_tls.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

struct redisContext;

namespace whittle::inline v0 {

using RedisWords = std::vector<std::string_view>;

/// Until when a try may last, and how it begins its error texts.
struct RedisTry {
    std::string_view operation{};
    RedisDeadline until{};
};

/// One connection, used by one thread at a time. What fails so that another try may go well is thrown as RedisRetry;
/// after `broken` it is of no more use. Never waits beyond the try's deadline, but for a handshake of TLS
/// (redis_tls.hpp).
class RedisConnection {
public:
    /// Connects. `tls` may be null: plain.
    RedisConnection(RedisAddress address, const RedisTlsSettings* tls, RedisTry first_try);
    ~RedisConnection();
    RedisConnection(const RedisConnection&) = delete;
    RedisConnection& operator=(const RedisConnection&) = delete;

    /// What comes next. With `is_asking` each command is one that a node takes for a slot that it is being given.
    void begin(RedisTry next_try, bool is_asking);

    /// Sends a command and takes its reply, which is no error, and has this shape.
    RedisReply call(const RedisWords& words, RedisShape shape);

    /// The same for a script; `words` begin with the number of keys. Its text is sent to a server that does not know
    /// it.
    RedisReply call_script(const RedisScript& script, const RedisWords& words, RedisShape shape);

    /// The last reply is none that its command has. Throws RedisRetry.
    [[noreturn]] void refuse_last();

    /// Several commands at once: the reply of each, errors too, in their order. Throws Error(storage_failed) for one
    /// that is longer than any that the storage asks for.
    void send(const RedisWords& words);
    RedisReply receive();

    [[nodiscard]] const RedisAddress& address() const noexcept { return address_; }
    [[nodiscard]] std::string_view operation() const noexcept { return try_.operation; }
    [[nodiscard]] RedisDeadline until() const noexcept { return try_.until; }
    /// Whether it has answered nothing but whole replies so far, and owes none.
    [[nodiscard]] bool is_sound() const noexcept { return is_sound_ && owed_ == 0; }

private:
    struct ContextFree {
        void operator()(redisContext* context) const noexcept;
    };

    void connect(const RedisTlsSettings* tls);
    void append(const RedisWords& words);
    void flush();
    void flush_plain();
    void flush_encrypted();
    void fill();
    void count_heard(std::size_t bytes);
    void require_shape(const redisReply& reply, RedisShape shape);
    void wait_for(short events);
    [[noreturn]] void fail(std::string_view reason);
    [[noreturn]] void fail_encrypted();

    RedisAddress address_;
    RedisTry try_;
    std::unique_ptr<redisContext, ContextFree> context_;
    std::string out_{};
    std::vector<char> in_{};
    int owed_ = 0;
    std::size_t heard_bytes_ = 0;  // of the reply that is being received, and what came with its end
    bool is_encrypted_ = false;
    bool has_heard_ = false;  // over TLS
    bool is_asking_ = false;
    bool is_sound_ = true;
};

}  // namespace whittle::inline v0
