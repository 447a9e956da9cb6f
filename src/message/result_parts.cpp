#include "result_parts.hpp"

#include "part_facts.hpp"

#include <algorithm>

namespace whittle::inline v0::detail {

namespace {

constexpr std::size_t few = 16;  // parts: an index of them would cost more than to look at each

}  // namespace

std::vector<std::vector<std::size_t>> result_parts(const MessageInfo& info) {
    std::vector<std::vector<std::size_t>> results;
    if (info.parts.size() <= few) {
        for (std::size_t p = 0; p < info.parts.size(); ++p) {
            if (!is_result_part(info.parts[p])) continue;
            const auto newest =
                std::find_if(results.rbegin(), results.rend(), [&](const std::vector<std::size_t>& parts) {
                    return info.parts[parts.front()].call_id == info.parts[p].call_id;
                });
            const bool is_new = newest == results.rend() || info.parts[p].starts_result;
            (is_new ? results.emplace_back() : *newest).push_back(p);
        }
        return results;
    }
    std::unordered_map<std::string_view, std::size_t> by_id;
    for (std::size_t p = 0; p < info.parts.size(); ++p) {
        if (!is_result_part(info.parts[p])) continue;
        const auto [place, is_first] = by_id.try_emplace(info.parts[p].call_id, results.size());
        if (info.parts[p].starts_result) place->second = results.size();
        if (is_first || info.parts[p].starts_result) results.emplace_back();
        results[place->second].push_back(p);
    }
    return results;
}

std::optional<std::size_t> CallParts::find(std::size_t message, std::string_view object_name) {
    const auto& parts = outline_[message].parts;
    if (parts.size() <= few) {
        const auto found = std::ranges::find_if(parts, [&](const PartInfo& part) {
            return part.kind == PartKind::tool_call && part.object_name == object_name;
        });
        return found == parts.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - parts.begin()));
    }
    if (message_ != message) {
        by_name_.clear();
        for (std::size_t p = 0; p < parts.size(); ++p) {
            if (parts[p].kind == PartKind::tool_call) by_name_.try_emplace(parts[p].object_name, p);
        }
        message_ = message;
    }
    const auto found = by_name_.find(object_name);
    return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace whittle::inline v0::detail
