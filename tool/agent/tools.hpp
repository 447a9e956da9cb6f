#pragma once

#include "sandbox.hpp"

#include <whittle/conversation/tool.hpp>

#include <chrono>
#include <cstddef>
#include <vector>

namespace agent {

struct ToolLimits {
    std::size_t page_bytes = 40'000;           ///< of one read_file
    std::size_t max_entries = 2'000;           ///< of one list_files
    std::size_t max_matches = 200;             ///< of one grep
    std::size_t max_line_bytes = 300;          ///< of one line that grep shows
    std::size_t max_output_bytes = 4'000'000;  ///< of one run_command, which the chain shortens as it comes
    std::chrono::seconds command_timeout{60};
};

/// read_file, list_files, grep, edit_file and run_command. Bad arguments and what is refused become error results. They
/// may be called from several threads at once: those that may change something wait until they are alone.
[[nodiscard]] std::vector<whittle::Tool> make_tools(const Sandbox& sandbox, const ToolLimits& limits = {});

}  // namespace agent
