#include "image_size.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace whittle::inline v0 {
namespace {

int base64_value(char c) noexcept {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+') return 62;
    return c == '/' ? 63 : -1;
}

/// The bytes of an image, plain or as base64, one at a time.
class ImageBytes {
public:
    ImageBytes(std::string_view text, bool is_base64) noexcept : text_(text), is_base64_(is_base64) {}

    /// 0 behind the end: no header is valid with it.
    [[nodiscard]] std::uint32_t at(std::size_t i) const noexcept {
        if (!is_base64_) return i < text_.size() ? static_cast<unsigned char>(text_[i]) : 0;
        const std::size_t first = i / 3 * 4 + i % 3;
        if (first + 1 >= text_.size()) return 0;
        const int high = base64_value(text_[first]);
        const int low = base64_value(text_[first + 1]);
        if (high < 0 || low < 0) return 0;
        const std::size_t shift = 2 * (i % 3 + 1);
        return (static_cast<std::uint32_t>(high) << shift | static_cast<std::uint32_t>(low) >> (6 - shift)) & 0xff;
    }
    [[nodiscard]] std::uint32_t big16(std::size_t i) const noexcept { return at(i) << 8 | at(i + 1); }
    [[nodiscard]] std::uint32_t big32(std::size_t i) const noexcept { return big16(i) << 16 | big16(i + 2); }
    [[nodiscard]] std::uint32_t little16(std::size_t i) const noexcept { return at(i) | at(i + 1) << 8; }
    [[nodiscard]] std::uint32_t little24(std::size_t i) const noexcept { return little16(i) | at(i + 2) << 16; }
    [[nodiscard]] std::uint32_t little32(std::size_t i) const noexcept { return little24(i) | at(i + 3) << 24; }

    [[nodiscard]] bool has(std::size_t i, std::string_view expected) const noexcept {
        for (std::size_t k = 0; k < expected.size(); ++k) {
            if (at(i + k) != static_cast<unsigned char>(expected[k])) return false;
        }
        return true;
    }

private:
    std::string_view text_;
    bool is_base64_;
};

ImageSize made(std::uint32_t width, std::uint32_t height) noexcept {
    constexpr std::uint32_t largest = 0x7fffffff;
    return {static_cast<int>(std::min(width, largest)), static_cast<int>(std::min(height, largest))};
}

/// A frame header is one of the markers C0 to CF, but for three that are tables (ITU-T T.81, table B.1).
bool is_frame_header(std::uint32_t marker) noexcept {
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

ImageSize jpeg_size(const ImageBytes& bytes) noexcept {
    constexpr int most_segments = 1'000;
    std::size_t at = 2;
    for (int i = 0; i < most_segments && bytes.at(at) == 0xff; ++i) {
        const std::uint32_t marker = bytes.at(at + 1);
        if (is_frame_header(marker)) return made(bytes.big16(at + 7), bytes.big16(at + 5));
        const std::uint32_t length = bytes.big16(at + 2);
        if (length < 2) return {};
        at += marker == 0xff ? 1 : 2 + length;  // a marker may be filled up with FF
    }
    return {};
}

/// The three kinds of first chunk: lossy, lossless, extended (RFC 9649).
ImageSize webp_size(const ImageBytes& bytes) noexcept {
    if (bytes.has(12, "VP8 ")) return made(bytes.little16(26) & 0x3fff, bytes.little16(28) & 0x3fff);
    if (bytes.has(12, "VP8L")) {
        const std::uint32_t bits = bytes.little32(21);
        return made((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1);
    }
    if (bytes.has(12, "VP8X")) return made(bytes.little24(24) + 1, bytes.little24(27) + 1);
    return {};
}

ImageSize size_in(const ImageBytes& bytes) noexcept {
    if (bytes.has(0, "\x89PNG\r\n\x1a\n")) return made(bytes.big32(16), bytes.big32(20));
    if (bytes.has(0, "\xff\xd8")) return jpeg_size(bytes);
    if (bytes.has(0, "GIF8")) return made(bytes.little16(6), bytes.little16(8));
    if (bytes.has(0, "RIFF") && bytes.has(8, "WEBP")) return webp_size(bytes);
    return {};
}

}  // namespace

ImageSize image_size(const MediaView& media) noexcept {
    if (media.width > 0 && media.height > 0) return {media.width, media.height};
    if (media.url.empty()) return size_in({media.bytes, false});
    const std::size_t comma = media.url.find(',');
    if (!media.url.starts_with("data:") || comma == std::string_view::npos) return {media.width, media.height};
    const bool is_base64 = media.url.substr(0, comma).ends_with(";base64");
    return is_base64 ? size_in({media.url.substr(comma + 1), true}) : ImageSize{};
}

}  // namespace whittle::inline v0
