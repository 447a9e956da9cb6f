// What the tests of stores share.
#pragma once

#include "support/catch.hpp"
#include "whittle/base/error.hpp"
#include "whittle/storage/storage.hpp"
#include "whittle/storage_conformance/storage_conformance.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace whittle::testing {

/// The code of the Error that `action` throws; nullopt if it throws none.
template <typename Action>
std::optional<Errc> errc_of(Action&& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.errc();
    }
    return std::nullopt;
}

inline std::vector<std::string> keys_below(Storage& storage, std::string_view prefix) {
    std::vector<std::string> keys;
    storage.list(prefix, [&](const ObjectInfo& info) {
        keys.push_back(info.key);
        return true;
    });
    return keys;
}

/// The conformance suite: every check is kept, none is left out.
inline void check_conformance(const NewStorage& fresh, const StorageConformanceOptions& options = {}) {
    std::size_t checks = 0;
    CHECK(check_storage_conformance(
        fresh,
        [&](const StorageCheckResult& result) {
            ++checks;
            INFO(to_string(result));
            CHECK(result.outcome == StorageCheckOutcome::passed);
        },
        options));
    CHECK(checks == storage_conformance_checks().size());
}

}  // namespace whittle::testing
