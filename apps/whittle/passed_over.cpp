#include "passed_over.hpp"

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

std::string file_and_detail(const PassedOver& passed) {
    return passed.detail.empty() ? shown(passed.file)
                                 : fmt::format("{} ({})", shown(passed.file), shown(passed.detail));
}

}  // namespace

std::string PassedOverFiles::text() const {
    constexpr std::size_t most_named = 12;
    std::map<std::string, std::vector<const PassedOver*>> by_reason;
    for (const PassedOver& file : files_) by_reason[file.reason].push_back(&file);
    std::vector<std::string> groups;
    for (const auto& [reason, files] : by_reason) {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < std::min(files.size(), most_named); ++i)
            names.push_back(file_and_detail(*files[i]));
        if (files.size() > most_named)
            names.push_back(fmt::format("and {} more", grouped(static_cast<std::int64_t>(files.size() - most_named))));
        groups.push_back(fmt::format("{}: {}", reason, fmt::join(names, ", ")));
    }
    return fmt::format("{}", fmt::join(groups, "; "));
}

nlohmann::ordered_json PassedOverFiles::json() const {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const PassedOver& passed : files_)
        list.push_back({{"file", passed.file}, {"reason", passed.reason}, {"detail", passed.detail}});
    return list;
}

}  // namespace whittle::cli
