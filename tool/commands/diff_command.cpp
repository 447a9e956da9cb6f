#include "call_progress.hpp"
#include "chain_diff.hpp"
#include "chains_by_cache.hpp"
#include "explain_call.hpp"
#include "explain_commands.hpp"
#include "figures_of.hpp"
#include "interrupt.hpp"
#include "masked.hpp"
#include "options.hpp"
#include "output.hpp"
#include "report_options.hpp"
#include "shown.hpp"
#include "side_calls.hpp"
#include "terminal.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace whittle::cli {
namespace {

/// One side of the comparison. Every run of the session has chains of its own: a store remembers what it was given.
class DiffSide {
public:
    DiffSide(const ConfigChoice& config, std::string file, bool allow_remote)
        : config_(config), file_(std::move(file)), allow_remote_(allow_remote) {
        (void)load_settings(config);  // a mistake there comes before any work
    }

    template <JsonMessage M>
    [[nodiscard]] ChainTrace trace(const Trajectory<M>& trajectory) const {
        evaluation::SessionInput input = evaluation::to_session(trajectory, file_);
        CostBasis basis = cost_basis_of(trajectory, input);
        ChainsByCache by_cache(config_, for_session_report, allow_remote_);
        WatchedChains& chains = by_cache.for_session(basis);
        const Chain<M>& chain = chains.of<M>();
        ChainTrace trace{.name = config_.name(), .profile = chain.config().profile};
        evaluation::ChainOptions<M> options{.stop = interrupt_token(), .clock = chains.clock()};
        options.side_calls = [&](std::span<const M> request) { return side_calls_of<M>(chains.take_calls(), request); };
        CallProgress calls(trajectory);
        options.on_request = [&](const ReplayRequest<M>& request) {
            calls.pass();
            trace.take(request, *chain.config().token_counter);
        };
        evaluation::ChainRequests made = evaluation::requests_of_chain<M>(trajectory, chain, options);
        trace.totals = std::move(made.totals);
        add_front(input, basis.front.value_or(0));
        trace.cost.add(basis, figures_of(made.requests, evaluation::Session(std::move(input)),
                                         {.profiles = {basis.profile}, .storage = chain.config().storage}));
        return trace;
    }

    template <JsonMessage M>
    [[nodiscard]] Explanation explain(const Trajectory<M>& trajectory, std::int64_t call) const {
        CostBasis basis = cost_basis_of(trajectory, evaluation::to_session(trajectory, file_));
        ChainsByCache by_cache(config_, for_session_report, allow_remote_);
        const WatchedChains& chains = by_cache.for_session(basis);
        return explain_call<M>(trajectory, chains.of<M>(), chains.clock(), call);
    }

private:
    ConfigChoice config_;
    std::string file_;  ///< of the session
    bool allow_remote_;
};

template <JsonMessage M>
ChainDiff diff_of(const DiffCommand& command, const DiffSide& a, const DiffSide& b, const Trajectory<M>& trajectory) {
    ChainDiff diff{.trajectory = trajectory.id,
                   .chains = {a.trace(trajectory), b.trace(trajectory)},
                   .differences = {},
                   .shown_call = command.call,
                   .messages = {}};
    diff.differences = differences(diff.chains[0], diff.chains[1]);
    if (!diff.shown_call && !diff.differences.empty())
        diff.shown_call = static_cast<std::int64_t>(diff.differences.front().call);
    if (diff.shown_call)
        diff.messages =
            different_messages(a.explain(trajectory, *diff.shown_call), b.explain(trajectory, *diff.shown_call));
    return diff;
}

ExitCode exit_of(const ChainDiff& diff) {
    ReplayTotals sum = diff.chains[0].totals;
    sum += diff.chains[1].totals;
    for (const std::string& error : sum.errors) print_note(shown(error));
    const std::string reason = reason_of_failure(sum);
    if (reason.empty()) return done;
    print_note("failed: " + reason);
    return failed;
}

}  // namespace

CLI::App* add_diff(CLI::App& app, DiffCommand& command) {
    CLI::App* sub = app.add_subcommand("diff", "Show where two chains differ on one session, call by call");
    add_session_file(*sub, command.session.file);
    sub->add_option_function<std::vector<std::string>>(
           "--config",
           [&command](const std::vector<std::string>& files) {
               for (const std::string& file : files) command.chains.push_back({.file = file});
           },
           "A chain, as extensions/config/README.md has it; there are two chains, A and B")
        ->trigger_on_parse()
        ->allow_extra_args(false)
        ->type_name("CHAIN.json");
    sub->add_option_function<std::vector<std::string>>(
           "--preset",
           [&command](const std::vector<std::string>& names) {
               for (const std::string& name : names) command.chains.push_back({.preset = name});
           },
           "A preset as a chain: recommended, lossless, local or cheap")
        ->trigger_on_parse()
        ->allow_extra_args(false)
        ->type_name("NAME");
    sub->add_option("--window", command.window, "Of presets: tokens of the model's window (default 200000)")
        ->check(whole_number_check(1, "tokens, such as 200000"))
        ->type_name("TOKENS");
    sub->add_option("--cache", command.cache, "Of presets: the provider's cache, such as anthropic_5m or openai_2026")
        ->type_name("NAME");
    sub->add_option("--session", command.session.id, "Where the file has several: the id of one; left out: the first")
        ->type_name("ID");
    sub->add_option("--call", command.call,
                    "List the messages of this request, from 0; left out: the first that differs")
        ->check(whole_number_check(0, "a call of the session"))
        ->type_name("K");
    sub->add_flag("--calls", command.calls, "A line for each request too");
    sub->footer(
        "Examples:\n"
        "  whittle diff session.jsonl --config old.json --config new.json\n"
        "  whittle diff session.jsonl --preset lossless --preset recommended --window 200000 --calls\n\n"
        "Nothing is written: what the chains store is kept in memory. Exit code 1 also if a chain failed or broke a\n"
        "message rule; chains that differ are no failure.");
    return sub;
}

ExitCode run_diff(const DiffCommand& command, const CommonOptions& common) {
    if (command.chains.size() != 2)
        throw UsageError{fmt::format("diff: expected two of --config CHAIN.json and --preset NAME, found {}",
                                     command.chains.size())};
    const bool has_preset = std::ranges::any_of(command.chains, [](const auto& chain) { return chain.file.empty(); });
    if (!has_preset && (command.window > 0 || !command.cache.empty()))
        throw UsageError{"diff: --window and --cache need --preset: a configuration has its own"};
    std::vector<ConfigChoice> choices = command.chains;
    for (ConfigChoice& choice : choices) {
        if (choice.preset.empty()) continue;
        choice.window = command.window > 0 ? command.window : default_window;
        choice.cache = command.cache;
    }
    const DiffSide a(choices[0], command.session.file, common.allow_remote);
    const DiffSide b(choices[1], command.session.file, common.allow_remote);
    ExitCode code = done;
    visit_session(command.session, common, [&]<JsonMessage M>(const Trajectory<M>& trajectory) {
        if (calls_in(trajectory) == 0) throw Error(Errc::not_found, trajectory.id + ": the session has no model call");
        ChainDiff diff = diff_of<M>(command, a, b, trajectory);
        KnownSecrets secrets(!are_secrets_shown());
        secrets.learn_all(std::span<const M>(trajectory.messages));
        hide_secrets(diff, secrets);
        if (common.json) {
            print_json(diff_json(diff, command.calls));
        } else {
            print(diff_text(diff, command.calls, text_columns(), may_colour(common.no_color)));
        }
        code = exit_of(diff);
    });
    return code;
}

}  // namespace whittle::cli
