#pragma once

#include "whittle/storage/storage.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// Opens one store: what is written through one of its results is read through every other. May give the same pointer
/// again where a store cannot be opened twice. Called from several threads at once.
using OpenStorage = std::function<std::shared_ptr<Storage>()>;

/// Makes a place for a new, empty store, such as a directory, and returns what opens it. Called once for each check;
/// the place may go when the result goes.
using NewStorage = std::function<OpenStorage()>;

/// How hard a store is tried.
struct StorageConformanceOptions {
    std::int64_t large_bytes = 1'000'003;  ///< of the largest object; in pieces of 1 MiB where the store streams
    int objects = 300;                     ///< objects in the longest listing
    int threads = 4;                       ///< at once, and opens of one store at once
    int rounds = 25;                       ///< steps of each thread
    std::string_view only{};               ///< the name of one check; empty: all
};

/// What came of a check.
enum class StorageCheckOutcome {
    passed,
    failed,
    not_offered,  ///< `list` or `remove` throws Error(not_offered), or `open_writer` is null, and the check needs it
};

/// One check, and what came of it.
struct StorageCheckResult {
    std::string_view name{};  ///< a sentence: what is promised; lives as long as the program
    StorageCheckOutcome outcome = StorageCheckOutcome::passed;  ///< what came of it
    std::vector<std::string> failures{};                        ///< one line each, at most 20
};

/// The names of all checks, in the order in which they run.
[[nodiscard]] std::vector<std::string_view> storage_conformance_checks();

/// Keys that every store refuses with Error(invalid_key): absolute, climbing, hidden, empty, too long, with bytes
/// outside of the alphabet, look-alikes.
[[nodiscard]] std::vector<std::string> refused_storage_keys();

/// Checks every promise that docs/storage.md makes for any store, each on a new one, and tells each result. True if
/// none failed. What the store throws is a failure of the check; what `fresh` or `report` throws gets out. Starts
/// `options.threads` threads at a time and waits for them. Throws Error(invalid_config) for a size or count below 1,
/// Error(not_found) if `options.only` is no check.
[[nodiscard]] bool check_storage_conformance(const NewStorage& fresh,
                                             const std::function<void(const StorageCheckResult&)>& report,
                                             const StorageConformanceOptions& options = {});

/// "passed: name", or "FAILED: name" and a line for each failure.
[[nodiscard]] std::string to_string(const StorageCheckResult& result);

}  // namespace whittle::inline v0
