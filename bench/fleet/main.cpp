// Do 16 agents in 4 processes get along on one store, and is anything lost that was acknowledged? Each stores results
// of 200 bytes to 64 KiB as fast as it can, reads some back, and tries again what was refused. Prints latencies, and
// what was refused; fails if an acknowledged object is not there, or is not whole. bench_fleet sqlite|redis|cluster
// [objects of each agent] [durability, as the store names it]
#include "agents.hpp"
#include "stores.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace whittle;
using namespace whittle::bench;

namespace {

void print_latencies(std::string_view what, std::vector<std::int64_t>& times) {
    std::sort(times.begin(), times.end());
    const auto at = [&](double part) {
        return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
    };
    if (times.empty()) return;
    fmt::print("{}: {} times, p50 {} us, p99 {} us, p99.9 {} us, longest {} us\n", what, times.size(), at(.5), at(.99),
               at(.999), times.back());
}

void print_refusals(const FleetNotes& notes) {
    std::vector<std::pair<int, std::string>> reasons;
    for (const auto& [reason, times] : notes.reasons) reasons.emplace_back(times, reason);
    std::sort(reasons.rbegin(), reasons.rend());
    if (reasons.size() > 8) reasons.resize(8);
    for (const auto& [times, reason] : reasons) fmt::print("  {} times: {}\n", times, reason);
}

bool run_fleet(const Fleet& fleet, FleetStore& store) {
    const auto begun = std::chrono::steady_clock::now();
    const std::vector<int> children = start_fleet(fleet);
    std::atomic<bool> is_over = false;
    std::atomic<bool> is_disturbed = true;
    std::thread disturber([&] {
        try {
            store.disturb(is_over);
        } catch (const std::exception& error) {
            fmt::print(stderr, "what happens to the store meanwhile ended: {}\n", error.what());
            is_disturbed = false;
        }
    });
    const bool well = wait_for_fleet(children);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    is_over = true;
    disturber.join();

    FleetNotes notes = read_notes(fleet);
    std::int64_t acknowledged = 0;
    for (const auto& agent : notes.acknowledged) acknowledged += std::count(agent.begin(), agent.end(), true);
    print_latencies("put", notes.puts);
    print_latencies("get", notes.gets);
    fmt::print("{:.0f} puts in a second; {} objects acknowledged, {} refused at first and taken later, {} refusals\n",
               static_cast<double>(acknowledged) / seconds, acknowledged, notes.taken_later, notes.refused);
    print_refusals(notes);
    const std::int64_t lost = count_lost(fleet, *fleet.open(), notes);
    const std::size_t problems = store.problems();
    fmt::print("{} acknowledged and lost, {} problems in the store\n", lost, problems);
    return well && is_disturbed && lost == 0 && problems == 0 && acknowledged > 0;
}

bool try_fleet(const std::string& kind, int objects, const std::string& durability) {
    std::string folder = (std::filesystem::temp_directory_path() / "whittle-bench-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return false;
    bool well = false;
    try {
        const auto store = make_fleet_store(kind, folder, durability);
        fmt::print("{}: {} agents in {} processes, {} objects each\n", kind, fleet_processes * agents_in_each,
                   fleet_processes, objects);
        well = run_fleet({.folder = folder, .objects = objects, .open = [&] { return store->open(); }}, *store);
    } catch (const std::exception& error) {
        fmt::print(stderr, "bench_fleet: {}\n", error.what());
    }
    std::filesystem::remove_all(folder);
    return well;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        fmt::print(stderr, "bench_fleet sqlite|redis|cluster [objects of each agent] [durability]\n");
        return 2;
    }
    return try_fleet(argv[1], argc > 2 ? std::atoi(argv[2]) : 1'000, argc > 3 ? argv[3] : "") ? 0 : 1;
}
