#include "diagnosis.hpp"

#include "shown.hpp"
#include "system.hpp"
#include "table.hpp"
#include "tool_models.hpp"
#include "whittle/tiktoken/vocabulary.hpp"

#include "whittle/anthropic/anthropic_model.hpp"
#if WHITTLE_HAVE_ENCRYPTION
#    include "whittle/encryption/encrypted_store_type.hpp"
#endif

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <system_error>

namespace whittle::cli {

std::string_view to_string(Health health) noexcept {
    constexpr std::array<std::string_view, 3> names{"ok", "warning", "failed"};
    return names[static_cast<std::size_t>(health)];
}

std::string symptoms_text(const Symptoms& findings) {
    std::string text;
    for (const Symptom& finding : findings) {
        text += fmt::format("{:<9}{}: {}\n", to_string(finding.health), shown(finding.topic), shown(finding.text));
        if (!finding.advice.empty()) text += fmt::format("{:<9}> {}\n", "", shown(finding.advice));
    }
    return text;
}

nlohmann::ordered_json symptoms_json(const Symptoms& findings) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Symptom& finding : findings)
        list.push_back({{"health", to_string(finding.health)},
                        {"topic", finding.topic},
                        {"text", finding.text},
                        {"advice", finding.advice}});
    return list;
}

void diagnose_profile(const ChainSettings& settings, Symptoms& findings) {
    const ModelProfile& profile = settings.config.profile;
    if (profile.context_window > 0) {
        findings.push_back({Health::ok, "window", fmt::format("{} tokens", grouped(profile.context_window))});
    } else {
        findings.push_back({Health::warning, "window", "unknown: settings that are parts of it do nothing",
                            "set profile.context_window, or --window with a preset"});
    }
    if (settings.stages.empty())
        findings.push_back({Health::warning, "middlewares", "none: every request is sent whole",
                            R"(begin with {"preset": "recommended"})"});
}

namespace {

/// Every place that the configuration stores to.
std::vector<const StorageSettings*> storages_of(const ChainSettings& settings) {
    std::vector<const StorageSettings*> storages;
    const auto add = [&](const StorageSettings& storage) {
        if (storage.type.empty()) return;
        const auto is_same = [&](const StorageSettings* other) {
            return other->type == storage.type && other->place == storage.place;
        };
        if (std::ranges::none_of(storages, is_same)) storages.push_back(&storage);
    };
    add(settings.storage_settings);
    for (const StageSettings& stage : settings.stages) {
        for (const auto& [key, storage] : stage.storages) add(storage);
    }
    return storages;
}

/// Writes, reads back and removes an object of a name that no conversation has. Returns the milliseconds of the write.
double probe_store(Storage& storage) {
    using Clock = std::chrono::steady_clock;
    const std::string key =
        fmt::format("whittle-doctor-{}-{}", system::process_id(), Clock::now().time_since_epoch().count());
    const std::string content(65'536, 'x');
    const auto before = Clock::now();
    storage.put_if_absent(key, content);
    const std::chrono::duration<double, std::milli> taken = Clock::now() - before;
    const std::optional<std::string> back = storage.get(key);
    storage.remove(key);
    if (back != content) throw Error(Errc::storage_failed, fmt::format("get \"{}\": not what was put", key));
    return taken.count();
}

/// The name of the environment value that holds the keys; empty: it is not encrypted.
std::string encryption_key_of([[maybe_unused]] const StorageSettings& storage) {
#if WHITTLE_HAVE_ENCRYPTION
    const auto found = storage.wrapper_configs.find("encryption");
    if (found != storage.wrapper_configs.end())
        return std::any_cast<const EncryptedStoreConfig&>(found->second).encryption_key_env;
#endif
    return {};
}

Symptom symptom_of_absent(const StorageSettings& storage) {
    const std::string keys = encryption_key_of(storage);
    if (!keys.empty() && !(storage.lookup && storage.lookup(keys)))
        return {Health::failed, "store",
                fmt::format("the environment has no {}, which holds the encryption keys", keys),
                "set it, or leave out storage.encryption_key_env"};
    auto root = std::filesystem::absolute(storage.place.path).lexically_normal();
    if (!root.has_filename()) root = root.parent_path();  // "store/"
    const auto parent = root.parent_path();
    const std::string text = fmt::format("{} is not there yet", storage.place.path);
    if (system::can_write_in(parent.string())) return {Health::ok, "store", text + "; the first run makes it"};
    std::error_code error;
    const char* const why = std::filesystem::exists(parent, error) ? "cannot be written" : "does not exist";
    return {Health::failed, "store", fmt::format("{}, and {} {}", text, parent.string(), why),
            "make the directory, or correct storage.root"};
}

std::string_view name_of_durability(Durability durability) noexcept {
    switch (durability) {
        case Durability::none: return "none";
        case Durability::full: return "full";
        case Durability::data: break;
    }
    return "data";
}

Symptom symptom_of_file_store(const StorageSettings& storage) {
    std::error_code error;
    if (!std::filesystem::exists(storage.place.path, error)) return symptom_of_absent(storage);
    if (!std::filesystem::is_directory(storage.place.path, error))
        return {Health::failed, "store", storage.place.path + " is no directory", "correct storage.root"};
    try {
        const double milliseconds = probe_store(*open_storage(storage));
        const Durability durability = std::any_cast<const FileStoreConfig&>(storage.config).durability;
        const auto space = std::filesystem::space(storage.place.path, error);
        const std::string text =
            fmt::format("{}: 64 KiB written in {:.1f} ms, read back and removed; durability {}: {}", storage.place.path,
                        milliseconds, name_of_durability(durability),
                        durability == Durability::none   ? "never synced"
                        : durability == Durability::data ? "content is synced, the directory is not"
                                                         : "content and directories are synced");
        constexpr std::uintmax_t little = 1U << 30U;
        if (!error && space.available < little)
            return {Health::warning, "store",
                    fmt::format("{} MiB are left for {}", space.available >> 20U, storage.place.path),
                    "make room: a store that is full takes nothing out of a request"};
        return {Health::ok, "store", text};
    } catch (const Error& failure) {
        return {Health::failed, "store", failure.what(), "correct its owner and mode, or storage.root"};
    }
}

/// Of SQLite or Redis.
Symptom symptom_of_shared_store(const StorageSettings& storage) {
    const bool is_file = !storage.place.path.empty();
    std::error_code error;
    if (is_file && !std::filesystem::exists(storage.place.path, error)) return symptom_of_absent(storage);
    const std::string where = is_file ? storage.place.path : storage.place.address;
    try {
        return {Health::ok, "store",
                fmt::format("{}: 64 KiB written in {:.1f} ms, read back and removed", where,
                            probe_store(*open_storage(storage)))};
    } catch (const Error& failure) {
        return {
            Health::failed, "store", failure.what(),
            is_file ? "correct its owner and mode, or storage.root" : "start the server, or correct storage.addresses"};
    }
}

}  // namespace

void diagnose_stores(const ChainSettings& settings, Symptoms& findings) {
    const auto storages = storages_of(settings);
    if (storages.empty())
        findings.push_back({Health::warning, "store", "none: only the side table can bring originals back",
                            R"(set "storage": {"type": "file", "root": "store"})"});
    for (const StorageSettings* storage : storages) {
        if (storage->type == "file") {
            findings.push_back(symptom_of_file_store(*storage));
        } else if (storage->type != "memory") {
            findings.push_back(symptom_of_shared_store(*storage));
        } else {
            findings.push_back({Health::warning, "store", "in memory: originals go with the process",
                                R"(for an agent, set "storage": {"type": "file", "root": "store"})"});
        }
    }
}

void diagnose_vocabularies(const ChainSettings& settings, Symptoms& findings) {
    findings.push_back({Health::ok, "counter", std::string(settings.config.token_counter->id())});
    const std::string folder = vocabulary_folder(environment_value);
    std::vector<std::string> good;
    for (const EncodingInfo& encoding : known_encodings()) {
        const std::string path = vocabulary_path(folder, encoding.name);
        std::error_code error;
        if (folder.empty() || !std::filesystem::exists(path, error)) continue;
        try {
            (void)open_encoding(path, encoding);
            good.emplace_back(encoding.name);
        } catch (const Error& failure) {
            findings.push_back({Health::failed, "vocabularies", failure.what(),
                                fmt::format("whittle vocab install {}", encoding.name)});
        }
    }
    const std::string where = folder.empty() ? "no directory: neither WHITTLE_VOCABULARIES nor HOME is set" : folder;
    findings.push_back({Health::ok, "vocabularies",
                        good.empty() ? fmt::format("none installed ({})", where)
                                     : fmt::format("{} ({})", fmt::join(good, ", "), where),
                        good.empty() ? "for exact counts: whittle vocab install o200k_base" : ""});
}

namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
}

/// The provider has several, by lifetime or year: "anthropic_5m", "openai_2026".
std::string_view provider_of(std::string_view cache) { return cache.substr(0, cache.find('_')); }

/// What the cache profile should be for a model; empty: any.
std::string wanted_cache(const ModelSettings& model) {
    if (http_settings_of(model) == nullptr) return {};
    if (is_loopback(address_of(model))) return "local";
    if (model.type == "anthropic") return "anthropic_5m";
    return host_of(address_of(model)) == "https://api.openai.com" ? "openai_2026" : "";
}

}  // namespace

void diagnose_cache(const ChainSettings& settings, Symptoms& findings) {
    const std::string& cache = settings.config.profile.cache.name;
    bool is_reported = false;
    for (const ModelSettings& model : settings.models) {
        const std::string wanted = wanted_cache(model);
        const bool fits = wanted.empty() || cache == "custom" || provider_of(cache) == provider_of(wanted);
        if (model.type == "anthropic")
            findings.push_back({Health::ok, "cache breakpoints",
                                fmt::format("model \"{}\": up to {} cache_control breakpoints in each request",
                                            model.name, AnthropicModelConfig{}.cache_breakpoints)});
        if (fits) continue;
        is_reported = true;
        findings.push_back({Health::warning, "cache",
                            fmt::format("model \"{}\" is at {}, but figures and triggers go by \"{}\"", model.name,
                                        host_of(address_of(model)), cache),
                            fmt::format("if the agent's model is there too, set profile.cache to \"{}\"", wanted)});
    }
    if (is_reported) return;
    if (is_one_of(cache, {"no_cache"})) {
        findings.push_back({Health::warning, "cache", "no_cache: an edit is taken to break nothing",
                            "set profile.cache to that of the agent's provider"});
    } else {
        findings.push_back({Health::ok, "cache", cache});
    }
}

}  // namespace whittle::cli
