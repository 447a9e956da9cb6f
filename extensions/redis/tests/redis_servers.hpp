// Real servers for tests and benchmarks: a redis-server, a primary with replicas and sentinels, a cluster. Each is
// ours, in a directory of its own, on free ports of loopback, and ends with its object or with the program.
#pragma once

#include "support/temp_dir.hpp"

#include <arpa/inet.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#    include <sys/prctl.h>
#endif

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace whittle::testing {

/// Of `redis-server`; empty where there is none.
inline std::string redis_server_program() {
    for (const char* const path :
         {"/usr/bin/redis-server", "/usr/local/bin/redis-server", "/opt/homebrew/bin/redis-server"}) {
        if (::access(path, X_OK) == 0) return path;
    }
    return {};
}

/// Until `is_so`, at most a minute.
inline void wait_until(const std::string& what, const std::function<bool()>& is_so) {
    for (int i = 0; i < 6'000; ++i) {
        if (is_so()) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    throw std::runtime_error("waited for nothing: " + what);
}

inline bool is_free_port(int port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool is_free = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    return is_free;
}

/// Such that the cluster's port, 10,000 above, is free too.
inline int free_port() {
    static std::mt19937 random(static_cast<unsigned>(::getpid()));
    for (int i = 0; i < 1'000; ++i) {
        const int port = 20'000 + static_cast<int>(random() % 12'000);
        if (is_free_port(port) && is_free_port(port + 10'000)) return port;
    }
    throw std::runtime_error("no free port");
}

/// A server as hiredis has it, past the storage.
class RawRedis {
public:
    explicit RawRedis(int port) {
        context_.reset(::redisConnectWithTimeout("127.0.0.1", port, {5, 0}));
        if (!context_ || context_->err != 0) throw std::runtime_error("no Redis on port " + std::to_string(port));
        ::redisSetTimeout(context_.get(), {20, 0});
    }

    /// The reply's text, or its number; an error as its text; elements one a line.
    std::string run(const std::vector<std::string>& words) {
        std::vector<const char*> starts;
        std::vector<std::size_t> sizes;
        for (const std::string& word : words) {
            starts.push_back(word.data());
            sizes.push_back(word.size());
        }
        const std::unique_ptr<redisReply, void (*)(void*)> reply(
            static_cast<redisReply*>(
                ::redisCommandArgv(context_.get(), static_cast<int>(words.size()), starts.data(), sizes.data())),
            ::freeReplyObject);
        if (!reply) throw std::runtime_error(words.front() + ": " + context_->errstr);
        return text_of(*reply);
    }
    std::int64_t number(const std::vector<std::string>& words) { return std::atoll(run(words).c_str()); }

    std::vector<std::string> keys(const std::string& pattern) {
        std::vector<std::string> found;
        std::string text = run({"KEYS", pattern});
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = text.find('\n', at);
            found.push_back(text.substr(at, end - at));
            at = end + 1;
        }
        return found;
    }

private:
    struct Free {
        void operator()(redisContext* context) const { ::redisFree(context); }
    };

    static std::string text_of(const redisReply& reply) {
        if (reply.type == REDIS_REPLY_INTEGER) return std::to_string(reply.integer);
        if (reply.type != REDIS_REPLY_ARRAY) return reply.str ? std::string(reply.str, reply.len) : std::string();
        std::string text;
        for (std::size_t i = 0; i < reply.elements; ++i) text += text_of(*reply.element[i]) + "\n";
        return text;
    }

    std::unique_ptr<redisContext, Free> context_;
};

/// One process.
class RedisServer {
public:
    explicit RedisServer(std::vector<std::string> settings = {}, int port = free_port())
        : port_(port), settings_(std::move(settings)) {
        start();
    }
    ~RedisServer() { kill_now(); }
    RedisServer(const RedisServer&) = delete;
    RedisServer& operator=(const RedisServer&) = delete;

    [[nodiscard]] int port() const noexcept { return port_; }
    [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] RawRedis raw() const { return RawRedis(port_); }
    [[nodiscard]] bool is_running() const noexcept { return child_ > 0; }
    [[nodiscard]] std::string file(const std::string& name) const { return dir_ / name; }

    void start() {
        std::vector<std::string> words{redis_server_program(), "--port", std::to_string(port_)};
        for (const char* const word : {"--bind", "127.0.0.1", "--save", "", "--daemonize", "no", "--repl-diskless-sync",
                                       "yes", "--repl-diskless-sync-delay", "0", "--logfile"})
            words.emplace_back(word);
        words.insert(words.end(), {dir_ / "log", "--dir", dir_.path().string()});
        words.insert(words.end(), settings_.begin(), settings_.end());
        run_program(words);
        wait_until("redis-server", [&] { return answers(); });
    }

    void kill_now() {
        if (child_ <= 0) return;
        ::kill(child_, SIGCONT);
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
        child_ = -1;
    }
    /// As a machine that hangs; `resume` ends it.
    void stop() const { ::kill(child_, SIGSTOP); }
    void resume() const { ::kill(child_, SIGCONT); }

protected:
    struct IsSentinel {};
    RedisServer(IsSentinel, const std::string& settings) : port_(free_port()) {
        std::ofstream(dir_ / "sentinel.conf") << "port " << port_ << "\nbind 127.0.0.1\nlogfile " << (dir_ / "log")
                                              << "\ndir " << dir_.path().string() << '\n'
                                              << settings;
        run_program({redis_server_program(), dir_ / "sentinel.conf", "--sentinel"});
        wait_until("a sentinel", [&] { return answers(); });
    }

private:
    void run_program(const std::vector<std::string>& words) {
        std::vector<char*> arguments;
        for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        child_ = ::fork();
        if (child_ < 0) throw std::runtime_error("no child");
        if (child_ > 0) return;
#ifdef __linux__
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
        ::execv(arguments[0], arguments.data());
        ::_exit(1);
    }

    [[nodiscard]] bool answers() const {
        if (::waitpid(child_, nullptr, WNOHANG) == child_) throw std::runtime_error("redis-server ended at once");
        try {
            return RawRedis(port_).run({"PING"}) == "PONG";
        } catch (const std::runtime_error&) {
            return false;
        }
    }

    TempDir dir_{};
    int port_;
    std::vector<std::string> settings_{};
    pid_t child_ = -1;
};

/// Watches the primary "main".
class RedisSentinel : public RedisServer {
public:
    RedisSentinel(int primary_port, int quorum)
        : RedisServer(IsSentinel{}, "sentinel monitor main 127.0.0.1 " + std::to_string(primary_port) + " " +
                                        std::to_string(quorum) +
                                        "\nsentinel down-after-milliseconds main 300\nsentinel failover-timeout main "
                                        "3000\n") {}
};

/// So many primaries, which share the slots evenly, and as many replicas of each.
class RedisCluster {
public:
    explicit RedisCluster(int primaries, int replicas = 0, std::vector<std::string> settings = {}) {
        settings.insert(settings.begin(), {"--cluster-enabled", "yes", "--cluster-node-timeout", "600",
                                           "--cluster-require-full-coverage", "no"});
        for (int i = 0; i < primaries * (1 + replicas); ++i) nodes_.push_back(std::make_unique<RedisServer>(settings));
        for (int i = 0; i < size(); ++i) {
            RawRedis raw = nodes_[at(i)]->raw();
            ids_.push_back(raw.run({"CLUSTER", "MYID"}));
            raw.run({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
            if (i < primaries) give_slots(raw, 16'384 * i / primaries, 16'384 * (i + 1) / primaries);
            if (i > 0) raw.run({"CLUSTER", "MEET", "127.0.0.1", std::to_string(nodes_[0]->port())});
        }
        wait_until("the nodes to know each other",
                   [&] { return all_have("cluster_known_nodes:" + std::to_string(size()) + "\r"); });
        for (int i = primaries; i < size(); ++i) follow(i, i % primaries);
        wait_until("the cluster", [&] {
            return all_have("cluster_state:ok") && all_have("cluster_slots_ok:16384") && all_know_replicas(replicas);
        });
    }

    [[nodiscard]] int size() const noexcept { return static_cast<int>(nodes_.size()); }
    [[nodiscard]] RedisServer& node(int i) { return *nodes_[at(i)]; }
    [[nodiscard]] const std::string& id(int i) const { return ids_[at(i)]; }

    [[nodiscard]] std::vector<std::string> addresses() const {
        std::vector<std::string> all;
        for (const auto& node : nodes_) all.push_back(node->address());
        return all;
    }

    /// As `redis-cli --cluster reshard` does it; `meanwhile` runs when the slot is open, and when half of it has gone.
    void move_slot(
        int slot, int from, int to, const std::function<void()>& meanwhile = [] {}) {
        RawRedis source = node(from).raw(), target = node(to).raw();
        const std::string number = std::to_string(slot);
        require_ok(target, {"CLUSTER", "SETSLOT", number, "IMPORTING", id(from)});
        require_ok(source, {"CLUSTER", "SETSLOT", number, "MIGRATING", id(to)});
        meanwhile();
        for (bool is_first = true; move_some_keys(source, number, node(to).port(), is_first ? 1 : 100);) {
            if (std::exchange(is_first, false)) meanwhile();
        }
        require_ok(target, {"CLUSTER", "SETSLOT", number, "NODE", id(to)});
        require_ok(source, {"CLUSTER", "SETSLOT", number, "NODE", id(to)});
        // News between nodes is still under way: after moves within milliseconds two nodes were seen to disown a slot,
        // and servers drop the keys of slots that they disown.
        wait_until("all to know the slot's new place", [&] { return all_say(slot, to); });
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }

    /// Whether all that are alive have the slot at that node.
    bool all_say(int slot, int owner) {
        for (const auto& node : nodes_) {
            if (!node->is_running()) continue;
            if (owner_of(node->raw(), slot) != nodes_[at(owner)]->port()) return false;
        }
        return true;
    }

private:
    /// By a node's own map: its port, or 0.
    static int owner_of(RawRedis raw, int slot) {
        std::istringstream lines(raw.run({"CLUSTER", "NODES"}));
        for (std::string line; std::getline(lines, line);) {
            std::istringstream words(line);
            std::string id, address, word;
            words >> id >> address;
            for (int i = 0; i < 6; ++i) words >> word;
            while (words >> word) {
                int first = 0, last = 0;
                const int numbers = word.starts_with('[') ? 0 : std::sscanf(word.c_str(), "%d-%d", &first, &last);
                if (numbers > 0 && slot >= first && slot <= (numbers == 2 ? last : first))
                    return std::atoi(address.c_str() + address.find(':') + 1);
            }
        }
        return 0;
    }

    static void require_ok(RawRedis& raw, const std::vector<std::string>& words) {
        const std::string reply = raw.run(words);
        if (reply != "OK") throw std::runtime_error(words[0] + " " + words[1] + " " + words[3] + ": " + reply);
    }

    /// False: there were none.
    static bool move_some_keys(RawRedis& source, const std::string& slot, int port, int most) {
        const std::string keys = source.run({"CLUSTER", "GETKEYSINSLOT", slot, std::to_string(most)});
        for (std::size_t begin = 0; begin < keys.size();) {
            const std::size_t end = keys.find('\n', begin);
            const std::string reply = source.run(
                {"MIGRATE", "127.0.0.1", std::to_string(port), keys.substr(begin, end - begin), "0", "20000"});
            if (reply != "OK" && reply != "NOKEY") throw std::runtime_error("MIGRATE: " + reply);
            begin = end + 1;
        }
        return !keys.empty();
    }

    static std::size_t at(int i) { return static_cast<std::size_t>(i); }

    static void give_slots(RawRedis& raw, int first, int end) {
        std::vector<std::string> words{"CLUSTER", "ADDSLOTS"};
        for (int slot = first; slot < end; ++slot) words.push_back(std::to_string(slot));
        raw.run(words);
    }

    void follow(int replica, int primary) {
        wait_until("a replica to find its primary", [&] {
            return node(replica).raw().run({"CLUSTER", "REPLICATE", id(primary)}) == "OK";
        });
    }

    bool all_have(const std::string& text) {
        for (const auto& node : nodes_) {
            if (node->raw().run({"CLUSTER", "INFO"}).find(text) == std::string::npos) return false;
        }
        return true;
    }

    bool all_know_replicas(int replicas) {
        for (int i = 0; i < size() / (1 + replicas); ++i) {
            const std::string info = node(i).raw().run({"INFO", "replication"});
            std::size_t online = 0;
            for (std::size_t found = 0; (found = info.find("state=online", found)) != std::string::npos; ++found)
                ++online;
            if (online != at(replicas)) return false;
        }
        return true;
    }

    std::vector<std::unique_ptr<RedisServer>> nodes_;
    std::vector<std::string> ids_;
};

}  // namespace whittle::testing
