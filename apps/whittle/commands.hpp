#pragma once

#include "whittle/adapter/anthropic.hpp"
#include "whittle/adapter/config_json.hpp"
#include "whittle/adapter/trajectory.hpp"
#include "whittle/message/validity.hpp"

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
inline constexpr std::int64_t usual_window = 200'000;

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
    std::int64_t window = usual_window;  ///< tokens
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

#include "agent_log.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "shape.hpp"
#include "shown.hpp"
#include "terminal.hpp"

#include <fmt/format.h>

namespace whittle::cli {

/// How sessions of the input `name` are read.
[[nodiscard]] TrajectoryOptions options_for(const std::string& name, const InputLimits& limits);

/// Reads the sessions of a file, or of standard input for "-"; logs of agents, which are recognised by what they hold,
/// too. Calls `take(Trajectory<>&&, std::optional<Shape>, std::string_view where,
/// const InputBuffer&)` until it returns false. Returns what errors call the input. Throws Error(parse_failed) if there
/// is no session.
template <typename Take>
std::string read_sessions(const std::string& path, const CommonOptions& common, Take&& take) {
    const std::optional<Shape> given = to_shape(common.shape);
    InputBuffer buffer(path, common.limits);
    const TrajectoryOptions options = options_for(buffer.name(), common.limits);
    bool goes_on = true;
    const auto visit = [&](Trajectory<>&& session, std::optional<Shape> shape) {
        throw_if_interrupted();
        const std::string where = buffer.name() + ": " + shown(session.id);
        goes_on = goes_on && take(std::move(session), shape, where, buffer);
        return goes_on;
    };
    std::size_t count = 0;
    std::size_t bills_alone = 0;  // sessions without messages
    if (const auto format = recognise_log(path, buffer).format) {
        count = read_agent_log(path, buffer, *format, options, [&](logs::Session&& session) {
            if (session.recording.messages.empty()) {
                ++bills_alone;
                return;
            }
            note_model(session);
            visit(std::move(session.recording), shape_of(*format, given));
        });
    } else {
        std::istream in(&buffer);
        count =
            read_trajectories(in, options, [&](Trajectory<>&& session) { return visit(std::move(session), given); });
    }
    if (count == bills_alone)
        throw Error(Errc::parse_failed,
                    buffer.name() +
                        (count == 0 ? ": expected sessions, found none"
                                    : ": no session has messages: they were taken back or not recorded, and a bill is "
                                      "all that is left"));
    return buffer.name();
}

/// Visits them all, each with its own message type, and shows how much of the file is read.
template <typename Visit>
void for_each_session(const std::string& path, const CommonOptions& common, Progress& progress, Visit&& visit) {
    std::size_t sessions = 0;
    progress.begin();
    read_sessions(
        path, common,
        [&](Trajectory<>&& session, std::optional<Shape> shape, std::string_view where, const InputBuffer& in) {
            visit_in_shape(std::move(session), shape, where, visit);
            progress.show(fmt::format("{}: {} sessions, ", in.name(), ++sessions),
                          Share::of_bytes(in.bytes_read(), in.file_bytes()));
            return true;
        });
}

}  // namespace whittle::cli
