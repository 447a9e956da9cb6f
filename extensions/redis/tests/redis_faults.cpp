// What the Redis storage does when connections end, answers are cut or late, and servers refuse.
#include "../src/redis_scripts.hpp"

#include "redis_proxy.hpp"
#include "redis_tools.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <map>

using namespace whittle;
using testing::contains;
using testing::errc_of;
using testing::error_of;
using testing::options_of;
using testing::ProxyStep;
using testing::RedisProxy;
using testing::RedisServer;
using testing::shared_redis;
using Kind = testing::ProxyStep::Kind;

namespace {

RedisStorageOptions through(const RedisProxy& proxy, int deadline_ms = 20'000) {
    RedisStorageOptions options = options_of(shared_redis());
    options.addresses = {proxy.address()};
    options.deadline_ms = deadline_ms;
    return options;
}

const std::map<std::string, std::string>& objects_to_store() {
    static const std::map<std::string, std::string> objects{{"a", "small"},
                                                            {"b", testing::numbered_text(70'000)},
                                                            {"c/empty", ""},
                                                            {"c/stream", testing::numbered_text(1'100'000)}};
    return objects;
}

void expect(bool is_so, const char* what) {
    if (!is_so) throw std::runtime_error(what);
}

/// Everything that a storage can do. What was acknowledged is in `acknowledged`.
void use_all_of(Storage& storage, std::map<std::string, std::string>& acknowledged) {
    for (const auto& [key, content] : objects_to_store()) {
        if (key == "c/stream") {
            testing::stream_to(storage, key, content, 1'000'000);
        } else {
            storage.put_if_absent(key, content);
        }
        acknowledged.emplace(key, content);
    }
    for (const auto& [key, content] : objects_to_store()) {
        expect(storage.get(key) == content, "another content");
        expect(storage.stat(key)->bytes == static_cast<std::int64_t>(content.size()), "another length");
    }
    try {
        storage.put_if_absent("a", "other");
        expect(false, "other content was taken");
    } catch (const Error& error) {
        if (error.errc() != Errc::already_exists) throw;
    }
    storage.put_if_absent("b", objects_to_store().at("b"));
    expect(storage.get("c/stream", 1'048'570, 10) == objects_to_store().at("c/stream").substr(1'048'570, 10),
           "another range");
    expect(testing::keys_below(storage, "c/") == std::vector<std::string>{"c/empty", "c/stream"}, "another listing");
    acknowledged.erase("b");
    expect(storage.remove("b"), "nothing to remove");
}

/// Does `kind` to the n-th command, or to all from it on. Of the many that a listing begins with, only some count.
class FaultAt {
public:
    FaultAt(Kind kind, int n, bool for_good) : kind_(kind), n_(n), for_good_(for_good) {}
    ProxyStep operator()(int, const std::vector<std::string>& words) {
        if (words.front() != "ZRANGEBYLEX" || ++listings_ % 100 == 1) ++number_;
        const bool is_meant = for_good_ ? number_ >= n_ : number_ == n_;
        if (is_meant && !for_good_) n_ = 0;
        if (is_meant) is_reached_ = true;
        return {.kind = is_meant ? kind_ : Kind::pass};
    }
    [[nodiscard]] bool is_reached() const { return is_reached_; }

private:
    Kind kind_;
    int n_;
    bool for_good_;
    int number_ = 0;
    int listings_ = 0;
    std::atomic<bool> is_reached_ = false;
};

/// What is there is what was written, all that was acknowledged is there, and the store takes it all again.
void check_past_faults(RedisStorageOptions options, const std::map<std::string, std::string>& acknowledged) {
    options.addresses = {shared_redis().address()};
    options.deadline_ms = RedisStorageOptions{}.deadline_ms;  // there is no fault any more that has to be given up soon
    const auto storage = redis_storage(options);
    for (const std::string& key : testing::keys_below(*storage, "")) {
        CAPTURE(key);
        CHECK(storage->get(key) == objects_to_store().at(key));
    }
    for (const auto& [key, content] : acknowledged) {
        CAPTURE(key);
        CHECK(storage->get(key) == content);
    }
    for (const auto& [key, content] : objects_to_store()) storage->put_if_absent(key, content);
    for (const auto& [key, content] : objects_to_store()) CHECK(storage->remove(key));
    // What a broken-off write left has a lifetime.
    testing::RawRedis raw = shared_redis().raw();
    for (const std::string& left : raw.keys(options.key_prefix + "*")) CHECK(raw.number({"TTL", left}) > 0);
}

/// The first `times` commands that begin with `command` are answered with `text`.
RedisProxy::Decide answers_to(std::string command, std::string text, int times) {
    return [command = std::move(command), text = std::move(text), times](
               int, const std::vector<std::string>& words) mutable {
        const bool is_meant = words.front() == command && times-- > 0;
        return is_meant ? ProxyStep{.kind = Kind::answer, .text = text} : ProxyStep{};
    };
}

}  // namespace

TEST_CASE("a connection that ends at any command, before, after or within its answer, is nobody's loss",
          "[storage][redis]") {
    NEED_REDIS_SERVER();
    const Kind kind = GENERATE(Kind::cut_before, Kind::cut_after, Kind::half);
    int n = 1;
    for (bool is_reached = true; is_reached; n += static_cast<int>(testing::every(9))) {
        CAPTURE(n, static_cast<int>(kind));
        FaultAt fault(kind, n, false);
        RedisProxy proxy(shared_redis().port(), std::ref(fault));
        const auto options = through(proxy);
        std::map<std::string, std::string> acknowledged;
        use_all_of(*redis_storage(options), acknowledged);
        is_reached = fault.is_reached();
        CHECK(acknowledged.size() == objects_to_store().size() - 1);
        check_past_faults(options, acknowledged);
    }
    CHECK(n > 20);
}

TEST_CASE("a server that is gone for good from any command on is an error, and loses nothing acknowledged",
          "[storage][redis]") {
    NEED_REDIS_SERVER();
    const Kind kind = GENERATE(Kind::cut_before, Kind::cut_after, Kind::half);
    int n = 1;
    for (bool is_reached = true; is_reached; n += static_cast<int>(testing::every(9))) {
        CAPTURE(n, static_cast<int>(kind));
        FaultAt fault(kind, n, true);
        RedisProxy proxy(shared_redis().port(), std::ref(fault));
        const auto options = through(proxy, 100);
        std::map<std::string, std::string> acknowledged;
        const auto error = errc_of([&] { use_all_of(*redis_storage(options), acknowledged); });
        is_reached = fault.is_reached() || error;  // a slow machine may need longer than the deadline without any fault
        if (is_reached) CHECK(error == Errc::storage_failed);
        check_past_faults(options, acknowledged);
    }
    CHECK(n > 20);
}

TEST_CASE("an answer that does not come is waited for as long as allowed, and asked for again", "[storage][redis]") {
    NEED_REDIS_SERVER();
    RedisProxy proxy(shared_redis().port());
    auto options = through(proxy);
    options.command_timeout_ms = 50;
    const auto storage = redis_storage(options);
    int silences = 3;
    proxy.decide([&](int, const auto&) { return ProxyStep{.kind = silences-- > 0 ? Kind::silent : Kind::pass}; });
    storage->put_if_absent("k", "content");
    CHECK(silences < 0);
    CHECK(storage->get("k") == "content");
    CHECK(storage->remove("k"));

    options = through(proxy, 200);
    options.command_timeout_ms = 50;
    const auto hurried = redis_storage(options);
    proxy.decide([](int, const auto&) { return ProxyStep{.kind = Kind::silent}; });
    const std::string text = error_of([&] { hurried->put_if_absent("k", "content"); });
    CHECK(contains(text, "put \"k\": not within 200 ms, at last: " + proxy.address() + ": "));
    CHECK(contains(text, "whether it was done is not known, and doing it again is harmless"));
    CHECK_FALSE(contains(error_of([&] { (void)hurried->get("k"); }), "whether it was done"));
    proxy.decide({});
    hurried->put_if_absent("k", "content");
    CHECK(hurried->get("k") == "content");
}

TEST_CASE("what passes is waited for: a start, a long script, a failover", "[storage][redis]") {
    NEED_REDIS_SERVER();
    const std::string refusal = GENERATE(
        as<std::string>(), "-LOADING Redis is loading the dataset in memory\r\n",
        "-BUSY Redis is busy running a script\r\n", "-READONLY You can't write against a read only replica.\r\n",
        "-TRYAGAIN Multiple keys request during rehashing\r\n", "-CLUSTERDOWN Hash slot not served\r\n",
        "-MASTERDOWN Link with MASTER is down\r\n", "-NOREPLICAS Not enough good replicas to write.\r\n",
        "-ERR script: @user_script: -READONLY You can't write\r\n");
    CAPTURE(refusal);
    RedisProxy proxy(shared_redis().port());
    const auto storage = redis_storage(through(proxy));
    proxy.decide(answers_to("EVALSHA", refusal, 3));
    storage->put_if_absent("k", "content");
    CHECK(proxy.commands() >= 4);
    CHECK(storage->get("k") == "content");

    const auto hurried = redis_storage(through(proxy, 150));
    proxy.decide(answers_to("EVALSHA", refusal, 1'000'000));
    const std::string text = error_of([&] { hurried->put_if_absent("k", "content"); });
    CHECK(contains(text, "put \"k\": not within 150 ms, at last: " + proxy.address() + ": "));
    CAPTURE(text);
    // The server said that it was not done; unless the deadline cut the last try off, maybe before it was sent.
    const bool is_cut_off = contains(text, "timed out");
    CHECK((is_cut_off || (contains(text, refusal.substr(1, 5)) && !contains(text, "whether it was done"))));
}

TEST_CASE("what does not pass is told at once", "[storage][redis]") {
    NEED_REDIS_SERVER();
    const std::string refusal =
        GENERATE(as<std::string>(), "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
                 "-NOPERM this user has no permissions\r\n", "-MISCONF Redis is configured to save RDB snapshots\r\n",
                 "-ERR unknown command\r\n", "-NOAUTH Authentication required.\r\n");
    CAPTURE(refusal);
    RedisProxy proxy(shared_redis().port());
    const auto storage = redis_storage(through(proxy));
    proxy.decide(answers_to("EVALSHA", refusal, 1));
    CHECK(error_of([&] { storage->put_if_absent("k", "content"); }) ==
          "put \"k\": " + proxy.address() + ": " + refusal.substr(1, refusal.size() - 3));
    CHECK(proxy.commands() == 1);
    storage->put_if_absent("k", "content");  // the connection is as good as before
    CHECK(storage->get("k") == "content");
}

TEST_CASE("a node of a cluster that is taken for a single server is told as such", "[storage][redis]") {
    NEED_REDIS_SERVER();
    RedisProxy proxy(shared_redis().port());
    const auto storage = redis_storage(through(proxy));
    proxy.decide(answers_to("GET", "-MOVED 3999 127.0.0.1:6381\r\n", 1));
    CHECK(error_of([&] { (void)storage->get("k"); }) ==
          "get \"k\": " + proxy.address() +
              ": MOVED 3999 127.0.0.1:6381: that is a node of a cluster, which `topology` has to say");
}

TEST_CASE("an answer that is none of Redis's, or of another shape, is no answer", "[storage][redis]") {
    NEED_REDIS_SERVER();
    const std::string answer = GENERATE(as<std::string>(), "HTTP/1.1 400 Bad Request\r\n\r\n", "$99999999999999\r\n",
                                        "*-7\r\n", ":notanumber\r\n", "\r\n");
    CAPTURE(answer);
    RedisProxy proxy(shared_redis().port());
    auto options = through(proxy);
    options.command_timeout_ms = 100;
    const auto storage = redis_storage(options);
    proxy.decide(answers_to("GET", answer, 1));
    storage->put_if_absent("k", "content");
    const auto error = errc_of([&] { CHECK(storage->get("k") == "content"); });
    CHECK((!error || error == Errc::storage_failed));
    CHECK(storage->get("k") == "content");
}

TEST_CASE("an answer that its command never has is no answer: not that nothing is there, nor that all was done",
          "[storage][redis]") {
    NEED_REDIS_SERVER();
    struct Lie {
        std::string command;
        std::string answer;
        std::function<void(Storage&)> use;
    };
    const auto get = [](Storage& s) { expect(s.get("a/k") == "content", "it is another"); };
    const auto stat = [](Storage& s) { expect(s.stat("a/k").has_value(), "it is another"); };
    const auto list = [](Storage& s) {
        expect(testing::keys_below(s, "a/") == std::vector<std::string>{"a/k"}, "it is another");
    };
    const auto put = [](Storage& s) {
        s.put_if_absent("b/k", "content");
        expect(s.get("b/k") == "content", "it is another");
    };
    const auto put_long = [](Storage& s) { s.put_if_absent("b/l", testing::numbered_text(70'000)); };
    const auto remove = [](Storage& s) {
        expect(s.remove("a/k"), "it is another");
        expect(!s.get("a/k"), "it is there");
    };
    const std::vector<Lie> lies{{"GET", ":5\r\n", get},
                                {"GET", "+OK\r\n", get},
                                {"GET", "*0\r\n", get},
                                {"GETRANGE", ":5\r\n", stat},
                                {"GETRANGE", "$-1\r\n", stat},
                                {"ZRANGEBYLEX", "+OK\r\n", list},
                                {"ZRANGEBYLEX", ":0\r\n", list},
                                {"ZRANGEBYLEX", "$-1\r\n", list},
                                {"ZRANGEBYLEX", "*1\r\n:3\r\n", list},
                                {"ZRANGEBYLEX", "*1\r\n$3\r\n!!!\r\n", list},
                                {"EVALSHA", ":0\r\n", put},
                                {"EVALSHA", ":7\r\n", put},
                                {"EVALSHA", "+OK\r\n", put},
                                {"SET", ":1\r\n", put_long},
                                {"EVALSHA", ":7\r\n", remove}};
    for (const Lie& lie : lies) {
        CAPTURE(lie.command, lie.answer);
        RedisProxy proxy(shared_redis().port());
        auto options = through(proxy);
        const auto storage = redis_storage(options);
        storage->put_if_absent("a/k", "content");
        proxy.decide(answers_to(lie.command, lie.answer, 1));
        lie.use(*storage);
        options.deadline_ms = 100;
        const auto hurried = redis_storage(options);
        storage->put_if_absent("a/k", "content");
        storage->remove("b/k");
        storage->remove("b/l");
        proxy.decide(answers_to(lie.command, lie.answer, 1'000'000));
        const std::string text = error_of([&] { lie.use(*hurried); });
        CAPTURE(text);
        CHECK(contains(text, "not within 100 ms"));
    }
}

TEST_CASE("an answer that is longer than anything that is stored is refused while it comes", "[storage][redis]") {
    NEED_REDIS_SERVER();
    RedisProxy proxy(shared_redis().port());
    const auto storage = redis_storage(through(proxy));
    storage->put_if_absent("k", "content");
    proxy.decide(answers_to("GET", "$1000000000\r\n" + std::string(std::size_t{17} << 20, 'x'), 1));
    CHECK(error_of([&] { (void)storage->get("k"); }) ==
          "get \"k\": " + proxy.address() +
              ": an answer of more than 16777216 bytes, which nothing that whittle stores has");
    CHECK(storage->get("k") == "content");
}

TEST_CASE("a listing from a slow server has one deadline, not one for each shard", "[storage][redis]") {
    NEED_REDIS_SERVER();
    RedisProxy proxy(shared_redis().port());
    auto options = through(proxy, 500);
    options.command_timeout_ms = 200;
    const auto storage = redis_storage(options);
    storage->put_if_absent("k", "content");
    proxy.decide([](int, const std::vector<std::string>&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return ProxyStep{};
    });
    const auto begin = std::chrono::steady_clock::now();
    CHECK(contains(error_of([&] { (void)testing::keys_below(*storage, ""); }), "list: not within 500 ms"));
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(3));
}

TEST_CASE("a password is in no error, whatever the server repeats", "[storage][redis]") {
    NEED_REDIS_SERVER();
    const std::string reply =
        GENERATE(as<std::string>(), "-ERR unknown command `AUTH`, with args beginning with: `tiger-and-lion`, \r\n",
                 "-ERR unknown command 'AUTH', with args beginning with: 'agent' 'tiger-and-li\r\n",
                 "-WRONGPASS tiger-and-lion is not the password\r\n", "-LOADING said tiger-and-lion\r\n");
    CAPTURE(reply);
    RedisProxy proxy(shared_redis().port(), answers_to("AUTH", reply, 1'000'000));
    auto options = through(proxy, 100);
    options.credentials = {.user = "agent", .password = "tiger-and-lion"};
    const std::string text = error_of([&] { (void)redis_storage(options); });
    CAPTURE(text);
    CHECK(contains(text, reply.substr(1, 3)));
    CHECK(contains(text, "***"));
    CHECK_FALSE(contains(text, "tiger"));

    options.addresses = {"redis://agent:tiger-and-lion@localhost:6379"};
    const std::string refusal = error_of([&] { (void)redis_storage(options); });
    CHECK(contains(refusal, "***@localhost:6379"));
    CHECK_FALSE(contains(refusal, "tiger"));
}

TEST_CASE("a removal of which no answer came has removed what was there", "[storage][redis]") {
    NEED_REDIS_SERVER();
    RedisProxy proxy(shared_redis().port());
    const auto storage = redis_storage(through(proxy));
    storage->put_if_absent("k", "content");
    shared_redis().raw().run({"SCRIPT", "LOAD", redis_remove_script.text});  // so that it is the removal that is cut
    proxy.decide([is_cut = false](int, const std::vector<std::string>& words) mutable {
        const bool cuts = words.front().starts_with("EVAL") && !std::exchange(is_cut, true);
        return ProxyStep{.kind = cuts ? Kind::cut_after : Kind::pass};
    });
    CHECK(storage->remove("k"));
    CHECK_FALSE(storage->remove("k"));
}

TEST_CASE("a connection that the server closed for being idle is replaced", "[storage][redis]") {
    NEED_REDIS_SERVER();
    const RedisServer server;
    const auto storage = redis_storage(options_of(server));
    storage->put_if_absent("k", "content");
    server.raw().run({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    CHECK(storage->get("k") == "content");
}

TEST_CASE("a write that too few replicas acknowledge says what is known, and can be repeated", "[storage][redis]") {
    NEED_REDIS_SERVER();
    RedisProxy proxy(shared_redis().port());
    auto options = through(proxy);
    options.durability = RedisDurability::one_replica;
    options.command_timeout_ms = 500;
    const auto storage = redis_storage(options);
    const std::string text = error_of([&] { storage->put_if_absent("k", "content"); });  // there is no replica
    CHECK(contains(
        text, "put \"k\": written on the primary " + proxy.address() + ", acknowledged by 0 of 1 replicas within "));
    CHECK(contains(text, " ms; doing it again is harmless"));
    CHECK(errc_of([&] { storage->put_if_absent("k", "content"); }) == Errc::storage_failed);
    CHECK(storage->get("k") == "content");  // as it said
    proxy.decide(answers_to("WAIT", ":1\r\n", 1));
    storage->put_if_absent("k", "content");
    CHECK(errc_of([&] { (void)storage->remove("k"); }) == Errc::storage_failed);
    CHECK_FALSE(storage->get("k"));
}

TEST_CASE("durability with replicas is waited for on the connection that wrote, also where the content was there",
          "[storage][redis]") {
    NEED_REDIS_SERVER();
    const RedisServer primary({"--appendonly", "yes", "--appendfsync", "always"});
    const RedisServer replica({"--replicaof", "127.0.0.1", std::to_string(primary.port())});
    testing::wait_until("the replica", [&] {
        return contains(primary.raw().run({"INFO", "replication"}), "state=online");
    });
    auto options = options_of(primary);
    options.durability = GENERATE(RedisDurability::one_replica, RedisDurability::all_replicas);
    const auto storage = redis_storage(options);
    CHECK(storage->unverified_settings().empty());
    storage->put_if_absent("k", "content");
    testing::stream_to(*storage, "l", testing::numbered_text(2 << 20), 1 << 20);
    CHECK(replica.raw().keys(options.key_prefix + "*:o:*").size() == 2);
    replica.stop();
    options.command_timeout_ms = 500;
    const auto hurried = redis_storage(options);
    CHECK(errc_of([&] { hurried->put_if_absent("k", "content"); }) == Errc::storage_failed);
    CHECK(errc_of([&] { hurried->put_if_absent("m", "more"); }) == Errc::storage_failed);
    replica.resume();
    storage->put_if_absent("m", "more");
    CHECK(replica.raw().keys(options.key_prefix + "*:o:*").size() == 3);
    CHECK(storage->remove("k"));
    CHECK(replica.raw().keys(options.key_prefix + "*:o:*").size() == 2);
}

TEST_CASE("a server that does not sync as all_replicas needs is refused, and one that does not report it is unverified",
          "[storage][redis]") {
    NEED_REDIS_SERVER();
    const RedisServer server;
    auto options = options_of(server);
    options.durability = RedisDurability::all_replicas;
    CHECK(contains(error_of([&] { (void)redis_storage(options); }), "appendonly is off"));
    server.raw().run({"CONFIG", "SET", "appendonly", "yes"});
    CHECK(contains(error_of([&] { (void)redis_storage(options); }),
                   "appendfsync is everysec: all_replicas needs always"));
    server.raw().run({"ACL", "SETUSER", "quiet", "on", ">q", "~*", "+@all", "-config"});
    options.credentials = {.user = "quiet", .password = "q"};
    const auto unverified_settings = redis_storage(options)->unverified_settings();
    REQUIRE(unverified_settings.size() == 2);
    CHECK(contains(unverified_settings.back(), "appendonly is not known: NOPERM"));
    server.raw().run({"CONFIG", "SET", "appendfsync", "always"});
    options.credentials = {};
    CHECK(redis_storage(options)->unverified_settings().empty());
}
