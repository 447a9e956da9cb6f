#include "whittle/base/detail/json_scanner.hpp"
#include "whittle/base/detail/json.hpp"

#include <array>

namespace whittle::inline v0::detail {

namespace {

using TokenKind = JsonToken::Kind;

/// What a token is that begins with a byte; `end` of white space.
constexpr auto token_of_byte = [] {
    std::array<TokenKind, 256> kinds{};
    kinds.fill(TokenKind::scalar);
    for (const char space : {' ', '\t', '\n', '\r'}) kinds[static_cast<unsigned char>(space)] = TokenKind::end;
    kinds['{'] = TokenKind::open_object;
    kinds['['] = TokenKind::open_array;
    kinds['}'] = TokenKind::close_object;
    kinds[']'] = TokenKind::close_array;
    kinds[','] = TokenKind::comma;
    kinds[':'] = TokenKind::colon;
    kinds['"'] = TokenKind::string;
    return kinds;
}();

constexpr TokenKind token_of(char c) noexcept { return token_of_byte[static_cast<unsigned char>(c)]; }

/// The first byte from `at` on that is of another kind.
std::size_t skip_bytes(std::string_view text, std::size_t at, TokenKind kind) noexcept {
    while (at < text.size() && token_of(text[at]) == kind) ++at;
    return at;
}

}  // namespace

JsonToken JsonScanner::next() noexcept {
    at_ = skip_bytes(text_, at_, TokenKind::end);
    if (at_ == text_.size()) return {TokenKind::end, at_, at_};
    JsonToken token{token_of(text_[at_]), at_, at_ + 1};
    if (token.kind == TokenKind::string) {
        token = take_string(at_);
    } else if (token.kind == TokenKind::scalar) {
        token.end = skip_bytes(text_, at_, TokenKind::scalar);
    } else if (token.opens()) {
        ++depth_;
    } else if (token.closes() && depth_ > 0) {
        --depth_;
    }
    at_ = token.end;
    return token;
}

JsonToken JsonScanner::take_string(std::size_t begin) const noexcept {
    const std::size_t quote = end_of_json_string(text_, begin + 1);
    if (quote == text_.size()) return {TokenKind::cut, begin, quote};
    const std::size_t behind = skip_bytes(text_, quote + 1, TokenKind::end);
    const bool is_name = behind < text_.size() && text_[behind] == ':';
    return {is_name ? TokenKind::name : TokenKind::string, begin, quote + 1};
}

std::size_t end_of_json_string(std::string_view json, std::size_t begin) noexcept {
    for (std::size_t at = begin;;) {
        const std::size_t quote = json.find('"', at);
        if (quote == std::string_view::npos) return json.size();
        std::size_t slashes = 0;
        while (quote - slashes > at && json[quote - slashes - 1] == '\\') ++slashes;
        if (slashes % 2 == 0) return quote;
        at = quote + 1;
    }
}

std::string unquoted_json(std::string_view literal) {
    if (literal.find('\\') == std::string_view::npos) return std::string(literal.substr(1, literal.size() - 2));
    const JsonValue value = parse_json(literal);
    return value.string() != nullptr ? *value.string() : std::string();
}

}  // namespace whittle::inline v0::detail
