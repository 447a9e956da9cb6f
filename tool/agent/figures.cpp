#include "figures.hpp"

#include "request_view.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace agent {

std::vector<std::string> broken_promises(const Figures& figures) {
    std::vector<std::string> broken;
    const auto require = [&](bool is_kept, std::string text) {
        if (!is_kept) broken.push_back(std::move(text));
    };
    require(figures.steps >= 40, fmt::format("at least 40 steps, there were {}", figures.steps));
    require(figures.files.size() >= 15, fmt::format("at least 15 files read, there were {}", figures.files.size()));
    require(figures.commands >= 3, fmt::format("at least 3 commands, there were {}", figures.commands));
    require(figures.truncated_results >= 1, "at least one result shortened on its return");
    require(figures.read_backs >= 1, "something cleared was read back from the store");
    require(figures.searches >= 1, "something shortened was searched in the store");
    require(!figures.edits.empty(), "at least one edit");
    require(figures.last_command_status == 0, "the last command ended with exit code 0");
    require(figures.raw_peak > 150'000,
            fmt::format("more than 150,000 tokens of raw history, there were {}", with_commas(figures.raw_peak)));
    require(figures.sent_peak < 60'000,
            fmt::format("fewer than 60,000 tokens in every request, one had {}", with_commas(figures.sent_peak)));
    for (const std::string& error : figures.errors) broken.push_back("no errors, there was: " + error);
    return broken;
}

std::string to_diff(const Edit& edit) {
    const std::vector<std::string> before = lines_of(edit.before);
    const std::vector<std::string> after = lines_of(edit.after);
    const std::size_t shorter = std::min(before.size(), after.size());
    std::size_t front = 0;
    while (front < shorter && before[front] == after[front]) ++front;
    std::size_t back = 0;
    while (back < shorter - front && before[before.size() - 1 - back] == after[after.size() - 1 - back]) ++back;
    std::string diff;
    for (std::size_t i = front > 2 ? front - 2 : 0; i < front; ++i) diff += "  " + before[i] + "\n";
    for (std::size_t i = front; i < before.size() - back; ++i) diff += "- " + before[i] + "\n";
    for (std::size_t i = front; i < after.size() - back; ++i) diff += "+ " + after[i] + "\n";
    for (std::size_t i = after.size() - back; i < after.size() && i < after.size() - back + 2; ++i)
        diff += "  " + after[i] + "\n";
    return diff;
}

std::string with_commas(std::int64_t number) {
    std::string text = std::to_string(number);
    const std::size_t first = number < 0 ? 1 : 0;
    for (std::size_t at = text.size(); at > first + 3; at -= 3) text.insert(at - 3, ",");
    return text;
}

}  // namespace agent
