#include "read_form.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace whittle::inline v0::detail {

namespace {

constexpr std::size_t longest_text = std::numeric_limits<std::uint32_t>::max() / 2;
constexpr std::size_t least_run_bytes = 32;  // of lines that are worth a marker
constexpr int no_call = std::numeric_limits<int>::max();

}  // namespace

std::string without_reminders(std::string_view text) {
    constexpr std::string_view open = "<system-reminder>";
    constexpr std::string_view close = "</system-reminder>";
    std::string left;
    for (std::size_t at = text.find(open); at != std::string_view::npos; at = text.find(open)) {
        const std::size_t end = text.find(close, at);
        if (end == std::string_view::npos) break;
        std::size_t front = at;
        while (front > 0 && text[front - 1] == '\n') --front;
        left.append(text.substr(0, front)).append("\n");
        text.remove_prefix(end + close.size());
        while (text.starts_with('\n')) text.remove_prefix(1);
    }
    return left.append(text);
}

ReadForm::ReadForm(std::string_view text, const ResultForm& form, TrimUnit unit, LineIndex& index)
    : text_(unit == TrimUnit::lines ? without_reminders(text) : std::string(text)),
      marks_(form.marks),
      strips_(unit == TrimUnit::lines && form.marks == LineMarks::numbers) {
    if (text_.size() > longest_text) text_.resize(longest_text);
    for (const std::string_view line : split_lines(text_)) {
        const LineNumber number = marks_ == LineMarks::numbers ? line_number(line) : LineNumber{};
        Item& item = items_.emplace_back();
        item.begin = static_cast<std::uint32_t>(line.data() - text_.data());
        item.size = static_cast<std::uint32_t>(line.size());
        item.number = static_cast<std::uint32_t>(number.bytes);
        item.blanks = static_cast<std::uint32_t>(number.blanks);
        item.id = index.id_of(normal_line(line, marks_));
    }
}

/// Short lines go with the telling ones between which they stand.
void ReadForm::drop_shown(std::size_t first, int since, const LineIndex& index) {
    std::vector<Item> left(items_.begin(),
                           items_.begin() + static_cast<std::ptrdiff_t>(std::min(first, items_.size())));
    const auto is_elsewhere = [&](const Item& item) {
        return item.gap == 0 && item.id != 0 && (index.shown(item.id) > 0 || index.died(item.id) > since);
    };
    const auto is_short = [](const Item& item) { return item.gap == 0 && item.id == 0; };
    for (std::size_t a = left.size(); a < items_.size();) {
        std::size_t b = a;
        std::size_t bytes = 0;
        bool has_telling = false;
        for (; b < items_.size() && (is_short(items_[b]) || is_elsewhere(items_[b])); ++b) {
            bytes += items_[b].size + 1;
            has_telling = has_telling || items_[b].id != 0;
        }
        if (has_telling && bytes > least_run_bytes) {
            left.push_back({.gap = static_cast<std::uint32_t>(b - a)});
            a = b;
        } else {
            b = std::max(b, a + 1);
            for (; a < b; ++a) left.push_back(items_[a]);
        }
    }
    items_ = std::move(left);
}

void ReadForm::find_rare_words() {
    constexpr int most_lines = 3;  // of the text, that have a rare word
    knows_rare_ = true;
    std::unordered_map<std::uint64_t, std::pair<int, std::size_t>> lines;  // -> in how many, in which one last
    const auto visit_words = [&](const Item& item, auto&& visit) {
        if (item.gap == 0 && item.id != 0)
            for_each_ident(line(item).substr(item.number),
                           [&](std::string_view word) { visit(LineIndex::word_hash(word)); });
    };
    for (std::size_t i = 0; i < items_.size(); ++i) {
        visit_words(items_[i], [&](std::uint64_t word) {
            auto& [count, last] = lines.try_emplace(word, 0, items_.size()).first->second;
            if (last != i) ++count;
            last = i;
        });
    }
    for (Item& item : items_) {
        item.words = static_cast<std::uint32_t>(rare_.size());
        visit_words(item, [&](std::uint64_t word) {
            if (lines.at(word).first <= most_lines) rare_.push_back(word);
        });
        item.words_end = static_cast<std::uint32_t>(rare_.size());
    }
}

/// The age at which each line goes.
std::vector<int> ReadForm::find_ages(const LineAges& ages) const {
    std::vector<int> found(items_.size(), ages.other);
    const auto reach = static_cast<std::size_t>(ages.near_lines);
    for (std::size_t i = 0; i < items_.size(); ++i) {
        if (items_[i].words == items_[i].words_end) continue;
        const std::size_t end = std::min(items_.size(), i + reach + 1);
        for (std::size_t n = i - std::min(i, reach); n < end; ++n) found[n] = std::max(found[n], ages.rare);
    }
    return found;
}

/// What says too little by itself goes with what goes beside it.
void ReadForm::take_short_neighbours(std::vector<bool>& stays) const {
    std::vector<bool> left = stays;
    for (std::size_t i = 0; i < items_.size(); ++i) {
        if (items_[i].gap > 0 || items_[i].id != 0) continue;
        if ((i > 0 && is_gone(i - 1, left)) || (i + 1 < items_.size() && is_gone(i + 1, stays))) left[i] = false;
    }
    stays = std::move(left);
}

std::vector<bool> ReadForm::find_old(const LineIndex& index, const LineAges& ages, int now, int& next) {
    if (!knows_rare_) find_rare_words();
    const std::vector<int> line_ages = find_ages(ages);
    std::vector<bool> stays(items_.size(), true);
    bool has_old = false;
    next = no_call;
    for (std::size_t i = 0; i < items_.size(); ++i) {
        if (items_[i].gap > 0 || items_[i].id == 0) continue;
        const int age = line_ages[i];
        const int last = index.touched(items_[i].id);
        stays[i] = last >= now - age;
        has_old = has_old || !stays[i];
        if (stays[i]) next = std::min(next, last + age + 1);
    }
    if (!has_old) return {};
    take_short_neighbours(stays);
    return stays;
}

void ReadForm::keep(const std::vector<bool>& lines) {
    std::string text;
    std::vector<Item> items;
    for (std::size_t i = 0; i < items_.size(); ++i) {
        if (!is_gone(i, lines)) {
            Item& item = items.emplace_back(items_[i]);
            item.begin = static_cast<std::uint32_t>(text.size());
            text.append(line(items_[i]));
        } else if (!items.empty() && items.back().gap > 0) {
            items.back().gap += items_[i].lines();
        } else {
            items.push_back({.gap = items_[i].lines()});
        }
    }
    text_ = std::move(text);
    items_ = std::move(items);
}

void ReadForm::keep(const LineRanges& lines) {
    std::vector<bool> stays(items_.size());
    for (const auto& [first, last] : lines) {
        for (std::size_t i = first; i < std::min<std::size_t>(last, stays.size()); ++i) stays[i] = true;
    }
    keep(stays);
}

std::string ReadForm::text(std::string_view reference, std::size_t whole, const std::vector<bool>& lines) const {
    GappedText out;
    if (whole == 0) out.add(reference);
    bool starts = true;  // a stretch: its first line has its number
    for (std::size_t i = 0; i < items_.size(); ++i) {
        const Item& item = items_[i];
        if (i == whole && whole > 0) out.add(reference);
        if (is_gone(i, lines)) {
            out.skip(item.lines());
            continue;
        }
        const bool is_numbered = strips_ && item.number > 0;
        if (out.gap() > 0) {
            starts = true;
            if (is_numbered) out.close_gap("..");
        }
        out.add(line(item).substr(!is_numbered || i < whole ? 0 : starts ? item.blanks : item.number));
        if (i >= whole) starts = false;
    }
    return out.take();
}

std::string ReadForm::text_with_marks(const std::vector<bool>& lines, Mark mark) const {
    GappedText out;
    std::uint64_t number = 1;
    const auto mark_gap = [&] {
        if (out.gap() > 0) out.close_gap(mark(number - out.gap(), out.gap()));
    };
    for (std::size_t i = 0; i < items_.size(); ++i) {
        if (is_gone(i, lines)) {
            out.skip(items_[i].lines());
        } else {
            mark_gap();
            out.add(line(items_[i]));
        }
        number += items_[i].lines();
    }
    mark_gap();
    return out.take();
}

std::size_t ReadForm::lines_with(std::size_t bytes) const noexcept {
    std::size_t lines = 0;
    for (std::size_t sum = 0; lines < items_.size() && sum < bytes; ++lines) sum += items_[lines].size + 1;
    return lines;
}

LineRanges ReadForm::ranges() const {
    LineRanges ranges;
    std::uint32_t at = 0;
    for (const Item& item : items_) {
        const std::uint32_t first = std::exchange(at, at + item.lines());
        if (item.gap > 0) continue;
        if (ranges.empty() || ranges.back().second != first) ranges.emplace_back(first, first);
        ranges.back().second = at;
    }
    return ranges;
}

}  // namespace whittle::inline v0::detail
