#include "redis_layout.hpp"

#include "whittle/base/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace whittle::inline v0 {
namespace {

constexpr int redis_slots = 16'384;
constexpr int slots_of_a_shard = redis_slots / redis_shards;
constexpr std::string_view header_magic = "whr1";

constexpr std::array<std::uint16_t, 256> crc16_table = [] {
    std::array<std::uint16_t, 256> table{};
    for (unsigned byte = 0; byte < table.size(); ++byte) {
        unsigned value = byte << 8;
        for (int bit = 0; bit < 8; ++bit) value = (value << 1) ^ ((value & 0x8000) != 0 ? 0x1021U : 0U);
        table[byte] = static_cast<std::uint16_t>(value);
    }
    return table;
}();

unsigned crc16(std::string_view bytes) noexcept {
    unsigned value = 0;
    for (const char byte : bytes)
        value = ((value << 8) ^ crc16_table[((value >> 8) ^ static_cast<unsigned char>(byte)) & 0xff]) & 0xffff;
    return value;
}

std::vector<std::string> tags_of_shards() {
    std::vector<std::string> tags(redis_shards);
    int missing = redis_shards;
    for (int number = 0; missing > 0; ++number) {
        const std::string text = std::to_string(number);
        std::string& tag = tags[static_cast<std::size_t>(redis_slot_of(text) / slots_of_a_shard)];
        if (!tag.empty()) continue;
        tag = text;
        --missing;
    }
    return tags;
}

std::string mark_of_header(std::string_view fields, std::string_view key) {
    return fmt::format("{:016x}", hash128(key, hash128(fields)).low);
}

template <typename Number>
bool read_number(std::string_view digits, Number& number, int base) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    return error == std::errc() && end == digits.data() + digits.size();
}

}  // namespace

int redis_slot_of(std::string_view hash_tag) noexcept { return static_cast<int>(crc16(hash_tag) % redis_slots); }
int redis_shard_of(std::string_view key) noexcept { return static_cast<int>(crc16(key) % redis_shards); }

const std::string& redis_tag_of(int shard) {
    static const std::vector<std::string> tags = tags_of_shards();
    return tags.at(static_cast<std::size_t>(shard));
}

int redis_slot_of_shard(int shard) { return redis_slot_of(redis_tag_of(shard)); }

std::string to_bytes(const RedisHeader& header, std::string_view key) {
    const std::string fields =
        fmt::format("{} {:016x} {} {} {:02x} {:016x} ", header_magic, header.fingerprint.bytes,
                    header.fingerprint.sha256, header.id, header.shard, header.stored_at_seconds);
    return fields + mark_of_header(fields, key) + '\n';
}

std::optional<RedisHeader> read_redis_header(std::string_view value, std::string_view key) {
    constexpr std::size_t bytes_at = header_magic.size() + 1, sha_at = bytes_at + 17, id_at = sha_at + 65;
    constexpr std::size_t shard_at = id_at + 33, stored_at = shard_at + 3;
    constexpr std::size_t mark_at = stored_at + 17;
    static_assert(mark_at + 17 == redis_header_bytes);
    if (value.size() < redis_header_bytes || !value.starts_with(header_magic)) return std::nullopt;
    if (value.substr(mark_at, 16) != mark_of_header(value.substr(0, mark_at), key)) return std::nullopt;
    RedisHeader header{.fingerprint = {.sha256 = std::string(value.substr(sha_at, 64))},
                       .id = std::string(value.substr(id_at, 32))};
    if (!read_number(value.substr(bytes_at, 16), header.fingerprint.bytes, 16) ||
        !read_number(value.substr(shard_at, 2), header.shard, 16) ||
        !read_number(value.substr(stored_at, 16), header.stored_at_seconds, 16) || header.stored_at_seconds < 0 ||
        header.fingerprint.bytes < 0 || redis_chunks_of(header.fingerprint.bytes) > redis_most_chunks)
        return std::nullopt;
    return header;
}

std::string RedisNames::in_shard(int shard, char kind, std::string_view rest) const {
    return fmt::format("{}{{{}}}:{}{}{}", prefix_, redis_tag_of(shard), kind, rest.empty() ? "" : ":", rest);
}

std::string RedisNames::object(std::string_view key) const { return in_shard(redis_shard_of(key), 'o', key); }
std::string RedisNames::chunk(int shard, std::string_view id, std::int64_t number) const {
    return in_shard(shard, 'c', fmt::format("{}:{}", id, number));
}
std::string RedisNames::index(int shard) const { return in_shard(shard, 'i', ""); }
std::string RedisNames::touch(int shard) const { return in_shard(shard, 't', ""); }

std::vector<std::string> RedisNames::chunks(const RedisHeader& header) const {
    std::vector<std::string> names;
    for (std::int64_t number = 0; number < redis_chunks_of(header.fingerprint.bytes); ++number)
        names.push_back(chunk(header.shard, header.id, number));
    return names;
}

std::string to_bytes(const RedisEntry& entry) {
    std::string member = entry.key;
    member += '\0';
    member += fmt::format("{} {}", entry.bytes, entry.stored_at_seconds);
    if (entry.may_expire) member += 'e';
    return member;
}

std::optional<RedisEntry> read_redis_entry(std::string_view member) {
    const std::size_t end = member.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view digits = member.substr(end + 1);
    RedisEntry entry{.key = std::string(member.substr(0, end)), .may_expire = digits.ends_with('e')};
    if (entry.may_expire) digits.remove_suffix(1);
    const std::size_t space = std::min(digits.find(' '), digits.size());
    if (!read_number(digits.substr(0, space), entry.bytes, 10) || entry.bytes < 0) return std::nullopt;
    if (!read_number(digits.substr(std::min(space + 1, digits.size())), entry.stored_at_seconds, 10))
        return std::nullopt;
    return entry;
}

}  // namespace whittle::inline v0
