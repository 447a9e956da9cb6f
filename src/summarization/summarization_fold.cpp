#include "summarization_fold.hpp"

#include "../summary/stage_fold.hpp"
#include "whittle/summarization/detail/summary_text.hpp"
#include "whittle/summary/detail/sections.hpp"
#include "whittle/summary/detail/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace whittle::inline v0::detail {

SummarizationFold::SummarizationFold(const SummarizationWork& work)
    : work_(work), turn_(work.turn), config_(work.config), sizes_(work.sizes) {
    for (std::size_t i = 0; i < work_.edit.outline().size(); ++i) tokens_.push_back(work_.edit.tokens_of(i));
    plan_again();
}

void SummarizationFold::plan_again() {
    plan_within(sizes_);
    if (is_overhead_in_the_way(sizes_, plan_, reserve())) {
        sizes_.scale.overhead = 0;  // no fold can do anything about it: what else can go has to
        plan_within(sizes_);
    }
    if (turn_.report.hook == Hook::compact_now) plan_within(wanted_sizes(sizes_), composer_->expected_tokens());
}

/// `expected_tokens`: of the summary, where the request should come near its limit; 0: the settings decide.
void SummarizationFold::plan_within(const FoldSizes& sizes, std::int64_t expected_tokens) {
    const bool is_near = expected_tokens > 0;
    const FoldLimits limits{.keep_recent_tokens = is_near ? INT64_MAX : config_.keep_recent_tokens,
                            .keep_recent_messages = config_.keep_recent_messages,
                            .limit_tokens = limit_of_messages(sizes),
                            .limit_messages = sizes.limit_messages,
                            .keep_loop_head = has_rule(turn_.config.profile.validity, Rule::A7_thinking_first),
                            .summaries_per_level = has_levels() ? config_.summaries_per_level : 0,
                            .expected_tokens = expected_tokens};
    plan_ = plan_fold(turn_.outline(), tokens_, limits, [&](std::size_t i) { return work_.edit.is_protected(i); });
    forget_composed();
}

/// What was made for another plan.
void SummarizationFold::forget_composed() {
    composed_.reset();
    composer_.emplace(work_, sizes_, plan_);
    composer_->set_continue_message(is_continue_message_due());
}

/// What a provider has refused has to become as small as it can, and so has what a host wants small.
bool SummarizationFold::has_levels() const noexcept {
    return turn_.report.hook == Hook::before_model && !work_.functions.finalize &&
           !wants_turns(turn_.config.profile.validity);
}

void SummarizationFold::restrict_to(std::vector<std::size_t> folded) {
    plan_.tail_tokens = add_saturating(plan_.tail_tokens, restrict_plan(plan_, tokens_, std::move(folded)));
    forget_composed();
}

const ComposedSummary& SummarizationFold::composed(const SummaryText& summary) {
    if (!composed_ || composed_->first != summary) composed_.emplace(summary, composer_->compose(summary));
    return composed_->second;
}

/// A list that the host makes is judged by the commit.
std::string SummarizationFold::refuse(const SummaryText& summary, bool is_prepared) {
    if (work_.functions.finalize) return {};
    const std::int64_t tokens = composed(summary).tokens;
    if (tokens >= plan_.folded_tokens)
        return fmt::format("with all that goes with it, it has {} tokens; it replaces {}", tokens, plan_.folded_tokens);
    if (!is_prepared || sizes_.trigger_tokens <= 0) return {};
    const std::int64_t left = add_saturating(add_saturating(plan_.kept_tokens, plan_.tail_tokens), tokens);
    const std::int64_t limit = limit_of_messages(sizes_);
    if (left <= limit) return {};
    return fmt::format("it would leave {} tokens of messages, {} are allowed", left, limit);
}

bool SummarizationFold::is_over_minimum() const noexcept {
    const auto messages = static_cast<std::int64_t>(plan_.rules.size());
    const bool by_messages = sizes_.limit_messages > 0 && messages > sizes_.limit_messages;
    const bool by_tokens = sizes_.trigger_tokens > 0 && (!by_messages || sizes_.context_tokens > sizes_.trigger_tokens);
    if (by_tokens && minimum_tokens() <= sizes_.trigger_tokens) return false;
    if (by_messages && static_cast<std::int64_t>(plan_.kept_messages) < sizes_.limit_messages) return false;
    return by_tokens || by_messages;
}

bool SummarizationFold::is_pointless() const {
    if (plan_.folded.empty() || plan_.has_only_summaries) return true;
    return !work_.functions.finalize && composer_->frame_tokens() >= plan_.folded_tokens;
}

std::string SummarizationFold::describe_minimum() const {
    const bool has_head = std::ranges::count(plan_.rules, std::string_view("required_first_step")) > 0;
    const std::string_view stays =
        has_head ? "system, pinned, newest user message, open round, and the first step of its tool loop, which holds "
                   "the thinking that the provider wants in front"
                 : "system, pinned, newest user message, open round";
    if (sizes_.trigger_tokens <= 0 || minimum_tokens() <= sizes_.trigger_tokens)
        return fmt::format("no summary: {} messages have to stay ({}), the trigger is {}", plan_.kept_messages, stays,
                           sizes_.limit_messages);
    return fmt::format(
        "no summary: what has to stay takes {} tokens, the trigger is {}: {} beside the messages (system text, "
        "tools), {} in {} messages ({}), {} reserved for the reply",
        minimum_tokens(), sizes_.trigger_tokens, sizes_.scale.to_request(sizes_.system_and_tools),
        sizes_.scale.to_request(plan_.kept_tokens), plan_.kept_messages, stays, reserve());
}

SummaryGenerationConfig SummarizationFold::request() {
    SummaryGenerationConfig config = summary_generation_config(config_);
    config.max_input_tokens = input_bound(config_, turn_.known_window(), reserve());
    if (config_.check_sections && config_.user_instruction.empty()) {
        for (const std::string_view section : summary_sections(turn_.language))
            config.required_sections.emplace_back(section);
    }
    const bool goes_on = std::ranges::count(plan_.rules, std::string_view("level")) > 0;
    if (goes_on && config.user_instruction.empty())
        config.user_instruction =
            fmt::format("{}\n\n{}", summary_instruction(turn_.language), later_part(turn_.language));
    return config;
}

bool SummarizationFold::stage(const std::optional<SummaryText>& summary) {
    if (!work_.functions.finalize) {
        stage_composed(summary ? composed(*summary) : composer_->frame(), summary && summary->is_by_rule);
        return true;
    }
    if (!summary) return false;
    work_.functions.finalize(summary->text, role(), [&](std::span<const std::size_t> replaced) {
        return composer_->provenance_of(replaced, summary->is_by_rule);
    });
    return true;
}

void SummarizationFold::stage_composed(const ComposedSummary& composed, bool is_by_rule) {
    FoldReplacement with{.role = role(),
                         .summary = composed.summary_text,
                         .provenance = composer_->provenance_of(composed, is_by_rule),
                         .before = composed.skills_text,
                         .behind = composed.files_text};
    const std::vector<Serial>& covers = with.provenance.covers;
    with.before_provenance = {.origin = Origin::skills, .reason = "summary", .covers = covers};
    with.behind_provenance = {.origin = Origin::attachment, .reason = "summary", .covers = covers};
    // One list: it is in order of age.
    auto& records = composed.skills_text.empty() ? with.provenance.skill_records : with.before_provenance.skill_records;
    for (const Skill& skill : composed.hidden_skills) records.push_back(to_record(skill));
    for (const Skill& skill : composed.skills) records.push_back(to_record(skill));
    if (const FoldedObject* const stored = composer_->object()) {
        work_.edit.store_on_commit(stored->key, stored->content, std::nullopt, stored->storage);
        with.provenance.stored_keys.push_back(stored->key);
    }
    stage_fold(work_.edit, plan_.folded, with, turn_.config.profile.validity, turn_.language);
    if (composer_->has_continue_message()) stage_continue_message();
}

/// Not behind the user's word, nor behind a tool where the server refuses that, nor into a round that waits for
/// results.
bool SummarizationFold::is_continue_message_due() const {
    const Outline outline = turn_.outline();
    if (!config_.continue_message || outline.size() == 0) return false;
    const MessageInfo& last = outline[outline.size() - 1];
    if (has_rule(turn_.config.profile.validity, Rule::OC6_user_turns) && last.role != Role::assistant) return false;
    return !starts_turn(last) && outline.is_open_round_complete();
}

void SummarizationFold::stage_continue_message() {
    work_.edit.insert_text(work_.edit.outline().size(), Role::user, continue_text(turn_.language),
                           {.origin = Origin::nudge, .reason = "continue"});
}

void SummarizationFold::call_host() {
    if (!composer_->has_continue_message() || work_.functions.finalize) return;
    const EditGroup edit_group = work_.edit.begin_edit_group();
    stage_continue_message();
    if (work_.edit.host_would_veto()) composer_->set_continue_message(false);
    work_.edit.drop_edit_group(edit_group);
    composed_.reset();
}

}  // namespace whittle::inline v0::detail
