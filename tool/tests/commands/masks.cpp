#include "cli.hpp"
#include "support/catch.hpp"

#include "whittle/storage/storage.hpp"

#include <nlohmann/json.hpp>

#include <random>
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
          "{\"user\": \"ann\", \"password\": \"cor***\", \"tokens\": 12345678}\n"
          "api_key = 'zy***'\nAuthorization: Bearer ab***\n"
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

namespace {

/// A private key of 40 lines that no two have in common.
std::string private_key() {
    std::string key =
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1b2C3d4E5f6G7h8J9k0L1m2N3p4Q5r6S7t8U9v0W1x2Y3z4a\n";
    std::mt19937 random(5);
    for (int line = 0; line < 40; ++line) {
        for (int i = 0; i < 64; ++i)
            key += "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[random() % 64];
        key += '\n';
    }
    return key + "-----END RSA PRIVATE KEY-----\n";
}

/// Whether 24 bytes of one of the lines of `key` are in `text`.
bool has_line_of_key(const std::string& text, const std::string& key) {
    for (std::size_t at = key.find('\n') + 1; at + 64 < key.size(); at += 65) {
        if (has(text, std::string_view(key).substr(at, 24)) || has(text, std::string_view(key).substr(at + 40, 24)))
            return true;
    }
    return false;
}

/// A session whose only tool gave `result`.
std::string session_with_result(const std::string& result) {
    json session = json::parse(session_line("s", 1, 1));
    session["messages"][2]["content"] = result;
    return session.dump() + "\n";
}

}  // namespace

TEST_CASE("every output masks keys in JSON, in JSON in JSON, and in any spelling", "[apps]") {
    const std::string key = private_key();
    const std::string account = json{{"type", "service_account"}, {"private_key", key}}.dump(2);
    const std::string nested = json{{"arguments", json{{"password", "correct horse battery"}}.dump()}}.dump();
    const std::string escaped = R"({"pa\u0073sword": "correct horse battery"})";
    const std::string escaped_behind_text = R"(the file: {"\u0070assword": "correct horse battery"})";
    for (const std::string& content : {account, "read it:\n" + account, nested, escaped, escaped_behind_text}) {
        CAPTURE(content);
        const TempDir dir;
        whittle::file_storage(dir / "store")->put_if_absent("a/x", content);
        write_text(dir / "s.jsonl", session_with_result(content));
        write_text(dir / "chain.json", memory_chain);
        CHECK(run_cli(dir, "scan s.jsonl --html report.html").exit_code == 0);
        for (const std::string& shown : {run_cli(dir, "store show store a/x").out, read_text(dir / "report.html"),
                                         run_cli(dir, "explain s.jsonl --config chain.json --json").out}) {
            CHECK_FALSE(has(shown, "horse"));
            CHECK_FALSE(has_line_of_key(shown, key));
        }
    }
}

TEST_CASE("a secret that a chain has cut is masked on both sides of the cut", "[apps]") {
    const std::string key = private_key();
    const std::string token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    for (std::size_t front = 300; front < 2'000; front += 50) {
        CAPTURE(front);
        const TempDir dir;
        write_text(dir / "s.jsonl", session_with_result(std::string(front, 'x') + "\n" + key + "token " + token + "\n" +
                                                        key + std::string(200, 'y')));
        write_text(dir / "chain.json", R"({"storage": {"type": "memory"}, "middlewares": [
            {"type": "reduction", "skip_clear": true, "max_length_for_trunc": 2000}]})");
        for (const char* form : {" --json", ""}) {
            const CliResult shown = run_cli(dir, std::string("explain s.jsonl --config chain.json") + form);
            REQUIRE(shown.exit_code == 0);
            CHECK_FALSE(has_line_of_key(shown.out, key));
            CHECK_FALSE(has(shown.out, "B2c3D4e5"));
            CHECK_FALSE(has(shown.out, "o5P6q7R8"));
        }
        front += front % 3;
    }
}

TEST_CASE("what begins like a path, an address or words behind a name is not masked elsewhere", "[apps]") {
    const TempDir dir;
    const std::string plain = "see /home/ann/work/readme.txt, https://example.com/help and company-handbook";
    write_text(dir / "s.jsonl", session_with_result(plain + "\nTOKEN_PATH=/home/ann/work/v2/tokens.json\n" +
                                                    "TOKEN_URL=https://example.com/v2/tokens\n" +
                                                    "DB_PASSWORD=company-intranet-2026\nxoxb-" + service_key + "\n" +
                                                    std::string(5'000, 'x')));
    write_text(dir / "chain.json", R"({"storage": {"type": "memory"}, "middlewares": [
        {"type": "reduction", "skip_clear": true, "max_length_for_trunc": 2000}]})");
    for (const char* form : {" --json", ""}) {
        const CliResult shown = run_cli(dir, std::string("explain s.jsonl --config chain.json") + form);
        REQUIRE(shown.exit_code == 0);
        for (const char* part : {"/home/ann/work/readme.txt", "https://example.com/help", "company-handbook"}) {
            CAPTURE(form, part);
            CHECK(has(shown.out, part));
        }
        CHECK_FALSE(has(shown.out, "intranet"));
        CHECK_FALSE(has(shown.out, "abcdefghijklmnop"));
    }
}

TEST_CASE("every command masks the ids and names that it prints, unless it is told not to", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", session_with_keys());
    const std::string session_broken = R"({"id":")" + service_key + R"(","messages":[{"role":"user","content":"go"},)" +
                                       R"({"role":"tool","tool_call_id":")" + service_key + R"(","content":"x"}]})";
    write_text(dir / "broken.jsonl", session_broken + "\n");
    write_text(dir / "chain.json", memory_chain);
    const std::string named_file = service_key + ".jsonl";
    write_text(dir / named_file, "no session\n");
    const auto storage = whittle::file_storage(dir / "store");
    storage->put_if_absent(service_key + "/clear/c1", "x");
    storage->put_if_absent("kept/clear/c1", "x");
    write_text(dir / "live.json", R"({"messages":[{"role":"user","content":"see kept/clear/c1"}]})");
    for (const std::string command :
         {"replay s.jsonl --config chain.json", "replay s.jsonl --config chain.json --json",
          "compare s.jsonl --strategy noop --json --sessions", "count s.jsonl --json", "check broken.jsonl",
          "check broken.jsonl --json", "apply --config chain.json --in s.jsonl --dry-run",
          "apply --config chain.json --in s.jsonl --dry-run --json", "store ls store", "store ls store --json",
          "store gc store --older-than 0 --live live.json", "store gc store --older-than 0 --live live.json --json",
          "scan sk-proj-abcdefghijklmnop0123456789.jsonl --json",
          "replay --config chain.json sk-proj-abcdefghijklmnop0123456789.jsonl"}) {
        CAPTURE(command);
        const CliResult hidden = run_cli(dir, command);
        CHECK_FALSE(has(hidden.out + hidden.err, "abcdefghijklmnop"));
        const CliResult plain = run_cli(dir, command + " --no-mask");
        CHECK(plain.exit_code == hidden.exit_code);
        CHECK(has(plain.out + plain.err, "abcdefghijklmnop"));
        if (!has(command, "--json") || hidden.out.empty()) continue;
        CHECK(json::accept(hidden.out));
        if (has(command, "store")) continue;  // the ages of its objects change
        CHECK(plain_values(json::parse(hidden.out)) == plain_values(json::parse(plain.out)));
    }
}

TEST_CASE("what is written to be read again is not masked", "[apps]") {
    const TempDir dir;
    write_text(dir / "s.jsonl", session_with_keys());
    write_text(dir / "chain.json", memory_chain);
    CHECK(run_cli(dir, "replay s.jsonl --config chain.json --requests requests.jsonl").exit_code == 0);
    CHECK(has(read_text(dir / "requests.jsonl"), service_key));
    CHECK(run_cli(dir, "apply --config chain.json --in s.jsonl --out smaller.json").exit_code == 0);
    CHECK(has(read_text(dir / "smaller.json"), service_key));
}

TEST_CASE("config check, doctor, vocab install and wrong arguments mask too, unless they are told not to", "[apps]") {
    const TempDir dir;
    write_text(dir / "key.json", R"({")" + service_key + R"(":1})");
    for (const std::string& command :
         {std::string("config check key.json"), std::string("config check key.json --json"),
          std::string("doctor key.json"), "vocab install " + service_key, "check s.jsonl --" + service_key,
          "store ls " + service_key}) {
        CAPTURE(command);
        const CliResult hidden = run_cli(dir, command);
        CHECK_FALSE(has(hidden.out + hidden.err, "abcdefghijklmnop"));
        const CliResult plain = run_cli(dir, command + " --no-mask");
        CHECK(has(plain.out + plain.err, "abcdefghijklmnop"));
        CHECK(plain.exit_code == hidden.exit_code);
    }
}

TEST_CASE("a name is masked before it is cut to fit a table", "[apps]") {
    const TempDir dir;
    std::string session = session_line(std::string(30, 'n') + " " + service_key, 12, 4'000);
    const std::string name = R"("name":"read")";
    for (std::size_t at = session.find(name); at != std::string::npos; at = session.find(name, at + 1))
        session.replace(at, name.size(), R"("name":")" + std::string(22, 't') + " " + service_key + "\"");
    write_text(dir / "s.jsonl", session);
    for (const std::string command : {"scan .", "count s.jsonl", "replay s.jsonl --preset cheap"}) {
        CAPTURE(command);
        const CliResult result = run_cli(dir, command);
        CHECK(result.exit_code == 0);
        CHECK_FALSE(has(result.out, "sk-proj"));
    }
}
