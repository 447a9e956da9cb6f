// What a scan could not use is named, with why, and costs nobody else's bill.
#include "cli.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

using namespace whittle::testing;
using nlohmann::json;

namespace {

std::string left_out_fixture(const std::string& name) { return WHITTLE_SOURCE_DIR "/tool/tests/logs/fixtures/" + name; }

void put_fixture(const TempDir& dir, const std::string& name, const std::string& at) {
    const std::filesystem::path path = dir.path() / at;
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::copy_file(left_out_fixture(name), path);
}

std::string last_error_line(const std::string& text) {
    const std::string trimmed = text.substr(0, text.find_last_not_of('\n') + 1);
    const std::size_t begin = trimmed.rfind('\n');
    return begin == std::string::npos ? trimmed : trimmed.substr(begin + 1);
}

}  // namespace

TEST_CASE("files without a session are named by reason, and the others' bills are whole", "[apps]") {
    const TempDir dir;
    put_fixture(dir, "claude_code.jsonl", "logs/good.jsonl");
    const json alone = json::parse(run_cli(dir, "scan logs --json").out);
    CHECK(alone["notes"]["skipped_files"].empty());
    write_text(dir / "logs/a.jsonl", " \n");
    write_text(dir / "logs/b.jsonl", "not a session\n");
    write_text(dir / "logs/c.json", R"({"version": 3, "theme": "dark"})");
    write_text(dir / "logs/d.jsonl", R"({"x":1})"
                                     "\n");
    write_text(dir / "logs/e.jsonl", R"({"type":"summary","summary":"s","leafUuid":"1"})"
                                     "\n");
    const CliResult result = run_cli(dir, "scan logs --json");
    CHECK(result.exit_code == 0);
    const json shown = json::parse(result.out);
    CHECK(shown["agents"] == alone["agents"]);
    CHECK(shown["notes"]["skipped_files"].size() == 5);
    CHECK(last_error_line(result.err) ==
          "whittle: files without a session: JSON of no known form: logs/c.json (keys theme, version), logs/d.jsonl "
          "(keys x); "
          "empty: logs/a.jsonl; log without a session: logs/e.jsonl (claude_code); no JSON: logs/b.jsonl");
    CHECK(has(run_cli(dir, "scan logs").out, "empty: logs/a.jsonl"));
}

TEST_CASE("where no file has a session, the last line says what each of them is", "[apps]") {
    const TempDir dir;
    std::filesystem::create_directories(dir.path() / "logs");
    for (int i = 0; i < 20; ++i) write_text(dir / ("logs/" + std::to_string(100 + i) + ".jsonl"), "");
    const CliResult result = run_cli(dir, "scan logs");
    CHECK(result.exit_code == 1);
    const std::string last = last_error_line(result.err);
    CHECK(has(last, "failed: no sessions found; files without a session: empty: logs/100.jsonl, "));
    CHECK(has(last, "logs/111.jsonl, and 8 more"));
}

TEST_CASE("a database of another program is no failure, and a log that is damaged is one", "[apps]") {
    const TempDir dir;
    put_fixture(dir, "claude_code.jsonl", "logs/good.jsonl");
    if (run_cli(dir, "--version > /dev/null; command -v sqlite3").exit_code != 0) SKIP_WITH_MESSAGE("no sqlite3");
    CHECK(
        run_cli(dir, "--version > /dev/null; sqlite3 logs/other.db 'CREATE TABLE tasks (id); CREATE TABLE users (id)'")
            .exit_code == 0);
    const CliResult other = run_cli(dir, "scan logs");
    if (has(other.err, "built without SQLite")) SKIP_WITH_MESSAGE("built without SQLite");
    CHECK(other.exit_code == 0);
    CHECK(last_error_line(other.err) ==
          "whittle: files without a session: database of another program: logs/other.db (tables tasks, users)");
    write_text(dir / "logs/torn.db", std::string("SQLite format 3\0", 16) + std::string(4'000, '\x55'));
    const CliResult torn = run_cli(dir, "scan logs");
    CHECK(torn.exit_code == 1);
    CHECK(has(last_error_line(torn.err), "failed: 1 file could not be read (logs/torn.db); files without a session: "));
}

TEST_CASE("a log whose first member is long is read as what it is", "[apps]") {
    const TempDir dir;
    put_fixture(dir, "mini_swe_agent.traj.json", "short/a.traj.json");
    const json expected = json::parse(run_cli(dir, "scan short --json").out);
    std::string text = read_text(left_out_fixture("mini_swe_agent.traj.json"));
    text.insert(text.find('{') + 1, R"("padding":")" + std::string(5'000'000, 'x') + "\",");
    std::filesystem::create_directories(dir.path() / "long");
    write_text(dir / "long/a.traj.json", text);
    const json shown = json::parse(run_cli(dir, "scan long --json").out);
    CHECK(shown["agents"] == expected["agents"]);
    CHECK(shown["agents"].contains("swe_agent"));
    const CliResult by_name = run_cli(dir, "check long/a.traj.json");
    CHECK(by_name.exit_code == 0);
}
