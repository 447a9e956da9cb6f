// How fast texts are counted exactly. bench/tokens.py runs it beside tiktoken; alone:
//
//   bench_tokens VOCABULARY.whittle speed ROUNDS FILE...   a JSON line per file: cold, and warm in slices of 2 KiB
//   bench_tokens VOCABULARY.whittle growth                 single pieces of 32 and 128 KiB
//   bench_tokens VOCABULARY.whittle ids                    texts on standard input, ids on standard output, each with
//                                                          its length before it (32 bits)
#include <whittle/base/text.hpp>
#include <whittle/tiktoken/vocabulary.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace whittle;

double seconds_of(auto&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string read(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return to_valid_utf8(std::string(std::istreambuf_iterator<char>(file), {}));
}

std::int64_t count_slices(const Vocabulary& vocabulary, std::string_view text) {
    constexpr std::size_t slice = 2'048;
    std::int64_t tokens = 0;
    while (!text.empty()) {
        const std::string_view head = grapheme_prefix(text, slice);
        tokens += vocabulary.count(head);
        text.remove_prefix(head.size());
    }
    return tokens;
}

void print_speed(const char* vocabulary_path, int rounds, const char* path) {
    const std::string text = read(path);
    std::shared_ptr<const Vocabulary> vocabulary;
    std::int64_t tokens = 0;
    const double open = seconds_of([&] { vocabulary = Vocabulary::open(vocabulary_path); });
    const double cold = seconds_of([&] { tokens = count_slices(*vocabulary, text); });
    double warm = cold;
    for (int i = 0; i < rounds; ++i)
        warm = std::min(warm, seconds_of([&] { tokens = count_slices(*vocabulary, text); }));
    std::printf(R"({"bytes": %zu, "tokens": %lld, "open": %.9f, "cold": %.9f, "warm": %.9f})"
                "\n",
                text.size(), static_cast<long long>(tokens), open, cold, warm);
}

std::string piece_of(std::string_view kind, std::size_t bytes, unsigned seed) {
    std::mt19937 random(seed);
    std::string text;
    const auto random_of = [&](std::string_view alphabet) {
        while (text.size() < bytes) text += alphabet[random() % alphabet.size()];
    };
    const auto repeated = [&](std::string_view unit) {
        while (text.size() + unit.size() <= bytes) text += unit;
    };
    if (kind == "one letter") repeated("a");
    if (kind == "underscores") repeated("_");
    if (kind == "spaces") repeated(" ");
    if (kind == "random letters") random_of("abcdefghijklmnopqrstuvwxyz");
    if (kind == "base64 letters") random_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/");
    if (kind == "punctuation") random_of("!#$%&()*,-.:;<=>?@[]^_{|}~");
    while (kind == "Chinese" && text.size() + 3 <= bytes) {
        const auto c = static_cast<unsigned>(0x4e00 + random() % 2'500);
        text += static_cast<char>(0xe0 | c >> 12);
        text += static_cast<char>(0x80 | (c >> 6 & 63));
        text += static_cast<char>(0x80 | (c & 63));
    }
    return text;
}

void print_growth(const Vocabulary& vocabulary) {
    std::printf("%-16s %12s %12s %8s\n", "one piece of", "32 KiB MB/s", "128 KiB MB/s", "time");
    for (const char* kind :
         {"one letter", "underscores", "spaces", "random letters", "base64 letters", "punctuation", "Chinese"}) {
        std::vector<double> best;
        for (const std::size_t bytes : {32'768u, 131'072u}) {
            best.push_back(1e9);
            for (unsigned seed = 1; seed <= 15; ++seed) {  // a new text each time: a short one is soon known by heart
                const std::string text = piece_of(kind, bytes, seed);
                best.back() = std::min(best.back(), seconds_of([&] { static_cast<void>(vocabulary.count(text)); }));
            }
        }
        std::printf("%-16s %12.1f %12.1f %7.2fx\n", kind, 32'768 / best[0] / 1e6, 131'072 / best[1] / 1e6,
                    best[1] / best[0]);
    }
}

void print_ids(const Vocabulary& vocabulary) {
    std::uint32_t size = 0;
    while (std::fread(&size, sizeof size, 1, stdin) == 1) {
        std::string text(size, '\0');
        if (std::fread(text.data(), 1, size, stdin) != size) return;
        const std::vector<TokenId> ids = vocabulary.encode(text);
        const auto count = static_cast<std::uint32_t>(vocabulary.count(text));
        std::fwrite(&count, sizeof count, 1, stdout);
        std::fwrite(ids.data(), sizeof(TokenId), ids.size(), stdout);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view mode = argc > 2 ? argv[2] : "";
    if (mode == "ids") {
        print_ids(*Vocabulary::open(argv[1]));
    } else if (mode == "growth") {
        print_growth(*Vocabulary::open(argv[1]));
    } else if (mode == "speed" && argc > 4) {
        for (int i = 4; i < argc; ++i) print_speed(argv[1], std::stoi(argv[3]), argv[i]);
    } else {
        std::fprintf(stderr, "usage: bench_tokens VOCABULARY.whittle speed ROUNDS FILE... | growth | ids\n");
        return 2;
    }
}
