#include "command_line.hpp"
#include "command_table.hpp"
#include "commands.hpp"
#include "config_commands.hpp"
#include "documentation.hpp"
#include "explain_commands.hpp"
#include "interrupt.hpp"
#include "masked.hpp"
#include "options.hpp"
#include "output.hpp"
#include "scan_command.hpp"
#include "store_commands.hpp"
#include "system.hpp"
#include "token_commands.hpp"
#include "usage_error.hpp"
#include "whittle/base/version.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>
#include <functional>
#include <new>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace whittle;
using namespace whittle::cli;

constexpr const char* exit_codes = "Exit codes: 0 done, 1 the input or the run failed, 2 usage or configuration.";

CLI::App* add_replay(CLI::App& app, ReplayCommand& command) {
    CLI::App* sub = app.add_subcommand("replay", "Run recorded sessions through a chain and show what it saves");
    sub->add_option("files", command.files,
                    "Sessions of OpenAI or Anthropic messages: JSON Lines or JSON, also as gzip; - is standard input")
        ->required()
        ->type_name("FILE");
    add_config(*sub, command.config);
    sub->add_option("--requests", command.requests,
                    "Write every request as it is sent, one JSON line each; .gz packs, - is standard output")
        ->type_name("OUT.jsonl");
    sub->add_flag("--delta", command.delta,
                  "With --requests: only what the request before did not have, and how much of it to keep");
    sub->add_flag("--totals", command.totals_only, "Leave out the single sessions");
    sub->add_flag("--all", command.all, "All columns, and how much of the input the cache gives");
    add_html(*sub, command.html);
    sub->add_option("--svg", command.svg,
                    "Draw the tokens of each request of one session, with and without the chain; - is standard output")
        ->type_name("OUT.svg");
    sub->footer(
        "Examples:\n"
        "  whittle replay sessions.jsonl --preset recommended --window 200000\n"
        "  whittle replay sessions.jsonl --config chain.json\n"
        "  whittle replay *.jsonl.gz --config chain.json --totals --json > totals.json\n"
        "  whittle replay sessions.jsonl --config chain.json --requests requests.jsonl.gz --delta\n"
        "  whittle replay session.jsonl --config chain.json --html report.html\n\n"
        "Originals go to the configuration's store, as they would at work; with one in memory nothing is written.\n"
        "Exit code 1 also if a request breaks a rule that the recording keeps, or something cannot be undone.");
    return sub;
}

CLI::App* add_compare(CLI::App& app, CompareCommand& command) {
    CLI::App* sub = app.add_subcommand(
        "compare", "Show what strategies cost and what they forget, on recorded sessions; no model is run again");
    sub->add_option("files", command.files,
                    "Sessions of OpenAI or Anthropic messages: JSON Lines or JSON, also as gzip; - is standard input")
        ->required()
        ->type_name("FILE");
    sub->add_option("--config", command.configs, "A chain to compare; several times for several")
        ->allow_extra_args(false)
        ->type_name("CHAIN.json");
    sub->add_option("--preset", command.presets,
                    "A preset to compare: recommended, lossless, local or cheap; without it, and without --strategy, "
                    "all but local")
        ->allow_extra_args(false)
        ->type_name("NAME");
    sub->add_option("--strategy", command.strategies,
                    "A simple strategy to compare with, such as noop or mask10_step25; without it all of them")
        ->allow_extra_args(false)
        ->type_name("NAME");
    sub->add_option(
           "--profile", command.profiles,
           "Prices: billed (each session's own), anthropic_5m, openai, openai_2026 or no_cache; without it all "
           "of them")
        ->allow_extra_args(false)
        ->type_name("NAME");
    sub->add_option("--front", command.front,
                    "System text and tools in front of the messages: recorded (what the first call was billed beyond "
                    "its messages; default), tokens such as 15000, or a share of a request such as 33%")
        ->type_name("TOKENS");
    sub->add_option("--window", command.window,
                    "The model's window: presets go by it, larger requests are counted (default 200000)")
        ->check(whole_number_check(1, "tokens, such as 200000"))
        ->type_name("TOKENS");
    sub->add_flag("--all", command.all, "All tables: by size of sessions, what was needed, each profile");
    sub->add_flag("--by-file", command.by_file, "A table for each file too; in JSON and CSV a row");
    sub->add_flag("--sessions", command.sessions, "With --json: the single sessions too");
    sub->add_option("--svg", command.svg,
                    "Draw what each costs against the edits that it leaves possible; - is standard output")
        ->type_name("OUT.svg");
    sub->add_flag("--csv", command.csv, "Print a line for each strategy, group of sessions and profile");
    sub->footer(
        "Examples:\n"
        "  whittle compare sessions.jsonl\n"
        "  whittle compare *.jsonl.gz --config mine.json --config other.json --profile anthropic_5m\n"
        "  whittle compare sessions.jsonl --strategy noop --config mine.json --json --sessions > figures.json\n"
        "  whittle compare - --csv < sessions.jsonl > figures.csv\n\n"
        "What a chain stores is kept in memory. Exit code 1 also if a chain failed or broke a message rule.");
    return sub;
}

CLI::App* add_apply(CLI::App& app, ApplyCommand& command) {
    CLI::App* sub = app.add_subcommand("apply", "Run a chain once on one conversation, as before a model call");
    add_config(*sub, command.config);
    sub->add_option("--in", command.in,
                    "The conversation; FILE.whittle.json beside it is read if it is there; - is standard input")
        ->required()
        ->type_name("FILE");
    sub->add_option("--out", command.out,
                    "The result; FILE.whittle.json is written beside it; - is standard output; may be the same as --in")
        ->type_name("FILE");
    sub->add_option("--in-table", command.in_table, "Read the side table from here")->type_name("FILE");
    sub->add_option("--out-table", command.out_table, "Write the side table here")->type_name("FILE");
    sub->add_flag("--dry-run", command.dry_run, "Print the plan, write nothing");
    CLI::Option* now = sub->add_flag("--now", command.now, "Compact below any trigger, as at a host's button");
    sub->add_option("--target", command.target, "With --now: tokens to come to; left out: half of what there is")
        ->check(whole_number_check(1, "tokens"))
        ->needs(now)
        ->type_name("TOKENS");
    sub->add_option("--from", command.from, "With --now: leave messages in front of this one as they are; from 0")
        ->needs(now)
        ->type_name("INDEX");
    sub->add_option("--up-to", command.up_to, "With --now: leave this message and those behind it as they are")
        ->needs(now)
        ->type_name("INDEX");
    sub->footer(
        "Examples:\n"
        "  whittle apply --config chain.json --in talk.json --dry-run\n"
        "  whittle apply --config chain.json --in talk.json --out smaller.json\n"
        "  whittle apply --preset recommended --in talk.json --now --target 20000 --out smaller.json\n"
        "  whittle apply --config chain.json --in - --out - --out-table side.json < talk.json > smaller.json");
    return sub;
}

CLI::App* add_check(CLI::App& app, CheckCommand& command) {
    CLI::App* sub = app.add_subcommand("check", "Say which message rules of a provider sessions break");
    sub->add_option("files", command.files, "Sessions, of OpenAI or Anthropic messages")->required()->type_name("FILE");
    sub->add_option("--profile", command.profile,
                    "The rules: openai_chat (default for OpenAI messages), openai_compatible, anthropic (default for "
                    "Anthropic messages), anthropic_thinking or gemini")
        ->type_name("NAME");
    sub->footer(
        "Examples:\n"
        "  whittle check sessions.jsonl\n"
        "  whittle check - --profile openai_compatible --json < talk.json\n"
        "  whittle check requests.jsonl --profile anthropic_thinking\n\n"
        "Exit code 1 if a rule is broken.");
    return sub;
}

/// Help and version, or what is wrong with the arguments.
ExitCode report_error(const CLI::App& app, const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
        write_error_stream(usage_error(app, error));
        return usage;
    }
    std::ostringstream out;
    app.exit(error, out, out);
    if (dynamic_cast<const CLI::CallForHelp*>(&error) != nullptr) out << "\n" << documentation_line();
    print_raw(out.view());
    return done;
}

int guarded(const std::function<ExitCode()>& work) {
    try {
        return work();
    } catch (const Interrupted& interrupted) {
        die_of(interrupted.signal);
    } catch (const UsageError& error) {
        print_note(error.text);
        return usage;
    } catch (const Error& error) {
        if (error.errc() == Errc::cancelled && signal_received() != 0) die_of(signal_received());
        print_note(error.what());
        return error.errc() == Errc::invalid_config ? usage : failed;
    } catch (const std::bad_alloc&) {
        print_note("out of memory");
        return failed;
    } catch (const std::exception& error) {
        print_note(error.what());
        return failed;
    }
}

ExitCode print_of(const std::string& text) {
    print_raw(text);
    return done;
}

int run(std::span<const std::string> arguments) {
    CLI::App app("whittle keeps the message history of an LLM agent small, valid, cheap and recoverable.", "whittle");
    CommonOptions common;
    ReplayCommand replay_command;
    CompareCommand compare_command;
    ApplyCommand apply_command;
    CheckCommand check_command;
    ConfigCommand config_command;
    CountCommand count_command;
    VocabCommand vocab_command;
    ExplainCommand explain_command;
    DiffCommand diff_command;
    StoreCommand store_command;
    DoctorCommand doctor_command;
    std::string shell;
    ScanCommand scan_command;
    app.set_version_flag("--version", "whittle " WHITTLE_VERSION_STRING);
    app.require_subcommand(1);
    app.footer(std::string("Examples:\n"
                           "  whittle replay sessions.jsonl --config chain.json\n"
                           "  whittle compare sessions.jsonl --config chain.json\n"
                           "  whittle apply --config chain.json --in talk.json --out smaller.json\n"
                           "  whittle check sessions.jsonl --profile openai_chat\n"
                           "  whittle replay --help\n\n") +
               exit_codes);
    app.add_flag("--no-color", common.no_color, "Print without terminal colours (as NO_COLOR does)");
    CLI::App* replay_app = add_replay(app, replay_command);
    CLI::App* compare_app = add_compare(app, compare_command);
    CLI::App* apply_app = add_apply(app, apply_command);
    CLI::App* check_app = add_check(app, check_command);
    CLI::App* config_app = add_config_commands(app, config_command, common);
    CLI::App* count_app = add_count(app, count_command);
    CLI::App* vocab_app = add_vocab(app, vocab_command);
    CLI::App* explain_app = add_explain(app, explain_command);
    CLI::App* diff_app = add_diff(app, diff_command);
    CLI::App* store_app = add_store(app, store_command, common);
    CLI::App* doctor_app = add_doctor(app, doctor_command);
    add_common(*doctor_app, common);
    CLI::App* completion_app = add_completion(app, shell);
    CLI::App* man_app = add_man(app);
    CLI::App* scan_app = add_scan(app, scan_command);
    for (CLI::App* sub : {replay_app, compare_app, apply_app, check_app, count_app, explain_app, diff_app, scan_app}) {
        add_common(*sub, common);
        add_no_mask(*sub, common);
        add_shape(*sub, common);
    }
    for (CLI::App* sub : {config_app->get_subcommand("check"), vocab_app->get_subcommand("install"), doctor_app})
        add_no_mask(*sub, common);
    for (CLI::App* sub : {replay_app, compare_app, apply_app, explain_app, diff_app, doctor_app})
        add_remote(*sub, common);
    try {
        // CLI11 takes the arguments without the program's name, the last one first.
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend() - 1));
    } catch (const CLI::ParseError& error) {
        if (std::ranges::find(arguments, "--no-mask") != arguments.end()) show_secrets();
        return report_error(app, error);
    }
    if (common.no_mask) show_secrets();
    if (replay_app->parsed()) return guarded([&] { return run_replay(replay_command, common); });
    if (compare_app->parsed()) return guarded([&] { return run_compare(compare_command, common); });
    if (apply_app->parsed()) return guarded([&] { return run_apply(apply_command, common); });
    if (config_app->parsed()) return guarded([&] { return run_config(config_command, common); });
    if (count_app->parsed()) return guarded([&] { return run_count(count_command, common); });
    if (scan_app->parsed()) return guarded([&] { return run_scan(scan_command, common); });
    if (vocab_app->parsed()) return guarded([&] { return run_vocab_install(vocab_command); });
    if (explain_app->parsed()) return guarded([&] { return run_explain(explain_command, common); });
    if (diff_app->parsed()) return guarded([&] { return run_diff(diff_command, common); });
    if (store_app->parsed()) return guarded([&] { return run_store(store_command, common); });
    if (doctor_app->parsed()) return guarded([&] { return run_doctor(doctor_command, common); });
    if (completion_app->parsed())
        return guarded([&] { return print_of(completion_script(command_table(app), shell)); });
    if (man_app->parsed()) return guarded([&] { return print_of(man_page(command_table(app))); });
    return guarded([&] { return run_check(check_command, common); });
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<std::string> arguments = whittle::cli::system::set_up(argc, argv);
        const SignalWatch watch;
        store_command_line(arguments);
        return run(arguments);
    } catch (const std::exception& error) {
        print_note(error.what());
        return failed;
    }
}
