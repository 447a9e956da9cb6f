#include "commands.hpp"
#include "configuration/config_types.hpp"
#include "input.hpp"
#include "output.hpp"
#include "read_sessions.hpp"
#include "shown.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

namespace whittle::cli {

namespace {

/// A configuration as a text, and where it comes from.
struct ConfigText {
    std::string json{};
    ConfigSource source{};
};

std::string text_of_preset(const ConfigChoice& config) {
    nlohmann::ordered_json json{{"preset", config.preset}};
    if (config.window > 0) json["profile"]["context_window"] = config.window;
    if (!config.cache.empty()) json["profile"]["cache"] = config.cache;
    return json.dump();
}

/// Standard input can be read once, and a configuration is asked for more than once.
const std::string& text_of_file(const std::string& path) {
    static std::mutex mutex;
    static std::map<std::string, std::string> read;
    const std::lock_guard lock(mutex);
    const auto known = read.find(path);
    return known != read.end() ? known->second : read.emplace(path, read_all(path)).first->second;
}

/// What the JSON of a configuration says of its cache; null where it says nothing, or is no JSON.
nlohmann::ordered_json cache_in(const nlohmann::ordered_json& config) {
    if (!config.is_object() || !config.contains("profile") || !config["profile"].is_object()) return nullptr;
    return config["profile"].value("cache", nlohmann::ordered_json());
}

/// A text that is no configuration stays as it is: its reader says why.
std::string with_cache(const std::string& text, const std::string& cache) {
    if (cache.empty()) return text;
    auto config = nlohmann::ordered_json::parse(text, nullptr, false);
    const bool has_profile_object =
        config.is_object() && (!config.contains("profile") || config["profile"].is_object());
    if (!has_profile_object || !cache_in(config).is_null()) return text;
    config["profile"]["cache"] = cache;
    return config.dump();
}

ConfigText read_config(const ConfigChoice& config) {
    ConfigSource source{.lookup = environment_value, .types = config_types(environment_value)};
    if (!config.preset.empty()) {
        source.name = "--preset " + config.preset;
        return {text_of_preset(config), std::move(source)};
    }
    const std::string& path = config.file;
    source.name = path == "-" ? "stdin" : path;
    source.base_dir = std::filesystem::path(path).parent_path().string();
    return {with_cache(text_of_file(path), config.cache), std::move(source)};
}

/// The settings, whose warnings are printed, each once.
ChainSettings read_settings(const ConfigText& text) {
    static std::mutex mutex;
    static std::set<std::string> printed;
    ChainSettings settings = read_chain_settings(text.json, text.source);
    const std::lock_guard lock(mutex);
    for (const std::string& warning : settings.warnings) {
        if (printed.insert(warning).second) print_note("warning: " + warning);
    }
    return settings;
}

/// What `work` makes of the configuration.
template <typename Work>
auto with_config(const ConfigChoice& config, const Work& work) {
    try {
        return work(read_config(config));
    } catch (const Error& error) {
        throw UsageError{error.what()};
    }
}

}  // namespace

std::optional<std::string> environment_value(std::string_view name) {
    const char* value = std::getenv(std::string(name).c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

ChainSettings load_settings(const ConfigChoice& config) {
    if (config.name().empty())
        throw UsageError{"expected --config CHAIN.json or --preset NAME, such as --preset recommended"};
    return with_config(config, [](const ConfigText& text) {
        ChainSettings settings = read_settings(text);
        settings.config.token_counter = cancellable_counter(settings.config.token_counter, throw_if_interrupted);
        return settings;
    });
}

bool names_cache(const ConfigChoice& config) {
    if (!config.cache.empty() || config.preset == "local") return true;
    return with_config(config, [](const ConfigText& text) {
        const auto json = nlohmann::ordered_json::parse(text.json, nullptr, false);
        const bool is_local = json.is_object() && json.contains("preset") && json["preset"] == "local";
        return is_local || !cache_in(json).is_null();
    });
}

ShownConfig show_config(const ConfigChoice& config) {
    return with_config(config, [](const ConfigText& text) {
        (void)read_settings(text);  // for its warnings
        return ShownConfig{text.json, expand_preset(text.json, text.source)};
    });
}

CheckedConfig read_checked(const ConfigChoice& config) {
    const ConfigText text = read_config(config);
    CheckedConfig checked{.name = text.source.name};
    try {
        checked.settings = read_chain_settings(text.json, text.source);
        checked.warnings = checked.settings->warnings;
        for (const StageSettings& stage : checked.settings->stages) checked.middlewares.push_back(stage.name);
    } catch (const Error& error) {
        if (error.errc() != Errc::invalid_config) throw;
        std::istringstream lines(error.what());
        std::string line;
        std::getline(lines, line);  // how many there are
        while (std::getline(lines, line)) checked.problems.push_back(line);
        if (checked.problems.empty()) throw;
    }
    return checked;
}

TrajectoryOptions options_for(const std::string& name, const InputLimits& limits) {
    TrajectoryOptions options{.name = name};
    options.limits.max_bytes = limits.max_bytes == 0 ? SIZE_MAX : static_cast<std::size_t>(limits.max_bytes);
    options.on_note = [](const std::string& note) { print_note("note: " + note); };
    options.check_cancelled = throw_if_interrupted;
    return options;
}

}  // namespace whittle::cli
