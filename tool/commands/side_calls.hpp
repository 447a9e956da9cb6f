#pragma once

#include "chain_replay.hpp"
#include "evaluation/recorded.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace whittle::cli {

/// Calls of models that a chain made to prepare `request`, as figures see them.
template <JsonMessage M>
[[nodiscard]] std::vector<evaluation::SideCall> side_calls_of(const WatchedCalls& calls, std::span<const M> request) {
    std::vector<evaluation::SideCall> sides;
    for (const WatchedCall& call : calls) {
        evaluation::SideCall& side = sides.emplace_back();
        for (const auto& message : call.messages)
            std::ranges::move(evaluation::detail::messages_of(M(message)), std::back_inserter(side.messages));
        side.reply = call.reply;
        side.shares_prefix = shares_prefix(call, request);
    }
    return sides;
}

}  // namespace whittle::cli
