#include "chains_by_cache.hpp"
#include "explain_call.hpp"
#include "explain_commands.hpp"
#include "masked.hpp"
#include "options.hpp"
#include "output.hpp"
#include "report_options.hpp"
#include "shown.hpp"
#include "terminal.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <span>
#include <utility>

namespace whittle::cli {
CLI::App* add_explain(CLI::App& app, ExplainCommand& command) {
    CLI::App* sub = app.add_subcommand("explain", "Show what a chain does to each message of one request, and why");
    add_session_file(*sub, command.session.file);
    sub->add_option("--call", command.call, "The request, from 0; left out: the last one")
        ->check(whole_number_check(0, "a call of the session"))
        ->type_name("K");
    sub->add_option("--session", command.session.id, "Where the file has several: the id of one; left out: the first")
        ->type_name("ID");
    add_config(*sub, command.config);
    sub->footer(
        "Examples:\n"
        "  whittle explain session.jsonl --preset recommended --window 200000\n"
        "  whittle explain sessions.jsonl --session talk-7 --call 12 --config chain.json --json\n\n"
        "Nothing is written: what the chain stores is kept in memory. Exit code 1 also if a middleware failed in front "
        "of\n"
        "the call.");
    return sub;
}

ExitCode run_explain(const ExplainCommand& command, const CommonOptions& common) {
    ChainsByCache by_cache(command.config, for_session_report, common.allow_remote);
    Explanation explanation;
    visit_session(command.session, common, [&]<JsonMessage M>(const Trajectory<M>& trajectory) {
        CostBasis basis = cost_basis_of(trajectory, evaluation::to_session(trajectory));
        const WatchedChains& chains = by_cache.for_session(basis);
        explanation = explain_call<M>(trajectory, chains.of<M>(), chains.clock(), command.call);
        KnownSecrets secrets(!are_secrets_shown());
        secrets.learn_all(std::span<const M>(trajectory.messages));
        hide_secrets(explanation, secrets);
    });
    if (common.json) {
        print_json(shown_json(explanation_json(explanation)) + "\n");
    } else {
        print(explanation_text(explanation, text_columns()));
    }
    ExitCode code = done;
    for (const ExplainedStage& stage : explanation.stages) {
        if (stage.error.empty()) continue;
        print_note(fmt::format("failed: {}: {}", stage.middleware, stage.error));
        code = failed;
    }
    return code;
}

}  // namespace whittle::cli
