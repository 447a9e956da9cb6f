#include "history_facts.hpp"

#include "whittle/message/detail/result_numbers.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0 {

std::vector<Run> merged_runs(const Outline& outline) {
    std::vector<Run> runs;
    for (std::size_t i = 0; i < outline.size(); ++i) {
        if (outline[i].role == Role::system) continue;
        const bool is_assistant = outline[i].role == Role::assistant;
        if (runs.empty() || runs.back().is_assistant != is_assistant) runs.push_back({is_assistant, i, i});
        runs.back().end = i + 1;
    }
    return runs;
}

namespace {

/// Text beside results opens no turn, but who sends it sends the message: results that it lacks are missing.
bool only_results_follow(const Outline& outline, std::size_t call) {
    for (std::size_t i = call + 1; i < outline.size(); ++i) {
        const MessageInfo& info = outline[i];
        if (origin_of(info.mark) == Origin::repair) continue;
        const auto is_beside = [&](const PartInfo& part) { return is_beside_results(info, part); };
        if (!is_result_message(info) || std::ranges::any_of(info.parts, is_beside)) return false;
    }
    return true;
}

}  // namespace

HistoryFacts::HistoryFacts(const Outline& outline, std::optional<std::span<const ToolSpec>> tools,
                           CancelCheck check_cancelled)
    : outline_(outline), tools_(tools), open_call_(outline.open_round_begin()) {
    if (open_call_ && only_results_follow(outline, *open_call_)) running_ = open_call_;
    for (std::size_t i = 0; i < outline.size(); ++i) {
        check_cancelled();
        add_calls(i);
        add_results(i, check_cancelled);
    }
}

void HistoryFacts::add_calls(std::size_t message) {
    const std::span<const PartInfo> parts = outline_[message].parts;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        if (parts[p].kind != PartKind::tool_call) continue;
        const auto [same_id, is_new] = by_id_.try_emplace(parts[p].call_id);
        same_id->second.newest = calls_.size();
        older_unanswered_.push_back(std::exchange(same_id->second.unanswered, calls_.size()));
        calls_.push_back({message, p, parts[p].call_id, std::nullopt, !is_new});
    }
}

void HistoryFacts::add_results(std::size_t message, CancelCheck check_cancelled) {
    const std::span<const PartInfo> parts = outline_[message].parts;
    if (holds_copies_of_results(outline_[message])) return;
    detail::ResultNumbers numbers;
    std::size_t count = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        check_cancelled();
        const bool is_alone = parts.size() == 1 && is_result_part(parts[p]);  // most: nothing to look up
        if (!is_alone && numbers.next(parts[p]) != count) continue;
        ++count;
        results_.push_back({message, p, parts[p].call_id, std::nullopt, false});
        pair(results_.back());
    }
}

void HistoryFacts::pair(ResultFact& result) {
    const auto found = by_id_.find(result.id);
    if (found == by_id_.end()) return;
    SameId& same_id = found->second;
    result.is_second = same_id.unanswered == none;
    result.call = result.is_second ? same_id.newest : same_id.unanswered;
    if (result.is_second) return;
    same_id.unanswered = older_unanswered_[*result.call];
    calls_[*result.call].result = results_.size() - 1;
}

}  // namespace whittle::inline v0
