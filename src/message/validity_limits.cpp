#include "validity_rules.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>

namespace whittle::inline v0 {
namespace {

struct Image {
    std::size_t message = 0;
    std::size_t part = 0;
};

std::vector<Image> images_of(const Outline& outline) {
    std::vector<Image> images;
    for (std::size_t i = 0; i < outline.size(); ++i) {
        for (std::size_t p = 0; p < outline[i].parts.size(); ++p) {
            if (outline[i].parts[p].is_image) images.push_back({i, p});
        }
    }
    return images;
}

/// 0 is no limit.
template <typename Number>
bool is_above(Number value, Number limit) noexcept {
    return limit != 0 && value > limit;
}

}  // namespace

void check_images(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings) {
    const RequestLimits& limits = profile.limits;
    const std::vector<Image> images = images_of(facts.outline());
    const bool are_many = is_above(images.size(), limits.many_images) && limits.many_images_side != 0;
    const int max_side = are_many ? limits.many_images_side : limits.max_image_side;
    for (const Image& image : images) {
        const PartInfo& part = facts.outline()[image.message].parts[image.part];
        if (is_above(part.media_bytes, limits.max_image_bytes)) {
            findings.add(image.message, image.part,
                         fmt::format("an image has {} bytes as base64, the limit is {}", part.media_bytes,
                                     limits.max_image_bytes));
        }
        if (is_above(part.image_side, max_side)) {
            findings.add(image.message, image.part,
                         fmt::format("an image is {} pixels long, the limit {}is {}", part.image_side,
                                     are_many ? "for so many images " : "", max_side));
        }
    }
    if (is_above(images.size(), limits.max_images))
        findings.add_for_list(fmt::format("the list has {} images, the limit is {}", images.size(), limits.max_images));
}

void check_request_bytes(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings) {
    const Outline& outline = facts.outline();
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < outline.size(); ++i) {
        for (const PartInfo& part : outline[i].parts)
            bytes = add_saturating(bytes, add_saturating(part.bytes, part.media_bytes));
    }
    if (is_above(bytes, profile.limits.max_request_bytes)) {
        findings.add_for_list(fmt::format("texts and media alone take {} bytes, the limit for a request is {}", bytes,
                                          profile.limits.max_request_bytes));
    }
}

}  // namespace whittle::inline v0
