#include "cli.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

using namespace whittle::testing;

TEST_CASE("help and version go to standard output", "[apps]") {
    const TempDir dir;
    const CliResult version = run_cli(dir, "--version");
    CHECK(version.exit_code == 0);
    CHECK(version.out == "whittle 0.1.0\n");
    for (const std::string command : {"", "replay", "compare", "apply", "check", "count", "vocab"}) {
        CAPTURE(command);
        const CliResult help = run_cli(dir, command + " --help");
        CHECK(help.exit_code == 0);
        CHECK(has(help.out, "Examples:"));
        CHECK(has(help.out, "whittle " + command));
        CHECK(help.err.empty());
    }
}

TEST_CASE("a wrong command line is exit code 2, with the reason on standard error", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", session_line("a", 1, 10));
    write_text(dir / "chain.json", clearing_chain);
    for (const std::string arguments :
         {"", "cook", "replay", "replay s.jsonl", "replay s.jsonl --config chain.json --sideways",
          "replay s.jsonl --config chain.json --delta", "apply --config chain.json --in s.jsonl", "check",
          "check s.jsonl --profile nonsense", "compare", "compare s.jsonl --strategy nonsense",
          "compare s.jsonl --profile nonsense", "compare s.jsonl --csv --json", "compare s.jsonl --sessions",
          "compare s.jsonl --window 0", "compare s.jsonl --config absent.json",
          "replay s.jsonl --config absent.json"}) {
        CAPTURE(arguments);
        const CliResult result = run_cli(dir, arguments);
        CHECK(result.exit_code == 2);
        CHECK(result.out.empty());
        CHECK_FALSE(result.err.empty());
    }
    CHECK(has(run_cli(dir, "check s.jsonl --profile nonsense").err, "openai_chat, openai_compatible"));
}

TEST_CASE("a command line that is not understood names the word, and what is most like it", "[apps]") {
    const TempDir dir;
    const std::string all_commands =
        "commands: replay, compare, apply, check, config, count, vocab, explain, diff, store, doctor, completion, man, "
        "scan\n`whittle --help` has what each does\n";
    CHECK(run_cli(dir, "bogus").err == "whittle: there is no command \"bogus\"\n" + all_commands);
    CHECK(run_cli(dir, "repaly s.jsonl").err ==
          "whittle: there is no command \"repaly\"; did you mean replay?\n" + all_commands);
    CHECK(run_cli(dir, "").err == "whittle: expected a command\n" + all_commands);
    CHECK(run_cli(dir, "store lst s").err ==
          "whittle store: there is no command \"lst\"; did you mean ls?\ncommands: ls, show, verify, gc\n"
          "`whittle store --help` has what each does\n");
    const std::string help = "`whittle replay --help` has its options and examples\n";
    CHECK(run_cli(dir, "replay --presett=cheap s.jsonl").err ==
          "whittle replay: there is no option --presett; did you mean --preset?\n" + help);
    CHECK(run_cli(dir, "replay --sideways s.jsonl").err == "whittle replay: there is no option --sideways\n" + help);
    CHECK(run_cli(dir, "replay").err == "whittle replay: expected FILE\n" + help);
    CHECK(has(run_cli(dir, "explain a.jsonl b.jsonl --preset cheap").err, "\"b.jsonl\" is one argument too many\n"));
}

TEST_CASE("the help names the pages that were installed with the program, wherever both were moved", "[apps]") {
    const TempDir dir;
    for (const char* folder : {"moved/bin", "moved/share/doc/whittle/tool/docs"})
        std::filesystem::create_directories(dir / folder);
    std::filesystem::copy_file(WHITTLE_CLI, dir / "moved/bin/whittle");
    const auto moved = [&](const std::string& arguments) {
        return run_cli(dir, "--version > version; ./moved/bin/whittle " + arguments).out;
    };
    const std::string pages = std::filesystem::canonical(dir.path()).string() + "/moved/share/doc/whittle";
    CHECK(has(moved("--help"), "\nDocumentation: in whittle's repository; "));
    write_text(pages + "/tool/docs/cli.md", "# The command-line tool\n");
    CHECK(has(moved("--help"), "\nDocumentation: " + pages + "; tool/docs/cli.md is about this program\n"));
    CHECK(has(moved("replay --help"), "\nDocumentation: " + pages + "; "));
    write_text(dir / "bad.json", R"({"presett": "cheap"})");
    CHECK(has(moved("doctor bad.json"), pages + "/extensions/config/README.md has the keys"));
    write_text(dir / "prose.txt", "once upon a time");
    CHECK(has(run_cli(dir, "--version > version; ./moved/bin/whittle check prose.txt").err,
              pages + "/tool/docs/logs.md says where agents keep them"));
}

TEST_CASE("a wrong configuration is exit code 2, with every problem and its place", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", session_line("a", 1, 10));
    write_text(dir / "chain.json",
               "{\n  \"langauge\": \"en\",\n  \"middlewares\": [{\"type\": \"reduction\", \"skip_truncation\": true, "
               "\"max_tokens_for_clear\": -1}]\n}");
    const CliResult result = run_cli(dir, "replay s.jsonl --config chain.json");
    CHECK(result.exit_code == 2);
    CHECK(has(result.err, "chain.json:2:"));
    CHECK(has(result.err, "chain.json:3:"));
    CHECK(has(result.err, "language"));
    CHECK(result.out.empty());
}

TEST_CASE("broken input is exit code 1, with file, line, and what was expected and found", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "role.jsonl",
               session_line("a", 1, 10) + R"({"messages":[{"role":"user","content":"x"},{"role":null}]})" + "\n");
    for (const std::string command : {"replay role.jsonl --config chain.json", "check role.jsonl"}) {
        const CliResult result = run_cli(dir, command);
        CHECK(result.exit_code == 1);
        CHECK(has(result.err, "role.jsonl:2: messages[1].role: expected a string, found null"));
    }
    write_text(dir / "cut.jsonl", session_line("a", 1, 10) + "{\"messages\": [");
    const CliResult cut = run_cli(dir, "check cut.jsonl");
    CHECK(cut.exit_code == 1);
    CHECK(has(cut.err, "cut.jsonl:2"));
    CHECK(has(cut.err, "byte"));

    const CliResult absent = run_cli(dir, "check nowhere.jsonl");
    CHECK(absent.exit_code == 1);
    CHECK(has(absent.err, "nowhere.jsonl: No such file"));
    const CliResult folder = run_cli(dir, "check .");
    CHECK(folder.exit_code == 1);
    CHECK(has(folder.err, "directory"));
}

TEST_CASE("a run that fails leaves neither output nor temporary files", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", R"({"storage":{"type":"memory"}})");
    write_text(dir / "bad.jsonl", session_line("a", 2, 10) + "nonsense\n");
    CHECK(run_cli(dir, "replay bad.jsonl --config chain.json --requests out.jsonl").exit_code == 1);
    CHECK(files_in(dir) == std::vector<std::string>{"bad.jsonl", "chain.json"});
    CHECK(run_cli(dir, "replay bad.jsonl --config chain.json --requests no/such/place.jsonl").exit_code == 1);
}

TEST_CASE("Ctrl-C ends a run and leaves neither output nor temporary files", "[apps]") {
    const TempDir dir;
    const TempDir pipes;
    write_text(dir / "chain.json", R"({"storage":{"type":"memory"}})");
    write_text(dir / "s.jsonl", session_line("a", 2, 10));
    // A pipe that stays open: the program has written its first requests and waits for more when the signal comes.
    write_text(pipes / "wait",
               "mkfifo '" + (pipes / "p") + "' && exec 3<>'" + (pipes / "p") +
                   "' && cat s.jsonl >&3 && exec timeout --foreground --preserve-status -s INT 1 '" WHITTLE_CLI
                   "' replay - --config chain.json --requests out.jsonl <&3");
    const CliResult result = run_cli(dir, "--version > /dev/null; sh '" + (pipes / "wait") + "'");
    if (result.exit_code == 127) SKIP_WITH_MESSAGE("there is no timeout command here");
    CHECK(result.exit_code == 128 + 2);
    CHECK(result.out.empty());
    CHECK(files_in(dir) == std::vector<std::string>{"chain.json", "s.jsonl"});
}

TEST_CASE("without a terminal there are no colours and no progress", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "s.jsonl", session_line("a", 20, 4'000));
    const CliResult result = run_cli(dir, "replay s.jsonl --config chain.json");
    CHECK(result.exit_code == 0);
    CHECK_FALSE(has(result.out, "\x1b"));
    CHECK(result.err.empty());
}
