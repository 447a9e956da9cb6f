#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// Copies of texts that stay where they are, many to an allocation.
class TextBlocks {
public:
    TextBlocks();
    TextBlocks(TextBlocks&& other) noexcept;
    ~TextBlocks();

    /// The copy lives as long as this, or until `clear`.
    [[nodiscard]] std::string_view keep(std::string_view text);
    void clear() noexcept;

private:
    std::vector<std::unique_ptr<char[]>> blocks_{};
    char* next_ = nullptr;
    std::size_t left_ = 0;
};

}  // namespace whittle::inline v0::detail
