#include "html_text.hpp"

#include "whittle/base/detail/ascii.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

// Nothing in them is said to who reads the page. Without an end they are left alone.
constexpr std::array<std::string_view, 8> unseen_elements{"svg",    "template", "noscript", "iframe",
                                                          "object", "canvas",   "select",   "nav"};
constexpr std::size_t nav = 7;

constexpr std::array<std::string_view, 31> block_elements{
    "address",  "article",    "aside",   "blockquote", "body",  "dd",     "details", "dialog",  "div",  "dl", "dt",
    "fieldset", "figcaption", "figure",  "footer",     "form",  "header", "hr",      "html",    "main", "ol", "p",
    "pre",      "section",    "summary", "table",      "tbody", "thead",  "tfoot",   "caption", "ul"};
constexpr std::array<std::string_view, 7> paragraph_elements{"p",       "blockquote", "pre",   "table",
                                                             "section", "article",    "figure"};

template <std::size_t Size>
bool names_one_of(std::string_view name, const std::array<std::string_view, Size>& words) noexcept {
    return std::ranges::any_of(words, [&](std::string_view word) { return same_word(word, name); });
}

/// 1 to 6; 0: no heading.
std::size_t heading_level(std::string_view name) noexcept {
    const bool is_heading = name.size() == 2 && lower(name[0]) == 'h' && name[1] >= '1' && name[1] <= '6';
    return is_heading ? static_cast<std::size_t>(name[1] - '0') : 0;
}

/// An element that is left out: from its opening tag to behind its closing one.
struct Unseen {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t element = 0;
};

/// In the order in which they begin.
std::vector<Unseen> find_unseen(std::string_view html) {
    std::array<std::vector<std::size_t>, unseen_elements.size()> open;
    std::vector<Unseen> found;
    HtmlTags tags(html);
    while (const auto piece = tags.next()) {
        const bool is_tag = piece->kind == HtmlPiece::Kind::open || piece->kind == HtmlPiece::Kind::close;
        if (!is_tag) continue;
        const auto at =
            std::ranges::find_if(unseen_elements, [&](std::string_view e) { return same_word(e, piece->name); });
        if (at == unseen_elements.end()) continue;
        const auto element = static_cast<std::size_t>(at - unseen_elements.begin());
        if (piece->kind == HtmlPiece::Kind::open) {
            if (!piece->attributes.ends_with('/')) open[element].push_back(piece->begin);
        } else if (!open[element].empty()) {
            found.push_back({open[element].back(), piece->end, element});
            open[element].pop_back();
        }
    }
    std::ranges::sort(found, {}, &Unseen::begin);
    return found;
}

}  // namespace

HtmlText::HtmlText(std::string_view html) {
    const std::vector<Unseen> left_out = find_unseen(html);
    auto next = left_out.begin();
    HtmlTags tags(html);
    while (const auto piece = tags.next()) {
        while (next != left_out.end() && next->begin < piece->begin) ++next;
        const bool is_unseen =
            next != left_out.end() && next->begin == piece->begin && piece->kind == HtmlPiece::Kind::open;
        if (!is_unseen) {
            add_piece(*piece);
            continue;
        }
        losses_.navigation += next->element == nav ? 1 : 0;
        has_space_ = true;
        tags.jump(next->end);
    }
    close_link();
}

void HtmlText::add_piece(const HtmlPiece& piece) {
    switch (piece.kind) {
        case HtmlPiece::Kind::text: return add_text(piece.text);
        case HtmlPiece::Kind::open: return open(piece);
        case HtmlPiece::Kind::close: return close(piece.name);
        case HtmlPiece::Kind::raw:
            if (piece.name != "title") return;
            break_line(2);
            add_text("# ");
            add_text(piece.text);
            break_line(2);
            return;
    }
}

void HtmlText::break_line(std::size_t lines) noexcept {
    breaks_ = std::max(breaks_, lines);
    has_space_ = false;
}

void HtmlText::open(const HtmlPiece& tag) {
    constexpr std::size_t deepest_list = 6;
    const std::string_view name = tag.name;
    if (same_word(name, "a")) return open_link(tag.attributes);
    if (same_word(name, "img")) return add_picture(tag.attributes);
    if (same_word(name, "br")) return break_line(1);
    if (same_word(name, "pre") || same_word(name, "textarea")) ++pre_;
    if (const std::size_t level = heading_level(name); level > 0) {
        break_line(2);
        return add_visible(std::string(level, '#') + " ");
    }
    if (same_word(name, "li")) {
        break_line(1);
        return add_visible(std::string(2 * std::min(deepest_list, std::max<std::size_t>(lists_, 1) - 1), ' ') + "- ");
    }
    if (same_word(name, "tr")) {
        break_line(1);
        is_row_ = false;
        row_begin_ = out_.size();
        return;
    }
    if (same_word(name, "td") || same_word(name, "th")) {
        if (!std::exchange(is_row_, true)) return;
        const bool is_begun = out_.size() > row_begin_;  // else the break in front of the row is still to come
        if (is_begun) breaks_ = 0;
        has_space_ = false;
        return add_visible(is_begun ? " | " : "| ");
    }
    if (same_word(name, "ul") || same_word(name, "ol")) ++lists_;
    if (names_one_of(name, block_elements)) break_line(names_one_of(name, paragraph_elements) ? 2 : 1);
}

void HtmlText::close(std::string_view name) {
    if (same_word(name, "a")) return close_link();
    if ((same_word(name, "pre") || same_word(name, "textarea")) && pre_ > 0) --pre_;
    if (heading_level(name) > 0) return break_line(2);
    if ((same_word(name, "ul") || same_word(name, "ol")) && lists_ > 0) --lists_;
    if (same_word(name, "tr")) {
        is_row_ = false;
        return break_line(1);
    }
    if (same_word(name, "li") || names_one_of(name, block_elements))
        break_line(names_one_of(name, paragraph_elements) ? 2 : 1);
}

/// Links within the page, and those that run a script, lead nowhere.
void HtmlText::open_link(std::string_view attributes) {
    constexpr std::size_t longest_link = 400;
    close_link();
    const auto target = html_attribute(attributes, "href");
    const std::string_view link = target ? trim_view(*target) : std::string_view();
    const bool leads_nowhere = link.empty() || link[0] == '#' || link.size() > longest_link ||
                               same_word(link.substr(0, 11), "javascript:") || same_word(link.substr(0, 5), "data:");
    if (leads_nowhere) return;
    append_decoded(link_, link);
    link_begin_ = out_.size();
}

void HtmlText::close_link() {
    if (link_.empty()) return;
    const std::string link = std::exchange(link_, {});
    if (out_.size() <= link_begin_) return add_visible("(" + link + ")");
    const std::string_view shown = trim_view(std::string_view(out_).substr(link_begin_));
    if (shown != link) out_.append(" (").append(link).append(")");
}

void HtmlText::add_picture(std::string_view attributes) {
    const auto described = html_attribute(attributes, "alt");
    const std::string_view text = described ? trim_view(*described) : std::string_view();
    if (text.empty()) {
        ++losses_.pictures;
        return;
    }
    add_text(" [image: ");
    add_text(text);
    add_text("] ");
}

void HtmlText::add_text(std::string_view text) {
    decoded_.clear();
    append_decoded(decoded_, text);
    if (pre_ > 0) return add_visible(decoded_);
    std::string_view left = decoded_;
    while (!left.empty()) {
        const auto word = std::ranges::find_if_not(left, is_space);
        const auto blanks = static_cast<std::size_t>(word - left.begin());
        if (blanks > 0) has_space_ = has_space_ || breaks_ == 0;
        left.remove_prefix(blanks);
        const auto end = static_cast<std::size_t>(std::ranges::find_if(left, is_space) - left.begin());
        add_visible(left.substr(0, end));
        left.remove_prefix(end);
    }
}

/// Behind the white space that was asked for.
void HtmlText::add_visible(std::string_view text) {
    if (text.empty()) return;
    if (!out_.empty() && breaks_ > 0) out_.append(breaks_, '\n');
    if (!out_.empty() && breaks_ == 0 && has_space_ && out_.back() != ' ' && out_.back() != '\n') out_ += ' ';
    breaks_ = 0;
    has_space_ = false;
    out_ += text;
}

}  // namespace whittle::inline v0::detail
