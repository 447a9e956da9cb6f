#pragma once

#include "whittle/base/version.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// A token of a JSON text, and where it stands: a string with its quotes.
struct JsonToken {
    enum class Kind : std::uint8_t {
        end,  ///< of the text: empty
        open_object,
        open_array,
        close_object,
        close_array,
        comma,
        colon,
        name,    ///< a string with a colon behind it
        string,  ///< any other
        cut,     ///< a string that does not end: the rest of the text
        scalar,  ///< a number or a literal, or what is no JSON
    };

    Kind kind = Kind::end;
    std::size_t begin = 0;
    std::size_t end = 0;

    [[nodiscard]] constexpr bool opens() const noexcept {
        return kind == Kind::open_object || kind == Kind::open_array;
    }
    [[nodiscard]] constexpr bool closes() const noexcept {
        return kind == Kind::close_object || kind == Kind::close_array;
    }
    [[nodiscard]] constexpr bool is_quoted() const noexcept {
        return kind == Kind::name || kind == Kind::string || kind == Kind::cut;
    }
};

/// Cuts a text into JSON's tokens, one after the other. Any text has tokens; whether it is JSON, `is_json` says. Linear
/// in the text, to any depth, without memory of its own. A view of the text.
class JsonScanner {
public:
    /// Begins at that byte of the text.
    explicit JsonScanner(std::string_view text, std::size_t at = 0) noexcept : text_(text), at_(at) {}

    /// At the end of the text, and from then on, a token of kind `end`.
    [[nodiscard]] JsonToken next() noexcept;
    [[nodiscard]] std::string_view text(const JsonToken& token) const noexcept {
        return text_.substr(token.begin, token.end - token.begin);
    }
    /// How many brackets are open behind the last token. One that closes none does not count.
    [[nodiscard]] std::size_t depth() const noexcept { return depth_; }

private:
    [[nodiscard]] JsonToken take_string(std::size_t begin) const noexcept;

    std::string_view text_;
    std::size_t at_;
    std::size_t depth_ = 0;
};

/// Where a string of JSON ends that begins at `begin`, behind its quote: at the closing quote, or the end of the text.
[[nodiscard]] std::size_t end_of_json_string(std::string_view json, std::size_t begin) noexcept;

/// What a string of valid JSON says. `literal` has its quotes.
[[nodiscard]] std::string unquoted_json(std::string_view literal);

}  // namespace whittle::inline v0::detail
