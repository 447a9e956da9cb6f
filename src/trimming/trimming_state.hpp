#pragma once

#include "extract_form.hpp"
#include "line_index.hpp"
#include "old_arguments.hpp"
#include "read_form.hpp"
#include "whittle/chain/detail/edit_schedule.hpp"
#include "whittle/chain/hook_turn.hpp"
#include "whittle/trimming/config.hpp"
#include "whittle/trimming/detail/result_class.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

[[nodiscard]] EditScheduleConfig edit_schedule_of(const TrimmingConfig& config) noexcept;
/// How lines are taken out of a read; with passages, none is.
[[nodiscard]] ReadRules read_rules_of(const TrimmingConfig& config) noexcept;
[[nodiscard]] ExtractRules extract_rules_of(const TrimmingConfig& config) noexcept;
[[nodiscard]] ArgumentRules argument_rules_of(const TrimmingConfig& config) noexcept;

/// How a part was trimmed, by the letter that the conversation's notes have for it. Of a read they have the lines that
/// are left instead.
enum class TrimmedAs : char {
    arguments = 'a',
    edit_result = 'e',
    on_arrival = 'f',  ///< and not looked at since
    last_form = 'l',   ///< nothing more is to be had
    extract = 'x',
};

/// What a part could come to.
struct TrimCandidate {
    std::int64_t tokens = 0;
    std::string_view rule{};  ///< static text
};

/// What is known of one part of a message.
struct TrimPart {
    enum class Kind { passive, call, result };
    Kind kind = Kind::passive;
    bool is_trimmed = false;  ///< stands in place of an original, by this middleware
    bool is_closed = false;   ///< nothing more is to be had
    std::vector<LineId> shown{};

    // Of a result.
    int result_call = LineIndex::never;
    ResultForm form{};
    std::size_t original_bytes = 0;
    bool is_considered = false;
    bool is_extract = false;
    std::unique_ptr<ReadForm> read{};  ///< of what is shown, or would be; with passages of any result
    std::string original{};            ///< where something else is shown since it came, until it is considered

    // Of a call.
    bool is_edit = false;

    std::string name{};        ///< of its call in the conversation
    int next_due = 0;          ///< nothing is to be had before that call
    std::int64_t tokens = -1;  ///< of what is shown; below 0: not counted yet
    std::optional<TrimCandidate> candidate{};
};

/// A part, by index of message and part.
using TrimPlace = std::pair<std::size_t, std::size_t>;

struct TrimMessage {
    Serial serial = 0;
    Hash128 fingerprint{};
    int call = 0;
    std::int64_t tokens = 0;
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
    ResultForm form{};
    std::unique_ptr<ReadForm> read{};
    std::string original{};  ///< of what is no read
    std::size_t original_bytes = 0;
    std::vector<LineId> lines{};  ///< all that the original has
};

/// What trimming knows of a conversation, made of its messages, its journal and its notes, and brought up to date at
/// each hook in the order of what is new. Attached to the conversation; hooks and tools on other threads share it by
/// `mutex`.
class TrimmingState {
public:
    TrimmingState(std::shared_ptr<const TrimmingConfig> config, std::string name)
        : shared_config_(std::move(config)), config_(*shared_config_), name_(std::move(name)) {}

    std::mutex mutex{};

    /// Takes in what came, or what others edited.
    void take(HookTurn& turn);
    /// What was begun here did not come to its end: the next hook makes everything anew.
    void invalidate() noexcept { is_valid_ = false; }
    void validate() noexcept { is_valid_ = true; }

    [[nodiscard]] const TrimmingConfig& config() const noexcept { return config_; }
    [[nodiscard]] const std::shared_ptr<const TrimmingConfig>& shared_config() const noexcept { return shared_config_; }
    [[nodiscard]] LineIndex& index() noexcept { return index_; }
    [[nodiscard]] std::vector<TrimMessage>& messages() noexcept { return messages_; }
    [[nodiscard]] const TrimCall* find_call(const std::string& name) const;
    [[nodiscard]] int now() const noexcept { return now_; }
    /// How far back the edits of this agent reach: the most model calls so far between an edit and the newest message
    /// in front of it that had a line of what it replaced. Before the first such edit, what is usual.
    [[nodiscard]] int edit_reach() const noexcept {
        constexpr int usual = 12;
        return edit_reach_.value_or(usual);
    }
    [[nodiscard]] std::int64_t tokens(std::size_t first, std::size_t last) const noexcept {
        return sums_[last] - sums_[first];
    }
    [[nodiscard]] TrimPart& at(const TrimPlace& place) { return messages_[place.first].parts[place.second]; }

    /// Once after all was made anew: nothing is offered then.
    [[nodiscard]] bool take_newness() noexcept { return std::exchange(is_new_, false); }

    /// Of the newest request, as triggers judge it.
    std::int64_t request_tokens = 0;
    /// Whether requests are that small that neither what was sent nor what comes is trimmed: nothing is looked at then.
    [[nodiscard]] bool is_at_rest() const noexcept;

    /// Messages in front of it were considered.
    std::size_t considered = 0;
    // What is looked at again, so that the others are not.
    std::set<TrimPlace> open_reads{};
    std::set<TrimPlace> open_calls{};
    std::set<TrimPlace> open_extracts{};
    std::set<TrimPlace> offered{};
    /// Puts a part where it belongs, or takes it out.
    void file(const TrimPlace& place);

    void show(TrimPart& part, std::vector<LineId> lines);
    [[nodiscard]] std::vector<LineId> lines_of_text(std::string_view text, LineMarks marks);

    /// Keeps what `take` needs to make a form anew, in the conversation's notes.
    void note_form(Serial serial, std::size_t part, TrimmedAs form);
    void note_form(Serial serial, std::size_t part, const ReadForm& read);
    void write_forms(HookTurn& turn);
    /// After a commit of this middleware: messages from `first` on are as they are now.
    void accept(HookTurn& turn, std::size_t first);

    void add_arrived(std::string name, ArrivedResult result) { arrived_[std::move(name)] = std::move(result); }

private:
    /// Texts as this middleware saw them first, of parts that it has trimmed.
    using Originals = std::map<std::pair<Serial, std::size_t>, std::string>;

    void make_anew(HookTurn& turn);
    void note_text(Serial serial, std::size_t part, std::string_view text);
    [[nodiscard]] Originals load_originals(HookTurn& turn) const;
    void load_forms(HookTurn& turn);
    void take_messages(HookTurn& turn, const Originals& originals);
    void take_changes(HookTurn& turn);
    TrimMessage take_message(HookTurn& turn, std::size_t at, const Originals& originals);
    void take_text(TrimPart& part, std::string_view text, int call);
    void take_call(TrimPart& part, std::string_view shown, std::string_view original, const TrimMessage& message);
    void take_result(TrimPart& part, const PartView& view, const PartInfo& info, const std::string* original,
                     const TrimMessage& message, std::size_t number);
    bool adopt(TrimPart& part, std::string_view shown, const TrimMessage& message, std::size_t number);
    void restore_form(TrimPart& part, std::string_view shown, std::string_view original, Serial serial,
                      std::size_t number);
    void judge(TrimPart& part, std::string_view text, bool is_error);
    void forget(TrimMessage& message);
    void add_up(HookTurn& turn, std::size_t first);
    void forget_places();
    void file_all(std::size_t first);
    [[nodiscard]] bool is_ours(const MessageInfo& info, std::size_t part) const noexcept;

    const std::shared_ptr<const TrimmingConfig> shared_config_;
    const TrimmingConfig& config_;
    const std::string name_;
    bool is_valid_ = false;
    bool is_new_ = false;
    std::uint64_t edits_ = 0;
    int now_ = 0;
    std::optional<int> edit_reach_{};
    LineIndex index_{};
    std::vector<TrimMessage> messages_{};
    std::vector<std::int64_t> sums_{0};
    std::unordered_map<std::string, TrimCall> calls_{};
    std::unordered_map<std::string, ArrivedResult> arrived_{};
    std::string forms_{};  ///< "serial.part=form " for each, the last one counts
    std::size_t compact_size_ = 0;
    bool has_new_forms_ = false;
    std::map<std::pair<Serial, std::size_t>, std::string> loaded_forms_{};  // only while everything is made anew
};

}  // namespace whittle::inline v0::detail
