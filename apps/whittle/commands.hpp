#pragma once

#include "whittle/adapter/config_json.hpp"
#include "whittle/adapter/trajectory.hpp"

#include <string>
#include <vector>

namespace whittle::cli {

enum ExitCode { done = 0, failed = 1, usage = 2 };

struct CommonOptions {
    bool json = false;
    bool no_color = false;
};

struct ReplayCommand {
    std::vector<std::string> files{};
    std::string config{};
    std::string requests{};
    bool delta = false;
    bool totals_only = false;
};

struct ApplyCommand {
    std::string config{};
    std::string in{};
    std::string out{};
    std::string in_table{};
    std::string out_table{};
    bool dry_run = false;
};

struct CheckCommand {
    std::vector<std::string> files{};
    std::string profile = "openai_chat";
};

[[nodiscard]] ExitCode run_replay(const ReplayCommand& command, const CommonOptions& common);
[[nodiscard]] ExitCode run_apply(const ApplyCommand& command, const CommonOptions& common);
[[nodiscard]] ExitCode run_check(const CheckCommand& command, const CommonOptions& common);

/// A mistake in the command line or the configuration: exit code 2.
struct UsageError {
    std::string text{};
};

/// Reads a chain configuration and prints its warnings on standard error. Throws `UsageError`.
[[nodiscard]] ChainSettings load_settings(const std::string& path);

/// Visits the sessions of a file, or of standard input for "-".
template <typename Visit>
void for_each_trajectory(const std::string& path, Visit&& visit);

}  // namespace whittle::cli

#include "input.hpp"
#include "interrupt.hpp"
#include "output.hpp"

namespace whittle::cli {

template <typename Visit>
void for_each_trajectory(const std::string& path, Visit&& visit) {
    InputBuffer buffer(path);
    std::istream in(&buffer);
    TrajectoryOptions options{.name = buffer.name()};
    options.on_note = [](const std::string& note) { complain("whittle: note: " + note + "\n"); };
    read_trajectories(in, options, [&](Trajectory<>&& trajectory) {
        throw_if_interrupted();
        visit(std::move(trajectory));
    });
}

}  // namespace whittle::cli
