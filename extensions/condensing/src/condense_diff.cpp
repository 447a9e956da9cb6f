#include "condense_forms.hpp"

#include "whittle/base/detail/ascii.hpp"
#include "whittle/trimming/detail/line_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

namespace {

/// Lines of a hunk by its header "@@ -1,7 +1,9 @@".
struct HunkSize {
    std::int64_t before = 1;
    std::int64_t after = 1;
};

/// The number behind the comma of ",7 "; 1 without one.
std::int64_t lines_of_range(std::string_view range) noexcept {
    constexpr std::int64_t most = 1LL << 40;
    const std::size_t comma = range.find(',');
    if (comma == std::string_view::npos) return 1;
    std::int64_t number = 0;
    for (std::size_t at = comma + 1; at < range.size() && is_digit(range[at]) && number < most; ++at)
        number = 10 * number + (range[at] - '0');
    return number;
}

std::optional<HunkSize> hunk_size(std::string_view line) noexcept {
    if (!line.starts_with("@@ -")) return std::nullopt;
    const std::size_t plus = line.find(" +");
    const std::size_t end = line.find(" @@", 3);
    if (plus == std::string_view::npos || end == std::string_view::npos || plus > end) return std::nullopt;
    return HunkSize{lines_of_range(line.substr(4, plus - 4)), lines_of_range(line.substr(plus + 2, end - plus - 2))};
}

constexpr std::array<std::string_view, 14> lock_files{"package-lock.json", "npm-shrinkwrap.json",
                                                      "yarn.lock",         "pnpm-lock.yaml",
                                                      "bun.lock",          "Cargo.lock",
                                                      "poetry.lock",       "uv.lock",
                                                      "Pipfile.lock",      "Gemfile.lock",
                                                      "composer.lock",     "go.sum",
                                                      "flake.lock",        "mix.lock"};
constexpr std::array<std::string_view, 8> generated_ends{".min.js", ".min.css", ".map",          ".pb.go",
                                                         "_pb2.py", ".pb.cc",   ".generated.ts", ".snap"};

/// A file that no person writes: its changes follow from others.
bool is_generated(std::string_view path) noexcept {
    const std::string_view name = path.substr(path.find_last_of("/\\") + 1);
    return is_one_of(name, lock_files) ||
           std::ranges::any_of(generated_ends, [&](std::string_view end) { return name.ends_with(end); });
}

/// The path in "+++ b/src/a.c\t2024-01-01"; empty: none, as of a file that is gone.
std::string_view path_of(std::string_view line) noexcept {
    std::string_view path = line.substr(4);
    path = path.substr(0, path.find('\t'));
    return path == "/dev/null" ? std::string_view() : trim_view(path);
}

constexpr std::size_t context_lines = 1;  // unchanged ones that stay on each side of a change

/// A unified diff, gone through once.
class DiffForm {
public:
    explicit DiffForm(std::string_view text) : lines_(split_lines(text)) {
        ends_with_line_feed_ = text.ends_with('\n');
        if (ends_with_line_feed_) lines_.pop_back();
    }

    /// False if it is no diff, or one that does not keep to its own counts.
    [[nodiscard]] bool make() {
        for (std::size_t at = 0; at < lines_.size();) {
            const auto size = has_file_ ? hunk_size(lines_[at]) : std::nullopt;
            if (!size) {
                add_header(lines_[at++]);
                continue;
            }
            const auto end = end_of_hunk(at + 1, *size);
            if (!end) return false;
            is_generated_ ? fold_hunk(at, *end) : add_hunk(at, *end);
            at = *end;
            ++hunks_;
        }
        close_generated();
        return hunks_ > 0;
    }

    [[nodiscard]] std::string take() {
        if (!ends_with_line_feed_ && out_.ends_with('\n')) out_.pop_back();
        return std::move(out_);
    }
    [[nodiscard]] std::size_t context_left_out() const noexcept { return context_left_out_; }
    [[nodiscard]] std::size_t files_folded() const noexcept { return files_folded_; }

private:
    void add(std::string_view line) { out_.append(line).append("\n"); }

    void add_header(std::string_view line) {
        if (line.starts_with("diff ") || line.starts_with("--- ")) {
            close_generated();
            has_file_ = true;
            if (line.starts_with("--- ")) is_generated_ = is_generated(path_of(line));
        } else if (line.starts_with("+++ ") && has_file_) {
            const std::string_view path = path_of(line);
            if (!path.empty()) is_generated_ = is_generated(path);
        }
        add(line);
    }

    /// Where a hunk ends whose lines begin at `at`; nullopt where a line is none of a hunk. A diff may be cut off.
    [[nodiscard]] std::optional<std::size_t> end_of_hunk(std::size_t at, HunkSize left) const noexcept {
        for (; at < lines_.size() && (left.before > 0 || left.after > 0); ++at) {
            const std::string_view line = lines_[at];
            const char mark = line.empty() ? ' ' : line[0];
            if (mark == '\\') continue;
            if (mark != ' ' && mark != '+' && mark != '-') return std::nullopt;
            left.before -= mark != '+' ? 1 : 0;
            left.after -= mark != '-' ? 1 : 0;
            if (left.before < 0 || left.after < 0) return std::nullopt;
        }
        return at < lines_.size() && lines_[at].starts_with('\\') ? at + 1 : at;
    }

    [[nodiscard]] static bool is_change(std::string_view line) noexcept {
        return !line.empty() && (line[0] == '+' || line[0] == '-' || line[0] == '\\');
    }

    /// All changes, and the lines around them. A single line stays: a mark would be no shorter.
    void add_hunk(std::size_t header, std::size_t end) {
        add(lines_[header]);
        std::vector<bool> stays(end - header, false);
        for (std::size_t at = header + 1; at < end; ++at) {
            if (!is_change(lines_[at])) continue;
            const std::size_t first = std::max(header + 1, at - std::min(at, context_lines));
            for (std::size_t i = first; i < std::min(end, at + context_lines + 1); ++i) stays[i - header] = true;
        }
        for (std::size_t at = header + 1; at < end;) {
            std::size_t gap = at;
            while (gap < end && !stays[gap - header]) ++gap;
            if (gap - at >= 2) {
                append_lines_mark(out_, gap - at);
                context_left_out_ += gap - at;
                at = gap;
            } else {
                add(lines_[at++]);
            }
        }
    }

    void fold_hunk(std::size_t header, std::size_t end) {
        ++folded_.hunks;
        for (std::size_t at = header + 1; at < end; ++at) {
            folded_.added += lines_[at].starts_with('+') ? 1 : 0;
            folded_.removed += lines_[at].starts_with('-') ? 1 : 0;
        }
    }

    void close_generated() {
        if (folded_.hunks > 0) {
            out_ += fmt::format("[..{} @@, +{} -{}]\n", folded_.hunks, folded_.added, folded_.removed);
            ++files_folded_;
        }
        folded_ = {};
        is_generated_ = false;
    }

    /// Of the file at hand.
    struct Folded {
        std::size_t hunks = 0;
        std::size_t added = 0;
        std::size_t removed = 0;
    };

    std::vector<std::string_view> lines_;
    bool ends_with_line_feed_ = false;
    bool has_file_ = false;
    bool is_generated_ = false;
    Folded folded_{};
    std::size_t hunks_ = 0;
    std::size_t context_left_out_ = 0;
    std::size_t files_folded_ = 0;
    std::string out_{};
};

std::string diff_legend(const DiffForm& form, Language language) {
    const bool is_chinese = language == Language::chinese;
    std::string legend;
    if (form.context_left_out() > 0) {
        legend = fmt::format(fmt::runtime(is_chinese ? "省略未改动的 {} 行，[..n] 处省略 n 行；@@ 中的行数为原文行数"
                                                     : "{} unchanged lines are left out, [..n] stands for n of them; "
                                                       "the numbers behind @@ are those of the original"),
                             grouped(form.context_left_out()));
    }
    if (form.files_folded() > 0) {
        legend += legend.empty() ? "" : is_chinese ? "；" : "; ";
        legend += fmt::format(fmt::runtime(is_chinese ? "{} 个锁文件或生成文件的改动只计数"
                                                      : "changes of {} lock or generated files are only counted"),
                              grouped(form.files_folded()));
    }
    return legend;
}

}  // namespace

std::optional<CondensedText> condense_diff(std::string_view text, const CondensingConfig&, Language language) {
    if (text.find("@@ -") == std::string_view::npos) return std::nullopt;
    DiffForm form(text);
    if (!form.make() || form.context_left_out() + form.files_folded() == 0) return std::nullopt;
    return CondensedText{.format = TextFormat::diff, .text = form.take(), .legend = diff_legend(form, language)};
}

}  // namespace whittle::inline v0::detail
