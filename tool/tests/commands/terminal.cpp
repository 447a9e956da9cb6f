#include "cli.hpp"
#include "support/catch.hpp"

#include "whittle/storage/storage.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace whittle::testing;
using nlohmann::ordered_json;

namespace {

/// Controls of both kinds, line feeds aside, and marks that turn the direction of a line.
bool may_steer_a_terminal(const std::string& text) {
    const bool has_control = std::ranges::any_of(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20U && c != '\n') || byte == 0x7FU;
    });
    return has_control || has(text, "\xC2\x9B") || has(text, "\xE2\x80\xAE") || has(text, "\xE2\x80\xA8");
}

/// Clears the screen, forges a line, turns the rest of the line around, all as JSON text.
const std::string hostile = R"(a\u001b[2J\u009b31m\nwhittle: all is well\u202e\u2028\u007f)";

std::string hostile_session() {
    return R"({"id":")" + hostile + R"(","messages":[{"role":"user","content":"go"},{"role":"tool","tool_call_id":")" +
           hostile + R"(","content":"x"},{"role":"assistant","tool_calls":[{"id":")" + hostile +
           R"(","type":"function","function":{"name":")" + hostile + R"(","arguments":"{}"}}]}]})" + "\n";
}

std::vector<std::string> printed_lines(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

}  // namespace

TEST_CASE("what stands beside a secret steers the terminal no more than without one", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    const std::string key = " sk-proj-abcdefghijklmnop0123456789";
    std::string session = hostile_session();
    for (std::size_t at = session.find(hostile); at != std::string::npos;
         at = session.find(hostile, at + hostile.size() + key.size()))
        session.insert(at + hostile.size(), key);
    write_text(dir / "s.jsonl", session);
    write_text(dir / "json_id.jsonl",
               R"({"id":"{\"a\":\"\\u009b2J\\u202e)" + key +
                   R"(\"}","messages":[{"role":"user","content":"go"},{"role":"tool","tool_call_id":"x",)" +
                   R"("content":"x"}]})");
    for (const std::string file : {"s.jsonl", "json_id.jsonl"}) {
        for (const std::string command :
             {"check", "check --json", "count", "count --json", "replay --config chain.json",
              "replay --json --config chain.json", "apply --config chain.json --dry-run --in",
              "apply --config chain.json --json --dry-run --in", "explain --config chain.json",
              "explain --json --config chain.json", "diff --config chain.json --preset cheap --call 0 --calls", "scan",
              "scan --json", "compare --strategy noop --json --sessions"}) {
            CAPTURE(command, file);
            const CliResult result = run_cli(dir, command + " " + file);
            CHECK_FALSE(may_steer_a_terminal(result.out));
            CHECK_FALSE(may_steer_a_terminal(result.err));
            CHECK_FALSE(has(result.out + result.err, "abcdefghijklmnop"));
            if (has(command, "--json") && !result.out.empty()) CHECK(ordered_json::accept(result.out));
        }
    }
}

TEST_CASE("nothing that an input holds steers the terminal, whichever command prints it", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    const std::string name = "s\x1b[31m\xC2\x9B.jsonl";
    write_text(dir / name, hostile_session());
    write_text(dir / "both.jsonl", R"({"id":")" + hostile +
                                       R"(","messages":[{"role":"assistant","tool_calls":[]},{"role":"user",)"
                                       R"("content":[{"type":"tool_result","tool_use_id":"x"}]}]})");
    write_text(dir / "role.jsonl", R"({"messages":[{"role":")" + hostile + R"("}]})");
    write_text(dir / "key.json", R"({")" + hostile + R"(":1})");
    const std::string file = "'" + name + "'";
    for (const std::string& arguments :
         std::vector<std::string>{"check " + file,
                                  "check --json " + file,
                                  "count " + file,
                                  "count --json " + file,
                                  "replay --config chain.json " + file,
                                  "replay --json --config chain.json " + file,
                                  "replay --config chain.json both.jsonl " + file,
                                  "apply --config chain.json --dry-run --in " + file,
                                  "apply --config chain.json --json --dry-run --in " + file,
                                  "check role.jsonl",
                                  "check both.jsonl",
                                  "replay --config key.json " + file,
                                  "check '--no\x1b[2J'",
                                  "check '\x1b[2J'",
                                  "explain --config chain.json " + file,
                                  "explain --json --config chain.json " + file,
                                  "explain --config chain.json --session '\x1b[2J' " + file,
                                  "diff --config chain.json --preset cheap --call 0 --calls " + file,
                                  "diff --json --config chain.json --preset cheap --call 0 " + file,
                                  "diff --config key.json --config '\x1b[2J' " + file,
                                  "config check key.json",
                                  "config check key.json --json",
                                  "config check '\x1b[2J'",
                                  "config show key.json --origins",
                                  "doctor key.json",
                                  "doctor key.json --json",
                                  "store ls '\x1b[2J'",
                                  "store show . '\x1b[2J'",
                                  "store gc . --live '\x1b[2J'",
                                  "completion '\x1b[2J'",
                                  "check --profile '\x1b[2J' " + file,
                                  "count --counter '\x1b[2J' " + file,
                                  "vocab install '\x1b[2J'"}) {
        CAPTURE(arguments);
        const CliResult result = run_cli(dir, arguments);
        CHECK_FALSE(may_steer_a_terminal(result.out));
        CHECK_FALSE(may_steer_a_terminal(result.err));
        CHECK_FALSE(has("\n" + result.out + result.err, "\nwhittle: all is well"));
    }
    const CliResult check = run_cli(dir, "check " + file);
    CHECK(has(check.out, R"(a\u001b[2J\u009b31m\u000awhittle: all is well\u202e\u2028\u007f)"));
    const ordered_json shown = ordered_json::parse(run_cli(dir, "check --json " + file).out);
    CHECK(shown["violation_list"][0]["trajectory"] == ordered_json::parse("\"" + hostile + "\""));
}

TEST_CASE("wide and combining characters in names keep a table aligned", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    std::string sessions;
    const std::vector<std::string> ids{"plain", "\xE6\xBC\xA2\xE5\xAD\x97", "e\xCC\x81t\xC3\xA9", "\xF0\x9F\x98\x80",
                                       R"(\u001b)"};
    for (const std::string& id : ids) sessions += session_line(id, 1, 10);
    write_text(dir / "s.jsonl", sessions);
    const auto lines = printed_lines(run_cli(dir, "replay s.jsonl --config chain.json").out);
    REQUIRE(lines.size() > 6);
    // The number of calls ends in the same column: what stands before it has the width that the character has.
    const std::vector<std::size_t> columns{5, 4, 3, 2, 6};
    const std::size_t first = lines[1].find('2') - columns[0];
    for (std::size_t i = 0; i < ids.size(); ++i) {
        CAPTURE(lines[i + 1]);
        const std::size_t end_of_name = lines[i + 1].find(' ');
        CHECK(lines[i + 1].find('2', end_of_name) - end_of_name + columns[i] == first + columns[0]);
    }
}

TEST_CASE("a long name is cut by columns, not inside a character", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    std::string wide;
    for (int i = 0; i < 60; ++i) wide += "\xE6\xBC\xA2";
    write_text(dir / "s.jsonl", session_line(wide, 1, 10));
    const auto lines = printed_lines(run_cli(dir, "replay s.jsonl --config chain.json").out);
    REQUIRE(lines.size() > 1);
    CHECK(lines[1].starts_with(wide.substr(0, 20 * 3) + "... "));
}

namespace {

/// Columns of the longest line, if no character is wide.
std::size_t widest_of(const std::string& text) {
    std::size_t widest = 0;
    for (const std::string& line : printed_lines(text)) widest = std::max(widest, line.size());
    return widest;
}

}  // namespace

TEST_CASE("tables shrink to the width of the terminal, and figures stay whole", "[apps]") {
    const TempDir dir;
    const std::string name = "a-name-that-is-as-long-as-the-names-of-some-sessions-are";
    write_text(dir / "s.jsonl", session_line(name, 40, 4'000));
    whittle::file_storage(dir / "store")->put_if_absent(name + "/clear/c0", "stored");
    std::filesystem::last_write_time(  // of days, so that no run of the tool shows another age than the one before
        dir / "store/" + name + "/clear/c0", std::filesystem::file_time_type::clock::now() - std::chrono::hours(80));
    const std::vector<std::string> with_tables{
        "diff s.jsonl --preset lossless --preset recommended --window 9000 --calls", "store ls store",
        "store ls store a-", "scan s.jsonl", "replay s.jsonl --preset lossless"};
    for (const std::string& command : with_tables) {
        CAPTURE(command);
        const std::string whole = run_cli(dir, command).out;
        const std::string narrow = run_cli(dir, command + " | cat").out;
        CHECK(whole == narrow);  // without a terminal a table takes what it needs
    }
    const auto in_columns = [&](int columns, const std::string& command) {
        return run_cli(dir, "--version > version; COLUMNS=" + std::to_string(columns) + " '" WHITTLE_CLI "' " + command)
            .out;
    };
    const std::string calls = in_columns(36, with_tables[0]);  // 40 at least
    CHECK(has(calls, "\n     tokens tokens  cost  cost differs\ncall      A      B     A     B      at\n"));
    CHECK(has(calls, "\n39   "));
    CHECK(in_columns(40, with_tables[1])
              .starts_with("conversation         obje byte newe olde\n"
                           "a-name-that-is-as...    1    6 "));
    CHECK(widest_of(in_columns(44, with_tables[2])) == 44);
    CHECK(widest_of(in_columns(60, with_tables[4])) < widest_of(run_cli(dir, with_tables[4]).out));
    const std::string scan = in_columns(60, with_tables[3]);
    CHECK(has(scan, "\nbilled"));
    CHECK(has(scan, " 820,000 "));
}

TEST_CASE("the headings of replay are whole in 80 columns, and --all has the rest", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", session_line("a-name-that-is-as-long-as-the-names-of-some-sessions", 40, 4'000));
    write_text(dir / "chain.json", clearing_chain);
    const auto in_80_columns = [&](const std::string& arguments) {
        return run_cli(dir, "--version > version; COLUMNS=80 '" WHITTLE_CLI "' replay s.jsonl " + arguments).out;
    };
    const std::string text = in_80_columns("--preset recommended");
    CAPTURE(text);
    CHECK(widest_of(text) <= 80);
    CHECK(printed_lines(text)[1] == "session" + std::string(32, ' ') + "  calls  recorded     sent   ratio  ratio");
    const std::string all = in_80_columns("--config chain.json --all");
    CAPTURE(all);
    CHECK(widest_of(all) <= 80);
    for (const char* word : {"largest:", "hits:", "resets:", "commits:", "money:", "invalidated:"}) {
        CHECK(has(all, word));
        if (word != std::string("money:")) CHECK_FALSE(has(text, word));
    }
}

TEST_CASE("compare folds its tables to the terminal and leaves headings and figures whole", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", session_line("s", 60, 400));
    const auto in_columns = [&](int columns, const std::string& all) {
        return run_cli(dir, "--version > version; COLUMNS=" + std::to_string(columns) +
                                " '" WHITTLE_CLI "' compare s.jsonl --strategy noop --strategy mask10_step25" + all)
            .out;
    };
    const auto cells_of = [](const std::string& text) {  // in order, those of the first column once
        std::vector<std::string> cells;
        std::istringstream in(
            text.substr(0, std::min(text.find("tokens ratio: input"), text.find("cache: 1 session"))));
        for (std::string cell; in >> cell;) {
            const bool is_line = cell.starts_with("--");
            if (!is_line && std::ranges::find(cells, cell) == cells.end()) cells.push_back(cell);
        }
        std::ranges::sort(cells);
        return cells;
    };
    for (const std::string all : {"", " --all"}) {
        const std::string whole = in_columns(100, all);
        CHECK(widest_of(whole) <= 100);
        for (const int columns : {80, 60, 40}) {
            const std::string narrow = in_columns(columns, all);
            CAPTURE(narrow);
            CHECK(widest_of(narrow) <= static_cast<std::size_t>(columns));
            if (columns > 40) CHECK(cells_of(narrow) == cells_of(whole));
        }
    }
    CHECK(has(in_columns(60, " --all"), "\nstrategy      tokens   hit  C/C0 C*/C0 lines harm e<=10"));
}

TEST_CASE("names of wide characters are cut to the terminal by columns", "[apps]") {
    const TempDir dir;
    std::string wide;
    for (int i = 0; i < 30; ++i) wide += "\xE6\xBC\xA2";
    write_text(dir / "s.jsonl", session_line(wide, 2, 400));
    const auto lines =
        printed_lines(run_cli(dir, "--version > version; COLUMNS=70 '" WHITTLE_CLI "' scan s.jsonl").out);
    const auto expensive =
        std::ranges::find_if(lines, [](const auto& line) { return line.starts_with("\xE6\xBC\xA2"); });
    REQUIRE(expensive != lines.end());
    const std::size_t dots = expensive->find("...");
    REQUIRE(dots != std::string::npos);
    const std::size_t width = dots / 3 * 2 + (expensive->size() - dots);  // what stands in front of the dots is wide
    CHECK(width <= 70);
    CHECK(width > 60);
}

namespace {

/// A terminal of some columns, whose other side is read while the program writes: a terminal nobody reads makes it
/// wait.
class PseudoTerminal {
public:
    explicit PseudoTerminal(unsigned short columns) : ours_(::posix_openpt(O_RDWR | O_NOCTTY)) {
        if (ours_ < 0 || ::grantpt(ours_) != 0 || ::unlockpt(ours_) != 0) return;
        name_ = ::ptsname(ours_);
        theirs_ = ::open(name_.c_str(), O_RDWR | O_NOCTTY);  // held, so that what was written stays readable
        struct winsize size {};
        size.ws_row = 24;
        size.ws_col = columns;
        ::ioctl(theirs_, TIOCSWINSZ, &size);
        ::fcntl(ours_, F_SETFL, O_NONBLOCK);
        reader_ = std::thread([this] { read_until_done(); });
    }
    ~PseudoTerminal() {
        stop();
        if (theirs_ >= 0) ::close(theirs_);
        if (ours_ >= 0) ::close(ours_);
    }
    PseudoTerminal(const PseudoTerminal&) = delete;
    PseudoTerminal& operator=(const PseudoTerminal&) = delete;

    /// Empty: there is none to be had here.
    [[nodiscard]] const std::string& name() const { return name_; }
    /// All that was shown, once: for when the program has ended.
    [[nodiscard]] std::string read() {
        stop();
        return std::move(shown_);
    }

private:
    void stop() {
        is_done_ = true;
        if (reader_.joinable()) reader_.join();
    }
    void read_until_done() {
        std::array<char, 4096> part{};
        for (;;) {
            const bool was_done = is_done_;  // before the read, which then has the last
            const ssize_t got = ::read(ours_, part.data(), part.size());
            if (got > 0) {
                shown_.append(part.data(), static_cast<std::size_t>(got));
            } else if (was_done) {
                return;
            } else {
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
            }
        }
    }

    int ours_ = -1;
    int theirs_ = -1;
    std::string name_{};
    std::string shown_{};
    std::atomic<bool> is_done_ = false;
    std::thread reader_{};
};

/// What the tool shows on a terminal of some columns, with more and more work until it has the time to show `wanted`.
/// `write`: writes sessions with that many rounds.
template <typename Write>
std::string shown_on_terminal(const TempDir& dir, unsigned short columns, const std::string& arguments,
                              std::string_view wanted, Write&& write) {
    std::string shown;
    constexpr int most_rounds = 32'000;
    for (int rounds = 250; rounds <= most_rounds && !has(shown, wanted); rounds *= 2) {
        PseudoTerminal terminal(columns);
        if (terminal.name().empty()) return {};
        write(rounds);
        run_cli(dir, "--version > version; '" WHITTLE_CLI "' " + arguments + " > out 2> " + terminal.name() + "; true");
        shown = terminal.read();
    }
    return shown;
}

bool has_terminals() { return !PseudoTerminal(80).name().empty(); }

}  // namespace

TEST_CASE("a long run shows how far it is on a terminal, in one line that goes away", "[apps]") {
    if (!has_terminals()) SKIP_WITH_MESSAGE("there is no pseudo-terminal here");
    const TempDir dir;
    const std::string shown = shown_on_terminal(dir, 50, "scan .", " MB/s, ", [&](int rounds) {
        std::string sessions;
        for (int i = 0; i < 4; ++i) sessions += session_line("s" + std::to_string(i), rounds / 4, 3'000);
        for (const char* file : {"a.jsonl", "b-with-a-name-that-is-longer-than-the-terminal-is-wide.jsonl"})
            write_text(dir / file, sessions);
    });
    CHECK(has(read_text(dir / "out"), "recorded"));
    REQUIRE(shown.starts_with("\r\x1b[K"));
    CHECK(has(shown, " sessions, "));
    CHECK(has(shown, " MB/s, "));
    CHECK(shown.ends_with("\r\x1b[K"));
    CHECK_FALSE(has(shown, "\n"));
    for (std::size_t at = 0; at < shown.size();) {  // each in one row
        const std::size_t end = std::min(shown.find("\r\x1b[K", at), shown.size());
        CHECK(end - at < 50);
        at = end + 4;
    }
    write_text(dir / "small.jsonl", session_line("small", 3, 300));
    CHECK(run_cli(dir, "scan small.jsonl").err.empty());  // and nothing where it is none
}

TEST_CASE("one long session shows its calls, their rate and the time that remains", "[apps]") {
    if (!has_terminals()) SKIP_WITH_MESSAGE("there is no pseudo-terminal here");
    const TempDir dir;
    const auto [command, unit] = GENERATE(
        table<std::string, std::string>({{"replay long.jsonl --preset recommended", " calls/s, "},
                                         {"explain long.jsonl --preset recommended", " calls/s, "},
                                         {"diff long.jsonl --preset recommended --preset cheap", " calls/s, "},
                                         {"compare long.jsonl --preset recommended --strategy noop", " calls/s, "},
                                         {"scan long.jsonl", " MB/s, "}}));
    INFO(command);
    const std::string shown =
        shown_on_terminal(dir, 100, command, unit == " calls/s, " ? unit : "0 of 1 session, ",
                          [&](int rounds) { write_text(dir / "long.jsonl", session_line("long", rounds, 1'000)); });
    CHECK(has(shown, unit));
    CHECK(has(shown, " s left"));
    CHECK(shown.ends_with("\r\x1b[K"));
    if (unit == " calls/s, ") CHECK((has(shown, "long") && has(shown, "1 calls, ")));  // of rounds, and the last reply
    if (unit != " calls/s, ") CHECK(has(shown, "0 of 1 session, "));                   // in the midst of the first
}
