#include "html_tags.hpp"

#include "whittle/base/detail/ascii.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

using Entity = std::pair<std::string_view, std::string_view>;

/// What pages of text use, by name.
constexpr std::array<Entity, 62> entities{
    {{"Aring", "Å"},  {"Auml", "Ä"},  {"Eacute", "É"}, {"Ouml", "Ö"},   {"Uuml", "Ü"},   {"aacute", "á"},
     {"acirc", "â"},  {"aelig", "æ"}, {"agrave", "à"}, {"alpha", "α"},  {"amp", "&"},    {"apos", "'"},
     {"aring", "å"},  {"asymp", "≈"}, {"auml", "ä"},   {"beta", "β"},   {"bull", "•"},   {"ccedil", "ç"},
     {"cent", "¢"},   {"check", "✓"}, {"copy", "©"},   {"darr", "↓"},   {"deg", "°"},    {"delta", "δ"},
     {"eacute", "é"}, {"ecirc", "ê"}, {"egrave", "è"}, {"emsp", " "},   {"ensp", " "},   {"euro", "€"},
     {"frac12", "½"}, {"ge", "≥"},    {"gt", ">"},     {"hellip", "…"}, {"iacute", "í"}, {"infin", "∞"},
     {"laquo", "«"},  {"larr", "←"},  {"ldquo", "“"},  {"le", "≤"},     {"lsquo", "‘"},  {"lt", "<"},
     {"mdash", "—"},  {"micro", "µ"}, {"middot", "·"}, {"minus", "−"},  {"mu", "μ"},     {"nbsp", " "},
     {"ndash", "–"},  {"ne", "≠"},    {"ntilde", "ñ"}, {"ouml", "ö"},   {"plusmn", "±"}, {"pound", "£"},
     {"quot", "\""},  {"raquo", "»"}, {"rarr", "→"},   {"rdquo", "”"},  {"reg", "®"},    {"rsquo", "’"},
     {"szlig", "ß"},  {"uuml", "ü"}}};

void append_utf8(std::string& out, std::uint32_t c) {
    const auto add = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (c == 0xa0) c = ' ';
    if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) c = 0xfffd;
    if (c < 0x80) {
        add(c);
    } else if (c < 0x800) {
        add(0xc0 | (c >> 6U));
        add(0x80 | (c & 0x3fU));
    } else if (c < 0x10000) {
        add(0xe0 | (c >> 12U));
        add(0x80 | ((c >> 6U) & 0x3fU));
        add(0x80 | (c & 0x3fU));
    } else {
        add(0xf0 | (c >> 18U));
        add(0x80 | ((c >> 12U) & 0x3fU));
        add(0x80 | ((c >> 6U) & 0x3fU));
        add(0x80 | (c & 0x3fU));
    }
}

/// "#8212" or "#x2014".
bool append_numbered(std::string& out, std::string_view name) {
    const bool is_hex = name.size() > 1 && lower(name[1]) == 'x';
    std::uint32_t number = 0;
    const std::string_view digits = name.substr(is_hex ? 2 : 1);
    for (const char c : digits) {
        const std::uint32_t base = is_hex ? 16 : 10;
        const char l = lower(c);
        const bool is_letter_digit = is_hex && l >= 'a' && l <= 'f';
        if (!is_digit(c) && !is_letter_digit) return false;
        number = std::min<std::uint32_t>(
            number * base + static_cast<std::uint32_t>(is_digit(c) ? c - '0' : l - 'a' + 10), 0x110000);
    }
    if (digits.empty()) return false;
    append_utf8(out, number);
    return true;
}

bool append_named(std::string& out, std::string_view name) {
    const auto found = std::ranges::lower_bound(entities, name, {}, &Entity::first);
    if (found == entities.end() || found->first != name) return false;
    out += found->second;
    return true;
}

}  // namespace

void append_decoded(std::string& out, std::string_view text) {
    constexpr std::size_t longest = 10;
    while (!text.empty()) {
        const std::size_t mark = std::min(text.find('&'), text.size());
        out += text.substr(0, mark);
        text.remove_prefix(mark);
        if (text.empty()) return;
        const std::size_t end = text.substr(0, longest).find(';');
        const std::string_view name = end == std::string_view::npos ? std::string_view() : text.substr(1, end - 1);
        const bool is_known = !name.empty() && (name[0] == '#' ? append_numbered(out, name) : append_named(out, name));
        if (!is_known) out += '&';
        text.remove_prefix(is_known ? end + 1 : 1);
    }
}

}  // namespace whittle::inline v0::detail
