#pragma once

#include "input.hpp"

#include <cstddef>
#include <streambuf>
#include <string>
#include <vector>

namespace whittle::cli {

/// OpenHands keeps a conversation as a folder: `base_state.json`, and `events/event-00000-<id>.json`, one for each
/// event. The first of these stands for all of them. True for any of them, by its name alone.
[[nodiscard]] bool is_event_file(const std::string& path);

/// The files of the conversation that `path` is an event of: the events by number, then the state. Empty if `path` is
/// not the first event.
[[nodiscard]] std::vector<std::string> files_of_conversation(const std::string& path);

/// Of any of its events.
[[nodiscard]] std::string folder_of_conversation(const std::string& path);

/// Of the files of a folder, takes out events but the first of each conversation, and its state.
void keep_first_events(std::vector<std::string>& files);

/// Files of JSON, one after another, each as one line.
class JoinedFiles final : public std::streambuf {
public:
    JoinedFiles(std::vector<std::string> paths, const InputLimits& limits)
        : paths_(std::move(paths)), limits_(limits) {}

protected:
    /// Throws what `read_all` throws.
    int_type underflow() override;

private:
    std::vector<std::string> paths_;
    InputLimits limits_;
    std::size_t next_ = 0;
    std::string text_{};
};

}  // namespace whittle::cli
