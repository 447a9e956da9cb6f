#include "planning.hpp"

#include "../message/result_parts.hpp"
#include "whittle/base/detail/names.hpp"
#include "whittle/chain/detail/edit_schedule.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

/// The texts of a result: what the source system calls a tool message.
struct Result {
    std::size_t message = 0;
    std::vector<std::size_t> parts{};
    std::string_view call_id{};
    std::string_view tool{};
};

std::vector<Result> results_of(const Outline& outline, int batch) {
    std::vector<Result> results;
    for (std::size_t m = 0; m < outline.size(); ++m) {
        const auto& parts = outline[m].parts;
        if (outline[m].model_calls_before > batch) continue;
        for (std::vector<std::size_t>& of_result : result_parts(outline[m])) {
            std::erase_if(of_result, [&](std::size_t p) { return parts[p].kind != PartKind::tool_result; });
            if (of_result.empty()) continue;
            const PartInfo& first = parts[of_result.front()];
            results.push_back({m, std::move(of_result), first.call_id, first.tool});
        }
    }
    return results;
}

bool is_others(const Mark& mark, std::string_view self) {
    return origin_of(mark) != Origin::original && mark->by != self;
}

struct Tier {
    bool applies = false;
    bool is_old = false;
};

Tier tier_of(const TokenSavingConfig& config, int age) noexcept {
    if (age < config.perplexity_recent_cutoff || age < 0) return {};
    return {true, age >= config.perplexity_mid_cutoff};
}

}  // namespace

std::vector<SavingCandidate> SavingPlanner::head_and_tail() const {
    std::vector<SavingCandidate> candidates;
    const std::vector<Result> results = results_of(outline, batch);
    const auto recent = static_cast<std::size_t>(std::max(0, config.keep_recent_tool_messages));
    for (std::size_t r = 0; r < results.size(); ++r) {
        const Result& result = results[r];
        const bool is_recent = r + recent >= results.size();
        for (const std::size_t p : result.parts) {
            if (outline[result.message].parts[p].text_bytes <= config.compress_threshold_chars) continue;
            const Mark& mark = mark_of(outline[result.message], p);
            const std::string_view rule = is_recent                                    ? "recent_result"
                                          : result.call_id.empty()                     ? "no_call_id"
                                          : is_others(mark, self)                      ? "other_middleware"
                                          : has_fact(mark, self, fact_head_tail)       ? "shortened_already"
                                          : matches_tool(protected_tools, result.tool) ? "protected_tool"
                                          : is_pinned(result.message)                  ? "pinned"
                                                                                       : "long_result";
            candidates.push_back({result.message, p, rule, rule == "long_result"});
        }
    }
    return candidates;
}

std::vector<SavingCandidate> SavingPlanner::words() const {
    std::vector<SavingCandidate> candidates;
    const auto least_bytes = 2 * static_cast<std::int64_t>(config.perplexity_min_content_words) - 1;
    for (std::size_t m = 0; m < outline.size(); ++m) {
        const MessageInfo& info = outline[m];
        const Tier tier = tier_of(config, batch - call_of(info));
        if (!tier.applies) continue;
        for (std::size_t p = 0; p < info.parts.size(); ++p) {
            const PartInfo& part = info.parts[p];
            const bool is_reply = info.role == Role::assistant && part.kind == PartKind::text;
            const bool is_result = part.kind == PartKind::tool_result && !part.call_id.empty();
            if ((!is_reply && !is_result) || part.text_bytes < least_bytes) continue;
            const Mark& mark = mark_of(info, p);
            const bool was_mid = has_fact(mark, self, fact_words_mid);
            if (is_others(mark, self) || has_fact(mark, self, fact_words_old) || (was_mid && !tier.is_old)) continue;
            const double ratio = !tier.is_old ? config.perplexity_keep_ratio_mid
                                 : was_mid    ? config.perplexity_keep_ratio_old / config.perplexity_keep_ratio_mid
                                              : config.perplexity_keep_ratio_old;
            const std::string_view rule = is_result && matches_tool(protected_tools, part.tool) ? "protected_tool"
                                          : is_pinned(m)                                        ? "pinned"
                                          : tier.is_old                                         ? "old_words"
                                                                                                : "mid_words";
            candidates.push_back({m, p, rule, rule.ends_with("words"), ratio, tier.is_old, was_mid});
        }
    }
    return candidates;
}

int batch_at(const TokenSavingConfig& config, int model_calls) noexcept {
    const int step = std::max(1, config.batch_calls);
    return model_calls / step * step;
}

bool has_fact(const Mark& mark, std::string_view self, std::string_view fact) noexcept {
    if (origin_of(mark) == Origin::original || mark->by != self) return false;
    std::string_view rest = mark->reason;
    while (!rest.empty()) {
        const std::string_view first = rest.substr(0, rest.find('+'));
        if (first == fact) return true;
        rest.remove_prefix(std::min(rest.size(), first.size() + 1));
    }
    return false;
}

std::string reason_with(const Mark& mark, std::string_view self, std::string_view fact) {
    std::string reason;
    for (const std::string_view old : {fact_head_tail, fact_words_mid, fact_words_old}) {
        if (old != fact && !has_fact(mark, self, old)) continue;
        reason.append(reason.empty() ? "" : "+").append(old);
    }
    return reason;
}

std::size_t first_reply_since(const Outline& outline, int model_calls) noexcept {
    std::size_t first = outline.size();
    while (first > 0 && !starts_turn(outline[first - 1])) --first;
    while (first < outline.size() &&
           (outline[first].role != Role::assistant || outline[first].model_calls_before < model_calls))
        ++first;
    return first;
}

}  // namespace whittle::inline v0::detail
