#include "entries.hpp"

#include "whittle/anthropic/anthropic.hpp"
#include "whittle/base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

/// Whether it is a message that an adapter takes; the reason why not goes to `reason`.
bool is_message(const ordered_json& message, bool is_anthropic, std::string& reason) {
    reason =
        is_anthropic ? anthropic::detail::reason_not_a_message(message) : openai::detail::reason_not_a_message(message);
    return reason.empty();
}

/// The call, without usage that is no bill.
Call&& without_zeros(Call&& call) noexcept {
    if (!is_bill(call.usage)) call.usage.reset();
    return std::move(call);
}

/// The call that gave the message, at the time of that unless another one is known.
Call take_call(Entry& entry) {
    Call call = *std::move(entry.call);
    if (!call.time) call.time = entry.time;
    return call;
}

/// Whether a message holds U+FFFD and is of a record that was mended, or of those in front of `next_line`: a reply may
/// be made of several.
bool was_mended(const Entry& entry, std::size_t next_line, const LogNotes& notes) {
    if (notes.repaired == 0) return false;
    const auto line = notes.repaired_lines.lower_bound(entry.line);
    const bool is_of_its_lines = line != notes.repaired_lines.end() && (*line == entry.line || *line < next_line);
    return (is_of_its_lines || notes.repaired_lines.contains(0)) && detail::holds_replacement(entry.message);
}

/// `digits` decimal digits at `at`, or nothing.
std::optional<int> digits_at(std::string_view text, std::size_t at, std::size_t digits) noexcept {
    if (at > text.size() || text.size() - at < digits) return std::nullopt;
    int value = 0;
    const char* const end = text.data() + at + digits;
    const auto [read, error] = std::from_chars(text.data() + at, end, value);
    if (error != std::errc() || read != end || value < 0) return std::nullopt;
    return value;
}

/// Days since 1970-01-01 in the Gregorian calendar (Howard Hinnant, "chrono-compatible low-level date algorithms").
std::int64_t days_of(int year, int month, int day) noexcept {
    const int y = month <= 2 ? year - 1 : year;
    const int era = (y >= 0 ? y : y - 399) / 400;
    const int of_era = y - era * 400;
    const int of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return std::int64_t{era} * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
}

/// Seconds that the local time is ahead: "Z" or nothing, "+02:00", "-0530".
std::optional<int> offset_of(std::string_view zone) noexcept {
    if (zone.empty() || zone == "Z" || zone == "z") return 0;
    if (zone.front() != '+' && zone.front() != '-') return std::nullopt;
    const auto hours = digits_at(zone, 1, 2);
    const auto minutes = digits_at(zone, zone.size() > 3 && zone[3] == ':' ? 4 : 3, 2);
    if (!hours || !minutes) return std::nullopt;
    const int ahead = *hours * 3'600 + *minutes * 60;
    return zone.front() == '-' ? -ahead : ahead;
}

/// With how long what was written lives, where `by_age` tells that as Anthropic does; null: nothing does.
Usage with_lifetimes_of(const Usage& usage, const ordered_json* by_age) {
    if (by_age == nullptr) return usage;
    return usage.with_lifetimes(count_at(*by_age, "ephemeral_5m_input_tokens"),
                                count_at(*by_age, "ephemeral_1h_input_tokens"));
}

/// Of an input that holds what the cache did; `details` has that, or else, as some providers write it, the usage
/// itself.
Usage usage_with_details(const ordered_json& usage, const ordered_json* details, const char* input,
                         const char* output) {
    const auto detail = [&](const char* key) { return details == nullptr ? 0 : count_at(*details, key); };
    const std::int64_t read = std::max({detail("cached_tokens"), count_at(usage, "prompt_cache_hit_tokens"),
                                        count_at(usage, "cache_read_input_tokens")});
    const std::int64_t written = std::max({detail("cache_write_tokens"), detail("cache_creation_tokens"),
                                           count_at(usage, "cache_creation_input_tokens")});
    const Usage counts{.uncached_input = count_at(usage, input),
                       .cache_read = read,
                       .cache_write = written,
                       .output = count_at(usage, output)};
    const ordered_json* by_age = details == nullptr ? nullptr : tree_at(*details, "cache_creation_token_details");
    return usage_by_total(with_lifetimes_of(counts, by_age == nullptr ? tree_at(usage, "cache_creation") : by_age),
                          count_at(usage, "total_tokens"), CachePlace::in_input);
}

}  // namespace

std::size_t memory_of(const ordered_json& value) {
    constexpr std::size_t of_value = 16;
    constexpr std::size_t of_text = 32;
    std::size_t bytes = 0;
    std::vector<const ordered_json*> open{&value};
    while (!open.empty()) {
        const ordered_json& one = *open.back();
        open.pop_back();
        bytes += of_value;
        if (one.is_string()) bytes += of_text + one.get_ref<const std::string&>().size();
        if (!one.is_structured()) continue;
        bytes += of_text;
        if (one.is_object()) {
            for (const auto& [key, member] : one.items()) bytes += of_text + key.size();
        }
        for (const ordered_json& child : one) open.push_back(&child);
    }
    return bytes;
}

std::size_t Entries::add(Entry entry) {
    entries_.push_back(std::move(entry));
    return entries_.size() - 1;
}

std::size_t Entries::add_in_front_of_compaction(Entry entry) {
    if (was_compacted_here()) ++rows_.back().before;
    return add(std::move(entry));
}

void Entries::insert_all(std::vector<std::pair<std::size_t, Entry>> entries) {
    if (entries.empty()) return;
    const auto is_behind = [](std::size_t place, const auto& one) { return place < one.first; };
    for (Row& row : rows_)
        row.before += static_cast<std::size_t>(std::upper_bound(entries.begin(), entries.end(), row.before, is_behind) -
                                               entries.begin());
    std::vector<Entry> all;
    all.reserve(entries_.size() + entries.size());
    auto next = entries.begin();
    for (std::size_t at = 0; at <= entries_.size(); ++at) {
        for (; next != entries.end() && next->first == at; ++next) all.push_back(std::move(next->second));
        if (at < entries_.size()) all.push_back(std::move(entries_[at]));
    }
    entries_ = std::move(all);
}

void Entries::truncate(std::size_t size) {
    for (std::size_t i = size; i < entries_.size(); ++i) {
        if (entries_[i].call) bill_elsewhere(take_call(entries_[i]));
    }
    entries_.resize(std::min(size, entries_.size()));
    while (!rows_.empty() && rows_.back().before > entries_.size()) undo_compaction();
}

void Entries::bill_elsewhere(Call call) {
    if (!call.time && !entries_.empty()) call.time = entries_.back().time;
    elsewhere_.push_back(without_zeros(std::move(call)));
}

Compaction& Entries::compact_at(std::size_t place) {
    if (rows_.empty() || rows_.back().before != place) rows_.push_back({place, compactions_.size()});
    return compactions_.emplace_back();
}

void Entries::undo_compaction() {
    compactions_.pop_back();
    if (rows_.back().first == compactions_.size()) rows_.pop_back();
}

bool Entries::was_compacted_here() const noexcept { return !rows_.empty() && rows_.back().before == entries_.size(); }

void Entries::finish(Session& session, bool is_anthropic, LogNotes& notes) {
    std::optional<double> start;
    bool has_times = false;
    std::size_t read = 0;
    auto row = rows_.begin();
    const auto settle = [&](std::size_t reached) {
        for (; row != rows_.end() && row->before <= reached; ++row) {
            const std::size_t end = std::next(row) == rows_.end() ? compactions_.size() : std::next(row)->first;
            for (std::size_t i = row->first; i < end; ++i) compactions_[i].before = session.recording.messages.size();
        }
    };
    std::string reason;
    for (Entry& entry : entries_) {
        settle(read++);
        const std::size_t next_line = read < entries_.size() ? entries_[read].line : SIZE_MAX;
        if (!is_message(entry.message, is_anthropic, reason)) {
            note_damage(notes, entry.line, reason);
            if (entry.call) bill_elsewhere(take_call(entry));
            continue;
        }
        if (was_mended(entry, next_line, notes))
            session.recording.messages_with_invalid_utf8.push_back(session.recording.messages.size());
        if (!start) start = entry.time;
        has_times = has_times || entry.time.has_value();
        session.recording.seconds_since_first.push_back(entry.time ? std::optional(*entry.time - *start)
                                                                   : std::nullopt);
        if (entry.call) {
            Call& call = session.calls.emplace_back(without_zeros(take_call(entry)));
            call.reply = session.recording.messages.size();
            if (call.usage) session.recording.usage_by_call.push_back({call.reply, *call.usage, call.model});
        }
        session.recording.messages.emplace_back(std::move(entry.message));
    }
    settle(read);
    if (!has_times) session.recording.seconds_since_first.clear();
    for (Compaction& one : compactions_) {
        std::erase_if(one.kept,
                      [&](const ordered_json& message) { return !is_message(message, is_anthropic, reason); });
    }
    session.compactions = std::move(compactions_);
    rows_.clear();
    for (const Call& call : elsewhere_) session.billed_elsewhere += call.usage.value_or(Usage{});
    session.calls_elsewhere = static_cast<std::int64_t>(elsewhere_.size());
    session.elsewhere = std::move(elsewhere_);
}

bool is_bill(const std::optional<Usage>& usage) noexcept { return usage && *usage != Usage{}; }

Usage usage_of_sums(std::int64_t input, std::int64_t read, std::int64_t written, std::int64_t output) noexcept {
    const std::int64_t cached = add_saturating(read, written);
    return {.uncached_input = cached > input ? input : input - cached,
            .cache_read = read,
            .cache_write = written,
            .output = output};
}

bool is_total_of(const Usage& counts, std::int64_t total) noexcept {
    return total > 0 && (total == add_saturating(counts.uncached_input, counts.output) || total == counts.total());
}

Usage usage_by_total(const Usage& counts, std::int64_t total, CachePlace usual) noexcept {
    const bool is_within = total > 0 && total == add_saturating(counts.uncached_input, counts.output);
    const bool is_separate = total > 0 && total == counts.total();
    const CachePlace place = is_within == is_separate ? usual
                             : is_within              ? CachePlace::in_input
                                                      : CachePlace::outside_input;
    if (place == CachePlace::outside_input) return counts;
    return usage_of_sums(counts.uncached_input, counts.cache_read, counts.cache_write, counts.output)
        .with_lifetimes(counts.cache_write_5m, counts.cache_write_1h);
}

Usage provider_usage(const ordered_json& usage) {
    if (const ordered_json* details = tree_at(usage, "input_tokens_details"))
        return usage_with_details(usage, details, "input_tokens", "output_tokens");
    if (find_member(usage, "prompt_tokens") != nullptr)
        return usage_with_details(usage, tree_at(usage, "prompt_tokens_details"), "prompt_tokens", "completion_tokens");
    const Usage counts{.uncached_input = count_at(usage, "input_tokens"),
                       .cache_read = count_at(usage, "cache_read_input_tokens"),
                       .cache_write = count_at(usage, "cache_creation_input_tokens"),
                       .output = count_at(usage, "output_tokens")};
    return with_lifetimes_of(counts, tree_at(usage, "cache_creation"));
}

void note_damage(LogNotes& notes, std::size_t line, std::string_view reason) {
    ++notes.damaged;
    if (notes.damaged_lines.size() < max_damaged_lines) notes.damaged_lines.push_back({line, std::string(reason)});
}

void note_repaired(LogNotes& notes, std::size_t line) {
    constexpr std::size_t most = 100'000;
    if (notes.repaired_lines.contains(line) && line != 0) return;
    ++notes.repaired;
    if (notes.repaired_lines.size() < most) notes.repaired_lines.insert(line);
}

std::optional<double> to_seconds(std::string_view iso8601) noexcept {
    const auto year = digits_at(iso8601, 0, 4);
    const auto month = digits_at(iso8601, 5, 2);
    const auto day = digits_at(iso8601, 8, 2);
    const auto hour = digits_at(iso8601, 11, 2);
    const auto minute = digits_at(iso8601, 14, 2);
    const auto second = digits_at(iso8601, 17, 2);
    if (!year || !month || !day || !hour || !minute || !second || *month < 1 || *month > 12) return std::nullopt;
    std::size_t at = 19;
    double fraction = 0;
    if (at < iso8601.size() && iso8601[at] == '.') {
        double unit = 0.1;
        for (++at; at < iso8601.size() && iso8601[at] >= '0' && iso8601[at] <= '9'; ++at, unit /= 10)
            fraction += unit * (iso8601[at] - '0');
    }
    const auto ahead = offset_of(iso8601.substr(at));
    if (!ahead) return std::nullopt;
    const std::int64_t whole =
        days_of(*year, *month, *day) * 86'400 + *hour * 3'600 + *minute * 60 + *second - std::int64_t{*ahead};
    return static_cast<double>(whole) + std::round(fraction * 1'000) / 1'000;
}

void hand_over(Session&& session, LogNotes& notes, FunctionRef<void(Session&&)> visit) {
    const bool is_billed =
        std::ranges::any_of(session.elsewhere, [](const Call& call) { return call.usage.has_value(); });
    if (!is_bill(session.billed_in_all)) session.billed_in_all.reset();
    if (session.recording.messages.empty() && !is_billed) return;
    ++notes.sessions;
    visit(std::move(session));
}

std::string_view text_at(const ordered_json& value, const char* key) {
    const ordered_json* member = find_member(value, key);
    return member != nullptr && member->is_string() ? std::string_view(member->get_ref<const std::string&>())
                                                    : std::string_view();
}

std::int64_t count_in(const ordered_json& value) {
    if (!value.is_number_integer()) return 0;
    if (value.is_number_unsigned()) {
        const auto count = value.get<std::uint64_t>();
        return count > static_cast<std::uint64_t>(INT64_MAX) ? 0 : static_cast<std::int64_t>(count);
    }
    return std::max<std::int64_t>(0, value.get<std::int64_t>());
}

std::int64_t count_at(const ordered_json& value, const char* key) {
    const ordered_json* member = find_member(value, key);
    return member == nullptr ? 0 : count_in(*member);
}

bool is_set(const ordered_json& value, const char* key) {
    const ordered_json* member = find_member(value, key);
    return member != nullptr && member->is_boolean() && member->get<bool>();
}

const ordered_json* tree_at(const ordered_json& value, const char* key) {
    const ordered_json* member = find_member(value, key);
    return member != nullptr && member->is_structured() ? member : nullptr;
}

std::string to_json_text(const ordered_json& value) {
    return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace whittle::inline v0::logs
