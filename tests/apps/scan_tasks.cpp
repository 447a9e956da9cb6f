#include "apps/cli.hpp"
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
        std::istringstream lines(read_text(WHITTLE_SOURCE_DIR "/tests/logs/fixtures/cline.jsonl"));
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
