// Scripts on servers that know them and on those that do not.
#include "../src/redis_scripts.hpp"

#include "redis_tools.hpp"
#include "support/catch.hpp"

using namespace whittle;
using testing::options_of;
using testing::RawRedis;
using testing::shared_redis;

TEST_CASE("scripts are known to the server by the hash of their text, and sent where they are not",
          "[storage][redis]") {
    NEED_REDIS_SERVER();
    RawRedis raw = shared_redis().raw();
    for (const RedisScript& script : {redis_publish_script, redis_remove_script})
        CHECK(raw.run({"SCRIPT", "LOAD", script.text}) == script.sha1);
    const auto storage = redis_storage(options_of(shared_redis()));
    for (const char* key : {"a", "b"}) {
        REQUIRE(raw.run({"SCRIPT", "FLUSH"}) == "OK");
        storage->put_if_absent(key, "content");
        REQUIRE(raw.run({"SCRIPT", "FLUSH"}) == "OK");
        CHECK(storage->remove(key));
        CHECK_FALSE(storage->get(key));
    }
}
