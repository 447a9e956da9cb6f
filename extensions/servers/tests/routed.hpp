#pragma once

#include "whittle/base/error.hpp"
#include "whittle/provider/http_transport.hpp"

#include <cstddef>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace whittle::testing {

/// Answers by method and path, "GET /props"; all else is 404.
class RoutedTransport final : public HttpTransport {
public:
    using Answer = std::function<HttpResponse(const HttpRequest&)>;

    RoutedTransport& on(std::string route, std::string body, int status = 200) {
        return on(std::move(route), [status, body](const HttpRequest&) {
            return HttpResponse{.status = status, .headers = {{"Content-Type", "application/json"}}, .body = body};
        });
    }
    RoutedTransport& on(std::string route, Answer answer) {
        routes_[std::move(route)] = std::move(answer);
        return *this;
    }

    HttpResponse send(const HttpRequest& request, const BodySink& on_body = {}) override {
        const std::size_t path = request.url.find('/', request.url.find("://") + 3);
        const std::string route = request.method + " " + request.url.substr(path);
        const auto found = routes_.find(route);
        {
            const std::lock_guard lock(mutex_);
            asked.push_back(route);
            bodies.push_back(request.body);
            headers = request.headers;
        }
        if (found == routes_.end()) return {.status = 404, .body = "not found"};
        HttpResponse response = found->second(request);
        if (response.status == 200 && on_body.on_bytes &&
            (!on_body.should_stream_body || on_body.should_stream_body(response))) {
            on_body.on_bytes(response.body);
            response.body.clear();
        }
        return response;
    }

    std::vector<std::string> asked{};
    std::vector<std::string> bodies{};
    HttpHeaders headers{};  ///< of the last request

private:
    std::mutex mutex_{};
    std::map<std::string, Answer> routes_{};
};

/// A recorded or documented reply: extensions/servers/tests/replies/README.md says which is which.
inline std::string server_reply(const std::string& name) {
    std::ifstream in(std::string(WHITTLE_SOURCE_DIR "/extensions/servers/tests/replies") + "/" + name + ".json",
                     std::ios::binary);
    if (!in) throw Error(Errc::not_found, "read the reply " + name);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace whittle::testing
