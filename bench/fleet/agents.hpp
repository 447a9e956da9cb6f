// Agents that store results as fast as they can, many in a process, and what became of each result.
#pragma once

#include <whittle/storage/storage.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace whittle::bench {

constexpr int fleet_processes = 4;
constexpr int agents_in_each = 4;

struct Fleet {
    std::string folder{};                              ///< of the agents' notes
    int objects = 1'000;                               ///< of each agent
    std::function<std::shared_ptr<Storage>()> open{};  ///< called in each process
};

/// Of all agents.
struct FleetNotes {
    std::vector<std::int64_t> puts{};  ///< microseconds, also of what was refused
    std::vector<std::int64_t> gets{};
    std::int64_t refused = 0;                       ///< tries
    std::int64_t taken_later = 0;                   ///< objects that were refused at first
    std::map<std::string, int> reasons{};           ///< of refusals, without their numbers
    std::vector<std::vector<bool>> acknowledged{};  ///< by agent and object
};

/// Starts the processes. Call it before there are threads.
[[nodiscard]] std::vector<int> start_fleet(const Fleet& fleet);

/// Whether all ended well.
[[nodiscard]] bool wait_for_fleet(const std::vector<int>& children);

[[nodiscard]] FleetNotes read_notes(const Fleet& fleet);

/// How many acknowledged objects are not there, or not whole.
[[nodiscard]] std::int64_t count_lost(const Fleet& fleet, Storage& storage, const FleetNotes& notes);

}  // namespace whittle::bench
