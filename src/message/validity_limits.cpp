#include "validity_rules.hpp"
#include "whittle/base/text.hpp"
#include "whittle/message/detail/request_size.hpp"

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

}  // namespace

detail::RequestSize detail::size_of_request(const Outline& outline) noexcept {
    RequestSize size;
    for (std::size_t i = 0; i < outline.size(); ++i) {
        for (const PartInfo& part : outline[i].parts) {
            size.images += part.is_image ? 1 : 0;
            size.bytes = add_saturating(size.bytes, add_saturating(part.text_bytes, part.media_base64_bytes));
        }
    }
    return size;
}

bool detail::are_many_images(const RequestLimits& limits, std::size_t images) noexcept {
    return is_over_limit(images, limits.many_images_threshold) && limits.max_side_with_many_images != 0;
}

int detail::longest_side(const RequestLimits& limits, std::size_t images) noexcept {
    return are_many_images(limits, images) ? limits.max_side_with_many_images : limits.max_image_side;
}

void check_images(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings) {
    const RequestLimits& limits = profile.limits;
    const std::vector<Image> images = images_of(facts.outline());
    const int max_side = detail::longest_side(limits, images.size());
    const bool are_many = detail::are_many_images(limits, images.size());
    for (const Image& image : images) {
        const PartInfo& part = facts.outline()[image.message].parts[image.part];
        if (detail::is_over_limit(part.media_base64_bytes, limits.max_image_base64_bytes)) {
            findings.add(image.message, image.part,
                         fmt::format("an image has {} bytes as base64, the limit is {}", part.media_base64_bytes,
                                     limits.max_image_base64_bytes));
        }
        if (detail::is_over_limit(part.longer_side_pixels, max_side)) {
            findings.add(image.message, image.part,
                         fmt::format("an image is {} pixels long, the limit {}is {}", part.longer_side_pixels,
                                     are_many ? "for so many images " : "", max_side));
        }
    }
    if (detail::is_over_limit(images.size(), limits.max_images))
        findings.add_for_list(fmt::format("the list has {} images, the limit is {}", images.size(), limits.max_images));
}

void check_request_bytes(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings) {
    const std::int64_t bytes = detail::size_of_request(facts.outline()).bytes;
    if (detail::is_over_limit(bytes, profile.limits.max_request_bytes)) {
        findings.add_for_list(fmt::format("texts and media alone take {} bytes, the limit for a request is {}", bytes,
                                          profile.limits.max_request_bytes));
    }
}

}  // namespace whittle::inline v0
