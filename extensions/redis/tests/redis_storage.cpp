#include "whittle/redis/redis_storage.hpp"

#include "../src/redis_layout.hpp"
#include "../src/redis_tls.hpp"

#include "redis_tools.hpp"
#include "support/catch.hpp"
#include "whittle/durable/durable.hpp"
#include "whittle/message/chat_message.hpp"
#if WHITTLE_HAVE_ENCRYPTION
#    include "whittle/encryption/encrypted_storage.hpp"
#endif

#include <atomic>
#include <map>

using namespace whittle;
using testing::contains;
using testing::errc_of;
using testing::error_of;
using testing::numbered_text;
using testing::options_of;
using testing::RawRedis;
using testing::RedisServer;
using testing::shared_redis;

namespace {

/// The only key of a kind: 'o' for objects, 'c' for chunks.
std::string only_key(RawRedis& raw, const std::string& prefix, char kind) {
    const auto found = raw.keys(prefix + "*:" + kind + ":*");
    REQUIRE(found.size() == 1);
    return found.front();
}

/// Keys but the index, by which what has no object any more is known.
std::size_t keys_in_redis(RawRedis& raw, const std::string& prefix) {
    return raw.keys(prefix + "*:o:*").size() + raw.keys(prefix + "*:c:*").size();
}

}  // namespace

TEST_CASE("objects on a Redis server keep the storage contract", "[storage][redis][contract]") {
    NEED_REDIS_SERVER();
    testing::check_conformance(testing::each_emptied({&shared_redis()},
                                                     [](const std::string& prefix) {
                                                         return redis_storage(options_of(shared_redis(), prefix));
                                                     }),
                               testing::suite_sizes());
}

#if WHITTLE_HAVE_ENCRYPTION
TEST_CASE("encrypted objects on a Redis server keep the storage contract", "[storage][redis][contract]") {
    NEED_REDIS_SERVER();
    const std::string bytes = new_encryption_key();
    const EncryptionOptions encryption{.current_key =
                                           [&] {
                                               return EncryptionKey{"k", bytes};
                                           },
                                       .find_key =
                                           [&](std::string_view) {
                                               return EncryptionKey{"k", bytes};
                                           }};
    testing::check_conformance(testing::each_emptied({&shared_redis()},
                                                     [&](const std::string& prefix) {
                                                         return encrypted_storage(
                                                             redis_storage(options_of(shared_redis(), prefix)),
                                                             encryption);
                                                     }),
                               testing::suite_sizes());
}
#endif

TEST_CASE("objects of every length around a chunk come back from Redis, whole and by ranges", "[storage][redis]") {
    NEED_REDIS_SERVER();
    const auto storage = redis_storage(options_of(shared_redis()));
    const std::int64_t small = 64 << 10, chunk = 1 << 20;
    const auto length = GENERATE_COPY(std::int64_t{0}, std::int64_t{1}, small - 1, small, small + 1, chunk - 1, chunk,
                                      chunk + 1, 2 * chunk);
    CAPTURE(length);
    const std::string content = numbered_text(static_cast<std::size_t>(length));
    storage->put_if_absent("a", content);
    testing::stream_to(*storage, "b", content, 300'007);
    for (const char* key : {"a", "b"}) {
        CAPTURE(key);
        CHECK(storage->get(key) == content);
        CHECK(storage->stat(key)->bytes == length);
        for (const std::int64_t offset :
             {std::int64_t{0}, chunk - 3, chunk, 2 * chunk - 1, length - 1, length, length + 9}) {
            if (offset < 0) continue;
            for (const std::int64_t most : {std::int64_t{0}, std::int64_t{7}, chunk, INT64_MAX}) {
                CAPTURE(offset, most);
                const std::int64_t from = std::min(offset, length);
                const auto bytes = static_cast<std::size_t>(std::min(most, length - from));
                CHECK(storage->get(key, offset, most) == content.substr(static_cast<std::size_t>(from), bytes));
            }
        }
    }
}

TEST_CASE("a short object that was altered in Redis is damaged, and the same put mends it", "[storage][redis]") {
    NEED_REDIS_SERVER();
    const auto options = options_of(shared_redis());
    const auto storage = redis_storage(options);
    storage->put_if_absent("k", "0123456789");
    RawRedis raw = shared_redis().raw();
    const std::string name = only_key(raw, options.key_prefix, 'o');
    const std::string value = raw.run({"GET", name});
    CHECK(value.size() == redis_header_bytes + 10);
    raw.run({"SET", name, value.substr(0, redis_header_bytes + 5)});
    CHECK(error_of([&] { (void)storage->get("k"); }) == "get \"k\": expected 10 bytes, found 5");
    CHECK(errc_of([&] { (void)storage->get("k", 0, 2); }) == Errc::damaged);
    raw.run({"SET", name, value.substr(0, redis_header_bytes + 7) + "X" + value.substr(redis_header_bytes + 8)});
    CHECK(contains(error_of([&] { (void)storage->get("k"); }), "get \"k\": expected SHA-256 84d89877"));
    CHECK(errc_of([&] { storage->put_if_absent("k", "other"); }) == Errc::already_exists);
    storage->put_if_absent("k", "0123456789");
    CHECK(storage->get("k") == "0123456789");
    CHECK(testing::keys_below(*storage, "") == std::vector<std::string>{"k"});
}

TEST_CASE("a value that is no object, or another key's, is damaged, not another object", "[storage][redis]") {
    NEED_REDIS_SERVER();
    const auto options = options_of(shared_redis());
    const auto storage = redis_storage(options);
    storage->put_if_absent("k", "content");
    RawRedis raw = shared_redis().raw();
    const std::string name = only_key(raw, options.key_prefix, 'o');
    SECTION("another key's") {
        storage->put_if_absent("other", "other content");
        for (const std::string& found : raw.keys(options.key_prefix + "*:o:other"))
            raw.run({"SET", name, raw.run({"GET", found})});
    }
    SECTION("cut within its header") { raw.run({"SET", name, raw.run({"GETRANGE", name, "0", "100"})}); }
    SECTION("another length in its header") { raw.run({"SETRANGE", name, "20", "9"}); }
    CHECK(error_of([&] { (void)storage->get("k"); }) == "get \"k\": the object's header is altered");
    CHECK(errc_of([&] { (void)storage->stat("k"); }) == Errc::damaged);
    CHECK(errc_of([&] { storage->put_if_absent("k", "content"); }) == Errc::damaged);
    CHECK(storage->remove("k"));
    CHECK_FALSE(storage->get("k"));
    storage->put_if_absent("k", "new");
    CHECK(storage->get("k") == "new");
}

TEST_CASE("an object of which a chunk is missing, short or altered in Redis is damaged where it is read, and is mended",
          "[storage][redis]") {
    NEED_REDIS_SERVER();
    const bool is_stream = GENERATE(false, true);
    const auto options = options_of(shared_redis());
    const auto storage = redis_storage(options);
    const std::string content = numbered_text((5 << 19) + 1);
    storage->put_if_absent("k", content);
    RawRedis raw = shared_redis().raw();
    std::string second, last;
    for (const std::string& name : raw.keys(options.key_prefix + "*:c:*")) {
        if (name.ends_with(":1")) second = name;
        if (name.ends_with(":2")) last = name;
    }
    SECTION("missing") {
        raw.run({"DEL", second});
        CHECK(error_of([&] { (void)storage->get("k", 1 << 20, 1); }) ==
              "get \"k\": expected 2621441 bytes, found 1048576");
        CHECK(error_of([&] { (void)storage->get("k"); }) == "get \"k\": expected 2621441 bytes, found 1048576");
        CHECK(storage->get("k", 0, 1 << 20)->size() == 1 << 20);
    }
    SECTION("the last one short") {
        raw.run({"SET", last, "abc"});
        CHECK(error_of([&] { (void)storage->get("k", 0, 1); }) == "get \"k\": expected 2621441 bytes, found 2097155");
    }
    SECTION("altered") {
        raw.run({"SETRANGE", second, "77", "?"});
        CHECK(contains(error_of([&] { (void)storage->get("k"); }), "get \"k\": expected SHA-256"));
        CHECK(storage->get("k", 0, 100)->size() == 100);  // a range is checked by lengths only
    }
    CHECK(errc_of([&] { storage->put_if_absent("k", content + "x"); }) == Errc::already_exists);
    if (is_stream) {
        testing::stream_to(*storage, "k", content, 1'000'000);
    } else {
        storage->put_if_absent("k", content);
    }
    CHECK(storage->get("k") == content);
    CHECK(keys_in_redis(raw, options.key_prefix) == 4);  // no old chunk is left
}

TEST_CASE("a dropped, refused, finished or removed stream leaves no chunk in Redis", "[storage][redis]") {
    NEED_REDIS_SERVER();
    const auto options = options_of(shared_redis());
    const auto storage = redis_storage(options);
    RawRedis raw = shared_redis().raw();
    const std::string content = numbered_text(3 << 20);
    storage->open_writer()->write(content);
    CHECK(keys_in_redis(raw, options.key_prefix) == 0);
    testing::stream_to(*storage, "k", content, 1 << 20);
    testing::stream_to(*storage, "k", content, 70'001);  // the same again
    CHECK(errc_of([&] { testing::stream_to(*storage, "k", content + "y", 1 << 20); }) == Errc::already_exists);
    CHECK(errc_of([&] { storage->put_if_absent("k", content + "y"); }) == Errc::already_exists);
    CHECK(keys_in_redis(raw, options.key_prefix) == 4);
    CHECK(storage->remove("k"));
    CHECK(raw.keys(options.key_prefix + "*").empty());
}

TEST_CASE("what a dead writer left in Redis expires, and what lives does not", "[storage][redis]") {
    NEED_REDIS_SERVER();
    auto options = options_of(shared_redis());
    options.unfinished_write_max_age_seconds = 100;
    const std::string died = testing::in_child([&] {
        const auto own_open = redis_storage(options);
        const auto writer = own_open->open_writer();
        writer->write(std::string(3 << 20, 'd'));
        ::_exit(0);  // as if killed
        return std::string();
    });
    RawRedis raw = shared_redis().raw();
    const auto left = raw.keys(options.key_prefix + "*");
    CHECK(left.size() == 2);  // the last chunk was not full
    for (const std::string& name : left) CHECK(raw.number({"TTL", name}) > 90);
    const auto storage = redis_storage(options);
    testing::stream_to(*storage, "k", std::string(3 << 20, 'l'), 1 << 20);
    storage->put_if_absent("l", "short");
    for (const std::string& name : raw.keys(options.key_prefix + "*")) {
        if (std::find(left.begin(), left.end(), name) == left.end()) CHECK(raw.number({"TTL", name}) == -1);
    }
}

TEST_CASE("a stream whose chunks have expired cannot be committed", "[storage][redis]") {
    NEED_REDIS_SERVER();
    const auto options = options_of(shared_redis());
    const auto storage = redis_storage(options);
    const auto writer = storage->open_writer();
    writer->write(std::string(3 << 20, 'x'));
    RawRedis raw = shared_redis().raw();
    raw.run({"DEL", raw.keys(options.key_prefix + "*").front()});
    CHECK(error_of([&] { writer->commit("k"); }) ==
          "put \"k\": a chunk of it is gone: it has expired, or a failover has lost it");
    CHECK_FALSE(storage->get("k"));
}

TEST_CASE("objects in Redis tell when they were stored, and the same content again makes none younger",
          "[storage][redis]") {
    NEED_REDIS_SERVER();
    auto options = options_of(shared_redis());
    const auto clock = std::make_shared<ManualClock>();
    options.clock = clock;
    const auto storage = redis_storage(options);
    clock->set(1'800'000'000'000);
    storage->put_if_absent("small", "1");
    storage->put_if_absent("large", numbered_text(2 << 20));
    clock->set(1'800'000'050'000);
    storage->put_if_absent("small", "1");
    storage->put_if_absent("young", "2");
    std::map<std::string, std::int64_t> times;
    storage->list("", [&](const ObjectInfo& object) {
        CHECK(storage->stat(object.key)->stored_at_seconds == object.stored_at_seconds);
        times[object.key] = object.stored_at_seconds;
        return true;
    });
    CHECK(times == std::map<std::string, std::int64_t>{
                       {"large", 1'800'000'000}, {"small", 1'800'000'000}, {"young", 1'800'000'050}});
}

TEST_CASE("what is older than allowed is absent in Redis, in listings too, and its key is free", "[storage][redis]") {
    NEED_REDIS_SERVER();
    auto options = options_of(shared_redis());
    options.expire_after_seconds = 500;
    const auto storage = redis_storage(options);
    storage->put_if_absent("old", "1");
    storage->put_if_absent("large", numbered_text(2 << 20));
    storage->put_if_absent("young", "2");
    RawRedis raw = shared_redis().raw();
    for (const std::string& name : raw.keys(options.key_prefix + "*:o:*")) CHECK(raw.number({"TTL", name}) > 490);
    for (const std::string& name : raw.keys(options.key_prefix + "*:c:*")) CHECK(raw.number({"TTL", name}) > 550);
    for (const char* key : {"old", "large"}) {
        for (const std::string& name : raw.keys(options.key_prefix + "*:o:" + key))
            raw.run({"DEL", name});  // time goes by
    }
    CHECK_FALSE(storage->get("old"));
    CHECK_FALSE(storage->stat("large"));
    CHECK_FALSE(storage->remove("old"));
    CHECK(testing::keys_below(*storage, "") == std::vector<std::string>{"young"});
    storage->put_if_absent("old", "other content");
    CHECK(storage->get("old") == "other content");
    CHECK(testing::keys_below(*storage, "") == std::vector<std::string>{"old", "young"});
    CHECK(raw.number({"TTL", raw.keys(options.key_prefix + "*:o:young").front()}) > 400);
    storage->put_if_absent("young", "2");  // the same again makes it no younger, nor immortal
    CHECK(raw.number({"TTL", raw.keys(options.key_prefix + "*:o:young").front()}) > 400);
}

TEST_CASE("stores of other prefixes and databases do not meet", "[storage][redis]") {
    NEED_REDIS_SERVER();
    auto options = options_of(shared_redis());
    const auto here = redis_storage(options);
    here->put_if_absent("k", "here");
    options.database = 3;
    const auto there = redis_storage(options);
    CHECK_FALSE(there->get("k"));
    there->put_if_absent("k", "there");
    options.database = 0;
    options.key_prefix = "";
    const auto bare = redis_storage(options);
    CHECK_FALSE(bare->get("k"));
    CHECK(here->get("k") == "here");
    there->remove("k");
}

TEST_CASE("a server on a Unix socket, with a user and a password, shows who we are", "[storage][redis]") {
    NEED_REDIS_SERVER();
    const testing::TempDir dir;
    const RedisServer server({"--unixsocket", dir / "socket", "--user", "agent", "on", ">tiger", "~*", "&*", "+@all"});
    RedisStorageOptions options;
    options.addresses = {"unix:" + (dir / "socket")};
    options.credentials = {.user = "agent", .password = "tiger"};
    options.client_name = "agent-7";
    const auto storage = redis_storage(options);
    storage->put_if_absent("k", "content");
    CHECK(contains(server.raw().run({"CLIENT", "LIST"}), "name=agent-7"));
    CHECK(contains(server.raw().run({"CLIENT", "LIST"}), "user=agent"));
    options.credentials_provider = [] { return RedisCredentials{.user = "agent", .password = "wrong"}; };
    CHECK(contains(error_of([&] { (void)redis_storage(options); }), "WRONGPASS"));
    CHECK(errc_of([&] { (void)redis_storage(options); }) == Errc::storage_failed);
    options.credentials_provider = [] { return RedisCredentials{.user = "agent", .password = "tiger"}; };
    CHECK(redis_storage(options)->get("k") == "content");
}

TEST_CASE(
    "a server that may drop objects is refused, unless that is wanted, and one that does not report it is unverified",
    "[storage][redis]") {
    NEED_REDIS_SERVER();
    const RedisServer server({"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"});
    auto options = options_of(server);
    CHECK(contains(error_of([&] { (void)redis_storage(options); }), "maxmemory-policy is allkeys-lru"));
    options.allow_eviction = true;
    CHECK(redis_storage(options)->unverified_settings().empty());
    options.allow_eviction = false;
    server.raw().run({"ACL", "SETUSER", "quiet", "on", ">q", "~*", "+@all", "-info"});
    options.credentials = {.user = "quiet", .password = "q"};
    const auto unverified_settings = redis_storage(options)->unverified_settings();
    REQUIRE(unverified_settings.size() == 1);
    CHECK(
        contains(unverified_settings.front(), server.address() + ": whether it may drop objects is not known: NOPERM"));
}

TEST_CASE("a server that is out of memory refuses, keeps the rest, and takes again what is freed", "[storage][redis]") {
    NEED_REDIS_SERVER();
    const RedisServer server({"--maxmemory", "12mb"});
    const auto storage = redis_storage(options_of(server));
    storage->put_if_absent("a", std::string(4 << 20, 'a'));
    CHECK(contains(error_of([&] { storage->put_if_absent("b", std::string(16 << 20, 'b')); }), "put \"b\": "));
    CHECK(errc_of([&] { storage->put_if_absent("b", std::string(16 << 20, 'b')); }) == Errc::storage_failed);
    CHECK(storage->get("a") == std::string(4 << 20, 'a'));
    CHECK_FALSE(storage->get("b"));
    CHECK(storage->remove("a"));
    storage->put_if_absent("c", std::string(4 << 20, 'c'));
    CHECK(testing::keys_below(*storage, "") == std::vector<std::string>{"c"});
}

TEST_CASE("a storage from before a fork is refused in the child", "[storage][redis]") {
    NEED_REDIS_SERVER();
    const auto storage = redis_storage(options_of(shared_redis()));
    storage->put_if_absent("k", "content");
    CHECK(contains(testing::in_child([&] { return error_of([&] { (void)storage->get("k"); }); }), "before a fork"));
    CHECK(storage->get("k") == "content");
}

TEST_CASE("more threads than connections wait for their turns", "[storage][redis]") {
    NEED_REDIS_SERVER();
    const RedisServer server;
    auto options = options_of(server);
    options.max_connections = 2;
    const auto storage = redis_storage(options);
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 50; ++i) {
                const std::string key = "k/" + std::to_string(t) + "/" + std::to_string(i);
                storage->put_if_absent(key, key);
                if (storage->get(key) != key) ++wrong;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(testing::keys_below(*storage, "k/").size() == 400);
    CHECK(server.raw().number(
              {"EVAL",
               "local n = 0 for _ in redis.call('CLIENT', 'LIST'):gmatch('name=whittle') do n = n + 1 end return n",
               "0"}) <= 2);
}

TEST_CASE("a listing of many pages is in byte order, while its visitor reads and removes", "[storage][redis]") {
    NEED_REDIS_SERVER();
    auto options = options_of(shared_redis());
    options.max_connections = 1;  // a connection that a listing held would be missed
    const auto storage = redis_storage(options);
    std::vector<std::string> keys;
    for (int i = 0; i < (testing::is_soak() ? 60'000 : 3'000); ++i)
        keys.push_back("a/" + std::to_string(i * 7919 % 100'003) + "-" + std::to_string(i));
    for (const std::string& key : keys) storage->put_if_absent(key, key);
    storage->put_if_absent("b", "");
    std::sort(keys.begin(), keys.end());
    std::vector<std::string> seen;
    storage->list("a/", [&](const ObjectInfo& info) {
        seen.push_back(info.key);
        if (seen.size() % 1'000 == 0) CHECK(storage->get(info.key) == info.key);
        return seen.size() % 2 == 0 || storage->remove(info.key);
    });
    CHECK(seen == keys);
    CHECK(testing::keys_below(*storage, "a/").size() == keys.size() / 2);
}

TEST_CASE("a durable conversation in Redis is resumed elsewhere, and has one writer", "[storage][redis]") {
    NEED_REDIS_SERVER();
    const auto options = options_of(shared_redis());
    {
        auto first = DurableConversation<>::open(redis_storage(options), "chat", {.writer = "one"});
        first->push_back(ChatMessage::user("hello"));
        first.save();
        first.compact_log();
        first->push_back(ChatMessage::assistant("good day"));
        first.save();
        CHECK(errc_of([&] {
                  auto second = DurableConversation<>::open(redis_storage(options), "chat", {.writer = "two"});
                  second->push_back(ChatMessage::user("mine"));
                  second.save();
              }) == Errc::conflict);
        first.release();
    }
    auto resumed = DurableConversation<>::open(redis_storage(options), "chat", {.writer = "two"});
    REQUIRE(resumed->size() == 2);
    CHECK(text_of(resumed->messages()[1], 0) == "good day");
}

TEST_CASE("all bad options of Redis are reported at once", "[storage][redis]") {
    RedisStorageOptions options;
    options.addresses = {"localhost", "unix:relative"};
    options.replicas = -1;
    options.key_prefix = "a{b}";
    options.deadline_ms = 0;
    options.sentinel_primary = "main";
    CHECK(
        error_of([&] { (void)redis_storage(options); }) ==
        "redis_storage: addresses = 2: one, for a single server; addresses = localhost: \"host:port\", \"[v6]:port\" "
        "or "
        "\"unix:/path\"; addresses = unix:relative: \"host:port\", \"[v6]:port\" or \"unix:/path\"; sentinel_primary = "
        "main: nothing, where addresses are no sentinels; key_prefix = a{b}: at most 128 bytes without { and }; "
        "replicas = -1: 0 or more; deadline_ms = 0: 1 or more");
    options = {.topology = RedisTopology::cluster, .database = 2};
    CHECK(error_of([&] { (void)redis_storage(options); }) == "redis_storage: database = 2: 0, in a cluster");
    options = {.topology = RedisTopology::sentinel, .addresses = {"unix:/x", "[::1]:26379"}};
    CHECK(error_of([&] { (void)redis_storage(options); }) ==
          "redis_storage: sentinel_primary: the name of the primary, where addresses are sentinels");
}

TEST_CASE("a server that is not there is told as such, within the deadline", "[storage][redis]") {
    RedisStorageOptions options;
    options.addresses = {"127.0.0.1:1"};
    options.deadline_ms = 100;
    const std::string text = error_of([&] { (void)redis_storage(options); });
    CHECK(contains(text, "redis_storage: not within 100 ms, at last: 127.0.0.1:1: "));
    CHECK(errc_of([&] { (void)redis_storage(options); }) == Errc::storage_failed);
}

namespace {

/// Makes `NAMEcert` and `NAMEkey` of redis.test. False: there is no openssl.
bool make_certificate(const testing::TempDir& dir, const std::string& name = {}) {
    const std::string make =
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=redis.test -addext "
        "subjectAltName=DNS:redis.test -keyout " +
        (dir / (name + "key")) + " -out " + (dir / (name + "cert")) + " 2> " + (dir / "log");
    return std::system(make.c_str()) == 0;
}

std::vector<std::string> tls_arguments(const testing::TempDir& dir, int port, const std::string& wants_clients) {
    return {"--tls-port",     std::to_string(port), "--tls-cert-file",    dir / "cert",
            "--tls-key-file", dir / "key",          "--tls-auth-clients", wants_clients};
}

}  // namespace

TEST_CASE("TLS is spoken where hiredis has it, and refused clearly where not", "[storage][redis]") {
    NEED_REDIS_SERVER();
    RedisStorageOptions options;
    options.tls.enabled = true;
    if (!has_redis_tls()) {
        CHECK(std::getenv("WHITTLE_NEEDS_TLS") == nullptr);  // scripts/redis_tls
        CHECK(errc_of([&] { (void)redis_storage(options); }) == Errc::not_offered);
        CHECK(contains(error_of([&] { (void)redis_storage(options); }),
                       "it needs hiredis 1.0 or newer with hiredis_ssl"));
        return;
    }
    const testing::TempDir dir;
    if (!make_certificate(dir)) SKIP_WITH_MESSAGE("there is no openssl to make a certificate with");
    const int port = testing::free_port();
    const RedisServer server(tls_arguments(dir, port, "no"));
    options.addresses = {"127.0.0.1:" + std::to_string(port)};
    options.tls.ca_file = dir / "cert";
    options.tls.server_name = "redis.test";
    testing::check_conformance(
        [&] {
            options.key_prefix = testing::new_prefix();
            return [options] { return redis_storage(options); };
        },
        {.objects = 50, .rounds = 3});
    const auto store = redis_storage(options);
    const std::string large(3 << 20, 'x');  // in chunks, through records of 16 KiB
    store->put_if_absent("large", large);
    CHECK(store->get("large") == large);
    if (store->unverified_settings().empty()) {  // else hiredis does not compare names, and that is said
        RedisStorageOptions other = options;
        other.deadline_ms = 1'500;
        other.tls.server_name = "else.test";
        CHECK(contains(error_of([&] { (void)redis_storage(other); }), ": TLS: SSL_connect failed: certificate verify"));
    }
    options.deadline_ms = 1'500;
    options.tls.server_name = "";
    CHECK(redis_storage(options)->unverified_settings().size() == 1);
    REQUIRE(make_certificate(dir, "other-"));
    options.tls.ca_file = dir / "other-cert";
    CHECK(contains(error_of([&] { (void)redis_storage(options); }), ": TLS: SSL_connect failed: certificate verify"));
    const RedisServer plain;
    options.addresses = {plain.address()};
    CHECK(contains(error_of([&] { (void)redis_storage(options); }), ": TLS: "));
    options.tls.ca_file = dir / "nothing";
    CHECK(errc_of([&] { (void)redis_storage(options); }) == Errc::storage_failed);
}

TEST_CASE("a server of TLS that wants a certificate of its clients is given one", "[storage][redis]") {
    NEED_REDIS_SERVER();
    if (!has_redis_tls()) SKIP_WITH_MESSAGE("this hiredis has no TLS");
    const testing::TempDir dir;
    if (!make_certificate(dir)) SKIP_WITH_MESSAGE("there is no openssl to make a certificate with");
    const int port = testing::free_port();
    std::vector<std::string> arguments = tls_arguments(dir, port, "yes");
    arguments.insert(arguments.end(), {"--tls-ca-cert-file", dir / "cert"});
    const RedisServer server(arguments);
    RedisStorageOptions options;
    options.addresses = {"127.0.0.1:" + std::to_string(port)};
    options.key_prefix = testing::new_prefix();
    options.deadline_ms = 300;
    options.tls = {.enabled = true, .ca_file = dir / "cert", .server_name = "redis.test"};
    std::string said;  // in whatever way it breaks off, and if the last of the tries came too late
    for (int i = 0; i < 10; ++i) said += error_of([&] { (void)redis_storage(options); });
    CHECK(contains(said, "; the server may want a certificate, or another one"));
    options.tls.certificate_file = dir / "cert";
    options.tls.key_file = dir / "key";
    options.deadline_ms = RedisStorageOptions{}.deadline_ms;
    redis_storage(options)->put_if_absent("key", "text");
    CHECK(redis_storage(options)->get("key") == "text");
    options.tls.enabled = false;
    options.deadline_ms = 300;
    CHECK(errc_of([&] { (void)redis_storage(options); }) == Errc::storage_failed);
}
