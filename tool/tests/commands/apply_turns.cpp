#include "cli.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

using namespace whittle::testing;
using nlohmann::ordered_json;

namespace {

ordered_json round_of(int number) {
    const ordered_json session = ordered_json::parse(session_line("x", 1, 4'000));
    ordered_json call = session["messages"][1];
    ordered_json result = session["messages"][2];
    call["tool_calls"][0]["id"] = result["tool_call_id"] = "n" + std::to_string(number);
    return ordered_json::array({call, result});
}

}  // namespace

TEST_CASE("a host in any language calls apply before each request, and appends to what it got", "[apps]") {
    const TempDir dir;
    for (const std::string& chain : {clearing_chain, memory_chain}) {
        write_text(dir / "chain.json", chain);
        write_text(dir / "talk.json", session_line("talk", 1, 4'000));
        std::filesystem::remove(dir / "talk.json.whittle.json");
        std::size_t messages = 4;
        for (int turn = 0; turn < 8; ++turn) {
            CAPTURE(turn);
            const CliResult result = run_cli(dir, "apply --config chain.json --in talk.json --out talk.json --json");
            CAPTURE(result.err);
            REQUIRE(result.exit_code == 0);
            ordered_json talk = ordered_json::parse(read_text(dir / "talk.json"));
            REQUIRE(talk["messages"].size() == messages);
            CHECK(read_text(dir / "talk.json").size() < 4 * 4'000 + 4'000);
            for (const ordered_json& m : round_of(turn)) talk["messages"].push_back(m);
            messages += 2;
            write_text(dir / "talk.json", talk.dump(4));  // its own way of writing JSON
        }
        const ordered_json table = ordered_json::parse(read_text(dir / "talk.json.whittle.json"));
        CHECK(table["messages"].size() == messages - 2);
        CHECK(table["journal"].size() > 1);
    }
}

TEST_CASE("apply knows from turn to turn what the provider's cache holds", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", memory_chain);
    write_text(dir / "talk.json", session_line("talk", 1, 4'000));
    std::string reported;
    for (int turn = 0; turn < 5 && !has(reported, "committed"); ++turn) {
        reported = run_cli(dir, "apply --config chain.json --in talk.json --out talk.json").out;
        ordered_json talk = ordered_json::parse(read_text(dir / "talk.json"));
        for (const ordered_json& m : round_of(turn)) talk["messages"].push_back(m);
        write_text(dir / "talk.json", talk.dump());
    }
    REQUIRE(has(reported, "committed"));
    CHECK(has(reported, "cached tokens invalidated"));
    CHECK_FALSE(has(reported, " 0 cached tokens invalidated"));
}

TEST_CASE("apply says what was broken as it came, and what failed without being a failure", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", memory_chain);
    write_text(dir / "talk.json", R"({"id":"b","messages":[{"role":"user","content":"go"},
      {"role":"tool","tool_call_id":"x","content":"lost"}]})");
    const CliResult broken = run_cli(dir, "apply --config chain.json --in talk.json --out out.json");
    CHECK(broken.exit_code == 0);
    CHECK(has(broken.err, "warning: talk.json: "));
    CHECK(has(broken.err, " of openai_chat broken on input, first at message 1: "));
}

TEST_CASE("apply refuses messages that were changed in front of new ones, and names the first", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", memory_chain);
    write_text(dir / "talk.json", session_line("talk", 6, 4'000));
    REQUIRE(run_cli(dir, "apply --config chain.json --in talk.json --out talk.json").exit_code == 0);
    ordered_json talk = ordered_json::parse(read_text(dir / "talk.json"));
    talk["messages"][3]["content"] = "another";
    talk["messages"].push_back({{"role", "user"}, {"content", "go on"}});
    write_text(dir / "talk.json", talk.dump());
    const CliResult result = run_cli(dir, "apply --config chain.json --in talk.json --out talk.json");
    CHECK(result.exit_code == 1);
    CHECK(has(result.err, "message 3 is not the one that was saved"));
}

TEST_CASE("apply refuses paths that lead to one file, also through links, before it reads anything", "[apps]") {
    const TempDir dir;
    write_text(dir / "talk.json", session_line("talk", 6, 4'000));
    write_text(dir / "table.json", "left as it is");
    std::filesystem::create_symlink("talk.json", dir / "link.json");
    std::filesystem::create_hard_link(dir / "table.json", dir / "hard.json");
    std::filesystem::create_directory(dir / "sub");
    // There is no chain.json: what is refused here was refused before it was looked for.
    for (const std::string arguments :
         {"--in talk.json --out b --out-table b", "--in talk.json --out b --out-table ./sub/../b",
          "--in talk.json --out b --out-table link.json", "--in talk.json --out table.json --in-table hard.json",
          "--in talk.json --in-table link.json --out b", "--in - --in-table - --out b",
          "--in talk.json --out - --out-table -", "--in talk.json --out chain.json",
          "--in talk.json --out b --out-table chain.json", "--in talk.json --out link.json"}) {
        CAPTURE(arguments);
        const CliResult result = run_cli(dir, "apply --config chain.json " + arguments);
        CHECK(result.exit_code == 2);
        CHECK(has(result.err, "the same file"));
    }
    CHECK(read_text(dir / "table.json") == "left as it is");
    write_text(dir / "chain.json", memory_chain);
    CHECK(run_cli(dir, "replay talk.json --config chain.json --requests link.json").exit_code == 2);
    CHECK(run_cli(dir, "replay talk.json --config chain.json --requests chain.json").exit_code == 2);
}

TEST_CASE("a side table that was named has to be there", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", memory_chain);
    write_text(dir / "talk.json", session_line("talk", 6, 4'000));
    const CliResult result =
        run_cli(dir, "apply --config chain.json --in talk.json --in-table nonexistent --out out.json");
    CHECK(result.exit_code == 1);
    CHECK(has(result.err, "nonexistent: No such file"));
    CHECK_FALSE(std::filesystem::exists(dir / "out.json"));
}
