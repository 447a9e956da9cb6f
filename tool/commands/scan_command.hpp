#pragma once

#include "commands.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace whittle::cli {

struct ScanCommand {
    std::vector<std::string> paths{};      ///< files and folders; empty: where agents keep their sessions
    std::int64_t window = default_window;  ///< tokens, for the presets
    bool bill = false;                     ///< no strategies
    std::string since{};                   ///< a day; empty: all
    std::vector<std::string> prices{};     ///< as `PriceList::add` reads them
    bool csv = false;
    HtmlChoice html{};
};

CLI::App* add_scan(CLI::App& app, ScanCommand& command);

[[nodiscard]] ExitCode run_scan(const ScanCommand& command, const CommonOptions& common);

}  // namespace whittle::cli
