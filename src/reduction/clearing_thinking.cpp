#include "whittle/reduction/detail/clearing_run.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

// How a clearing run takes out old thinking.

namespace whittle::inline v0::detail {

namespace {

bool is_thinking(const PartInfo& part) noexcept { return part.kind == PartKind::thinking; }

std::int64_t thinking_tokens(const ClearingScope& scope, std::size_t message) {
    std::int64_t tokens = 0;
    scope.edit.visit_parts(message, [&](const PartView& part) {
        if (part.kind == PartKind::thinking) tokens = add_saturating(tokens, scope.tokens_of(part));
    });
    return tokens;
}

/// Messages with thinking beyond what is kept, oldest first.
std::vector<std::size_t> old_thinking(const ClearingScope& scope) {
    const Outline outline = scope.edit.outline();
    const auto most_turns = static_cast<std::size_t>(scope.config.clear_thinking_keep_turns.value_or(0));
    std::size_t turns = 0;
    std::int64_t tokens = 0;
    std::vector<std::size_t> old;
    for (std::size_t i = outline.size(); i-- > 0;) {
        if (!outline[i].has(PartKind::thinking)) continue;
        ++turns;
        if (scope.config.clear_thinking_keep_tokens > 0) tokens = add_saturating(tokens, thinking_tokens(scope, i));
        const bool is_beyond_turns = scope.config.clear_thinking_keep_turns && turns > most_turns;
        const bool is_beyond_tokens =
            scope.config.clear_thinking_keep_tokens > 0 && tokens > scope.config.clear_thinking_keep_tokens;
        if (is_beyond_turns || is_beyond_tokens) old.push_back(i);
    }
    std::ranges::reverse(old);
    return old;
}

/// All thinking of a message goes, or none. Returns the tokens that this frees. A message that has nothing else stays.
std::int64_t stage_thinking(ClearingScope& scope, std::size_t message) {
    const MessageInfo& info = scope.edit.outline()[message];
    std::vector<std::size_t> thinking;
    for (std::size_t p = 0; p < info.parts.size(); ++p) {
        if (is_thinking(info.parts[p])) thinking.push_back(p);
    }
    const bool is_free = std::ranges::all_of(thinking, [&](std::size_t p) { return scope.edit.may_edit(message, p); });
    const bool has_content = std::ranges::any_of(info.parts, [](const PartInfo& part) {
        return !is_thinking(part) && !(part.kind == PartKind::text && part.is_blank);
    });
    if (!is_free || !has_content) return 0;
    const std::int64_t before = scope.edit.tokens_after();
    const EditGroup edit_group = scope.edit.begin_edit_group();
    try {
        scope.edit.erase_parts(message, thinking, {.reason = "clear_thinking"});
    } catch (...) {
        scope.edit.drop_edit_group(edit_group);
        throw;
    }
    const std::int64_t freed = before - scope.edit.tokens_after();
    if (freed <= 0) scope.edit.drop_edit_group(edit_group);
    return std::max<std::int64_t>(0, freed);
}

}  // namespace

std::size_t first_with_thinking(const Outline& outline) noexcept {
    std::size_t i = 0;
    while (i < outline.size() && !outline[i].has(PartKind::thinking)) ++i;
    return i;
}

std::size_t first_old_thinking(const Outline& outline, const ReductionConfig& config) noexcept {
    if (!clears_thinking(config)) return outline.size();
    if (config.clear_thinking_keep_tokens > 0) return first_with_thinking(outline);
    std::int64_t kept = *config.clear_thinking_keep_turns;
    std::size_t first = outline.size();
    for (std::size_t i = outline.size(); i-- > 0;) {
        if (outline[i].has(PartKind::thinking) && kept-- <= 0) first = i;
    }
    return first;
}

/// Oldest first: as long as nothing that thinks stands in front, what is kept stays valid where thinking is bound.
void ClearingRun::clear_thinking(std::int64_t target) {
    if (!scope_.config.clear_thinking_keep_turns && scope_.config.clear_thinking_keep_tokens <= 0) return;
    for (const std::size_t message : old_thinking(scope_)) {
        if (is_enough(target, scope_.counted_freed())) return;
        std::int64_t freed = 0;
        const bool has_failed = !attempt([&] { freed = stage_thinking(scope_, message); });
        if (freed <= 0 && !has_failed && !scope_.turn.config.explain) continue;
        const std::string_view rule = has_failed ? "failed" : freed > 0 ? "old_thinking" : "kept_thinking";
        scope_.turn.report.ensure_details().candidates.push_back(
            {scope_.edit.outline()[message].serial, 0, freed > 0, rule, freed});
    }
}

}  // namespace whittle::inline v0::detail
