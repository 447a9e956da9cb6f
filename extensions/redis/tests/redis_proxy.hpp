// Stands between the storage and a server, and does to each command what a test says.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace whittle::testing {

/// What becomes of a command.
struct ProxyStep {
    enum class Kind {
        pass,
        cut_before,  ///< the server never sees it
        cut_after,   ///< the server has done it, and nobody is told
        half,        ///< the reply ends in its middle, and so does the connection
        silent,      ///< the server has done it, and the client waits until it is tired of it
        answer,      ///< the server never sees it, and the client is told `text`
        forward,     ///< the server is sent `command` in its place
    };
    Kind kind = Kind::pass;
    std::string text{};
    std::vector<std::string> command{};
};

class RedisProxy {
public:
    /// Asked for each command, with its number from 1 on over all connections. One at a time.
    using Decide = std::function<ProxyStep(int number, const std::vector<std::string>& words)>;

    explicit RedisProxy(int server_port, Decide decide = {}) : server_port_(server_port), decide_(std::move(decide)) {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address = on_loopback(0);
        socklen_t size = sizeof address;
        if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 64) != 0 ||
            ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
            throw std::runtime_error("proxy: no socket on loopback");
        port_ = ntohs(address.sin_port);
        acceptor_ = std::thread([this] { accept_all(); });
    }
    ~RedisProxy() {
        ::shutdown(listener_, SHUT_RDWR);
        acceptor_.join();
        {
            const std::lock_guard lock(mutex_);
            for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
        }
        for (std::thread& thread : threads_) thread.join();
        ::close(listener_);
    }
    RedisProxy(const RedisProxy&) = delete;
    RedisProxy& operator=(const RedisProxy&) = delete;

    [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

    /// Another behaviour, and the numbers begin anew.
    void decide(Decide decide) {
        const std::lock_guard lock(deciding_);
        decide_ = std::move(decide);
        commands_ = 0;
    }
    /// Commands since then.
    [[nodiscard]] int commands() {
        const std::lock_guard lock(deciding_);
        return commands_;
    }

private:
    static sockaddr_in on_loopback(int port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return address;
    }

    void accept_all() {
        while (true) {
            const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (client < 0) return;
            const std::lock_guard lock(mutex_);
            open_.push_back(client);
            threads_.emplace_back([this, client] {
                serve(client);
                const std::lock_guard own(mutex_);
                std::erase(open_, client);
                ::close(client);
            });
        }
    }

    void serve(int client) {
        const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const sockaddr_in address = on_loopback(server_port_);
        const int on = 1;
        ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        ::setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        std::string from_client, from_server;
        if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
            while (auto command = take_message(client, from_client)) {
                if (!forward(client, server, *command, from_server)) break;
            }
        }
        ::close(server);
    }

    /// False: the connection ends.
    bool forward(int client, int server, const std::string& command, std::string& from_server) {
        ProxyStep step;
        {
            const std::lock_guard lock(deciding_);
            ++commands_;
            if (decide_) step = decide_(commands_, words_of(command));
        }
        if (step.kind == ProxyStep::Kind::cut_before) return false;
        if (step.kind == ProxyStep::Kind::answer) return send_all(client, step.text);
        const bool is_other = step.kind == ProxyStep::Kind::forward;
        if (!send_all(server, is_other ? message_of(step.command) : command)) return false;
        const auto reply = take_message(server, from_server);
        if (!reply || step.kind == ProxyStep::Kind::cut_after) return false;
        if (step.kind == ProxyStep::Kind::half) {
            send_all(client, std::string_view(*reply).substr(0, reply->size() / 2));
            return false;
        }
        if (step.kind != ProxyStep::Kind::silent) return send_all(client, *reply);
        char ignored = 0;
        while (::recv(client, &ignored, 1, 0) > 0) {
        }
        return false;
    }

    static bool send_all(int fd, std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }

    /// Where the message that begins at `at` ends; npos: it is not all there.
    static std::size_t end_of_message(std::string_view bytes, std::size_t at) {
        const std::size_t line = bytes.find("\r\n", at);
        if (line == std::string_view::npos) return line;
        const char kind = bytes[at];
        const long count = std::atol(std::string(bytes.substr(at + 1, line - at - 1)).c_str());
        std::size_t end = line + 2;
        if (kind == '$')
            return count < 0 ? end
                   : end + static_cast<std::size_t>(count) + 2 <= bytes.size()
                       ? end + static_cast<std::size_t>(count) + 2
                       : std::string_view::npos;
        for (long i = 0; kind == '*' && i < count && end != std::string_view::npos; ++i)
            end = end_of_message(bytes, end);
        return end;
    }

    /// The next whole one; nullopt at the end.
    static std::optional<std::string> take_message(int fd, std::string& received) {
        while (true) {
            const std::size_t end = end_of_message(received, 0);
            if (end != std::string::npos) {
                std::string message = received.substr(0, end);
                received.erase(0, end);
                return message;
            }
            char buffer[65'536];
            const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
            if (got <= 0) return std::nullopt;
            received.append(buffer, static_cast<std::size_t>(got));
        }
    }

    static std::vector<std::string> words_of(const std::string& command) {
        std::vector<std::string> words;
        std::size_t at = command.find("\r\n") + 2;
        while (at < command.size()) {
            const std::size_t end = end_of_message(command, at);
            const std::size_t begin = command.find("\r\n", at) + 2;
            words.push_back(command.substr(begin, end - begin - 2));
            at = end;
        }
        return words;
    }

    static std::string message_of(const std::vector<std::string>& words) {
        std::string message = "*" + std::to_string(words.size()) + "\r\n";
        for (const std::string& word : words) message += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
        return message;
    }

    int server_port_;
    int listener_ = -1;
    int port_ = 0;
    std::mutex deciding_;
    Decide decide_;
    int commands_ = 0;
    std::mutex mutex_;
    std::vector<int> open_{};
    std::vector<std::thread> threads_{};  // grows on the acceptor's thread only
    std::thread acceptor_{};
};

}  // namespace whittle::testing
