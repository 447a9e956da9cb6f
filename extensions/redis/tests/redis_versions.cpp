// What earlier versions of the layout wrote is read: bytes that are never changed.
#include "../src/redis_layout.hpp"

#include "support/catch.hpp"

using namespace whittle;

TEST_CASE("an object's header and name of version 1 are read, and are what is still written", "[redis]") {
    const std::string bytes =
        "whr1 000000000000000e 9060554863a62b9db5f726216876654e561896071d2e6480f2048b70e0fdadb9 "
        "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb 66 000000006b49d200 0e2f91ff3e1f5efb\n";
    const RedisHeader header{
        .fingerprint = {.bytes = 14, .sha256 = "9060554863a62b9db5f726216876654e561896071d2e6480f2048b70e0fdadb9"},
        .id = std::string(32, 'b'),
        .shard = 102,
        .stored_at_seconds = 1'800'000'000};
    CHECK(read_redis_header(bytes + "line 1\nline 2\n", "chat/clear/c1") == header);
    CHECK(to_bytes(header, "chat/clear/c1") == bytes);
    CHECK(RedisNames("whittle:").object("chat/clear/c1") == "whittle:{410}:o:chat/clear/c1");
}
