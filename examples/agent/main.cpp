// A coding agent: whittle's loop, real tools, and a scripted model in place of a real one.
#include "brain.hpp"
#include "files.hpp"
#include "options.hpp"
#include "recorder.hpp"
#include "screen.hpp"
#include "signals.hpp"
#include "tools.hpp"

#include <whittle/adapter/config_json.hpp>
#include <whittle/adapter/openai.hpp>
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
    "You are a coding agent. You work in one folder, with the tools that you have. Old tool results are replaced by "
    "placeholders that say where the full text is; read it there if you need it.";

/// The model as the loop sees it: every request is measured and every reply recorded.
class WatchedModel final : public whittle::Model<Message> {
public:
    WatchedModel(std::shared_ptr<whittle::Model<Message>> model, Recorder& recorder, Screen& screen,
                 std::shared_ptr<const whittle::TokenCounter> counter)
        : model_(std::move(model)), recorder_(recorder), screen_(screen), counter_(std::move(counter)) {}

    whittle::Reply<Message> generate(const whittle::ModelRequest<Message>& request) override {
        std::int64_t sent = whittle::count_overhead(request.system, request.tools, *counter_);
        for (const Message& message : request.messages) sent += whittle::count_message(message, *counter_);
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

/// The configuration file, with a store whose files the agent's own read_file can read.
whittle::ChainSettings load_settings(const Options& options) {
    const std::string name = options.config.string();
    whittle::ConfigSource source{.name = name,
                                 .base_dir = std::filesystem::absolute(options.config).parent_path().string()};
    auto settings = whittle::read_chain_settings(
        read_part(options.config, 0, std::numeric_limits<std::size_t>::max()).text, source);
    if (!options.store.empty())
        settings.storage = {.type = whittle::StorageSettings::Type::file, .root = options.store.string()};
    if (settings.storage.type != whittle::StorageSettings::Type::file)
        throw whittle::Error(whittle::Errc::invalid_config,
                             name + ": storage: the agent needs one of type \"file\", or --store");
    settings.config.storage = whittle::open_storage(settings.storage);
    return settings;
}

bool wants_colour() {
    const char* no_colour = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    if (no_colour != nullptr && *no_colour != '\0') return false;
    return ::isatty(STDOUT_FILENO) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

std::vector<whittle::ToolSpec> specs_of(const std::vector<whittle::Tool>& tools) {
    std::vector<whittle::ToolSpec> specs;
    for (const whittle::Tool& tool : tools) specs.push_back(tool.spec());
    return specs;
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

void print_summary(Screen& screen, const whittle::RunResult& result, const Stored& stored, std::size_t commits) {
    const Figures& figures = screen.figures();
    const auto row = [&](std::string_view what, std::int64_t raw, std::int64_t sent) {
        screen.line(fmt::format("{:<32}{:>14}{:>14}", what, with_commas(raw), with_commas(sent)));
    };
    screen.line(fmt::format("\n{} after {} steps", whittle::name_of(result.finish), result.steps));
    for (const std::string& text : {result.text, result.error}) {
        if (!text.empty()) screen.line(text);
    }
    screen.line("");
    for (const Edit& edit : figures.edits) screen.line(fmt::format("edit of {}:\n{}", edit.path, to_diff(edit)));
    screen.line(fmt::format("files read: {}, commands run: {}, read back from the store: {}", figures.files.size(),
                            figures.commands, figures.read_backs));
    screen.line(fmt::format("cleared: {} results in {} commits; the store has {} objects, {} bytes\n",
                            figures.cleared_results, commits, stored.objects, with_commas(stored.bytes)));
    screen.line(fmt::format("{:<32}{:>14}{:>14}", "tokens", "uncleared", "sent"));
    row("largest request", figures.raw_peak, figures.sent_peak);
    row("all requests together", figures.raw_sum, figures.sent_sum);
}

int verdict(Screen& screen, const Options& options, const whittle::RunResult& result, bool is_undone) {
    if (result.finish == whittle::Finish::stopped) return 130;
    const bool is_good =
        result.finish == whittle::Finish::answered && !result.text.starts_with("Not done") && is_undone;
    if (!options.check) return is_good ? 0 : 1;
    std::vector<std::string> broken = broken_promises(screen.figures());
    if (!is_good) broken.insert(broken.begin(), "the task is done, and undoing gives the recorded messages");
    for (const std::string& promise : broken) fmt::print(stderr, "check failed: expected {}\n", promise);
    return broken.empty() ? 0 : 1;
}

int run(const Options& options, const StopOnSignal& signals) {
    (void)Sandbox(options.workspace, {});  // before anything is created
    const whittle::ChainSettings settings = load_settings(options);
    const Sandbox sandbox(options.workspace, settings.storage.root);
    const auto counter = settings.config.token_counter;
    const std::vector<whittle::Tool> tools = make_tools(sandbox);
    Screen screen(stdout, sandbox, wants_colour());
    Recorder recorder(options.session, options.id, system_text, specs_of(tools), counter);

    const whittle::ChainCallbacks<Message> watch{
        .on_report = [&](const whittle::Report& report) { screen.report(report); }};
    const whittle::LoopCallbacks record{
        .on_tool_end = [&](const whittle::ToolContext& context, const whittle::ToolResult& result) {
            for (const Message& message : Traits::make_tool_results({&result, 1})) recorder.add(message);
            screen.tool_end(context, result);
        }};
    const auto model = std::make_shared<WatchedModel>(std::make_shared<whittle::ScriptedModel<Message>>(think),
                                                      recorder, screen, counter);
    whittle::AgentLoop<Message> loop{model,
                                     tools,
                                     whittle::make_chain<Message>(settings, watch),
                                     {.max_steps = options.max_steps, .system = system_text},
                                     record};

    whittle::Conversation<Message> conversation(options.id);
    const Message task = Traits::make(whittle::Role::user, task_for(options.enumeration));
    screen.line(fmt::format("task:\n{}\n", whittle::text_of(task)));
    screen.headings();
    recorder.add(task);
    const whittle::RunResult result = loop.run(conversation, task, signals.token());
    recorder.catch_up(conversation.messages());
    recorder.save();

    const std::size_t commits = conversation.journal().size();
    const bool is_undone = undoes_to(conversation, recorder.messages());
    print_summary(screen, result, look_into(*settings.config.storage), commits);
    screen.line(fmt::format("\nundoing all {} commits gives the original messages, byte for byte: {}", commits,
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
