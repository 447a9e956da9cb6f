#pragma once

#include "line_index.hpp"
#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/language.hpp"
#include "whittle/trimming/detail/result_class.hpp"
#include "whittle/trimming/detail/trimming_rules.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// "[..12]"
[[nodiscard]] inline std::string gap_mark(std::uint64_t lines) { return "[.." + std::to_string(lines) + "]"; }

/// Lines, and a mark in place of those that are skipped: `gap_mark`, unless `close_gap` puts another one.
class GappedText {
public:
    void add(std::string_view line) {
        if (gap_ > 0) close_gap(gap_mark(gap_));
        put(line);
    }
    /// Adds to the last line.
    void extend(std::string_view text) { text_.append(text); }
    void skip(std::uint64_t lines = 1) noexcept { gap_ += lines; }
    /// Lines that were skipped since the last one.
    [[nodiscard]] std::uint64_t gap() const noexcept { return gap_; }
    void close_gap(std::string_view mark) {
        gap_ = 0;
        put(mark);
    }
    [[nodiscard]] std::string take() {
        if (gap_ > 0) close_gap(gap_mark(gap_));
        return std::move(text_);
    }

private:
    void put(std::string_view line) {
        if (std::exchange(has_lines_, true)) text_ += '\n';
        text_.append(line);
    }

    std::string text_{};
    std::uint64_t gap_ = 0;
    bool has_lines_ = false;
};

/// Stretches of lines, [first, last), ascending.
using LineRanges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// The content of files as a request shows it: its lines, in place of those that went the number of them. Keeps the
/// lines that are left and nothing of the others. Every line that it shows is one of the original, whole, but for its
/// number.
class ReadForm {
public:
    /// All lines of `text`; by lines, those of reminders stay out.
    ReadForm(std::string_view text, const ResultForm& form, TrimUnit unit, LineIndex& index);

    /// Takes out runs of lines from `first` on that stand elsewhere, or that an edit took out since `since`.
    void drop_shown(std::size_t first, int since, const LineIndex& index);
    /// The lines that stay where lines older than `ages` go; empty if that is all of them. `next` becomes the first
    /// call at which the answer can be another one.
    [[nodiscard]] std::vector<bool> find_old(const LineIndex& index, const LineAges& ages, int now, int& next);
    /// The lines of the passages that stay of a result that came with call `since`; none: nothing speaks for any.
    [[nodiscard]] std::vector<bool> find_passages(const LineIndex& index, const TrimmingRules& rules, int since,
                                                  int now, bool is_output) const;
    /// Whether results newer than call `since` have nearly all of it.
    [[nodiscard]] bool stands_in_newer(const LineIndex& index, int since) const noexcept;
    /// Takes out all but those.
    void keep(const std::vector<bool>& lines);
    void keep(const LineRanges& lines);

    /// The text that is shown, of all lines or of those in `lines` (empty: all). The first `whole` of them as they
    /// came, then `reference` on a line of its own; without whole ones the reference stands first.
    [[nodiscard]] std::string text(std::string_view reference, std::size_t whole = 0,
                                   const std::vector<bool>& lines = {}) const;
    /// What stands in place of `lines` lines from line `first` (from 1) on.
    using Mark = FunctionRef<std::string(std::uint64_t first, std::uint64_t lines)>;
    /// The lines in `lines` (empty: all), and a mark for each stretch that went.
    [[nodiscard]] std::string text_with_marks(const std::vector<bool>& lines, Mark mark) const;
    /// How many lines at the front it takes to have `bytes`.
    [[nodiscard]] std::size_t lines_with(std::size_t bytes) const noexcept;
    /// Numbers of the lines that are left, from 0.
    [[nodiscard]] LineRanges ranges() const;

private:
    /// A line, or a number of lines that went.
    struct Item {
        std::uint32_t begin = 0;
        std::uint32_t size = 0;
        std::uint32_t number = 0;  // bytes of its number in front
        std::uint32_t blanks = 0;  // bytes in front of these digits
        std::uint32_t gap = 0;     // lines that went; 0: it is a line
        std::uint32_t words = 0;   // its rare words: [words, words_end) of `rare_`
        std::uint32_t words_end = 0;
        LineId id = 0;

        /// That it stands for.
        [[nodiscard]] std::uint32_t lines() const noexcept { return std::max(gap, 1U); }
    };

    [[nodiscard]] std::string_view line(const Item& item) const noexcept {
        return std::string_view(text_).substr(item.begin, item.size);
    }
    /// Whether it is no line that is left, or not one of those in `lines` (empty: all).
    [[nodiscard]] bool is_gone(std::size_t i, const std::vector<bool>& lines) const noexcept {
        return items_[i].gap > 0 || (!lines.empty() && !lines[i]);
    }
    void find_rare_words();
    [[nodiscard]] std::vector<int> find_ages(const LineAges& ages) const;
    void take_short_neighbours(std::vector<bool>& stays) const;

    std::string text_;
    std::vector<Item> items_{};
    std::vector<std::uint64_t> rare_{};
    LineMarks marks_ = LineMarks::none;
    bool strips_ = false;
    bool knows_rare_ = false;
};

/// `text` without its "<system-reminder>" blocks, in place of each a line feed.
[[nodiscard]] std::string without_reminders(std::string_view text);

/// Cuts lines into stretches of at most `most_lines`, each at the best break that the text itself has: the head of a
/// hunk or of a test, a blank line, a line that is indented less than its neighbours. They follow each other without a
/// gap. Linear in the lines, whatever they say.
[[nodiscard]] LineRanges cut_into_passages(std::span<const std::string_view> lines, std::size_t most_lines);

/// What stands in place of a text that went: how much, from where, and how to get it back.
struct TextMark {
    std::string_view reference{};  ///< as `reference_to` has it; empty: nothing is stored
    std::string_view reader{};     ///< the tool that shows it
    Language language = Language::english;

    /// `[lines 22-178 of this result left out; read_offloaded("k/6", first_line=22, lines=157)]`; `first` from 1.
    [[nodiscard]] std::string of_lines(std::uint64_t first, std::uint64_t lines) const;
    /// `[all 178 lines of this result left out; read_offloaded("k/6")]`; of a single line its bytes.
    [[nodiscard]] std::string of_result(std::uint64_t lines, std::uint64_t bytes) const;
    /// `[48 lines of old_string left out; read_offloaded("k/6a") gives this whole call]`; `name`: of the argument.
    [[nodiscard]] std::string of_argument(std::string_view name, std::uint64_t lines, std::uint64_t bytes) const;
};

/// Calls until a text of that age is looked at again: each look costs its text, so that they grow rarer with age.
[[nodiscard]] constexpr int calls_until_next_look(int age) noexcept {
    constexpr int least = 8;
    return age / 4 > least ? age / 4 : least;
}

}  // namespace whittle::inline v0::detail
