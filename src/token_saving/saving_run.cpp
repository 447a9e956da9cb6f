#include "saving_run.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/conversation/detail/repair_options.hpp"
#include "whittle/token_saving/detail/compress.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace whittle::inline v0::detail {

std::vector<SavingCandidate> SavingRun::plan(int batch, Lever lever) const {
    const std::function<bool(std::size_t)> is_pinned = [this](std::size_t message) {
        return edit_.is_protected(message);
    };
    const Outline outline = edit_.outline();
    const SavingPlanner planner{outline, config_, turn_.config.protected_tools, name_, is_pinned, batch};
    return (planner.*lever)();
}

void SavingRun::tell(const SavingCandidate& candidate, std::string_view rule, std::int64_t freed) {
    if (freed <= 0 && !turn_.config.explain) return;
    turn_.report.ensure_details().candidates.push_back(
        {info_of(candidate).serial, candidate.part, freed > 0, rule, freed});
}

/// The report has the first one.
void SavingRun::report_error(std::string text) {
    if (turn_.report.ensure_details().error.empty()) turn_.report.ensure_details().error = std::move(text);
}

std::string SavingRun::key_for(const SavingCandidate& candidate, std::string_view folder) const {
    const SharedString& name = info_of(candidate).parts[candidate.part].key_safe_call_id;
    std::string key = turn_.conversation_id() + "/" + std::string(folder) + "/";
    key += name.empty() ? "message-" + std::to_string(info_of(candidate).serial) : name.str();
    return key;
}

std::string SavingRun::location_of(const Mark& mark) const {
    const auto store = storage();
    if (!store || !mark || mark->stored_keys.empty()) return {};
    return reference_to(*store, mark->stored_keys.front(), reader_among(turn_.tools));
}

std::string SavingRun::reserve(const SavingCandidate& candidate, std::string_view folder, std::string_view whole,
                               Provenance& provenance) {
    const auto store = storage();
    if (!store) return {};
    if (const Mark& mark = mark_at(candidate); mark && !mark->stored_keys.empty()) return location_of(mark);
    provenance.stored_keys.push_back(free_key(*store, key_for(candidate, folder), whole, keys_));
    return reference_to(*store, provenance.stored_keys.front(), reader_among(turn_.tools));
}

void SavingRun::stage(const SavingCandidate& candidate, std::string whole, std::string now, Provenance provenance,
                      std::string_view fact) {
    const Serial serial = info_of(candidate).serial;
    const std::int64_t chars = count_code_points(whole) - count_code_points(now);
    planned_.push_back({candidate.message, candidate.part, serial, chars, fact});
    const std::vector<std::string> fresh = provenance.stored_keys;
    edit_.set_text(candidate.message, candidate.part, now, std::move(provenance));
    if (fresh.empty()) return;
    keys_.add(fresh.front(), hash128(whole));
    edit_.store_on_commit(fresh.front(), std::move(whole), Draft::Original{serial, candidate.part}, storage());
}

void SavingRun::shorten_results(int batch) {
    for (const SavingCandidate& candidate : plan(batch, &SavingPlanner::head_and_tail)) {
        const std::int64_t freed = candidate.may_cut ? cut(candidate) : 0;
        tell(candidate, candidate.may_cut && freed <= 0 ? "no_gain" : candidate.rule, freed);
    }
}

std::optional<std::string> SavingRun::cut_text(std::string_view whole, std::string_view location) const {
    const std::string_view reader = location.empty() ? std::string_view() : reader_among(turn_.tools);
    return cut_to_head_and_tail(whole, config_.compress_threshold_chars, config_.head_keep_chars,
                                config_.tail_keep_chars, {location, reader, turn_.language},
                                {config_.head_keep_lines, config_.tail_keep_lines});
}

/// Plans one text as an edit group of its own. Returns the tokens that it frees; 0 if the text stays.
std::int64_t SavingRun::cut(const SavingCandidate& candidate) {
    std::string whole = edit_.text_of_part(candidate.message, candidate.part);
    if (count_code_points(whole) <= config_.compress_threshold_chars) return 0;
    Provenance provenance{.origin = Origin::placeholder,
                          .reason = reason_with(mark_at(candidate), name_, fact_head_tail)};
    auto now = cut_text(whole, reserve(candidate, "token_saving", whole, provenance));
    if (!now) return 0;
    const std::int64_t freed = sub_saturating(tokens(whole), tokens(*now));
    if (freed <= 0) return 0;
    edit_.begin_edit_group();
    stage(candidate, std::move(whole), *std::move(now), std::move(provenance), fact_head_tail);
    return freed;
}

void SavingRun::nudge() {
    const std::string_view text = config_.early_exit_text.empty() ? default_early_exit_text(turn_.language)
                                                                  : std::string_view(config_.early_exit_text);
    edit_.begin_edit_group();
    const Outline outline = edit_.outline();
    const bool needs_turn = has_rule(turn_.config.profile.validity, Rule::OC6_user_turns) && outline.size() > 0 &&
                            outline[outline.size() - 1].role != Role::assistant;
    if (needs_turn)
        edit_.insert_text(outline.size(), Role::assistant, bridge_text(turn_.language),
                          {.origin = Origin::repair, .reason = std::string(bridge_reason)});
    edit_.insert_text(edit_.outline().size(), Role::user, text, {.origin = Origin::nudge, .reason = "early_exit"});
    has_nudge_ = true;
}

TokenSavingStats SavingRun::stats() const {
    TokenSavingStats stats{.early_exits = has_nudge_ ? 1 : 0, .perplexity_cache_hits = cache_hits_};
    const Outline outline = turn_.outline();
    std::vector<Serial> replaced;
    for (const Planned& one : planned_) {
        const bool is_there = one.message < outline.size() && outline[one.message].serial == one.serial &&
                              has_fact(mark_of(outline[one.message], one.part), name_, one.fact);
        if (!is_there) continue;
        const bool is_cut = one.fact == fact_head_tail;
        (is_cut ? stats.compressions : stats.perplexity_compressions) += 1;
        (is_cut ? stats.chars_saved : stats.perplexity_chars_saved) += one.chars;
        replaced.push_back(one.serial);
    }
    std::ranges::sort(replaced);
    stats.replacements_emitted = std::unique(replaced.begin(), replaced.end()) - replaced.begin();
    return stats;
}

}  // namespace whittle::inline v0::detail
