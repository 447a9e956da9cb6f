#include "cli.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

using namespace whittle::testing;
using nlohmann::ordered_json;

TEST_CASE("apply writes a smaller conversation, and a second run changes nothing", "[apps]") {
    const TempDir dir;
    for (const std::string& chain : {clearing_chain, memory_chain}) {
        write_text(dir / "chain.json", chain);
        write_text(dir / "talk.json", session_line("talk", 6, 4'000));
        const CliResult first = run_cli(dir, "apply --config chain.json --in talk.json --out small.json --json");
        REQUIRE(first.exit_code == 0);
        const ordered_json report = ordered_json::parse(first.out);
        CHECK(report["changed"] == true);
        CHECK(report["tokens_after"] < report["tokens_before"]);
        CHECK(std::filesystem::exists(dir / "small.json.whittle.json"));
        const ordered_json before = ordered_json::parse(read_text(dir / "talk.json"));
        const ordered_json after = ordered_json::parse(read_text(dir / "small.json"));
        REQUIRE(after["messages"].size() == before["messages"].size());
        CHECK(after["messages"][2] != before["messages"][2]);
        CHECK(after["messages"][12].dump() == before["messages"][12].dump());  // the newest round
        CHECK(after["meta"]["mine"] == before["meta"]["mine"]);
        CHECK(after["system"] == "be brief");

        const CliResult second = run_cli(dir, "apply --config chain.json --in small.json --out again.json --json");
        REQUIRE(second.exit_code == 0);
        CHECK(ordered_json::parse(second.out)["changed"] == false);
        CHECK(read_text(dir / "again.json") == read_text(dir / "small.json"));
        CHECK(read_text(dir / "again.json.whittle.json") == read_text(dir / "small.json.whittle.json"));

        const CliResult onto_itself = run_cli(dir, "apply --config chain.json --in small.json --out small.json");
        CHECK(onto_itself.exit_code == 0);
        CHECK(read_text(dir / "again.json") == read_text(dir / "small.json"));
    }
}

TEST_CASE("apply compacts on demand, down to a target and within a range", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", R"({"storage": {"type": "memory"}, "middlewares": [
      {"type": "reduction", "skip_truncation": true}]})");
    write_text(dir / "talk.json", session_line("talk", 12, 4'000));
    const auto apply = [&](const std::string& options) {
        return run_cli(dir, "apply --config chain.json --in talk.json --out small.json --json " + options);
    };
    CHECK(ordered_json::parse(apply("").out)["changed"] == false);
    const ordered_json report = ordered_json::parse(apply("--now --target 6000").out);
    CHECK(report["changed"] == true);
    CHECK(report["tokens_after"] <= 6'000);

    const ordered_json before = ordered_json::parse(read_text(dir / "talk.json"));
    REQUIRE(apply("--now --target 1 --from 4 --up-to 8").exit_code == 0);
    const ordered_json after = ordered_json::parse(read_text(dir / "small.json"));
    REQUIRE(after["messages"].size() == before["messages"].size());
    std::vector<std::size_t> changed;
    for (std::size_t i = 0; i < after["messages"].size(); ++i) {
        if (after["messages"][i] != before["messages"][i]) changed.push_back(i);
    }
    REQUIRE(!changed.empty());
    CHECK(changed.front() >= 4);
    CHECK(changed.back() < 8);

    CHECK(apply("--target 100").exit_code == 2);
    CHECK(apply("--now --target 0").exit_code == 2);
    const CliResult outside = apply("--now --from 4000");
    CHECK(outside.exit_code == 2);
    CHECK(outside.err.find("--from 4000: the conversation has messages 0 to ") != std::string::npos);
    CHECK(apply("--now --from 6 --up-to 6").exit_code != 0);
}

TEST_CASE("a dry run prints the plan and writes nothing", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "talk.json", session_line("talk", 6, 4'000));
    const CliResult plan = run_cli(dir, "apply --config chain.json --in talk.json --out small.json --dry-run");
    CHECK(plan.exit_code == 0);
    CHECK(plan.out.find("cut") != std::string::npos);
    CHECK(plan.out.find("retained_round") != std::string::npos);
    const ordered_json shown =
        ordered_json::parse(run_cli(dir, "apply --config chain.json --in talk.json --dry-run --json").out);
    CHECK(shown["dry_run"] == true);
    CHECK(shown["stages"][0]["outcome"] == "planned");
    CHECK(shown["stages"][0]["candidates"].size() == 6);
    CHECK(files_in(dir) == std::vector<std::string>{"chain.json", "talk.json"});
}

TEST_CASE("apply works between standard input and output, and says that the side table is missing", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", memory_chain);
    write_text(dir / "talk.json", session_line("talk", 6, 4'000));
    const CliResult plain = run_cli(dir, "apply --config chain.json --in - --out - < talk.json");
    CHECK(plain.exit_code == 0);
    CHECK(ordered_json::parse(plain.out)["messages"].size() == 14);
    CHECK(plain.err.find("side table") != std::string::npos);
    CHECK(files_in(dir) == std::vector<std::string>{"chain.json", "talk.json"});
    const CliResult kept = run_cli(dir, "apply --config chain.json --in - --out - --out-table side.json < talk.json");
    CHECK(kept.out == plain.out);
    CHECK(kept.err.find("warning") == std::string::npos);
    write_text(dir / "small.json", kept.out);
    const CliResult again =
        run_cli(dir, "apply --config chain.json --in small.json --in-table side.json --out - --out-table side2.json");
    CHECK(again.out == kept.out);
}

TEST_CASE("a bare array of messages stays one", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", memory_chain);
    write_text(dir / "list.json", "[\n {\"role\": \"user\", \"content\": \"hi\", \"mine\": 1.0}\n]\n");
    REQUIRE(run_cli(dir, "apply --config chain.json --in list.json --out out.json").exit_code == 0);
    CHECK(read_text(dir / "out.json") == "[{\"role\":\"user\",\"content\":\"hi\",\"mine\":1.0}]\n");
}

TEST_CASE("apply refuses a side table that does not belong to the conversation", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", memory_chain);
    write_text(dir / "talk.json", session_line("talk", 6, 4'000));
    REQUIRE(run_cli(dir, "apply --config chain.json --in talk.json --out small.json").exit_code == 0);
    write_text(dir / "small.json", session_line("talk", 5, 4'000));
    const CliResult result = run_cli(dir, "apply --config chain.json --in small.json --out other.json");
    CHECK(result.exit_code == 1);
    CHECK(result.err.find("small.json.whittle.json") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(dir / "other.json"));
}

TEST_CASE("apply takes one conversation", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", memory_chain);
    write_text(dir / "two.jsonl", session_line("a", 1, 10) + session_line("b", 1, 10));
    const CliResult result = run_cli(dir, "apply --config chain.json --in two.jsonl --out out.json");
    CHECK(result.exit_code == 1);
    CHECK(result.err.find("expected one conversation") != std::string::npos);
    write_text(dir / "none.jsonl", "\n");
    CHECK(run_cli(dir, "apply --config chain.json --in none.jsonl --out out.json").exit_code == 1);
}
