#include "whittle/conversation/detail/text_blocks.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0::detail {

TextBlocks::TextBlocks() = default;
TextBlocks::~TextBlocks() = default;

TextBlocks::TextBlocks(TextBlocks&& other) noexcept
    : blocks_(std::exchange(other.blocks_, {})),
      next_(std::exchange(other.next_, nullptr)),
      left_(std::exchange(other.left_, 0)) {}

std::string_view TextBlocks::keep(std::string_view text) {
    constexpr std::size_t block_size = 1'024;
    if (left_ < text.size()) {
        const std::size_t size = std::max(block_size, text.size());
        blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
        next_ = blocks_.back().get();
        left_ = size;
    }
    const std::string_view kept(next_, text.copy(next_, text.size()));
    next_ += kept.size();
    left_ -= kept.size();
    return kept;
}

void TextBlocks::clear() noexcept {
    blocks_.clear();
    next_ = nullptr;
    left_ = 0;
}

}  // namespace whittle::inline v0::detail
