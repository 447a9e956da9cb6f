#include "whittle/pruning/detail/pruning_stage.hpp"
#include "whittle/base/detail/names.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/text.hpp"
#include "whittle/conversation/detail/stored_parts.hpp"
#include "whittle/pruning/detail/media_stage.hpp"
#include "whittle/pruning/detail/pruning_plan.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

namespace {

/// One run of pruning in a transaction: first it decides, then it plans the edits.
class PruningRun {
public:
    PruningRun(HookTurn& turn, Draft& edit, const PruningConfig& config, std::size_t end, const PruningChoice& choice)
        : turn_(turn),
          edit_(edit),
          config_(config),
          end_(end),
          choice_(choice),
          storage_(config.storage ? config.storage : turn.config.storage) {}

    StageGain run();

private:
    /// A result that may go, and what is to stand in its place.
    struct Decision {
        PruningCandidate candidate{};
        std::int64_t tokens = 0;       ///< of the result
        std::int64_t text_tokens = 0;  ///< of these its texts
        std::int64_t gain = 0;         ///< by estimate; above 0: it goes
        std::string text{};            ///< in place of the first text
        std::string key{};             ///< where the fresh texts go; empty: nowhere
        std::string content{};         ///< these
        std::vector<MediaEdit> media{};
    };

    [[nodiscard]] std::vector<PruningCandidate> plan() const;
    [[nodiscard]] std::vector<PruningCandidate> judged_by_rules() const;
    [[nodiscard]] std::vector<Decision> find_due();
    [[nodiscard]] std::int64_t decide_texts(Decision& decision) const;
    void decide(Decision& decision) const;
    void measure(Decision& decision) const;
    [[nodiscard]] std::string location_of(const Decision& decision) const;
    [[nodiscard]] std::int64_t tokens(std::string_view text) const { return edit_.counter().count(text); }
    StageGain postpone(const std::vector<Decision>& decisions);
    std::int64_t stage(Decision& decision);
    void report(const PruningCandidate& candidate, std::string_view rule, std::int64_t freed);

    HookTurn& turn_;
    Draft& edit_;
    const PruningConfig& config_;
    std::size_t end_;
    const PruningChoice& choice_;
    std::shared_ptr<Storage> storage_;
};

std::vector<PruningCandidate> PruningRun::plan() const {
    const std::function<bool(std::size_t)> is_pinned = [this](std::size_t message) {
        return edit_.is_protected(message);
    };
    const Outline outline = edit_.outline();
    return plan_pruning({outline, config_, turn_.config.protected_tools, is_pinned, end_});
}

void PruningRun::report(const PruningCandidate& candidate, std::string_view rule, std::int64_t freed) {
    if (freed <= 0 && !turn_.config.explain) return;
    const std::vector<std::size_t>& parts = candidate.texts.empty() ? candidate.media : candidate.texts;
    turn_.report.ensure_details().candidates.push_back({edit_.outline()[candidate.message].serial,
                                                        parts.empty() ? candidate.part : parts.front(), freed > 0, rule,
                                                        std::max<std::int64_t>(0, freed)});
}

/// Counts each text once: `decide` goes by it too.
void PruningRun::measure(Decision& decision) const {
    const PruningCandidate& candidate = decision.candidate;
    std::int64_t media = 0;
    for (const std::size_t p : candidate.texts) {
        edit_.visit_part(candidate.message, p, [&](const PartView& part) {
            decision.text_tokens = add_saturating(decision.text_tokens, tokens(part.text));
        });
    }
    for (const std::size_t p : candidate.media) {
        edit_.visit_part(candidate.message, p, [&](const PartView& part) {
            media = add_saturating(media, edit_.counter().media_tokens(part.media));
        });
    }
    decision.tokens = add_saturating(decision.text_tokens, media);
}

/// The planned candidates with what the host and its callback keep.
std::vector<PruningCandidate> PruningRun::judged_by_rules() const {
    std::vector<PruningCandidate> candidates = plan();
    for (PruningCandidate& candidate : candidates) {
        const bool is_result = candidate.rule.empty() && !candidate.is_beside_round;
        if (is_result && choice_.only != nullptr && !choice_.only->contains(candidate.name)) {
            candidate.rule = "not_chosen";
        } else if (is_result && is_wanted(turn_, edit_, config_, candidate)) {
            candidate.rule = "protect";
        }
    }
    settle_media_beside_rounds(candidates);
    return candidates;
}

/// What rules and budget leave, newest first. Looks at no text.
std::vector<PruningRun::Decision> PruningRun::find_due() {
    std::vector<Decision> due;
    std::int64_t newest = 0;
    for (PruningCandidate& candidate : judged_by_rules()) {
        Decision decision{.candidate = std::move(candidate)};
        std::string_view& rule = decision.candidate.rule;
        if (rule.empty()) {
            measure(decision);
            newest = add_saturating(newest, decision.tokens);
            if (newest <= config_.protect_newest_tokens) rule = "newest";
        }
        if (rule.empty()) {
            due.push_back(std::move(decision));
        } else {
            report(decision.candidate, rule, 0);
        }
    }
    return due;
}

/// Where the original is, as the model is told.
std::string PruningRun::location_of(const Decision& decision) const {
    const std::string_view reader = reader_among(turn_.tools);
    std::string location;
    const auto add = [&](const std::string& key, const std::shared_ptr<Storage>& storage) {
        location += (location.empty() ? "" : ", ") + (storage ? reference_to(*storage, key, reader) : key);
    };
    for (const std::string& key : decision.candidate.stored) {
        const auto object = turn_.objects()->find(key, turn_.config.storage);
        add(key, object ? object->storage : turn_.config.storage);
    }
    if (!decision.key.empty()) add(decision.key, storage_);
    return location;
}

/// What would stand in place of the texts, and what that frees.
std::int64_t PruningRun::decide_texts(Decision& decision) const {
    const PruningCandidate& candidate = decision.candidate;
    if (candidate.texts.empty()) return 0;
    std::vector<Part> fresh;
    std::string whole;
    for (const std::size_t p : candidate.texts) {
        edit_.visit_part(candidate.message, p, [&](const PartView& part) {
            if (std::ranges::binary_search(candidate.fresh, p)) fresh.push_back(to_part(part));
            whole.append(whole.empty() ? "" : "\n").append(part.text);
        });
    }
    if (storage_ && !fresh.empty()) {
        decision.content = offload_content(fresh);
        decision.key = pruned_key(turn_.conversation_id(), candidate.name, decision.content);
    }
    const std::string arguments = arguments_of(edit_, candidate);
    const std::string location = location_of(decision);
    const std::string_view reader = location.empty() ? std::string_view() : reader_among(turn_.tools);
    std::optional<std::int64_t> bytes;
    if (candidate.stored.empty()) bytes = static_cast<std::int64_t>(whole.size());
    decision.text = text_in_place({candidate.tool, arguments, whole, bytes, location, reader}, config_, turn_.language,
                                  !candidate.stored.empty());
    if (decision.text == whole) return 0;
    const auto further = static_cast<std::int64_t>(candidate.texts.size() - 1);
    const std::int64_t beside = mul_saturating(further, tokens(further_text_in_place(turn_.language)));
    return sub_saturating(decision.text_tokens, add_saturating(tokens(decision.text), beside));
}

/// What would stand in place of a result, and what that frees. Texts beside media that would not get smaller stay.
void PruningRun::decide(Decision& decision) const {
    decision.gain = decide_texts(decision);
    if (decision.gain <= 0) {
        decision.candidate.texts.clear();
        decision.candidate.fresh.clear();
        decision.key.clear();
        decision.gain = 0;
    }
    decision.media =
        plan_media(turn_, edit_, decision.candidate.message, decision.candidate.media, storage_ != nullptr);
    decision.candidate.media.clear();
    for (const MediaEdit& media : decision.media) {
        decision.candidate.media.push_back(media.part);
        decision.gain = add_saturating(decision.gain, media.gain);
    }
}

/// Plans one result as an edit group of its own. Returns the tokens that it frees.
std::int64_t PruningRun::stage(Decision& decision) {
    const PruningCandidate& candidate = decision.candidate;
    const std::int64_t before = edit_.tokens_after();
    edit_.begin_edit_group();
    Provenance provenance{
        .origin = Origin::placeholder, .reason = std::string(pruned_reason), .stored_keys = candidate.stored};
    if (!decision.key.empty()) provenance.stored_keys.push_back(decision.key);
    const std::string further(further_text_in_place(turn_.language));
    edit_.allow_editing_pinned(true);  // the plan asked for pins; what another middleware shortened goes whole
    for (std::size_t i = 0; i < candidate.texts.size(); ++i)
        edit_.set_text(candidate.message, candidate.texts[i], i == 0 ? decision.text : further, provenance);
    edit_.allow_editing_pinned(false);
    replace_all_media(edit_, candidate.message, std::move(decision.media), storage_);
    if (!decision.key.empty()) {
        using Original = Draft::Original;
        std::optional<Original> original;
        if (candidate.fresh.size() == 1)
            original = Original{edit_.outline()[candidate.message].serial, candidate.fresh.front()};
        edit_.store_on_commit(std::move(decision.key), std::move(decision.content), original, storage_);
    }
    return sub_saturating(before, edit_.tokens_after());
}

/// Too little to be worth a broken cache.
StageGain PruningRun::postpone(const std::vector<Decision>& decisions) {
    for (const Decision& decision : decisions) report(decision.candidate, "too_small", 0);
    return {};
}

StageGain PruningRun::run() {
    const auto sum_of = [](const std::vector<Decision>& decisions, std::int64_t Decision::*member) {
        std::int64_t sum = 0;
        for (const Decision& decision : decisions) sum = add_saturating(sum, decision.*member);
        return sum;
    };
    std::vector<Decision> due = find_due();
    if (sum_of(due, &Decision::tokens) < config_.minimum_gain_tokens) return postpone(due);
    for (Decision& decision : due) {
        decide(decision);
        if (decision.gain <= 0) report(decision.candidate, "no_gain", 0);
    }
    std::erase_if(due, [](const Decision& decision) { return decision.gain <= 0; });
    if (sum_of(due, &Decision::gain) < config_.minimum_gain_tokens) return postpone(due);
    StageGain gain;
    if (choice_.enough < INT64_MAX) std::ranges::reverse(due);
    for (Decision& decision : due) {
        if (gain.tokens >= choice_.enough) {
            report(decision.candidate, "target_reached", 0);
            continue;
        }
        const std::int64_t freed = stage(decision);
        ++gain.count;
        report(decision.candidate, choice_.rule, freed);
        gain.tokens = add_saturating(gain.tokens, freed);
    }
    return gain;
}

}  // namespace

StageGain stage_pruning(HookTurn& turn, Draft& edit, const PruningConfig& config, std::size_t end,
                        const PruningChoice& choice) {
    return PruningRun(turn, edit, config, end, choice).run();
}

void report_refused(HookTurn& turn, const CommitResult& result, std::string_view rule) {
    if (result.unstored_edit_groups == 0) return;
    std::unordered_map<Serial, std::vector<Candidate*>> cut;
    for (Candidate& candidate : turn.report.ensure_details().candidates) {
        const bool is_ours = candidate.rule == "old_output" || candidate.rule == "old_media" || candidate.rule == rule;
        if (candidate.removed && is_ours) cut[candidate.serial].push_back(&candidate);
    }
    const Outline outline = turn.outline();
    for (std::size_t i = 0; i < outline.size(); ++i) {
        const auto found = cut.find(outline[i].serial);
        if (found == cut.end()) continue;
        for (Candidate* candidate : found->second) {
            if (is_taken_out(mark_of(outline[i], candidate->part))) continue;
            *candidate = {candidate->serial, candidate->part, false, "store_refused", 0};
        }
    }
}

std::string arguments_of(const Draft& edit, const PruningCandidate& candidate) {
    return candidate.call_part ? edit.text_of_part(candidate.call, *candidate.call_part) : std::string();
}

bool is_wanted(const HookTurn& turn, const Draft& edit, const PruningConfig& config,
               const PruningCandidate& candidate) {
    if (!config.protect) return false;
    const std::string arguments = arguments_of(edit, candidate);
    const MessageInfo& info = edit.outline()[candidate.message];
    const Mark mark = mark_of(info, candidate.part);
    CallbackContext context = turn.callback_context();
    context.key_safe_call_id = candidate.name;
    context.round_serial = info.round_serial;
    return config.protect({context, candidate.tool, arguments, candidate.bytes, candidate.is_error, mark.get()});
}

bool keeps_media(const HookTurn& turn, const Draft& edit, const PruningConfig& config, std::size_t message,
                 std::size_t part) {
    return std::ranges::any_of(results_of_media(edit.outline(), message, part), [&](const PruningCandidate& result) {
        return edit.is_protected(result.message) || matches_tool(turn.config.protected_tools, result.tool) ||
               matches_tool(config.protected_tools, result.tool) || is_wanted(turn, edit, config, result);
    });
}

}  // namespace whittle::inline v0::detail
