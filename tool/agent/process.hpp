#pragma once

#include "whittle/base/platform.hpp"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace agent {

struct ShellOptions {
    std::filesystem::path directory{};
    std::chrono::milliseconds timeout{60'000};
    std::size_t max_output_bytes = 4'000'000;  ///< what comes after that is read and dropped
};

enum class ShellEnd { exited, timed_out, stopped };

struct ShellResult {
    std::size_t dropped_bytes = 0;
    ShellEnd end = ShellEnd::exited;
    int status = 0;  ///< exited: exit code, or 128 + signal
};

/// Runs `command` with /bin/sh in its own process group and with no input. Standard output and error go to `output` as
/// they come; what that throws ends the command and is passed on. Its environment has PATH, HOME, TMPDIR, LANG
/// and nothing else of ours: no key that this program got is handed on. The whole group is killed at the timeout, at a
/// stop, and when the shell has ended but left others behind. Throws whittle::Error(invalid_argument) if it cannot
/// start.
[[nodiscard]] ShellResult run_shell(const std::string& command, const ShellOptions& options, whittle::StopToken stop,
                                    const std::function<void(std::string_view)>& output);

}  // namespace agent
