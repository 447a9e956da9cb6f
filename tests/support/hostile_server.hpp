#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace whittle::testing {

/// A client's connection. Everything ends early, without an error, once the client or the server has gone.
class Connection {
public:
    explicit Connection(int socket) : socket_(socket) {
        const int on = 1;
        setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }

    /// A request with its body (as `Content-Length` says); empty if the client sent none.
    std::string read_request() {
        std::size_t head_end = 0;
        while ((head_end = received_.find("\r\n\r\n")) == std::string::npos) {
            if (!read_more()) return {};
        }
        const std::size_t size = head_end + 4 + body_size(received_.substr(0, head_end));
        while (received_.size() < size) {
            if (!read_more()) return {};
        }
        const std::string request = received_.substr(0, size);
        received_.erase(0, size);
        return request;
    }

    bool send(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }

    bool send_in_pieces(std::string_view bytes, std::size_t size, std::chrono::milliseconds pause = {}) {
        for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size()))) {
            if (!send(bytes.substr(0, size))) return false;
            if (pause.count() > 0) std::this_thread::sleep_for(pause);
        }
        return true;
    }

    /// Sends nothing more until the client has gone.
    void wait_for_client_to_go() {
        while (read_more()) {
        }
    }

    /// Whether the client went within `limit`.
    bool sees_client_go(std::chrono::seconds limit) {
        const timeval wait{limit.count(), 0};
        setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
        wait_for_client_to_go();
        return errno != EAGAIN;
    }

    /// The next close is a reset.
    void cut() {
        const linger at_once{1, 0};
        setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }

    /// Carries bytes to and from a server on loopback until one side ends, as a proxy does behind CONNECT.
    void relay_to(int port) {
        const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
            send("HTTP/1.1 200 Connection established\r\n\r\n");
            while (carry(server)) {
            }
        }
        close(server);
    }

private:
    bool carry(int server) const {
        pollfd ends[] = {{socket_, POLLIN, 0}, {server, POLLIN, 0}};
        if (poll(ends, 2, 20'000) <= 0) return false;
        for (const int i : {0, 1}) {
            char buffer[65'536];
            if (ends[i].revents == 0) continue;
            const ssize_t got = recv(ends[i].fd, buffer, sizeof buffer, 0);
            if (got <= 0 || ::send(ends[1 - i].fd, buffer, static_cast<std::size_t>(got), MSG_NOSIGNAL) != got)
                return false;
        }
        return true;
    }

    bool read_more() {
        char buffer[65'536];
        errno = 0;
        const ssize_t got = recv(socket_, buffer, sizeof buffer, 0);
        if (got <= 0) return false;
        received_.append(buffer, static_cast<std::size_t>(got));
        return true;
    }

    static std::size_t body_size(const std::string& head) {
        const std::size_t at = head.find("Content-Length: ");
        return at == std::string::npos ? 0 : std::stoul(head.substr(at + 16));
    }

    int socket_;
    std::string received_{};
};

/// Listens on loopback and does to each connection, on a thread of its own, what the test says.
class HostileServer {
public:
    using Behaviour = std::function<void(Connection&)>;

    explicit HostileServer(Behaviour behaviour) : behaviour_(std::move(behaviour)) {
        listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (listener_ < 0 || bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
            listen(listener_, 16) != 0 || getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
            throw std::runtime_error("hostile server: no socket on loopback");
        port_ = ntohs(address.sin_port);
        acceptor_ = std::thread([this] { accept_all(); });
    }
    HostileServer(const HostileServer&) = delete;
    HostileServer& operator=(const HostileServer&) = delete;
    ~HostileServer() {
        shutdown(listener_, SHUT_RDWR);
        acceptor_.join();
        {
            const std::lock_guard lock(mutex_);
            for (const int socket : open_) shutdown(socket, SHUT_RDWR);
        }
        for (std::thread& thread : threads_) thread.join();
        close(listener_);
    }

    [[nodiscard]] std::string url(std::string_view path = "/v1/chat") const {
        return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
    }
    [[nodiscard]] int port() const noexcept { return port_; }
    [[nodiscard]] int connections() const noexcept { return connections_; }

private:
    void accept_all() {
        while (true) {
            const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (socket < 0) return;
            ++connections_;
            const std::lock_guard lock(mutex_);
            open_.push_back(socket);
            threads_.emplace_back([this, socket] { serve(socket); });
        }
    }

    void serve(int socket) {
        Connection connection(socket);
        behaviour_(connection);
        const std::lock_guard lock(mutex_);
        std::erase(open_, socket);
        close(socket);
    }

    Behaviour behaviour_;
    int listener_ = -1;
    int port_ = 0;
    std::atomic<int> connections_ = 0;
    std::mutex mutex_;
    std::vector<int> open_{};
    std::vector<std::thread> threads_{};  // grows on the acceptor's thread only
    std::thread acceptor_{};
};

/// "HTTP/1.1 200 OK" with the right length.
inline std::string http_answer(std::string_view status, std::string_view body, std::string_view more_headers = {}) {
    return "HTTP/1.1 " + std::string(status) + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
           std::string(more_headers) + "\r\n" + std::string(body);
}

/// One answer to each request, on connections that stay open.
inline HostileServer::Behaviour answers(std::string answer) {
    return [answer = std::move(answer)](Connection& connection) {
        while (!connection.read_request().empty() && connection.send(answer)) {
        }
    };
}

}  // namespace whittle::testing
