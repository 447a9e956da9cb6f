#include "whittle/base/hash.hpp"

#include "../../src/base/sha256_block.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <string>

using namespace whittle;

TEST_CASE("SHA-256 gives the digests of the NIST examples", "[hash]") {
    CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(sha256_hex("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
                     "mnopqrstnopqrstu") == "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    CHECK(sha256_hex(std::string(1'000'000, 'a')) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 does not depend on how the bytes come", "[hash]") {
    std::mt19937 random(3);
    for (std::size_t size = 0; size < 300; ++size) {
        std::string bytes(size, '\0');
        for (char& c : bytes) c = static_cast<char>(random());
        Sha256 in_pieces;
        for (std::size_t at = 0; at < size;) {
            const std::size_t piece = std::min<std::size_t>(size - at, random() % 130);
            in_pieces.update(std::string_view(bytes).substr(at, piece));
            at += piece;
        }
        CHECK(in_pieces.hex_digest() == sha256_hex(bytes));
    }
}

TEST_CASE("the fast hash is MurmurHash3 x64 128", "[hash]") {
    CHECK(hash128("") == Hash128{0, 0});
    CHECK(hash128("hello") == Hash128{0xcbd8a7b341bd9b02U, 0x5b1e906a48ae1d19U});
    CHECK(hash128("The quick brown fox jumps over the lazy dog") == Hash128{0xe34bbc7bbc071b6cU, 0x7a433ca9c49a9347U});
}

namespace {

std::string little_endian(Hash128 hash) {
    std::string bytes;
    for (const std::uint64_t half : {hash.low, hash.high}) {
        for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(half >> shift & 0xff);
    }
    return bytes;
}

}  // namespace

TEST_CASE("the fast hash has the verification value of its author's test suite", "[hash]") {
    std::string key;
    std::string hashes;
    for (unsigned i = 0; i < 256; ++i) {  // keys {}, {0}, {0,1}, ... with seeds 256, 255, ...
        hashes += little_endian(hash128(key, {256 - i, 256 - i}));
        key += static_cast<char>(i);
    }
    CHECK((hash128(hashes).low & 0xffffffffU) == 0x6384BA69U);
}

TEST_CASE("the seed chains hashes of a sequence in its order", "[hash]") {
    const Hash128 ab = hash128("b", hash128("a"));
    CHECK(ab == hash128("b", hash128("a")));
    CHECK(ab != hash128("a", hash128("b")));
    CHECK(hash128("x", {1, 0}) != hash128("x", {0, 1}));
}

TEST_CASE("every length up to three blocks has a hash of its own", "[hash]") {
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
    for (std::size_t size = 0; size <= 48; ++size) {
        const Hash128 hash = hash128(std::string(size, '\0'));
        seen.insert({hash.low, hash.high});
    }
    CHECK(seen.size() == 49);
}

TEST_CASE("the processor's instructions for SHA-256 do what the portable code does", "[base]") {
    if (!has_sha256_instructions()) return;  // this processor has none
    std::mt19937 random(1);
    std::array<std::uint32_t, 8> by_code{};
    for (std::uint32_t& word : by_code) word = static_cast<std::uint32_t>(random());
    std::array<std::uint32_t, 8> by_instructions = by_code;
    std::array<unsigned char, 64> block{};
    for (int round = 0; round < 1'000; ++round) {
        for (unsigned char& byte : block) byte = static_cast<unsigned char>(random());
        compress_sha256(by_code.data(), block.data());
        compress_sha256_x86(by_instructions.data(), block.data());
        REQUIRE(by_code == by_instructions);
    }
}
