#pragma once

#include "whittle/chain/hook_turn.hpp"
#include "whittle/condensing/config.hpp"
#include "whittle/conversation/tool.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// Asks the model of `config` for an extract of a result and checks it as a summary is checked: it has fewer than
/// `below_tokens`, and names nothing that it was not shown. Nullopt, with an event, if there is none. One call.
[[nodiscard]] std::optional<std::string> distil(std::string_view text, const CondensingConfig& config,
                                                std::string_view by, const ToolContext& context,
                                                std::int64_t below_tokens);

/// Keeps the newest request of the user beside the conversation, for the extracts of results that come.
void remember_request(HookTurn& turn, std::string_view by);

}  // namespace whittle::inline v0::detail
