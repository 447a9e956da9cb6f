#pragma once

#include "transcript.hpp"
#include "whittle/chain/detail/edit_schedule.hpp"
#include "whittle/conversation/tool.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// What trimming knows of a conversation, brought up to date at each hook. Attached to the conversation; hooks and
/// tools on other threads share it by `mutex`.
class TrimmingState {
public:
    /// `name`: of the middleware.
    TrimmingState(std::shared_ptr<const TrimmingSettings> of, std::string name)
        : settings(std::move(of)), transcript(settings->config.unit, std::move(name)) {}

    std::mutex mutex{};
    const std::shared_ptr<const TrimmingSettings> settings;
    Transcript transcript;
    std::int64_t request_tokens = 0;  ///< of the newest request, as triggers judge it
    std::size_t considered = 0;       ///< messages in front of it were considered
    int now = 0;                      ///< the model call that is about to be made
    bool is_new = false;              ///< begun again from messages and notes: nothing was looked for since
    bool is_valid = false;            ///< else the next hook begins again

    /// Takes in what came, or what others edited.
    void take(HookTurn& turn);
    /// After a commit of this middleware: messages from `first` on are as they are now.
    void accept(HookTurn& turn, std::size_t first);

    /// Whether requests are that small that neither what was sent nor what comes is trimmed: nothing is looked at then.
    [[nodiscard]] bool is_idle() const noexcept;

    [[nodiscard]] const std::vector<TrimMessage>& messages() const noexcept { return messages_; }
    [[nodiscard]] TrimPart& at(const TrimPlace& place) { return messages_[place.first].parts[place.second]; }
    /// Tokens of messages [first, last).
    [[nodiscard]] std::int64_t tokens(std::size_t first, std::size_t last) const noexcept {
        return sums_[last] - sums_[first];
    }
    /// Calls and results that are not closed, ascending, from message `first` on. Valid until it is asked again.
    [[nodiscard]] std::span<const TrimPlace> open_places(std::size_t first = 0);

private:
    /// Messages that were there before, by serial; nullopt: it is no longer as it was.
    using Known = std::unordered_map<Serial, std::optional<TrimMessage>>;

    [[nodiscard]] Known set_aside(const Outline& outline, Transcript::Saved& saved);
    void add_messages(HookTurn& turn, Known known, const Transcript::Saved& saved);
    void add_up(HookTurn& turn, std::size_t first);

    std::uint64_t edits_ = 0;
    std::vector<TrimMessage> messages_{};
    std::vector<std::int64_t> sums_{0};
    std::vector<TrimPlace> open_{};
};

/// "[key]", or what stands there where nothing is stored.
[[nodiscard]] std::string trim_reference(std::string_view key);
/// The key of the original of a part: short, below the conversation's short root. `round`: serial of the message with
/// the call, `number`: which of its calls; `suffix` tells apart what one call has.
[[nodiscard]] std::string trim_key(std::string_view conversation, Serial round, std::size_t number,
                                   std::string_view suffix);

/// What a part is to become.
struct TrimmedText {
    std::string text{};
    std::string_view rule{};  ///< static text
    TrimmedAs as = TrimmedAs::done;
    std::unique_ptr<ReadForm> read{};  ///< of `TrimmedAs::lines`
};

/// What one run of trimming works with: who asks, what is known, and what a part would become now.
class TrimmingRun {
public:
    /// `at_pause`: now is the time for what would go soon.
    TrimmingRun(HookTurn& hook, TrimmingState& known, EditSchedule& when, bool at_pause);

    HookTurn& turn;
    TrimmingState& state;
    EditSchedule& schedule;
    const TrimmingConfig& config;
    const TrimmingRules& rules;
    const std::shared_ptr<Storage> storage;  ///< null: the journal keeps the originals
    const bool is_pause;
    const int now;  ///< the model call that is about to be made
    const LineAges& ages;

    [[nodiscard]] bool by_passages() const noexcept { return config.unit == TrimUnit::passages; }
    [[nodiscard]] std::int64_t count(std::string_view text) const { return turn.counter().count(text); }
    /// Adds what was decided of a part to the report.
    void report(const TrimPlace& place, bool is_cut, std::string_view rule, std::int64_t freed) const;

    [[nodiscard]] std::string key_of(const TrimPlace& place) const;
    /// What marks of a part have of its key: as `reference_to` says, by lines "[key]".
    [[nodiscard]] std::string reference_to_key(std::string_view key) const;
    [[nodiscard]] std::string reference_of(const TrimPlace& place) const {
        return reference_to_key(storage ? key_of(place) : std::string());
    }

    /// What a part becomes now; nullopt: it stays. `text`: as it is shown.
    [[nodiscard]] std::optional<TrimmedText> trim(const TrimPlace& place, std::string_view text,
                                                  std::string_view reference);
    /// The same for a result by passages, without `read`. `stays`: the lines that stay.
    [[nodiscard]] TrimmedText trim_to_passages(const TrimPart& part, const std::vector<bool>& stays,
                                               std::string_view reference) const;
    [[nodiscard]] std::vector<bool> passages_of(const TrimPart& part) const;

    /// What stands in place of its texts that go.
    [[nodiscard]] TextMark mark_with(std::string_view reference) const { return {reference, reader_, turn.language}; }

private:
    std::string_view reader_;  // that marks name
};

/// Looks for what may go: each part that may has a candidate then.
void find_candidates(TrimmingRun& run);
/// By passages, before a commit from message `first` on: all behind it is written again, so what would go soon goes
/// too.
void find_candidates_behind(TrimmingRun& run, std::size_t first);
/// Commits candidates from message `first` on; once `enough` tokens are free, oldest first, the rest stays.
CommitResult commit_candidates(TrimmingRun& run, Draft& edit, std::size_t first, std::int64_t enough);

/// Runs a tool and takes out of its result what the model has before it already: docs/trimming.md says what. `by`: the
/// middleware; `state`: of the conversation; null: nothing is known of it.
ToolOutcome run_trimmed(const TrimmingConfig& config, std::string_view by, TrimmingState* state,
                        const ToolContext& context, PartSink& out, const ToolNext& next);

}  // namespace whittle::inline v0::detail
