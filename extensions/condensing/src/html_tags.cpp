#include "html_tags.hpp"

#include "whittle/base/detail/ascii.hpp"

#include <algorithm>

namespace whittle::inline v0::detail {

namespace {

// Elements that hold text, whatever it looks like.
constexpr std::array<std::string_view, 3> raw_elements{"script", "style", "title"};
constexpr std::size_t title_element = 2;

bool starts_name(std::string_view text, std::size_t at) noexcept { return at < text.size() && is_letter(text[at]); }

std::string_view name_at(std::string_view text, std::size_t at) noexcept {
    std::size_t end = at;
    while (end < text.size() && (is_alnum(text[end]) || text[end] == '-' || text[end] == ':')) ++end;
    return text.substr(at, end - at);
}

}  // namespace

/// `std::string_view::npos` is remembered: nothing that follows has it either.
std::size_t HtmlTags::find_known(std::string_view what, std::size_t at, bool& is_gone) const {
    const std::size_t found = is_gone ? std::string_view::npos : html_.find(what, at);
    is_gone = found == std::string_view::npos;
    return found;
}

/// A comment, declaration or instruction. False where there is none, or one without an end.
bool HtmlTags::skip_unseen() {
    if (at_ + 1 >= html_.size() || (html_[at_ + 1] != '!' && html_[at_ + 1] != '?')) return false;
    const bool is_comment = html_.substr(at_, 4) == "<!--";
    const std::size_t end =
        is_comment ? find_known("-->", at_ + 4, comment_ends_are_gone_) : find_known(">", at_, tag_ends_are_gone_);
    if (end == std::string_view::npos) return false;
    at_ = end + (is_comment ? 3 : 1);
    return true;
}

/// Past the ">" that is in no quotes, unless quotes somewhere have no end; npos if there is none.
std::size_t HtmlTags::end_of_tag(std::size_t at) {
    char quote = 0;
    for (std::size_t i = at; !quotes_are_broken_ && i < html_.size(); ++i) {
        const char c = html_[i];
        if (quote != 0) {
            quote = c == quote ? '\0' : quote;
        } else if ((c == '"' || c == '\'') && html_[i - 1] == '=') {
            quote = c;
        } else if (c == '>') {
            return i + 1;
        }
    }
    quotes_are_broken_ = true;
    const std::size_t end = find_known(">", at, tag_ends_are_gone_);
    return end == std::string_view::npos ? end : end + 1;
}

std::optional<HtmlPiece> HtmlTags::read_tag() {
    const bool is_close = at_ + 1 < html_.size() && html_[at_ + 1] == '/';
    const std::size_t name = at_ + (is_close ? 2 : 1);
    if (!starts_name(html_, name)) return std::nullopt;
    HtmlPiece tag{.kind = is_close ? HtmlPiece::Kind::close : HtmlPiece::Kind::open, .begin = at_};
    tag.name = name_at(html_, name);
    tag.end = end_of_tag(name);
    if (tag.end == std::string_view::npos) return std::nullopt;
    tag.attributes = html_.substr(name + tag.name.size(), tag.end - 1 - name - tag.name.size());
    at_ = tag.end;
    const auto raw = std::ranges::find_if(raw_elements, [&](std::string_view e) { return same_word(e, tag.name); });
    const bool is_raw = !is_close && raw != raw_elements.end() && !tag.attributes.ends_with('/');
    raw_element_ = is_raw ? static_cast<std::size_t>(raw - raw_elements.begin()) : SIZE_MAX;
    return tag;
}

std::size_t HtmlTags::find_close(std::size_t raw_element, std::size_t at) {
    bool& is_gone = closes_are_gone_[raw_element];
    const std::string_view name = raw_elements[raw_element];
    while (!is_gone) {
        at = html_.find("</", at);
        if (at == std::string_view::npos) break;
        if (same_word(html_.substr(at + 2, name.size()), name)) return at;
        at += 2;
    }
    is_gone = true;
    return std::string_view::npos;
}

std::optional<HtmlPiece> HtmlTags::next() {
    if (raw_element_ != SIZE_MAX) {
        const std::size_t element = raw_element_;
        raw_element_ = SIZE_MAX;
        const std::size_t close = find_close(element, at_);
        if (close == std::string_view::npos && element != title_element) at_ = html_.size();
        if (close != std::string_view::npos) {
            HtmlPiece raw{.kind = HtmlPiece::Kind::raw, .begin = at_, .end = close};
            raw.name = raw_elements[element];
            raw.text = html_.substr(at_, close - at_);
            at_ = close;
            return raw;
        }
    }
    while (at_ < html_.size() && html_[at_] == '<') {
        if (skip_unseen()) continue;
        if (auto tag = read_tag()) return tag;
        break;
    }
    if (at_ >= html_.size()) return std::nullopt;
    HtmlPiece text{.begin = at_};
    at_ = std::min(html_.find('<', at_ + 1), html_.size());
    text.end = at_;
    text.text = html_.substr(text.begin, text.end - text.begin);
    return text;
}

std::optional<std::string_view> html_attribute(std::string_view attributes, std::string_view name) {
    for (std::size_t at = 0; at < attributes.size();) {
        if (!is_letter(attributes[at])) {
            ++at;
            continue;
        }
        const std::string_view found = name_at(attributes, at);
        at += found.size();
        while (at < attributes.size() && is_space(attributes[at])) ++at;
        std::string_view value;
        if (at < attributes.size() && attributes[at] == '=') {
            ++at;
            while (at < attributes.size() && is_space(attributes[at])) ++at;
            const char quote = at < attributes.size() ? attributes[at] : '\0';
            const bool is_quoted = quote == '"' || quote == '\'';
            if (is_quoted) ++at;
            const std::size_t end = is_quoted ? attributes.find(quote, at) : attributes.find_first_of(" \t\r\n", at);
            value = attributes.substr(at, end == std::string_view::npos ? end : end - at);
            at = std::min(end, attributes.size() - 1) + 1;
        }
        if (same_word(found, name)) return value;
    }
    return std::nullopt;
}

}  // namespace whittle::inline v0::detail
