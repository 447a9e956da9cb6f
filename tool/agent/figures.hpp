#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace agent {

struct Edit {
    std::string path{};
    std::string before{};
    std::string after{};
};

/// What a run came to.
struct Figures {
    int steps = 0;
    std::int64_t sent_peak = 0;  ///< tokens of the largest request
    std::int64_t sent_sum = 0;   ///< tokens of all requests
    std::int64_t raw_peak = 0;   ///< the same without any clearing
    std::int64_t raw_sum = 0;
    int cleared_results = 0;
    int truncated_results = 0;
    std::int64_t truncated_bytes = 0;  ///< that their results no longer show
    int commands = 0;
    int read_backs = 0;             ///< pages of something in the store
    int searches = 0;               ///< for a text in something in the store
    std::set<std::string> files{};  ///< of the workspace, read
    std::vector<Edit> edits{};
    std::vector<std::string> errors{};  ///< of tools, and of the store
    int last_command_status = 0;        ///< 0: it ended with exit code 0
};

/// What `scripts/demo` promises and this run did not show; empty if it did.
[[nodiscard]] std::vector<std::string> broken_promises(const Figures& figures);

/// Lines "- ..." and "+ ..." of what an edit took out and put in.
[[nodiscard]] std::string to_diff(const Edit& edit);

/// 1234567 as "1,234,567".
[[nodiscard]] std::string with_commas(std::int64_t number);

}  // namespace agent
