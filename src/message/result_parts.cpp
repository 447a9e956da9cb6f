#include "result_parts.hpp"

#include "part_facts.hpp"
#include "whittle/message/detail/result_numbers.hpp"

#include <algorithm>

namespace whittle::inline v0::detail {

namespace {

constexpr std::size_t few = 16;  // parts: an index of them would cost more than to look at each

}  // namespace

std::optional<std::size_t> ResultNumbers::next(PartKind kind, std::string_view call_id, bool starts_new_result) {
    const bool is_inside = kind == PartKind::tool_result || (kind == PartKind::media && !call_id.empty());
    if (!is_inside) return std::nullopt;
    const auto [newest, is_new] = newest_.try_emplace(std::string(call_id), count_);
    if (!is_new && starts_new_result) newest->second = count_;
    if (newest->second == count_) ++count_;
    return newest->second;
}

std::vector<std::vector<std::size_t>> result_parts(const MessageInfo& info) {
    std::vector<std::vector<std::size_t>> results;
    if (info.parts.size() == 1) {  // most: nothing to look up
        if (is_result_part(info.parts.front())) results.push_back({0});
        return results;
    }
    ResultNumbers numbers;
    for (std::size_t p = 0; p < info.parts.size(); ++p) {
        const auto number = numbers.next(info.parts[p]);
        if (!number) continue;
        if (*number == results.size()) results.emplace_back();
        results[*number].push_back(p);
    }
    return results;
}

std::optional<std::size_t> CallParts::find(std::size_t message, std::string_view key_safe_call_id) {
    const auto& parts = outline_[message].parts;
    if (parts.size() <= few) {
        const auto found = std::ranges::find_if(parts, [&](const PartInfo& part) {
            return part.kind == PartKind::tool_call && part.key_safe_call_id == key_safe_call_id;
        });
        return found == parts.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - parts.begin()));
    }
    if (message_ != message) {
        by_name_.clear();
        for (std::size_t p = 0; p < parts.size(); ++p) {
            if (parts[p].kind == PartKind::tool_call) by_name_.try_emplace(parts[p].key_safe_call_id, p);
        }
        message_ = message;
    }
    const auto found = by_name_.find(key_safe_call_id);
    return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace whittle::inline v0::detail
