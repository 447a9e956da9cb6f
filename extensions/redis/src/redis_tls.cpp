#include "redis_tls.hpp"

#include "whittle/base/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hiredis/hiredis.h>
#if WHITTLE_HAVE_HIREDIS_SSL
#    include <hiredis/hiredis_ssl.h>
#endif
#include <sys/socket.h>
#include <sys/time.h>

#include <signal.h>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace whittle::inline v0 {

#if WHITTLE_HAVE_HIREDIS_SSL

namespace {

const char* c_string_or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

#    if HIREDIS_MAJOR > 1 || (HIREDIS_MAJOR == 1 && HIREDIS_MINOR >= 1)

/// The name that a certificate has to be for, which newer versions compare.
template <typename SslOptions>
concept HasVerifyName = requires(SslOptions options) {
    options.verify_name = "";
};

constexpr bool can_compare_names = HasVerifyName<redisSSLOptions>;

template <typename SslOptions>
void compare_name(SslOptions& options, const char* name) {
    if constexpr (HasVerifyName<SslOptions>) options.verify_name = name;
}

redisSSLContext* create_tls_context(const RedisTls& tls, redisSSLContextError& error) {
    redisSSLOptions options{};
    options.cacert_filename = c_string_or_null(tls.ca_file);
    options.cert_filename = c_string_or_null(tls.certificate_file);
    options.private_key_filename = c_string_or_null(tls.key_file);
    options.server_name = c_string_or_null(tls.server_name);
    options.verify_mode = REDIS_SSL_VERIFY_PEER;
    compare_name(options, options.server_name);
    return redisCreateSSLContextWithOptions(&options, &error);
}

#    else

constexpr bool can_compare_names = false;

redisSSLContext* create_tls_context(const RedisTls& tls, redisSSLContextError& error) {
    return redisCreateSSLContext(c_string_or_null(tls.ca_file), nullptr, c_string_or_null(tls.certificate_file),
                                 c_string_or_null(tls.key_file), c_string_or_null(tls.server_name), &error);
}

#    endif

/// While it lives, the connection blocks: of a handshake that goes on in later reads and writes, hiredis does not say
/// why it fails.
class BlockingUntil {
public:
    BlockingUntil(redisContext& context, RedisDeadline until)
        : context_(context), flags_(::fcntl(context.fd, F_GETFL)) {
        using std::chrono::microseconds;
        constexpr std::int64_t second = 1'000'000;
        const auto left = std::chrono::ceil<microseconds>(until - std::chrono::steady_clock::now()).count();
        const std::int64_t some = std::max<std::int64_t>(left, 1);  // 0 would be for ever
        limit({.tv_sec = some / second, .tv_usec = some % second});
        ::fcntl(context_.fd, F_SETFL, flags_ & ~O_NONBLOCK);
        sigset_t all{};
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_BLOCK, &all, &signals_);
        context_.flags |= REDIS_BLOCK;
    }
    ~BlockingUntil() {
        ::pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
        context_.flags &= ~REDIS_BLOCK;
        ::fcntl(context_.fd, F_SETFL, flags_);
        limit({});
    }
    BlockingUntil(const BlockingUntil&) = delete;
    BlockingUntil& operator=(const BlockingUntil&) = delete;

private:
    void limit(timeval time) const {
        for (const int way : {SO_RCVTIMEO, SO_SNDTIMEO}) ::setsockopt(context_.fd, SOL_SOCKET, way, &time, sizeof time);
    }

    redisContext& context_;
    int flags_;
    sigset_t signals_{};
};

}  // namespace

struct RedisTlsSettings::Context {
    redisSSLContext* handle = nullptr;
    ~Context() { redisFreeSSLContext(handle); }
};

bool has_redis_tls() noexcept { return true; }

std::string RedisTlsSettings::unverified() const {
    if (options_.server_name.empty()) return "TLS: no server_name is given, so any name in a certificate will do";
    return can_compare_names ? std::string() : "TLS: this hiredis does not compare the name in a certificate";
}

RedisTlsSettings::RedisTlsSettings(const RedisTls& options) : options_(options), context_(std::make_unique<Context>()) {
    static std::once_flag once;
    std::call_once(once, [] { redisInitOpenSSL(); });
    redisSSLContextError error = REDIS_SSL_CTX_NONE;
    context_->handle = create_tls_context(options, error);
    if (context_->handle == nullptr)
        throw Error(Errc::storage_failed, fmt::format("redis_storage: TLS: {}", redisSSLContextGetError(error)));
}

void RedisTlsSettings::begin(redisContext& context, const RedisAddress& address, RedisDeadline until) const {
    const BlockingUntil blocking(context, until);
    if (redisInitiateSSLWithContext(&context, context_->handle) == REDIS_OK) return;
    const bool is_late = std::chrono::steady_clock::now() >= until;
    throw RedisRetry{.why = RedisRetry::Why::broken,
                     .reason = fmt::format("{}: TLS: {}", to_string(address), is_late ? "timed out" : context.errstr)};
}

#else

struct RedisTlsSettings::Context {};

bool has_redis_tls() noexcept { return false; }

std::string RedisTlsSettings::unverified() const { return {}; }

RedisTlsSettings::RedisTlsSettings(const RedisTls& options) : options_(options) {}

void RedisTlsSettings::begin(redisContext&, const RedisAddress& address, RedisDeadline) const {
    throw Error(Errc::not_offered, to_string(address) + ": this build has no TLS");
}

#endif

RedisTlsSettings::~RedisTlsSettings() = default;

}  // namespace whittle::inline v0
