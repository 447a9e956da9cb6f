#include "whittle/release_context/detail/release_context.hpp"

#include "release_notes.hpp"
#include "whittle/base/detail/field_check.hpp"
#include "whittle/base/detail/json.hpp"
#include "whittle/base/detail/names.hpp"
#include "whittle/base/event.hpp"
#include "whittle/base/text.hpp"
#include "whittle/chain/detail/edit_schedule.hpp"
#include "whittle/pruning/detail/pruning_plan.hpp"
#include "whittle/pruning/detail/pruning_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

void check_release_context(const ReleaseContextConfig& config, std::string_view name, Problems& problems) {
    FieldCheck check(name, problems);
    check.tool_names(config.protected_tools, "protected_tools");
    check.error(!may_name_tool(config.tool_name), "tool_name", fmt::format("\"{}\"", config.tool_name),
                "the name of a tool");
    check.at_least(config.expected_further_calls, 0, "expected_further_calls");
}

namespace detail {

namespace {

/// Results of any age but the open round's; what was shortened before goes whole.
PruningConfig pruning_of(const ReleaseContextConfig& config) {
    PruningConfig pruning;
    pruning.protected_tools = config.protected_tools;
    pruning.skip_boundary_turns = 0;
    pruning.prune_failed_results = true;
    pruning.storage = config.storage;
    return pruning;
}

std::vector<PruningCandidate> results_before(const HookTurn& turn, const PruningConfig& pruning, std::size_t end) {
    const Outline outline = turn.outline();
    const std::function<bool(std::size_t)> is_pinned = [&](std::size_t message) { return outline[message].pinned; };
    return plan_pruning({outline, pruning, turn.config.protected_tools, is_pinned, end});
}

/// A result, and what its call said.
struct EarlierResult {
    PruningCandidate candidate{};
    std::string arguments{};
    std::string strings{};  ///< those in the arguments, as they are without escapes
};

/// The results in front of a message, newest first. O(their calls).
std::vector<EarlierResult> earlier_results(const HookTurn& turn, const ReleaseContextConfig& config, std::size_t end) {
    std::vector<EarlierResult> results;
    std::unordered_map<std::size_t, std::vector<std::string>> arguments;  // by message, of each part
    for (PruningCandidate& candidate : results_before(turn, pruning_of(config), end)) {
        if (candidate.is_beside_round) continue;
        EarlierResult& result = results.emplace_back();
        if (candidate.call_part) {
            std::vector<std::string>& of_message = arguments[candidate.call];
            if (of_message.empty()) {
                turn.visit_parts(candidate.call, [&](const PartView& part) { of_message.emplace_back(part.text); });
            }
            result.arguments = of_message.at(*candidate.call_part);
            for (const std::string& text : strings_in_json(result.arguments)) result.strings += text + '\n';
        }
        result.candidate = std::move(candidate);
    }
    return results;
}

/// Works out one call of the tool: which results it means.
class ReleaseCall {
public:
    ReleaseCall(const HookTurn& turn, const ReleaseContextConfig& config, std::size_t message)
        : turn_(turn), results_(earlier_results(turn, config, message)) {}

    [[nodiscard]] ReleaseAnswer answer(std::string_view arguments) {
        const JsonValue json = parse_json(arguments);
        const auto what = json.find("what");
        std::vector<JsonValue> wanted;
        if (what) wanted = what->is_array() ? what->values() : std::vector<JsonValue>{*what};
        if (wanted.size() > most_wanted) wanted.erase(wanted.begin() + most_wanted, wanted.end());
        ReleaseAnswer answer;
        for (const JsonValue& one : wanted) {
            const std::string* const text = one.string();
            if (text != nullptr && !is_blank(*text)) {
                release(*text, answer);
            } else {
                answer.unclear.push_back(text != nullptr ? in_quotes(*text) : one.literal());
            }
        }
        if (const std::string* const why = json.find_string("why")) answer.why = *why;
        return answer;
    }

private:
    static constexpr std::ptrdiff_t most_wanted = 100;  // of one call

    void release(const std::string& wanted, ReleaseAnswer& answer) {
        bool is_found = false;
        for (const EarlierResult& result : results_) {
            const PruningCandidate& candidate = result.candidate;
            if (!is_meant(result, wanted)) continue;
            is_found = true;
            if (!seen_.insert(candidate.name).second) continue;
            if (candidate.rule.empty()) answer.names.insert(candidate.name);
            auto& list = candidate.rule.empty() ? answer.released : answer.kept;
            list.push_back({candidate.tool, result.arguments, candidate.bytes, candidate.rule});
        }
        if (!is_found) answer.unclear.push_back(in_quotes(wanted));
    }
    /// The tool, the id of the call or the name of its object, or something that stands in its arguments.
    [[nodiscard]] bool is_meant(const EarlierResult& result, const std::string& wanted) const {
        const PruningCandidate& candidate = result.candidate;
        const PartInfo& part = turn_.outline()[candidate.message].parts[candidate.part];
        if (wanted == candidate.tool || wanted == candidate.name || wanted == part.call_id.view()) return true;
        return result.arguments.find(wanted) != std::string::npos || result.strings.find(wanted) != std::string::npos;
    }

    const HookTurn& turn_;
    std::vector<EarlierResult> results_;
    std::unordered_set<std::string> seen_{};
};

/// `outline.size()`: there is none.
std::size_t newest_reply(const Outline& outline) {
    for (std::size_t i = outline.size(); i-- > 0;) {
        if (outline[i].role == Role::assistant) return i;
    }
    return outline.size();
}

void report_released(const HookTurn& turn, const ReleaseAnswer& answer) {
    if (answer.released.empty()) return;
    const std::string text = fmt::format("the model released {} results{}{}", answer.released.size(),
                                         answer.why.empty() ? "" : ": ", in_quotes(answer.why));
    emit(turn.on_event, {.source = turn.report.middleware,
                         .kind = "context_released",
                         .text = text,
                         .conversation = turn.conversation_id()});
}

/// From which of the released results on it pays to take them out: what the provider reads anew, because it stands
/// behind them and was sent, against what they no longer cost at the calls that are taken to follow. In bytes: only the
/// proportion counts.
class ReleaseBreakEven {
public:
    ReleaseBreakEven(HookTurn& turn, const ReleaseContextConfig& config) : outline_(turn.outline()) {
        const CacheProfile& cache = turn.config.profile.cache;
        const int calls = std::max(config.expected_further_calls, turn.conversation_model_calls());
        saved_ = cache.read * static_cast<double>(calls);
        cost_ = std::max(0.0, cache.write - cache.read);
        cached_ = std::min(
            {turn.last_request_messages(), outline_.size(), EditSchedule::free_from(turn).value_or(outline_.size())});
    }

    /// The message of the oldest result that may go; `candidates`: newest first. Each step back pays for what it adds:
    /// behind an edit that is made, all is read anew anyway.
    [[nodiscard]] std::optional<std::size_t> find(const std::vector<PruningCandidate>& candidates) const {
        std::optional<std::size_t> first;
        double behind = 0.0;
        double gain = 0.0;
        std::size_t at = cached_;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            for (; at > candidates[i].message; --at) behind += bytes_of(at - 1);
            gain += static_cast<double>(candidates[i].bytes);
            const bool has_more = i + 1 < candidates.size() && candidates[i + 1].message == candidates[i].message;
            if (has_more || gain * saved_ < cost_ * (behind - gain)) continue;
            first = candidates[i].message;
            behind = gain = 0.0;
        }
        return first;
    }

private:
    [[nodiscard]] double bytes_of(std::size_t message) const {
        double bytes = 0.0;
        for (const PartInfo& part : outline_[message].parts)
            bytes += static_cast<double>(part.text_bytes) + static_cast<double>(part.media_base64_bytes);
        return bytes;
    }

    Outline outline_;
    double saved_ = 0.0;
    double cost_ = 0.0;
    std::size_t cached_ = 0;  // messages that the provider holds, and that no other edit makes it read anew
};

}  // namespace

void look_at_releases(HookTurn& turn, const ReleaseContextConfig& config) {
    const Outline outline = turn.outline();
    const std::shared_ptr<ReleaseNotes> notes = ReleaseNotes::of(turn.caches(), turn.report.middleware);
    turn.report.outcome = Outcome::not_due;
    const std::size_t newest = newest_reply(outline);
    for (std::size_t i = notes->looked_at(outline); i < outline.size(); ++i) {
        if (!outline[i].has(PartKind::tool_call)) continue;
        std::size_t p = 0;
        turn.visit_parts(i, [&](const PartView& part) {
            const std::size_t index = p++;
            if (part.kind != PartKind::tool_call || part.tool != config.tool_name) return;
            ReleaseAnswer answer = ReleaseCall(turn, config, i).answer(part.text);
            if (i == newest) report_released(turn, answer);  // not of one that was loaded
            notes->add(outline[i].parts[index].key_safe_call_id.str(), std::move(answer));
        });
    }
    notes->look_on(outline);
}

std::unordered_set<std::string> released_results(HookTurn& turn, const ReleaseContextConfig& config, bool all) {
    std::unordered_set<std::string> results;
    const std::shared_ptr<ReleaseNotes> notes = ReleaseNotes::of(turn.caches(), turn.report.middleware);
    if (notes->is_settled(turn.edit_version())) return results;
    std::vector<PruningCandidate> candidates = results_before(turn, pruning_of(config), turn.outline().size());
    std::erase_if(candidates, [&](const PruningCandidate& candidate) {
        return !candidate.rule.empty() || !notes->released().contains(candidate.name);
    });
    if (candidates.empty()) notes->settle(turn.edit_version());
    // They come by call; in a history that is out of order a result may stand behind those of later calls.
    std::ranges::stable_sort(candidates, std::ranges::greater{}, &PruningCandidate::message);
    const auto first = all ? std::optional<std::size_t>(0) : ReleaseBreakEven(turn, config).find(candidates);
    for (const PruningCandidate& candidate : candidates) {
        if (first && candidate.message >= *first) results.insert(candidate.name);
    }
    return results;
}

bool take_out_released(HookTurn& turn, Draft& edit, const ReleaseContextConfig& config,
                       const std::unordered_set<std::string>& results) {
    stage_pruning(turn, edit, pruning_of(config), turn.outline().size(), {.only = &results, .rule = released_rule});
    const CommitResult result = edit.commit();
    report_refused(turn, result, released_rule);
    return result.committed();
}

}  // namespace detail

}  // namespace whittle::inline v0
