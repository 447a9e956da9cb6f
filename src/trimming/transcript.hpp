#pragma once

#include "line_index.hpp"
#include "read_form.hpp"
#include "whittle/chain/hook_turn.hpp"
#include "whittle/trimming/config.hpp"
#include "whittle/trimming/detail/result_class.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// What stands in place of a part.
enum class TrimmedAs : std::uint8_t {
    whole,       ///< itself
    arguments,   ///< a call without old texts
    on_arrival,  ///< a result that was shortened when it came, and not looked at since
    extract,     ///< some lines of an output
    lines,       ///< lines of a result, of which more may go
    done,        ///< nothing more is to be had
};

/// A part, by index of message and part.
using TrimPlace = std::pair<std::size_t, std::size_t>;

/// A result, as far as its text is known.
struct ResultText {
    ResultForm form{};
    std::size_t original_bytes = 0;
    std::unique_ptr<ReadForm> read{};  ///< of what is shown, or would be; with passages of any result
    std::string original{};            ///< where something else is shown since it came, until it is considered
};

/// What is known of one part of a message.
struct TrimPart {
    enum class Kind { passive, call, result };
    Kind kind = Kind::passive;
    TrimmedAs trimmed_as = TrimmedAs::whole;  ///< by this middleware
    bool is_closed = false;                   ///< nothing more is to be had
    bool is_edit = false;                     ///< a call of a tool that edits
    bool is_considered = false;               ///< a result that left the newest calls
    std::string name{};                       ///< of its call in the conversation
    int call = LineIndex::never;              ///< the model call that a result came with
    int next_due = 0;                         ///< nothing is to be had before that call
    std::int64_t tokens = -1;                 ///< of what is shown; below 0: not counted yet
    std::vector<LineId> shown{};
    std::optional<std::int64_t> candidate{};  ///< tokens that it could come to
    ResultText result{};
    std::string saved{};  ///< how a result was trimmed, as the conversation's notes have it

    /// What stands in front of the lines that are shown.
    [[nodiscard]] LineMarks marks() const noexcept {
        return kind == Kind::result ? result.form.marks : LineMarks::none;
    }
    /// Notes how a result was trimmed, and what is left of it.
    void save_form();
};

struct TrimMessage {
    Serial serial = 0;
    Hash128 fingerprint{};
    int call = 0;
    std::vector<TrimPart> parts{};
};

/// What is known of a call, by its name in the conversation.
struct TrimCall {
    enum class Verdict { open, worked, failed };
    CallClass kind{};
    Serial round = 0;
    std::size_t number = 0;  ///< among the calls of its message
    Verdict verdict = Verdict::open;
};

/// A result that was shortened when it came, until the conversation has it.
struct ArrivedResult {
    Hash128 shown{};
    ResultText result{};
    std::vector<LineId> lines{};  ///< all that the original has
};

/// What the messages of a conversation say, read in their order: lines, words, calls and how they ended.
class Transcript {
public:
    /// A part, by the serial of its message and its index.
    using PartId = std::pair<Serial, std::size_t>;
    /// What there is of parts that were trimmed before the conversation was loaded.
    struct Saved {
        std::map<PartId, std::string> originals{};  ///< as this middleware saw them first
        std::map<PartId, std::string> forms{};      ///< `TrimPart::saved`
    };

    /// `name`: of the middleware.
    Transcript(TrimUnit unit, std::string name) : unit_(unit), name_(std::move(name)) {}

    LineIndex index{};

    /// Forgets everything. Returns what is saved, but for what the store does not give.
    [[nodiscard]] Saved restart(HookTurn& turn);
    [[nodiscard]] TrimMessage read(HookTurn& turn, std::size_t message, const Saved& saved);
    /// Writes the notes, if `is_due` or a result was read that is to be noted.
    void save(HookTurn& turn, const std::vector<TrimMessage>& messages, bool is_due);

    /// Replaces the lines that a part shows.
    void show(TrimPart& part, std::vector<LineId> lines);
    void show_text(TrimPart& part, std::string_view text) { show(part, lines_of(text, part.marks())); }
    /// Each once.
    [[nodiscard]] std::vector<LineId> lines_of(std::string_view text, LineMarks marks);

    /// Null: unknown.
    [[nodiscard]] const TrimCall* find_call(const std::string& name) const;
    /// How far back the edits of this agent reach: the most model calls so far between an edit and the newest message
    /// in front of it that had a line of what it replaced. Before the first such edit, what is usual.
    [[nodiscard]] int edit_reach() const noexcept {
        constexpr int usual = 12;
        return edit_reach_.value_or(usual);
    }

    void add_arrived(std::string name, ArrivedResult result) { arrived_[std::move(name)] = std::move(result); }
    void clear_arrived() noexcept { arrived_.clear(); }

private:
    /// A part as it is read.
    struct Seen {
        const PartInfo& info;
        const PartView& view;
        bool is_ours;
        int call;
        const std::string* original;    // null: what is shown
        const std::string* saved_form;  // null: none

        [[nodiscard]] std::string_view whole() const noexcept { return original != nullptr ? *original : view.text; }
    };

    [[nodiscard]] bool is_ours(const MessageInfo& info, std::size_t part) const noexcept;
    [[nodiscard]] std::map<PartId, std::string> load_originals(HookTurn& turn) const;
    void read_part(TrimPart& part, const Seen& seen, const MessageInfo& info, std::size_t& calls);
    void read_call(TrimPart& part, const Seen& seen);
    void read_result(TrimPart& part, const Seen& seen);
    void touch(const std::vector<LineId>& lines, int call) noexcept;
    bool adopt(TrimPart& part, const Seen& seen);
    void restore(TrimPart& part, const Seen& seen);
    void judge(const TrimPart& part, std::string_view text, bool is_error);

    TrimUnit unit_;
    std::string name_;
    bool has_adopted_ = false;  // since the notes were written
    std::optional<int> edit_reach_{};
    std::unordered_map<std::string, TrimCall> calls_{};
    std::unordered_map<std::string, ArrivedResult> arrived_{};
};

}  // namespace whittle::inline v0::detail
