#include "chain_replay.hpp"
#include "explain_commands.hpp"
#include "explanation.hpp"
#include "memory_store.hpp"
#include "options.hpp"
#include "terminal.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace whittle::cli {
namespace {

/// Ends a replay once what is wanted is known.
struct SeenEnough {};

/// The wanted request, or the last one: which that is shows at the end only.
template <AgentMessage M>
Explanation explain_call(const Trajectory<M>& trajectory, const Chain<M>& chain,
                         const std::shared_ptr<ManualClock>& clock, std::optional<std::int64_t> call) {
    const Recording<M> recording{trajectory.id, trajectory.system, trajectory.tools, trajectory.messages,
                                 trajectory.seconds};
    Explainer<M> explainer(recording, *chain.config().token_counter);
    std::int64_t calls = 0;
    for (const M& m : trajectory.messages) calls += message_traits<M>::role(m) == Role::assistant ? 1 : 0;
    if (calls == 0) throw Error(Errc::not_found, fmt::format("{}: the session has no model call", trajectory.id));
    const std::int64_t wanted = call.value_or(calls - 1);
    if (wanted >= calls)
        throw UsageError{fmt::format("--call {}: session \"{}\" has calls 0 to {}", wanted, trajectory.id, calls - 1)};
    Explanation explanation;
    ReplayOptions<M> options{.stop = interrupt_token(), .clock = clock};
    options.on_report = [&](const Report& report) { explainer.on_report(report); };
    options.on_request = [&](const ReplayRequest<M>& request) {
        throw_if_interrupted();
        explainer.on_request(request);
        if (request.call == wanted) {
            explanation = explainer.explain(request);
            throw SeenEnough{};
        }
        explainer.next_call();
    };
    try {
        (void)replay<M>(recording, chain, options);
    } catch (const SeenEnough&) {
        return explanation;
    }
    throw Error(Errc::not_found, fmt::format("{}: call {} was not reached", trajectory.id, wanted));
}

}  // namespace

CLI::App* add_explain(CLI::App& app, ExplainCommand& command) {
    CLI::App* sub = app.add_subcommand("explain", "Show what a chain does to each message of one request, and why");
    sub->add_option("file", command.session.file,
                    "A session of OpenAI or Anthropic messages: JSON Lines or JSON, also as gzip; - is standard input")
        ->required()
        ->type_name("FILE");
    sub->add_option("--call", command.call, "The request, from 0; left out: the last one")
        ->check(CLI::NonNegativeNumber)
        ->type_name("K");
    sub->add_option("--session", command.session.id, "Where the file has several: the id of one; left out: the first")
        ->type_name("ID");
    add_config(*sub, command.config);
    sub->footer(
        "Examples:\n"
        "  whittle explain session.jsonl --preset recommended --window 200000\n"
        "  whittle explain sessions.jsonl --session talk-7 --call 12 --config chain.json --json\n\n"
        "Nothing is written: what the chain stores is kept in memory.");
    return sub;
}

ExitCode run_explain(const ExplainCommand& command, const CommonOptions& common) {
    ChainSettings settings = with_memory_storage(load_settings(command.config));
    settings.config.explain = true;
    const WatchedChains chains(std::move(settings));
    Explanation explanation;
    visit_session(command.session, common, [&]<AgentMessage M>(const Trajectory<M>& trajectory) {
        explanation = explain_call<M>(trajectory, chains.of<M>(), chains.clock(), command.call);
    });
    print(common.json ? shown_json(explanation_json(explanation)) + "\n"
                      : explanation_text(explanation, text_columns()));
    return done;
}

}  // namespace whittle::cli
