#include "../src/vocabulary_format.hpp"
#include "vocabularies.hpp"
#include "whittle/base/error.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

using namespace whittle;
using namespace whittle::test;

namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Only the 256 bytes, then `lines`.
std::string small_file(std::string_view lines = "") {
    std::string file;
    for (unsigned c = 0; c < 256; ++c) {
        file += digits[c >> 2];
        file += digits[c << 4 & 63];
        file += "== " + std::to_string(c) + "\n";
    }
    return file.append(lines);
}

template <typename Work>
std::string error_of(Errc code, Work&& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.errc() == code ? error.what() : "another code";
    }
    return "no error";
}

std::string error_of_custom(std::string_view lines) {
    return error_of(Errc::parse_failed, [&] { (void)pack_custom_vocabulary("mine", "o200k_base", small_file(lines)); });
}

std::string error_of_packed(const std::string& packed) {
    return error_of(Errc::damaged, [&] { (void)Vocabulary::from_packed(packed); });
}

/// The error of a packed file whose header was altered and whose checksum is right.
template <typename Alter>
std::string error_of_altered(std::string packed, Alter&& alter) {
    bpe::Header header;
    std::memcpy(&header, packed.data(), sizeof header);
    alter(header);
    header.hash = {};
    std::memcpy(packed.data(), &header, sizeof header);
    const std::size_t start = bpe::aligned(sizeof header);
    const std::string_view content = packed;
    header.hash = hash128(content.substr(start), hash128(content.substr(0, start)));
    std::memcpy(packed.data(), &header, sizeof header);
    return error_of_packed(packed);
}

class TemporaryFile {
public:
    explicit TemporaryFile(std::string_view content)
        : path_((std::filesystem::temp_directory_path() / ("whittle-vocabulary-" + std::to_string(::getpid())))
                    .string()) {
        std::ofstream(path_, std::ios::binary) << content;
    }
    ~TemporaryFile() { std::filesystem::remove(path_); }
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace

TEST_CASE("a vocabulary of one's own merges by rank", "[tokens]") {
    const std::string file = small_file("YWI= 256\nYmM= 257\nYWJj 258\n");  // ab, bc, abc
    const auto tokens = Vocabulary::from_packed(pack_custom_vocabulary("mine", "r50k_base", file));
    CHECK(tokens->name() == "mine");
    CHECK(tokens->size() == 259);
    CHECK(tokens->longest_token() == 3);
    CHECK(tokens->encode("abc") == std::vector<TokenId>{258});
    CHECK(tokens->encode("bcab") == std::vector<TokenId>{257, 256});
    CHECK(tokens->encode("xabcbc") == std::vector<TokenId>{'x', 258, 257});
}

TEST_CASE("a file that is not the published one is refused with both hashes", "[tokens]") {
    const std::string error = error_of(Errc::damaged, [] { (void)pack_vocabulary("o200k_base", small_file()); });
    CHECK(error.starts_with("pack vocabulary o200k_base: the file's SHA-256 is "));
    CHECK(error.ends_with(find_encoding("o200k_base")->sha256));
}

TEST_CASE("an encoding that is not known is refused", "[tokens]") {
    CHECK(error_of(Errc::invalid_argument, [] { (void)pack_vocabulary("o300k_base", ""); }) ==
          "encoding \"o300k_base\": not known; known are o200k_base, cl100k_base, p50k_base and r50k_base");
    CHECK(find_encoding("o300k_base") == nullptr);
}

TEST_CASE("a mistake in a vocabulary file is named with its line", "[tokens]") {
    CHECK(error_of_custom("YWI=256\n") == "vocabulary line 257: expected a token in base64 and its rank");
    CHECK(error_of_custom("YWI= 2x\n") == "vocabulary line 257: expected a token in base64 and its rank");
    CHECK(error_of_custom("YW*= 256\n") == "vocabulary line 257: expected a token in base64 and its rank");
    CHECK(error_of_custom("YWI= 255\n") == "vocabulary line 257: rank 255 comes twice");
    CHECK(error_of_custom("YWI= 262143\n") == "vocabulary line 257: rank 262143 is too large; the largest is 262142");
    CHECK(error_of_custom("YWI= 256\nYWI= 257\n") == "vocabulary: the token of rank 257 comes twice");
    CHECK(error_of_custom("YWJj 256\n") ==
          "vocabulary: the token of rank 256 is not what two of lower rank merge into");
    CHECK(error_of(Errc::parse_failed, [] { (void)pack_custom_vocabulary("mine", "o200k_base", "YQ== 0\n"); }) ==
          "vocabulary: not all single bytes are tokens");
}

TEST_CASE("a packed file that is cut short or altered is refused", "[tokens]") {
    const std::string packed = pack_custom_vocabulary("mine", "o200k_base", small_file("YWI= 256\n"));
    CHECK(error_of_packed("") == "open vocabulary from memory: not a packed vocabulary");
    CHECK(error_of_packed(std::string(1'000, 'x')) == "open vocabulary from memory: not a packed vocabulary");
    CHECK(error_of_packed(packed.substr(0, packed.size() - 1)).find("but it was written with") != std::string::npos);
    for (std::size_t at = 16; at < packed.size(); at += packed.size() / 97) {
        std::string altered = packed;
        altered[at] = static_cast<char>(altered[at] ^ 4);
        CAPTURE(at);
        CHECK(error_of_packed(altered).starts_with("open vocabulary from memory: "));
    }
    std::string other_version = packed;
    other_version[8] = 9;
    CHECK(error_of_packed(other_version) ==
          "open vocabulary from memory: format version 9, this library reads version 1: pack it again");
}

TEST_CASE("a packed file with a right checksum and a wrong header is refused", "[tokens]") {
    const std::string packed = pack_custom_vocabulary("mine", "o200k_base", small_file("YWI= 256\n"));
    const std::string start = "open vocabulary from memory: ";
    CHECK(error_of_altered(packed, [](bpe::Header&) {}) == "no error");
    for (std::size_t i = 0; i < bpe::sections; ++i) {
        CAPTURE(i);
        for (const std::uint64_t size : {std::uint64_t{1} << 20, std::uint64_t{1} << 60, ~std::uint64_t{0}})
            CHECK(error_of_altered(packed, [&](bpe::Header& header) { header.section_sizes[i] = size; }) ==
                  start + "section " + std::to_string(i) + " does not fit in the file");
        if (i == 8) continue;  // the bytes of the tokens may be any number
        CHECK(error_of_altered(packed, [&](bpe::Header& header) { header.section_sizes[i] = 0; }).starts_with(start));
    }
    CHECK(error_of_altered(packed, [](bpe::Header& header) { header.section_sizes[2] -= 1; }) ==
          start + "the size of a hash table is no power of two");
    CHECK(error_of_altered(packed, [](bpe::Header& header) { header.section_sizes[4] -= 1; }) ==
          start + "its tables do not have one entry for each token");
    CHECK(error_of_altered(packed, [](bpe::Header& header) { header.section_sizes[3] = 255; }) ==
          start + "its trie is too small");
    CHECK(error_of_altered(packed, [](bpe::Header& header) { header.pattern = bpe::Pattern{4}; }) ==
          start + "split pattern 4 is not known");
    CHECK(error_of_altered(packed, [](bpe::Header& header) { header.longest_token = 256; }) ==
          start + "longest token 256: expected 1 to 255 bytes");
    CHECK(error_of_altered(packed, [](bpe::Header& header) { header.longest_token = 0; }) ==
          start + "longest token 0: expected 1 to 255 bytes");
}

TEST_CASE("a FIFO in the place of a packed file is refused at once", "[tokens]") {
    const TemporaryFile file("");
    std::filesystem::remove(file.path());
    REQUIRE(::mkfifo(file.path().c_str(), 0600) == 0);
    CHECK(error_of(Errc::damaged, [&] { (void)Vocabulary::open(file.path()); }) ==
          "open vocabulary " + file.path() + ": not a packed vocabulary");
}

TEST_CASE("another vocabulary under the name of an encoding is refused", "[tokens]") {
    const std::string source = small_file("YWI= 256\n");
    const TemporaryFile file(pack_custom_vocabulary("mine", "o200k_base", source));
    const EncodingInfo& encoding = *find_encoding("o200k_base");
    const std::string error = error_of(Errc::damaged, [&] { (void)open_encoding(file.path(), encoding); });
    CHECK(error.starts_with("open vocabulary " + file.path() + ": not o200k_base, but \"mine\": made from a file"));
    CHECK(error.ends_with(encoding.sha256));
}

TEST_CASE("a packed file is used where it lies", "[tokens]") {
    const std::string packed = pack_custom_vocabulary("mine", "o200k_base", small_file("YWI= 256\n"));
    const TemporaryFile file(packed);
    const auto tokens = Vocabulary::open(file.path());
    CHECK(tokens->count("abab") == 2);
    CHECK(error_of(Errc::not_found, [&] {
              (void)Vocabulary::open(file.path() + ".absent");
          }).ends_with(".absent: No such file or directory"));
    CHECK(error_of(Errc::damaged, [] { (void)Vocabulary::open("/dev/null"); }) ==
          "open vocabulary /dev/null: not a packed vocabulary");
    alignas(64) static std::array<unsigned char, 400'000> bytes;
    REQUIRE(packed.size() < bytes.size());
    std::ranges::copy(packed, bytes.begin());
    CHECK(Vocabulary::from_static(std::span(bytes).first(packed.size()))->count("abab") == 2);
    CHECK(error_of(Errc::invalid_argument, [] { (void)Vocabulary::from_static(std::span(bytes).subspan(1)); }) ==
          "open vocabulary from memory: it does not start at a multiple of 64");
}
