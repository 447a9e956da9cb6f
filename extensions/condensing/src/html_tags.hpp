#pragma once

#include "whittle/base/version.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::detail {

/// A piece of HTML: a tag, or the text up to the next one.
struct HtmlPiece {
    enum class Kind { text, open, close, raw };
    Kind kind = Kind::text;
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string_view name{};        ///< of a tag, as it stands there; of raw text, of the element around it
    std::string_view text{};        ///< of text and raw text
    std::string_view attributes{};  ///< of an opening tag
};

/// Goes through HTML, whatever is wrong with it: what is not closed is text, or an element without an end. Linear: what
/// was looked for to the end in vain is not looked for again. Views of the text.
class HtmlTags {
public:
    explicit HtmlTags(std::string_view html) : html_(html) {}

    /// The next piece; nullopt at the end. Comments, declarations and what a script or style is are no pieces, but for
    /// `raw`, which what stands in a title is.
    [[nodiscard]] std::optional<HtmlPiece> next();
    void jump(std::size_t to) noexcept { at_ = to; }

private:
    [[nodiscard]] bool skip_unseen();
    [[nodiscard]] std::optional<HtmlPiece> read_tag();
    [[nodiscard]] std::size_t end_of_tag(std::size_t at);
    [[nodiscard]] std::size_t find_close(std::size_t raw_element, std::size_t at);
    [[nodiscard]] std::size_t find_known(std::string_view what, std::size_t at, bool& is_gone) const;

    std::string_view html_;
    std::size_t at_ = 0;
    std::size_t raw_element_ = SIZE_MAX;  // that the last tag opened
    bool comment_ends_are_gone_ = false;
    bool tag_ends_are_gone_ = false;
    bool quotes_are_broken_ = false;
    std::array<bool, 3> closes_are_gone_{};  // of raw elements
};

/// The value of an attribute, as it stands there; nullopt if there is none of that name.
[[nodiscard]] std::optional<std::string_view> html_attribute(std::string_view attributes, std::string_view name);

/// Appends `text` with its entities decoded, those that are known.
void append_decoded(std::string& out, std::string_view text);

}  // namespace whittle::inline v0::detail
