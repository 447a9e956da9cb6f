#pragma once

#include "commands.hpp"

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace whittle::cli {

struct CountCommand {
    std::vector<std::string> files{};
    std::string counter{};  ///< empty: the one of `config`; without that, "chars" for sessions, else "estimate"
    std::string config{};
    std::string vocabularies{};
    bool text = false;
    bool sessions = false;
};

struct VocabCommand {
    std::string name{};
    std::string from{};
    std::string to{};
    bool npm = false;
};

CLI::App* add_count(CLI::App& app, CountCommand& command);
CLI::App* add_vocab(CLI::App& app, VocabCommand& command);

[[nodiscard]] ExitCode run_count(const CountCommand& command, const CommonOptions& common);
[[nodiscard]] ExitCode run_vocab_install(const VocabCommand& command);

/// The given directory, or the user's. Throws `UsageError` if there is neither.
[[nodiscard]] std::string vocabulary_folder_or(const std::string& folder);

/// Runs a program found on the PATH, in the directory `in`, without a shell; its output goes to standard error. Throws
/// Error(not_found) if it cannot be run, Error(storage_failed) if it fails.
void run_program(const std::vector<std::string>& arguments, const std::string& in);

}  // namespace whittle::cli
