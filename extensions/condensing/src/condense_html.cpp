#include "condense_forms.hpp"

#include "html_text.hpp"
#include "whittle/base/detail/ascii.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace whittle::inline v0::detail {

namespace {

constexpr std::array<std::string_view, 12> page_starts{"<!doctype html", "<html",    "<head",  "<body", "<div", "<main",
                                                       "<article",       "<section", "<table", "<p>",   "<ul",  "<h1"};

/// A page, or a piece of one that is not Markdown with some tags in it.
bool is_html_page(std::string_view text, std::string_view start) noexcept {
    constexpr std::size_t bytes_for_a_tag = 120;
    if (start == page_starts[0] || start == page_starts[1]) return true;
    std::size_t closed = 0;
    for (std::size_t at = text.find("</"); at != std::string_view::npos; at = text.find("</", at + 2)) ++closed;
    return closed * bytes_for_a_tag >= text.size() && trim_view(text).ends_with('>');
}

/// Behind comments and an XML declaration.
bool is_html(std::string_view whole) noexcept {
    std::string_view text = trim_view(whole.substr(0, 4'096));
    while (text.starts_with("<!--") || text.starts_with("<?xml")) {
        const std::string_view end = text.starts_with("<!--") ? "-->" : "?>";
        const std::size_t at = text.find(end);
        if (at == std::string_view::npos) return false;
        text = trim_view(text.substr(at + end.size()));
    }
    const auto start = std::ranges::find_if(
        page_starts, [&](std::string_view word) { return same_word(text.substr(0, word.size()), word); });
    return start != page_starts.end() && is_html_page(whole, *start);
}

std::string html_legend(const HtmlLosses& losses, Language language) {
    if (language == Language::chinese) {
        std::string legend = "转为文本：# 标题，- 列表，| 分隔单元格，链接为“文字 (地址)”；不含脚本和样式";
        if (losses.navigation > 0) legend += fmt::format("，导航菜单 {} 个", losses.navigation);
        if (losses.pictures > 0) legend += fmt::format("，无说明的图片 {} 张", losses.pictures);
        return legend;
    }
    std::string legend =
        "as text: # headings, - lists, | between cells, links as text (url); without scripts and styles";
    if (losses.navigation > 0) legend += fmt::format(", {} menus", losses.navigation);
    if (losses.pictures > 0) legend += fmt::format(", {} pictures without a description", losses.pictures);
    return legend;
}

}  // namespace

std::optional<CondensedText> condense_html(std::string_view text, const CondensingConfig&, Language language) {
    constexpr std::size_t fewest_bytes = 40;  // a page that scripts fill has no text
    if (!is_html(text)) return std::nullopt;
    HtmlText page(text);
    std::string shown = page.take();
    if (shown.size() < fewest_bytes) return std::nullopt;
    shown += '\n';
    return CondensedText{
        .format = TextFormat::html, .text = std::move(shown), .legend = html_legend(page.losses(), language)};
}

}  // namespace whittle::inline v0::detail
