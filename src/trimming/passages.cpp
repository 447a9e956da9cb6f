#include "read_form.hpp"

#include "whittle/base/text.hpp"
#include "whittle/conversation/detail/stored_objects.hpp"
#include "whittle/trimming/detail/line_forms.hpp"
#include "whittle/trimming/detail/result_class.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

// Which passages of a result stay: those that the conversation has come back to.

namespace whittle::inline v0::detail {

namespace {

/// Columns in front of what a line says; a tabulator counts as four.
int indent_of(std::string_view line) noexcept {
    constexpr int most = 40;
    int columns = 0;
    for (const char c : line) {
        if (c != ' ' && c != '\t') break;
        columns += c == '\t' ? 4 : 1;
    }
    return std::min(columns, most);
}

/// Ends what stands in front of it.
bool is_end(std::string_view line) noexcept {
    constexpr std::array<std::string_view, 5> ends{"}", ")", "]", "end", "</"};
    const std::string_view text = trim_view(line);
    return std::ranges::any_of(ends, [&](std::string_view end) { return text.starts_with(end); });
}

/// Begins something whatever stands around it.
bool is_head(std::string_view line) noexcept {
    constexpr std::array<std::string_view, 8> heads{"@@",       "diff --git ", "*** ",    "--- FAIL",
                                                    "=== RUN ", "Traceback ",  "commit ", "# "};
    return std::ranges::any_of(heads, [&](std::string_view head) { return line.starts_with(head); });
}

/// What a break in front of line `i` costs.
int cost_of_break(std::span<const std::string_view> lines, std::size_t i) noexcept {
    constexpr int cost_of_column = 4;
    constexpr int cost_without_blank = 60;
    constexpr int cost_before_end = 120;
    constexpr int cost_before_blank = 200;
    constexpr int gain_before_head = 100;
    if (is_blank(lines[i])) return cost_before_blank;
    int cost = cost_of_column * indent_of(lines[i]);
    if (!is_blank(lines[i - 1])) cost += cost_without_blank;
    if (is_end(lines[i])) cost += cost_before_end;
    if (is_head(lines[i])) cost -= gain_before_head;
    return cost;
}

std::string amount_of(std::uint64_t lines, std::uint64_t bytes, bool is_chinese) {
    if (lines == 1) return is_chinese ? fmt::format("{} 字节", bytes) : fmt::format("{} bytes", bytes);
    return is_chinese ? fmt::format("{} 行", lines) : fmt::format("{} lines", lines);
}

constexpr std::size_t enough_lines = 8;     // that speak for a passage
constexpr std::size_t least_bytes = 300;    // of all that stays: for less, nothing does
constexpr std::size_t usual_bytes = 4'000;  // one passage of that size may be more than its share

/// How much of a stretch a newer result has that is still in the request, by lines that say something.
class InNewer {
public:
    InNewer(const LineIndex& index, int since) : index_(index), since_(since) {}

    void add(LineId line) noexcept {
        if (line == 0) return;
        ++telling_;
        newer_ += index_.in_sent_result(line) > since_ ? 1 : 0;
    }
    [[nodiscard]] bool is_nearly_all(std::size_t fewest) const noexcept {
        return telling_ >= fewest && 20 * newer_ >= 19 * telling_;
    }

private:
    const LineIndex& index_;
    int since_;
    std::size_t telling_ = 0;
    std::size_t newer_ = 0;
};

struct Passage {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::size_t bytes = 0;
    std::size_t spoken_for = 0;  // lines
    bool is_outcome = false;     // the end of an output that is not old, or an error in it

    void add_outcome(std::size_t lines) noexcept {
        spoken_for += lines;
        is_outcome = true;
    }
};

/// A line that came up again since it came speaks for its passage. One that is frequent is no reference.
class References {
public:
    References(const LineIndex& index, int since, int oldest) : index_(index), since_(since), oldest_(oldest) {}

    void count(LineId line) { ++times_[line]; }
    [[nodiscard]] bool has(LineId line) const {
        constexpr int frequent = 3;  // times in the text
        constexpr int frequent_in_results = 5;
        const int touched = index_.touched(line);
        return line != 0 && touched > since_ && touched >= oldest_ && times_.at(line) < frequent &&
               index_.results(line) < frequent_in_results;
    }

private:
    const LineIndex& index_;
    int since_;
    int oldest_;
    std::unordered_map<LineId, int> times_{};
};

/// Which passages stay: the best ones, as long as they fit and make few stretches.
std::vector<bool> choose(std::span<const Passage> passages, std::size_t most_stretches, std::size_t most_bytes) {
    std::vector<std::size_t> best_first;
    for (std::size_t i = 0; i < passages.size(); ++i) {
        if (passages[i].spoken_for >= enough_lines) best_first.push_back(i);
    }
    std::ranges::stable_sort(best_first, std::ranges::greater{}, [&](std::size_t i) { return passages[i].spoken_for; });
    std::vector<bool> stays(passages.size());
    std::size_t stretches = 0;
    std::size_t bytes = 0;
    bool has_outcome = false;
    for (const std::size_t i : best_first) {
        const bool is_behind_one = i > 0 && stays[i - 1];
        const bool is_before_one = i + 1 < stays.size() && stays[i + 1];
        const std::size_t then = stretches + 1 - (is_behind_one ? 1U : 0U) - (is_before_one ? 1U : 0U);
        const std::size_t limit = bytes == 0 ? std::max(most_bytes, usual_bytes) : most_bytes;
        if (then > most_stretches || bytes + passages[i].bytes > limit) continue;
        stretches = then;
        bytes += passages[i].bytes;
        has_outcome = has_outcome || passages[i].is_outcome;
        stays[i] = true;
    }
    if (bytes < least_bytes && !has_outcome) stays.assign(stays.size(), false);
    return stays;
}

}  // namespace

LineRanges cut_into_passages(std::span<const std::string_view> lines, std::size_t most_lines) {
    const std::size_t most = std::max<std::size_t>(most_lines, 1);
    const std::size_t least = std::max<std::size_t>(most / 4, 1);
    LineRanges passages;
    for (std::size_t first = 0; first < lines.size();) {
        std::size_t end = lines.size();
        if (lines.size() - first > most) {
            end = first + most;
            int lowest = cost_of_break(lines, end);
            for (std::size_t i = end - 1; i >= first + least; --i) {
                const int cost = cost_of_break(lines, i);
                if (cost >= lowest) continue;
                lowest = cost;
                end = i;
            }
        }
        passages.emplace_back(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end));
        first = end;
    }
    return passages;
}

/// Lines speak for a passage that came up again since, and of an output that is not old its end and its errors. What a
/// newer result has needs none.
std::vector<bool> ReadForm::find_passages(const LineIndex& index, const TrimmingRules& rules, int since, int now,
                                          bool is_output) const {
    constexpr int outcome_age_calls = 40;     // up to which the end and the errors of an output speak for themselves
    constexpr std::size_t most_passages = 3;  // that stay
    std::vector<std::string_view> lines;
    std::vector<std::size_t> places;
    References references(index, since, now - rules.passage_age_calls);
    for (std::size_t i = 0; i < items_.size(); ++i) {
        if (items_[i].gap > 0) continue;
        lines.push_back(line(items_[i]).substr(items_[i].number));
        places.push_back(i);
        references.count(items_[i].id);
    }
    const bool has_outcome = is_output && since >= now - outcome_age_calls;
    std::size_t bytes = 0;
    std::vector<Passage> passages;
    for (const auto& [first, last] : cut_into_passages(lines, static_cast<std::size_t>(rules.passage_lines))) {
        Passage& passage = passages.emplace_back(Passage{.first = first, .last = last});
        InNewer in_newer(index, since);
        for (std::uint32_t n = first; n < last; ++n) {
            const Item& item = items_[places[n]];
            passage.bytes += item.size + 1;
            if (references.has(item.id)) ++passage.spoken_for;
            if (has_outcome && tells_of_error(line(item))) passage.add_outcome(enough_lines / 4);
            in_newer.add(item.id);
        }
        if (has_outcome && last == lines.size()) passage.add_outcome(enough_lines);
        if (in_newer.is_nearly_all(1)) passage.spoken_for = 0;
        bytes += passage.bytes;
    }
    const bool is_whole = places.size() == items_.size();  // what stays of it is no less later: only references end
    const std::vector<bool> chosen = choose(passages, most_passages, is_whole ? bytes / 2 : bytes);
    std::vector<bool> stays(items_.size());
    for (std::size_t p = 0; p < passages.size(); ++p) {
        for (std::uint32_t n = passages[p].first; n < passages[p].last; ++n) stays[places[n]] = chosen[p];
    }
    return stays;
}

bool ReadForm::stands_in_newer(const LineIndex& index, int since) const noexcept {
    constexpr std::size_t fewest = 4;
    InNewer in_newer(index, since);
    for (const Item& item : items_) in_newer.add(item.id);
    return in_newer.is_nearly_all(fewest);
}

std::string TextMark::of_lines(std::uint64_t first, std::uint64_t lines) const {
    const std::uint64_t last = first + lines - 1;
    const std::string way =
        way_back(reference, reader, language, fmt::format(", first_line={}, lines={}", first, lines));
    if (language == Language::chinese) return fmt::format("[省略本结果第 {}-{} 行{}]", first, last, way);
    if (lines == 1) return fmt::format("[line {} of this result left out{}]", first, way);
    return fmt::format("[lines {}-{} of this result left out{}]", first, last, way);
}

std::string TextMark::of_result(std::uint64_t lines, std::uint64_t bytes) const {
    const bool is_chinese = language == Language::chinese;
    const std::string way = way_back(reference, reader, language);
    const std::string amount = amount_of(lines, bytes, is_chinese);
    return is_chinese ? fmt::format("[省略本结果全部 {}{}]", amount, way)
                      : fmt::format("[all {} of this result left out{}]", amount, way);
}

/// What is stored of a call is the whole call.
std::string TextMark::of_argument(std::string_view name, std::uint64_t lines, std::uint64_t bytes) const {
    constexpr std::size_t longest_name = 40;
    const bool is_chinese = language == Language::chinese;
    std::string way = way_back(reference, reader, language);
    if (!way.empty() && reader == read_offloaded_name) way += is_chinese ? " 给出整个调用" : " gives this whole call";
    const std::string amount = amount_of(lines, bytes, is_chinese);
    if (name.empty() || name.size() > longest_name) name = is_chinese ? "此参数" : "this argument";
    return is_chinese ? fmt::format("[省略 {} 的 {}{}]", name, amount, way)
                      : fmt::format("[{} of {} left out{}]", amount, name, way);
}

}  // namespace whittle::inline v0::detail
