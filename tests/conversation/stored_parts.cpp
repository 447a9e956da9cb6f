// How results are stored, as earlier versions did it: bytes that are never changed.
#include "whittle/conversation/detail/stored_parts.hpp"

#include "support/catch.hpp"

using namespace whittle;

TEST_CASE("a result is stored as 0.1 stored it, and its texts are found again", "[conversation]") {
    const Part plain{.kind = PartKind::text, .text = "line 1\n"};
    CHECK(offload_content(std::vector{plain}) == "line 1\n");

    const Part odd{.kind = PartKind::text, .text = "line \xff"};
    const Part image{.kind = PartKind::media,
                     .media = {.mime = "image/png", .url = "https://a/b.png", .width = 2, .height = 3}};
    const std::string stored = R"([{"type":"text","text":"line 1\n"},{"type":"text","text":{"base64":"bGluZSD/"}},)"
                               R"({"type":"media","mime":"image/png","url":"https://a/b.png","width":2,"height":3}])";
    CHECK(offload_content(std::vector{plain, odd, image}) == stored);
    CHECK(text_in_content(stored, 0) == "line 1\n");
    CHECK(text_in_content(stored, 1) == "line \xff");
}
