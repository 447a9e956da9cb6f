// Objects on a Redis server, shared by agents on many machines. Needs a server: 31_redis_storage 127.0.0.1:6379
#include <whittle/redis/redis_storage.hpp>
#include <whittle/whittle.hpp>

#include <iostream>
#include <string>

using namespace whittle;

namespace {

void share(const std::string& address) {
    // [open]
    RedisStorageOptions options;
    options.addresses = {address};
    options.key_prefix = "whittle-example:";
    options.expire_after_seconds = 3'600;
    const auto storage = redis_storage(options);
    storage->put_if_absent("chat-1/0001-read_log.txt", "line 1\nline 2\n");
    // [/open]
    const auto writer = storage->open_writer();
    for (int i = 0; i < 200'000; ++i) writer->write("a line of a long result\n");
    writer->commit("chat-1/0002-run_tests.txt");  // until here nobody sees it

    const auto other = redis_storage(options);  // as another machine would
    std::cout << other->stat("chat-1/0002-run_tests.txt")->bytes << " bytes, of which "
              << *other->get("chat-1/0002-run_tests.txt", 2'400'002, 4) << '\n';
    try {
        other->put_if_absent("chat-1/0001-read_log.txt", "other");
    } catch (const Error& error) {
        std::cout << to_string(error.errc()) << ": " << error.what() << '\n';
    }
    for (const std::string& setting : storage->unverified_settings()) std::cout << setting << '\n';
    storage->list("chat-1/", [&](const ObjectInfo& object) { return storage->remove(object.key); });
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::cout << "This needs a Redis server. Start one with: redis-server --port 6379\n"
                     "Then run: 31_redis_storage 127.0.0.1:6379\n";
        return 0;
    }
    try {
        share(argv[1]);
    } catch (const Error& error) {
        std::cerr << to_string(error.errc()) << ": " << error.what() << '\n';
        return 1;
    }
}
