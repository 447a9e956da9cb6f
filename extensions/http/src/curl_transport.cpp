#include "whittle/http/curl_transport.hpp"

#include "curl_exchange.hpp"
#include "whittle/base/detail/sigpipe_guard.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

namespace whittle::inline v0 {
namespace {

using detail::CurlMulti;

bool has_line_break(std::string_view text) {
    return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

/// RFC 9110, section 5.6.2.
bool is_token(std::string_view text) {
    static constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               marks.find(c) != std::string_view::npos;
    });
}

[[noreturn]] void refuse(std::string_view what) {
    throw Error(Errc::invalid_argument, fmt::format("send HTTP request: {}", what));
}

void check_headers(const HttpHeaders& headers) {
    for (std::size_t i = 0; i < headers.size(); ++i) {
        if (!is_token(headers[i].first)) refuse(fmt::format("the name of header {} is no token", i + 1));
        if (has_line_break(headers[i].second))
            refuse(fmt::format("header {} has a line break in it", headers[i].first));
    }
}

using Url = std::unique_ptr<CURLU, void (*)(CURLU*)>;

Url make_url() {
    Url url(curl_url(), curl_url_cleanup);
    if (!url) throw std::bad_alloc();
    return url;
}

std::string part_of(CURLU* url, CURLUPart part, unsigned int flags = 0) {
    char* text = nullptr;
    if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return {};
    const std::unique_ptr<char, void (*)(void*)> owner(text, curl_free);
    return text;
}

/// libcurl also takes one slash, or three: then user and password would stand where an error text shows the path.
bool has_two_slashes(std::string_view url) {
    const std::size_t colon = std::min(url.find(':'), url.size());
    return url.substr(colon, 3) == "://" && url.substr(colon + 3, 1) != "/";
}

/// Scheme, host and port: what a connection can be reused for.
std::string origin_of(const std::string& text) {
    const Url url = make_url();
    if (has_line_break(text) || !has_two_slashes(text) ||
        curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK)
        refuse("the URL cannot be read");
    const std::string scheme = part_of(url.get(), CURLUPART_SCHEME);
    if (scheme != "http" && scheme != "https") refuse("the URL is neither http nor https");
    return fmt::format("{}://{}:{}", scheme, part_of(url.get(), CURLUPART_HOST),
                       part_of(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT));
}

/// Multi handles with a connection each; the newest is the likeliest to be alive.
class MultiPool {
public:
    explicit MultiPool(int max_idle) : max_idle_(static_cast<std::size_t>(std::max(max_idle, 0))) {}

    MultiPool(const MultiPool&) = delete;
    MultiPool& operator=(const MultiPool&) = delete;
    ~MultiPool() {
        const detail::SigpipeGuard guard;  // closing a connection may write to it
        idle_.clear();
    }

    CurlMulti take(const std::string& origin) {
        const std::lock_guard lock(mutex_);
        for (std::size_t i = idle_.size(); i-- > 0;) {
            if (idle_[i].origin != origin) continue;
            CurlMulti multi = std::move(idle_[i].multi);
            idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
            return multi;
        }
        return make();
    }

    void give_back(std::string origin, CurlMulti multi) {
        CurlMulti oldest;  // closed outside the lock
        const std::lock_guard lock(mutex_);
        idle_.push_back({std::move(origin), std::move(multi)});
        if (idle_.size() <= max_idle_) return;
        oldest = std::move(idle_.front().multi);
        idle_.erase(idle_.begin());
    }

private:
    struct Idle {
        std::string origin;
        CurlMulti multi;
    };

    static CurlMulti make() {
        CurlMulti multi(curl_multi_init());
        if (!multi) throw std::bad_alloc();
        curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, 1L);
        return multi;
    }

    std::mutex mutex_;
    std::size_t max_idle_;
    std::vector<Idle> idle_{};
};

class CurlTransport final : public HttpTransport {
public:
    explicit CurlTransport(CurlOptions options)
        : options_(std::move(options)), multis_(options_.max_idle_connections) {}

    HttpResponse send(const HttpRequest& request, const BodySink& on_body) override {
        if (!is_token(request.method)) refuse("the method is no token");
        check_headers(request.headers);
        if (request.method == "HEAD" && !request.body.empty()) refuse("a HEAD has no body");
        std::string origin = origin_of(request.url);
        const detail::SigpipeGuard guard;
        CurlMulti multi = multis_.take(origin);
        bool is_reusable = false;
        HttpResponse response = run(request, on_body, multi.get(), is_reusable);
        if (is_reusable) multis_.give_back(std::move(origin), std::move(multi));
        return response;
    }

private:
    HttpResponse run(const HttpRequest& request, const BodySink& on_body, CURLM* multi, bool& is_reusable) const {
        detail::CurlExchange exchange(request, on_body, options_, multi);
        HttpResponse response = exchange.run();
        is_reusable = exchange.is_reusable();
        return response;
    }

    CurlOptions options_;
    MultiPool multis_;
};

/// Once in a process, and never undone: the host may use libcurl as well.
CURLcode start_curl() {
    static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
    return started;
}

/// Read as libcurl reads it.
bool is_proxy(const std::string& text) {
    const Url url = make_url();
    if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME) !=
        CURLUE_OK)
        return false;
    const std::string scheme = part_of(url.get(), CURLUPART_SCHEME);
    static constexpr std::string_view known[] = {"http", "https", "socks", "socks4", "socks4a", "socks5", "socks5h"};
    return std::find(std::begin(known), std::end(known), scheme) != std::end(known);
}

void check_options(const CurlOptions& options) {
    const auto require = [](bool is_right, std::string_view what) {
        if (!is_right) throw Error(Errc::invalid_argument, fmt::format("make curl transport: {}", what));
    };
    require(!has_line_break(options.proxy) && !has_line_break(options.no_proxy) && !has_line_break(options.user_agent),
            "an option has a line break in it");
    // Its text is not told: it may hold a password.
    require(options.proxy.empty() || is_proxy(options.proxy), "the proxy is no URL of an http, https or socks proxy");
    require(options.ca_bundle.empty() || std::ifstream(options.ca_bundle).good(),
            fmt::format("the CA bundle {} cannot be read", options.ca_bundle));
}

}  // namespace

std::shared_ptr<HttpTransport> make_curl_transport(CurlOptions options) {
    check_options(options);
    if (start_curl() != CURLE_OK) throw Error(Errc::not_offered, "make curl transport: libcurl does not start");
    if ((curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_SSL) == 0)
        throw Error(Errc::not_offered, "make curl transport: this libcurl has no TLS");
    return std::make_shared<CurlTransport>(std::move(options));
}

}  // namespace whittle::inline v0
