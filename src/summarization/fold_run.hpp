#pragma once

#include "folded_object.hpp"
#include "whittle/summarization/detail/preserved.hpp"
#include "whittle/summarization/detail/summarize.hpp"
#include "whittle/summarization/detail/summary_text.hpp"
#include "whittle/summary/detail/facts.hpp"
#include "whittle/summary/detail/work_state.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// Why no summary is tried, with the numbers.
[[nodiscard]] std::string describe_floor(const FoldSizes& sizes, const FoldPlan& plan, std::int64_t reserve);
/// That a summary did not bring the request below the trigger.
[[nodiscard]] std::string describe_rest(std::int64_t tokens, std::int64_t limit);
[[nodiscard]] std::string describe_many(std::size_t messages, std::int64_t limit);

/// The built-in post-processing of one summary: everything that will stand in place of the folded messages.
struct SummaryDraft {
    std::string skills_text{};  ///< of a message in front of the summary; empty: none
    std::string summary_text{};
    KeptUserMessages user_messages{};    ///< shown
    std::vector<UserText> user_texts{};  ///< within the budget, also where there is no room to show them
    std::vector<Skill> skills{};         ///< shown
    std::vector<Skill> hidden_skills{};  ///< for which there is no room now
    std::string facts{};                 ///< a note of what the next summary must not lose either
    std::string work{};                  ///< a note of the state of the work
    std::string work_text{};             ///< what is shown of it
    std::string files_text{};            ///< of a message behind the summary; empty: none
    std::int64_t tokens = 0;
};

/// One fold of a conversation, from the plan to the edits.
class FoldRun {
public:
    explicit FoldRun(const SummaryWork& work);

    [[nodiscard]] const FoldPlan& plan() const noexcept { return plan_; }
    /// What stays whatever is folded, in tokens, with the reserve for the reply.
    [[nodiscard]] std::int64_t floor_tokens() const noexcept { return sizes_.floor_of(plan_, reserve()); }
    /// What has to stay is too much already for every condition that is due: no summary can help.
    [[nodiscard]] bool is_over_floor() const noexcept;
    /// Nothing new to fold, or less than the words around a summary take.
    [[nodiscard]] bool is_pointless() const;
    void list_candidates() const;
    /// Folds what a prepared summary stands for, and nothing else. False, and nothing done, unless all of that may be
    /// folded now and is as it was.
    [[nodiscard]] bool restrict_to(const PreparedSummary& prepared);
    /// Why a prepared summary is not accepted; empty: it is.
    [[nodiscard]] std::string refuse(std::string_view summary);
    /// What may be folded is planned anew.
    void plan_again();
    /// The configuration of a digest of the plan.
    [[nodiscard]] DigestConfig config_of_digest() const;

    /// Throws Error(invalid_history) if a summary in that place would break a rule, whatever it says. `asks_host`:
    /// before a model is paid, unless `has_text`; false if it said no.
    bool rehearse(bool asks_host, bool has_text = false);
    /// Asks the model; what `plain_summary_tokens` allows takes its place. Throws Error(cancelled), and what a digest
    /// throws.
    [[nodiscard]] DigestOutcome generate(DigestState& state);
    /// Stages the edits of an accepted summary.
    void stage(const std::string& summary);
    /// A user's finalizer may make the list larger (L6).
    [[nodiscard]] CommitResult commit() { return edit_.commit({.must_save = !port_.has_finalize()}); }

private:
    [[nodiscard]] std::int64_t reserve() const noexcept { return turn_.config.profile.output_reserve; }
    [[nodiscard]] std::int64_t tokens_of(std::string_view text) const { return turn_.counter().count(text); }
    [[nodiscard]] Role role() const noexcept {
        return config_.summary_role == SummaryRole::system ? Role::system : Role::user;
    }
    void forget_drafts() noexcept;
    [[nodiscard]] bool has_levels() const noexcept;
    void plan_within(const FoldSizes& sizes, std::int64_t expected_tokens = 0);
    [[nodiscard]] std::int64_t expected_tokens() const;
    /// A `VisitParts` of the conversation.
    [[nodiscard]] auto visit_parts() const {
        return [&turn = turn_](std::size_t i, FunctionRef<void(const PartView&)> visit) { turn.visit_parts(i, visit); };
    }
    [[nodiscard]] std::vector<std::size_t> staying() const;
    [[nodiscard]] std::string_view transcript_path() const noexcept;
    /// Where the store gets what is folded; null: nowhere.
    [[nodiscard]] const FoldedObject* object() const;
    [[nodiscard]] std::string compose(std::string_view summary, const KeptUserMessages& users,
                                      std::span<const RetainedFact> facts, std::string_view work = {}) const;
    [[nodiscard]] std::vector<UserText> user_texts(std::span<const std::size_t> indices,
                                                   std::span<const std::size_t> staying) const;
    [[nodiscard]] std::vector<Skill> skills_at(std::span<const std::size_t> indices) const;
    [[nodiscard]] std::vector<Skill> folded_skills() const;

    void collect_work_once();
    [[nodiscard]] std::vector<FileUse> files_to_attach() const;
    [[nodiscard]] SummaryDraft draft(std::string_view summary);
    void add_work(std::int64_t room, SummaryDraft& draft) const;
    void add_files(std::int64_t room, SummaryDraft& draft);
    void add_user_texts(std::string_view summary, SummaryDraft& draft) const;
    void add_skills(std::int64_t room, SummaryDraft& draft) const;
    [[nodiscard]] std::vector<RetainedFact> facts_beside(std::string_view stands, std::string_view own_text,
                                                         std::int64_t room, SummaryDraft& draft) const;
    [[nodiscard]] std::string judge(std::string_view summary);
    [[nodiscard]] DigestOutcome ask(DigestState& state);
    [[nodiscard]] DigestOutcome write_plain();

    [[nodiscard]] bool is_go_on_due() const;
    [[nodiscard]] bool is_go_on_vetoed();
    void stage_go_on(Draft& edit) const;
    void stage_draft(Draft& edit, const SummaryDraft& draft) const;
    [[nodiscard]] Provenance carried_from(std::span<const std::size_t> replaced) const;

    HookTurn& turn_;
    Draft& edit_;
    SummaryPort& port_;
    const SummarizationConfig& config_;
    FoldSizes sizes_;
    std::vector<std::int64_t> tokens_{};  // of each message
    FoldPlan plan_{};
    std::optional<WorkOfFold> work_{};
    mutable std::optional<FoldedObject> object_{};         // of this plan, made when it is first asked for
    std::optional<std::vector<AttachedFile>> attached_{};  // what the host gave
    bool goes_on_apart_ = false;                           // the order to go on is a message of its own
    bool is_by_rule_ = false;                              // the summary
    std::string judged_summary_{};
    std::optional<SummaryDraft> judged_draft_{};  // of `judged_summary_`: collecting reads the whole fold
};

}  // namespace whittle::inline v0::detail
