#pragma once

#include "whittle/chain/chain.hpp"
#include "whittle/digest/digest.hpp"
#include "whittle/digest/facts.hpp"
#include "whittle/digest/fold.hpp"
#include "whittle/summarization/callbacks.hpp"
#include "whittle/summarization/config.hpp"
#include "whittle/summarization/fold_range.hpp"
#include "whittle/summarization/preserved.hpp"
#include "whittle/summarization/summary_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// Why no summary is tried, with the numbers.
[[nodiscard]] std::string describe_floor(const FoldSizes& sizes, const FoldPlan& plan, std::int64_t reserve);
/// That a summary did not bring the request below the trigger.
[[nodiscard]] std::string describe_rest(std::int64_t tokens, std::int64_t limit);
/// What a hook of a chain with that configuration may spend.
[[nodiscard]] HookBudget budget_of(const ChainConfig& chain);

/// The built-in post-processing of one summary: everything that will stand in place of the folded messages.
template <AgentMessage M>
struct SummaryDraft {
    std::optional<M> skills_message{};
    std::optional<M> summary_message{};
    KeptUserMessages user_messages{};    ///< shown
    std::vector<UserText> user_texts{};  ///< within the budget, also where there is no room to show them
    std::vector<Skill> skills{};         ///< shown
    std::vector<Skill> hidden_skills{};  ///< for which there is no room now
    std::string facts{};                 ///< a note of what the next summary must not lose either
    std::int64_t tokens = 0;
};

/// One fold of a conversation, from the plan to the edits. What the hooks share.
template <AgentMessage M>
class FoldRun {
public:
    FoldRun(Turn<M>& turn, const SummarizationConfig& config, const SummarizationCallbacks<M>& callbacks,
            const FoldSizes& sizes)
        : turn_(turn), config_(config), callbacks_(callbacks), sizes_(sizes), edit_(turn.edit()) {
        plan_now();
    }

    [[nodiscard]] const FoldPlan& plan() const noexcept { return plan_; }
    /// What stays whatever is folded, in tokens, with the reserve for the reply.
    [[nodiscard]] std::int64_t floor_tokens() const noexcept {
        return sizes_.floor_of(plan_, turn_.config.profile.output_reserve);
    }
    /// What has to stay is too much already for every condition that is due: no summary can help.
    [[nodiscard]] bool is_over_floor() const noexcept;
    /// Nothing new to fold, or less than the words around a summary take.
    [[nodiscard]] bool is_pointless() const;
    void list_candidates() const;

    /// Throws Error(invalid_history) if a summary in that place would break a rule, whatever it says.
    void rehearse();
    /// Asks the model. Throws Error(cancelled), and what a digest throws.
    [[nodiscard]] DigestResult<M> generate(Model<M>& model, DigestState& state);
    /// Stages the edits of an accepted summary.
    void stage(const std::string& summary);
    [[nodiscard]] Transaction<M>& edit() noexcept { return edit_; }
    /// A user's finalizer may make the list larger (L6).
    [[nodiscard]] CommitResult commit() { return edit_.commit({.must_save = !callbacks_.finalize}); }
    void tell(const SummarizationEvent<M>& event, std::string_view kind, std::string_view text) const;

private:
    void plan_now();
    void plan_within(const FoldSizes& sizes);
    [[nodiscard]] Role summary_role() const noexcept;
    [[nodiscard]] std::int64_t tokens_of(const M& m) const { return count_message(m, turn_.counter()); }
    [[nodiscard]] M summary_message(std::string_view text, const SummaryDraft<M>& draft,
                                    std::span<const RetainedFact> facts) const;
    [[nodiscard]] SummaryDraft<M> draft(std::string_view summary) const;
    [[nodiscard]] std::string judge(std::string_view summary);
    [[nodiscard]] std::vector<RetainedFact> facts_beside(std::string_view stands, std::string_view own_text,
                                                         std::int64_t room, SummaryDraft<M>& draft) const;
    [[nodiscard]] std::vector<Skill> folded_skills() const;
    [[nodiscard]] std::vector<std::size_t> staying() const;
    [[nodiscard]] std::string_view transcript_path() const noexcept;
    [[nodiscard]] DigestTask<M> task(Model<M>& model);
    [[nodiscard]] DigestCallbacks<M> digest_callbacks();
    [[nodiscard]] std::vector<M> own_prefix_and(const M& system, const M& user) const;
    [[nodiscard]] DigestCallbacks<M> prefix_callbacks();
    [[nodiscard]] DigestResult<M> ask_with_prefix(DigestTask<M> task, DigestConfig config, DigestState& state);
    void stage_draft(Transaction<M>& edit, const SummaryDraft<M>& draft) const;
    void stage_finalized(const std::string& summary);
    void tell_nothing_carries(const Provenance& lost) const;
    void stage_made(std::size_t first, std::size_t last, std::vector<M> made, Provenance provenance);

    Turn<M>& turn_;
    const SummarizationConfig& config_;
    const SummarizationCallbacks<M>& callbacks_;
    FoldSizes sizes_;
    Transaction<M> edit_;
    std::vector<std::int64_t> tokens_{};  // of each message
    FoldPlan plan_{};
    std::string judged_summary_{};
    std::optional<SummaryDraft<M>> judged_draft_{};  // of `judged_summary_`: collecting reads the whole fold
};

template <AgentMessage M>
void FoldRun<M>::plan_now() {
    tokens_ = turn_.conversation.tokens_of_each(turn_.config.token_counter);
    plan_within(sizes_);
    if (!sizes_.is_overhead_in_the_way(plan_, turn_.config.profile.output_reserve)) return;
    sizes_.scale.overhead = 0;  // no fold can do anything about it: what else can go has to
    plan_within(sizes_);
}

template <AgentMessage M>
void FoldRun<M>::plan_within(const FoldSizes& sizes) {
    const FoldLimits limits{.keep_recent_tokens = config_.keep_recent_tokens,
                            .keep_recent_messages = config_.keep_recent_messages,
                            .limit_tokens = sizes.limit_of_messages(),
                            .limit_messages = sizes.limit_messages,
                            .keep_loop_head = has_rule(turn_.config.profile.validity, Rule::A7_thinking_first)};
    plan_ = plan_fold(turn_.conversation.outline(), tokens_, limits, [&](std::size_t i) { return edit_.is_pinned(i); });
}

template <AgentMessage M>
bool FoldRun<M>::is_over_floor() const noexcept {
    const auto messages = static_cast<std::int64_t>(plan_.rules.size());
    const bool by_messages = sizes_.limit_messages > 0 && messages > sizes_.limit_messages;
    const bool by_tokens = sizes_.trigger_tokens > 0 && (!by_messages || sizes_.context_tokens > sizes_.trigger_tokens);
    if (by_tokens && floor_tokens() <= sizes_.trigger_tokens) return false;
    if (by_messages && static_cast<std::int64_t>(plan_.kept_messages) < sizes_.limit_messages) return false;
    return by_tokens || by_messages;
}

template <AgentMessage M>
bool FoldRun<M>::is_pointless() const {
    if (plan_.folded.empty() || plan_.has_only_summaries) return true;
    return !callbacks_.finalize && tokens_of(summary_message({}, {}, {})) >= plan_.folded_tokens;
}

template <AgentMessage M>
void FoldRun<M>::list_candidates() const {
    StageDetails& details = turn_.report.more();
    const Outline outline = turn_.conversation.outline();
    details.candidates.reserve(details.candidates.size() + outline.size());
    for (std::size_t i = 0; i < outline.size(); ++i) {
        const bool is_cut = plan_.rules[i] == "fold";
        details.candidates.push_back({outline[i].serial, 0, is_cut, plan_.rules[i], is_cut ? tokens_[i] : 0});
    }
}

// ---- what stands in place of the folded messages
// ---------------------------------------------------------------------

template <AgentMessage M>
Role FoldRun<M>::summary_role() const noexcept {
    return config_.summary_role == SummaryRole::system ? Role::system : Role::user;
}

template <AgentMessage M>
std::string_view FoldRun<M>::transcript_path() const noexcept {
    if (!config_.transcript_file_path.empty()) return config_.transcript_file_path;
    return callbacks_.transcript ? std::string_view(callbacks_.transcript->path()) : std::string_view{};
}

template <AgentMessage M>
M FoldRun<M>::summary_message(std::string_view text, const SummaryDraft<M>& draft,
                              std::span<const RetainedFact> facts) const {
    const SummaryParts parts{text, &draft.user_messages, facts, transcript_path()};
    return message_traits<M>::make(summary_role(), compose_summary(parts, turn_.language));
}

/// Indices of the messages that stay.
template <AgentMessage M>
std::vector<std::size_t> FoldRun<M>::staying() const {
    std::vector<std::size_t> staying;
    for (std::size_t i = 0; i < plan_.rules.size(); ++i) {
        if (plan_.rules[i] != "fold") staying.push_back(i);
    }
    return staying;
}

/// Skills of the folded messages, but for those that stay in the list as well.
template <AgentMessage M>
std::vector<Skill> FoldRun<M>::folded_skills() const {
    const PreserveSkillsConfig& config = config_.preserve_skills;
    if (config.max_skills <= 0) return {};
    const Outline outline = turn_.conversation.outline();
    const MessageView<M> messages = turn_.conversation.messages();
    std::vector<Skill> skills = skills_in<M>(messages, outline, plan_.folded, config.skill_tool_name);
    const std::vector<Skill> kept = skills_in<M>(messages, outline, staying(), config.skill_tool_name);
    std::erase_if(skills, [&](const Skill& skill) {
        return std::ranges::any_of(kept, [&](const Skill& other) { return other.name == skill.name; });
    });
    return skills;
}

/// User messages, then skills, then facts take what room there is, so that the whole stays below what it replaces and
/// what the trigger leaves. What finds no room now, next to a large open round, is carried until there is some.
template <AgentMessage M>
SummaryDraft<M> FoldRun<M>::draft(std::string_view summary) const {
    SummaryDraft<M> result;
    const TokenCounter& counter = turn_.counter();
    std::int64_t left = sizes_.room_for_summary(plan_) - tokens_of(summary_message(summary, {}, {}));
    const std::int64_t for_users = user_message_budget(config_.preserve_user_messages, config_.trigger);
    if (for_users > 0) {
        std::size_t left_out = 0;
        result.user_texts =
            keep_user_texts(distinct_user_texts_in<M>(turn_.conversation.messages(), turn_.conversation.outline(),
                                                      plan_.folded, staying(), callbacks_.user_message_filter),
                            for_users, counter, turn_.language, left_out);
        KeptUserMessages& shown = result.user_messages;
        shown.texts = strings_of(
            keep_user_texts(result.user_texts, std::min(for_users, left), counter, turn_.language, shown.left_out));
        shown.left_out += left_out;
        left = sizes_.room_for_summary(plan_) - tokens_of(summary_message(summary, result, {}));
    }
    result.hidden_skills = keep_skills(folded_skills(), config_.preserve_skills, INT64_MAX, counter, turn_.language);
    result.skills = keep_skills(result.hidden_skills, config_.preserve_skills, left, counter, turn_.language);
    result.hidden_skills.resize(result.hidden_skills.size() - result.skills.size());  // the newest are shown
    const std::string own_text = without_user_section(summary);
    std::string stands = result.user_messages.texts.empty() ? std::string(summary) : own_text;
    stands.append("\n").append(transcript_path());
    for (const std::string& text : result.user_messages.texts) stands.append("\n").append(text);
    if (!result.skills.empty()) {
        const std::string text = to_text(result.skills, turn_.language);
        stands.append("\n").append(text);
        result.skills_message = message_traits<M>::make(Role::user, text);
        result.tokens = tokens_of(*result.skills_message);
        left -= result.tokens;
    }
    const std::vector<RetainedFact> facts = facts_beside(stands, own_text, left, result);
    result.summary_message = summary_message(summary, result, facts);
    result.tokens = add_saturating(result.tokens, tokens_of(*result.summary_message));
    return result;
}

/// What is shown is what `stands` lacks. Carried is more, and also what the model wrote itself: the next one may leave
/// it out.
template <AgentMessage M>
std::vector<RetainedFact> FoldRun<M>::facts_beside(std::string_view stands, std::string_view own_text,
                                                   std::int64_t room, SummaryDraft<M>& draft) const {
    constexpr std::int64_t carried_for_shown = 4;
    const std::int64_t budget = config_.retained_facts_tokens;
    if (budget <= 0) return {};
    FactCollector facts;
    collect_facts<M>(turn_.conversation.messages(), turn_.conversation.outline(), plan_.folded, facts);
    facts.next_message();
    facts.add({.kind = PartKind::text, .text = own_text}, false);
    const TokenCounter& counter = turn_.counter();
    const std::int64_t carried = std::min(budget, INT64_MAX / carried_for_shown) * carried_for_shown;
    draft.facts = to_note(facts.missing_in(transcript_path(), carried, counter, turn_.language));
    return facts.missing_in(stands, std::min(budget, room), counter, turn_.language);
}

// ---- the edits
// -------------------------------------------------------------------------------------------------------

/// One stretch makes way for the summary, the others go.
template <AgentMessage M>
void FoldRun<M>::stage_draft(Transaction<M>& edit, const SummaryDraft<M>& draft) const {
    const Outline outline = turn_.conversation.outline();
    Provenance summary{.origin = Origin::summary,
                       .reason = "summary",
                       .stored = stored_references(outline, plan_.folded),
                       .covers = covered_serials(outline, plan_.folded),
                       .user_messages = strings_of(draft.user_texts),
                       .beside_results = times_of(draft.user_texts),
                       .facts = draft.facts};
    Provenance skills{.origin = Origin::skills, .reason = "summary", .covers = summary.covers};
    auto& records = draft.skills_message ? skills.skills : summary.skills;  // one list: it is in order of age
    for (const Skill& skill : draft.hidden_skills) records.push_back(to_record(skill));
    for (const Skill& skill : draft.skills) records.push_back(to_record(skill));
    const auto stretches = stretches_of(plan_.folded);
    const std::size_t place = stretch_for_summary(outline, plan_.folded, turn_.config.profile.validity);
    edit.begin_unit();
    for (std::size_t s = stretches.size(); s-- > 0;) {
        const auto [first, last] = stretches[s];
        if (s != place) {
            edit.replace_range(first, last, {}, {.reason = "summary"});
            continue;
        }
        edit.replace_range(first, last, {*draft.summary_message}, summary);
        if (draft.skills_message) edit.insert(first, *draft.skills_message, skills);
    }
}

template <AgentMessage M>
void FoldRun<M>::rehearse() {
    if (callbacks_.finalize) return;
    EditEnvironment environment = turn_.environment();
    environment.dry_run = true;
    environment.report = nullptr;  // a rehearsal is nobody's business
    environment.events = nullptr;
    Transaction<M> trial = turn_.conversation.edit(turn_.report.middleware, std::move(environment));
    SummaryDraft<M> draft;
    draft.summary_message = summary_message("...", {}, {});
    stage_draft(trial, draft);
    trial.commit({.must_save = false});
}

template <AgentMessage M>
void FoldRun<M>::stage(const std::string& summary) {
    if (callbacks_.finalize) return stage_finalized(summary);
    if (!judged_draft_ || judged_summary_ != summary) judged_draft_ = draft(summary);
    stage_draft(edit_, *std::exchange(judged_draft_, std::nullopt));
}

/// The messages that the finalizer left at the front and at the back are untouched; what is between is replaced.
template <AgentMessage M>
void FoldRun<M>::stage_finalized(const std::string& summary) {
    const std::span<const M> old = turn_.conversation.messages();
    const Outline outline = turn_.conversation.outline();
    const FinalizeContext context{outline, turn_.config.token_counter, turn_.language, summary_role()};
    std::vector<M> made = callbacks_.finalize(context, old, message_traits<M>::make(summary_role(), summary));
    if (made.empty()) throw Error(Errc::callback_failed, "finalize: no messages came back");
    std::size_t front = 0;
    while (front < std::min(old.size(), made.size()) && same_message(old[front], made[front])) ++front;
    std::size_t back = 0;
    while (back < std::min(old.size(), made.size()) - front &&
           same_message(old[old.size() - 1 - back], made[made.size() - 1 - back]))
        ++back;
    if (front == old.size() && front == made.size())
        throw Error(Errc::callback_failed, "finalize: it gave the same list back");
    std::vector<std::size_t> replaced;
    for (std::size_t i = front; i < old.size() - back; ++i) replaced.push_back(i);
    const auto budget = user_message_budget(config_.preserve_user_messages, config_.trigger);
    Provenance provenance{.origin = Origin::summary,
                          .reason = "summary",
                          .stored = stored_references(outline, replaced),
                          .covers = covered_serials(outline, replaced)};
    std::size_t left_out = 0;
    const std::vector<UserText> users =
        keep_user_texts(distinct_user_texts_in<M>(old, outline, replaced, {}, callbacks_.user_message_filter), budget,
                        turn_.counter(), turn_.language, left_out);
    provenance.user_messages = strings_of(users);
    provenance.beside_results = times_of(users);
    for (const Skill& skill : keep_skills(skills_in<M>(old, outline, replaced, config_.preserve_skills.skill_tool_name),
                                          config_.preserve_skills, INT64_MAX, turn_.counter(), turn_.language))
        provenance.skills.push_back(to_record(skill));
    made.erase(made.end() - static_cast<std::ptrdiff_t>(back), made.end());
    made.erase(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(front));
    edit_.allow_pinned(true);
    stage_made(front, old.size() - back, std::move(made), std::move(provenance));
}

/// What is carried is noted at one of the new messages only: the last one that may be the summary, else the last one.
/// Other system texts are no summaries: the next fold leaves them alone.
template <AgentMessage M>
void FoldRun<M>::stage_made(std::size_t first, std::size_t last, std::vector<M> made, Provenance provenance) {
    const auto is_system = [](const M& m) { return message_traits<M>::role(m) == Role::system; };
    const auto is_free = [&](const M& m) { return summary_role() == Role::system || !is_system(m); };
    const auto carrier = std::find_if(made.rbegin(), made.rend(), is_free);
    const auto found = static_cast<std::size_t>(made.rend() - carrier);  // 0: there is none
    const std::size_t main = found > 0 ? found : made.size();
    if (main == 0) tell_nothing_carries(provenance);
    const Provenance plain{.origin = Origin::summary, .reason = "summary", .covers = provenance.covers};
    const Provenance instruction{.origin = Origin::nudge, .reason = "summary", .covers = provenance.covers};
    edit_.begin_unit();
    edit_.replace_range(first, last, {}, plain);
    for (std::size_t i = 0; i < made.size(); ++i) {
        const Provenance& other = is_system(made[i]) ? instruction : plain;
        edit_.insert(first + i, std::move(made[i]), i + 1 == main ? std::move(provenance) : other);
    }
}

template <AgentMessage M>
void FoldRun<M>::tell_nothing_carries(const Provenance& lost) const {
    if (lost.user_messages.empty() && lost.skills.empty()) return;
    const std::string text = "finalize left no new message: " + std::to_string(lost.user_messages.size()) +
                             " user messages and " + std::to_string(lost.skills.size()) +
                             " skills are not carried any further";
    emit(turn_.callbacks.on_event,
         {Event::Level::warning, turn_.report.middleware, "nothing_carries", text, turn_.conversation.id(), 0, 0});
}

// ---- the model
// -------------------------------------------------------------------------------------------------------

/// Why that summary is not accepted; empty: it is.
template <AgentMessage M>
std::string FoldRun<M>::judge(std::string_view summary) {
    judged_draft_.reset();
    judged_summary_ = summary;
    judged_draft_ = draft(summary);
    const std::int64_t tokens = judged_draft_->tokens;
    if (tokens < plan_.folded_tokens) return {};
    return "with all that goes with it, it has " + std::to_string(tokens) + " tokens; it replaces " +
           std::to_string(plan_.folded_tokens);
}

template <AgentMessage M>
DigestTask<M> FoldRun<M>::task(Model<M>& model) {
    DigestTask<M> task{.model = model,
                       .messages = turn_.conversation.messages(),
                       .outline = turn_.conversation.outline(),
                       .fold = plan_.folded,
                       .replaced_tokens = plan_.folded_tokens};
    if (!callbacks_.finalize) task.accept = [this](std::string_view summary) { return judge(summary); };
    return task;
}

template <AgentMessage M>
DigestCallbacks<M> FoldRun<M>::digest_callbacks() {
    DigestCallbacks<M> callbacks{callbacks_.retry, callbacks_.failover, callbacks_.gen_model_input, {}};
    callbacks.on_generate = [this](const Attempt<M>& attempt) {
        tell(GenerateSummary<M>{attempt.number, attempt.phase, attempt.response, attempt.error}, "generate_summary",
             attempt.error != nullptr ? std::string_view(attempt.error->message) : "accepted");
    };
    return callbacks;
}

/// The agent's own messages up to the end of the fold, as they were sent, and what is asked of the model.
template <AgentMessage M>
std::vector<M> FoldRun<M>::own_prefix_and(const M& system, const M& user) const {
    const auto messages = turn_.conversation.messages().first(plan_.folded.back() + 1);
    std::vector<M> input(messages.begin(), messages.end());
    input.push_back(message_traits<M>::make(Role::user, text_of(system) + "\n\n" + text_of(user)));
    return input;
}

/// A prefix that is too large is neither retried nor sent to another model: pieces are due, and the user's functions
/// decide on these.
template <AgentMessage M>
DigestCallbacks<M> FoldRun<M>::prefix_callbacks() {
    DigestCallbacks<M> callbacks = digest_callbacks();
    callbacks.gen_model_input = [this](const M& system, const M& user, MessageView<M>) {
        return own_prefix_and(system, user);
    };
    const auto unless_too_large = [](std::function<bool(const Attempt<M>&)> wants) {
        return [wants = std::move(wants)](const Attempt<M>& attempt) {
            if (attempt.error != nullptr && is_too_large(*attempt.error)) return false;
            return wants ? wants(attempt) : attempt.error != nullptr;
        };
    };
    callbacks.retry.should_retry = unless_too_large(std::move(callbacks.retry.should_retry));
    callbacks.failover.should_failover = unless_too_large(std::move(callbacks.failover.should_failover));
    return callbacks;
}

template <AgentMessage M>
DigestResult<M> FoldRun<M>::ask_with_prefix(DigestTask<M> task, DigestConfig config, DigestState& state) {
    task.system = turn_.request.system;
    task.tools = turn_.request.tools;
    task.prefix_edited = turn_.config.profile.thinking_bound_to_prefix && turn_.conversation.prefix_edited();
    if (state.learnt_input_limit > 0)
        config.max_input_tokens = std::min(config.max_input_tokens, state.learnt_input_limit);
    DigestState whole{.learnt_input_limit = state.learnt_input_limit};
    DigestResult<M> result = digest(task, config, prefix_callbacks(), digest_environment(turn_), whole);
    state.learnt_input_limit = whole.learnt_input_limit;
    if (result.ok()) state = std::move(whole);
    return result;
}

template <AgentMessage M>
DigestResult<M> FoldRun<M>::generate(Model<M>& model, DigestState& state) {
    DigestConfig config = digest_config(config_);
    config.max_input_tokens = input_bound(config_, known_window(turn_), turn_.config.profile.output_reserve);
    const DigestTask<M> plain = task(model);
    if (config_.reuse_prompt_cache && !callbacks_.gen_model_input) {
        DigestResult<M> result = ask_with_prefix(plain, config, state);
        if (!result.failure || !is_too_large(*result.failure)) return result;
    }
    return digest(plain, config, digest_callbacks(), digest_environment(turn_), state);
}

template <AgentMessage M>
void FoldRun<M>::tell(const SummarizationEvent<M>& event, std::string_view kind, std::string_view text) const {
    if (!config_.emit_internal_events) return;
    emit(turn_.callbacks.on_event,
         {.source = turn_.report.middleware, .kind = kind, .text = text, .conversation = turn_.conversation.id()});
    if (!callbacks_.on_internal_event) return;
    try {
        callbacks_.on_internal_event(event);
    } catch (...) {  // an observer must not decide on a summary
        tell_failure(turn_.callbacks.on_event, turn_.report.middleware, turn_.conversation.id(),
                     "on_internal_event: " + current_error_text());
    }
}

}  // namespace whittle::inline v0::detail
