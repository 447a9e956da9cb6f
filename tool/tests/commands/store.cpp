#include "cli.hpp"
#include "support/catch.hpp"

#include "whittle/redaction/redacted_storage.hpp"
#include "whittle/storage/storage.hpp"
#if WHITTLE_HAVE_SQLITE
#    include "whittle/sqlite/sqlite_storage.hpp"
#endif

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

using namespace whittle::testing;
using nlohmann::json;

namespace {

/// A store of two conversations, whose objects were written `hours` ago.
void fill_store(const TempDir& dir, int hours) {
    const auto storage = whittle::file_storage((dir / "store"));
    storage->put_if_absent("a/clear/c0", "first\n");
    storage->put_if_absent("a/clear/c1", "second");
    storage->put_if_absent("b7/9", "third one");
    for (const char* key : {"a/clear/c0", "a/clear/c1", "b7/9"}) {
        const std::filesystem::path file = std::filesystem::path(dir / "store") / key;
        std::filesystem::last_write_time(file,
                                         std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
    }
}

std::vector<std::string> keys_in(const TempDir& dir) {
    std::vector<std::string> keys;
    for (const json& object : json::parse(run_cli(dir, "store ls store --json").out)) keys.push_back(object["key"]);
    return keys;
}

}  // namespace

TEST_CASE("store ls lists conversations with sizes and ages, and the objects of one", "[apps]") {
    const TempDir dir;
    fill_store(dir, 72);
    CHECK(run_cli(dir, "store ls store").out ==
          "conversation  objects  bytes  newest  oldest\n"
          "a                   2     12     3 d     3 d\n"
          "b7                  1      9     3 d     3 d\n"
          "--------------------------------------------\n"
          "total of 2          3     21     3 d     3 d\n");
    CHECK(run_cli(dir, "store ls store a/").out ==
          "object      bytes  age\n"
          "a/clear/c0      6  3 d\n"
          "a/clear/c1      6  3 d\n");
    const json objects = json::parse(run_cli(dir, "store ls store --json").out);
    REQUIRE(objects.size() == 3);
    CHECK(objects[2]["conversation"] == "b7");
    CHECK(objects[2]["bytes"] == 9);
    CHECK(objects[2]["age_seconds"] >= 72 * 3'600);
    CHECK(run_cli(dir, "store ls store zzz").out == "no object\n");
    CHECK(run_cli(dir, "store ls absent").exit_code == 1);
    CHECK_FALSE(std::filesystem::exists(dir / "absent"));
}

TEST_CASE("store show prints an object, escaped for a terminal unless it is asked for as it is", "[apps]") {
    const TempDir dir;
    const std::string content = "red \x1b[31m\nnot UTF-8: \xFF";
    whittle::file_storage((dir / "store"))->put_if_absent("a/x", content);
    const CliResult shown = run_cli(dir, "store show store a/x");
    CHECK(shown.exit_code == 0);
    CHECK(shown.out == "red \\u001b[31m\nnot UTF-8: \xEF\xBF\xBD\n");
    CHECK(shown.err.empty());
    const CliResult raw = run_cli(dir, "store show store a/x --raw");
    CHECK(raw.out == content);
    CHECK(raw.err.empty());
    const CliResult absent = run_cli(dir, "store show store a/y");
    CHECK(absent.exit_code == 1);
    CHECK(absent.err == "whittle: store: no object \"a/y\"\n");
    CHECK(run_cli(dir, "store show store ../x").exit_code == 1);
}

TEST_CASE("store verify reads every object and names the damaged ones", "[apps]") {
    const TempDir dir;
    fill_store(dir, 0);
    const CliResult whole = run_cli(dir, "store verify store");
    CHECK(whole.exit_code == 0);
    CHECK(whole.out == "3 objects, 21 bytes read, 0 damaged\n");
    write_text(dir / "store/a/clear/c1", "Second");  // the same length, other bytes
    std::filesystem::remove(dir / "store/b7/.9.meta");
    const CliResult damaged = run_cli(dir, "store verify store");
    CHECK(damaged.exit_code == 1);
    CHECK(has(damaged.out, "a/clear/c1: "));
    CHECK(has(damaged.out, "b7/9: "));
    CHECK(damaged.err == "whittle: failed: 2 of 3 objects cannot be read back\n");
    const json found = json::parse(run_cli(dir, "store verify store --json").out);
    CHECK(found["objects"] == 3);
    CHECK(found["bytes"] == 6);
    CHECK(found["damaged"][0]["key"] == "a/clear/c1");
    CHECK(run_cli(dir, "store verify store a/clear/c0").exit_code == 0);
}

TEST_CASE("store gc removes nothing without --yes, and only what is old and what no live file names", "[apps]") {
    const TempDir dir;
    fill_store(dir, 30);
    write_text(dir / "live.json", R"({"messages": [{"content": "Full text: a/clear/c1."}]})");
    const std::vector<std::string> all{"a/clear/c0", "a/clear/c1", "b7/9"};
    const CliResult dry = run_cli(dir, "store gc store --live live.json");
    CHECK(dry.exit_code == 0);
    CHECK(dry.out ==
          "a/clear/c0  6 bytes, 30 h: nothing refers to it\n"
          "b7/9  9 bytes, 30 h: nothing refers to it\n"
          "2 objects with 15 bytes would be removed with --yes; of what stays 1 are referred to\n");
    CHECK(keys_in(dir) == all);
    const json young = json::parse(run_cli(dir, "store gc store --live live.json --older-than 48 --yes --json").out);
    CHECK(young["objects"].empty());
    CHECK(young["too_young"] == 2);
    CHECK(young["referenced"] == 1);
    CHECK(keys_in(dir) == all);
    CHECK(run_cli(dir, "store gc store --live live.json --yes --dry-run").exit_code == 2);
    const CliResult unknown = run_cli(dir, "store gc store --yes");  // which conversations live?
    CHECK(unknown.exit_code == 1);
    CHECK(has(unknown.err, "nobody knows what is still wanted"));
    CHECK(run_cli(dir, "store gc store --live absent.json --yes").exit_code == 1);
    CHECK(keys_in(dir) == all);
    const json removed = json::parse(run_cli(dir, "store gc store --live live.json --yes --json").out);
    CHECK(removed["removed"] == true);
    CHECK(removed["bytes"] == 15);
    CHECK(keys_in(dir) == std::vector<std::string>{"a/clear/c1"});
    CHECK(run_cli(dir, "store verify store").exit_code == 0);
}

TEST_CASE("store gc finds keys in paths, escapes and JSON within JSON", "[apps]") {
    for (
        const std::string live :
        {R"("a/clear/c0 a/clear/c1 b7/9")", R"("[b7\/9]\na\/clear\/c0\n\u0022a/clear/c1\u0022")",
         R"({"arguments": "{\"path\": \"/srv/store/b7/9\\na/clear/c0\\u0022a/clear/c1\"}"})",
         R"({"k":["a\u002fclear\u002fc0","\u0061/cl\u0065ar\u002Fc\u0031","b\u0037\u002f9"]})",
         R"({"arguments": "[\"a\\u002fclear\u002fc0\",\"a\u005cu002fclear\u005c/c1\",\"\\\u0062\\\\u0037\\u002f9\"]"})",
         R"(_b7/9_ ...a/clear/c0... (-a/clear/c1-))", R"({"stored":["a/clear/c0","a/clear/c1"],"key":"b7\\\/9"})"}) {
        CAPTURE(live);
        const TempDir dir;
        fill_store(dir, 30);
        write_text(dir / "live", live);
        CHECK(json::parse(run_cli(dir, "store gc store --live live --json").out)["referenced"] == 3);
    }
    const TempDir dir;
    fill_store(dir, 30);
    write_text(dir / "live", R"({"messages": ["xa/clear/c0 a/clear/c11 b7/99 b7 /9"]})");
    CHECK(json::parse(run_cli(dir, "store gc store --live live --json").out)["referenced"] == 0);
}

TEST_CASE("store gc refuses a file that is no conversation and names nothing of the store", "[apps]") {
    const TempDir dir;
    fill_store(dir, 30);
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "empty", "");
    write_text(dir / "named", "b7/9");
    const std::vector<std::string> all = keys_in(dir);
    for (const std::string live : {"empty", "chain.json", "/dev/null", "named --live empty"}) {
        CAPTURE(live);
        const CliResult result = run_cli(dir, "store gc store --older-than 0 --yes --live " + live);
        CHECK(result.exit_code == 1);
        CHECK(has(result.err, "it holds no messages, is no side table, and names no object of store"));
        CHECK(keys_in(dir) == all);
    }
    for (const std::string live : {R"([{"role":"user","content":"go"}])", R"({"id":"s","messages":[]})"}) {
        write_text(dir / "live", live);  // what never offloaded anything names nothing
        CHECK(run_cli(dir, "store gc store --live live").exit_code == 0);
    }
}

TEST_CASE("the commands of store take no other directory for one", "[apps]") {
    const TempDir dir;
    std::filesystem::create_directory(dir / "project");
    write_text(dir / "project/notes.txt", "mine");
    for (const std::string command : {"ls project", "verify project", "show project notes.txt",
                                      "gc project --live project/notes.txt --older-than 0 --yes"}) {
        CAPTURE(command);
        const CliResult result = run_cli(dir, "store " + command);
        CHECK(result.exit_code == 1);
        CHECK(has(result.err, "open store project: the directory is no store"));
    }
    CHECK(read_text(dir / "project/notes.txt") == "mine");
    CHECK(std::ranges::distance(std::filesystem::directory_iterator(dir / "project")) == 1);
}

TEST_CASE("store show takes the path that a placeholder names", "[apps]") {
    const TempDir dir;
    fill_store(dir, 1);
    const std::string root = std::filesystem::canonical(dir / "store").string();
    for (const std::string& key : {std::string("a/clear/c0"), std::string("store/a/clear/c0"), root + "/a/clear/c0"})
        CHECK(run_cli(dir, "store show store '" + key + "'").out == "first\n");
}

TEST_CASE("store gc leaves the logs of durable conversations, and what they refer to", "[apps]") {
    const TempDir dir;
    fill_store(dir, 30);
    const auto storage = whittle::file_storage((dir / "store"));
    storage->put_if_absent("whittle-log/b7/log/000000000002",
                           R"({"stored":["b7/9"],"text":"{\"a\":\"a\\/clear\\/c0\"}"})");
    storage->put_if_absent("b7/whittle-roots", "a/");
    write_text(dir / "live.json", R"({"messages": []})");
    const json removed = json::parse(run_cli(dir, "store gc store --live live.json --older-than 0 --yes --json").out);
    CHECK(removed["objects"].size() == 1);
    CHECK(keys_in(dir) ==
          std::vector<std::string>{"a/clear/c0", "b7/9", "b7/whittle-roots", "whittle-log/b7/log/000000000002"});
}

TEST_CASE("store gc knows the conversations that have logs, and leaves what it knows nothing of", "[apps]") {
    const TempDir dir;
    fill_store(dir, 30);
    const auto storage = whittle::file_storage((dir / "store"));
    storage->put_if_absent("whittle-log/a/log/000000000002", R"({"stored":["a/clear/c0"]})");
    const std::filesystem::path log = dir / "store/whittle-log/a/log/000000000002";
    const auto written = [&](int hours) {
        std::filesystem::last_write_time(log,
                                         std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
    };
    const json at_work = json::parse(run_cli(dir, "store gc store --dry-run --json").out);
    CHECK(at_work["objects"].empty());
    CHECK(at_work["recently_active"] == 1);  // it was saved just now
    written(2);
    const CliResult rest = run_cli(dir, "store gc store --dry-run");
    CHECK(rest.out ==
          "a/clear/c1  6 bytes, 30 h: nothing refers to it\n"
          "1 objects with 6 bytes would be removed with --yes; of what stays 1 are referred to, 1 are logs, 1 are of "
          "conversations that nobody knows (give all with --live)\n");
    CHECK(
        json::parse(run_cli(dir, "store gc store --max-bytes 1 --older-than 40 --json").out)["objects"][0]["reason"] ==
        "over_size");
    CHECK(has(run_cli(dir, "store gc store --max-bytes 1").out, "bytes more than --max-bytes stay"));
    const json aged = json::parse(run_cli(dir, "store gc store --conversations-older-than 1 --json").out);
    CHECK(aged["objects"].size() == 3);
    CHECK(aged["objects"][0]["reason"] == "expired");
    written(0);
    const CliResult busy = run_cli(dir, "store gc store --conversation a --yes");
    CHECK(busy.exit_code == 1);
    CHECK(has(busy.err, "end its agent first"));
    written(2);
    const json purged = json::parse(run_cli(dir, "store gc store --conversation a --yes --json").out);
    CHECK(purged["removed"] == true);
    CHECK(purged["objects"].size() == 3);
    CHECK(keys_in(dir) == std::vector<std::string>{"b7/9"});
}

TEST_CASE("store show says in how many places an object was masked before it was stored", "[apps]") {
    const TempDir dir;
    whittle::redacted_storage(whittle::file_storage(dir / "store"))
        ->put_if_absent("a/x", "password=tiger-1234 and sk-abcdefghijklmnop\n");
    const CliResult shown = run_cli(dir, "store show store a/x");
    CHECK(shown.out == "password=*** and ***\n");
    CHECK(shown.err == "whittle: note: redacted: 2 places (key 1, named 1); this is not the original\n");
    CHECK(run_cli(dir, "store verify store").exit_code == 0);
}

#if WHITTLE_HAVE_SQLITE
TEST_CASE("the commands of store take a file of SQLite for the directory", "[apps]") {
    const TempDir dir;
    {
        const auto storage = whittle::sqlite_storage(dir / "objects.db");
        storage->put_if_absent("a/x", "text\n");
        storage->put_if_absent("a/y", "other\n");
    }
    CHECK(run_cli(dir, "store show objects.db a/x").out == "text\n");
    CHECK(run_cli(dir, "store verify objects.db").out == "2 objects, 11 bytes read, 0 damaged\n");
    CHECK(json::parse(run_cli(dir, "store ls objects.db --json").out)[1]["key"] == "a/y");
    write_text(dir / "live", "a/x");
    CHECK(run_cli(dir, "store gc objects.db --live live --older-than 0 --yes").exit_code == 0);
    CHECK(json::parse(run_cli(dir, "store ls objects.db --json").out).size() == 1);
    CHECK(run_cli(dir, "store ls live").exit_code == 1);
    CHECK(run_cli(dir, "store ls absent.db").exit_code == 1);
    CHECK_FALSE(std::filesystem::exists(dir / "absent.db"));
}
#endif

TEST_CASE("store gc leaves the list of what a live fork may read", "[apps]") {
    const TempDir dir;
    const auto storage = whittle::file_storage((dir / "store"));
    storage->put_if_absent("fork/whittle-roots", "origin");
    storage->put_if_absent("fork/clear/c0", "text");
    storage->put_if_absent("gone/whittle-roots", "origin");
    write_text(dir / "fork.json", R"({"id": "fork", "messages": []})");
    CHECK(run_cli(dir, "store gc store --older-than 0 --yes --live fork.json").exit_code == 0);
    CHECK(keys_in(dir) == std::vector<std::string>{"fork/whittle-roots"});
}

TEST_CASE("store gc leaves what apply stored and can still undo", "[apps]") {
    const TempDir dir;
    write_text(dir / "chain.json", clearing_chain);
    write_text(dir / "talk.json", session_line("talk", 6, 4'000));
    REQUIRE(run_cli(dir, "apply --config chain.json --in talk.json --out small.json").exit_code == 0);
    const std::size_t stored = keys_in(dir).size();
    REQUIRE(stored > 2);
    const std::string gc = "store gc store --older-than 0 --yes --live ";
    CHECK(run_cli(dir, gc + "small.json.whittle.json").exit_code == 0);
    CHECK(keys_in(dir).size() == stored);
    CHECK(run_cli(dir, gc + "small.json").exit_code == 0);  // the placeholders name them too
    CHECK(keys_in(dir).size() == stored);
    const CliResult original = run_cli(dir, gc + "talk.json");  // which refers to none of what its conversation has
    CHECK(original.exit_code == 1);
    CHECK(has(original.err, "it is the conversation \"talk\", which has objects in store, and it refers to none"));
    CHECK(keys_in(dir).size() == stored);
    write_text(dir / "other.json", session_line("other", 1, 10));
    CHECK(run_cli(dir, gc + "other.json").exit_code == 0);
    CHECK(keys_in(dir).empty());
}
