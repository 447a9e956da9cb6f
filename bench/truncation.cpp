// What shortening a tool result costs, and that its memory does not grow with the result.
//
// Truncation: a result is written in chunks of 64 KiB into a store in memory and into a file store without syncing, for
// sizes from 64 KiB to 64 MiB; the yardstick is memcpy of the same bytes. Cold is the first run, warm the median of the
// next ones. Clearing: one commit over all old rounds of a history; the yardstick is a hook run in which nothing is
// due. With the argument `1GiB` it streams that much into a file store and prints the growth of the resident set.
#include "history.hpp"
#include "tool_run.hpp"

#include <whittle/whittle.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace whittle;
using Seconds = std::chrono::duration<double>;

double time_of(auto&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return Seconds(std::chrono::steady_clock::now() - start).count();
}

struct Times {
    double cold = 0;
    double warm = 0;
};

Times measure(int runs, auto&& work) {
    Times times{.cold = time_of(work)};
    std::vector<double> all;
    for (int i = 0; i < runs; ++i) all.push_back(time_of(work));
    std::ranges::sort(all);
    times.warm = all[all.size() / 2];
    return times;
}

class NullSink final : public PartSink {
public:
    void write(std::string_view text) override { bytes += text.size(); }
    void push(Part part) override { bytes += part.text.size(); }
    void mark_stored(StoredPart) override {}
    std::size_t bytes = 0;
};

constexpr std::size_t chunk_bytes = 64 << 10;

const std::string& chunk() {
    static const std::string text = bench::lines_of(chunk_bytes);
    return text;
}

void run_tool(const Chain<>& chain, const std::string& name, std::size_t bytes) {
    NullSink sink;
    bench::run_tool(chain, name, sink, [&](PartSink& out) {
        for (std::size_t done = 0; done < bytes; done += chunk_bytes) out.write(chunk());
    });
}

void copy_all(const std::vector<char>& from, std::vector<char>& to) {
    std::memcpy(to.data(), from.data(), from.size());
    asm volatile("" : : "r"(to.data()) : "memory");
}

void print_truncation(const char* title, const std::function<std::shared_ptr<Storage>()>& make_storage) {
    std::printf("truncation into %s\n%12s %12s %12s %14s %10s\n", title, "bytes", "cold MB/s", "warm MB/s",
                "memcpy MB/s", "of memcpy");
    for (std::size_t bytes = 64 << 10; bytes <= 64u << 20; bytes *= 8) {
        const Chain chain{ChainConfig{.storage = make_storage()}, Reduction{}};
        int run = 0;
        const auto mega = [&](double seconds) { return static_cast<double>(bytes) / 1e6 / seconds; };
        const Times ours = measure(5, [&] { run_tool(chain, "r" + std::to_string(run++), bytes); });
        const std::vector<char> from(bytes, 'x');
        std::vector<char> to(bytes);
        const Times copy = measure(5, [&] { copy_all(from, to); });
        std::printf("%12zu %12.0f %12.0f %14.0f %9.3fx\n", bytes, mega(ours.cold), mega(ours.warm), mega(copy.warm),
                    copy.warm / ours.warm);
    }
    std::printf("\n");
}

void print_clearing() {
    std::printf("clearing all old rounds in one commit, results of 2,000 bytes\n%10s %12s %14s %14s %14s\n", "messages",
                "commit ms", "us per result", "growth of it", "undue hook us");
    double smallest = 0;
    for (const std::size_t messages : {1'000u, 10'000u, 100'000u}) {
        const Chain due{ChainConfig{.storage = memory_storage()}, Reduction{{.max_tokens_for_clear = 1'000}}};
        const Chain undue{ChainConfig{.storage = memory_storage()}, Reduction{{.max_tokens_for_clear = 1'000'000'000}}};
        Conversation<> conversation = bench::history_of(messages, 2'000);
        undue.before_model(conversation);
        const Times idle = measure(101, [&] { undue.before_model(conversation); });
        const double seconds = time_of([&] { due.before_model(conversation); });
        const double each = seconds * 1e6 / (static_cast<double>(messages) / 2);
        if (smallest == 0) smallest = each;
        std::printf("%10zu %12.1f %14.2f %13.2fx %14.3f\n", messages, seconds * 1e3, each, each / smallest,
                    idle.warm * 1e6);
    }
    std::printf("\n");
}

/// Kilobytes: now, or at the most so far.
long resident(const std::string& field) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(field)) return std::stol(line.substr(field.size()));
    }
    return 0;
}

struct ScratchDirectory {
    std::filesystem::path path = std::filesystem::temp_directory_path() / ("whittle-bench-" + random_ids()->next());
    ScratchDirectory() {
        std::filesystem::create_directory(path);
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    }
    ~ScratchDirectory() { std::filesystem::remove_all(path); }
};

std::shared_ptr<Storage> unsynced_files(const ScratchDirectory& scratch) {
    return file_storage(scratch.path.string(), {.durability = Durability::none});
}

/// 0 if the growth stays within 16 MiB and the object is whole.
int stream_one_gibibyte() {
    constexpr std::size_t bytes = std::size_t{1} << 30;
    const ScratchDirectory scratch;
    const Chain chain{ChainConfig{.storage = unsynced_files(scratch)}, Reduction{}};
    run_tool(chain, "warm-up", 1 << 20);
    const long before = resident("VmRSS:");
    const double seconds = time_of([&] { run_tool(chain, "large", bytes); });
    const long growth = resident("VmHWM:") - before;
    const auto info = chain.config().storage->stat("bench/trunc/large");
    const bool is_whole = info && info->bytes == static_cast<std::int64_t>(bytes);
    std::printf("1 GiB streamed in %.1f s (%.0f MB/s): resident set grew by %ld KiB at most, object %s\n", seconds,
                static_cast<double>(bytes) / 1e6 / seconds, growth, is_whole ? "whole" : "NOT WHOLE");
    return is_whole && growth <= 16 * 1024 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "1GiB") return stream_one_gibibyte();
    print_truncation("memory", [] { return memory_storage(); });
    const ScratchDirectory scratch;
    print_truncation("files, not synced", [&] { return unsynced_files(scratch); });
    print_clearing();
    return 0;
}
