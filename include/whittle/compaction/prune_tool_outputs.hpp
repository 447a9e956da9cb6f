#pragma once

#include "whittle/compaction/pruning.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// The list with old tool outputs replaced, for a host that keeps nothing but a list: `messages` stays as it is, and
/// with it the originals. What stays: results of `protected_tools`, of the last two user turns, and of failed calls, or
/// as `config` says; its `storage` is not used. Throws Error(invalid_config). A copy, O(size of the messages).
template <AgentMessage M>
[[nodiscard]] std::vector<M> prune_tool_outputs(std::span<const M> messages,
                                                std::vector<std::string> protected_tools = default_protected_tools(),
                                                PruningConfig config = {}) {
    Conversation<M> conversation("prune_tool_outputs");
    for (const M& message : messages) conversation.push_back(message);
    if (config.placeholder.empty()) config.placeholder = tool_output_compacted;
    config.storage = nullptr;
    ChainConfig settings{.on_error = OnError::propagate};
    settings.protected_tools = std::move(protected_tools);
    Chain<M>(std::move(settings), Pruning<M>(std::move(config))).compact_now(conversation);
    return {conversation.messages().begin(), conversation.messages().end()};
}

}  // namespace whittle::inline v0
