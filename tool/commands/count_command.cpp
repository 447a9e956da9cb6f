#include "input.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "read_sessions.hpp"
#include "shown.hpp"
#include "table.hpp"
#include "terminal.hpp"
#include "token_commands.hpp"
#include "whittle/tiktoken/vocabulary.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <array>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;
using Counter = std::shared_ptr<const TokenCounter>;

/// Conversations are told by their names, as `replay` takes them; all else is text.
bool holds_sessions(const CountCommand& command, std::string_view file) {
    if (command.text || command.sessions) return command.sessions;
    constexpr std::array<std::string_view, 4> endings{".json", ".jsonl", ".json.gz", ".jsonl.gz"};
    return std::ranges::any_of(endings, [&](std::string_view ending) { return file.ends_with(ending); });
}

bool have_sessions(const CountCommand& command) {
    return std::ranges::any_of(command.files, [&](const std::string& file) { return holds_sessions(command, file); });
}

/// Without a choice, sessions are counted as a chain counts them, and texts by the closest guess.
Counter counter_of(const CountCommand& command) {
    if (!command.config.empty()) return load_settings({.file = command.config}).config.token_counter;
    if (command.counter.empty()) return have_sessions(command) ? chars_counter() : estimate_counter();
    if (command.counter == "chars") return chars_counter();
    if (command.counter == "pessimistic") return pessimistic_counter();
    if (command.counter == "estimate") return estimate_counter();
    const EncodingInfo* const encoding = find_encoding(command.counter);
    if (encoding == nullptr)
        throw UsageError{fmt::format(
            "--counter {}: expected one of chars, pessimistic, estimate, o200k_base, cl100k_base, p50k_base, r50k_base",
            command.counter)};
    const std::string path = vocabulary_path(vocabulary_folder_or(command.vocabularies), command.counter);
    try {
        return exact_counter(open_encoding(path, *encoding));
    } catch (const Error& error) {
        throw UsageError{fmt::format("{}; `whittle vocab install {}` puts it there", error.what(), command.counter)};
    }
}

ordered_json count_text(const std::string& file, const InputLimits& limits, const TokenCounter& counter) {
    const std::string text = read_all(file, limits);
    return {{"file", file}, {"kind", "text"}, {"bytes", text.size()}, {"tokens", counter.count(text)}};
}

template <AgentMessage M>
ordered_json count_session(const Trajectory<M>& session, const TokenCounter& counter) {
    const std::int64_t overhead = count_overhead(session.system, session.tools, counter);
    std::int64_t tokens = overhead;
    ordered_json messages = ordered_json::array();
    for (const M& message : session.messages) {
        throw_if_interrupted();
        const std::int64_t count = count_message(message, counter);
        tokens = add_saturating(tokens, count);
        messages.push_back({{"role", to_string(message_traits<M>::role(message))}, {"tokens", count}});
    }
    return {{"id", session.id}, {"tokens", tokens}, {"system_and_tools", overhead}, {"messages", std::move(messages)}};
}

ordered_json count_sessions(const std::string& file, const CommonOptions& common, const TokenCounter& counter) {
    ordered_json sessions = ordered_json::array();
    std::int64_t tokens = 0;
    Progress progress;
    for_each_session(file, common, progress, [&](const auto& session) {
        sessions.push_back(count_session(session, counter));
        tokens = add_saturating(tokens, sessions.back()["tokens"].get<std::int64_t>());
    });
    return {{"file", file}, {"kind", "sessions"}, {"tokens", tokens}, {"sessions", std::move(sessions)}};
}

std::string size_of(const ordered_json& file) {
    if (file["kind"] == "text") return grouped(file["bytes"].get<std::int64_t>()) + " bytes";
    std::size_t messages = 0;
    for (const ordered_json& session : file["sessions"]) messages += session["messages"].size();
    return grouped(static_cast<std::int64_t>(messages)) + " messages";
}

/// What other figures of the same files there are.
std::string words_of_count(const CountCommand& command) {
    std::string text;
    const bool has_sessions = have_sessions(command);
    if (has_sessions)
        text +=
            "of a session each message counts once, with its system text and tools; `whittle replay` adds up what all "
            "its calls sent, of which the largest lacks the last reply\n";
    if (!command.counter.empty() || !command.config.empty()) return text;
    text += has_sessions
                ? "sessions are counted as a chain does whose configuration names no counter, so as in replay; "
                  "--counter estimate is closer to what a provider counts, exact vocabularies closer still\n"
                : "texts are counted by an estimate of what a provider counts; sessions, and chains, by "
                  "characters (--counter chars)\n";
    return text;
}

/// The last line says what the figures are of: other counters, as that of a chain, give others.
void print_table(const CountCommand& command, const ordered_json& files, std::int64_t total,
                 const TokenCounter& counter) {
    Table table({"file", "size", "tokens"});
    for (const ordered_json& file : files)
        table.add({file["file"].get<std::string>(), size_of(file), grouped(file["tokens"].get<std::int64_t>())});
    if (files.size() > 1) {
        table.add_line();
        table.add({"total", "", grouped(total)});
    }
    print(table.text(false, table_columns()) + "\n" + wrapped_lines(words_of_count(command), table_columns()) +
          fmt::format("tokens counted by  {}\n", counter.id()));
}

}  // namespace

CLI::App* add_count(CLI::App& app, CountCommand& command) {
    CLI::App* count = app.add_subcommand("count", "Count the tokens of texts and conversations");
    count->add_option("files", command.files, "Texts, or sessions as for replay (.json, .jsonl); - is standard input")
        ->required()
        ->type_name("FILE");
    auto* counter = count->add_option(
        "--counter", command.counter,
        "chars (default for sessions, as in chains), pessimistic, estimate (default for texts), o200k_base, "
        "cl100k_base, p50k_base or r50k_base");
    counter->type_name("NAME");
    count->add_option("--config", command.config, "Count as this chain does, so as replay and apply with it")
        ->type_name("CHAIN.json")
        ->excludes(counter);
    count->add_option("--vocabularies", command.vocabularies, "The directory of vocabularies, instead of the user's")
        ->type_name("DIR");
    auto* text = count->add_flag("--text", command.text, "Count all files as text, whatever their names");
    count->add_flag("--sessions", command.sessions, "Read all files as sessions, standard input too")->excludes(text);
    count->footer(
        "Examples:\n"
        "  whittle count notes.md src/*.cpp --counter o200k_base\n"
        "  whittle count sessions.jsonl --counter cl100k_base --json\n"
        "  whittle count sessions.jsonl --config chain.json\n"
        "  git diff | whittle count - --counter o200k_base\n\n"
        "A session counts its messages' texts, thinking, tool names and arguments, its system text and its tools: "
        "each\n"
        "once. A chain counts with the counter of its own configuration, as --config does; where it names none, that "
        "is\n"
        "chars, as here.");
    return count;
}

ExitCode run_count(const CountCommand& command, const CommonOptions& common) {
    const Counter counter = counter_of(command);
    ordered_json files = ordered_json::array();
    std::int64_t total = 0;
    for (const std::string& file : command.files) {
        throw_if_interrupted();
        files.push_back(holds_sessions(command, file) ? count_sessions(file, common, *counter)
                                                      : count_text(file, common.limits, *counter));
        total = add_saturating(total, files.back()["tokens"].get<std::int64_t>());
    }
    if (common.json) {
        const ordered_json json{{"counter", counter->id()}, {"tokens", total}, {"files", std::move(files)}};
        print_json(shown_json(json) + "\n");
    } else {
        print_table(command, files, total, *counter);
    }
    return done;
}

}  // namespace whittle::cli
