#pragma once

#include "whittle/anthropic/anthropic.hpp"
#include "whittle/config/config_json.hpp"
#include "whittle/message/validity.hpp"
#include "whittle/saved/trajectory.hpp"

#include "agent_log.hpp"
#include "input.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::cli {

enum ExitCode { done = 0, failed = 1, usage = 2 };

struct CommonOptions {
    bool json = false;
    bool no_color = false;
    std::string shape{};        ///< of the sessions; empty: detected for each
    bool allow_remote = false;  ///< models on other machines may be asked
    bool no_mask = false;       ///< secrets are printed as they are
    InputLimits limits{};
};

/// Tokens of the model's window that presets run recorded sessions with, unless another is given.
inline constexpr std::int64_t default_window = 200'000;

/// Where a chain's configuration comes from: a file, or a preset by its name.
struct ConfigChoice {
    std::string file{};
    std::string preset{};
    std::int64_t window = 0;  ///< tokens of the model's window, for a preset; 0: unknown
    std::string cache{};      ///< name of a cache profile, where a file has none; empty: what is usual

    [[nodiscard]] const std::string& name() const noexcept { return file.empty() ? preset : file; }
};

/// A report as an HTML file.
struct HtmlChoice {
    std::string file{};                   ///< "-": standard output; empty: none
    std::int64_t text_bytes = 2'000'000;  ///< of messages' texts in it
};

struct ReplayCommand {
    std::vector<std::string> files{};
    ConfigChoice config{};
    std::string requests{};
    bool delta = false;
    bool totals_only = false;
    bool all = false;  ///< columns of the text
    HtmlChoice html{};
    std::string svg{};  ///< a file for the chart of one session; empty: none
};

struct ApplyCommand {
    ConfigChoice config{};
    std::string in{};
    std::string out{};
    std::string in_table{};
    std::string out_table{};
    bool dry_run = false;
    bool now = false;  ///< below any trigger too
    std::int64_t target = 0;
    std::optional<std::size_t> from{};  ///< with `now`: indices of messages
    std::optional<std::size_t> up_to{};
};

struct CheckCommand {
    std::vector<std::string> files{};
    std::string profile{};  ///< empty: the one of the session's provider
};

struct CompareCommand {
    std::vector<std::string> files{};
    std::vector<std::string> configs{};
    std::vector<std::string> presets{};     ///< names; empty: those that save money, if no strategies are named
    std::vector<std::string> strategies{};  ///< names of controls; empty: all
    std::vector<std::string> profiles{};    ///< names of cost profiles; empty: as billed, then all
    std::string front =
        "recorded";  ///< what stands in front of the messages: "recorded", tokens, or "33%" of a request
    std::int64_t window = default_window;  ///< tokens
    bool by_file = false;
    bool sessions = false;
    bool all = false;  ///< tables of the text
    bool csv = false;
    std::string svg{};  ///< a file for the chart; empty: none
};

[[nodiscard]] ExitCode run_replay(const ReplayCommand& command, const CommonOptions& common);
[[nodiscard]] ExitCode run_apply(const ApplyCommand& command, const CommonOptions& common);
[[nodiscard]] ExitCode run_compare(const CompareCommand& command, const CommonOptions& common);
[[nodiscard]] ExitCode run_check(const CheckCommand& command, const CommonOptions& common);

/// A mistake in the command line or the configuration: exit code 2.
struct UsageError {
    std::string text{};
};

/// Of the environment; the library itself reads none.
[[nodiscard]] std::optional<std::string> environment_value(std::string_view name);

/// Reads a chain configuration and prints its warnings on standard error. Throws `UsageError`.
[[nodiscard]] ChainSettings load_settings(const ConfigChoice& config);

/// Whether the choice or its file says which cache the provider has; `local` says it by itself. Throws `UsageError`.
[[nodiscard]] bool names_cache(const ConfigChoice& config);

/// A configuration's text, and the same with its preset written out.
struct ShownConfig {
    std::string given{};
    std::string written_out{};
};

/// Prints warnings on standard error. Throws `UsageError` if something is wrong with it.
[[nodiscard]] ShownConfig show_config(const ConfigChoice& config);

/// What is wrong with a configuration, a line each.
struct CheckedConfig {
    std::string name{};  ///< starts every line
    std::vector<std::string> problems{};
    std::vector<std::string> warnings{};
    std::vector<std::string> middlewares{};   ///< names; empty if there are problems
    std::optional<ChainSettings> settings{};  ///< absent if there are problems
};

/// Throws what reading the file throws.
[[nodiscard]] CheckedConfig read_checked(const ConfigChoice& config);

/// The settings for messages of type M: OpenAI's rules do not fit Anthropic's messages, which get their own instead.
template <AgentMessage M>
[[nodiscard]] ChainSettings settings_for(ChainSettings settings) {
    if constexpr (std::same_as<M, anthropic::Message>) {
        ValidityProfile& rules = settings.config.profile.validity;
        if (rules.name == openai_chat().name || rules.name == openai_compatible().name) rules = anthropic_messages();
    }
    return settings;
}

}  // namespace whittle::cli
