#include "redis_connection.hpp"

#include "redis_layout.hpp"
#include "whittle/base/detail/sigpipe_guard.hpp"
#include "whittle/base/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace whittle::inline v0 {
namespace {

constexpr std::size_t bytes_of_a_read = std::size_t{256} << 10;

/// A chunk is the longest that is written in one piece; the map of a large cluster that is cut up may be several.
constexpr std::size_t longest_reply = 16 * static_cast<std::size_t>(redis_chunk_bytes);

/// A handshake may need either direction whatever is asked for.
constexpr int longest_encrypted_wait_ms = 5;

/// No SIGPIPE where the connection is closed. Without that flag `connect` has told it the socket.
#if defined(MSG_NOSIGNAL)
constexpr int without_signal = MSG_NOSIGNAL;
#else
constexpr int without_signal = 0;
#endif

std::string text_of_errno(int code) { return std::generic_category().message(code); }

int milliseconds_until(RedisDeadline deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

}  // namespace

void RedisConnection::ContextFree::operator()(redisContext* context) const noexcept {
    const detail::SigpipeGuard guard;  // TLS says good-bye
    redisFree(context);
}

RedisConnection::RedisConnection(RedisAddress address, const RedisTlsSettings* tls, RedisTry first_try)
    : address_(std::move(address)), try_(first_try) {
    connect(tls);
}

RedisConnection::~RedisConnection() = default;

void RedisConnection::connect(const RedisTlsSettings* tls) {
    context_.reset(address_.port == 0 ? redisConnectUnixNonBlock(address_.host.c_str())
                                      : redisConnectNonBlock(address_.host.c_str(), address_.port));
    if (!context_) fail("out of memory");
    if (context_->err != 0) fail(context_->errstr);
    ::fcntl(context_->fd, F_SETFD, FD_CLOEXEC);
#if defined(SO_NOSIGPIPE)
    const int on = 1;
    ::setsockopt(context_->fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
    wait_for(POLLOUT);
    int code = 0;
    socklen_t size = sizeof code;
    if (::getsockopt(context_->fd, SOL_SOCKET, SO_ERROR, &code, &size) != 0) code = errno;
    if (code != 0) fail(text_of_errno(code));
    if (tls != nullptr) {
        const detail::SigpipeGuard guard;
        tls->begin(*context_, address_, try_.until);
        is_encrypted_ = true;
    } else {
        in_.resize(bytes_of_a_read);
    }
}

void RedisConnection::begin(RedisTry next_try, bool is_asking) {
    try_ = next_try;
    is_asking_ = is_asking;
}

void RedisConnection::fail(std::string_view reason) {
    is_sound_ = false;
    throw RedisRetry{.why = RedisRetry::Why::broken, .reason = fmt::format("{}: {}", to_string(address_), reason)};
}

void RedisConnection::wait_for(short events) {
    while (true) {
        const int left = milliseconds_until(try_.until);
        pollfd polled{.fd = context_->fd, .events = events, .revents = 0};
        const int ready = ::poll(&polled, 1, is_encrypted_ ? std::min(left, longest_encrypted_wait_ms) : left);
        if (ready > 0) return;
        if (ready < 0 && errno != EINTR) fail(text_of_errno(errno));
        if (left == 0) fail("timed out");
        if (ready == 0 && is_encrypted_) return;  // asks TLS again
    }
}

/// As RESP has it: an array of strings.
void RedisConnection::append(const RedisWords& words) {
    fmt::format_to(std::back_inserter(out_), "*{}\r\n", words.size());
    for (const std::string_view word : words) {
        fmt::format_to(std::back_inserter(out_), "${}\r\n", word.size());
        out_.append(word).append("\r\n");
    }
    ++owed_;
}

void RedisConnection::send(const RedisWords& words) {
    if (is_asking_) append({"ASKING"});
    append(words);
}

void RedisConnection::refuse_last() { fail("an answer of another shape"); }

void RedisConnection::require_shape(const redisReply& reply, RedisShape shape) {
    require_fine(reply, try_.operation, address_);
    if (!has_shape(reply, shape)) refuse_last();
}

RedisReply RedisConnection::call(const RedisWords& words, RedisShape shape) {
    send(words);
    RedisReply reply = receive();
    require_shape(*reply, shape);
    return reply;
}

RedisReply RedisConnection::call_script(const RedisScript& script, const RedisWords& words, RedisShape shape) {
    RedisWords command{"EVALSHA", script.sha1};
    command.insert(command.end(), words.begin(), words.end());
    send(command);
    RedisReply reply = receive();
    if (is_error(*reply) && text_of_reply(*reply).starts_with("NOSCRIPT")) {
        command[0] = "EVAL";
        command[1] = script.text;
        return call(command, shape);
    }
    require_shape(*reply, shape);
    return reply;
}

void RedisConnection::flush() {
    if (out_.empty()) return;
    if (is_encrypted_) {
        flush_encrypted();
    } else {
        flush_plain();
    }
    out_.clear();
    constexpr std::size_t kept = std::size_t{64} << 10;
    if (out_.capacity() > kept) out_.shrink_to_fit();
}

void RedisConnection::flush_plain() {
    std::string_view left = out_;
    while (!left.empty()) {
        const ssize_t sent = ::send(context_->fd, left.data(), left.size(), without_signal);
        if (sent >= 0) {
            left.remove_prefix(static_cast<std::size_t>(sent));
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            wait_for(POLLOUT);
        } else if (errno != EINTR) {
            fail(text_of_errno(errno));
        }
    }
}

/// hiredis has no word for what TLS refuses after the handshake, as a server of TLS 1.3 does that wants a certificate.
void RedisConnection::fail_encrypted() {
    const bool has_reason = context_->err != REDIS_ERR_IO || context_->errstr != text_of_errno(0);
    const std::string reason = has_reason ? context_->errstr : "the server broke off";
    fail(has_heard_ ? reason : "TLS: " + reason + "; the server may want a certificate, or another one");
}

void RedisConnection::flush_encrypted() {
    if (redisAppendFormattedCommand(context_.get(), out_.data(), out_.size()) != REDIS_OK) fail(context_->errstr);
    int is_done = 0;
    while (true) {
        {
            const detail::SigpipeGuard guard;
            if (redisBufferWrite(context_.get(), &is_done) != REDIS_OK) fail_encrypted();
        }
        if (is_done != 0) return;
        wait_for(POLLIN);
    }
}

/// Some more of what the server says.
void RedisConnection::fill() {
    if (is_encrypted_) {
        const std::size_t before = context_->reader->len;
        {
            const detail::SigpipeGuard guard;
            if (redisBufferRead(context_.get()) != REDIS_OK) fail_encrypted();
        }
        if (context_->reader->len == before) {
            wait_for(POLLIN);
        } else {
            has_heard_ = true;
            count_heard(context_->reader->len - before);
        }
        return;
    }
    const ssize_t got = ::recv(context_->fd, in_.data(), in_.size(), 0);
    if (got > 0) {
        count_heard(static_cast<std::size_t>(got));
        if (redisReaderFeed(context_->reader, in_.data(), static_cast<std::size_t>(got)) != REDIS_OK)
            fail(context_->reader->errstr);
    } else if (got == 0) {
        fail("the server closed the connection");
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        wait_for(POLLIN);
    } else if (errno != EINTR) {
        fail(text_of_errno(errno));
    }
}

void RedisConnection::count_heard(std::size_t bytes) {
    heard_bytes_ += bytes;
    if (heard_bytes_ <= longest_reply) return;
    is_sound_ = false;
    throw Error(Errc::storage_failed,
                fmt::format("{}: {}: an answer of more than {} bytes, which nothing that whittle stores has",
                            try_.operation, to_string(address_), longest_reply));
}

RedisReply RedisConnection::receive() {
    flush();
    heard_bytes_ = 0;
    while (true) {
        void* found = nullptr;
        if (redisReaderGetReply(context_->reader, &found) != REDIS_OK) fail(context_->reader->errstr);
        RedisReply reply(static_cast<redisReply*>(found));
        if (!reply) {
            fill();
            continue;
        }
        --owed_;
        if (!is_asking_) return reply;
        if (owed_ % 2 == 0) return reply;
        require_fine(*reply, try_.operation, address_);  // of ASKING
    }
}

}  // namespace whittle::inline v0
