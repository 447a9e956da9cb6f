// The errors that docs/tokens.md states, on the texts of the test data.
#include "vocabularies.hpp"
#include "whittle/base/text.hpp"

using namespace whittle;
using namespace whittle::test;

namespace {

struct Bounds {
    const char* file;
    double lowest;  // per cent of the exact count
    double highest;
    double lowest_slice;  // of 4 KiB
};

const Bounds of_files[] = {
    {"book_english.txt", -2, 3, -7},
    {"read_source_file_numbered.txt", -2, 9, -3},
    {"git_diff.txt", -2, 9, -3},
    {"grep_matches.txt", -2, 5, -3},
    {"api_fhir_bundle.json", -2, 9, -3},
    {"api_review_comments_one_line.json", -2, 9, -3},
    {"page_wikipedia_as_markdown.md", -5, 3, -12},
    {"log_pytest_failures.txt", -3, 8, -5},
    {"log_go_test_ci_failures.txt", -3, 8, -5},
    {"log_dev_server_ansi.txt", -15, 3, -18},
    {"log_spinner_carriage_returns.txt", -22, 3, -23},
    {"i18n_zh.json", 0, 20, -3},
    {"readme_zh.md", 0, 8, -3},
    {"i18n_ja.json", 0, 12, -5},
    {"i18n_ar.json", 0, 12, -5},
    {"emoji_and_scripts_token_plans.txt", -4, 4, -6},
};

const Bounds of_languages[] = {
    {"ko-KR", -5, 6, -9}, {"uk", -6, 6, -12}, {"ja", 0, 12, -5},   {"zh-CN", 0, 20, 0}, {"zh-TW", -12, 3, -14},
    {"ar", 0, 12, -5},    {"de", -3, 8, -6},  {"tr", -22, 0, -24}, {"no", -20, 0, -24},
};

double error_of(std::int64_t estimated, std::int64_t exact) {
    return 100.0 * static_cast<double>(estimated - exact) / static_cast<double>(exact);
}

double lowest_slice(const Vocabulary& tokens, std::string_view text) {
    constexpr std::size_t slice = 4'096;
    const auto counter = estimate_counter();
    double lowest = 0;
    while (text.size() >= slice) {
        const std::string_view head = grapheme_prefix(text, slice);
        lowest = std::min(lowest, error_of(counter->count(head), tokens.count(head)));
        text.remove_prefix(head.size());
    }
    return lowest;
}

void check_bounds(const Vocabulary& tokens, const Bounds& bounds, std::string_view text) {
    const double error = error_of(estimate_counter()->count(text), tokens.count(text));
    const double slice = lowest_slice(tokens, text);
    CAPTURE(bounds.file, error, slice);
    CHECK(error >= bounds.lowest);
    CHECK(error <= bounds.highest);
    CHECK(slice >= bounds.lowest_slice);
}

std::string text_of(const nlohmann::json& translations, const std::string& language) {
    std::string text;
    for (const auto& entry : translations) text += entry.value(language, "") + "\n";
    return text;
}

}  // namespace

TEST_CASE("the estimate keeps to the stated errors on tool outputs", "[tokens]") {
    REQUIRE_VOCABULARY(tokens, "o200k_base");
    for (const Bounds& bounds : of_files) {
        const std::string text = file_text(std::string(WHITTLE_DATA_DIR "/tool_outputs/") + bounds.file);
        if (text.empty()) SKIP_WITH_MESSAGE("no tool outputs");
        check_bounds(*tokens, bounds, text);
    }
}

TEST_CASE("the estimate keeps to the stated errors in every language", "[tokens]") {
    REQUIRE_VOCABULARY(tokens, "o200k_base");
    const std::string file = file_text(WHITTLE_DATA_DIR "/tool_outputs/i18n_15_languages.json");
    if (file.empty()) SKIP_WITH_MESSAGE("no tool outputs");
    const auto translations = nlohmann::json::parse(file);
    for (const Bounds& bounds : of_languages) check_bounds(*tokens, bounds, text_of(translations, bounds.file));
}

TEST_CASE("the estimate keeps to the stated errors on base64 and hex", "[tokens]") {
    REQUIRE_VOCABULARY(tokens, "o200k_base");
    std::mt19937 random(11);
    std::string hex;
    std::string base64_like;
    for (int i = 0; i < 20'000; ++i) {
        hex += "0123456789abcdef"[random() % 16];
        base64_like += "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[random() % 64];
        if (i % 64 == 63) hex += '\n';
        if (i % 76 == 75) base64_like += '\n';
    }
    check_bounds(*tokens, {"hex", -2, 5, -4}, hex);
    check_bounds(*tokens, {"base64", -7, 1, -8}, base64_like);
}
