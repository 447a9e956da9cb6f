#pragma once

#include "support/catch.hpp"
#include "whittle/config/config_json.hpp"

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace whittle::testing {

/// The rows of a page's tables that the keys of `types` lack there, beside those of the core.
inline std::string undocumented_keys(const ConfigTypes& types, const std::string& page) {
    std::ifstream in(std::string(WHITTLE_SOURCE_DIR) + "/" + page, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    std::set<std::pair<std::string, std::string>> of_core;
    for (const ConfigKey& key : config_keys()) of_core.emplace(key.path, key.only_for_type);
    std::string missing;
    for (const ConfigKey& key : config_keys(types)) {
        const std::string fallback = key.documented_default.empty() ? std::string("empty") : key.documented_default;
        const std::string row = "| `" + key.path + "` | " + key.type + " | " + fallback + " | " + key.meaning + " |\n";
        if (!of_core.contains({key.path, key.only_for_type}) && text.find(row) == std::string::npos) missing += row;
    }
    return missing;
}

}  // namespace whittle::testing
