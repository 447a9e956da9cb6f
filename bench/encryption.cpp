// What does an encrypted store cost over the store that it encrypts, for put and get? Over memory, which costs least,
// and so shows most. Rounds by turns, best of all. bench_encryption
#include "store_times.hpp"

#include <whittle/encryption/encrypted_storage.hpp>

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace whittle;
using bench::random_bytes;

namespace {

constexpr int rounds = 7;

void measure_store(bench::StoreTimes& best, Storage& storage, int count, const std::string& content) {
    bench::measure_round(
        best, "conversation", count, content,
        [&](const std::string& key, const std::string& value) { storage.put_if_absent(key, value); },
        [&](const std::string& key) { return storage.get(key).value(); });
}

void measure_size(std::size_t bytes, int count) {
    const std::string key = new_encryption_key();
    const EncryptionOptions options{.current_key =
                                        [&] {
                                            return EncryptionKey{"k", key};
                                        },
                                    .find_key =
                                        [&](std::string_view) {
                                            return EncryptionKey{"k", key};
                                        }};
    const std::string content = random_bytes(bytes);
    bench::StoreTimes ours, bare;
    double hash = std::numeric_limits<double>::max();
    for (int round = 0; round < rounds; ++round) {
        measure_store(ours, *encrypted_storage(memory_storage(), options), count, content);
        measure_store(bare, *memory_storage(), count, content);
        bench::measure_hash(hash, content);
    }
    fmt::print("{}", bench::rows_of(ours, bare, hash, count, bytes));
}

}  // namespace

int main() {
    fmt::print("best of {} rounds, time of one object; bare is memory alone, hash is SHA-256 alone, as a part of it\n",
               rounds);
    measure_size(1'024, 5'000);
    measure_size(65'536, 500);
    measure_size(1 << 20, 50);
    measure_size(64 << 20, 2);
}
