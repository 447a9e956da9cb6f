// Condensing of real outputs of tools.
#include "condensing.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

using namespace whittle;
using namespace whittle::testing;

namespace {

std::map<std::string, std::string> recorded_outputs() {
    std::map<std::string, std::string> outputs;
    const std::filesystem::path dir = std::filesystem::path(WHITTLE_DATA_DIR) / "tool_outputs";
    if (!std::filesystem::is_directory(dir)) return outputs;
    for (const auto& entry : std::filesystem::directory_iterator(dir)) {
        std::ifstream in(entry.path(), std::ios::binary);
        outputs[entry.path().filename().string()] = {std::istreambuf_iterator<char>(in), {}};
    }
    return outputs;
}

/// Of the bytes of the original; 1: it has no form.
double share_shown(const std::string& text) {
    const auto form = condense(text, {}, Language::english, TextAuthor::program);
    return form ? static_cast<double>(form->text.size()) / static_cast<double>(text.size()) : 1.0;
}

}  // namespace

TEST_CASE("recorded outputs have the form of what they are", "[condensing]") {
    const auto outputs = recorded_outputs();
    if (outputs.empty()) SKIP_WITH_MESSAGE("the recorded outputs are not here");
    CHECK(share_shown(outputs.at("page_blog.html")) < 0.25);
    CHECK(share_shown(outputs.at("page_doxygen.html")) < 0.3);
    CHECK(share_shown(outputs.at("api_review_comments_one_line.json")) < 0.7);
    CHECK(share_shown(outputs.at("i18n_zh.json")) < 0.8);
    CHECK(share_shown(outputs.at("log_ci_failed_job_ansi.txt")) < 0.6);
    CHECK(share_shown(outputs.at("log_spinner_carriage_returns.txt")) < 0.1);
    CHECK(share_shown(outputs.at("git_diff.txt")) < 0.9);
    for (const char* name :
         {"book_english.txt", "guide_ja.md", "readme_zh.md", "read_source_file_numbered.txt", "image_data_uri.txt",
          "grep_matches.txt", "page_wikipedia_as_markdown.md", "subagent_report.txt", "api_fhir_bundle.json"}) {
        INFO(name);
        CHECK(share_shown(outputs.at(name)) == 1.0);
    }
    for (const auto& [name, text] : outputs) {
        INFO(name);
        const auto form = condense(text, {}, Language::english);
        if (form && form->is_lossless && form->format == TextFormat::json) CHECK(nlohmann::json::accept(form->text));
    }
}
