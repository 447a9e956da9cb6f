#include "commands.hpp"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace whittle::cli {

ChainSettings load_settings(const std::string& path) {
    const auto lookup = [](std::string_view name) -> std::optional<std::string> {
        const char* value = std::getenv(std::string(name).c_str());
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    };
    try {
        const ConfigSource source{path == "-" ? "stdin" : path, std::filesystem::path(path).parent_path().string(),
                                  lookup};
        ChainSettings settings = read_chain_settings(read_all(path), source);
        settings.config.token_counter = polled(settings.config.token_counter, throw_if_interrupted);
        for (const std::string& warning : settings.warnings) complain("warning: " + warning);
        return settings;
    } catch (const Error& error) {
        throw UsageError{error.what()};
    }
}

TrajectoryOptions options_for(const std::string& name, const InputLimits& limits) {
    TrajectoryOptions options{.name = name};
    options.limits.max_bytes = limits.max_bytes == 0 ? SIZE_MAX : static_cast<std::size_t>(limits.max_bytes);
    options.on_note = [](const std::string& note) { complain("note: " + note); };
    options.poll = throw_if_interrupted;
    return options;
}

}  // namespace whittle::cli
