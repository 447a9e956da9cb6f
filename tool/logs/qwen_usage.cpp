#include "qwen_usage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

/// Whether a prompt's id is of a sub-agent: "<session>#<agent>#<n>", while the session's own are
/// "<session>########<n>".
bool is_prompt_of_agent(std::string_view id) {
    const std::size_t first = id.find('#');
    const std::size_t last = id.rfind('#');
    return first != last && id.substr(first, last - first).find_first_not_of('#') != std::string_view::npos;
}

}  // namespace

QwenCounts QwenCounts::of_reply(const ordered_json& usage) {
    return {.prompt = count_at(usage, "promptTokenCount"),
            .candidates = count_at(usage, "candidatesTokenCount"),
            .cached = count_at(usage, "cachedContentTokenCount"),
            .thoughts = count_at(usage, "thoughtsTokenCount"),
            .tool = count_at(usage, "toolUsePromptTokenCount"),
            .total = count_at(usage, "totalTokenCount")};
}

QwenCounts QwenCounts::of_event(const ordered_json& event) {
    return {.prompt = count_at(event, "input_token_count"),
            .candidates = count_at(event, "output_token_count"),
            .cached = count_at(event, "cached_content_token_count"),
            .thoughts = count_at(event, "thoughts_token_count"),
            .tool = count_at(event, "tool_token_count"),
            .total = count_at(event, "total_token_count")};
}

Usage QwenCounts::usage() const {
    if (prompt == 0 && candidates == 0 && tool == 0)
        return usage_of_sums(total - std::min(total, thoughts), cached, 0, std::min(total, thoughts));
    const std::int64_t input = add_saturating(prompt, tool);
    const std::int64_t separate = add_saturating(candidates, thoughts);
    const bool are_separate = total > 0 && total == add_saturating(input, separate);
    const bool are_within = total > 0 && total == add_saturating(input, candidates);
    const bool is_sum = are_separate != are_within ? are_separate : thoughts > candidates;
    return usage_of_sums(input, cached, 0, is_sum ? separate : candidates);
}

std::string qwen_bill_id(std::string_view uuid) {
    constexpr std::size_t min_unique = 32;
    return uuid.size() < min_unique ? "" : "qwen_code/" + std::string(uuid);
}

void QwenBills::add_event(const ordered_json& event, std::string_view uuid, std::optional<double> time) {
    Event& added = events_.emplace_back();
    added.counts = QwenCounts::of_event(event);
    const std::string_view agent = text_at(event, "subagent_name");
    added.is_of_agent = !agent.empty() || is_prompt_of_agent(text_at(event, "prompt_id"));
    added.call = {.bill_id = agent.empty() ? qwen_bill_id(uuid) : id_of_agent(agent, added.counts, time),
                  .model = std::string(text_at(event, "model")),
                  .time = time,
                  .usage = added.counts.usage()};
}

std::string QwenBills::id_of_agent(std::string_view agent, const QwenCounts& counts, std::optional<double> time) {
    constexpr double bucket = 60;  // seconds
    std::string id = fmt::format("qwen_code/{}/{}-{}-{}-{}-{}/{:.0f}", agent, counts.prompt, counts.candidates,
                                 counts.cached, counts.thoughts, counts.total, std::floor(time.value_or(0) / bucket));
    const int n = ++of_agents_[id];
    return n == 1 ? id : fmt::format("{}/{}", id, n);
}

std::vector<Call> QwenBills::take_others() {
    std::vector<Call> others;
    for (Event& event : std::exchange(events_, {})) {
        const auto reply = replies_.find(event.counts.key());
        if (!event.is_of_agent && reply != replies_.end() && reply->second > 0) {
            --reply->second;
        } else {
            others.push_back(std::move(event.call));
        }
    }
    return others;
}

}  // namespace whittle::inline v0::logs
