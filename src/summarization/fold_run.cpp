#include "fold_run.hpp"

#include "whittle/summarization/detail/prepared.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/event.hpp"
#include "whittle/conversation/detail/repair_plan.hpp"
#include "whittle/summary/detail/fold.hpp"
#include "whittle/summary/detail/plain_summary.hpp"
#include "whittle/summary/detail/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace whittle::inline v0::detail {

FoldRun::FoldRun(const SummaryWork& work)
    : turn_(work.turn), edit_(work.edit), port_(work.port), config_(work.config), sizes_(work.sizes) {
    for (std::size_t i = 0; i < edit_.outline().size(); ++i) tokens_.push_back(edit_.tokens_of(i));
    plan_again();
}

void FoldRun::plan_again() {
    forget_drafts();
    goes_on_apart_ = is_go_on_due();
    plan_within(sizes_);
    if (sizes_.is_overhead_in_the_way(plan_, reserve())) {
        sizes_.scale.overhead = 0;  // no fold can do anything about it: what else can go has to
        plan_within(sizes_);
    }
    if (turn_.report.hook == Hook::compact_now) plan_within(sizes_.wanted(), expected_tokens());
}

/// Of a summary of what is planned now: its own words, and what goes with it where there is room.
std::int64_t FoldRun::expected_tokens() const {
    constexpr std::int64_t words_of_models = 3'000;
    const std::int64_t by_rule = config_.plain_summary_tokens;
    std::int64_t words = config_.max_summary_tokens > 0 ? config_.max_summary_tokens : words_of_models;
    if (!port_.has_model() && by_rule > 0) words = std::min(words, by_rule);
    std::int64_t users = 0;
    for (const UserText& text : user_texts(plan_.folded, staying()))
        users = add_saturating(users, tokens_of(text.text));
    users = std::min(users, user_message_budget(config_.preserve_user_messages, config_.trigger));
    const std::int64_t frame = tokens_of(compose({}, {}, {}));
    return add_saturating(add_saturating(words, users), add_saturating(frame, config_.retained_facts_tokens));
}

/// `expected_tokens`: of the summary, where the request should come near its limit; 0: the settings decide.
void FoldRun::plan_within(const FoldSizes& sizes, std::int64_t expected_tokens) {
    const bool is_near = expected_tokens > 0;
    const FoldLimits limits{.keep_recent_tokens = is_near ? INT64_MAX : config_.keep_recent_tokens,
                            .keep_recent_messages = config_.keep_recent_messages,
                            .limit_tokens = sizes.limit_of_messages(),
                            .limit_messages = sizes.limit_messages,
                            .keep_loop_head = has_rule(turn_.config.profile.validity, Rule::A7_thinking_first),
                            .summaries_per_level = has_levels() ? config_.summaries_per_level : 0,
                            .expected_tokens = expected_tokens};
    plan_ = plan_fold(turn_.outline(), tokens_, limits, [&](std::size_t i) { return edit_.is_pinned(i); });
}

/// What a provider has refused has to become as small as it can, and so has what a host wants small.
bool FoldRun::has_levels() const noexcept {
    return turn_.report.hook == Hook::before_model && !port_.has_finalize() &&
           !wants_turns(turn_.config.profile.validity);
}

bool FoldRun::restrict_to(const PreparedSummary& prepared) {
    const Outline outline = turn_.outline();
    const std::unordered_set<Serial> covers(prepared.covers().begin(), prepared.covers().end());
    std::vector<std::size_t> folded;
    for (const std::size_t i : plan_.folded) {
        if (covers.contains(outline[i].serial)) folded.push_back(i);
    }
    if (folded.size() != covers.size() || print_of_range(outline, folded) != prepared.print()) return false;
    for (const std::size_t i : plan_.folded) {
        if (covers.contains(outline[i].serial)) continue;
        plan_.rules[i] = "recent";
        plan_.folded_tokens -= tokens_[i];
        plan_.tail_tokens = add_saturating(plan_.tail_tokens, tokens_[i]);
    }
    plan_.folded = std::move(folded);
    forget_drafts();
    return true;
}

/// What was made for another plan.
void FoldRun::forget_drafts() noexcept {
    work_.reset();
    object_.reset();
    attached_.reset();
    judged_draft_.reset();
}

std::string FoldRun::refuse(std::string_view summary) {
    is_by_rule_ = false;
    std::string why = judge(summary);
    if (!why.empty() || sizes_.trigger_tokens <= 0) return why;
    const std::int64_t left =
        add_saturating(add_saturating(plan_.kept_tokens, plan_.tail_tokens), judged_draft_->tokens);
    if (left <= sizes_.limit_of_messages()) return {};
    return fmt::format("it would leave {} tokens of messages, {} are allowed", left, sizes_.limit_of_messages());
}

bool FoldRun::is_over_floor() const noexcept {
    const auto messages = static_cast<std::int64_t>(plan_.rules.size());
    const bool by_messages = sizes_.limit_messages > 0 && messages > sizes_.limit_messages;
    const bool by_tokens = sizes_.trigger_tokens > 0 && (!by_messages || sizes_.context_tokens > sizes_.trigger_tokens);
    if (by_tokens && floor_tokens() <= sizes_.trigger_tokens) return false;
    if (by_messages && static_cast<std::int64_t>(plan_.kept_messages) < sizes_.limit_messages) return false;
    return by_tokens || by_messages;
}

bool FoldRun::is_pointless() const {
    if (plan_.folded.empty() || plan_.has_only_summaries) return true;
    return !port_.has_finalize() && tokens_of(compose({}, {}, {})) >= plan_.folded_tokens;
}

void FoldRun::list_candidates() const {
    StageDetails& details = turn_.report.more();
    const Outline outline = turn_.outline();
    details.candidates.reserve(details.candidates.size() + outline.size());
    for (std::size_t i = 0; i < outline.size(); ++i) {
        const bool is_cut = plan_.rules[i] == "fold";
        details.candidates.push_back({outline[i].serial, 0, is_cut, plan_.rules[i], is_cut ? tokens_[i] : 0});
    }
}

/// Indices of the messages that stay.
std::vector<std::size_t> FoldRun::staying() const {
    std::vector<std::size_t> staying;
    for (std::size_t i = 0; i < plan_.rules.size(); ++i) {
        if (plan_.rules[i] != "fold") staying.push_back(i);
    }
    return staying;
}

std::string_view FoldRun::transcript_path() const noexcept {
    return config_.transcript_file_path.empty() ? port_.transcript_path() : config_.transcript_file_path;
}

const FoldedObject* FoldRun::object() const {
    if (!config_.offload_folded || !turn_.config.storage || port_.has_finalize() || plan_.folded.empty())
        return nullptr;
    if (!object_) object_ = folded_object(turn_, plan_.folded);
    return &*object_;
}

std::string FoldRun::compose(std::string_view summary, const KeptUserMessages& users,
                             std::span<const RetainedFact> facts, std::string_view work) const {
    SummaryParts parts{summary, &users, work, facts, transcript_path()};
    parts.is_by_rule = is_by_rule_;
    parts.ends_in_order = !goes_on_apart_;
    if (const FoldedObject* const stored = object()) {
        parts.stored_as = stored->references;
        parts.reader = stored->reader;
    }
    return compose_summary(parts, turn_.language);
}

std::vector<UserText> FoldRun::user_texts(std::span<const std::size_t> indices,
                                          std::span<const std::size_t> staying) const {
    return collect_user_texts(visit_parts(), turn_.outline(), indices, staying,
                              [this](std::size_t i) { return port_.passes_filter(i); });
}

std::vector<Skill> FoldRun::skills_at(std::span<const std::size_t> indices) const {
    return collect_skills(visit_parts(), turn_.outline(), indices, config_.preserve_skills.skill_tool_name);
}

/// Skills of the folded messages, but for those that stay in the list as well.
std::vector<Skill> FoldRun::folded_skills() const {
    if (config_.preserve_skills.max_skills <= 0) return {};
    std::vector<Skill> skills = skills_at(plan_.folded);
    const std::vector<Skill> kept = skills_at(staying());
    std::erase_if(skills, [&](const Skill& skill) {
        return std::ranges::any_of(kept, [&](const Skill& other) { return other.name == skill.name; });
    });
    return skills;
}

/// User messages, then skills, the state of the work, facts and files take what room there is, so that the whole stays
/// below what it replaces and what the trigger leaves. What finds no room now, next to a large open round, is carried
/// until there is some.
SummaryDraft FoldRun::draft(std::string_view summary) {
    collect_work_once();
    SummaryDraft result;
    add_user_texts(summary, result);
    std::int64_t left = sizes_.room_for_summary(plan_) - tokens_of(compose(summary, result.user_messages, {}));
    add_skills(left, result);
    left -= result.tokens;
    add_work(left, result);
    const std::string own_text = without_user_section(summary);
    std::string stands = result.user_messages.texts.empty() ? std::string(summary) : own_text;
    stands.append("\n").append(transcript_path()).append("\n").append(result.work_text);
    for (const std::string& text : result.user_messages.texts) stands.append("\n").append(text);
    if (!result.skills_text.empty()) stands.append("\n").append(result.skills_text);
    const std::vector<RetainedFact> facts = facts_beside(stands, own_text, left - tokens_of(result.work_text), result);
    result.summary_text = compose(summary, result.user_messages, facts, result.work_text);
    result.tokens = add_saturating(result.tokens, tokens_of(result.summary_text));
    if (goes_on_apart_) result.tokens = add_saturating(result.tokens, tokens_of(continue_text(turn_.language)));
    add_files(sizes_.room_for_summary(plan_) - result.tokens, result);
    return result;
}

void FoldRun::collect_work_once() {
    if (!work_) work_ = work_of_fold(visit_parts(), turn_.outline(), plan_.folded, config_.preserve_work);
}

/// A plan is shown unless a newer one stays in the list. A summary by rule has plan and files in its own text.
void FoldRun::add_work(std::int64_t room, SummaryDraft& draft) const {
    PreserveWorkConfig config = work_->shown(config_.preserve_work);
    if (is_by_rule_) config.plan_tokens = config.files_tokens = 0;
    draft.work = to_note(work_->folded);
    draft.work_text = to_text(work_->folded, config, room, turn_.counter(), turn_.language);
}

/// Files that were read or written, those used last in front, but for those that the list still shows.
std::vector<FileUse> FoldRun::files_to_attach() const {
    constexpr std::size_t for_each_wanted = 4;  // some are gone by now
    const std::size_t most = for_each_wanted * static_cast<std::size_t>(config_.attach_files.max_files);
    std::unordered_set<std::string_view> shown;
    for (const FileUse& file : work_->staying.files) {
        if (file.is_read_whole) shown.insert(file.path);
    }
    std::vector<FileUse> files;
    for (auto file = work_->folded.files.rbegin(); file != work_->folded.files.rend() && files.size() < most; ++file) {
        const bool is_used = file->writes > 0 || file->is_read_whole || !file->ranges.empty();
        if (is_used && !shown.contains(file->path)) files.push_back(*file);
    }
    return files;
}

/// The host is asked once for a summary, and only where there may be room.
void FoldRun::add_files(std::int64_t room, SummaryDraft& draft) {
    const AttachFilesConfig& config = config_.attach_files;
    if (!port_.has_attach_files() || config.max_files == 0 || room <= 0) return;
    if (!attached_) {
        const std::vector<FileUse> wanted = files_to_attach();
        attached_ = wanted.empty() ? std::vector<AttachedFile>{} : port_.attach_files(wanted);
    }
    const std::vector<AttachedFile> kept = keep_files(*attached_, config, room, turn_.counter(), turn_.language);
    draft.files_text = to_text(kept, turn_.language);
    draft.tokens = add_saturating(draft.tokens, tokens_of(draft.files_text));
}

void FoldRun::add_user_texts(std::string_view summary, SummaryDraft& draft) const {
    const std::int64_t budget = user_message_budget(config_.preserve_user_messages, config_.trigger);
    if (budget <= 0) return;
    const std::int64_t left = sizes_.room_for_summary(plan_) - tokens_of(compose(summary, {}, {}));
    std::size_t left_out = 0;
    draft.user_texts =
        keep_user_texts(user_texts(plan_.folded, staying()), budget, turn_.counter(), turn_.language, left_out);
    KeptUserMessages& shown = draft.user_messages;
    shown.texts = strings_of(
        keep_user_texts(draft.user_texts, std::min(budget, left), turn_.counter(), turn_.language, shown.left_out));
    shown.left_out += left_out;
}

void FoldRun::add_skills(std::int64_t room, SummaryDraft& draft) const {
    const PreserveSkillsConfig& config = config_.preserve_skills;
    draft.hidden_skills = keep_skills(folded_skills(), config, INT64_MAX, turn_.counter(), turn_.language);
    draft.skills = keep_skills(draft.hidden_skills, config, room, turn_.counter(), turn_.language);
    draft.hidden_skills.resize(draft.hidden_skills.size() - draft.skills.size());  // the newest are shown
    draft.skills_text = to_text(draft.skills, turn_.language);
    draft.tokens = tokens_of(draft.skills_text);
}

/// What is shown is what `stands` lacks. Carried is more, and also what the model wrote itself: the next one may leave
/// it out.
std::vector<RetainedFact> FoldRun::facts_beside(std::string_view stands, std::string_view own_text, std::int64_t room,
                                                SummaryDraft& draft) const {
    const std::int64_t budget = config_.retained_facts_tokens;
    if (budget <= 0) return {};
    FactCollector facts;
    collect_facts(visit_parts(), turn_.outline(), plan_.folded, facts);
    facts.next_message();
    facts.add({.kind = PartKind::text, .text = own_text}, false);
    draft.facts = to_note(facts.missing_in(transcript_path(), carried_tokens(budget), turn_.counter(), turn_.language));
    return facts.missing_in(stands, std::min(budget, room), turn_.counter(), turn_.language);
}

/// Why that summary is not accepted; empty: it is.
std::string FoldRun::judge(std::string_view summary) {
    judged_draft_.reset();
    judged_summary_ = summary;
    judged_draft_ = draft(summary);
    const std::int64_t tokens = judged_draft_->tokens;
    if (tokens < plan_.folded_tokens) return {};
    return fmt::format("with all that goes with it, it has {} tokens; it replaces {}", tokens, plan_.folded_tokens);
}

/// One stretch makes way for the summary, the others go.
void FoldRun::stage_draft(Draft& edit, const SummaryDraft& draft) const {
    const Outline outline = turn_.outline();
    Provenance summary{.origin = Origin::summary,
                       .reason = std::string(is_by_rule_ ? plain_summary_reason : "summary"),
                       .stored = stored_references(outline, plan_.folded),
                       .covers = covered_serials(outline, plan_.folded),
                       .level = plan_.level,
                       .user_messages = strings_of(draft.user_texts),
                       .beside_results = times_of(draft.user_texts),
                       .work = draft.work,
                       .facts = draft.facts};
    Provenance skills{.origin = Origin::skills, .reason = "summary", .covers = summary.covers};
    const Provenance files{.origin = Origin::attachment, .reason = "summary", .covers = summary.covers};
    const bool has_skills = !draft.skills_text.empty();
    auto& records = has_skills ? skills.skills : summary.skills;  // one list: it is in order of age
    for (const Skill& skill : draft.hidden_skills) records.push_back(to_record(skill));
    for (const Skill& skill : draft.skills) records.push_back(to_record(skill));
    const auto stretches = stretches_of(plan_.folded);
    const std::size_t place = stretch_for_summary(outline, plan_.folded, turn_.config.profile.validity);
    edit.begin_unit();
    if (const FoldedObject* const stored = object()) {
        edit.offload(stored->key, stored->content, std::nullopt, stored->storage);
        summary.stored.push_back(stored->key);
    }
    for (std::size_t s = stretches.size(); s-- > 0;) {
        const auto [first, last] = stretches[s];
        const FoldNeighbours near = neighbours_of(outline, first, last, plan_.folded, turn_.config.profile.validity);
        const Provenance turns{
            .origin = Origin::repair, .reason = std::string(bridge_reason), .covers = summary.covers};
        const auto bridge = [&](std::size_t at) {
            edit.insert_text(at, Role::assistant, bridge_text(turn_.language), turns);
        };
        if (s != place) {
            edit.erase_range(first, last, {.reason = "summary"});
            if (near.before && near.behind) bridge(first);
            continue;
        }
        const bool is_in_turns = role() == Role::user && has_rule(turn_.config.profile.validity, Rule::OC6_user_turns);
        edit.replace_with_text(first, last, role(), draft.summary_text, summary);
        if (near.behind && is_in_turns) bridge(first + 1);
        if (!draft.files_text.empty()) edit.insert_text(first + 1, Role::user, draft.files_text, files);
        if (!draft.files_text.empty() && is_in_turns) bridge(first + 1);
        if (has_skills && is_in_turns) bridge(first);
        if (has_skills) edit.insert_text(first, Role::user, draft.skills_text, skills);
        if (near.before && is_in_turns) bridge(first);
    }
    if (goes_on_apart_) stage_go_on(edit);
}

/// Not behind the user's word, nor behind a tool where the server refuses that, nor into a round that waits for
/// results.
bool FoldRun::is_go_on_due() const {
    const Outline outline = turn_.outline();
    if (!config_.continue_message || outline.size() == 0) return false;
    const MessageInfo& last = outline[outline.size() - 1];
    if (has_rule(turn_.config.profile.validity, Rule::OC6_user_turns) && last.role != Role::assistant) return false;
    return !starts_turn(last) && outline.is_round_complete();
}

void FoldRun::stage_go_on(Draft& edit) const {
    edit.insert_text(edit.outline().size(), Role::user, continue_text(turn_.language),
                     {.origin = Origin::nudge, .reason = "continue"});
}

bool FoldRun::is_go_on_vetoed() {
    bool is_vetoed = false;
    port_.with_trial([&](Draft& trial) {
        stage_go_on(trial);
        is_vetoed = trial.is_vetoed();
    });
    return is_vetoed;
}

bool FoldRun::rehearse(bool asks_host, bool has_text) {
    if (port_.has_finalize()) return true;
    SummaryDraft draft;
    draft.summary_text = compose("...", {}, {});
    bool is_wanted = true;
    port_.with_trial([&](Draft& trial) {
        stage_draft(trial, draft);
        trial.commit({.must_save = false});
        is_wanted = !asks_host || has_text || !port_.has_model() || !trial.is_vetoed(true);
    });
    if (is_wanted && asks_host && goes_on_apart_ && is_go_on_vetoed()) {
        goes_on_apart_ = false;
        judged_draft_.reset();
    }
    return is_wanted;
}

void FoldRun::stage(const std::string& summary) {
    if (port_.has_finalize())
        return port_.stage_finalized(summary, role(),
                                     [this](std::span<const std::size_t> replaced) { return carried_from(replaced); });
    if (!judged_draft_ || judged_summary_ != summary) judged_draft_ = draft(summary);
    stage_draft(edit_, *std::exchange(judged_draft_, std::nullopt));
}

/// What goes on to the next summary where the user made the list.
Provenance FoldRun::carried_from(std::span<const std::size_t> replaced) const {
    const Outline outline = turn_.outline();
    const std::int64_t budget = user_message_budget(config_.preserve_user_messages, config_.trigger);
    std::size_t left_out = 0;
    const std::vector<UserText> users =
        keep_user_texts(user_texts(replaced, {}), budget, turn_.counter(), turn_.language, left_out);
    Provenance carried{.origin = Origin::summary,
                       .reason = std::string(is_by_rule_ ? plain_summary_reason : "summary"),
                       .stored = stored_references(outline, replaced),
                       .covers = covered_serials(outline, replaced),
                       .user_messages = strings_of(users),
                       .beside_results = times_of(users),
                       .work = to_note(collect_work(visit_parts(), outline, replaced, config_.preserve_work))};
    for (const Skill& skill :
         keep_skills(skills_at(replaced), config_.preserve_skills, INT64_MAX, turn_.counter(), turn_.language))
        carried.skills.push_back(to_record(skill));
    return carried;
}

namespace {

/// Whether the model's summary failed for good: a part that the budget ended goes on, a callback's error is the user's.
bool has_given_up(const DigestOutcome& asked, bool has_progress) noexcept {
    if (asked.failure->failure == DigestFailure::budget) return asked.model_calls > 0 && !has_progress;
    return asked.failure->failure != DigestFailure::callback;
}

}  // namespace

DigestOutcome FoldRun::generate(DigestState& state) {
    if (!port_.has_model()) return write_plain();
    is_by_rule_ = false;
    const DigestState before = state;
    DigestOutcome asked = ask(state);
    if (asked.ok() && !asked.missing_sections.empty()) {
        const std::string text = fmt::format("the summary lacks: {}", fmt::join(asked.missing_sections, ", "));
        emit(turn_.on_event,
             {Event::Level::warning, turn_.report.middleware, "missing_sections", text, turn_.conversation_id()});
    }
    if (config_.plain_summary_tokens <= 0 || !asked.failure || !has_given_up(asked, state != before)) return asked;
    DigestOutcome plain = write_plain();
    if (!plain.ok()) return asked;
    const std::string text = fmt::format("written without the model: {}", asked.failure->message);
    emit(turn_.on_event,
         {Event::Level::warning, turn_.report.middleware, "plain_summary", text, turn_.conversation_id()});
    turn_.report.more().error = text;
    asked.failure.reset();
    asked.summary = std::move(plain.summary);
    state = {.learnt_input_limit = state.learnt_input_limit};
    return asked;
}

/// The user's own words stand beside it where they are preserved, in up to half of the room.
DigestOutcome FoldRun::write_plain() {
    is_by_rule_ = true;
    std::int64_t room = sizes_.room_for_summary(plan_) - tokens_of(compose({}, {}, {}));
    const std::int64_t budget = user_message_budget(config_.preserve_user_messages, config_.trigger);
    if (budget > 0) {
        std::int64_t words = 0;
        for (const UserText& text : user_texts(plan_.folded, staying()))
            words = add_saturating(words, tokens_of(text.text));
        room -= std::min({words, budget, room / 2});
    }
    if (config_.max_summary_tokens > 0) room = std::min(room, config_.max_summary_tokens);
    collect_work_once();
    PlainSummaryConfig config{.max_tokens = std::max<std::int64_t>(1, std::min(config_.plain_summary_tokens, room)),
                              .with_user_messages = budget <= 0,
                              .work = work_->shown(config_.preserve_work)};
    DigestOutcome plain;
    plain.summary =
        plain_summary(visit_parts(), turn_.outline(), plan_.folded, config, turn_.counter(), turn_.language);
    const std::string why = plain.summary.empty()  ? fmt::format("{} tokens have no room for one", config.max_tokens)
                            : port_.has_finalize() ? std::string()
                                                   : judge(plain.summary);
    if (!why.empty())
        plain.failure = DigestError{
            .failure = DigestFailure::refused, .refusal = Refusal::by_caller, .message = "without a model: " + why};
    return plain;
}

DigestConfig FoldRun::config_of_digest() const {
    DigestConfig config = digest_config(config_);
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

DigestOutcome FoldRun::ask(DigestState& state) {
    const DigestConfig config = config_of_digest();
    DigestOrder order{config, plan_.folded, plan_.folded_tokens, {}};
    if (!port_.has_finalize()) order.accept = [this](std::string_view summary) { return judge(summary); };
    if (config_.reuse_prompt_cache && port_.may_use_prefix()) {
        DigestOutcome outcome = port_.digest(order, true, state);
        if (!outcome.failure || !is_too_large(*outcome.failure)) return outcome;
    }
    return port_.digest(order, false, state);
}

}  // namespace whittle::inline v0::detail
