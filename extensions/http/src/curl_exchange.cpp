#include "curl_exchange.hpp"

#include "whittle/base/detail/ascii.hpp"
#include "whittle/provider/detail/error_body.hpp"
#include "whittle/provider/detail/url_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

namespace whittle::inline v0::detail {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t most_head_bytes = 262'144;
constexpr milliseconds longest_wait{60'000};  // a stop, a byte or a limit ends the wait earlier
// A body whose reader has enough is read to its end all the same, for the sake of the connection, but not for long.
constexpr milliseconds longest_rest{1'000};
constexpr std::size_t most_rest_bytes = 65'536;
constexpr long no_connect_limit = std::numeric_limits<int>::max();

template <typename Value>
void set(CURL* easy, CURLoption option, Value value) {
    const CURLcode code = curl_easy_setopt(easy, option, value);
    if (code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
    if (code != CURLE_OK)
        throw Error(Errc::not_offered, fmt::format("set up HTTP request: {}", curl_easy_strerror(code)));
}

milliseconds since(std::chrono::steady_clock::time_point start, std::chrono::steady_clock::time_point now) {
    return std::chrono::duration_cast<milliseconds>(now - start);
}

/// Whether the server did not prove who it is: asking again cannot help.
bool is_untrusted(CURLcode code) {
    return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_ISSUER_ERROR ||
           code == CURLE_SSL_INVALIDCERTSTATUS;
}

/// Whether this side is set up wrongly: nothing was asked of the server.
bool is_own_fault(CURLcode code) {
    return code == CURLE_SSL_CACERT_BADFILE || code == CURLE_URL_MALFORMAT || code == CURLE_NOT_BUILT_IN;
}

std::string replace_all(std::string text, std::string_view what, std::string_view by) {
    if (what.empty()) return text;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

bool is_over(milliseconds passed, milliseconds limit) { return limit.count() > 0 && passed >= limit; }

}  // namespace

CurlExchange::CurlExchange(const HttpRequest& request, const BodySink& sink, const CurlOptions& options, CURLM* multi)
    : request_(request), sink_(sink), options_(options), multi_(multi), easy_(curl_easy_init()) {
    if (!easy_) throw std::bad_alloc();
}

HttpResponse CurlExchange::run() {
    set_up();
    if (curl_multi_add_handle(multi_, easy_.get()) != CURLM_OK) throw std::bad_alloc();
    const auto remove = [this](CURL* easy) { curl_multi_remove_handle(multi_, easy); };
    const std::unique_ptr<CURL, decltype(remove)> added(easy_.get(), remove);
    // A wake-up that comes too late only makes the next exchange look around once more.
    const StopCallback wake(request_.stop, [this] { curl_multi_wakeup(multi_); });
    transfer();
    return std::move(response_);
}

void CurlExchange::set_up() {
    CURL* easy = easy_.get();
    set(easy, CURLOPT_NOSIGNAL, 1L);
    set(easy, CURLOPT_ERRORBUFFER, static_cast<char*>(reason_));
    set(easy, CURLOPT_HEADERFUNCTION, &CurlExchange::take_header);
    set(easy, CURLOPT_HEADERDATA, this);
    set(easy, CURLOPT_WRITEFUNCTION, &CurlExchange::take_body);
    set(easy, CURLOPT_WRITEDATA, this);
    // The length that the answer to a HEAD announces is that of a body which does not come.
    if (request_.limits.max_response_bytes > 0 && request_.method != "HEAD")
        set(easy, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(request_.limits.max_response_bytes));
    set_up_connection();
    set_up_request();
    set_up_headers();
}

void CurlExchange::set_up_connection() {
    CURL* easy = easy_.get();
    set(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    set(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    set(easy, CURLOPT_FOLLOWLOCATION, 0L);
    if (!options_.ca_bundle.empty()) {  // instead of what the system trusts, not beside it
        const char* const none = nullptr;
        set(easy, CURLOPT_CAINFO, options_.ca_bundle.c_str());
        set(easy, CURLOPT_CAPATH, none);
        set(easy, CURLOPT_PROXY_CAINFO, options_.ca_bundle.c_str());
        set(easy, CURLOPT_PROXY_CAPATH, none);
    }
    // Empty texts, too, are set: they keep libcurl from reading the environment.
    set(easy, CURLOPT_PROXY, options_.proxy.c_str());
    set(easy, CURLOPT_NOPROXY, options_.no_proxy.c_str());
    set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(options_.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    const std::int64_t connect = request_.limits.connect.count();
    set(easy, CURLOPT_CONNECTTIMEOUT_MS,
        connect <= 0 ? no_connect_limit : static_cast<long>(std::min<std::int64_t>(connect, no_connect_limit)));
#if LIBCURL_VERSION_NUM >= 0x075500
    set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    set(easy, CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
    set(easy, CURLOPT_QUICK_EXIT, 1L);  // a name lookup that hangs does not hold up a stop
#endif
}

void CurlExchange::set_up_request() {
    CURL* easy = easy_.get();
    set(easy, CURLOPT_URL, request_.url.c_str());
    if (!options_.user_agent.empty()) set(easy, CURLOPT_USERAGENT, options_.user_agent.c_str());
    if (request_.method == "HEAD") {
        set(easy, CURLOPT_NOBODY, 1L);
    } else if (request_.method != "GET" || !request_.body.empty()) {
        set(easy, CURLOPT_POST, 1L);
        set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
        set(easy, CURLOPT_POSTFIELDS, request_.body.data());
        set(easy, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
    }
}

/// What libcurl would add by itself is taken out by a name without value.
void CurlExchange::set_up_headers() {
    const auto add = [this](const std::string& line) {
        curl_slist* longer = curl_slist_append(headers_.get(), line.c_str());
        if (longer == nullptr) throw std::bad_alloc();
        static_cast<void>(headers_.release());
        headers_.reset(longer);
    };
    for (const auto& [name, value] : request_.headers) add(value.empty() ? name + ';' : name + ": " + value);
    for (const char* name : {"Content-Type", "Expect", "Accept"}) {
        if (!find_header(request_.headers, name)) add(std::string(name) + ':');
    }
    set(easy_.get(), CURLOPT_HTTPHEADER, headers_.get());
}

void CurlExchange::transfer() {
    started_ = std::chrono::steady_clock::now();
    while (!is_rest_given_up()) {
        if (!enough_since_) require_running();
        const Time looked = std::chrono::steady_clock::now();  // what has come by then is read before a limit is held
        int running = 0;
        if (const CURLMcode code = curl_multi_perform(multi_, &running); code != CURLM_OK)
            fail(curl_multi_strerror(code));
        if (has_finished()) return;
        if (!enough_since_) require_limits(looked);
        curl_multi_poll(multi_, nullptr, 0, wait_ms(), nullptr);
    }
}

bool CurlExchange::has_finished() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
        if (message->msg != CURLMSG_DONE || message->easy_handle != easy_.get()) continue;
        end(message->data.result);
        return true;
    }
    return false;
}

void CurlExchange::end(CURLcode code) {
    is_reusable_ = code == CURLE_OK;
    if (enough_since_) return;
    if (thrown_) std::rethrow_exception(thrown_);
    if (code != CURLE_OK) require_running();
    if (is_too_large_ || code == CURLE_FILESIZE_EXCEEDED)
        fail(fmt::format("the answer is longer than {} bytes", request_.limits.max_response_bytes),
             ModelErrorClass::bad_request);
    if (code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
    if (code != CURLE_OK) fail(code);
    if (!has_head_) fail("the answer has no complete head");
}

bool CurlExchange::is_rest_given_up() const {
    return enough_since_ && (request_.stop.stop_requested() ||
                             is_over(since(*enough_since_, std::chrono::steady_clock::now()), longest_rest));
}

void CurlExchange::require_running() const {
    if (!request_.stop.stop_requested()) return;
    throw ModelError(ModelErrorClass::cancelled,
                     fmt::format("{} {}: stopped", request_.method, without_secrets(request_.url)));
}

void CurlExchange::require_limits(Time now) {
    if (is_over(since(started_, now), request_.limits.total)) fail_limit("in all", request_.limits.total);
    curl_off_t connected = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_PRETRANSFER_TIME_T, &connected);
    if (connected <= 0) return;  // the limit on connecting is libcurl's
    curl_off_t sent = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_SIZE_UPLOAD_T, &sent);
    if (!quiet_since_ || sent != sent_bytes_) quiet_since_ = std::chrono::steady_clock::now();
    sent_bytes_ = sent;
    require_quiet_limit(now);
}

void CurlExchange::require_quiet_limit(Time now) {
    const milliseconds quiet = since(*quiet_since_, now);
    if (!has_answer_ && is_over(quiet, request_.limits.first_byte))
        fail_limit("without an answer", request_.limits.first_byte);
    if (has_answer_ && is_over(quiet, request_.limits.idle)) fail_limit("without a byte", request_.limits.idle);
}

/// Until the next limit could be met; bytes and a stop end the wait earlier.
int CurlExchange::wait_ms() const {
    const Time now = std::chrono::steady_clock::now();
    milliseconds wait = longest_wait;
    const auto at_most = [&wait, now](Time start, milliseconds limit) {
        if (limit.count() > 0) wait = std::min(wait, limit - since(start, now));
    };
    if (enough_since_) {
        at_most(*enough_since_, longest_rest);
        return static_cast<int>(std::max(wait, milliseconds(1)).count());
    }
    at_most(started_, request_.limits.total);
    if (quiet_since_) at_most(*quiet_since_, has_answer_ ? request_.limits.idle : request_.limits.first_byte);
    return static_cast<int>(std::max(wait, milliseconds(1)).count());
}

// What arrives comes through libcurl, through which nothing may be thrown.

std::size_t CurlExchange::take_header(char* data, std::size_t size, std::size_t count, void* self) noexcept {
    auto& exchange = *static_cast<CurlExchange*>(self);
    try {
        exchange.on_header({data, size * count});
        return exchange.is_too_large_ ? 0 : size * count;
    } catch (...) {
        exchange.thrown_ = std::current_exception();
        return 0;
    }
}

std::size_t CurlExchange::take_body(char* data, std::size_t size, std::size_t count, void* self) noexcept {
    auto& exchange = *static_cast<CurlExchange*>(self);
    try {
        return exchange.on_body({data, size * count}) ? size * count : 0;
    } catch (...) {
        exchange.thrown_ = std::current_exception();
        return 0;
    }
}

/// Trailers behind the body are passed over.
void CurlExchange::on_header(std::string_view line) {
    has_answer_ = true;
    quiet_since_ = std::chrono::steady_clock::now();
    head_bytes_ += line.size();
    if (head_bytes_ > most_head_bytes)
        fail(fmt::format("the answer's head is longer than {} bytes", most_head_bytes), ModelErrorClass::bad_request);
    if (has_head_) return;
    line = trim_view(line);
    if (line.empty()) return on_head_complete();
    if (line.starts_with("HTTP/")) return on_status(line);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    response_.headers.emplace_back(trim_view(line.substr(0, colon)), trim_view(line.substr(colon + 1)));
}

void CurlExchange::on_status(std::string_view) {
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    response_.status = static_cast<int>(status);
    response_.headers.clear();
}

/// Of the answer itself, or of an interim one (1xx), behind which the wait for the first byte goes on.
void CurlExchange::on_head_complete() {
    has_answer_ = response_.status >= 200;
    if (!has_answer_) return;
    has_head_ = true;
    const bool wants_body = sink_.should_stream_body ? sink_.should_stream_body(response_) : response_.status < 300;
    is_streamed_ = sink_.on_bytes && wants_body;
}

bool CurlExchange::on_body(std::string_view bytes) {
    if (enough_since_) return pass_over(bytes);
    if (request_.stop.stop_requested()) return false;
    body_bytes_ += static_cast<std::int64_t>(bytes.size());
    is_too_large_ = request_.limits.max_response_bytes > 0 && body_bytes_ > request_.limits.max_response_bytes;
    if (is_too_large_) return false;
    if (!is_streamed_)
        response_.body.append(bytes);
    else if (!bytes.empty() && !sink_.on_bytes(bytes))
        enough_since_ = std::chrono::steady_clock::now();
    quiet_since_ = std::chrono::steady_clock::now();
    return true;
}

bool CurlExchange::pass_over(std::string_view bytes) {
    rest_bytes_ += bytes.size();
    return rest_bytes_ <= most_rest_bytes;
}

std::string CurlExchange::describe(std::string_view reason) const {
    const std::string shown = replace_all(std::string(reason), options_.proxy, "the proxy");  // it may hold a password
    return fmt::format("{} {}: {}", request_.method, without_secrets(request_.url), one_line(shown, 300));
}

void CurlExchange::fail(std::string_view reason, ModelErrorClass error_class) const {
    throw ModelError(error_class, describe(reason));
}

void CurlExchange::fail(CURLcode code) const {
    const milliseconds limit = request_.limits.connect;  // the only limit that libcurl itself keeps
    if (code == CURLE_OPERATION_TIMEDOUT && is_over(since(started_, std::chrono::steady_clock::now()), limit))
        fail_limit("without a connection", limit);
    const std::string_view reason = reason_[0] != '\0' ? static_cast<const char*>(reason_) : curl_easy_strerror(code);
    if (is_own_fault(code)) throw Error(Errc::invalid_argument, describe(reason));
    fail(reason, is_untrusted(code) ? ModelErrorClass::auth : ModelErrorClass::transport);
}

void CurlExchange::fail_limit(std::string_view what, milliseconds limit) const {
    fail(fmt::format("{} ms {}", limit.count(), what));
}

}  // namespace whittle::inline v0::detail
