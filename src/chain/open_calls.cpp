#include "whittle/chain/detail/open_calls.hpp"

#include <string_view>
#include <unordered_set>

namespace whittle::inline v0::detail {

std::vector<ToolContext> open_calls(
    const Outline& outline, const ToolContext& like,
    FunctionRef<void(std::size_t message, FunctionRef<void(const PartView&)>)> visit_parts) {
    std::vector<ToolContext> calls;
    const auto open = outline.open_round_begin();
    if (!open) return calls;
    std::unordered_set<std::string_view> answered;
    for (std::size_t i = *open + 1; i < outline.size(); ++i) {
        for (const PartInfo& part : outline[i].parts) {
            if (part.kind == PartKind::tool_result) answered.insert(part.key_safe_call_id);
        }
    }
    const MessageInfo& info = outline[*open];
    std::size_t p = 0;
    std::size_t number = 0;
    visit_parts(*open, [&](const PartView& part) {
        const SharedString& name = info.parts[p++].key_safe_call_id;
        if (part.kind != PartKind::tool_call) return;
        const std::size_t at = number++;
        if (answered.contains(name)) return;
        ToolContext& call = calls.emplace_back(like);
        call.call_id = part.call_id;
        call.key_safe_call_id = name.str();
        call.tool = part.tool;
        call.arguments = part.text;
        call.round_serial = info.serial;
        call.index_in_round = at;
    });
    return calls;
}

}  // namespace whittle::inline v0::detail
