#include "apps/cli.hpp"
#include "support/catch.hpp"

#include "whittle/port/storage.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using namespace whittle::testing;
using nlohmann::json;

namespace {

const std::string service_key = "sk-proj-abcdefghijklmnop0123456789";

/// A session whose id and tool hold a key, the tool's behind a line feed, and whose first result is cut.
std::string session_with_keys() {
    std::string line = session_line(service_key, 12, 4'000);
    const std::string name = R"("name":"read")";
    for (std::size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1))
        line.replace(at, name.size(), R"("name":"a\n)" + service_key + "\"");
    return line;
}

/// Every number, boolean and null, in order: masks leave them alone.
std::vector<json> plain_values(const json& tree) {
    std::vector<json> values;
    const json flat = tree.flatten();
    for (const auto& [path, value] : flat.items()) {
        if (!value.is_string()) values.push_back(value);
    }
    return values;
}

}  // namespace

TEST_CASE("explain and diff mask what looks like a secret, unless they are told not to", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", session_with_keys());
    write_text(dir / "chain.json", memory_chain);
    for (const std::string& command :
         {std::string("explain s.jsonl --config chain.json"), std::string("explain s.jsonl --config chain.json --json"),
          std::string("diff s.jsonl --config chain.json --preset cheap --call 9 --window 9000"),
          std::string("diff s.jsonl --config chain.json --preset cheap --call 9 --window 9000 --json --calls")}) {
        CAPTURE(command);
        const CliResult hidden = run_cli(dir, command);
        CHECK_FALSE(has(hidden.out + hidden.err, "abcdefghijklmnop"));
        CHECK(has(hidden.out, "sk-p***"));
        const CliResult plain = run_cli(dir, command + " --no-mask");
        CHECK(has(plain.out, service_key));
        CHECK(plain.exit_code == hidden.exit_code);
        if (!has(command, "--json")) continue;
        CHECK(plain_values(json::parse(hidden.out)) == plain_values(json::parse(plain.out)));
        CHECK(json::parse(hidden.out)["trajectory"] == "sk-p***");
    }
}

TEST_CASE("store show masks what looks like a secret, also in JSON and code, unless it is told not to", "[apps]") {
    const TempDir dir;
    const std::string content =
        "{\"user\": \"ann\", \"password\": \"correct-horse\", \"tokens\": 12345678}\n"
        "api_key = 'zyx-9876543'\nAuthorization: Bearer abc.def-ghi\n"
        "token_counter: \"estimate/2\"\nsk\n" +
        service_key + "\n";
    const auto storage = whittle::file_storage(dir / "store");
    storage->put_if_absent("a/x", content);
    storage->put_if_absent("a/y", "nothing to hide\n");
    const CliResult hidden = run_cli(dir, "store show store a/x");
    CHECK(hidden.out ==
          "{\"user\": \"ann\", \"password\": \"corr***\", \"tokens\": 12345678}\n"
          "api_key = 'zyx-***'\nAuthorization: Bearer abc.***\n"
          "token_counter: \"estimate/2\"\nsk\nsk-p***\n");
    CHECK(has(hidden.err, "note: what looks like a secret is masked; --no-mask and --raw show it"));
    CHECK(run_cli(dir, "store show store a/x --no-mask").out == content);
    CHECK(run_cli(dir, "store show store a/x --raw").out == content);
    CHECK(run_cli(dir, "store show store a/y").err.empty());
}

TEST_CASE("masks leave JSON as JSON, whatever stands in it", "[apps]") {
    const TempDir dir;
    const std::string odd = R"(\"\\\" password: \\\"\u0000[2J\u001b)" + service_key + R"(\\)";
    write_text(dir / "s.jsonl", R"({"id":")" + odd +
                                    R"(","messages":[{"role":"user","content":"token=-1234567.5e10"},)"
                                    R"({"role":"assistant","content":"x"}],"meta":{"usage":[[1,3,4,5,6]]}})"
                                    "\n");
    for (const std::string& command :
         {std::string("scan . --json"), std::string("explain s.jsonl --preset cheap --json"),
          std::string("diff s.jsonl --preset cheap --preset lossless --call 0 --json")}) {
        CAPTURE(command);
        const CliResult hidden = run_cli(dir, command);
        CHECK_FALSE(has(hidden.out, "abcdefghijklmnop"));
        REQUIRE(json::accept(hidden.out));
        CHECK(plain_values(json::parse(hidden.out)) ==
              plain_values(json::parse(run_cli(dir, command + " --no-mask").out)));
    }
}
