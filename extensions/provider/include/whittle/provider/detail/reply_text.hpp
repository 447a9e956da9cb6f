#pragma once

#include "whittle/model/model.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <string_view>

namespace whittle::inline v0::detail {

/// A response, or an event of one, as a tree; bytes that are not UTF-8 are read as U+FFFD, since some servers cut
/// characters. Throws ModelError of class server for what is no JSON object; the text is not shown in it.
[[nodiscard]] ordered_json read_answer(std::string_view text);

/// Tells a listener of a reply that came whole.
template <AgentMessage M>
void notify_whole(const DeltaSink* on_delta, const M& message) {
    if (on_delta == nullptr || !*on_delta) return;
    message_traits<M>::for_each_part(message, [&](const PartView& part) {
        if (part.text.empty()) return;
        if (part.kind == PartKind::text) (*on_delta)({.text = part.text});
        if (part.kind == PartKind::thinking) (*on_delta)({.kind = Delta::Kind::thinking, .text = part.text});
        if (part.kind != PartKind::tool_call) return;
        (*on_delta)(
            {.kind = Delta::Kind::tool_arguments, .text = part.text, .call_id = part.call_id, .tool = part.tool});
    });
}

}  // namespace whittle::inline v0::detail
