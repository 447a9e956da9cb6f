#pragma once

#include "whittle/host_conformance/detail/conformance_types.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/message/traits.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// How the suite makes and looks at your messages. Written by hand, without the traits: it is what they are held to.
template <AgentMessage M>
struct MessageFixture {
    /// A message that shows exactly these parts in this order, with whatever else yours may hold taken from `others`;
    /// nullopt where your type cannot hold them. Asked again with other texts and the same values, it has to take the
    /// same fields: let `others` decide by nothing but the number of parts. Of `ToolMessage`s a result may stand in any
    /// role but `assistant`.
    std::function<std::optional<M>(const ChatMessage& shown, FieldValues& others)> build{};
    /// Every field of a message as text, those that the traits do not show too.
    std::function<std::string(const M&)> dump{};
    /// Kinds of parts that your type holds. The suite fails where one was never built.
    std::vector<PartKind> holds{PartKind::text, PartKind::tool_call, PartKind::tool_result};
    bool results_name_tools = false;  ///< a message with a result has the name of the tool
    bool utf8_only = false;           ///< your type keeps nothing else, as JSON: no other texts and ids are tried
};

/// Holds the traits of M to losslessness on generated messages: every part is read in its place with its ids, an edit
/// changes what it names and nothing else, bad edits change nothing, and a conversation gives back what it was given.
/// Texts and ids are hostile now and then: empty, long, no UTF-8, with NUL, like JSON, like placeholders. Needs no test
/// framework; what `build`, `dump` or the traits throw where they must not is a failure of the check, not an exception.
/// Throws Error(invalid_argument) without `build` or `dump`, or with fewer than one message. Takes the time of some
/// ten builds for each part.
template <AgentMessage M>
[[nodiscard]] ConformanceReport host_conformance(const MessageFixture<M>& format,
                                                 const ConformanceOptions& options = {});

}  // namespace whittle::inline v0

#include "whittle/host_conformance/detail/conformance_run.hpp"
