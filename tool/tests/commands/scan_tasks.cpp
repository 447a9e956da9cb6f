#include "cli.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <sstream>
#include <string>

using namespace whittle::testing;
using nlohmann::json;

namespace {

namespace fs = std::filesystem;

/// A task of Cline in a folder "task", as the lines of a fixture have its files.
class ClineTask {
public:
    ClineTask() {
        fs::create_directories(dir.path() / "task");
        std::istringstream lines(read_text(WHITTLE_SOURCE_DIR "/tool/tests/logs/fixtures/cline.jsonl"));
        std::string line;
        for (const char* name :
             {"api_conversation_history.json", "ui_messages.json", "context_history.json", "task_metadata.json"}) {
            std::getline(lines, line);
            put(name, line);
        }
    }

    void put(const std::string& name, const std::string& text) const { write_text(dir.path() / "task" / name, text); }

    /// "1 session, 297 out": what a scan of these files finds.
    [[nodiscard]] std::string scanned(const std::string& files, const std::string& in = "") const {
        const CliResult result =
            run_cli(dir, (in.empty() ? "" : "--version > /dev/null; cd " + in + "; '" WHITTLE_CLI "' ") +
                             "scan --json " + files);
        if (result.exit_code != 0) return result.err;
        json shown = json::parse(result.out);
        return shown["total"]["sessions"].dump() + " session, " +
               shown["agents"]["cline"]["billed"]["output_tokens"].dump() + " out";
    }

    TempDir dir{};
};

/// Calls of the model, in a conversation of OpenHands of these events.
json openhands_with(const TempDir& dir, const std::string& first_event, const std::string& more = "") {
    const fs::path events = dir.path() / "conv-1/events";
    fs::create_directories(events);
    std::istringstream lines(read_text(WHITTLE_SOURCE_DIR "/tool/tests/logs/fixtures/openhands_v1.jsonl"));
    int number = 0;
    for (std::string line; std::getline(lines, line); ++number)
        write_text(events / ("event-" + std::to_string(10'000 + number) + "-00000000-e0.json"), line);
    write_text(events / "event-00001-00000000-e0.json", first_event);
    const CliResult result = run_cli(dir, "scan --json conv-1" + more);
    json shown = json::parse(result.out.empty() ? "{}" : result.out);
    shown["stderr"] = result.err;
    return shown;
}

}  // namespace

TEST_CASE("a task whose messages are empty, cut off or of no known form has its bill", "[apps]") {
    const ClineTask task;
    REQUIRE(task.scanned("task") == "1 session, 297 out");
    for (const char* history : {"", "[]", "[{\"role\": \"us", "no JSON", R"([{"x": 1}])", "null"}) {
        INFO(history);
        task.put("api_conversation_history.json", history);
        CHECK(task.scanned("task") == "1 session, 297 out");
        CHECK(task.scanned("task/api_conversation_history.json") == "1 session, 297 out");
    }
    task.put("ui_messages.json", "[]");
    CHECK(has(task.scanned("task"), "no sessions found"));
}

TEST_CASE("a file of a task that is too large is damaged, and the others are read", "[apps]") {
    const ClineTask task;
    task.put("context_history.json", "[\"" + std::string(20'000, 'x') + "\"]");
    task.put("history_item.json", R"({"id": "x", "workspace": "/home/ann/elsewhere"})");
    CHECK(task.scanned("task --max-input 15000") == "1 session, 297 out");
    const CliResult result = run_cli(task.dir, "scan --bill --json task --max-input 15000");
    CHECK(has(result.err, "1 damaged line left out"));
    CHECK(has(result.err, "context_history.json: expected at most 15000 bytes, found more"));
    CHECK(has(result.out, "/home/ann/elsewhere"));
}

TEST_CASE("a file of a task that was cut off does not take the next ones with it", "[apps]") {
    const ClineTask task;
    task.put("history_item.json", R"({"id": "x", "workspace": "/home/ann/elsewhere"})");
    for (const char* cut : {"context_history.json", "task_metadata.json", "ui_messages.json"}) {
        INFO(cut);
        const std::string whole = read_text(task.dir.path() / "task" / cut);
        task.put(cut, whole.substr(0, whole.size() / 2));
        CHECK(has(run_cli(task.dir, "scan --bill --json task").out, "/home/ann/elsewhere"));
        task.put(cut, whole);
    }
}

TEST_CASE("an event of OpenHands that is too large or cut off is damaged, and the others are read", "[apps]") {
    const TempDir dir;
    const std::string event =
        R"({"kind": "PauseEvent", "id": "p", "timestamp": "2026-05-01T09:00:00", "source": "user")";
    json whole = openhands_with(dir, event + "}");
    REQUIRE(whole["agents"]["openhands_v1"]["calls"] == 3);
    json large = openhands_with(dir, event + ", \"x\": \"" + std::string(20'000, 'x') + "\"}", " --max-input 15000");
    CHECK(large["agents"]["openhands_v1"]["calls"] == 3);
    CHECK(has(large["stderr"].get<std::string>(), "1 damaged line left out"));
    json cut = openhands_with(dir, event);
    CHECK(cut["agents"]["openhands_v1"]["calls"] == 3);
    CHECK(has(cut["stderr"].get<std::string>(), "1 damaged line left out"));
}

TEST_CASE("files of a log are found where they are named without their folder", "[apps]") {
    const ClineTask task;
    CHECK(task.scanned("api_conversation_history.json", "task") == "1 session, 297 out");
    const std::string named =
        run_cli(task.dir, "--version > /dev/null; cd task; '" WHITTLE_CLI "' scan --json api_conversation_history.json")
            .out;
    CHECK(has(named, "\"task\""));
    CHECK(task.scanned(".", "task") == "1 session, 297 out");
    fs::create_directories(task.dir.path() / "1785_lead");
    fs::copy_file(WHITTLE_SOURCE_DIR "/tool/tests/logs/fixtures/cline_session.json",
                  task.dir.path() / "1785_lead/1785_lead.messages.json");
    write_text(task.dir / "1785_lead/1785_lead.json", R"({"session_id": "1785_lead", "cwd": "/home/ann/lead"})");
    for (const char* file : {"1785_lead.messages.json", "."}) {
        const CliResult session = run_cli(
            task.dir, std::string("--version > /dev/null; cd 1785_lead; '" WHITTLE_CLI "' scan --bill --json ") + file);
        CHECK(has(session.out, "/home/ann/lead"));
        CHECK(session.err.empty());
    }
}

TEST_CASE("a link to the messages of a task that is named is read by itself", "[apps]") {
    const ClineTask task;
    fs::create_directories(task.dir.path() / "other");
    fs::create_symlink("../task/api_conversation_history.json",
                       task.dir.path() / "other/api_conversation_history.json");
    fs::copy_file(task.dir.path() / "task/ui_messages.json", task.dir.path() / "other/ui_messages.json");
    CHECK(task.scanned("other/api_conversation_history.json").starts_with("1 session, "));
    CHECK(task.scanned("other") == "1 session, 297 out");
}
