#pragma once

#include "support/hostile_server.hpp"

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::testing {

/// Answers requests on loopback and remembers them.
class AnsweringServer {
public:
    /// `answer`: the body for "POST /v1/chat/completions"; empty is 404.
    explicit AnsweringServer(std::function<std::string(const std::string& line)> answer)
        : answer_(std::move(answer)), server_([this](Connection& connection) { serve(connection); }) {}

    [[nodiscard]] std::string url(std::string_view path) const { return server_.url(path); }
    /// Whole, as they came.
    [[nodiscard]] std::vector<std::string> requests() const {
        const std::lock_guard lock(mutex_);
        return requests_;
    }

private:
    void serve(Connection& connection) {
        for (std::string request = connection.read_request(); !request.empty(); request = connection.read_request()) {
            {
                const std::lock_guard lock(mutex_);
                requests_.push_back(request);
            }
            const std::string line = request.substr(0, request.find(" HTTP/"));
            const std::string body = answer_(line);
            const std::string status = body.empty() ? "404 Not Found" : "200 OK";
            connection.send("HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nContent-Length: " +
                            std::to_string(body.size()) + "\r\n\r\n" + body);
        }
    }

    std::function<std::string(const std::string&)> answer_;
    mutable std::mutex mutex_{};
    std::vector<std::string> requests_{};
    HostileServer server_;  // the last: it ends its threads first
};

}  // namespace whittle::testing
