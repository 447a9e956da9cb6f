#pragma once

#include "whittle/http/curl_transport.hpp"
#include "whittle/model/model.hpp"

#include <curl/curl.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

struct CurlCleanup {
    void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
    void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};
struct CurlMultiCleanup {
    void operator()(CURLM* handle) const noexcept { curl_multi_cleanup(handle); }
};
using CurlEasy = std::unique_ptr<CURL, CurlCleanup>;
using CurlList = std::unique_ptr<curl_slist, CurlCleanup>;
/// Holds the connection that a later request may use.
using CurlMulti = std::unique_ptr<CURLM, CurlMultiCleanup>;

/// One request and its answer, on the thread that runs it.
class CurlExchange {
public:
    /// All of them outlive the exchange.
    CurlExchange(const HttpRequest& request, const BodySink& sink, const CurlOptions& options, CURLM* multi);

    HttpResponse run();

    /// Whether the multi handle may serve another request: false after an exchange that was cut off.
    [[nodiscard]] bool is_reusable() const noexcept { return is_reusable_; }

private:
    using Time = std::chrono::steady_clock::time_point;

    void set_up();
    void set_up_connection();
    void set_up_request();
    void set_up_headers();
    void transfer();
    bool has_finished();
    void end(CURLcode code);
    [[nodiscard]] bool is_rest_given_up() const;
    void require_running() const;
    void require_limits(Time now);
    void require_quiet_limit(Time now);
    [[nodiscard]] int wait_ms() const;

    static std::size_t take_header(char* data, std::size_t size, std::size_t count, void* self) noexcept;
    static std::size_t take_body(char* data, std::size_t size, std::size_t count, void* self) noexcept;
    void on_header(std::string_view line);
    void on_status(std::string_view line);
    void on_head_complete();
    bool on_body(std::string_view bytes);
    bool pass_over(std::string_view bytes);

    [[nodiscard]] std::string describe(std::string_view reason) const;
    [[noreturn]] void fail(CURLcode code) const;
    [[noreturn]] void fail(std::string_view reason, ModelErrorClass error_class = ModelErrorClass::transport) const;
    [[noreturn]] void fail_limit(std::string_view what, std::chrono::milliseconds limit) const;

    const HttpRequest& request_;
    const BodySink& sink_;
    const CurlOptions& options_;
    CURLM* multi_;
    CurlEasy easy_;
    CurlList headers_{};
    char reason_[CURL_ERROR_SIZE] = {};
    Time started_{};
    std::optional<Time> quiet_since_{};  ///< the last byte sent or received; absent: not connected yet
    curl_off_t sent_bytes_ = 0;
    std::int64_t body_bytes_ = 0;
    std::size_t head_bytes_ = 0;
    bool has_answer_ = false;  ///< a byte of it has arrived
    bool has_head_ = false;
    bool is_streamed_ = false;
    bool is_too_large_ = false;
    bool is_reusable_ = false;
    std::optional<Time> enough_since_{};  ///< the sink wants no more: the answer is complete, whatever comes
    std::size_t rest_bytes_ = 0;          ///< passed over since
    std::exception_ptr thrown_{};
    HttpResponse response_{};
};

}  // namespace whittle::inline v0::detail
