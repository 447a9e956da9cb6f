#include "passages.hpp"
#include "whittle/trimming/detail/result_class.hpp"

#include <algorithm>
#include <unordered_map>

// Which passages of a result stay: those that the conversation has come back to.

namespace whittle::inline v0::detail {

namespace {

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
};

/// Takes passages, the best first, as long as they fit and make few stretches.
class PassageChoice {
public:
    PassageChoice(std::span<const Passage> passages, std::size_t most_stretches, std::size_t most_bytes)
        : passages_(passages), most_stretches_(most_stretches), most_bytes_(most_bytes), stays_(passages.size()) {}

    [[nodiscard]] std::vector<bool> make() {
        std::vector<std::size_t> best_first;
        for (std::size_t i = 0; i < passages_.size(); ++i) {
            if (passages_[i].spoken_for >= enough_lines) best_first.push_back(i);
        }
        std::ranges::stable_sort(best_first, std::ranges::greater{},
                                 [&](std::size_t i) { return passages_[i].spoken_for; });
        for (const std::size_t i : best_first) take(i);
        if (bytes_ < least_bytes && !has_outcome_) stays_.assign(stays_.size(), false);
        return std::move(stays_);
    }

private:
    void take(std::size_t i) {
        const std::size_t neighbours =
            (i > 0 && stays_[i - 1] ? 1U : 0U) + (i + 1 < stays_.size() && stays_[i + 1] ? 1U : 0U);
        const bool fits =
            bytes_ + passages_[i].bytes <= (bytes_ == 0 ? std::max(most_bytes_, usual_bytes) : most_bytes_);
        if (!fits || stretches_ + 1 - neighbours > most_stretches_) return;
        stretches_ = stretches_ + 1 - neighbours;
        bytes_ += passages_[i].bytes;
        has_outcome_ = has_outcome_ || passages_[i].is_outcome;
        stays_[i] = true;
    }

    std::span<const Passage> passages_;
    std::size_t most_stretches_;
    std::size_t most_bytes_;
    std::vector<bool> stays_;
    std::size_t stretches_ = 0;
    std::size_t bytes_ = 0;
    bool has_outcome_ = false;
};

}  // namespace

/// How many lines of each passage speak for it: those that came up again since, and of an output that is not old its
/// end and its errors. A line that is frequent is no reference, and what a newer result has needs none.
std::vector<bool> ReadForm::find_passages(const LineIndex& index, const PassageRules& rules, int since, int now,
                                          bool is_output) const {
    constexpr int frequent = 3;  // times in the text
    constexpr int frequent_in_results = 5;
    std::vector<std::string_view> lines;
    std::vector<std::size_t> places;
    std::unordered_map<LineId, int> times;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
        if (items_[i].gap > 0) continue;
        lines.push_back(line(items_[i]).substr(items_[i].number));
        places.push_back(i);
        bytes += items_[i].size + 1;
        ++times[items_[i].id];
    }
    const bool has_outcome = is_output && since >= now - rules.outcome_calls;
    const auto came_up = [&](LineId id) {
        const int touched = index.touched(id);
        return id != 0 && times[id] < frequent && index.results(id) < frequent_in_results && touched > since &&
               touched >= now - rules.age_calls;
    };
    std::vector<Passage> passages;
    for (const auto& [first, last] : cut_into_passages(lines, rules.most_lines)) {
        Passage& passage = passages.emplace_back(Passage{.first = first, .last = last});
        InNewer in_newer(index, since);
        for (std::uint32_t n = first; n < last; ++n) {
            const Item& item = items_[places[n]];
            passage.bytes += item.size + 1;
            if (came_up(item.id)) ++passage.spoken_for;
            if (has_outcome && tells_of_error(line(item))) {
                passage.spoken_for += enough_lines / 4;
                passage.is_outcome = true;
            }
            in_newer.add(item.id);
        }
        if (has_outcome && last == lines.size()) {
            passage.spoken_for += enough_lines;
            passage.is_outcome = true;
        }
        if (in_newer.is_nearly_all(1)) passage.spoken_for = 0;
    }
    const bool is_whole = places.size() == items_.size();  // what stays of it is no less later: only references end
    const std::vector<bool> chosen = PassageChoice(passages, rules.most_passages, is_whole ? bytes / 2 : bytes).make();
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

std::string ReadForm::text_with_marks(const std::vector<bool>& lines, Mark mark) const {
    std::string out;
    std::uint64_t number = 1;
    std::uint64_t gap = 0;
    bool is_first = true;
    const auto add = [&](std::string_view text) {
        if (!std::exchange(is_first, false)) out += '\n';
        out.append(text);
    };
    const auto close_gap = [&] {
        if (gap > 0) add(mark(number - gap, gap));
        gap = 0;
    };
    for (std::size_t i = 0; i < items_.size(); ++i) {
        const std::uint32_t size = std::max(items_[i].gap, 1U);
        if (items_[i].gap > 0 || (!lines.empty() && !lines[i])) {
            gap += size;
        } else {
            close_gap();
            add(line(items_[i]));
        }
        number += size;
    }
    close_gap();
    return out;
}

}  // namespace whittle::inline v0::detail
