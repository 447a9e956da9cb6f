#include "cli.hpp"
#include "support/catch.hpp"

#include <filesystem>
#include <string>

using namespace whittle::testing;

namespace {

/// A program `npm` on the PATH of `vocab install --npm`, which whittle waits for.
void write_npm(const TempDir& dir, const std::string& script) {
    std::filesystem::create_directory(dir / "bin");
    write_text(dir / "bin/npm", "#!/bin/sh\n" + script);
    std::filesystem::permissions(dir / "bin/npm", std::filesystem::perms::owner_all);
}

CliResult install_with_npm(const TempDir& dir) {
    write_text(dir / "run", "PATH='" + (dir / "bin") +
                                "':$PATH exec '" WHITTLE_CLI "' vocab install o200k_base --npm --to '" + (dir / "v") +
                                "'");
    return run_cli(dir, "--version > /dev/null; sh '" + (dir / "run") + "'");
}

/// Waits until whittle is gone, five seconds at most, and notes it if it stays.
const std::string see_whether_it_goes =
    "i=0\nwhile kill -0 $PPID 2>/dev/null && [ $i -lt 50 ]; do sleep 0.1; i=$((i+1)); done\n"
    "[ $i -lt 50 ] || : > \"$0.stayed\"\n";

}  // namespace

TEST_CASE("a second signal ends the program at once, whatever it waits for", "[apps]") {
    const TempDir dir;
    write_npm(dir, "trap '' INT TERM\nwhittle=$PPID\nkill -INT $whittle\nkill -TERM $whittle\n" + see_whether_it_goes);
    const CliResult result = install_with_npm(dir);
    CHECK((result.exit_code == 128 + 15 || result.exit_code == 128 + 2));
    CHECK_FALSE(std::filesystem::exists(dir / "bin/npm.stayed"));
}

TEST_CASE("a signal is passed on to the program that whittle waits for", "[apps]") {
    const TempDir dir;
    write_npm(dir, "trap 'exit 3' TERM\nkill -TERM $PPID\n" + see_whether_it_goes);
    const CliResult result = install_with_npm(dir);
    CHECK(result.exit_code == 128 + 15);
    CHECK_FALSE(std::filesystem::exists(dir / "bin/npm.stayed"));
}

TEST_CASE("an interrupt in the middle of a scan leaves an older report as it was, and no half one", "[apps]") {
    const TempDir dir;
    const std::string session =
        R"({"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"done"}]})";
    for (const char* signal : {"INT", "TERM", "HUP"}) {
        CAPTURE(signal);
        const TempDir folder;
        write_text(folder / "a.jsonl", session + "\n");
        write_text(folder / "report.html", "the older report");
        // The pipe is open for writing once whittle reads from it, after the first file; it never ends.
        write_text(dir / "run", "mkfifo '" + (folder / "pipe") + "'; '" WHITTLE_CLI "' scan '" + (folder / "a.jsonl") +
                                    "' '" + (folder / "pipe") + "' --html '" + (folder / "report.html") +
                                    "' & exec 3> '" + (folder / "pipe") + "'; printf '{' >&3; kill -" + signal +
                                    " $!; wait $!");
        const CliResult result = run_cli(dir, "--version > /dev/null; timeout 60 sh '" + (dir / "run") + "'");
        CHECK(result.exit_code > 128);
        CHECK(result.out.empty());
        CHECK(read_text(folder / "report.html") == "the older report");
        std::size_t files = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder / ".")) {
            INFO(entry.path().string());
            ++files;
        }
        CHECK(files == 3);
    }
}
