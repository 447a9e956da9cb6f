#include "cli.hpp"
#include "support/catch.hpp"

#include <string>

using namespace whittle::testing;

TEST_CASE("packed data that grows out of proportion is refused by every command, and may be allowed", "[apps][large]") {
    const TempDir dir;
    write_text(dir / "chain.json", R"({"storage": {"type": "memory"}})");
    const std::string make =
        R"(awk 'BEGIN{printf "[{\"role\":\"user\",\"content\":\"";for(i=0;i<17000;i++)printf "%01000d",0;)"
        R"(print "\"}]"}' | gzip -9 > ')" +
        (dir / "bomb.json.gz") + "'";
    if (std::system(make.c_str()) != 0) SKIP_WITH_MESSAGE("there is no gzip here");
    for (const std::string command :
         {"check bomb.json.gz", "count bomb.json.gz", "replay bomb.json.gz --config chain.json",
          "apply --in bomb.json.gz --dry-run --config chain.json"}) {
        CAPTURE(command);
        const CliResult result = run_cli(dir, command);
        if (has(result.err, "without zlib")) SKIP_WITH_MESSAGE("built without zlib");
        CHECK(result.exit_code == 1);
        CHECK(has(result.err, "bomb.json.gz: expected gzip data that becomes at most 200 times as large"));
        CHECK(has(result.err, "--max-ratio"));
        CHECK(run_cli(dir, command + " --max-ratio 0").exit_code == 0);
        CHECK(run_cli(dir, command + " --max-ratio 2000").exit_code == 0);
    }
}

TEST_CASE("an input above --max-input is refused by every command", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", R"({"storage": {"type": "memory"}})");
    write_text(dir / "s.jsonl", session_line("a", 3, 1'000) + session_line("b", 3, 1'000));
    write_text(dir / "t.json", session_line("a", 3, 1'000));
    for (const std::string command :
         {"check s.jsonl", "count s.jsonl", "count --text s.jsonl", "replay s.jsonl --config chain.json",
          "apply --in t.json --dry-run --config chain.json"}) {
        CAPTURE(command);
        const CliResult result = run_cli(dir, command + " --max-input 2K");
        CHECK(result.exit_code == 1);
        CHECK(has(result.err, "expected at most 2048 bytes"));
        CHECK(run_cli(dir, command + " --max-input 1M").exit_code == 0);
        CHECK(run_cli(dir, command + " --max-input 0").exit_code == 0);
    }
    CHECK(run_cli(dir, "check s.jsonl --max-input 5K").exit_code == 0);  // of one session, not of the file
}

TEST_CASE("an input without any session is an error", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", R"({"storage": {"type": "memory"}})");
    write_text(dir / "empty.jsonl", "");
    write_text(dir / "blank.jsonl", "\n \n");
    for (const std::string file : {"empty.jsonl", "blank.jsonl"}) {
        for (const std::string command : {"check ", "count ", "replay --config chain.json "}) {
            CAPTURE(command, file);
            const CliResult result = run_cli(dir, command + file);
            CHECK(result.exit_code == 1);
            CHECK(has(result.err, file + ": expected sessions, found none"));
        }
    }
}
