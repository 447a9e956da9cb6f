#include "condense_forms.hpp"

#include "json_form.hpp"
#include "whittle/base/detail/ascii.hpp"
#include "whittle/base/detail/json.hpp"
#include "whittle/trimming/detail/line_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

bool starts_as_container(std::string_view text) noexcept { return text.starts_with('{') || text.starts_with('['); }

/// Three lines or more, each of which is an object or an array.
bool are_json_lines(std::string_view text) {
    constexpr std::size_t fewest = 3;
    std::size_t lines = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trim_view(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty()) continue;
        if (!starts_as_container(line) || !is_json(line)) return false;
        ++lines;
    }
    return lines >= fewest;
}

std::string json_legend(const JsonFormFacts& facts) {
    std::string legend;
    if (facts.tables > 0) {
        legend = "objects with the same keys stand";
        legend += R"( as rows: {"@columns":[keys],"@rows":[[values],..]})";
    }
    if (facts.rows_left_out + facts.strings_cut == 0) return legend.empty() ? "white space is dropped" : legend;
    legend += legend.empty() ? "" : "; ";
    legend += "\"…(n left out)\" outside of strings is where something is left out: ";
    if (facts.rows_left_out > 0) legend += fmt::format("{} array elements", grouped(facts.rows_left_out));
    if (facts.strings_cut > 0)
        legend += fmt::format("{}the middle of {} long strings", facts.rows_left_out > 0 ? ", " : "",
                              grouped(facts.strings_cut));
    return legend;
}

std::string chinese_json_legend(const JsonFormFacts& facts) {
    std::string legend;
    if (facts.tables > 0) legend = R"(键相同的对象按行排列：{"@columns":[键],"@rows":[[值],..]})";
    if (facts.rows_left_out + facts.strings_cut == 0) return legend.empty() ? "已去掉空白" : legend;
    legend += legend.empty() ? "" : "；";
    legend += "字符串之外的“…(省略 n)”表示省略：";
    if (facts.rows_left_out > 0) legend += fmt::format("数组元素 {} 个", grouped(facts.rows_left_out));
    if (facts.strings_cut > 0)
        legend +=
            fmt::format("{}{} 个长字符串的中间部分", facts.rows_left_out > 0 ? "，" : "", grouped(facts.strings_cut));
    return legend;
}

}  // namespace

std::optional<CondensedText> condense_json(std::string_view text, const CondensingConfig& config, Language language) {
    const std::string_view trimmed = trim_view(text);
    if (!starts_as_container(trimmed) || text.find('\0') != std::string_view::npos) return std::nullopt;
    const bool is_one = is_json(trimmed);
    if (!is_one && !are_json_lines(trimmed)) return std::nullopt;
    const auto nodes = JsonNodes::of(trimmed, !is_one);
    if (!nodes) return std::nullopt;
    JsonForm whole(*nodes, config, language, false);
    std::string shown = whole.make(!is_one);
    JsonFormFacts facts = whole.facts();
    if (shown.size() > static_cast<std::size_t>(config.max_lossless_json_bytes)) {
        JsonForm cut(*nodes, config, language, true);
        std::string shorter = cut.make(!is_one);
        if (shorter.size() < shown.size()) {
            shown = std::move(shorter);
            facts = cut.facts();
        }
    }
    const bool is_lossless = facts.rows_left_out + facts.strings_cut == 0;
    return CondensedText{.format = is_one ? TextFormat::json : TextFormat::json_lines,
                         .text = std::move(shown),
                         .is_lossless = is_lossless,
                         .legend = language == Language::chinese ? chinese_json_legend(facts) : json_legend(facts)};
}

}  // namespace whittle::inline v0::detail
