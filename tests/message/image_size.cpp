// The pixels of an image, from the header of its bytes: what limits on images are checked with.
#include "support/catch.hpp"
#include "whittle/message/outline.hpp"

#include <array>
#include <string>
#include <string_view>

using namespace whittle;

namespace {

struct Sample {
    std::string_view name;
    std::string_view mime;
    std::string_view base64;
};

/// 21 x 9 pixels each, as Pillow 11 writes them; the JPEG without its end.
constexpr std::array<Sample, 6> samples{{
    {"a PNG", "image/png",
     "iVBORw0KGgoAAAANSUhEUgAAABUAAAAJCAIAAABSYfAhAAAAF0lEQVR4nGM8wcXFQAFgokTzqP4hrx8ABKQA7szb7I0AAAAASUVO"
     "RK5CYII="},
    {"a GIF", "image/gif", "R0lGODdhFQAJAIEAAMgKCgAAAAAAAAAAACwAAAAAFQAJAAAIGAABCBxIsKDBgwgTKlzIsKHDhxAjSpQYEAA7"},
    {"a progressive JPEG with a comment", "image/jpeg",
     "/9j/4AAQSkZJRgABAQAAAQABAAD//gAEaGn/2wBDAP//////////////////////////////////////////////////////////"
     "////////////////////////////2wBDAf//////////////////////////////////////////////////////////////////"
     "////////////////////wgARCAAJABUDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAH/xAAVAQEBAAAAAAAAAAAAAAAA"},
    {"a lossy WebP", "image/webp",
     "UklGRjwAAABXRUJQVlA4IDAAAADQAgCdASoVAAkAP83W4mY/tK4nMAgD8DmJQBUehaSAAP7cUVpD7PI7CG7J8fMgAAA="},
    {"a lossless WebP", "image/webp", "UklGRh4AAABXRUJQVlA4TBEAAAAvFAACAAdQhSJXof+BiOh/AAA="},
    {"a WebP with metadata", "image/webp",
     "UklGRmQAAABXRUJQVlA4WAoAAAAIAAAAFAAACAAAVlA4IDAAAADQAgCdASoVAAkAP83W4mY/tK4nMAgD8DmJQBUehaSAAP7cUVpD"
     "7PI7CG7J8fMgAABFWElGDgAAAElJKgAIAAAAAAAAAAAA"},
}};

int side_of(const MediaView& media) {
    return describe(PartView{.kind = PartKind::media, .media = media}).longer_side_pixels;
}

std::string data_url(const Sample& sample) {
    return "data:" + std::string(sample.mime) + ";base64," + std::string(sample.base64);
}

}  // namespace

TEST_CASE("the side of an image comes from its header", "[message]") {
    for (const Sample& sample : samples) {
        INFO(sample.name);
        const std::string url = data_url(sample);
        CHECK(side_of({.mime = sample.mime, .url = url}) == 21);
    }
}

TEST_CASE("plain bytes are read as base64 is", "[message]") {
    const std::string gif("GIF89a\x15\x02\x09\x01\x80", 11);
    CHECK(side_of({.mime = "image/gif", .bytes = gif}) == 0x215);
}

TEST_CASE("what the message says of an image stands", "[message]") {
    const std::string url = data_url(samples[0]);
    CHECK(side_of({.mime = "image/png", .url = url, .width = 3, .height = 4}) == 4);
}

TEST_CASE("an image cut off anywhere has its side or none", "[message]") {
    for (const Sample& sample : samples) {
        const std::string url = data_url(sample);
        for (std::size_t length = 0; length < url.size(); ++length) {
            const int side = side_of({.mime = sample.mime, .url = std::string_view(url).substr(0, length)});
            INFO(sample.name << ", " << length << " bytes");
            CHECK((side == 0 || side <= 21));
        }
    }
}

TEST_CASE("what is no image that is known has no side", "[message]") {
    CHECK(side_of({.mime = "image/png", .url = "https://example.org/a.png"}) == 0);
    CHECK(side_of({.mime = "image/png", .url = "data:image/png;base64,!!!!"}) == 0);
    CHECK(side_of({.mime = "image/jpeg", .bytes = std::string_view("\xff\xd8\xff\xe0\0\0\xff\xc0", 8)}) == 0);
    const std::string url = data_url(samples[0]);
    CHECK(side_of({.mime = "application/pdf", .url = url}) == 0);
}
