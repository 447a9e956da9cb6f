#include "cli.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

using namespace whittle::testing;

namespace {

const std::string vocabularies = WHITTLE_DATA_DIR "/tokenizers";

bool have_vocabularies() { return std::filesystem::exists(vocabularies + "/r50k_base.tiktoken"); }

}  // namespace

TEST_CASE("count adds up texts and conversations", "[apps]") {
    const TempDir dir;
    write_text(dir / "a.txt", "12345678");
    write_text(dir / "s.jsonl", session_line("one", 1, 400));
    const CliResult table = run_cli(dir, "count a.txt s.jsonl --counter chars");
    CHECK(table.exit_code == 0);
    CHECK(
        table.out ==
        "file           size  tokens\n"
        "a.txt       8 bytes       2\n"
        "s.jsonl  4 messages     104\n"
        "---------------------------\n"
        "total                   106\n"
        "\n"
        "of a session each message counts once, with its system text and tools; `whittle replay` adds up what all its "
        "calls sent, of which the largest lacks the last reply\n"
        "tokens counted by  chars/4\n");
    const CliResult printed = run_cli(dir, "count s.jsonl --counter chars --json");
    const auto counted = nlohmann::json::parse(printed.out);
    CHECK(counted["counter"] == "chars/4");
    CHECK(counted["tokens"] == 104);
    const auto& session = counted["files"][0]["sessions"][0];
    CHECK(session["id"] == "one");
    CHECK(session["system_and_tools"] == 2);
    CHECK(session["messages"].size() == 4);
    CHECK(session["messages"][2] == nlohmann::json{{"role", "tool"}, {"tokens", 100}});
}

TEST_CASE("count takes for a session what replay counts with, and says which counter that is", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", session_line("one", 3, 4'000));
    write_text(dir / "a.txt", "some words of a text");
    write_text(dir / "chain.json", memory_chain);
    const CliResult count = run_cli(dir, "count s.jsonl --json");
    const auto session = nlohmann::json::parse(count.out)["files"][0]["sessions"][0];
    const auto replayed = nlohmann::json::parse(run_cli(dir, "replay s.jsonl --config chain.json --json").out);
    CHECK(nlohmann::json::parse(count.out)["counter"] == replayed["counter"]);
    const std::int64_t last_reply = session["messages"].back()["tokens"];
    CHECK(session["tokens"].get<std::int64_t>() - last_reply == replayed["total"]["raw"]["peak_tokens"]);
    CHECK(has(run_cli(dir, "count s.jsonl").out, "so as in replay; --counter estimate"));
    CHECK(nlohmann::json::parse(run_cli(dir, "count a.txt --json").out)["counter"] == "estimate/2");
    CHECK(nlohmann::json::parse(run_cli(dir, "count a.txt s.jsonl --json").out)["counter"] == "chars/4");
}

TEST_CASE("count reads standard input, as text or as sessions", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", session_line("one", 1, 400));
    CHECK(has(run_cli(dir, "count - --counter chars < s.jsonl").out, "bytes"));
    CHECK(has(run_cli(dir, "count - --counter chars --sessions < s.jsonl").out, "4 messages"));
    CHECK(has(run_cli(dir, "count s.jsonl --counter chars --text").out, "bytes"));
}

TEST_CASE("count says which counters there are, and how a vocabulary is installed", "[apps]") {
    const TempDir dir;
    const CliResult unknown = run_cli(dir, "count - --counter o300k < /dev/null");
    CHECK(unknown.exit_code == 2);
    CHECK(has(unknown.err, "expected one of chars, pessimistic, estimate, o200k_base"));
    const CliResult absent = run_cli(dir, "count - --counter o200k_base --vocabularies none < /dev/null");
    CHECK(absent.exit_code == 2);
    CHECK(absent.err ==
          "whittle: open vocabulary none/o200k_base.whittle: No such file or directory; `whittle vocab install "
          "o200k_base` puts it there\n");
}

TEST_CASE("an installed vocabulary counts exactly", "[apps]") {
    if (!have_vocabularies()) SKIP_WITH_MESSAGE("no vocabularies");
    const TempDir dir;
    const CliResult install = run_cli(dir, "vocab install r50k_base --from '" + vocabularies + "' --to v");
    CHECK(install.exit_code == 0);
    CHECK(has(install.out, "r50k_base: 50,256 tokens, "));
    CHECK(has(install.out, " bytes, v/r50k_base.whittle\n"));
    write_text(dir / "text", "hello world\n");
    const CliResult count = run_cli(dir, "count - --counter r50k_base --vocabularies v --json < text");
    CHECK(nlohmann::json::parse(count.out)["tokens"] == 3);
}

TEST_CASE("a vocabulary that is not the published one is not installed", "[apps]") {
    const TempDir dir;
    write_text(dir / "r50k_base.tiktoken", "YQ== 0\n");
    const CliResult install = run_cli(dir, "vocab install r50k_base --from . --to v");
    CHECK(install.exit_code == 1);
    CHECK(has(install.err, "SHA-256"));
    CHECK(!std::filesystem::exists(dir / "v/r50k_base.whittle"));
    CHECK(run_cli(dir, "vocab install o300k --from . --to v").exit_code == 2);
    CHECK(run_cli(dir, "vocab install r50k_base --from absent.tiktoken --to v").exit_code == 1);
}
