// Where agents keep their sessions, as tool/docs/logs.md says; the heads of the readers in tool/logs have the sources.
#include "scan_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
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

/// `has`: a part of the path that every file of the agent has; empty: any.
LogLocation location_of(std::string agent, const fs::path& folder, std::string_view has = {}) {
    LogLocation location = location_at(folder.string());
    location.agent = std::move(agent);
    std::erase_if(location.files, [&](const std::string& file) { return file.find(has) == std::string::npos; });
    return location;
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

std::vector<fs::path> pi_folders(const fs::path& home) {
    const std::string agent = variable("PI_CODING_AGENT_DIR");
    std::vector<fs::path> folders{(agent.empty() ? home / ".pi" / "agent" : fs::path(agent)) / "sessions"};
    if (const std::string given = variable("PI_CODING_AGENT_SESSION_DIR"); !given.empty()) folders.emplace_back(given);
    return folders;
}

/// OpenClaw kept its files under other names before.
std::vector<fs::path> openclaw_folders(const fs::path& home) {
    if (const std::string given = variable("OPENCLAW_STATE_DIR"); !given.empty()) return {given};
    const std::string other = variable("OPENCLAW_HOME");
    const fs::path in = other.empty() ? home : fs::path(other);
    return {in / ".openclaw", in / ".clawdbot", in / ".moltbot"};
}

/// A session of OpenClaw, or its database: not what stands beside them, such as lists of them, what was measured of
/// each and the files of other agents that it runs.
bool is_of_openclaw(const fs::path& file, const fs::path& agents) {
    const fs::path within = file.lexically_relative(agents);
    const auto folder = std::next(within.begin(), within.empty() ? 0 : 1);
    const std::string name = file.filename().string();
    if (name == "openclaw-agent.sqlite") return true;
    return folder != within.end() && *folder == "sessions" && name.find(".jsonl") != std::string::npos &&
           name.find(".trajectory.jsonl") == std::string::npos;
}

LogLocation openclaw_location(const fs::path& folder) {
    const fs::path agents = folder / "agents";
    LogLocation location = location_of("OpenClaw", agents);
    std::erase_if(location.files, [&](const std::string& file) { return !is_of_openclaw(file, agents); });
    return location;
}

/// Since 2026 all of it is in one folder; before, some of it was where XDG has such files.
std::vector<fs::path> copilot_folders(const fs::path& home) {
    if (const std::string given = variable("COPILOT_HOME"); !given.empty()) return {given};
    const std::string state = variable("XDG_STATE_HOME");
    if (state.empty()) return {home / ".copilot"};
    return {home / ".copilot", fs::path(state) / ".copilot"};
}

/// Places of one agent, of which few are there.
struct Candidates {
    const char* agent;
    std::vector<fs::path> folders{};
};

/// Where VS Code and the editors that are made of it keep what their extensions store.
std::vector<fs::path> editor_storages(const fs::path& home) {
    const std::string config = variable("XDG_CONFIG_HOME");
    const fs::path linux_home = config.empty() ? home / ".config" : fs::path(config);
    std::vector<fs::path> storages;
    for (const fs::path& folder : {linux_home, home / "Library" / "Application Support"}) {
        for (const char* editor : {"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"})
            storages.push_back(folder / editor / "User" / "globalStorage");
    }
    for (const char* server : {".vscode-server", ".vscode-server-insiders", ".cursor-server", ".windsurf-server"})
        storages.push_back(home / server / "data" / "User" / "globalStorage");
    return storages;
}

std::vector<fs::path> tasks_of_extension(const fs::path& home, const char* extension) {
    std::vector<fs::path> folders = editor_storages(home);
    for (fs::path& folder : folders) folder = folder / extension / "tasks";
    return folders;
}

Candidates cline_folders(const fs::path& home) {
    Candidates cline{"Cline", tasks_of_extension(home, "saoudrizwan.claude-dev")};
    const std::string given = variable("CLINE_DIR");
    const std::string given_data = variable("CLINE_DATA_DIR");
    const fs::path own = given.empty() ? home / ".cline" : fs::path(given);
    const fs::path data = given_data.empty() ? own / "data" : fs::path(given_data);
    for (const char* folder : {"tasks", "sessions"}) cline.folders.push_back(data / folder);
    return cline;
}

Candidates roo_folders(const fs::path& home) {
    return {"Roo Code", tasks_of_extension(home, "rooveterinaryinc.roo-cline")};
}

/// Goes on where Roo Code ended.
Candidates zoo_folders(const fs::path& home) {
    return {"Zoo Code", tasks_of_extension(home, "zoocodeorganization.zoo-code")};
}

Candidates kilo_folders(const fs::path& home) {
    Candidates kilo{"Kilo Code", tasks_of_extension(home, "kilocode.kilo-code")};
    const std::string data = variable("XDG_DATA_HOME");  // its newer versions are made of opencode
    kilo.folders.push_back((data.empty() ? home / ".local" / "share" : fs::path(data)) / "kilo" / "kilo.db");
    return kilo;
}

/// Those that are there; if none is, the agent is not named.
void add_those_there(const Candidates& candidates, std::vector<LogLocation>& locations) {
    for (const fs::path& folder : candidates.folders) {
        std::error_code error;
        if (fs::exists(folder, error)) locations.push_back(location_of(candidates.agent, folder));
    }
}

/// The logs of sessions alone: what an agent made of its own accord stands in their folders too.
LogLocation copilot_sessions(const fs::path& folder) {
    LogLocation location = location_of("Copilot CLI", folder);
    std::erase_if(location.files, [&](const std::string& file) {
        const fs::path path(file);
        const fs::path name = path.stem().extension() == ".jsonl" ? path.stem() : path.filename();
        return name != "events.jsonl" && path.parent_path() != folder;
    });
    return location;
}

}  // namespace

std::vector<LogLocation> agent_log_locations() {
    const fs::path home = variable("HOME");
    std::vector<LogLocation> locations;
    for (const fs::path& folder : claude_folders(home))
        locations.push_back(location_of("Claude Code", folder / "projects"));
    const std::string codex = variable("CODEX_HOME");
    const fs::path codex_home = codex.empty() ? home / ".codex" : fs::path(codex);
    for (const char* folder : {"sessions", "archived_sessions"})
        locations.push_back(location_of("Codex", codex_home / folder));
    const std::string gemini = variable("GEMINI_CLI_HOME");
    const fs::path gemini_home = gemini.empty() ? home : fs::path(gemini);
    locations.push_back(location_of("Gemini CLI", gemini_home / ".gemini" / "tmp", "/chats/"));
    const fs::path qwen = qwen_folder(home);
    locations.push_back(location_of("Qwen Code", qwen / "projects"));
    locations.push_back(location_of("Qwen Code", qwen / "tmp", "/chats/"));
    for (const fs::path& folder : copilot_folders(home)) {
        locations.push_back(copilot_sessions(folder / "session-state"));
        locations.push_back(location_of("Copilot CLI", folder / "history-session-state"));
    }
    const std::string data = variable("XDG_DATA_HOME");
    const fs::path data_home = data.empty() ? home / ".local" / "share" : fs::path(data);
    locations.push_back(location_of("opencode", data_home / "opencode" / "opencode.db"));
    locations.push_back(location_of("OpenHands", home / ".openhands" / "conversations"));
    for (const fs::path& folder : pi_folders(home)) locations.push_back(location_of("pi", folder));
    for (const fs::path& folder : openclaw_folders(home)) locations.push_back(openclaw_location(folder));
    for (const Candidates& candidates : {cline_folders(home), roo_folders(home), zoo_folders(home), kilo_folders(home)})
        add_those_there(candidates, locations);
    return locations;
}

}  // namespace whittle::cli
