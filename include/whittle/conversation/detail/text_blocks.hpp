#pragma once

#include "whittle/base/version.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// Copies of texts that stay where they are, many to an allocation.
class TextBlocks {
public:
    TextBlocks() = default;
    TextBlocks(TextBlocks&& other) noexcept
        : blocks_(std::exchange(other.blocks_, {})),
          next_(std::exchange(other.next_, nullptr)),
          left_(std::exchange(other.left_, 0)) {}

    /// The copy lives as long as this, or until `clear`.
    [[nodiscard]] std::string_view keep(std::string_view text) {
        if (left_ < text.size()) open_block(std::max(block_size, text.size()));
        const std::string_view kept(next_, text.copy(next_, text.size()));
        next_ += kept.size();
        left_ -= kept.size();
        return kept;
    }

    void clear() noexcept {
        blocks_.clear();
        next_ = nullptr;
        left_ = 0;
    }

private:
    static constexpr std::size_t block_size = 1'024;

    void open_block(std::size_t size) {
        blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
        next_ = blocks_.back().get();
        left_ = size;
    }

    std::vector<std::unique_ptr<char[]>> blocks_{};
    char* next_ = nullptr;
    std::size_t left_ = 0;
};

}  // namespace whittle::inline v0::detail
