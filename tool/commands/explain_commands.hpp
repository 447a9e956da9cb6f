#pragma once

#include "commands.hpp"
#include "one_session.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace whittle::cli {

struct ExplainCommand {
    SessionChoice session{};
    ConfigChoice config{};
    std::optional<std::int64_t> call{};  ///< from 0; left out: the last one
};

struct DiffCommand {
    SessionChoice session{};
    std::vector<ConfigChoice> chains{};  ///< two, in the order of the command line
    std::int64_t window = 0;             ///< of presets
    std::string cache{};                 ///< of presets
    std::optional<std::int64_t> call{};  ///< whose messages are listed; left out: the first that differs
    bool calls = false;
};

struct DoctorCommand {
    ConfigChoice config{};
};

CLI::App* add_explain(CLI::App& app, ExplainCommand& command);
CLI::App* add_diff(CLI::App& app, DiffCommand& command);
CLI::App* add_doctor(CLI::App& app, DoctorCommand& command);
[[nodiscard]] ExitCode run_explain(const ExplainCommand& command, const CommonOptions& common);
[[nodiscard]] ExitCode run_diff(const DiffCommand& command, const CommonOptions& common);
[[nodiscard]] ExitCode run_doctor(const DoctorCommand& command, const CommonOptions& common);

}  // namespace whittle::cli
