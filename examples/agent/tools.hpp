#pragma once

#include "sandbox.hpp"

#include <whittle/chain/tool.hpp>

#include <chrono>
#include <cstddef>
#include <vector>

namespace agent {

struct ToolLimits {
    std::size_t page_bytes = 40'000;        ///< of one read_file
    std::size_t max_entries = 2'000;        ///< of one list_files
    std::size_t max_matches = 200;          ///< of one grep
    std::size_t max_line_bytes = 300;       ///< of one line that grep shows
    std::size_t max_output_bytes = 60'000;  ///< of one run_command
    std::chrono::seconds command_timeout{60};
};

/// read_file, list_files, grep, edit_file and run_command. Bad arguments and what is refused become error results.
[[nodiscard]] std::vector<whittle::Tool> make_tools(const Sandbox& sandbox, const ToolLimits& limits = {});

}  // namespace agent
