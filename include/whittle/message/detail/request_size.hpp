#pragma once

#include "whittle/message/outline.hpp"
#include "whittle/message/validity.hpp"

#include <cstddef>
#include <cstdint>

namespace whittle::inline v0::detail {

/// What a history has of what providers limit beside tokens.
struct RequestSize {
    std::size_t images = 0;
    std::int64_t bytes = 0;  ///< of texts and media alone, as base64
};

[[nodiscard]] RequestSize size_of_request(const Outline& outline) noexcept;

/// 0 is no limit.
template <typename Number>
[[nodiscard]] bool is_over_limit(Number value, Number limit) noexcept {
    return limit != 0 && value > limit;
}

/// Whether so many images have a limit of their own for a side.
[[nodiscard]] bool are_many_images(const RequestLimits& limits, std::size_t images) noexcept;
/// The longest side that an image may have beside so many, in pixels; 0: any.
[[nodiscard]] int longest_side(const RequestLimits& limits, std::size_t images) noexcept;

}  // namespace whittle::inline v0::detail
