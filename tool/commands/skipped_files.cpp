#include "skipped_files.hpp"

#include "shown.hpp"
#include "table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <map>

namespace whittle::cli {
namespace {

std::string file_and_detail(const SkippedFile& passed) {
    return passed.detail.empty() ? shown(passed.file)
                                 : fmt::format("{} ({})", shown(passed.file), shown(passed.detail));
}

}  // namespace

std::string some_of(const std::vector<std::string>& names) {
    constexpr std::size_t most = 12;
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), most));
    std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
    if (names.size() > most)
        text += fmt::format(", and {} more", grouped(static_cast<std::int64_t>(names.size() - most)));
    return text;
}

std::string SkippedFiles::text() const {
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const SkippedFile& file : files_) by_reason[file.reason].push_back(file_and_detail(file));
    std::vector<std::string> groups;
    for (const auto& [reason, files] : by_reason) groups.push_back(fmt::format("{}: {}", reason, some_of(files)));
    return fmt::format("{}", fmt::join(groups, "; "));
}

nlohmann::ordered_json SkippedFiles::json() const {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const SkippedFile& passed : files_)
        list.push_back({{"file", passed.file}, {"reason", passed.reason}, {"detail", passed.detail}});
    return list;
}

}  // namespace whittle::cli
