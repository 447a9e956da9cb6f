#include "documentation.hpp"

#include "shown.hpp"
#include "system.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace whittle::cli {
namespace {

namespace fs = std::filesystem;

bool has_pages(const fs::path& folder) {
    std::error_code error;
    return fs::exists(folder / "tool" / "docs" / "cli.md", error);
}

/// Empty: nowhere on this machine.
fs::path documentation_folder() {
    const fs::path program = system::program_path();
    if (program.empty()) return {};
    const fs::path installed = (program.parent_path() / WHITTLE_DOCS_FROM_PROGRAM).lexically_normal();
    if (has_pages(installed)) return installed;
    constexpr int max_folders = 5;  // that a build folder is deep in the sources
    fs::path folder = program.parent_path();
    for (int i = 0; i < max_folders && folder.has_relative_path(); ++i) {
        folder = folder.parent_path();
        std::error_code error;
        if (has_pages(folder) && fs::exists(folder / "tool" / "main.cpp", error)) return folder;
    }
    return {};
}

}  // namespace

std::string documentation(std::string_view page) {
    const fs::path folder = documentation_folder();
    if (folder.empty()) return fmt::format("{} of whittle's repository", page);
    return shown((folder / page).string());
}

std::string documentation_line() {
    const fs::path folder = documentation_folder();
    return folder.empty()
               ? "Documentation: in whittle's repository; tool/docs/cli.md is about this program\n"
               : fmt::format("Documentation: {}; tool/docs/cli.md is about this program\n", shown(folder.string()));
}

}  // namespace whittle::cli
