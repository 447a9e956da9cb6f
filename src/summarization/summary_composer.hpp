#pragma once

#include "../summary/summary_attempt.hpp"
#include "folded_object.hpp"
#include "whittle/summarization/detail/preserved.hpp"
#include "whittle/summarization/detail/summarize.hpp"
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

/// Everything that will stand in place of the folded messages.
struct ComposedSummary {
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

/// Puts a summary together with what survives a fold: the user's messages, skills, the state of the work, facts, files.
/// For one plan: what it collects of the folded messages it reads once.
class SummaryComposer {
public:
    /// Borrows both. `has_continue_message`: the order to go on stands in a message of its own.
    SummaryComposer(const SummarizationWork& work, const FoldSizes& sizes, const FoldPlan& plan)
        : work_(work), turn_(work.turn), config_(work.config), sizes_(sizes), plan_(plan) {}

    void set_continue_message(bool is_separate) noexcept { has_continue_message_ = is_separate; }
    [[nodiscard]] bool has_continue_message() const noexcept { return has_continue_message_; }

    /// User messages, then skills, the state of the work, facts and files take what room there is, so that the whole
    /// stays below what it replaces and what the trigger leaves. What finds no room now, next to a large open round, is
    /// carried until there is some.
    [[nodiscard]] ComposedSummary compose(const SummaryText& summary);
    /// The words around a summary, with a few in its place.
    [[nodiscard]] ComposedSummary frame() const;
    [[nodiscard]] std::int64_t frame_tokens() const { return tokens_of(text_of({}, {}, {}, {})); }
    /// Of a summary of what is planned: its own words, and what goes with it where there is room.
    [[nodiscard]] std::int64_t expected_tokens() const;
    /// Of a summary by rule. The user's own words stand beside it where they are preserved, in up to half of the room.
    [[nodiscard]] RuleBasedSummaryConfig rule_based_config();
    /// Of the summary that `composed` is, and of its skills.
    [[nodiscard]] Provenance provenance_of(const ComposedSummary& composed, bool is_by_rule) const;
    /// What goes on to the next summary where the host made the list that replaces these messages.
    [[nodiscard]] Provenance provenance_of(std::span<const std::size_t> replaced, bool is_by_rule) const;
    /// Where the store gets what is folded; null: nowhere.
    [[nodiscard]] const FoldedObject* object() const;

private:
    [[nodiscard]] std::int64_t tokens_of(std::string_view text) const { return turn_.counter().count(text); }
    [[nodiscard]] std::vector<std::size_t> staying() const;
    [[nodiscard]] std::string_view transcript_path() const noexcept;
    [[nodiscard]] std::int64_t user_budget() const noexcept {
        return user_message_budget(config_.preserve_user_messages, config_.trigger);
    }
    [[nodiscard]] std::string text_of(const SummaryText& summary, const KeptUserMessages& users,
                                      std::span<const RetainedFact> facts, std::string_view work) const;
    [[nodiscard]] std::vector<UserText> user_texts(std::span<const std::size_t> indices,
                                                   std::span<const std::size_t> staying) const;
    [[nodiscard]] std::int64_t tokens_of_users() const;
    [[nodiscard]] std::vector<Skill> skills_at(std::span<const std::size_t> indices) const;
    [[nodiscard]] std::vector<Skill> folded_skills() const;
    [[nodiscard]] const WorkOfFold& work_state();
    [[nodiscard]] std::vector<FileUse> files_to_attach();

    void add_user_texts(const SummaryText& summary, ComposedSummary& composed) const;
    void add_skills(std::int64_t room, ComposedSummary& composed) const;
    void add_work(std::int64_t room, bool is_by_rule, ComposedSummary& composed);
    void add_files(std::int64_t room, ComposedSummary& composed);
    [[nodiscard]] std::vector<RetainedFact> facts_beside(std::string_view stands, std::string_view own_text,
                                                         std::int64_t room, ComposedSummary& composed) const;

    const SummarizationWork& work_;
    HookTurn& turn_;
    const SummarizationConfig& config_;
    const FoldSizes& sizes_;
    const FoldPlan& plan_;
    bool has_continue_message_ = false;
    std::optional<WorkOfFold> work_state_{};
    mutable std::optional<FoldedObject> object_{};
    std::optional<std::vector<AttachedFile>> attached_{};  // what the host gave
};

}  // namespace whittle::inline v0::detail
