#include "check_run.hpp"

#include <algorithm>
#include <cstring>

namespace whittle::inline v0 {
namespace {

constexpr std::int64_t piece_bytes = 1 << 20;

/// Bytes `offset` to `offset + bytes` of an endless content that repeats itself nowhere soon: each word of 8 bytes is a
/// mix of its number and `seed`.
std::string made_content(std::int64_t offset, std::int64_t bytes, std::uint64_t seed) {
    const auto before = static_cast<std::size_t>(offset % 8);
    const std::size_t words = (before + static_cast<std::size_t>(bytes) + 7) / 8;
    std::string content(words * 8, '\0');
    for (std::size_t at = 0; at < words; ++at) {
        std::uint64_t word = (static_cast<std::uint64_t>(offset / 8) + at + seed) * 0x9e3779b97f4a7c15U;
        word ^= word >> 29;
        std::memcpy(content.data() + at * 8, &word, 8);
    }
    return content.substr(before, static_cast<std::size_t>(bytes));
}

/// Sizes around those at which stores divide what they keep.
void sizes_come_back(CheckRun& run) {
    int number = 0;
    for (const std::int64_t block : {1, 16, 256, 512, 4'096, 8'192, 16'384, 65'536, 1 << 20}) {
        for (const std::int64_t bytes : {block - 1, block, block + 1}) {
            const std::string content = made_content(0, bytes, 1);
            const std::string key = fmt::format("s/{}-{}", block, bytes);
            run.put(key, content, run.streams() ? number++ % 4 : 0);
            run.expect_content(key, run.storage().get(key), content);
            run.expect_content(key + ", its end", run.storage().get(key, bytes / 2),
                               content.substr(content.size() / 2));
            run.expect_bytes(key, bytes);
        }
    }
}

void write_large(CheckRun& run, std::string_view key, std::int64_t bytes, std::uint64_t seed_of_last) {
    const auto seed_at = [&](std::int64_t at) { return at + piece_bytes >= bytes ? seed_of_last : 1; };
    if (!run.streams()) {
        std::string content;
        for (std::int64_t at = 0; at < bytes; at += piece_bytes)
            content += made_content(at, std::min(piece_bytes, bytes - at), seed_at(at));
        return run.put(key, content);
    }
    const auto writer = run.storage().open_writer();
    for (std::int64_t at = 0; at < bytes; at += piece_bytes)
        writer->write(made_content(at, std::min(piece_bytes, bytes - at), seed_at(at)));
    writer->commit(key);
}

/// Read by ranges that begin nowhere where a piece did.
void large_object_comes_back(CheckRun& run) {
    const std::int64_t bytes = run.options().large_bytes;
    write_large(run, "large", bytes, 1);
    run.expect_bytes("large", bytes);
    constexpr std::int64_t step = piece_bytes - 7;
    for (std::int64_t at = 0; at < bytes; at += step) {
        const std::int64_t wanted = std::min(step, bytes - at);
        run.expect_content(fmt::format("get at {}", at), run.storage().get("large", at, step),
                           made_content(at, wanted, 1));
    }
    run.expect_content("get at the end", run.storage().get("large", bytes, step), "");
}

void large_object_is_written_once(CheckRun& run) {
    const std::int64_t bytes = run.options().large_bytes;
    write_large(run, "large", bytes, 1);
    write_large(run, "large", bytes, 1);
    run.expect_error("other content of the same length", Errc::already_exists,
                     [&] { write_large(run, "large", bytes, 2); });
    run.expect_error("one byte less", Errc::already_exists, [&] { write_large(run, "large", bytes - 1, 1); });
    run.expect_bytes("large", bytes);
}

}  // namespace

StorageChecks checks_of_sizes() {
    return {
        {"objects of all sizes come back", CheckNeeds::nothing, sizes_come_back},
        {"a large object comes back by ranges", CheckNeeds::nothing, large_object_comes_back},
        {"a large object is written once", CheckNeeds::nothing, large_object_is_written_once},
    };
}

}  // namespace whittle::inline v0
