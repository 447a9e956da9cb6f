#include "check_run.hpp"

namespace whittle::inline v0 {
namespace {

void bytes_come_back(CheckRun& run) {
    std::string every_byte;
    for (int i = 0; i < 256; ++i) every_byte += static_cast<char>(i);
    run.put("c1/a.bin", every_byte);
    run.expect_content("all 256 bytes", run.storage().get("c1/a.bin"), every_byte);
    const std::string lines("\0\xff\r\n\xe4\xb8\xad \n\n", 10);
    run.put("c1/b.txt", lines);
    run.expect_content("NUL, CR LF, UTF-8", run.storage().get("c1/b.txt"), lines);
}

void nothing_is_an_object(CheckRun& run) {
    run.put("c1/empty", "");
    run.expect_content("get", run.storage().get("c1/empty"), "");
    run.expect_content("get from byte 1", run.storage().get("c1/empty", 1, 1), "");
    run.expect_bytes("c1/empty", 0);
    run.put("c1/empty", "");
    run.expect_error("put of one byte", Errc::already_exists, [&] { run.put("c1/empty", "x"); });
}

void absent_is_nullopt(CheckRun& run) {
    run.put("c1/other", "x");
    for (const char* key : {"c1/none", "c1/other2", "c1/othe", "c2/other"}) {
        run.expect(!run.storage().get(key), fmt::format("get \"{}\": expected no object", key));
        run.expect(!run.storage().stat(key), fmt::format("stat \"{}\": expected no object", key));
    }
}

void written_once(CheckRun& run) {
    run.put("k", "one");
    run.put("k", "one");
    for (const char* other : {"two", "", "on", "one ", "One", "eno"})
        run.expect_error(fmt::format("put of \"{}\"", other), Errc::already_exists, [&] { run.put("k", other); });
    run.expect_content("get after the refused puts", run.storage().get("k"), "one");
    run.expect_bytes("k", 3);
}

void ranges_are_cut(CheckRun& run) {
    run.put("k", "0123456789");
    const auto expect_range = [&](std::int64_t offset, std::int64_t max_bytes, std::string_view expected) {
        run.expect_content(fmt::format("get at {}, {} bytes", offset, max_bytes),
                           run.storage().get("k", offset, max_bytes), expected);
    };
    expect_range(0, 10, "0123456789");
    expect_range(0, 1, "0");
    expect_range(3, 4, "3456");
    expect_range(0, 0, "");
    expect_range(5, 0, "");
    expect_range(8, 100, "89");
    expect_range(9, 1, "9");
    expect_range(10, 5, "");
    expect_range(11, 5, "");
    expect_range(1, INT64_MAX, "123456789");
    expect_range(INT64_MAX, INT64_MAX, "");
}

/// Characters of 1 to 4 bytes, and joined ones: every cut of every length.
void ranges_are_bytes(CheckRun& run) {
    const std::string text = "a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x99\x82\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbbz";
    run.put("utf8", text);
    for (std::size_t offset = 0; offset < text.size(); ++offset) {
        for (std::size_t bytes = 1; bytes <= 5; ++bytes)
            run.expect_content(
                fmt::format("get at {}, {} bytes", offset, bytes),
                run.storage().get("utf8", static_cast<std::int64_t>(offset), static_cast<std::int64_t>(bytes)),
                std::string_view(text).substr(offset, bytes));
    }
}

void negative_ranges_are_refused(CheckRun& run) {
    run.put("k", "0123456789");
    run.expect_error("get at -1", Errc::invalid_argument, [&] { (void)run.storage().get("k", -1, 5); });
    run.expect_error("get of -1 bytes", Errc::invalid_argument, [&] { (void)run.storage().get("k", 0, -1); });
    run.expect_error("get at the least offset", Errc::invalid_argument,
                     [&] { (void)run.storage().get("k", INT64_MIN, INT64_MAX); });
}

void stat_reports(CheckRun& run) {
    run.put("c/k", "12345");
    run.expect_bytes("c/k", 5);
}

void removed_is_free(CheckRun& run) {
    run.put("c/k", "one");
    run.put("c/k2", "stays");
    run.expect(run.storage().remove("c/k"), "remove: expected that there was an object");
    run.expect(!run.storage().get("c/k"), "get after remove: expected no object");
    run.expect(!run.storage().remove("c/k"), "remove again: expected that there was none");
    run.put("c/k", "two");
    run.expect_content("get of what was put then", run.storage().get("c/k"), "two");
    run.expect_content("get of another object", run.storage().get("c/k2"), "stays");
}

void locate_ends_with_key(CheckRun& run) {
    run.put("c/k.txt", "x");
    const std::string place = run.storage().locate("c/k.txt");
    run.expect(place == "c/k.txt" || place.ends_with("/c/k.txt"),
               fmt::format("locate \"c/k.txt\": expected the key or a path that ends with it, found \"{}\"", place));
}

}  // namespace

StorageChecks checks_of_objects() {
    return {
        {"an object comes back byte for byte", CheckNeeds::nothing, bytes_come_back},
        {"an object of no bytes is an object", CheckNeeds::nothing, nothing_is_an_object},
        {"an absent object is nullopt", CheckNeeds::nothing, absent_is_nullopt},
        {"the same content again is a no-op, other content is refused and changes nothing", CheckNeeds::nothing,
         written_once},
        {"a range is cut to the object", CheckNeeds::nothing, ranges_are_cut},
        {"a range that splits a character gives the bytes as they are", CheckNeeds::nothing, ranges_are_bytes},
        {"a negative range is refused", CheckNeeds::nothing, negative_ranges_are_refused},
        {"stat tells key and length", CheckNeeds::nothing, stat_reports},
        {"a removed key may be written again, with other content", CheckNeeds::removal, removed_is_free},
        {"locate gives the key, or a path that ends with it", CheckNeeds::nothing, locate_ends_with_key},
    };
}

}  // namespace whittle::inline v0
