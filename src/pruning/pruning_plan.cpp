#include "whittle/pruning/detail/pruning_plan.hpp"
#include "../message/result_parts.hpp"

#include "whittle/base/detail/names.hpp"
#include "whittle/base/hash.hpp"
#include "whittle/pruning/detail/media_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace whittle::inline v0 {

namespace {

/// Walks the user turns from the newest on. User messages of one turn number are one turn.
class UserTurns {
public:
    explicit UserTurns(const Outline& outline) : outline_(outline), next_(outline.size()) {}

    /// Index of the first user message of the next older turn; nullopt if there is none.
    std::optional<std::size_t> older() {
        std::optional<std::size_t> first;
        for (; next_ > 0; --next_) {
            const MessageInfo& info = outline_[next_ - 1];
            if (!starts_turn(info)) continue;
            if (first && (info.turn == 0 || info.turn != outline_[*first].turn)) break;
            first = next_ - 1;
        }
        return first;
    }

private:
    const Outline& outline_;
    std::size_t next_;
};

void add_keys(std::vector<std::string>& keys, const std::vector<std::string>& more) {
    for (const std::string& key : more) {
        if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
}

/// Puts a part into its result. A text that another middleware wrote goes only if its original is stored. Where a
/// result has nothing but media, its message counts as the adapter's.
void add_part(PruningCandidate& candidate, const MessageInfo& info, std::size_t p) {
    const PartInfo& part = info.parts[p];
    const Mark& mark = mark_of(info, p);
    candidate.is_error = candidate.is_error || part.is_error;
    candidate.bytes += part.kind == PartKind::media ? part.media_base64_bytes : part.text_bytes;
    if (detail::is_taken_out(mark)) return;
    const bool is_adapters = part.kind == PartKind::media && origin_of(mark) == Origin::repair;
    const bool is_stored = origin_of(mark) == Origin::placeholder && !mark->stored_keys.empty();
    if (origin_of(mark) != Origin::original && !is_adapters && !is_stored) {
        candidate.rule = "other_middleware";
        return;
    }
    (part.kind == PartKind::media ? candidate.media : candidate.texts).push_back(p);
    if (mark) add_keys(candidate.stored, mark->stored_keys);
    if (part.kind != PartKind::media && (!mark || mark->stored_keys.empty())) candidate.fresh.push_back(p);
}

/// The results that a message holds, by call, in order.
std::vector<PruningCandidate> results_in(const MessageInfo& info, std::size_t message) {
    std::vector<PruningCandidate> results;
    for (const std::vector<std::size_t>& parts : detail::result_parts(info)) {
        const PartInfo& first = info.parts[parts.front()];
        PruningCandidate& result = results.emplace_back();
        result.message = message;
        result.part = parts.front();
        result.tool = first.tool;
        result.name = first.key_safe_call_id;
        for (const std::size_t p : parts) add_part(result, info, p);
    }
    return results;
}

/// Where a provider takes no media in results, an adapter put them in a message behind the round.
bool is_beside_round(const PartInfo& part, const Mark& mark) {
    return part.kind == PartKind::media && part.call_id.empty() && origin_of(mark) == Origin::repair;
}

std::optional<PruningCandidate> media_beside_round(const MessageInfo& info, std::size_t message) {
    PruningCandidate candidate{.message = message, .is_beside_round = true};
    for (std::size_t p = 0; p < info.parts.size(); ++p) {
        if (!is_beside_round(info.parts[p], mark_of(info, p))) continue;
        candidate.media.push_back(p);
        candidate.bytes += info.parts[p].media_base64_bytes;
    }
    if (candidate.media.empty()) return std::nullopt;
    candidate.part = candidate.media.front();
    return candidate;
}

/// Adds what a message of a round holds.
void add_candidates(std::vector<PruningCandidate>& candidates, const Outline& outline, detail::CallParts& calls,
                    const Round& round, std::size_t message) {
    std::vector<PruningCandidate> found = results_in(outline[message], message);
    if (auto beside = media_beside_round(outline[message], message)) found.push_back(std::move(*beside));
    for (PruningCandidate& candidate : found) {
        candidate.group = round.round_serial;
        candidate.call = round.call_message_index;
        candidate.call_part = calls.find(round.call_message_index, candidate.name);
        candidates.push_back(std::move(candidate));
    }
}

/// The round that message `at` is of, with the messages of it that stand together.
std::optional<Round> round_at(const Outline& outline, std::size_t at) {
    const Serial group = outline[at].round_serial;
    if (group == 0) return std::nullopt;
    std::size_t call = at;
    while (call > 0 && outline[call].serial != group) --call;
    if (outline[call].serial != group) return std::nullopt;
    Round round{group, call, {}};
    for (std::size_t i = call + 1; i < outline.size() && (i <= at || outline[i].round_serial == group); ++i) {
        if (outline[i].round_serial == group) round.results.push_back(i);
    }
    return round;
}

std::string_view rule_for(const PruningCandidate& candidate, const PruningScope& scope, std::size_t boundary) {
    if (scope.is_pinned(candidate.message)) return "pinned";
    if (matches_tool(scope.protected_tools, candidate.tool)) return "protected_tool";
    if (matches_tool(scope.config.protected_tools, candidate.tool)) return "protected_tool";
    if (candidate.is_error && !scope.config.prune_failed_results) return "failed";
    if (!candidate.rule.empty()) return candidate.rule;
    if (candidate.texts.empty() && candidate.media.empty()) return "pruned_already";
    return candidate.message >= boundary ? "skip_boundary" : "";
}

}  // namespace

std::size_t pruning_boundary(const Outline& outline, const PruningConfig& config) noexcept {
    if (config.skip_boundary_turns <= 0) return outline.open_round_begin().value_or(outline.size());
    UserTurns turns(outline);
    const std::optional<std::size_t> newest = turns.older();
    std::optional<std::size_t> boundary = newest;
    for (int i = 1; boundary && i < config.skip_boundary_turns; ++i) boundary = turns.older();
    if (boundary) return *boundary;
    return config.protect_current_turn_only ? newest.value_or(0) : 0;
}

std::vector<PruningCandidate> plan_pruning(const PruningScope& scope) {
    const std::size_t boundary = std::min(scope.end, pruning_boundary(scope.outline, scope.config));
    std::vector<PruningCandidate> candidates;
    detail::CallParts calls(scope.outline);
    for (const Round& round : scope.outline.rounds()) {
        for (const std::size_t message : round.results)
            add_candidates(candidates, scope.outline, calls, round, message);
    }
    for (PruningCandidate& candidate : candidates) candidate.rule = rule_for(candidate, scope, boundary);
    std::ranges::reverse(candidates);
    settle_media_beside_rounds(candidates);
    return candidates;
}

void settle_media_beside_rounds(std::vector<PruningCandidate>& candidates) {
    std::unordered_map<Serial, std::string_view> kept;
    for (const PruningCandidate& candidate : candidates) {
        const bool stays = !candidate.rule.empty() && candidate.rule != "pruned_already";
        if (stays && !candidate.is_beside_round) kept.emplace(candidate.group, candidate.rule);
    }
    for (PruningCandidate& candidate : candidates) {
        const auto found = kept.find(candidate.group);
        if (candidate.is_beside_round && candidate.rule.empty() && found != kept.end()) candidate.rule = found->second;
    }
}

std::vector<PruningCandidate> results_of_media(const Outline& outline, std::size_t message, std::size_t part) {
    std::vector<PruningCandidate> results;
    const std::optional<Round> round = round_at(outline, message);
    if (!round) return results;
    const PartInfo& media = outline[message].parts[part];
    if (media.call_id.empty() && !is_beside_round(media, mark_of(outline[message], part))) return results;
    detail::CallParts calls(outline);
    for (const std::size_t i : round->results) {
        if (media.call_id.empty() || i == message) add_candidates(results, outline, calls, *round, i);
    }
    std::erase_if(results, [&](const PruningCandidate& candidate) {
        if (candidate.is_beside_round) return true;
        return !media.call_id.empty() && outline[message].parts[candidate.part].call_id != media.call_id;
    });
    return results;
}

std::string pruned_key(std::string_view conversation, std::string_view name, std::string_view content) {
    return fmt::format("{}/pruned/{}-{}", conversation, name, sha256_hex(content).substr(0, 16));
}

bool detail::is_taken_out(const Mark& mark) noexcept {
    return mark && (mark->reason == media_reason || mark->reason == pruned_reason);
}

std::int64_t detail::pins_of(const Outline& outline) noexcept {
    std::uint64_t pins = 0;
    for (std::size_t i = 0; i < outline.size(); ++i) {
        if (outline[i].pinned) pins = pins * 0x100000001b3 + outline[i].serial;
    }
    return static_cast<std::int64_t>(pins);
}

}  // namespace whittle::inline v0
