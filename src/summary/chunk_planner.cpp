#include "whittle/summary/detail/chunk_planner.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>

namespace whittle::inline v0 {
namespace {

/// `prefix`, cut back to its last line border unless that costs more than a quarter of it.
std::string_view to_line_border(std::string_view prefix) noexcept {
    const std::size_t feed = prefix.rfind('\n');
    if (feed == std::string_view::npos || feed + 1 < prefix.size() - prefix.size() / 4) return prefix;
    return prefix.substr(0, feed + 1);
}

}  // namespace

std::string_view longest_prefix(std::string_view text, std::size_t first_guess,
                                FunctionRef<bool(std::string_view)> fits) {
    std::size_t good = 0;
    std::size_t bad = text.size() + 1;
    for (std::size_t length = std::max<std::size_t>(first_guess, detail::longest_character);; length *= 2) {
        const std::string_view prefix = grapheme_prefix(text, length);
        if (!fits(prefix)) {
            bad = prefix.size();
            break;
        }
        if (prefix.size() == text.size()) return text;
        good = prefix.size();
    }
    while (bad - good > std::max(detail::longest_character, good / 64)) {
        const std::string_view prefix = grapheme_prefix(text, good + (bad - good) / 2);
        if (prefix.size() <= good) break;
        (fits(prefix) ? good : bad) = prefix.size();
    }
    for (std::size_t length = 1; good == 0 && length <= detail::longest_character; ++length) {
        const std::string_view prefix = grapheme_prefix(text, length);
        if (!prefix.empty() && fits(prefix)) good = prefix.size();
    }
    return to_line_border(text.substr(0, good));
}

std::string head_and_tail(std::string_view text, std::int64_t max_tokens, const TokenCounter& counter,
                          Language language) {
    if (counter.count(text) <= max_tokens) return std::string(text);
    const std::string_view note = language == Language::chinese ? "\n[... 此处省略 ...]\n" : "\n[... left out ...]\n";
    const std::int64_t room = sub_saturating(max_tokens, add_saturating(counter.count(note), 1));
    if (room <= 0) return {};
    const std::size_t guess = static_cast<std::size_t>(room) * 2;
    const std::string_view head =
        longest_prefix(text, guess, [&](std::string_view prefix) { return counter.count(prefix) <= room / 3 * 2; });
    std::string_view tail = text.substr(head.size());
    for (std::size_t size = tail.size(); counter.count(tail) > room / 3 && !tail.empty(); size = size / 8 * 7)
        tail = grapheme_suffix(tail, size);
    std::string kept(head);
    kept += note;
    return kept += tail;
}

struct ChunkPlanner::Draft {
    ChunkPlan plan{};
    std::int64_t units = 0;
    std::int64_t max_tokens = 0;
    std::size_t frame_bytes = 0;

    /// The length of a text that may fit.
    [[nodiscard]] std::size_t likely_bytes() const noexcept {
        return static_cast<std::size_t>(std::clamp<std::int64_t>(max_tokens, 16, 1 << 24)) * 4;
    }
    [[nodiscard]] bool shows(const Mark& mark) const noexcept { return mark.text > frame_bytes; }
};

ChunkPlanner::Draft ChunkPlanner::begin_draft(FoldPosition from, const DataFrame& frame,
                                              std::int64_t max_tokens) const {
    Draft draft{{.text = frame.before, .next = from},
                counter_.measure_units(frame.before + frame.after),
                max_tokens,
                frame.before.size()};
    std::size_t bytes = frame.before.size() + frame.after.size();
    for (std::size_t i = from.message; i < members_.size(); ++i) bytes += members_[i].bytes;
    draft.plan.text.reserve(std::min(bytes, draft.likely_bytes()));
    return draft;
}

const std::vector<SummaryEntry>& ChunkPlanner::entries_of(std::size_t message) {
    if (rendered_ != message) {
        entries_ = render_(message);
        rendered_ = message;
    }
    return entries_;
}

std::size_t ChunkPlanner::end_of_group(std::size_t message) const noexcept {
    const Serial group = members_[message].group;
    std::size_t end = message + 1;
    while (group != 0 && end < members_.size() && members_[end].group == group) ++end;
    return end;
}

bool ChunkPlanner::fits(const Draft& draft, std::string_view text) const {
    return counter_.to_tokens(add_saturating(draft.units, counter_.measure_units(text))) <= draft.max_tokens;
}

ChunkPlanner::Mark ChunkPlanner::mark(const Draft& draft) noexcept {
    return {draft.plan.pieces.size(), draft.plan.text.size(), draft.units, draft.plan.next};
}

void ChunkPlanner::cut_back(Draft& draft, const Mark& to) {
    draft.plan.pieces.resize(to.pieces);
    draft.plan.text.resize(to.text);
    draft.plan.next = to.next;
    draft.units = to.units;
}

/// Writes it in its place and measures it there: no text is copied twice.
bool ChunkPlanner::append_if_fits(Draft& draft, const SummaryEntry& entry, std::string_view body) const {
    const std::size_t begin = draft.plan.text.size();
    append_text(draft.plan.text, entry, body, draft.plan.next.byte > 0);
    const std::int64_t units =
        add_saturating(draft.units, counter_.measure_units(std::string_view(draft.plan.text).substr(begin)));
    if (counter_.to_tokens(units) > draft.max_tokens) {
        draft.plan.text.resize(begin);
        return false;
    }
    draft.units = units;
    return true;
}

/// Appends the longest prefix of `rest` that fits; absent if there is none.
std::optional<std::string_view> ChunkPlanner::take_stretch(Draft& draft, const SummaryEntry& entry,
                                                           std::string_view rest) const {
    if (rest.size() <= draft.likely_bytes() && append_if_fits(draft, entry, rest)) return rest;
    const std::string_view stretch = longest_prefix(rest, draft.likely_bytes(), [&](std::string_view prefix) {
        return fits(draft, to_text(entry, prefix, draft.plan.next.byte > 0));
    });
    if (stretch.empty() && !rest.empty()) return std::nullopt;
    return append_if_fits(draft, entry, stretch) ? std::optional(stretch) : std::nullopt;
}

/// As much as fits of the entry at `next`. Whether that is all of it.
bool ChunkPlanner::take_entry(Draft& draft, bool is_last) {
    FoldPosition& at = draft.plan.next;
    const SummaryEntry& entry = entries_[at.entry];
    at.byte = std::min(at.byte, entry.body.size());
    const std::string_view rest = std::string_view(entry.body).substr(at.byte);
    const auto stretch = take_stretch(draft, entry, rest);
    if (!stretch) return false;
    const bool is_whole = stretch->size() == rest.size();
    const std::size_t end = at.byte + stretch->size();
    draft.plan.pieces.push_back({members_[at.message].serial, at.entry, static_cast<std::int64_t>(at.byte),
                                 static_cast<std::int64_t>(end), is_whole && is_last});
    at.entry += is_whole ? 1 : 0;
    at.byte = is_whole ? 0 : end;
    return is_whole;
}

/// As much as fits of the message at `next`. Whether that is all of it.
bool ChunkPlanner::take_message(Draft& draft) {
    const std::vector<SummaryEntry>& entries = entries_of(draft.plan.next.message);
    if (entries.empty()) draft.plan.pieces.push_back({.serial = members_[draft.plan.next.message].serial});
    while (draft.plan.next.entry < entries.size()) {
        if (!take_entry(draft, draft.plan.next.entry + 1 == entries.size())) return false;
    }
    draft.plan.next = {draft.plan.next.message + 1, 0, 0};
    return true;
}

/// The rest of the tool round at `next`, or those of its messages that fit, or a stretch of the first of them. Whether
/// that is all of it.
bool ChunkPlanner::take_group(Draft& draft) {
    const std::size_t end = end_of_group(draft.plan.next.message);
    while (draft.plan.next.message < end) {
        const Mark before = mark(draft);
        if (take_message(draft)) continue;
        if (draft.shows(before)) cut_back(draft, before);
        return false;
    }
    return true;
}

ChunkPlan ChunkPlanner::plan(FoldPosition from, const DataFrame& frame, std::int64_t max_tokens) {
    Draft draft = begin_draft(from, frame, max_tokens);
    while (draft.plan.next.message < members_.size()) {
        const Mark before_group = mark(draft);
        if (take_group(draft)) continue;
        if (draft.shows(before_group)) cut_back(draft, before_group);  // the round begins the next chunk
        break;
    }
    return std::move(draft.plan);
}

}  // namespace whittle::inline v0
