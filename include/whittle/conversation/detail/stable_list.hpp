#pragma once

#include "whittle/base/version.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// Items that stay where they are, in blocks that grow: those of a deque hold one message each.
template <typename T>
class StableList {
public:
    T& push_back(T&& item) {
        if (blocks_.empty() || blocks_.back().size() == blocks_.back().capacity()) open_block();
        return blocks_.back().emplace_back(std::move(item));
    }
    void clear() noexcept { blocks_.clear(); }

private:
    void open_block() {
        constexpr std::size_t largest = 64;
        std::vector<T> block;
        block.reserve(blocks_.empty() ? 2 : std::min(largest, 2 * blocks_.back().size()));
        blocks_.push_back(std::move(block));
    }

    std::vector<std::vector<T>> blocks_{};
};

}  // namespace whittle::inline v0::detail
