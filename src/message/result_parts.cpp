#include "result_parts.hpp"

#include <algorithm>

namespace whittle::inline v0::detail {

namespace {

bool is_of_result(const PartInfo& part) {
    return part.kind == PartKind::tool_result || (part.kind == PartKind::media && !part.call_id.empty());
}

}  // namespace

std::vector<std::vector<std::size_t>> result_parts(const MessageInfo& info) {
    std::vector<std::vector<std::size_t>> results;
    for (std::size_t p = 0; p < info.parts.size(); ++p) {
        if (!is_of_result(info.parts[p])) continue;
        const auto is_same = [&](const std::vector<std::size_t>& parts) {
            return info.parts[parts.front()].call_id == info.parts[p].call_id;
        };
        const auto found = std::ranges::find_if(results, is_same);
        (found == results.end() ? results.emplace_back() : *found).push_back(p);
    }
    return results;
}

}  // namespace whittle::inline v0::detail
