#include "whittle/condensing/detail/condense.hpp"

#include "condense_forms.hpp"

#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace whittle::inline v0 {

std::string_view to_string(TextFormat format, Language language) noexcept {
    const bool is_chinese = language == Language::chinese;
    switch (format) {
        case TextFormat::json: return "JSON";
        case TextFormat::json_lines: return is_chinese ? "JSON 行" : "JSON lines";
        case TextFormat::log: return is_chinese ? "日志" : "log";
        case TextFormat::diff: return "diff";
        case TextFormat::html: return "HTML";
        case TextFormat::table: return is_chinese ? "表格" : "table";
        case TextFormat::other: break;
    }
    return is_chinese ? "文本" : "text";
}

namespace {

/// The strictest formats first: what is JSON can be nothing else, what is a log may be anything.
std::optional<CondensedText> condense_data(std::string_view text, const CondensingConfig& config, Language language) {
    const auto attempt = [&](bool is_on, auto form) {
        return is_on ? form(text, config, language) : std::optional<CondensedText>();
    };
    if (auto form = attempt(config.condense_json, detail::condense_json)) return form;
    if (auto form = attempt(config.condense_html, detail::condense_html)) return form;
    if (auto form = attempt(config.condense_diffs, detail::condense_diff)) return form;
    return attempt(config.condense_tables, detail::condense_table);
}

/// Where the output begins of which a tool says first how it went: behind a line "Output:", or at the first line that
/// starts as data do. 0: there is no such line among the first ones.
std::size_t begin_of_data(std::string_view text) noexcept {
    constexpr std::size_t most_lines = 6;
    constexpr std::size_t most_bytes = 600;
    std::size_t at = 0;
    for (std::size_t line = 0; line < most_lines && at < std::min(most_bytes, text.size()); ++line) {
        const std::string_view rest = text.substr(at);
        if (rest.starts_with('{') || rest.starts_with('[') || rest.starts_with("<!") || rest.starts_with("<html"))
            return at;
        const std::size_t end = rest.find('\n');
        if (end == std::string_view::npos) return 0;
        at += end + 1;
        if (rest.substr(0, end) == "Output:") return at;
    }
    return 0;
}

}  // namespace

std::optional<CondensedText> condense(std::string_view text, const CondensingConfig& config, Language language,
                                      TextAuthor author) {
    if (auto form = condense_data(text, config, language)) return form;
    if (const std::size_t begin = begin_of_data(text); begin > 0) {
        if (auto form = condense_data(text.substr(begin), config, language)) {
            form->text.insert(0, text.substr(0, begin));
            return form;
        }
    }
    return config.condense_logs ? detail::condense_log(text, language, author) : std::nullopt;
}

std::string condensing_notice(const CondensedText& form, const CondensedSource& source, Language language) {
    const std::string bytes = detail::grouped(static_cast<std::size_t>(source.bytes));
    const std::string lines = detail::grouped(static_cast<std::size_t>(source.lines));
    const std::string_view format = to_string(form.format, language);
    const bool is_chinese = language == Language::chinese;
    const std::string_view how = form.is_extract    ? is_chinese ? "由模型摘录" : "an extract by a model"
                                 : form.is_lossless ? is_chinese ? "无损压缩" : "shown without loss"
                                 : is_chinese       ? "已压缩"
                                                    : "condensed";
    if (is_chinese) {
        std::string where = source.location.empty() ? std::string() : fmt::format("。原文：{}", source.location);
        if (!source.location.empty() && !source.reader.empty()) where += fmt::format("，用 {} 读取", source.reader);
        return fmt::format("[{}，原文 {} 字节，{} 行，{}：{}{}]\n", format, bytes, lines, how, form.legend, where);
    }
    std::string where = source.location.empty() ? std::string() : fmt::format(". As it came: {}", source.location);
    if (!source.location.empty() && !source.reader.empty()) where += fmt::format(" - read it with {}", source.reader);
    return fmt::format("[{} of {} bytes, {} lines, {}: {}{}]\n", format, bytes, lines, how, form.legend, where);
}

namespace detail {

CondensedText within(CondensedText form, std::size_t max_bytes, Language language) {
    if (form.text.size() <= max_bytes) return form;
    const std::string_view text = form.text;
    std::string_view head = grapheme_prefix(text, max_bytes / 3 * 2);
    std::string_view tail = grapheme_suffix(text, max_bytes / 3);
    const std::size_t line_end = head.rfind('\n');
    if (line_end != std::string_view::npos && line_end > head.size() / 2) head = head.substr(0, line_end + 1);
    const std::size_t line_begin = tail.find('\n');
    if (line_begin != std::string_view::npos && line_begin < tail.size() / 2) tail.remove_prefix(line_begin + 1);
    const std::string bytes = grouped(text.size() - head.size() - tail.size());
    const bool is_chinese = language == Language::chinese;
    const std::string mark = fmt::format(fmt::runtime(is_chinese ? "[..{} 字节]" : "[..{} bytes]"), bytes);
    form.legend += is_chinese ? fmt::format("；其结果仍过长，{} 处省略中间部分", mark)
                              : fmt::format("; that is too long too, {} stands for its middle", mark);
    const bool starts_line = head.ends_with('\n');
    form.text = fmt::format("{}{}{}\n{}", head, starts_line ? "" : "\n", mark, tail);
    form.is_lossless = false;
    return form;
}

std::string grouped(std::size_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
    return digits;
}

void append_lines_mark(std::string& out, std::size_t lines) {
    out.append("[..").append(std::to_string(lines)).append("]\n");
}

}  // namespace detail

}  // namespace whittle::inline v0
