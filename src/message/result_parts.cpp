#include "result_parts.hpp"

#include <algorithm>
#include <string_view>

namespace whittle::inline v0::detail {

namespace {

bool is_of_result(const PartInfo& part) {
    return part.kind == PartKind::tool_result || (part.kind == PartKind::media && !part.call_id.empty());
}

}  // namespace

std::vector<std::vector<std::size_t>> result_parts(const MessageInfo& info) {
    std::vector<std::vector<std::size_t>> results;
    std::vector<std::string_view> calls;
    for (std::size_t p = 0; p < info.parts.size(); ++p) {
        const PartInfo& part = info.parts[p];
        if (!is_of_result(part)) continue;
        const auto found = std::ranges::find(calls, part.call_id);
        const auto at = static_cast<std::size_t>(found - calls.begin());
        if (found == calls.end()) {
            calls.push_back(part.call_id);
            results.emplace_back();
        }
        results[at].push_back(p);
    }
    return results;
}

}  // namespace whittle::inline v0::detail
