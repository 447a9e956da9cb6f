#include "event_files.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace whittle::cli {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

bool is_event_file(const std::string& path) {
    const fs::path file(path);
    return number_of_event(file).has_value() && file.parent_path().filename() == "events";
}

std::vector<std::string> files_of_conversation(const std::string& path) {
    const fs::path folder = fs::path(path).parent_path();
    std::multimap<std::uint64_t, std::string> events;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        const auto number = number_of_event(at->path());
        std::error_code ignored;  // a pipe of such a name would be waited for
        if (number && at->symlink_status(ignored).type() == fs::file_type::regular)
            events.emplace(*number, at->path().string());
    }
    std::vector<std::string> files;
    for (auto& [number, file] : events) files.push_back(std::move(file));
    if (files.empty() || !fs::equivalent(files.front(), path, error)) return {};
    const fs::path state = folder.parent_path() / "base_state.json";
    if (fs::symlink_status(state, error).type() == fs::file_type::regular) files.push_back(state.string());
    return files;
}

std::string folder_of_conversation(const std::string& path) {
    return fs::path(path).parent_path().parent_path().string();
}

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

JoinedFiles::int_type JoinedFiles::underflow() {
    if (next_ == paths_.size()) return traits_type::eof();
    text_ = read_all(paths_[next_++], limits_);
    std::ranges::replace_if(
        text_, [](char c) { return c == '\n' || c == '\r'; }, ' ');  // none is within a string
    text_ += '\n';
    setg(text_.data(), text_.data(), text_.data() + text_.size());
    return traits_type::to_int_type(*gptr());
}

}  // namespace whittle::cli
