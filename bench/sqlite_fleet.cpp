// Do 16 agents in 4 processes get along on one SQLite file? Each stores results of 200 bytes to 64 KiB as fast as it
// can, and reads some back. Prints latencies and what was refused; fails if an acknowledged object is not there, or is
// not whole. bench_sqlite_fleet [objects of each agent] [none|data|full] [wait, ms]
#include <whittle/base/error.hpp>
#include <whittle/sqlite/sqlite_storage.hpp>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace whittle;

namespace {

constexpr int processes = 4;
constexpr int agents_in_each = 4;

struct Fleet {
    std::string folder{};
    int objects = 1'000;
    SqliteStorageOptions options{};

    [[nodiscard]] std::string store() const { return folder + "/objects.db"; }
    [[nodiscard]] std::string log_of(int agent) const { return fmt::format("{}/agent-{}", folder, agent); }
};

std::string key_of(int agent, int object) { return fmt::format("agent-{}/{:06}", agent, object); }

/// A function of both, so that everybody knows it.
std::string content_of(int agent, int object) {
    std::mt19937 random(static_cast<unsigned>(agent * 1'000'003 + object));
    const std::size_t bytes = 200 + (random() & ((std::size_t{1} << (8 + random() % 9)) - 1));
    return std::string(bytes, static_cast<char>('a' + object % 26)).replace(0, 20, fmt::format("{:20}", random()));
}

std::int64_t microseconds_of(const auto& work) {
    const auto begun = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begun).count();
}

/// A line for each object: "put <microseconds>", "get <microseconds>", or "refused <object>".
void be_agent(const Fleet& fleet, Storage& storage, int agent) {
    std::ofstream log(fleet.log_of(agent));
    for (int object = 0; object < fleet.objects; ++object) {
        const std::string content = content_of(agent, object);
        try {
            log << "put " << microseconds_of([&] { storage.put_if_absent(key_of(agent, object), content); }) << '\n';
        } catch (const Error& error) {
            log << "refused " << object << '\n';
        }
        if (object % 5 == 4)
            log << "get " << microseconds_of([&] { (void)storage.get(key_of(agent, object / 2)); }) << '\n';
    }
}

[[noreturn]] void be_process(const Fleet& fleet, int process) {
    int status = 0;
    try {
        const auto storage = sqlite_storage(fleet.store(), fleet.options);
        std::vector<std::thread> agents;
        for (int i = 0; i < agents_in_each; ++i)
            agents.emplace_back([&, i] { be_agent(fleet, *storage, process * agents_in_each + i); });
        for (std::thread& agent : agents) agent.join();
    } catch (const std::exception& error) {
        fmt::print(stderr, "process {}: {}\n", process, error.what());
        status = 1;
    }
    ::_exit(status);
}

struct Seen {
    std::vector<std::int64_t> puts{};
    std::vector<std::int64_t> gets{};
    std::vector<bool> refused{};
};

Seen read_log(const Fleet& fleet, int agent) {
    Seen seen;
    seen.refused.resize(static_cast<std::size_t>(fleet.objects));
    std::ifstream log(fleet.log_of(agent));
    std::string what;
    for (std::int64_t value = 0; log >> what >> value;) {
        if (what == "put") seen.puts.push_back(value);
        if (what == "get") seen.gets.push_back(value);
        if (what == "refused") seen.refused[static_cast<std::size_t>(value)] = true;
    }
    return seen;
}

void print_latencies(std::string_view what, std::vector<std::int64_t>& times) {
    std::sort(times.begin(), times.end());
    const auto at = [&](double part) {
        return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
    };
    if (times.empty()) return;
    fmt::print("{}: {} times, p50 {} us, p99 {} us, p99.9 {} us, longest {} us\n", what, times.size(), at(.5), at(.99),
               at(.999), times.back());
}

/// How many acknowledged objects are lost or not whole.
int count_lost(const Fleet& fleet, Storage& storage, int agent, const Seen& seen) {
    int lost = 0;
    for (int object = 0; object < fleet.objects; ++object) {
        if (seen.refused[static_cast<std::size_t>(object)]) continue;
        lost += storage.get(key_of(agent, object)) != content_of(agent, object) ? 1 : 0;
    }
    return lost;
}

bool run_fleet(const Fleet& fleet) {
    const auto begun = std::chrono::steady_clock::now();
    std::vector<pid_t> children;
    for (int process = 0; process < processes; ++process) {
        const pid_t child = ::fork();
        if (child == 0) be_process(fleet, process);
        children.push_back(child);
    }
    bool well = true;
    for (const pid_t child : children) {
        int status = 0;
        well &= ::waitpid(child, &status, 0) == child && status == 0;
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();

    Seen all;
    int lost = 0;
    std::ptrdiff_t refused = 0;
    const auto storage = sqlite_storage(fleet.store());
    for (int agent = 0; agent < processes * agents_in_each; ++agent) {
        const Seen seen = read_log(fleet, agent);
        all.puts.insert(all.puts.end(), seen.puts.begin(), seen.puts.end());
        all.gets.insert(all.gets.end(), seen.gets.begin(), seen.gets.end());
        refused += std::count(seen.refused.begin(), seen.refused.end(), true);
        lost += count_lost(fleet, *storage, agent, seen);
    }
    print_latencies("put", all.puts);
    print_latencies("get", all.gets);
    const std::size_t problems = storage->verify().size();
    fmt::print("{:.0f} puts in a second; {} refused, {} acknowledged and lost, {} problems in the file\n",
               static_cast<double>(all.puts.size()) / seconds, refused, lost, problems);
    return well && lost == 0 && problems == 0 && !all.puts.empty();
}

}  // namespace

int main(int argc, char** argv) {
    Fleet fleet;
    fleet.folder = (std::filesystem::temp_directory_path() / "whittle-bench-XXXXXX").string();
    if (::mkdtemp(fleet.folder.data()) == nullptr) return 1;
    if (argc > 1) fleet.objects = std::atoi(argv[1]);
    const std::string_view asked = argc > 2 ? argv[2] : "data";
    fleet.options.durability = asked == "none"   ? Durability::none
                               : asked == "full" ? Durability::full
                                                 : Durability::data;
    if (argc > 3) fleet.options.busy_timeout_ms = std::atoi(argv[3]);
    fmt::print("{} agents in {} processes, {} objects each, durability {}\n", processes * agents_in_each, processes,
               fleet.objects, asked);
    const bool well = run_fleet(fleet);
    std::filesystem::remove_all(fleet.folder);
    return well ? 0 : 1;
}
