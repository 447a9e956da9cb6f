#pragma once

#include "commands.hpp"
#include "one_session.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace whittle::cli {

struct ExplainCommand {
    SessionChoice session{};
    ConfigChoice config{};
    std::optional<std::int64_t> call{};  ///< from 0; left out: the last one
};

CLI::App* add_explain(CLI::App& app, ExplainCommand& command);
[[nodiscard]] ExitCode run_explain(const ExplainCommand& command, const CommonOptions& common);

}  // namespace whittle::cli
