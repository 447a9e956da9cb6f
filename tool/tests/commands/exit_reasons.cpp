#include "cli.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

using namespace whittle::testing;
using nlohmann::ordered_json;

namespace {

std::string last_line(const std::string& text) {
    if (text.empty()) return {};
    const std::size_t before = text.find_last_of('\n', text.size() - 2);
    return text.substr(before == std::string::npos ? 0 : before + 1);
}

/// Two calls with one id in one round: broken, and given back as it was.
const std::string broken =
    R"({"id":"b","messages":[{"role":"user","content":"go"},{"role":"tool","tool_call_id":"x","content":"lost"}]})"
    "\n";

}  // namespace

TEST_CASE("exit code 1 always comes with its reason in the last line of standard error", "[apps]") {
    const TempDir dir;
    write_text(dir / "good.jsonl", session_line("a", 6, 4'000));
    write_text(dir / "broken.jsonl", broken);
    write_text(dir / "cut.jsonl", "{\"messages\": [");
    write_text(dir / "chain.json", clearing_chain);
    // A store that takes nothing: its root is below a file.
    write_text(dir / "full.json", R"({"storage": {"type": "file", "root": "store"},
      "limits": {"store_bytes_per_hook": 1},
      "middlewares": [{"type": "reduction", "skip_truncation": true, "max_tokens_for_clear": 3000}]})");
    write_text(dir / "lost.json", R"({"storage": {"type": "file", "root": "no/such/store"}})");
    write_text(dir / "small.json", R"({"storage": {"type": "memory", "max_bytes": 10},
      "middlewares": [{"type": "reduction", "skip_clear": true, "max_length_for_trunc": 1000}]})");
    // A model whose only answer is an error, so that the summary fails.
    write_text(dir / "mute.json", R"({"storage": {"type": "memory"},
      "models": {"m": {"type": "scripted", "replies": [{"error": "auth"}]}},
      "middlewares": [{"type": "summarization", "model": "m", "trigger": {"context_tokens": 3000},
                       "keep_recent_tokens": 10}]})");
    for (const std::string arguments : {"check broken.jsonl",
                                        "check --json broken.jsonl",
                                        "check cut.jsonl",
                                        "check absent.jsonl",
                                        "replay good.jsonl --config mute.json",
                                        "replay good.jsonl --config mute.json --json",
                                        "replay good.jsonl --config small.json",
                                        "apply --in good.jsonl --out out.json --config mute.json",
                                        "apply --in good.jsonl --out - --config mute.json --out-table t.json",
                                        "apply --in broken.jsonl --out no/dir --config chain.json",
                                        "replay cut.jsonl --config chain.json",
                                        "count absent.json",
                                        "explain absent.jsonl --config chain.json",
                                        "explain good.jsonl --config mute.json --call 4",
                                        "explain good.jsonl --config chain.json --session b",
                                        "diff good.jsonl --config mute.json --config chain.json",
                                        "diff good.jsonl --config mute.json --config chain.json --json",
                                        "diff cut.jsonl --config chain.json --config chain.json",
                                        "config check cut.jsonl",
                                        "config check cut.jsonl --json",
                                        "config check absent.json",
                                        "store ls absent",
                                        "store ls chain.json",
                                        "store verify absent",
                                        "store show absent a/b",
                                        "store gc absent --live good.jsonl",
                                        "doctor cut.jsonl",
                                        "doctor absent.json",
                                        "doctor lost.json",
                                        "doctor lost.json --json"}) {
        CAPTURE(arguments);
        const CliResult result = run_cli(dir, arguments);
        CAPTURE(result.err);
        REQUIRE(result.exit_code == 1);
        const std::string reason = last_line(result.err);
        CHECK(reason.starts_with("whittle: "));
        CHECK(reason.size() > std::string("whittle: failed: \n").size());
    }
    CHECK(last_line(run_cli(dir, "check broken.jsonl").err) == "whittle: failed: 2 violations\n");
    const CliResult mute = run_cli(dir, "replay good.jsonl --config mute.json");
    CHECK(has(last_line(mute.err), "runs of middlewares failed"));
}

TEST_CASE("apply names messages by their index in the input, in the plan and in its JSON", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "talk.json", session_line("talk", 6, 4'000));
    const CliResult text = run_cli(dir, "apply --config chain.json --in talk.json --dry-run");
    CHECK(has(text.out, "first change at message 2"));
    CHECK(has(text.out, "    message 2 part 0: cut ("));
    CHECK_FALSE(has(text.out, "serial"));
    CHECK(has(text.out, "what the rules mean:\n  old_round: in tool rounds older"));
    const ordered_json report =
        ordered_json::parse(run_cli(dir, "apply --config chain.json --in talk.json --dry-run --json").out);
    CHECK(report["stages"][0]["first_changed"] == 2);
    CHECK(report["stages"][0]["candidates"][0]["message"] == 2);
}

TEST_CASE("apply says why nothing is cut above a limit, and how it would be", "[apps]") {
    const TempDir dir;
    write_text(dir / "talk.json", session_line("talk", 40, 4'000));
    const CliResult result = run_cli(dir, "apply --preset recommended --in talk.json --dry-run");
    CAPTURE(result.out);
    CHECK(has(result.out,
              "  trimming: above its limit, but not due: cutting does not pay yet, since the provider would "));
    CHECK(has(result.out, "--now cuts at once\n"));
    CHECK_FALSE(has(result.out, "not_due"));
}

TEST_CASE("count with a chain's configuration counts as replay does, and both name the counter", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", R"({"tokens": {"counter": "estimate"}, "storage": {"type": "memory"}})");
    write_text(dir / "s.jsonl", session_line("s", 4, 4'000));
    const ordered_json replayed = ordered_json::parse(run_cli(dir, "replay s.jsonl --config chain.json --json").out);
    const ordered_json counted = ordered_json::parse(run_cli(dir, "count s.jsonl --config chain.json --json").out);
    CHECK(counted["counter"] == replayed["counter"]);
    const auto& session = counted["files"][0]["sessions"][0];
    const std::int64_t newest = session["messages"].back()["tokens"];
    CHECK(session["tokens"].get<std::int64_t>() - newest == replayed["total"]["raw"]["peak_tokens"]);
    const ordered_json other = ordered_json::parse(run_cli(dir, "count s.jsonl --json").out);
    CHECK(other["counter"] != counted["counter"]);

    const std::string name = counted["counter"];
    CHECK(has(run_cli(dir, "replay s.jsonl --config chain.json").out, "tokens counted by  " + name + "\n"));
    CHECK(last_line(run_cli(dir, "count s.jsonl --config chain.json").out) == "tokens counted by  " + name + "\n");
    CHECK(run_cli(dir, "count s.jsonl --config chain.json --counter chars").exit_code == 2);
}
