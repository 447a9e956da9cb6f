#pragma once

#include "whittle/chain/hook_turn.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace whittle::inline v0::detail {

/// Folded messages as one object of the chain's store, for the model to read what a summary lacks.
struct FoldedObject {
    std::shared_ptr<Storage> storage{};
    std::string key{};
    std::string content{};
    /// How the model names this object and those of the folds before it, the oldest first; the newest 20, each of which
    /// names those before it.
    std::vector<std::string> references{};
    std::string reader{};  ///< the tool that reads them; empty: there is none
};

/// The object of the messages `folded` of that hook's conversation, not stored yet. The chain has a storage. O(size).
[[nodiscard]] FoldedObject folded_object(const HookTurn& turn, std::span<const std::size_t> folded);

}  // namespace whittle::inline v0::detail
