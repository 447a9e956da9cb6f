#pragma once

#include "commands.hpp"

namespace CLI {
class App;
}

namespace whittle::cli {

struct ConfigCommand {
    enum class Action { show, check, schema };
    Action action = Action::show;
    ConfigChoice config{};
    bool origins = false;  ///< show: every value with who said it
};

/// `config` with its commands.
CLI::App* add_config_commands(CLI::App& app, ConfigCommand& command, CommonOptions& common);
[[nodiscard]] ExitCode run_config(const ConfigCommand& command, const CommonOptions& common);

}  // namespace whittle::cli
