#include "commands.hpp"
#include "shown.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

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

ConfigText read_config(const ConfigChoice& config) {
    const auto& lookup = environment_value;
    if (!config.preset.empty()) return {text_of_preset(config), {"--preset " + config.preset, {}, lookup}};
    const std::string& path = config.file;
    return {read_all(path), {path == "-" ? "stdin" : path, std::filesystem::path(path).parent_path().string(), lookup}};
}

/// The settings, whose warnings are printed.
ChainSettings read_settings(const ConfigText& text) {
    ChainSettings settings = read_chain_settings(text.json, text.source);
    for (const std::string& warning : settings.warnings) complain("warning: " + warning);
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
    if (config.name().empty()) throw UsageError{"expected --config CHAIN.json or --preset NAME"};
    return with_config(config, [](const ConfigText& text) {
        ChainSettings settings = read_settings(text);
        settings.config.token_counter = polled(settings.config.token_counter, throw_if_interrupted);
        return settings;
    });
}

ShownConfig show_config(const ConfigChoice& config) {
    return with_config(config, [](const ConfigText& text) {
        (void)read_settings(text);  // for its warnings
        return ShownConfig{text.json, write_out_preset(text.json, text.source)};
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
    options.on_note = [](const std::string& note) { complain("note: " + note); };
    options.poll = throw_if_interrupted;
    return options;
}

}  // namespace whittle::cli
