#include "joined_files.hpp"

#include "whittle/provider/detail/json_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace whittle::cli {
namespace {

namespace fs = std::filesystem;

/// A pipe of such a name would be waited for.
bool is_regular(const fs::path& path) {
    std::error_code ignored;
    return fs::symlink_status(path, ignored).type() == fs::file_type::regular;
}

/// With the folders that it is in, also where it is named without them.
fs::path whole_path(const fs::path& path) {
    std::error_code error;
    const fs::path folder = fs::canonical(path.has_parent_path() ? path.parent_path() : ".", error);
    return error ? path : folder / path.filename();
}

/// Of "event-00012-<id>.json", the 12.
std::optional<std::uint64_t> number_of_event(const fs::path& path) {
    constexpr std::string_view front = "event-";
    const std::string name = path.filename().string();
    if (!name.starts_with(front) || path.extension() != ".json") return std::nullopt;
    std::uint64_t number = 0;
    const char* const end = name.data() + name.size();
    const auto [read, error] = std::from_chars(name.data() + front.size(), end, number);
    const bool is_number = error == std::errc() && read - (name.data() + front.size()) >= 5 && *read == '-';
    return is_number ? std::optional(number) : std::nullopt;
}

bool is_event_file(const fs::path& file) {
    return number_of_event(file).has_value() && whole_path(file).parent_path().filename() == "events";
}

/// The events by number, then the state; empty if `path` is not the first event.
std::vector<std::string> files_of_conversation(const fs::path& path) {
    const fs::path folder = path.parent_path();
    std::multimap<std::uint64_t, std::string> events;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        const auto number = number_of_event(at->path());
        if (number && is_regular(at->path())) events.emplace(*number, at->path().string());
    }
    std::vector<std::string> files;
    for (auto& [number, file] : events) files.push_back(std::move(file));
    if (files.empty() || !fs::equivalent(files.front(), path, error)) return {};
    const fs::path state = folder.parent_path() / "base_state.json";
    if (is_regular(state)) files.push_back(state.string());
    return files;
}

/// Takes out events but the first of each conversation, and its state.
void keep_first_events(std::vector<std::string>& files) {
    std::map<fs::path, std::pair<std::uint64_t, std::string>> first;  // by folder of the conversation
    for (const std::string& file : files) {
        if (!is_event_file(file)) continue;
        const std::uint64_t number = *number_of_event(file);
        const auto [at, is_new] = first.try_emplace(fs::path(file).parent_path().parent_path(), number, file);
        if (!is_new && number < at->second.first) at->second = {number, file};
    }
    std::erase_if(files, [&](const std::string& file) {
        const fs::path path(file);
        if (path.filename() == "base_state.json") return first.contains(path.parent_path());
        return is_event_file(file) && first.at(path.parent_path().parent_path()).second != file;
    });
}

/// Of a task, by which comes first. Of the last one, which other programs have too, nothing is read.
constexpr std::array<std::string_view, 6> task_files{"api_conversation_history.json",
                                                     "ui_messages.json",
                                                     "context_history.json",
                                                     "task_metadata.json",
                                                     "history_item.json",
                                                     "settings.json"};
constexpr std::size_t read_task_files = 5;

/// Its place among them, or how many they are.
std::size_t place_in_task(const fs::path& path) {
    return static_cast<std::size_t>(std::ranges::find(task_files, path.filename().string()) - task_files.begin());
}

/// Of what lies in the folder, what makes the task; without messages, the bill stands for all.
std::vector<std::string> files_of_task(const fs::path& folder) {
    std::vector<std::string> files;
    for (std::size_t i = 0; i < read_task_files; ++i) {
        const fs::path file = folder / task_files[i];
        if (is_regular(file)) files.push_back(file.string());
    }
    return !files.empty() && place_in_task(files.front()) < 2 ? files : std::vector<std::string>();
}

constexpr std::string_view messages_ending = ".messages.json";

/// "<id>/<id>" of "<id>/<id>.messages.json", where the other files of a session of Cline lie.
std::optional<std::string> front_of_session(const std::string& path) {
    if (!path.ends_with(messages_ending)) return std::nullopt;
    std::string front = path.substr(0, path.size() - messages_ending.size());
    const fs::path whole = whole_path(front);
    const bool is_of_folder = whole.filename() == whole.parent_path().filename();
    return is_of_folder ? std::optional(std::move(front)) : std::nullopt;
}

}  // namespace

std::optional<FilesOfLog> files_of_log(const std::string& path) {
    const fs::path file = whole_path(path);
    const bool is_of_folder = is_event_file(file) || place_in_task(file) < 2;
    if (is_of_folder && !is_regular(file)) return std::nullopt;  // a link
    if (is_event_file(file)) return FilesOfLog{files_of_conversation(file), file.parent_path().parent_path().string()};
    if (place_in_task(file) < 2) {
        FilesOfLog task{files_of_task(file.parent_path()), file.parent_path().string()};
        if (task.paths.empty()) return std::nullopt;
        if (fs::path(task.paths.front()).filename() != file.filename()) task.paths.clear();
        return task;
    }
    const auto front = front_of_session(path);
    if (!front) return std::nullopt;
    FilesOfLog session{{path}, *front};
    for (const char* ending : {".compaction.json", ".json"}) {
        if (is_regular(*front + ending)) session.paths.push_back(*front + ending);
    }
    return session;
}

void keep_first_files(std::vector<std::string>& files) {
    keep_first_events(files);
    std::map<fs::path, std::size_t> first_of_task;  // by folder
    std::set<std::string> listed;                   // of sessions
    for (const std::string& file : files) {
        if (const std::size_t place = place_in_task(file); place < task_files.size()) {
            const auto [at, is_new] = first_of_task.try_emplace(fs::path(file).parent_path(), place);
            at->second = std::min(at->second, place);
        }
        if (const auto front = front_of_session(file)) listed.insert({*front + ".compaction.json", *front + ".json"});
    }
    std::erase_if(files, [&](const std::string& file) {
        if (listed.contains(file)) return true;
        const std::size_t place = place_in_task(file);
        if (place == task_files.size()) return false;
        const std::size_t first = first_of_task.at(fs::path(file).parent_path());
        return first < 2 && place != first && (first == 0 || place < read_task_files);
    });
}

JoinedFiles::int_type JoinedFiles::underflow() {
    if (next_ == paths_.size()) return traits_type::eof();
    text_ = line_of(paths_[next_++]);
    text_ += '\n';
    setg(text_.data(), text_.data(), text_.data() + text_.size());
    return traits_type::to_int_type(*gptr());
}

std::string JoinedFiles::line_of(const std::string& path) {
    try {
        std::string text = read_all(path, limits_);
        std::ranges::replace_if(
            text, [](char c) { return c == '\n' || c == '\r'; }, ' ');  // none is within a string
        if (detail::is_closed_json(text)) return text;
        return damaged(path + ": JSON that is cut off");  // it would take the next files with it
    } catch (const Error& error) {
        if (paths_.size() == 1 || error.errc() == Errc::cancelled) throw;
        return damaged(error.what());
    }
}

std::string JoinedFiles::damaged(std::string reason) {
    reasons_.insert_or_assign(next_, std::move(reason));
    return "!";  // no JSON
}

void JoinedFiles::report_reasons(logs::LogNotes& notes) const {
    for (logs::DamagedLine& line : notes.damaged_lines) {
        if (const auto known = reasons_.find(line.line); known != reasons_.end()) line.reason = known->second;
    }
}

}  // namespace whittle::cli
