#pragma once

#include "logs.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::logs {

using nlohmann::ordered_json;

/// A message while a session is being read.
struct Entry {
    ordered_json message{};
    std::optional<double> time{};  ///< seconds since 1970
    std::size_t line = 0;
    std::optional<Call> call{};      ///< it is the reply of one
    bool has_end = false;            ///< a record of the reply had its end, and
    bool usage_is_reported = false;  ///< what was billed for it
    std::size_t injected = 0;  ///< messages in a row, up to this one, that the agent injected, such as with a result
    std::size_t results_in_row = 0;  ///< how many in a row, up to this, hold results, where a reader counts them
};

/// About how many bytes of memory a value takes.
[[nodiscard]] std::size_t memory_of(const ordered_json& value);

/// What a reader may copy of a file's messages, such as for what a compaction kept: a file that has all of its messages
/// kept again and again would take the square of its size.
class CopyBudget {
public:
    static constexpr std::size_t most_bytes = std::size_t{64} << 20;

    /// Whether `bytes` more may be copied. Once the answer was no, it is always no: what is left out is no choice.
    [[nodiscard]] bool take(std::size_t bytes) noexcept {
        left_ = bytes <= left_ ? left_ - bytes : 0;
        return left_ > 0;
    }
    [[nodiscard]] bool is_spent() const noexcept { return left_ == 0; }

private:
    std::size_t left_ = most_bytes;
};

/// What of a session is known so far.
class Entries {
public:
    std::size_t add(Entry entry);
    /// In front of compactions that are at the end.
    std::size_t add_in_front_of_compaction(Entry entry);
    /// Results behind their calls, in front of a compaction that is at the same place; by ascending places as they were
    /// before the first one.
    void insert_all(std::vector<std::pair<std::size_t, Entry>> entries);
    /// The person took back what follows the first `size` messages: its calls were billed all the same.
    void truncate(std::size_t size);
    /// At the time of the newest message unless the call has its own.
    void bill_elsewhere(Call call);
    void bill_elsewhere(const Usage& usage) { bill_elsewhere(Call{.usage = usage}); }
    /// A new compaction at the place that was reached. Its own `before` is set when all of it is finished.
    Compaction& compact() { return compact_at(entries_.size()); }
    /// In front of the message at `place`; not in front of the compactions that are there.
    Compaction& compact_at(std::size_t place);
    /// Takes the newest one back; there has to be one.
    void undo_compaction();
    /// Whether the newest compaction is at the place that was reached.
    [[nodiscard]] bool was_compacted_here() const noexcept;
    /// There has to be one.
    [[nodiscard]] Compaction& newest_compaction() noexcept { return compactions_.back(); }
    /// How many messages are in front of it.
    [[nodiscard]] std::size_t newest_compaction_at() const noexcept { return rows_.back().before; }
    [[nodiscard]] std::size_t compactions() const noexcept { return compactions_.size(); }
    [[nodiscard]] std::vector<Compaction>& all_compactions() noexcept { return compactions_; }

    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
    [[nodiscard]] Entry& operator[](std::size_t at) { return entries_[at]; }
    [[nodiscard]] const Entry& operator[](std::size_t at) const { return entries_[at]; }

    /// Moves all of it into the session, usage that is no bill left out. What is no message of `is_anthropic` or of
    /// OpenAI is left out and noted.
    void finish(Session& session, bool is_anthropic, LogNotes& notes);

private:
    /// Compactions in a row at one place, which is moved for all of them.
    struct Row {
        std::size_t before = 0;  // the messages in front of them
        std::size_t first = 0;   // of `compactions_`
    };

    std::vector<Entry> entries_{};
    std::vector<Compaction> compactions_{};
    std::vector<Row> rows_{};  // by ascending places
    std::vector<Call> elsewhere_{};
};

/// Gives a session that is finished to `visit`, and counts it; one without messages and bill is none.
void hand_over(Session&& session, LogNotes& notes, FunctionRef<void(Session&&)> visit);

/// Whether it is any: usage of nothing but zeros is what gateways write that do not know better.
[[nodiscard]] bool is_bill(const std::optional<Usage>& usage) noexcept;

/// Of an input that holds what was read from and written to the cache. Where these are more than all of it, they stand
/// beside it: some writers leave them out of the sum.
[[nodiscard]] Usage usage_of_sums(std::int64_t input, std::int64_t read, std::int64_t written,
                                  std::int64_t output) noexcept;

/// Where counts have what was read from and written to the cache.
enum class CachePlace : std::uint8_t { in_input, outside_input };
/// Whether `total` is that of all counts, with the cache in the input or beside it.
[[nodiscard]] bool is_total_of(const Usage& counts, std::int64_t total) noexcept;
/// Of counts as they were written: whose `total` is that of input and output has the cache in the input, whose total is
/// that of all has it beside, and the others, also those of a `total` of 0, as it usually is.
[[nodiscard]] Usage usage_by_total(const Usage& counts, std::int64_t total, CachePlace usual) noexcept;

/// "usage" of a response of OpenAI's chat completions or responses, or of Anthropic's messages.
[[nodiscard]] Usage provider_usage(const ordered_json& usage);

inline constexpr std::size_t max_damaged_lines = 20;  ///< that are kept
void note_damage(LogNotes& notes, std::size_t line, std::string_view reason);

/// Notes a record that was read with U+FFFD; once a line.
void note_repaired(LogNotes& notes, std::size_t line);

/// Seconds since 1970 of "2026-04-20T16:44:37.772Z" or with an offset such as +02:00; nullopt for anything else.
[[nodiscard]] std::optional<double> to_seconds(std::string_view iso8601) noexcept;

/// The member if it is a string, else "".
[[nodiscard]] std::string_view text_at(const ordered_json& value, const char* key);
/// The value if it is a number, 0 or more and whole; else 0.
[[nodiscard]] std::int64_t count_in(const ordered_json& value);
/// The same of a member; 0 without it.
[[nodiscard]] std::int64_t count_at(const ordered_json& value, const char* key);
[[nodiscard]] bool is_set(const ordered_json& value, const char* key);
/// The member if it is an object or an array; else null.
[[nodiscard]] const ordered_json* tree_at(const ordered_json& value, const char* key);
/// On one line; what is no UTF-8 is replaced.
[[nodiscard]] std::string to_json_text(const ordered_json& value);

}  // namespace whittle::inline v0::logs
