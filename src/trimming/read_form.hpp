#pragma once

#include "line_index.hpp"
#include "whittle/base/detail/function_ref.hpp"
#include "whittle/trimming/detail/result_class.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// How reads are trimmed.
struct ReadRules {
    bool strip_numbers = true;   ///< numbers only where lines start anew
    bool drop_shown = true;      ///< lines that stand elsewhere in the request
    bool drop_reminders = true;  ///< "<system-reminder>" blocks
    std::size_t least_run = 32;  ///< bytes of a run of lines that is worth a marker
    int rare = 3;                ///< a word is rare in at most that many lines of a result
    int near = 3;                ///< lines around one with a rare word that is used count with it
};

/// Stretches of lines, [first, last), ascending.
using LineRanges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Ages in model calls; a line that came up longer ago may go.
struct LineAges {
    int used = 0;   ///< near a rare word that the user or the model has written
    int rare = 0;   ///< near another rare word
    int other = 0;  ///< near none

    [[nodiscard]] int least() const noexcept { return std::min({used, rare, other}); }
};

struct PassageRules;

/// The content of files as a request shows it: its lines, in place of those that went the number of them. Keeps the
/// lines that are left and nothing of the others. Every line that it shows is one of the original, whole, but for its
/// number.
class ReadForm {
public:
    /// All lines of `text` that are not reminders.
    ReadForm(std::string_view text, const ResultForm& form, const ReadRules& rules, LineIndex& index);

    /// Takes out runs of lines from `first` on that stand elsewhere, or that an edit took out since `since`. Whether a
    /// line stands elsewhere is what `is_shown` says.
    void drop_shown(std::size_t first, int since, const LineIndex& index, const ReadRules& rules);
    /// The lines that stay where lines older than `ages` go; empty if that is all of them. `next` becomes the first
    /// call at which the answer can be another one.
    [[nodiscard]] std::vector<bool> find_old(const LineIndex& index, const LineAges& ages, int now,
                                             const ReadRules& rules, int& next);
    /// The lines of the passages that stay of a result that came with call `since`; none: nothing speaks for any.
    [[nodiscard]] std::vector<bool> find_passages(const LineIndex& index, const PassageRules& rules, int since, int now,
                                                  bool is_output) const;
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
    [[nodiscard]] std::size_t bytes() const noexcept { return text_.size(); }

private:
    /// A line, or a number of lines that went.
    struct Item {
        std::uint32_t begin = 0;
        std::uint32_t size = 0;
        std::uint32_t number = 0;  // bytes of its number in front
        std::uint32_t blanks = 0;  // bytes in front of these digits
        std::uint32_t normal = 0;  // bytes that it says
        std::uint32_t gap = 0;
        std::uint32_t words = 0;  // its rare words: [words, words_end) of `rare_`
        std::uint32_t words_end = 0;
        LineId id = 0;
    };

    [[nodiscard]] std::string_view line(const Item& item) const noexcept {
        return std::string_view(text_).substr(item.begin, item.size);
    }
    void find_rare_words(const ReadRules& rules);
    [[nodiscard]] std::vector<int> find_ages(const LineIndex& index, const LineAges& ages,
                                             const ReadRules& rules) const;
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

/// "[..12]"
void append_gap(std::string& out, std::uint64_t lines);

}  // namespace whittle::inline v0::detail
