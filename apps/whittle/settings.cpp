#include "commands.hpp"

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
        for (const std::string& warning : settings.warnings) complain("whittle: warning: " + warning + "\n");
        return settings;
    } catch (const Error& error) {
        throw UsageError{error.what()};
    }
}

}  // namespace whittle::cli
