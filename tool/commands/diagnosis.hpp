#pragma once

#include "commands.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace whittle::cli {

enum class Health { ok, warning, failed };

/// One thing that `doctor` looked at.
struct Symptom {
    Health health = Health::ok;
    std::string topic{};
    std::string text{};
    std::string advice{};  ///< what to do; empty where nothing is to be done
};
using Symptoms = std::vector<Symptom>;

[[nodiscard]] std::string_view to_string(Health health) noexcept;
[[nodiscard]] std::string symptoms_text(const Symptoms& findings);
[[nodiscard]] nlohmann::ordered_json symptoms_json(const Symptoms& findings);

// What is looked at; each adds what it found.

/// The window, the prices and the stages together.
void diagnose_profile(const ChainSettings& settings, Symptoms& findings);
/// Each store that the configuration names: whether it can be written, read back and emptied again. An absent
/// directory is not made.
void diagnose_stores(const ChainSettings& settings, Symptoms& findings);
/// The counter, and the vocabularies that are installed.
void diagnose_vocabularies(const ChainSettings& settings, Symptoms& findings);
/// Whether the cache that figures and triggers go by is that of the provider.
void diagnose_cache(const ChainSettings& settings, Symptoms& findings);
/// Keys, and what a server says of its model, window and template. Only servers on this machine are asked, unless
/// `allow_remote`.
void diagnose_models(const ChainSettings& settings, bool allow_remote, Symptoms& findings);

}  // namespace whittle::cli
