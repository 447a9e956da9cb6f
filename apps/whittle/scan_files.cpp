#include "scan_files.hpp"

#include "event_files.hpp"
#include "interrupt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace whittle::cli {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

bool may_hold_sessions(const fs::path& file) {
    constexpr std::array<std::string_view, 6> endings{".jsonl", ".json", ".traj", ".har", ".db", ".csv"};
    const bool is_packed = file.extension() == ".gz" || file.extension() == ".zst";
    const fs::path name = is_packed ? file.stem() : file;
    return std::ranges::find(endings, name.extension().string()) != endings.end();
}

/// `has`: a part of the path that every file of the agent has; empty: any.
ScannedPlace place_of(std::string agent, const fs::path& folder, std::string_view has = {}) {
    ScannedPlace place = place_at(folder.string());
    place.agent = std::move(agent);
    std::erase_if(place.files, [&](const std::string& file) { return file.find(has) == std::string::npos; });
    return place;
}

/// Several folders, with commas between.
std::vector<fs::path> folders_in(const std::string& list) {
    std::vector<fs::path> folders;
    for (std::size_t at = 0; at < list.size();) {
        const std::size_t end = std::min(list.find(',', at), list.size());
        if (end > at) folders.emplace_back(list.substr(at, end - at));
        at = end + 1;
    }
    return folders;
}

std::vector<fs::path> claude_folders(const fs::path& home) {
    if (const std::string given = variable("CLAUDE_CONFIG_DIR"); !given.empty()) return folders_in(given);
    const std::string config = variable("XDG_CONFIG_HOME");
    return {home / ".claude", (config.empty() ? home / ".config" : fs::path(config)) / "claude"};
}

fs::path qwen_folder(const fs::path& home) {
    for (const char* name : {"QWEN_RUNTIME_DIR", "QWEN_HOME"}) {
        if (const std::string given = variable(name); !given.empty()) return given;
    }
    return home / ".qwen";
}

/// Folder by folder, of which one is open at a time: what cannot be read is said, and the rest is looked at.
void walk(const std::string& root, ScannedPlace& place) {
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
                place.problems.push_back(fmt::format("read {}: {}", at->path().string(), unknown.message()));
            } else if (type == fs::file_type::directory) {
                folders.push_back(at->path());
            } else if (type == fs::file_type::symlink) {
                ++place.links;
            } else if (type == fs::file_type::regular && may_hold_sessions(at->path())) {
                place.files.push_back(at->path().string());
            }
        }
        if (error) place.problems.push_back(fmt::format("read {}: {}", folder.string(), error.message()));
    }
}

}  // namespace

ScannedPlace place_at(const std::string& path) {
    ScannedPlace place{.agent = {}, .path = path};
    std::error_code error;
    if (path == "-" || (fs::exists(path, error) && !fs::is_directory(path, error))) {
        place.is_there = true;
        place.files.push_back(path);
        return place;
    }
    place.is_there = fs::exists(path, error);
    if (place.is_there) walk(path, place);
    std::ranges::sort(place.files);
    keep_first_events(place.files);
    return place;
}

std::vector<ScannedPlace> places_of_agents() {
    const fs::path home = variable("HOME");
    std::vector<ScannedPlace> places;
    for (const fs::path& folder : claude_folders(home)) places.push_back(place_of("Claude Code", folder / "projects"));
    const std::string codex = variable("CODEX_HOME");
    const fs::path codex_home = codex.empty() ? home / ".codex" : fs::path(codex);
    for (const char* folder : {"sessions", "archived_sessions"})
        places.push_back(place_of("Codex", codex_home / folder));
    const std::string gemini = variable("GEMINI_CLI_HOME");
    const fs::path gemini_home = gemini.empty() ? home : fs::path(gemini);
    places.push_back(place_of("Gemini CLI", gemini_home / ".gemini" / "tmp", "/chats/"));
    const fs::path qwen = qwen_folder(home);
    places.push_back(place_of("Qwen Code", qwen / "projects"));
    places.push_back(place_of("Qwen Code", qwen / "tmp", "/chats/"));
    const std::string data = variable("XDG_DATA_HOME");
    const fs::path data_home = data.empty() ? home / ".local" / "share" : fs::path(data);
    places.push_back(place_of("opencode", data_home / "opencode" / "opencode.db"));
    places.push_back(place_of("OpenHands", home / ".openhands" / "conversations"));
    return places;
}

}  // namespace whittle::cli
