#pragma once

#include "commands.hpp"

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace whittle::cli {

// Options that several commands have: one text each in the help, the completions and the man page.

/// `--json` and `--no-color`.
void add_common(CLI::App& command, CommonOptions& common);
/// The file that one session is taken from.
void add_session_file(CLI::App& command, std::string& file);
/// `--shape`, and the limits of an input of sessions.
void add_shape(CLI::App& command, CommonOptions& common);
/// `--allow-remote`, of commands that run chains.
void add_remote(CLI::App& command, CommonOptions& common);
/// `--html` and what bounds it.
void add_html(CLI::App& command, HtmlChoice& html);
/// `--no-mask`, of commands that print what sessions and stores hold.
void add_no_mask(CLI::App& command, CommonOptions& common);
/// Of that many or more, up to 15 digits; `unit`: what an error says was expected.
[[nodiscard]] CLI::Validator whole_number_check(std::int64_t lowest, const std::string& unit);
/// `--preset NAME` with what it has to know, in place of `file`.
void add_preset(CLI::App& command, ConfigChoice& config, CLI::Option* file);
/// `--config FILE` or `--preset NAME`.
void add_config(CLI::App& command, ConfigChoice& config);

}  // namespace whittle::cli
