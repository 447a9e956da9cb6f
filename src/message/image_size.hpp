#pragma once

#include "whittle/message/part.hpp"

namespace whittle::inline v0 {

/// Pixels; 0 where unknown.
struct ImageSize {
    int width = 0;
    int height = 0;
};

/// What `media` says of itself, else what the header of its PNG, JPEG, GIF or WebP bytes says, also in a base64 data:
/// URL. Reads headers only: O(number of segments in front of a JPEG's frame), no allocation.
[[nodiscard]] ImageSize image_size(const MediaView& media) noexcept;

}  // namespace whittle::inline v0
