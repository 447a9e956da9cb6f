#include "csv_rows.hpp"

#include "entries.hpp"
#include "whittle/base/text.hpp"

#include <cstdint>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

/// Takes a row byte by byte. Cells with a quote in front go to its partner, over line ends too; a quote within them
/// stands twice.
class CsvRow {
public:
    explicit CsvRow(std::size_t max_bytes) : max_bytes_(max_bytes) {}

    /// False once the row is complete.
    [[nodiscard]] bool take(char c) {
        if (++bytes_ > max_bytes_) fail("a row that is too long");
        if (place_ == Place::quoted) return take_quoted(c);
        if (c == '\n') return end();
        if (place_ == Place::behind_quote && c == '"') return add(c, Place::quoted);
        if (c == ',' && place_ != Place::lost) return end_cell();
        if (c == '"' && place_ == Place::front) return move_to(Place::quoted);
        if (place_ == Place::lost) return true;
        if (c == '"' || (place_ == Place::behind_quote && c != '\r')) return lose("a quote within a cell");
        return add(c, place_ == Place::front ? Place::plain : place_);
    }
    /// There is nothing more to take.
    void finish() {
        if (place_ == Place::quoted) fail("a cell without its closing quote");
        static_cast<void>(end());
    }

    [[nodiscard]] bool is_blank() const noexcept { return cells_.size() == 1 && cells_.front().empty(); }
    [[nodiscard]] const std::string& damage() const noexcept { return damage_; }
    [[nodiscard]] std::vector<std::string> cells() && { return std::move(cells_); }

private:
    enum class Place : std::uint8_t { front, plain, quoted, behind_quote, lost };

    bool take_quoted(char c) { return c == '"' ? move_to(Place::behind_quote) : add(c, Place::quoted); }

    bool add(char c, Place place) {
        if (damage_.empty()) cells_.back() += c;
        return move_to(place);
    }
    bool move_to(Place place) {
        place_ = place;
        return true;
    }
    bool end_cell() {
        cells_.emplace_back();
        return move_to(Place::front);
    }
    bool end() {
        if (std::string& last = cells_.back(); last.ends_with('\r')) last.pop_back();
        return false;
    }
    /// What follows is passed over to the end of the line.
    bool lose(std::string reason) {
        fail(std::move(reason));
        return move_to(Place::lost);
    }
    void fail(std::string reason) {
        if (damage_.empty()) damage_ = std::move(reason);
    }

    std::size_t max_bytes_;
    std::size_t bytes_ = 0;
    Place place_ = Place::front;
    std::vector<std::string> cells_{{}};
    std::string damage_{};
};

}  // namespace

std::optional<std::vector<std::string>> first_csv_row(std::string_view start) {
    CsvRow row(start.size());
    for (const char c : start) {
        if (row.take(c)) continue;
        return row.damage().empty() ? std::optional(std::move(row).cells()) : std::nullopt;
    }
    return std::nullopt;
}

void CsvRows::pass_mark() {
    for (const char c : {'\xEF', '\xBB', '\xBF'}) {
        if (Traits::eq_int_type(in_->rdbuf()->sgetc(), Traits::to_int_type(c))) in_->rdbuf()->sbumpc();
    }
}

/// nullopt at the end.
std::optional<CsvRows::Cells> CsvRows::next_cells() {
    while (!Traits::eq_int_type(in_->rdbuf()->sgetc(), Traits::eof())) {
        CsvRow row(options_->limits.max_bytes);
        first_line_ = line_;
        bool is_open = true;
        while (is_open) {
            const auto c = in_->rdbuf()->sbumpc();
            if (Traits::eq_int_type(c, Traits::eof())) break;
            if (Traits::to_char_type(c) == '\n') ++line_;
            is_open = row.take(Traits::to_char_type(c));
        }
        if (is_open) row.finish();
        if (!row.damage().empty()) {
            note_damage(*notes_, first_line_, row.damage());
        } else if (!row.is_blank()) {
            return std::move(row).cells();
        }
    }
    return std::nullopt;
}

nlohmann::ordered_json CsvRows::to_row(Cells&& cells) const {
    nlohmann::ordered_json::object_t row;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (!cells[i].empty()) row.emplace_back((*names_)[i], to_valid_utf8(cells[i]));
    }
    return row;
}

std::optional<nlohmann::ordered_json> CsvRows::next() {
    if (in_->rdbuf() == nullptr) return std::nullopt;
    if (!names_) {
        pass_mark();
        names_ = next_cells();
    }
    while (auto cells = next_cells()) {
        if (cells->size() == names_->size()) {
            ++notes_->records;
            return to_row(*std::move(cells));
        }
        note_damage(*notes_, first_line_,
                    "expected " + std::to_string(names_->size()) + " cells, found " + std::to_string(cells->size()));
    }
    return std::nullopt;
}

}  // namespace whittle::inline v0::logs
