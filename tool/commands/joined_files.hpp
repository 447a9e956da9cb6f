#pragma once

#include "input.hpp"
#include "logs/logs.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

namespace whittle::cli {

/// Files that make one log. The first of them stands for all:
///
/// * OpenHands keeps a conversation as a folder: `events/event-00000-<id>.json`, one for each event, and
///   `base_state.json`.
/// * Cline, Roo Code and Kilo Code keep a task as one: `api_conversation_history.json`, and beside it
///   `ui_messages.json` with what was billed, `context_history.json`, `task_metadata.json` and `history_item.json`.
/// * Cline keeps a session since its versions 4 as `<id>.messages.json`, `<id>.compaction.json` and `<id>.json`.
struct FilesOfLog {
    std::vector<std::string> paths{};  ///< in the order in which they are read; empty: `path` is not the first one
    std::string name{};                ///< of the log, for ids of sessions that have none
};

/// By the name of the file and of what lies beside it. nullopt: it is a log by itself, as a link is.
[[nodiscard]] std::optional<FilesOfLog> files_of_log(const std::string& path);

/// Of the files of a folder, takes out those of a log of several but the first of each.
void keep_first_files(std::vector<std::string>& files);

/// Files of JSON, one after another, each as one line. One of several that cannot be read, or was cut off, is a line
/// that is no JSON.
class JoinedFiles final : public std::streambuf {
public:
    JoinedFiles(std::vector<std::string> paths, const InputLimits& limits)
        : paths_(std::move(paths)), limits_(limits) {}

    /// Why these lines are damaged, where the reader noted them.
    void report_reasons(logs::LogNotes& notes) const;

protected:
    /// Throws what `read_all` throws if there is one file.
    int_type underflow() override;

private:
    [[nodiscard]] std::string line_of(const std::string& path);
    [[nodiscard]] std::string damaged(std::string reason);

    std::vector<std::string> paths_;
    InputLimits limits_;
    std::size_t next_ = 0;
    std::string text_{};
    std::map<std::size_t, std::string> reasons_{};  // by line
};

}  // namespace whittle::cli
