#include "whittle/compaction/pruning_plan.hpp"

#include "whittle/base/hash.hpp"
#include "whittle/base/names.hpp"
#include "whittle/compaction/media_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
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

bool is_of_result(const PartInfo& part) {
    return part.kind == PartKind::tool_result || (part.kind == PartKind::media && !part.call_id.empty());
}

/// Something that an earlier run put there; its reference must stay readable.
bool is_done(const Mark& mark, std::string_view self) {
    return mark && (mark->reason == media_reason || (mark->by == self && mark->reason == pruned_reason));
}

void add_keys(std::vector<std::string>& keys, const std::vector<std::string>& more) {
    for (const std::string& key : more) {
        if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
}

/// Puts a part into its result. A text that another middleware wrote goes only if its original is stored.
void add_part(PruningCandidate& candidate, const MessageInfo& info, std::size_t p, std::string_view self) {
    const PartInfo& part = info.parts[p];
    const Mark& mark = mark_of(info, p);
    candidate.is_error = candidate.is_error || part.is_error;
    candidate.bytes += part.kind == PartKind::media ? part.media_bytes : part.bytes;
    if (is_done(mark, self)) return;
    if (origin_of(mark) != Origin::original && (origin_of(mark) != Origin::placeholder || mark->stored.empty())) {
        candidate.rule = "other_middleware";
        return;
    }
    (part.kind == PartKind::media ? candidate.media : candidate.texts).push_back(p);
    if (mark) add_keys(candidate.stored, mark->stored);
    if (part.kind != PartKind::media && (!mark || mark->stored.empty())) candidate.fresh.push_back(p);
}

/// The results that a message holds, by call, in order.
std::vector<PruningCandidate> results_in(const MessageInfo& info, std::size_t message, std::string_view self) {
    std::vector<PruningCandidate> results;
    std::vector<std::string_view> calls;
    for (std::size_t p = 0; p < info.parts.size(); ++p) {
        const PartInfo& part = info.parts[p];
        if (!is_of_result(part)) continue;
        const auto found = std::ranges::find(calls, part.call_id);
        const auto at = static_cast<std::size_t>(found - calls.begin());
        if (found == calls.end()) {
            calls.push_back(part.call_id);
            results.push_back({.message = message, .tool = part.tool, .name = part.object_name});
        }
        add_part(results[at], info, p, self);
    }
    return results;
}

void find_call(PruningCandidate& candidate, const Outline& outline, std::size_t call) {
    const std::vector<PartInfo>& parts = outline[call].parts;
    candidate.call = call;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        if (parts[p].kind == PartKind::tool_call && parts[p].object_name == candidate.name) candidate.call_part = p;
    }
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
    if (config.skip_boundary_turns <= 0) return outline.open_call().value_or(outline.size());
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
    for (const Round& round : scope.outline.rounds()) {
        for (const std::size_t message : round.results) {
            for (PruningCandidate& candidate : results_in(scope.outline[message], message, scope.self)) {
                candidate.rule = rule_for(candidate, scope, boundary);
                find_call(candidate, scope.outline, round.call);
                candidates.push_back(std::move(candidate));
            }
        }
    }
    std::ranges::reverse(candidates);
    return candidates;
}

std::string pruned_key(std::string_view conversation, std::string_view name, std::string_view content) {
    return fmt::format("{}/pruned/{}-{}", conversation, name, sha256_hex(content).substr(0, 16));
}

std::string_view reader_of_pruned(std::span<const ToolSpec> tools) noexcept {
    for (const std::string_view name : {std::string_view("read_file"), std::string_view("read_offloaded")}) {
        if (std::ranges::find(tools, name, &ToolSpec::name) != tools.end()) return name;
    }
    return {};
}

}  // namespace whittle::inline v0
