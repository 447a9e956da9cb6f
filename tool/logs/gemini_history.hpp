#pragma once

#include "entries.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0::logs {

/// A message as Gemini CLI recorded it.
struct GeminiRecord {
    std::string id{};  ///< that the agent knows it by now
    ordered_json message{};
    std::size_t line = 0;
};

/// The messages of a session, while the agent writes some again, takes some back and replaces all of them.
class GeminiHistory {
public:
    /// A message is written again, with the same id, whenever something of it comes.
    void put(GeminiRecord record);
    /// The person took back this message and all behind it; where it is not known, all.
    void rewind(const std::string& id);
    /// What the agent goes on with from now on.
    void replace(const ordered_json& messages, std::size_t line);
    void write_to(Entries& entries, LogNotes& notes);

private:
    /// What came since a compaction, which kept something of what was in front.
    struct Span {
        std::vector<GeminiRecord> kept{};
        std::vector<GeminiRecord> records{};
        std::size_t differs = 0;        // the first of `kept` that the model is shown in other words than before
        std::set<std::size_t> shown{};  // which of all of them the model is shown

        [[nodiscard]] std::size_t size() const noexcept { return kept.size() + records.size(); }
        [[nodiscard]] GeminiRecord& at(std::size_t i) { return i < kept.size() ? kept[i] : records[i - kept.size()]; }
        /// The record at `i` was written.
        void note(std::size_t i);
        /// There are none from `size` on any more.
        void note_cut(std::size_t size);
    };

    /// Whether this message may be read once more, to compare what is known with a list. What a list leads to is told
    /// by all in front of it, so that lists without end would take the square of the file.
    [[nodiscard]] bool may_read_again(const ordered_json& message);
    void note_read(const ordered_json& message);

    /// Where records of an id are: span, and which of its records.
    using Places = std::set<std::pair<std::size_t, std::size_t>>;

    void add_news(std::vector<GeminiRecord> now, std::size_t from);
    void put_in_front(GeminiRecord record);
    void compact(std::vector<GeminiRecord> now, std::size_t differs);
    void drop_copies(const std::vector<GeminiRecord>& now);
    void cut(std::size_t from);
    void cut_earlier(const std::map<std::size_t, std::size_t>& first_gone);
    void take_back(std::vector<GeminiRecord>& records, std::size_t from);
    [[nodiscard]] std::size_t end_of(std::size_t from, const std::vector<GeminiRecord>& now) const;
    /// In the newest span.
    [[nodiscard]] std::optional<std::size_t> position(const std::string& id) const;
    void give_id(std::size_t at, const std::string& id);
    void remember(std::size_t span, std::size_t from);
    void forget(std::size_t span, std::size_t from);

    std::vector<Span> spans_{1};
    std::unordered_map<std::string, Places> places_{};
    std::vector<Call> taken_back_{};
    CopyBudget copies_{};
    std::int64_t left_as_they_were_ = 0;                  // messages written again that earlier spans do not have so
    std::size_t may_read_again_ = std::size_t{64} << 20;  // bytes: these, and so many times what was read
    std::int64_t not_compared_ = 0;                       // lists, which are taken for compactions
};

}  // namespace whittle::inline v0::logs
