#include "object_reader.hpp"
#include "../base/utf8.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

std::string get_range(const StoredObject& object, std::int64_t offset, std::int64_t max_bytes) {
    auto bytes = object.storage->get(object.key, offset, max_bytes);
    if (!bytes) throw Error(Errc::not_found, fmt::format("read \"{}\": the object is no longer stored", object.key));
    return *std::move(bytes);
}

/// Where the character around byte `at` starts.
std::size_t character_start(std::string_view text, std::size_t at) {
    return at < text.size() ? utf8::character_around(text, at).begin : text.size();
}

}  // namespace

std::int64_t size_of(const StoredObject& object) {
    const auto info = object.storage->stat(object.key);
    if (!info) throw Error(Errc::not_found, fmt::format("read \"{}\": the object is no longer stored", object.key));
    return info->bytes;
}

Page read_page(const StoredObject& object, std::int64_t offset, std::int64_t max_bytes) {
    constexpr auto longest = static_cast<std::int64_t>(longest_character);
    const std::int64_t before = std::min(offset, longest - 1);
    const std::string bytes = get_range(object, offset - before, add_saturating(max_bytes, before + longest));
    if (static_cast<std::int64_t>(bytes.size()) <= before) return {{}, offset, offset};
    const std::size_t start = character_start(bytes, static_cast<std::size_t>(before));
    const std::string_view shown =
        grapheme_prefix(std::string_view(bytes).substr(start), static_cast<std::size_t>(max_bytes));
    const std::int64_t begin = offset - before + static_cast<std::int64_t>(start);
    return {std::string(shown), begin, begin + static_cast<std::int64_t>(shown.size())};
}

void LineReader::refill() {
    if (stop_.stop_requested()) throw Error(Errc::cancelled, fmt::format("read \"{}\": stopped", object_.key));
    buffer_.erase(0, at_);
    searched_ -= at_;
    at_ = 0;
    const std::string chunk = get_range(object_, offset_, chunk_bytes_);
    is_last_chunk_ = static_cast<std::int64_t>(chunk.size()) < chunk_bytes_;
    offset_ += static_cast<std::int64_t>(chunk.size());
    buffer_ += chunk;
}

LinePiece LineReader::take(std::size_t length, bool has_feed, bool is_end) {
    const LinePiece piece{.text = std::string_view(buffer_).substr(at_, length),
                          .number = number_,
                          .offset = offset_ - static_cast<std::int64_t>(buffer_.size() - at_),
                          .is_start = is_start_,
                          .is_end = is_end,
                          .has_feed = has_feed};
    at_ += length + (has_feed ? 1 : 0);
    searched_ = at_;
    is_start_ = is_end;
    number_ += is_end ? 1 : 0;
    return piece;
}

std::optional<LinePiece> LineReader::next() {
    while (true) {
        const std::size_t feed = buffer_.find('\n', searched_);
        if (feed != std::string::npos) return take(feed - at_, true, true);
        searched_ = buffer_.size();
        if (is_last_chunk_) {
            if (at_ == buffer_.size()) return std::nullopt;
            return take(buffer_.size() - at_, false, true);
        }
        if (buffer_.size() - at_ >= static_cast<std::size_t>(chunk_bytes_))
            return take(buffer_.size() - at_, false, false);
        refill();
    }
}

Lines read_lines(LineReader& reader, std::int64_t first, std::int64_t count, std::int64_t max_bytes) {
    Lines lines{.first = first};
    const auto room = [&] { return static_cast<std::size_t>(max_bytes) - lines.page.text.size(); };
    while (const auto piece = reader.next()) {
        lines.seen = piece->number;
        if (piece->number < first) continue;
        if (piece->number - first >= count) break;
        if (lines.last == 0) lines.page.begin = piece->offset;
        const std::size_t needed = piece->text.size() + (piece->has_feed ? 1 : 0);
        if (needed > room() && piece->is_start && lines.last != 0) break;  // whole lines, as long as there is one
        lines.last = piece->number;
        lines.is_cut = needed > room() || !piece->is_end;
        if (needed > room()) {
            const std::string_view with_feed(piece->text.data(), needed);  // the feed follows in the reader's buffer
            lines.page.text += grapheme_prefix(with_feed, room());
            break;
        }
        lines.page.text += piece->text;
        if (piece->has_feed) lines.page.text += '\n';
    }
    lines.page.end = lines.page.begin + static_cast<std::int64_t>(lines.page.text.size());
    return lines;
}

namespace {

/// What is shown of a line: its start, or what stands around a match.
class Excerpts {
public:
    Excerpts(std::string_view wanted, std::int64_t line_bytes)
        : wanted_(wanted), line_bytes_(static_cast<std::size_t>(line_bytes)) {}

    /// The start of a line without a match.
    [[nodiscard]] std::string start_of(std::string_view line) const {
        const std::string_view shown = grapheme_prefix(line, line_bytes_);
        return to_valid_utf8(shown) + (shown.size() < line.size() ? "..." : "");
    }

    /// Around the match at `at` in `line`, with the offset where something is left out.
    [[nodiscard]] std::string around(std::string_view line, std::size_t at, std::int64_t offset) const {
        if (line.size() <= line_bytes_) return to_valid_utf8(line);
        const std::size_t before = wanted_.size() >= line_bytes_ ? 0 : (line_bytes_ - wanted_.size()) / 4;
        const std::size_t earliest = at <= before ? 0 : character_start(line, at - before);
        const std::size_t begin = at - grapheme_suffix(line.substr(0, at), at - earliest).size();
        const std::string_view shown = grapheme_prefix(line.substr(begin), line_bytes_);
        return fmt::format("(offset {}) {}{}{}", offset + static_cast<std::int64_t>(at), begin > 0 ? "..." : "",
                           to_valid_utf8(shown), begin + shown.size() < line.size() ? "..." : "");
    }

private:
    std::string_view wanted_;
    std::size_t line_bytes_;
};

class Grep {
public:
    Grep(std::string_view wanted, const GrepLimits& limits)
        : wanted_(wanted), limits_(limits), excerpts_(wanted, limits.line_bytes) {}

    /// False once a limit is met.
    bool look_at(const LinePiece& piece) {
        if (piece.is_start) start_line(piece);
        if (!is_found_ && !find_in(piece)) return false;
        if (piece.is_end) end_line(piece);
        return true;
    }

    [[nodiscard]] Matches take() { return std::move(matches_); }

private:
    void start_line(const LinePiece& piece) {
        tail_.clear();
        is_found_ = false;
        line_start_ = limits_.context > 0 ? excerpts_.start_of(piece.text) : std::string();
        ++matches_.lines;
    }

    /// Matches may span two pieces of a line, so that the end of the piece before is looked at again.
    bool find_in(const LinePiece& piece) {
        const std::string joined = tail_.empty() ? std::string() : tail_ + std::string(piece.text);
        const std::string_view text = tail_.empty() ? piece.text : std::string_view(joined);
        const std::size_t at = text.find(wanted_);
        if (at == std::string_view::npos) {
            if (!piece.is_end) tail_ = text.substr(text.size() - std::min(text.size(), wanted_.size() - 1));
            return true;
        }
        const std::int64_t offset = piece.offset - static_cast<std::int64_t>(tail_.size());
        return add_match(piece.number, excerpts_.around(text, at, offset));
    }

    bool add_match(std::int64_t number, const std::string& excerpt) {
        std::string shown = gap_before(number);
        for (const auto& [line, text] : before_) shown += fmt::format("{}- {}\n", line, text);
        shown += fmt::format("{}: {}\n", number, excerpt);
        const bool is_full = static_cast<std::int64_t>(matches_.text.size() + shown.size()) > limits_.max_bytes;
        if (matches_.count == limits_.max_matches || (is_full && matches_.count > 0)) {
            matches_.go_on_at = number;
            return false;
        }
        matches_.text += shown;
        ++matches_.count;
        is_found_ = true;
        before_.clear();
        shown_up_to_ = number;
        after_ = limits_.context;
        return true;
    }

    /// Between two groups of lines that are not next to each other, if there is context.
    [[nodiscard]] std::string gap_before(std::int64_t number) const {
        const std::int64_t first = before_.empty() ? number : before_.front().first;
        return limits_.context > 0 && shown_up_to_ > 0 && first > shown_up_to_ + 1 ? "--\n" : "";
    }

    void end_line(const LinePiece& piece) {
        if (is_found_ || limits_.context == 0) return;
        if (after_ > 0) {
            --after_;
            matches_.text += fmt::format("{}- {}\n", piece.number, line_start_);
            shown_up_to_ = piece.number;
            return;
        }
        before_.emplace_back(piece.number, std::move(line_start_));
        if (static_cast<std::int64_t>(before_.size()) > limits_.context) before_.pop_front();
    }

    std::string_view wanted_;
    GrepLimits limits_;
    Excerpts excerpts_;
    Matches matches_{};
    std::string tail_{};        // of the line so far, shorter than the wanted text
    std::string line_start_{};  // of the line, for context
    std::deque<std::pair<std::int64_t, std::string>> before_{};
    std::int64_t after_ = 0;  // lines of context still to be shown
    std::int64_t shown_up_to_ = 0;
    bool is_found_ = false;
};

}  // namespace

Matches grep_lines(LineReader& reader, std::string_view text, std::int64_t first, const GrepLimits& limits) {
    Grep grep(text, limits);
    while (const auto piece = reader.next()) {
        if (piece->number >= first && !grep.look_at(*piece)) break;
    }
    return grep.take();
}

}  // namespace whittle::inline v0::detail
