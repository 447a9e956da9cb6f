#include "condense_forms.hpp"

#include "line_template.hpp"
#include "whittle/base/text.hpp"
#include "whittle/trimming/detail/line_forms.hpp"
#include "whittle/trimming/detail/result_class.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

namespace {

constexpr std::size_t fewest_log_lines = 20;

/// A log, its lines told apart by what they have in common.
class LogForm {
public:
    explicit LogForm(std::string_view text) : plain_(without_colours(text)) {
        constexpr std::int64_t fewest_line_feeds = 2;  // with fewer, a carriage return ends lines
        const bool may_be_progress = count_line_feeds(plain_) >= fewest_line_feeds;
        for (const std::string_view line : split_lines(plain_)) {
            lines_.push_back(may_be_progress && is_overwritten(line) ? last_written(line) : line);
            lost_progress_ = lost_progress_ || lines_.back().size() + 1 < line.size();
        }
        if (!lines_.empty() && lines_.back().empty()) lines_.pop_back();  // behind the last line feed
    }

    /// Whether its repeats may be folded.
    [[nodiscard]] bool is_log(TextAuthor author) {
        if (lines_.size() < fewest_log_lines) return false;
        find_groups();
        is_stamped_ = is_stamped_log();
        if (is_stamped_) return true;
        const TextShape shape = shape_of(lines_);
        return author == TextAuthor::program && !shape.is_content() && !shape.is_hits && repeats();
    }
    /// Much of it is for the eyes of who watches a terminal.
    [[nodiscard]] static bool is_of_terminal(std::string_view text) {
        constexpr std::ptrdiff_t many = 20;
        std::ptrdiff_t marks = std::ranges::count(text, '\x1b');
        for (std::size_t at = text.find('\r'); at != std::string_view::npos; at = text.find('\r', at + 1))
            marks += at + 1 < text.size() && text[at + 1] != '\n' ? 1 : 0;
        return marks >= many;
    }

    /// Written over, as progress is, and nothing that is gone tells of an error.
    [[nodiscard]] static bool is_overwritten(std::string_view line) {
        const std::string_view last = last_written(line);
        std::string_view gone = line.substr(0, static_cast<std::size_t>(last.data() - line.data()));
        while (!gone.empty()) {
            const std::size_t end = std::min(gone.find('\r'), gone.size());
            if (tells_of_error(gone.substr(0, end))) return false;
            gone.remove_prefix(std::min(gone.size(), end + 1));
        }
        return last.size() < line.size();
    }

    void keep_all() {
        find_groups();
        for (Group& group : groups_) group.may_fold = false;
        stays_.assign(lines_.size(), true);
    }

    void fold() {
        for (Group& group : groups_) group.may_fold = may_fold(group);
        stays_.assign(lines_.size(), false);
        keep_ends();
        std::size_t trace = 0;  // lines of a stack trace that may still come
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            const bool is_kept = keep_line(i);
            if (is_kept && groups_[group_of_[i]].is_error) {
                keep_around(i);
                trace = longest_trace;
            } else if (trace > 0 && is_trace_line(lines_[i])) {
                stays_[i] = true;
                --trace;
            } else {
                trace = 0;
            }
        }
        close_small_gaps();
    }

    [[nodiscard]] std::string text() const {
        std::string out;
        std::size_t gap = 0;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            if (!stays_[i]) {
                ++gap;
                continue;
            }
            if (gap > 0) append_lines_mark(out, std::exchange(gap, 0));
            out += lines_[i];
            const Group& group = groups_[group_of_[i]];
            if (group.first == i && group.is_folded()) out.append(" (×").append(grouped(group.lines)).append(")");
            out += '\n';
        }
        if (gap > 0) append_lines_mark(out, gap);
        return out;
    }

    [[nodiscard]] std::size_t left_out() const { return static_cast<std::size_t>(std::ranges::count(stays_, false)); }
    [[nodiscard]] bool lost_colours(std::string_view text) const { return plain_.size() < text.size(); }
    [[nodiscard]] bool lost_progress() const noexcept { return lost_progress_; }

private:
    static constexpr std::size_t longest_trace = 40;

    /// Lines that are equal but for numbers and ids.
    struct Group {
        std::size_t lines = 0;
        std::size_t seen = 0;  // so far, by `keep_line`
        std::size_t first = 0;
        std::size_t numbers = 0;  // in one of them
        bool is_error = false;
        bool is_blank = false;
        bool may_fold = false;

        [[nodiscard]] bool is_folded() const noexcept { return may_fold && lines > (is_error ? 6U : 3U); }
    };

    void find_groups() {
        if (!group_of_.empty()) return;
        std::unordered_map<std::string, std::size_t> known;
        std::string shape;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            shape.clear();
            append_template(shape, lines_[i]);
            const auto [at, is_new] = known.try_emplace(shape, groups_.size());
            if (is_new)
                groups_.push_back({.first = i,
                                   .numbers = static_cast<std::size_t>(std::ranges::count(shape, '#')),
                                   .is_error = tells_of_error(lines_[i]),
                                   .is_blank = is_blank(lines_[i])});
            ++groups_[at->second].lines;
            group_of_.push_back(at->second);
        }
    }

    [[nodiscard]] bool is_stamped_log() const {
        std::size_t stamped = 0;
        std::size_t lines = 0;
        for (const std::string_view line : lines_) {
            if (is_blank(line)) continue;
            ++lines;
            stamped += is_stamped(line) ? 1 : 0;
        }
        return 10 * stamped >= 3 * lines && lines >= fewest_log_lines / 2;
    }

    /// Most of its lines are like several others.
    [[nodiscard]] bool repeats() const {
        constexpr std::size_t often = 8;
        std::size_t lines = 0;
        std::size_t repeated = 0;
        for (const Group& group : groups_) {
            if (group.is_blank) continue;
            lines += group.lines;
            if (group.lines >= often && may_fold(group)) repeated += group.lines;
        }
        return 10 * repeated >= 7 * lines;
    }
    /// Brackets, rows of numbers, measurements and lists of names are told by each line, not by how often there is one.
    [[nodiscard]] bool may_fold(const Group& group) const noexcept {
        constexpr std::ptrdiff_t fewest_letters = 4;
        constexpr std::size_t most_numbers = 2;
        constexpr std::size_t fewest_words = 2;
        const std::string_view line = lines_[group.first].substr(0, 400);
        if (group.is_blank || std::ranges::count_if(line, is_ident_start) < fewest_letters) return false;
        return is_stamped_ || (group.numbers <= most_numbers && count_plain_words(line) >= fewest_words);
    }

    void keep_ends() {
        constexpr std::size_t first = 3;
        constexpr std::size_t last = 8;
        for (std::size_t i = 0; i < std::min(first, lines_.size()); ++i) stays_[i] = true;
        for (std::size_t i = 0; i < std::min(last, lines_.size()); ++i) stays_[lines_.size() - 1 - i] = true;
    }

    /// The first and the last of its kind; of errors the first three and the last two. Blank lines go with the line
    /// above.
    bool keep_line(std::size_t i) {
        Group& group = groups_[group_of_[i]];
        const std::size_t number = group.seen++;
        if (group.is_blank) {
            if (i > 0 && stays_[i - 1]) stays_[i] = true;
            return false;
        }
        const std::size_t from_end = group.lines - number;
        const bool is_kept =
            !group.is_folded() || number < (group.is_error ? 3U : 1U) || from_end <= (group.is_error ? 2U : 1U);
        if (is_kept) stays_[i] = true;
        return is_kept;
    }

    void keep_around(std::size_t i) {
        constexpr std::size_t around = 3;  // lines that stay on each side of an error
        const std::size_t end = std::min(lines_.size(), i + around + 1);
        for (std::size_t at = i - std::min(i, around); at < end; ++at) stays_[at] = true;
    }

    /// A mark in place of one short line would say less than the line.
    void close_small_gaps() {
        constexpr std::size_t short_line = 60;
        for (std::size_t i = 1; i + 1 < lines_.size(); ++i) {
            if (!stays_[i] && stays_[i - 1] && stays_[i + 1] && lines_[i].size() <= short_line) stays_[i] = true;
        }
    }

    std::string plain_;
    std::vector<std::string_view> lines_{};
    std::vector<std::size_t> group_of_{};
    std::vector<Group> groups_{};
    std::vector<bool> stays_{};
    bool is_stamped_ = false;
    bool lost_progress_ = false;  // that later text of its line was written over
};

std::string log_legend(std::size_t left_out, bool lost_colours, bool lost_progress, Language language) {
    const bool is_chinese = language == Language::chinese;
    std::string legend;
    if (lost_colours) legend = is_chinese ? "已去掉颜色" : "without colours";
    if (lost_progress) {
        legend += legend.empty() ? "" : is_chinese ? "；" : "; ";
        legend += is_chinese ? "已去掉被覆盖的进度显示" : "without progress that was written over";
    }
    if (left_out == 0) return legend;
    legend += legend.empty() ? "" : is_chinese ? "；" : "; ";
    return legend +
           (is_chinese
                ? fmt::format("省略 {} 行重复内容：[..n] 处省略 n 行，(×n) 表示除数字和编号外与该行相同的行共 n 行",
                              grouped(left_out))
                : fmt::format("{} repeated lines are left out: [..n] stands for n lines, (×n) behind a line "
                              "for n lines that differ from it in numbers and ids only",
                              grouped(left_out)));
}

}  // namespace

std::optional<CondensedText> condense_log(std::string_view text, Language language, TextAuthor author) {
    LogForm form(text);
    const bool is_log = form.is_log(author);
    if (!is_log && !LogForm::is_of_terminal(text)) return std::nullopt;
    is_log ? form.fold() : form.keep_all();
    if (form.left_out() == 0 && !form.lost_colours(text) && !form.lost_progress()) return std::nullopt;
    return CondensedText{
        .format = TextFormat::log,
        .text = form.text(),
        .is_lossless = false,
        .legend = log_legend(form.left_out(), form.lost_colours(text), form.lost_progress(), language)};
}

}  // namespace whittle::inline v0::detail
