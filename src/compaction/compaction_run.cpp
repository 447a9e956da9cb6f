#include "compaction_run.hpp"

#include "whittle/conversation/detail/repair_plan.hpp"
#include "whittle/message/validity.hpp"
#include "whittle/pruning/detail/media_stage.hpp"
#include "whittle/pruning/detail/pruning_plan.hpp"
#include "whittle/pruning/detail/pruning_stage.hpp"
#include "whittle/summary/detail/facts.hpp"
#include "whittle/summary/detail/fold.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

void CompactionRun::stage_cheap() {
    const CompactionConfig& config = work_.config;
    if (config.pruning) {
        PruningConfig pruning = *config.pruning;
        if (config.current_turn_keep_rounds) pruning.skip_boundary_turns = 0;  // `kept_from` bounds it instead
        PruningChoice choice;
        if (turn_.report.hook == Hook::compact_now)  // the host says how far
            choice.enough = std::max<std::int64_t>(1, scale_.to_counted(tokens_now() - limits().target));
        stage_pruning(turn_, edit_, pruning, layout_.kept_from, choice);
        refused_ += edit_.store();
    }
    if (tokens_now() <= limits().target) return;
    stage_media(turn_, edit_, config.media, layout_.kept_from, config.pruning.value_or(PruningConfig{}));
    refused_ += edit_.store();
}

std::string CompactionRun::situation() const {
    const Outline outline = turn_.outline();
    const std::size_t kept_from = layout_.kept_from;
    constexpr double ratio_steps = 4.0;  // it moves a little with each reply
    return joined_numbers({static_cast<std::int64_t>(turn_.last_entry()),
                           kept_from < outline.size() ? static_cast<std::int64_t>(outline[kept_from].serial)
                                                      : -static_cast<std::int64_t>(outline.size()),
                           pins_of(outline), limits().threshold, limits().target, limits().summary,
                           work_.has_model ? 1 : 0, static_cast<std::int64_t>(scale_.ratio * ratio_steps)});
}

void CompactionRun::plan_summary() {
    tokens_.clear();
    for (std::size_t i = 0; i < edit_.outline().size(); ++i) tokens_.push_back(edit_.tokens_of(i));
    plan_within(scale_);
    if (scale_.overhead <= 0 || !is_over_floor(plan_, budget_)) return;
    plan_within({.ratio = scale_.ratio});  // overhead that nobody can name stops nothing by itself
}

void CompactionRun::plan_within(const TokenScale& scale) {
    const auto without_overhead = [&](std::int64_t limit) {
        return scale.to_counted(limit - std::min(limit, scale.overhead));
    };
    budget_ = {.system_and_tools = work_.sizes.counted.beside,
               .threshold = without_overhead(limits().threshold),
               .target = without_overhead(limits().target),
               .summary = limits().summary,
               .frame = tokens_of(text_with({}, {})),
               .scale = scale,
               .limit = limits().threshold};
    const bool wants_head = has_rule(turn_.config.profile.validity, Rule::A7_thinking_first);
    const MessageRange head = wants_head ? edit_.outline().loop_head() : MessageRange{};
    plan_ = plan_turns(edit_.outline(), tokens_, layout_, budget_, self(),
                       [&](std::size_t i) { return head.contains(i) || edit_.is_pinned(i); });
}

void CompactionRun::list_candidates(bool is_due) const {
    StageDetails& details = turn_.report.more();
    const Outline outline = edit_.outline();
    for (std::size_t i = 0; i < outline.size(); ++i) {
        const bool is_cut = is_due && plan_.rules[i] == "fold";
        details.candidates.push_back({outline[i].serial, 0, is_cut, plan_.rules[i], is_cut ? tokens_[i] : 0});
    }
}

CompactionRun::Rehearsal CompactionRun::rehearse() {
    const ValidityProfile& rules = turn_.config.profile.validity;
    Rehearsal found;
    const Unit unit = stage_message(text_with("...", {}), {});
    if (turn_.config.verify)
        found.broken =
            describe_broken(new_violations(validate(turn_.outline(), rules), validate(edit_.outline(), rules)));
    found.is_vetoed = found.broken.empty() && edit_.is_vetoed(true);
    edit_.drop_unit(unit);
    return found;
}

/// A model's ruler differs from ours: what is a little too long is cut, not paid for again.
std::string CompactionRun::refuse(std::string_view summary) const {
    const std::int64_t tokens = tokens_of(summary);
    if (tokens <= 2 * plan_.summary_tokens) return {};
    return "the summary has " + std::to_string(tokens) + " tokens, allowed are " + std::to_string(plan_.summary_tokens);
}

/// Calls and reports as they were before this run's cheap stages, in up to half of the summary's size. A plan is shown
/// unless a newer one stays in the list.
void CompactionRun::collect_work_once() {
    if (known_work_) return;
    const auto visit = [this](std::size_t i, FunctionRef<void(const PartView&)> part) { turn_.visit_parts(i, part); };
    WorkOfFold work = work_of_fold(visit, turn_.outline(), plan_.folded, work_.config.preserve_work);
    const PreserveWorkConfig config = work.shown(work_.config.preserve_work);
    known_work_ = std::move(work.folded);
    work_text_ = to_text(*known_work_, config, plan_.summary_tokens / 2, edit_.counter(), turn_.language);
}

DigestConfig CompactionRun::config_of_digest() const {
    DigestConfig config = digest_config(work_.config, tokens_for_model());
    config.max_input_tokens = summary_input_bound(config.max_input_tokens, turn_.known_window(),
                                                  std::max(turn_.config.profile.output_reserve, plan_.summary_tokens));
    if (config.user_instruction.empty()) config.user_instruction = compaction_instruction(turn_.language);
    config.user_instruction += length_sentence(tokens_for_model(), turn_.language);
    return config;
}

DigestOutcome CompactionRun::generate(DigestState& state) {
    collect_work_once();
    const DigestConfig config = config_of_digest();
    edit_.update_fingerprints();
    return work_.digest(
        {config, plan_.folded, plan_.folded_tokens, [this](std::string_view summary) { return refuse(summary); }},
        state);
}

/// Facts that the summary lacks take what it left of its size, at most half of that. `note`: what the next summary must
/// not lose either, what the model wrote itself included.
std::string CompactionRun::text_with_facts(std::string_view summary, std::string& note) const {
    const TokenCounter& counter = edit_.counter();
    const std::string text = cut_summary(summary, tokens_for_model(), counter);
    const std::int64_t most = add_saturating(budget_.frame, plan_.summary_tokens);
    FactCollector facts;
    collect_facts([this](std::size_t i, FunctionRef<void(const PartView&)> visit) { edit_.visit_parts(i, visit); },
                  edit_.outline(), plan_.folded, facts);
    facts.next_message();
    facts.add({.kind = PartKind::text, .text = text}, false);
    note = to_note(facts.missing_in({}, carried_tokens(plan_.summary_tokens), counter, turn_.language));
    const std::int64_t room = std::min(plan_.summary_tokens / 2, sub_saturating(most, tokens_of(text_with(text, {}))));
    std::vector<RetainedFact> shown = facts.missing_in(text + "\n" + work_text_, room, counter, turn_.language);
    while (!shown.empty() && tokens_of(text_with(text, shown)) > most) shown.pop_back();
    return text_with(text, shown);
}

void CompactionRun::stage_summary(std::string_view summary) {
    std::string note;
    const std::string text = text_with_facts(summary, note);
    stage_message(text, std::move(note));
}

/// One stretch makes way for the summary, the others go. It gets the highest turn number of what it stands for.
Unit CompactionRun::stage_message(std::string_view text, std::string facts) {
    const Outline outline = edit_.outline();
    Provenance provenance{.origin = Origin::summary,
                          .reason = "summary",
                          .stored = stored_references(outline, plan_.folded),
                          .covers = covered_serials(outline, plan_.folded),
                          .work = known_work_ ? to_note(*known_work_) : std::string(),
                          .facts = std::move(facts)};
    const auto stretches = stretches_of(plan_.folded);
    const std::size_t chosen = stretch_for_summary(outline, plan_.folded, turn_.config.profile.validity);
    const auto erase = [&](std::size_t from, std::size_t to) {
        if (from < to) edit_.erase_range(from, to, {.reason = "summary"});
    };
    // Before the first edit: `outline` is valid until then.
    std::vector<FoldNeighbours> neighbours;
    for (const auto& [first, last] : stretches)
        neighbours.push_back(neighbours_of(outline, first, last, plan_.folded, turn_.config.profile.validity));
    const std::size_t place = place_of_summary(outline, stretches[chosen].first, stretches[chosen].second);
    const Unit unit = edit_.begin_unit();
    for (std::size_t s = stretches.size(); s-- > 0;) {
        const auto [first, last] = stretches[s];
        const FoldNeighbours near = neighbours[s];
        const auto bridge = [&](std::size_t at) {
            edit_.insert_text(
                at, Role::assistant, bridge_text(turn_.language),
                {.origin = Origin::repair, .reason = std::string(bridge_reason), .covers = provenance.covers});
        };
        if (s != chosen) {
            erase(first, last);
            if (near.before && near.behind) bridge(first);
            continue;
        }
        edit_.insert_text(place, role(), text, provenance);
        erase(place + 1, last + 1);
        erase(first, place);
        if (role() != Role::user) continue;
        if (near.behind) bridge(first + 1);
        if (near.before) bridge(first);
    }
    return unit;
}

CommitResult CompactionRun::commit() {
    const CommitResult result = edit_.commit();
    report_refused(turn_, result);
    return result;
}

}  // namespace whittle::inline v0::detail
