// A coding agent: whittle's loop, real tools, and a real model or a scripted one.
#include "budgeted_model.hpp"
#include "files.hpp"
#include "live_model.hpp"
#include "options.hpp"
#include "recorder.hpp"
#include "screen.hpp"
#include "script.hpp"
#include "signals.hpp"
#include "spending.hpp"
#include "stores.hpp"
#include "tools.hpp"

#include <whittle/config/config_json.hpp>
#include <whittle/openai/openai.hpp>
#include <whittle/whittle.hpp>

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <limits>

namespace agent {
namespace {

using whittle::openai::Message;
using Traits = whittle::message_traits<Message>;

constexpr const char* system_text =
    "You are a coding agent. You work in one folder, with the tools that you have. Long tool results are shortened and "
    "old ones replaced by placeholders; both say where the full text is. Read it there with read_offloaded if you need "
    "it.";
constexpr std::int64_t page_bytes = 12'000;  // of read_offloaded: below max_length_for_trunc in chain.json
constexpr int tool_threads = 4;              // tools that only look run together, the others wait until they are alone

/// The model as the loop sees it: every request is measured, and every reply recorded.
class WatchedModel final : public whittle::Model<Message> {
public:
    WatchedModel(std::shared_ptr<whittle::Model<Message>> model, Recorder& recorder, Screen& screen,
                 std::shared_ptr<const whittle::TokenCounter> counter)
        : model_(std::move(model)), recorder_(recorder), screen_(screen), counter_(std::move(counter)) {}

    whittle::Reply<Message> generate(const whittle::ModelRequest<Message>& request) override {
        if (!request.purpose.empty()) return model_->generate(request);  // of a middleware: no step of the session
        const std::int64_t sent = count_request(request, *counter_);
        const std::int64_t raw = recorder_.tokens();
        auto reply = model_->generate(request);
        screen_.step(sent, raw, reply.message);
        recorder_.add(reply.message);
        recorder_.save();
        return reply;
    }

private:
    std::shared_ptr<whittle::Model<Message>> model_;
    Recorder& recorder_;
    Screen& screen_;
    std::shared_ptr<const whittle::TokenCounter> counter_;
};

std::shared_ptr<whittle::Model<Message>> model_for(const Options& options, Screen& screen) {
    if (options.model.empty()) return std::make_shared<whittle::ScriptedModel<Message>>(scripted_reply);
    return make_live_model(options, [&screen](const std::string& text) { screen.line(without_controls(text)); });
}

/// Whether what is stored there outlives the session.
bool is_lasting(const std::string& type) { return !type.empty() && type != "memory"; }

/// The configuration file. A store that ends with the session is replaced by the default.
whittle::ChainSettings load_settings(const Options& options) {
    const std::string name = options.config.string();
    whittle::ConfigSource source{.name = name,
                                 .base_dir = std::filesystem::absolute(options.config).parent_path().string(),
                                 .lookup = read_environment,
                                 .types = whittle::cli::config_types(read_environment)};
    auto settings = whittle::read_chain_settings(
        read_part(options.config, 0, std::numeric_limits<std::size_t>::max()).text, source);
    if (!options.store.empty() || !is_lasting(settings.storage_settings.type)) {
        const std::filesystem::path folder =
            options.store.empty() ? std::filesystem::path(source.base_dir) / "store" : options.store;
        settings.storage_settings = default_store(folder, std::move(settings.storage_settings));
    }
    settings.config.storage = whittle::open_storage(settings.storage_settings);
    return settings;
}

ScreenStyle style_of_terminal() {
    const char* no_colour = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    if (::isatty(STDOUT_FILENO) != 1 || terminal == nullptr || std::string_view(terminal) == "dumb") return {};
    return {.has_colour = no_colour == nullptr || *no_colour == '\0', .is_live = true};
}

/// The configured chain, its models made by `make`, with `last` behind its middlewares.
whittle::Chain<Message> chain_with(const whittle::ChainSettings& settings,
                                   const whittle::ChainCallbacks<Message>& callbacks,
                                   const whittle::ModelMaker<Message>& make,
                                   std::shared_ptr<whittle::Middleware<Message>> last) {
    const auto configured = whittle::make_chain<Message>(settings, {}, make);
    auto stages = configured.stages();
    stages.push_back(std::move(last));
    return {configured.config(), callbacks, std::move(stages)};
}

struct Stored {
    std::int64_t objects = 0;
    std::int64_t bytes = 0;
};

Stored look_into(whittle::Storage& storage) {
    Stored stored;
    storage.list("", [&](const whittle::ObjectInfo& object) {
        ++stored.objects;
        stored.bytes += object.bytes;
        return true;
    });
    return stored;
}

/// Undoes every commit, and compares with what was recorded, byte for byte.
bool undoes_to(whittle::Conversation<Message>& conversation, const std::vector<Message>& recorded) {
    while (conversation.undo()) {
    }
    return std::ranges::equal(conversation.messages(), recorded, whittle::same_message<Message>);
}

void print_summary(Screen& screen, const whittle::RunResult& result, const Stored& stored, std::size_t entries,
                   const SideCalls& side) {
    const Figures& figures = screen.figures();
    const auto row = [&](std::string_view what, std::int64_t raw, std::int64_t sent) {
        screen.line(fmt::format("{:<32}{:>14}{:>14}", what, with_commas(raw), with_commas(sent)));
    };
    screen.line(fmt::format("\n{} after {} steps", whittle::to_string(result.outcome), result.steps));
    for (const std::string& text : {result.text, result.error}) {
        if (!text.empty()) screen.line(without_controls(text));
    }
    screen.line("");
    for (const Edit& edit : figures.edits)
        screen.line(without_controls(fmt::format("edit of {}:\n{}", edit.path, to_diff(edit))));
    screen.line(fmt::format("files read: {}, commands run: {}; of the store: {} read back, {} searched",
                            figures.files.size(), figures.commands, figures.read_backs, figures.searches));
    screen.line(fmt::format("shortened on return: {} results by {} bytes; cleared later: {} results",
                            figures.truncated_results, with_commas(figures.truncated_bytes), figures.cleared_results));
    screen.line(fmt::format("journal: {} entries; the store has {} objects, {} bytes\n", entries, stored.objects,
                            with_commas(stored.bytes)));
    screen.line(fmt::format("{:<32}{:>14}{:>14}", "tokens", "uncut", "sent"));
    row("largest request", figures.raw_peak, figures.sent_peak);
    if (side.calls > 0) row(fmt::format("{} requests of middlewares", side.calls), 0, side.tokens);
    row("all requests together", figures.raw_sum, figures.sent_sum + side.tokens);
}

int verdict(Screen& screen, const Options& options, const whittle::RunResult& result, bool is_undone) {
    if (result.outcome == whittle::RunOutcome::stopped) return 130;
    const bool is_good =
        result.outcome == whittle::RunOutcome::answered && !result.text.starts_with("Not done") && is_undone;
    if (!options.check) return is_good ? 0 : 1;
    std::vector<std::string> broken = broken_promises(screen.figures());
    if (!is_good) broken.insert(broken.begin(), "the task is done, and undoing gives the recorded messages");
    for (const std::string& promise : broken) fmt::print(stderr, "check failed: expected {}\n", promise);
    return broken.empty() ? 0 : 1;
}

int run(const Options& options, const StopOnSignal& signals) {
    (void)Sandbox(options.workspace, {});  // before anything is created
    const whittle::ChainSettings settings = load_settings(options);
    const Sandbox sandbox(options.workspace, settings.storage_settings.place.path);
    const auto counter = settings.config.token_counter;
    std::vector<whittle::Tool> tools = make_tools(sandbox);
    tools.push_back(
        whittle::read_offloaded_tool(nullptr, {.page_bytes = page_bytes, .grep_result_bytes = page_bytes / 2}));
    Screen screen(stdout, sandbox, settings.config.profile.context_window, style_of_terminal());
    std::vector<whittle::ToolSpec> specs;
    for (const whittle::Tool& tool : tools) specs.push_back(tool.spec());
    const std::vector<Message> earlier = options.resume ? load_session(options.session) : std::vector<Message>();
    Recorder recorder(options.session, options.id, system_text, specs, counter);
    Spending spending(settings.config.profile.prices, options.max_cost);

    const auto originals = std::make_shared<OriginalResults>();
    const whittle::ChainCallbacks<Message> watch{
        .on_event =
            [&](const whittle::Event& event) {
                if (event.source == "loop") screen.line(fmt::format("      {}", event.text));
            },
        .on_report = [&](const whittle::Report& report) { screen.report(report); }};
    const whittle::LoopCallbacks record{
        .on_delta =
            [&](const whittle::Delta& delta) {
                if (delta.kind == whittle::Delta::Kind::text) screen.stream(delta.text);
            },
        .on_stream_restart =
            [&] { screen.line("      what was shown of this reply does not count: asked again, it was too large"); },
        .on_tool_start =
            [&](const whittle::ToolContext& context) {
                recorder.expect(context);
                screen.tool_start(context);
            },
        .on_tool_end =
            [&](const whittle::ToolContext& context, const whittle::ToolResult& result) {
                auto original = originals->take(context);
                screen.tool_end(context, result, original ? original->bytes : 0);
                recorder.add_result(context, result, std::move(original));
            }};
    const auto model = std::make_shared<WatchedModel>(budgeted_model(model_for(options, screen), spending, counter),
                                                      recorder, screen, counter);
    const whittle::LoopConfig loop_config{
        .max_steps = options.max_steps, .tool_threads = tool_threads, .system = system_text};
    const auto make = budgeted_models(&whittle::make_model<Message>, spending, counter);
    whittle::AgentLoop<Message> loop{model, tools, chain_with(settings, watch, make, originals), loop_config, record};

    whittle::Conversation<Message> conversation(options.id);
    for (const Message& message : earlier) {
        conversation.push_back(message);
        recorder.add(message);
    }
    const std::string task = options.model.empty() ? task_for(options.enumeration) : options.task;
    screen.line(task.empty() ? std::string("going on\n") : fmt::format("task:\n{}\n", task));
    screen.headings();
    if (!task.empty()) recorder.add(Traits::make(whittle::Role::user, task));
    const whittle::RunResult result =
        task.empty() ? loop.run(conversation, signals.token()) : loop.run(conversation, task, signals.token());
    screen.end_of_run();
    recorder.catch_up(conversation.messages());
    recorder.save();

    const std::size_t entries = conversation.journal().size();
    const bool is_undone = undoes_to(conversation, recorder.messages());
    print_summary(screen, result, look_into(*settings.config.storage), entries, spending.side_calls());
    if (spending.spent() > 0.0 && !options.model.empty())  // the scripted model costs nothing
        screen.line(fmt::format("spent, by the configuration's prices: {:.4f}", spending.spent()));
    screen.line(fmt::format("\nundoing all {} entries gives the original messages, byte for byte: {}", entries,
                            is_undone ? "yes" : "NO"));
    if (!options.session.empty())
        screen.line(fmt::format("{} messages recorded in {}", recorder.messages().size(), options.session.string()));
    return verdict(screen, options, result, is_undone);
}

int guarded_main(std::span<char* const> arguments) {
    const StopOnSignal signals;
    Options options;
    try {
        options = parse_options(arguments);
        if (options.help) return std::fputs(help_text(), stdout) < 0 ? 1 : 0;
        return run(options, signals);
    } catch (const whittle::Error& error) {
        fmt::print(stderr, "whittle_agent: {}\n", error.what());
        const bool is_usage =
            error.errc() == whittle::Errc::invalid_argument || error.errc() == whittle::Errc::invalid_config;
        return is_usage ? 2 : 1;
    } catch (const std::exception& error) {
        fmt::print(stderr, "whittle_agent: {}\n", error.what());
        return 1;
    }
}

}  // namespace
}  // namespace agent

int main(int argc, char** argv) { return agent::guarded_main({argv + 1, static_cast<std::size_t>(argc - 1)}); }
