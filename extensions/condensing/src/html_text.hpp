#pragma once

#include "html_tags.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// What of a page is not in its text.
struct HtmlLosses {
    std::size_t navigation = 0;  ///< menus
    std::size_t pictures = 0;    ///< without a description
};

/// The text of a page: its title, headings as "# ", lists as "- ", rows of tables with "|" between their cells, links
/// as "text (url)". Without scripts, styles, menus and drawings.
class HtmlText {
public:
    explicit HtmlText(std::string_view html);

    [[nodiscard]] std::string take() { return std::move(out_); }
    [[nodiscard]] const HtmlLosses& losses() const noexcept { return losses_; }

private:
    void add_piece(const HtmlPiece& piece);
    void open(const HtmlPiece& tag);
    void close(std::string_view name);
    void open_link(std::string_view attributes);
    void close_link();
    void add_picture(std::string_view attributes);
    void add_text(std::string_view text);
    void add_visible(std::string_view text);
    void break_line(std::size_t lines) noexcept;

    std::string out_{};
    std::size_t breaks_ = 0;  // line feeds before the next text
    bool has_space_ = false;  // before the next text
    std::size_t pre_ = 0;     // elements around whose white space counts
    std::size_t lists_ = 0;
    bool is_row_ = false;        // this row has a cell already
    std::size_t row_begin_ = 0;  // of `out_`, where the row began
    std::string link_{};         // of the link that is open
    std::size_t link_begin_ = 0;
    std::string decoded_{};
    HtmlLosses losses_{};
};

}  // namespace whittle::inline v0::detail
