// The vocabularies of the test data, packed once per process. Null where the data is absent.
#pragma once

#include "support/catch.hpp"
#include "whittle/tiktoken/vocabulary.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::test {

inline std::string file_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string tiktoken_file(std::string_view name) {
    return file_text(std::string(WHITTLE_DATA_DIR "/tokenizers/") + std::string(name) + ".tiktoken");
}

inline const std::string& packed(const std::string& name) {
    static std::map<std::string, std::string> files;
    std::string& file = files[name];
    if (const std::string text = file.empty() ? tiktoken_file(name) : ""; !text.empty())
        file = pack_vocabulary(name, text);
    return file;
}

inline std::shared_ptr<const Vocabulary> vocabulary(const std::string& name) {
    static std::map<std::string, std::shared_ptr<const Vocabulary>> vocabularies;
    std::shared_ptr<const Vocabulary>& found = vocabularies[name];
    if (found == nullptr && !packed(name).empty()) found = Vocabulary::from_packed(packed(name));
    return found;
}

inline const std::array<std::string, 4> encoding_names{"o200k_base", "cl100k_base", "p50k_base", "r50k_base"};

/// Letters, marks, blanks and symbols of many scripts, in groups that pieces tell apart.
inline const std::vector<std::vector<std::string>> alphabets{
    {"a", "e", "t", "o", "n", "s", "i", "r", "the", "ing", "word"},
    {"A", "B", "HTTP", "T", "Get"},
    {"0", "1", "42", "2026"},
    {"'s", "'t", "'ll", "'RE", "'\u017f", "'", "\""},
    {" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u0085", "\u2028", "\u3000"},
    {"/", "//", ".", ",", "_", "(", ")", "{", "};", "=="},
    {"的", "一", "我们", "大学", "中", "，"},
    {"ー", "カタ", "ひら", "の", "です"},
    {"한국", "어", "는"},
    {"по", "ка", "Д", "ж"},
    {"ال", "ب", "ت", "د"},
    {"क", "ि", "ा", "ह"},
    {"\u0301", "\u20dd", "\ufe0f", "ǅ", "ʰ", "Ⅷ", "½", "٣"},
    {"😀", "👨\u200d👩", "🇩🇪", "\ufeff", "\ufffd"},
};

template <typename Random>
std::size_t below(Random& random, std::size_t end) {
    return random() % end;
}

/// Of `units` units from up to three alphabets.
template <typename Random>
std::string random_text(Random& random, std::size_t units) {
    std::string text;
    const std::array<std::size_t, 3> chosen{below(random, alphabets.size()), below(random, alphabets.size()),
                                            below(random, alphabets.size())};
    for (std::size_t i = 0; i < units; ++i) {
        const auto& alphabet = alphabets[chosen[below(random, chosen.size())]];
        text += alphabet[below(random, alphabet.size())];
    }
    return text;
}

template <typename Random>
std::string random_bytes(Random& random, std::size_t size) {
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(random());
    return bytes;
}

}  // namespace whittle::test

#define REQUIRE_VOCABULARY(name, encoding)                   \
    const auto name = ::whittle::test::vocabulary(encoding); \
    if (name == nullptr) SKIP_WITH_MESSAGE("no vocabulary " encoding)
