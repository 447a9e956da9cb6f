#pragma once

#include "trimming_state.hpp"
#include "whittle/chain/detail/edit_schedule.hpp"
#include "whittle/conversation/detail/planned_keys.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// "[key]", or what stands there where nothing is stored.
[[nodiscard]] std::string trim_reference(std::string_view key);
/// The key of the original of a part: short, below the conversation's short root. `round`: serial of the message with
/// the call, `number`: which of its calls; `suffix` tells apart what one call has.
[[nodiscard]] std::string trim_key(std::string_view conversation, Serial round, std::size_t number,
                                   std::string_view suffix);

/// One run before a model call: what may go is looked for, the schedule asked, and what is due committed.
class TrimmingRun {
public:
    TrimmingRun(HookTurn& turn, TrimmingState& state, EditSchedule& schedule, std::string_view name);

    /// Finds what may go. `is_pause`: now is the time for what would go soon.
    void look(bool is_pause);
    [[nodiscard]] std::optional<std::size_t> decide(std::int64_t total);
    /// Commits all that was found from message `first` on; once so many tokens are free, oldest first, the rest stays.
    CommitResult commit(Draft& edit, std::size_t first, std::int64_t enough = INT64_MAX);
    void tell_kept();

private:
    /// What a part is to become.
    struct Form {
        std::string text{};
        std::string_view rule{};
        TrimmedAs trimmed_as = TrimmedAs::last_form;  ///< where there is no `read`
        std::unique_ptr<ReadForm> read{};
        bool is_extract = false;
        bool is_closed = false;
    };
    struct Staged {
        TrimPlace place{};
        Form form{};
        std::int64_t tokens = 0;
        std::int64_t freed = 0;
    };

    [[nodiscard]] std::int64_t count(std::string_view text) const { return turn_.counter().count(text); }
    void for_each_text(std::size_t message, FunctionRef<void(std::size_t, const PartView&)> visit) const;
    [[nodiscard]] bool is_protected(const TrimPlace& place) const;
    [[nodiscard]] std::string key_of(const TrimPlace& place) const;
    /// What marks of a part have of its key: as `reference_to` says, by lines "[key]".
    [[nodiscard]] std::string reference_of(const TrimPlace& place) const;
    [[nodiscard]] std::string reference_to_key(std::string_view key) const;

    void consider_old();
    void consider(const TrimPlace& place, std::string_view text);
    void look_at_reads(const LineAges& ages, bool is_pause);
    void look_at_arguments(bool is_pause);
    void look_at_extracts();
    /// Of results from message `first` on.
    void look_at_passages(bool is_pause, std::size_t first);
    [[nodiscard]] TextMark mark_with(std::string_view reference) const { return {reference, reader_, turn_.language}; }
    [[nodiscard]] bool keeps_passages() const noexcept { return config_.unit == TrimUnit::passages; }
    [[nodiscard]] int whole_calls(const TrimPart& part, bool is_pause) const;
    [[nodiscard]] bool is_trimmed_class(ResultClass kind) const noexcept;
    [[nodiscard]] bool stays_whole(const TrimPlace& place) const;
    void offer_forms(const std::vector<TrimPlace>& places);
    void offer(const TrimPlace& place, std::size_t bytes, std::int64_t tokens, std::string_view rule);
    [[nodiscard]] bool is_beside_open_thinking(std::size_t message) const;
    [[nodiscard]] bool has_worked(const TrimPart& part) const;

    [[nodiscard]] std::optional<Form> form_of(const TrimPlace& place, std::string_view text,
                                              std::string_view reference);
    [[nodiscard]] std::optional<Form> form_of_result(TrimPart& part, int call, std::string_view text,
                                                     std::string_view reference);
    [[nodiscard]] std::optional<Form> form_of_read(TrimPart& part, int call, std::string_view text,
                                                   std::string_view reference);
    /// The lines that stay; of a call's result by passages.
    [[nodiscard]] std::vector<bool> passages_of(const TrimPart& part, int call) const;
    [[nodiscard]] Form form_of_passages(const TrimPart& part, const std::vector<bool>& stays,
                                        std::string_view reference) const;
    void stage(Draft& edit, const TrimPlace& place);
    [[nodiscard]] const std::string& whole_message(std::size_t message);
    [[nodiscard]] std::vector<std::string> store(Draft& edit, const TrimPlace& place, std::string_view text);
    void settle(const CommitResult& result, std::size_t first);
    void tell(const TrimPlace& place, bool is_cut, std::string_view rule, std::int64_t freed);

    HookTurn& turn_;
    TrimmingState& state_;
    EditSchedule& schedule_;
    std::string_view name_;
    const TrimmingConfig& config_;
    std::shared_ptr<Storage> storage_;
    std::string_view reader_;  // that marks name
    bool is_deep_ = false;     // what would go soon has been looked for
    LineAges ages_{};
    int looked_at_ = 0;  // the call at which old lines were looked for
    PlannedKeys planned_{};
    /// The call that was planned last, and where its original goes.
    struct {
        std::size_t message = 0;
        std::string key{};
    } last_call_{};
    std::size_t whole_of_ = 0;
    std::string whole_{};
    std::vector<Staged> staged_{};
};

}  // namespace whittle::inline v0::detail
