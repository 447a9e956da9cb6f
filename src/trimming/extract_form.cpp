#include "extract_form.hpp"

#include "read_form.hpp"
#include "whittle/base/text.hpp"
#include "whittle/trimming/detail/line_forms.hpp"

#include <algorithm>
#include <vector>

namespace whittle::inline v0::detail {

namespace {

std::string_view without_end_blanks(std::string_view line) noexcept {
    return line.substr(0, line.find_last_not_of(" \t\r\f\v") + 1);
}

/// A choice of lines under a budget of bytes.
class Extract {
public:
    Extract(std::string_view text, const ResultForm& form, int since, const LineIndex& index, const ExtractSizes& sizes)
        : text_(without_reminders(text)),
          form_(form),
          since_(since),
          index_(index),
          line_bytes_(sizes.line_bytes),
          error_bytes_(sizes.error_line_bytes),
          budget_(sizes.bytes) {
        for (const std::string_view line : split_lines(text_)) {
            if (!is_blank(line)) lines_.push_back(without_end_blanks(line));
        }
        stays_.resize(lines_.size());
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            if (tells_of_error(lines_[i])) errors_.push_back(i);
        }
    }

    [[nodiscard]] std::string make(std::string_view reference) {
        const bool is_program = form_.kind == ResultClass::shell || form_.kind == ResultClass::other;
        if (is_program || starts_as_failure(text_)) add_errors();
        if (is_program) add_ends(form_.kind == ResultClass::shell ? 2 : 6);
        add_named();
        if (!is_program) add_first(4);
        return text_behind(reference);
    }

private:
    [[nodiscard]] bool is_error(std::size_t i) const { return std::ranges::binary_search(errors_, i); }

    void add(std::size_t i, std::size_t limit) {
        constexpr std::size_t short_enough_to_repeat = 12;
        if (stays_[i] || budget_ == 0) return;
        const std::string_view normal = normal_line(lines_[i], form_.marks);
        const bool is_elsewhere = normal.size() >= short_enough_to_repeat && index_.shown(index_.find(normal)) > 0;
        if (is_elsewhere && form_.kind != ResultClass::shell) return;
        stays_[i] = true;
        budget_ -= std::min(budget_, std::min(lines_[i].size(), limit) + 1);
    }

    /// The last ones first: what comes last is what it came to.
    void add_errors() {
        constexpr std::size_t most = 4;
        const std::size_t few = std::min(most, errors_.size());
        for (std::size_t i = 0; i < few; ++i) add(errors_[errors_.size() - 1 - i], error_bytes_);
        for (std::size_t i = 0; i < few; ++i) add(errors_[i], error_bytes_);
    }

    void add_first(std::size_t lines) {
        for (std::size_t i = 0; i < std::min(lines, lines_.size()); ++i) add(i, line_bytes_);
    }

    void add_ends(std::size_t first) {
        constexpr std::size_t last = 3;
        for (std::size_t i = 0; i < std::min(last, lines_.size()); ++i) add(lines_.size() - 1 - i, line_bytes_);
        add_first(first);
    }

    void add_named() {
        constexpr int most = 12;
        int count = 0;
        for (std::size_t i = 0; i < lines_.size() && count < most && budget_ > 0; ++i) {
            bool is_named = false;
            for_each_ident(lines_[i].substr(0, 400), [&](std::string_view word) {
                is_named = is_named || index_.used(LineIndex::word_hash(word)) > since_;
            });
            if (!is_named) continue;
            add(i, line_bytes_);
            ++count;
        }
    }

    [[nodiscard]] std::string text_behind(std::string_view reference) const {
        GappedText out;
        out.add(reference);
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            if (!stays_[i]) {
                out.skip();
                continue;
            }
            const std::string_view shown = grapheme_prefix(lines_[i], is_error(i) ? error_bytes_ : line_bytes_);
            out.add(shown);
            if (shown.size() < lines_[i].size()) out.extend("…");
        }
        return out.take();
    }

    std::string text_;
    const ResultForm& form_;
    int since_;
    const LineIndex& index_;
    std::size_t line_bytes_;
    std::size_t error_bytes_;
    std::size_t budget_;
    std::vector<std::string_view> lines_{};
    std::vector<bool> stays_{};
    std::vector<std::size_t> errors_{};
};

}  // namespace

std::string extract_of(std::string_view text, const ResultForm& form, std::string_view reference, int since,
                       const LineIndex& index, const ExtractSizes& sizes) {
    return Extract(text, form, since, index, sizes).make(reference);
}

std::string extract_of_edit(std::string_view text, std::string_view reference, const ExtractSizes& sizes) {
    constexpr std::size_t most_errors = 2;
    GappedText out;
    out.add(reference);
    out.add(grapheme_prefix(text.substr(0, text.find('\n')), sizes.line_bytes));
    if (!starts_as_failure(text)) return out.take();
    std::vector<std::string_view> errors;
    for (const std::string_view line : split_lines(text)) {
        if (tells_of_error(line)) errors.push_back(trim_view(line));
    }
    for (std::size_t i = errors.size() - std::min(errors.size(), most_errors); i < errors.size(); ++i)
        out.add(grapheme_prefix(errors[i], sizes.error_line_bytes));
    return out.take();
}

std::string last_of_extract(std::string_view extract, std::string_view reference) {
    constexpr std::size_t most_bytes = 120;
    std::string_view last;
    bool is_error = false;
    for (const std::string_view line : split_lines(extract)) {
        if (line == reference) continue;
        const bool tells = tells_of_error(line);
        if (is_error && !tells) continue;
        is_error = tells;
        last = line;
    }
    return std::string(reference) + "\n" + std::string(grapheme_prefix(last, most_bytes));
}

std::optional<std::string> folded_output(std::string_view text, std::string_view reference, std::size_t head) {
    constexpr std::size_t least_gain = 80;
    const std::string plain = without_colours(text);
    std::string out;
    std::string_view path;  // of the hit before
    std::optional<std::string_view> last;
    std::size_t equal = 0;
    const auto add = [&](std::string_view line) { out.append(out.empty() ? "" : "\n").append(line); };
    const auto close_equal = [&] {
        if (equal > 0) add("[.. " + std::to_string(equal) + " equal]");
        equal = 0;
    };
    for (const std::string_view raw : split_lines(plain)) {
        const std::string_view line = last_written(raw);
        if (last == line && !is_blank(line)) {
            ++equal;
            continue;
        }
        close_equal();
        last = line;
        const std::size_t end = hit_path(line);
        const bool repeats = end > 0 && line.substr(0, end - 1) == path && out.size() >= head;
        if (end > 0) path = line.substr(0, end - 1);
        add(repeats ? line.substr(end) : line);
    }
    close_equal();
    const std::size_t place = out.find('\n', head);
    if (place == std::string::npos || out.compare(0, head, text.substr(0, head)) != 0) return std::nullopt;
    out.insert(place, "\n" + std::string(reference));
    if (out.size() + least_gain > text.size()) return std::nullopt;
    return out;
}

}  // namespace whittle::inline v0::detail
