// Files that are made to do harm, or are damaged in odd ways: each of them costs itself alone.
#include "cli.hpp"
#include "support/catch.hpp"
#include "support/sanitized.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>

using namespace whittle::testing;
using nlohmann::json;

namespace {

bool has_sqlite3() { return std::system("command -v sqlite3 > /dev/null") == 0; }

/// Makes `name` in `dir` of SQL.
void make_database(const TempDir& dir, const std::string& name, const std::string& sql) {
    write_text(dir / "make.sql", sql);
    std::filesystem::create_directories(std::filesystem::path(dir / name).parent_path());
    REQUIRE(std::system(("sqlite3 '" + (dir / name) + "' < '" + (dir / "make.sql") + "'").c_str()) == 0);
    std::filesystem::remove(dir / "make.sql");
}

/// Of a store that whittle made.
std::string application_id() {
    const TempDir dir;
    (void)std::system(("cd '" + dir.path().string() +
                       "' && touch s.db && '" WHITTLE_CLI
                       "' store ls s.db > /dev/null 2>&1; sqlite3 s.db 'PRAGMA application_id' > id")
                          .c_str());
    return read_text(dir / "id");
}

const std::string opencode_tables = R"(
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, version text, revert text, time_created integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, data text);
)";

/// A session of opencode with one call, whose first part holds `part` as it is.
std::string opencode_session(const std::string& id, const std::string& part) {
    return "INSERT INTO session VALUES ('" + id + "', NULL, '/w', '1.3.10', NULL, 1);\nINSERT INTO message VALUES ('" +
           id + "m1', '" + id + "', 10, '{\"role\":\"user\"}'), ('" + id + "m2', '" + id +
           R"(', 20, '{"role":"assistant","modelID":"m","tokens":{"input":7,"output":1,"reasoning":0,"cache":{"read":5,"write":0}}}');
INSERT INTO part VALUES (')" +
           id + "p0', '" + id + "m1', '" + id + "', 1, " + part + "), ('" + id + "p1', '" + id + "m1', '" + id +
           R"(', 2, '{"type":"text","text":"go"}'), (')" + id + "p2', '" + id + "m2', '" + id +
           R"(', 3, '{"type":"text","text":"done"}');)" + "\n";
}

/// SQL for a text that is `levels` deep.
std::string deep_text(int levels) {
    return "replace(hex(zeroblob(" + std::to_string(levels) + ")), '00', '[') || replace(hex(zeroblob(" +
           std::to_string(levels) + ")), '00', ']')";
}

/// What a scan of whole files alone gives: two calls.
void write_good_files(const TempDir& dir) {
    std::filesystem::create_directories(dir / "logs");
    const std::filesystem::path fixtures = WHITTLE_SOURCE_DIR "/tool/tests/logs/fixtures";
    std::filesystem::copy_file(fixtures / "codex.jsonl", dir / "logs/a_codex.jsonl");
    std::filesystem::copy_file(fixtures / "claude_code.jsonl", dir / "logs/z_claude.jsonl");
}

/// The sessions of the agents, without those of opencode.
json agents_without_opencode(const CliResult& result) {
    json agents = json::parse(result.out)["agents"];
    agents.erase("opencode");
    return agents;
}

}  // namespace

TEST_CASE("JSON that is too deep in a row of a database costs the row, and no other file", "[apps]") {
    if (!has_sqlite3()) SKIP_WITH_MESSAGE("there is no sqlite3 here");
    const TempDir dir;
    write_good_files(dir);
    const CliResult good = run_cli(dir, "scan logs --json");
    for (const std::string& deep :
         {deep_text(100'000), deep_text(197), std::string("'{\"a\":' || ") + deep_text(5'000)}) {
        const TempDir with;
        write_good_files(with);
        make_database(with, "logs/m/opencode.db",
                      opencode_tables + opencode_session("ses_1", deep) + opencode_session("ses_2", "'{}'"));
        const CliResult result = run_cli(with, "scan logs --json");
        if (has(result.err, "without SQLite")) SKIP_WITH_MESSAGE("built without SQLite");
        REQUIRE(result.exit_code == 0);
        CHECK(agents_without_opencode(result) == json::parse(good.out)["agents"]);
        CHECK(json::parse(result.out)["agents"]["opencode"]["sessions"] == 2);
        CHECK(json::parse(result.out)["agents"]["opencode"]["billed"]["cache_read_tokens"] == 10);
        CHECK(has(result.err, "opencode.db: 1 damaged line left out"));
        CHECK(has(result.err, "nested deeper than 196 levels"));
    }
    const TempDir with;
    make_database(with, "opencode.db", opencode_tables + opencode_session("ses_1", deep_text(190)));
    CHECK_FALSE(has(run_cli(with, "scan opencode.db").err, "damaged"));
}

TEST_CASE("a row of nothing but small values costs the row", "[apps]") {
    if (!has_sqlite3()) SKIP_WITH_MESSAGE("there is no sqlite3 here");
    const TempDir dir;
    const std::string numbers = "'[' || replace(hex(zeroblob(1000000)), '00', '1,') || '1]'";
    make_database(dir, "opencode.db",
                  opencode_tables + opencode_session("ses_1", numbers) + opencode_session("ses_2", "'{}'"));
    const CliResult result = run_cli(dir, "scan opencode.db --json");
    if (has(result.err, "without SQLite")) SKIP_WITH_MESSAGE("built without SQLite");
    CHECK(json::parse(result.out)["agents"]["opencode"]["sessions"] == 2);
    CHECK(has(result.err, "more values than a file of this size may hold"));
}

TEST_CASE("a session of a database above --max-input is left out, and the others are read", "[apps]") {
    if (!has_sqlite3()) SKIP_WITH_MESSAGE("there is no sqlite3 here");
    const TempDir dir;
    make_database(dir, "opencode.db",
                  opencode_tables +
                      opencode_session("ses_1", "json_object('type', 'text', 'text', hex(zeroblob(20000)))") +
                      opencode_session("ses_2", "'{}'"));
    const CliResult result = run_cli(dir, "scan opencode.db --json --max-input 30K");
    if (has(result.err, "without SQLite")) SKIP_WITH_MESSAGE("built without SQLite");
    CHECK(json::parse(result.out)["agents"]["opencode"]["sessions"] == 1);
    CHECK(has(result.err, "a session of more than 30720 bytes"));
}

TEST_CASE("a file that takes more memory than there is fails alone", "[apps]") {
    if (is_sanitized) SKIP_WITH_MESSAGE("a sanitizer takes more addresses than the limit leaves");
    const TempDir dir;
    write_good_files(dir);
    const json good = json::parse(run_cli(dir, "scan logs --json").out);
    const std::string front =
        R"({"type":"user","uuid":"1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":")";
    write_text(dir / "logs/m.jsonl", front + std::string(60U << 20U, 'x') + R"("}})" + "\n");
    for (const char* limit : {"250000", "400000"}) {  // while it is read, and while it is looked at
        write_text(dir / "run", std::string("ulimit -v ") + limit + " || exit 99; exec '" WHITTLE_CLI "' scan '" +
                                    (dir / "logs") + "' --json");
        const CliResult result = run_cli(dir, "--version > /dev/null; sh '" + (dir / "run") + "'");
        if (result.exit_code == 99) SKIP_WITH_MESSAGE("no limit of memory can be set here");
        INFO(result.err);
        REQUIRE(json::accept(result.out));
        const json shown = json::parse(result.out);
        CHECK(shown["agents"]["codex"] == good["agents"]["codex"]);
        CHECK(shown["total"]["billed"] == good["total"]["billed"]);
        CHECK(shown["strategies"] == good["strategies"]);
        CHECK(result.exit_code == 1);
        CHECK(has(result.err, "m.jsonl: out of memory"));
    }
}

TEST_CASE("a database with a view in place of a table is refused, by scan and by store", "[apps]") {
    if (!has_sqlite3()) SKIP_WITH_MESSAGE("there is no sqlite3 here");
    const std::string endless = " AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT ";
    const TempDir dir;
    write_good_files(dir);
    make_database(dir, "logs/m/opencode.db",
                  "CREATE VIEW session" + endless +
                      "i AS id, i AS parent_id, '' AS directory, '' AS version, '' AS "
                      "revert, i AS time_created FROM n;");
    const CliResult scanned = run_cli(dir, "scan logs --json");
    if (has(scanned.err, "without SQLite")) SKIP_WITH_MESSAGE("built without SQLite");
    CHECK(scanned.exit_code == 1);
    CHECK(has(scanned.err, "opencode.db: expected a database of opencode: "));
    CHECK(json::parse(scanned.out)["agents"]["codex"]["sessions"] == 1);

    make_database(dir, "store.db",
                  "PRAGMA application_id = " + application_id() + "; PRAGMA user_version = 1;" + "CREATE VIEW objects" +
                      endless +
                      "'k/' || i AS key, i AS content, i AS bytes, '' AS sha256, i AS stored_at, i "
                      "AS mark FROM n;");
    for (const char* command : {"store ls store.db", "store verify store.db", "store show store.db k/1"}) {
        const CliResult result = run_cli(dir, command);
        CHECK(result.exit_code == 1);
        CHECK_FALSE(result.err.empty());
        CHECK_FALSE(has(result.err, "another program"));
    }
}

TEST_CASE("the first Ctrl-C ends a query that takes long", "[apps]") {
    if (!has_sqlite3()) SKIP_WITH_MESSAGE("there is no sqlite3 here");
    const TempDir dir;
    // Days of work in front of the first row.
    make_database(dir, "opencode.db",
                  "CREATE TABLE session (id integer PRIMARY KEY, parent_id text, directory text AS "
                  "(replace(hex(zeroblob(2000000)), '00', 'ab')), version text, revert text, time_created integer);"
                  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) "
                  "INSERT INTO session(id, time_created) SELECT i, -i FROM n;");
    write_text(dir / "run", "'" WHITTLE_CLI "' scan '" + (dir / "opencode.db") +
                                "' & whittle=$!; sleep 0.5; kill -INT $whittle; wait $whittle; exit $?");
    const CliResult result = run_cli(dir, "--version > /dev/null; bash -m '" + (dir / "run") + "'");
    CHECK(result.exit_code != 0);
}

TEST_CASE("folders may be deeper than files may be open", "[apps]") {
    const TempDir dir;
    write_good_files(dir);
    const json good = json::parse(run_cli(dir, "scan logs --json").out);
    // Deeper than there may be open files.
    std::string deep = dir / "logs/b";
    for (int level = 0; level < 60; ++level) deep += "/d";
    std::filesystem::create_directories(deep);
    std::filesystem::rename(dir / "logs/z_claude.jsonl", deep + "/z_claude.jsonl");
    write_text(dir / "run", "ulimit -n 32 || exit 99; exec '" WHITTLE_CLI "' scan '" + (dir / "logs") + "' --json");
    const CliResult result = run_cli(dir, "--version > /dev/null; sh '" + (dir / "run") + "'");
    if (result.exit_code == 99) SKIP_WITH_MESSAGE("the number of open files cannot be limited here");
    CHECK(result.exit_code == 0);
    CHECK(json::parse(result.out)["agents"] == good["agents"]);
}

TEST_CASE("a folder that cannot be read is said, and the others are read", "[apps]") {
    const TempDir dir;
    write_good_files(dir);
    const json good = json::parse(run_cli(dir, "scan logs --json").out);
    // A path longer than the system takes.
    const std::string name(200, 'n');
    write_text(dir / "make", "cd '" + (dir / "logs") + "' && for i in $(seq 25); do mkdir " + name + " && cd " + name +
                                 " || exit 1; done; echo '{}' > s.json");
    REQUIRE(std::system(("bash '" + (dir / "make") + "'").c_str()) == 0);
    const CliResult result = run_cli(dir, "scan logs --json");
    CHECK(std::system(("rm -r '" + (dir / ("logs/" + name)) + "'").c_str()) == 0);
    CHECK(result.exit_code == 0);  // no file failed
    CHECK_FALSE(has(result.err, "failed"));
    CHECK(has(result.err, "read logs/" + name));
    CHECK(has(result.err, "File name too long"));
    CHECK(json::parse(result.out)["agents"] == good["agents"]);
}

TEST_CASE("links in a folder and pipes that look like files are passed over", "[apps]") {
    const TempDir dir;
    write_good_files(dir);
    const json good = json::parse(run_cli(dir, "scan logs --json").out);
    std::filesystem::create_directories(dir / "other/inside");
    std::filesystem::copy_file(WHITTLE_SOURCE_DIR "/tool/tests/logs/fixtures/gemini_cli.json",
                               dir / "other/inside/g.json");
    std::filesystem::create_symlink(dir / "other/inside/g.json", dir / "logs/g.json");
    std::filesystem::create_symlink(dir / "other", dir / "logs/o");
    std::filesystem::create_directories(dir / "logs/c/events");
    std::filesystem::copy_file(WHITTLE_SOURCE_DIR "/tool/tests/logs/fixtures/codex.jsonl", dir / "logs/c/none.txt");
    write_text(dir / "logs/c/events/event-00000-a.json",
               R"({"id":"a","timestamp":"2026-01-01T00:00:00","source":"user","kind":"MessageEvent",)"
               R"("llm_message":{"role":"user","content":[{"type":"text","text":"go"}]}})");
    const std::string pipes = "mkfifo '" + (dir / "logs/p.jsonl") + "' '" + (dir / "logs/c/events/event-00001-b.json") +
                              "' '" + (dir / "logs/c/base_state.json") + "'";
    REQUIRE(std::system(pipes.c_str()) == 0);
    const CliResult result = run_cli(dir, "scan logs --json");
    CHECK(json::parse(result.out)["agents"]["codex"] == good["agents"]["codex"]);
    CHECK(json::parse(result.out)["agents"].contains("gemini_cli") == false);
    CHECK(has(result.err, "note: logs: 2 links were not followed"));
    CHECK(run_cli(dir, "scan logs/g.json").exit_code == 0);  // named by the person
}

TEST_CASE("no number of tokens makes a cost negative", "[apps]") {
    const TempDir dir;
    const std::string most = "9223372036854775807";
    write_text(
        dir / "s.jsonl",
        R"({"type":"user","uuid":"1","parentUuid":null,"isSidechain":false,"sessionId":"s","message":{"role":"user","content":"go"}})"
        "\n"
        R"({"type":"assistant","uuid":"2","parentUuid":"1","isSidechain":false,"sessionId":"s","message":{"id":"m1",)"
        R"("role":"assistant","model":"m","content":[{"type":"text","text":"done"}],"usage":{"input_tokens":)" +
            most + R"(,"cache_read_input_tokens":)" + most + R"(,"output_tokens":)" + most + "}}}\n");
    const CliResult shown = run_cli(dir, "scan s.jsonl");
    CHECK(shown.exit_code == 0);
    CHECK_FALSE(has(shown.out, "-9,223"));
    CHECK_FALSE(has(shown.out, " -2 "));
    CHECK(has(shown.out, "9,223,372,036,854,775,807"));
    const json totals = json::parse(run_cli(dir, "scan s.jsonl --json").out);
    CHECK(totals["total"]["billed"].dump().find('-') == std::string::npos);
    CHECK(totals["agreement"].dump().find("-50000") == std::string::npos);
}

TEST_CASE("a note on unknown kinds names the most frequent ones, and how many more there are", "[apps]") {
    const TempDir dir;
    std::string log =
        R"({"type":"user","uuid":"1","parentUuid":null,"isSidechain":false,"sessionId":"s","message":{"role":"user","content":"go"}})"
        "\n";
    for (int kind = 0; kind < 20'000; ++kind)
        log += R"({"type":"kind)" + std::to_string(kind) + R"(","uuid":"u)" + std::to_string(kind) +
               R"(","sessionId":"s"})" + "\n";
    log += R"({"type":"kind777","sessionId":"s"})"
           "\n";
    write_text(dir / "s.jsonl", log);
    const CliResult result = run_cli(dir, "scan s.jsonl");
    CHECK(result.err.size() < 2'000);
    CHECK(has(result.err, "unknown kinds of records: 2 kind777, 1 kind0"));
    CHECK(has(result.err, "and 19,988 more kinds"));
}

TEST_CASE("a line of nothing but small values costs the line, not a hundred times its size", "[apps]") {
    if (is_sanitized) SKIP_WITH_MESSAGE("a sanitizer takes more addresses than the limit leaves");
    const TempDir dir;
    write_good_files(dir);
    const json good = json::parse(run_cli(dir, "scan logs --json").out);
    for (const std::string filling : {",1", ",{},[]", ",\"a\"", ",{\"a\":1}"}) {
        CAPTURE(filling);
        std::string line = R"({"type":"user","uuid":"1","parentUuid":null,"sessionId":"s","message":{"content":[0)";
        while (line.size() < (16U << 20U)) line += filling;
        write_text(dir / "logs/m.jsonl", line + R"(],"role":"user"}})" + "\n");
        // 200 MB and ten times the file.
        write_text(dir / "run",
                   "ulimit -v 400000 || exit 99; exec '" WHITTLE_CLI "' scan '" + (dir / "logs") + "' --json");
        const CliResult result = run_cli(dir, "--version > /dev/null; sh '" + (dir / "run") + "'");
        if (result.exit_code == 99) SKIP_WITH_MESSAGE("no limit of memory can be set here");
        CHECK(result.exit_code == 0);
        CHECK(has(result.err, "more values than a file of this size may hold"));
        REQUIRE(json::accept(result.out));
        CHECK(json::parse(result.out)["agents"]["codex"] == good["agents"]["codex"]);
    }
}

TEST_CASE("a session in the library's own form has no more values than a log", "[apps]") {
    const TempDir dir;
    std::string line = R"({"id":"x","messages":[{"role":"user","content":[0)";
    while (line.size() < 4'000'000) line += ",1";
    write_text(dir / "s.jsonl", line + "]}]}\n");
    const CliResult result = run_cli(dir, "scan s.jsonl");
    CHECK(result.exit_code == 1);
    CHECK(has(result.err, "s.jsonl:1: more values than a file of this size may hold"));
}

TEST_CASE("in a folder where each file fails in another way the others' results are whole", "[apps]") {
    const TempDir dir;
    write_good_files(dir);
    const json good = json::parse(run_cli(dir, "scan logs --json").out);
    const std::string user =
        R"({"type":"user","uuid":"1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":)";
    write_text(dir / "logs/b.jsonl", user + std::string(100'000, '[') + std::string(100'000, ']') + "}}\n");
    write_text(dir / "logs/c.jsonl.gz", std::string("\x1F\x8B\x08\x00") + "no gzip");
    write_text(dir / "logs/d.jsonl.zst", std::string("\x28\xB5\x2F\xFD") + "no zstd");
    write_text(dir / "logs/e.jsonl", std::string("\0\xFF\xFE{", 4) + std::string(70'000, '\0'));
    write_text(dir / "logs/f.json", user);                                                   // ends in the middle
    write_text(dir / "logs/g.jsonl", user + "\"" + std::string(3U << 20U, 'x') + "\"}}\n");  // above --max-input
    write_text(dir / "logs/h.db", std::string("SQLite format 3\0", 16) + std::string(4'000, '\x55'));
    write_text(dir / "logs/i.csv", "id,\"name\n" + std::string(10'000, '"'));
    write_text(dir / "logs/j.har", R"({"log":{"version":"1.2","creator":{},"entries":[7,null,{"request":7}]}})");
    write_text(dir / "logs/k.traj", R"({"trajectory":[[],7,{"action":[]}],"history":"x","environment":3})");
    write_text(dir / "logs/l.jsonl", "\"" + std::string(100'000, '\\') + "\n");
    if (has_sqlite3()) {
        make_database(dir, "logs/m/opencode.db", opencode_tables + opencode_session("ses_1", deep_text(100'000)));
        make_database(dir, "logs/n/opencode.db", "CREATE VIEW session AS SELECT 1 AS id;");
        make_database(dir, "logs/o/other.db", "CREATE TABLE x (y);");
    }
    const CliResult result = run_cli(dir, "scan logs --json --max-input 2M");
    CHECK((result.exit_code == 0 || result.exit_code == 1));
    REQUIRE(json::accept(result.out));
    const json agents = json::parse(result.out)["agents"];
    CHECK(agents["codex"] == good["agents"]["codex"]);
    CHECK(agents["claude_code"]["billed"] == good["agents"]["claude_code"]["billed"]);
    for (const char* file : {"b.jsonl", "c.jsonl.gz", "g.jsonl", "h.db"}) {
        CAPTURE(file, result.err);
        CHECK(has(result.err, file));
    }
}
