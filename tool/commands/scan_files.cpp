#include "scan_files.hpp"

#include "interrupt.hpp"
#include "joined_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace whittle::cli {
namespace {

namespace fs = std::filesystem;

bool may_hold_sessions(const fs::path& file) {
    constexpr std::array<std::string_view, 6> endings{".jsonl", ".json", ".traj", ".har", ".db", ".csv"};
    const bool is_packed = file.extension() == ".gz" || file.extension() == ".zst";
    const fs::path name = is_packed ? file.stem() : file;
    if (is_packed && (name.extension() == ".db" || name.extension() == ".sqlite")) return false;  // none is read packed
    if (std::ranges::find(endings, name.extension().string()) != endings.end()) return true;
    const std::string whole = name.filename().string();
    if (whole == "openclaw-agent.sqlite") return true;
    // OpenClaw puts a time behind the names of sessions that were reset or deleted: their calls were billed as well.
    return whole.find(".jsonl.reset.") != std::string::npos || whole.find(".jsonl.deleted.") != std::string::npos;
}

/// Folder by folder, of which one is open at a time: what cannot be read is said, and the rest is looked at.
void walk(const std::string& root, LogLocation& location) {
    std::vector<fs::path> folders{root};
    while (!folders.empty()) {
        const fs::path folder = std::move(folders.back());
        folders.pop_back();
        std::error_code error;
        for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
            throw_if_interrupted();
            std::error_code unknown;
            const fs::file_type type = at->symlink_status(unknown).type();
            if (type == fs::file_type::none) {
                location.problems.push_back(fmt::format("read {}: {}", at->path().string(), unknown.message()));
            } else if (type == fs::file_type::directory) {
                folders.push_back(at->path());
            } else if (type == fs::file_type::symlink) {
                ++location.links;
            } else if (type == fs::file_type::regular && may_hold_sessions(at->path())) {
                location.files.push_back(at->path().string());
            }
        }
        if (error) location.problems.push_back(fmt::format("read {}: {}", folder.string(), error.message()));
    }
}

}  // namespace

LogLocation location_at(const std::string& path) {
    LogLocation location{.agent = {}, .path = path};
    std::error_code error;
    if (path == "-" || (fs::exists(path, error) && !fs::is_directory(path, error))) {
        location.exists = true;
        location.files.push_back(path);
        return location;
    }
    location.exists = fs::exists(path, error);
    if (location.exists) walk(path, location);
    std::ranges::sort(location.files);
    keep_first_files(location.files);
    return location;
}

}  // namespace whittle::cli
