#include "copilot_bills.hpp"

#include "whittle/base/text.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

/// Long enough for any id and any name of a model; what is longer is written into too much.
constexpr std::size_t most_of_copilot_name = 128;

/// So that sums of many files stay what they are.
constexpr std::int64_t max_copilot_requests = 1'000'000'000;

std::string_view copilot_name_or_none(std::string_view text) {
    return text.size() <= most_of_copilot_name ? text : std::string_view();
}

/// The first of two counts that is there: older versions had shorter names.
std::int64_t copilot_count_of(const ordered_json& counts, const char* key, const char* older) {
    return detail::find_member(counts, key) != nullptr ? count_at(counts, key) : count_at(counts, older);
}

template <typename SumsByModel>
std::int64_t copilot_output_in(const SumsByModel& sums) {
    std::int64_t output = 0;
    for (const auto& [model, one] : sums) output = add_saturating(output, one.counts.output);
    return output;
}

}  // namespace

bool CopilotBills::Sums::covers(const Sums& other) const noexcept {
    return requests >= other.requests && counts.uncached_input >= other.counts.uncached_input &&
           counts.cache_read >= other.counts.cache_read && counts.cache_write >= other.counts.cache_write &&
           counts.output >= other.counts.output;
}

CopilotBills::Sums CopilotBills::Sums::without(const Sums& other) const noexcept {
    return {.requests = requests - other.requests,
            .counts = {.uncached_input = counts.uncached_input - other.counts.uncached_input,
                       .cache_read = counts.cache_read - other.counts.cache_read,
                       .cache_write = counts.cache_write - other.counts.cache_write,
                       .output = counts.output - other.counts.output}};
}

void CopilotBills::add_output(std::int64_t tokens) noexcept { output_ = add_saturating(output_, tokens); }

void CopilotBills::add_compaction(const ordered_json& data, std::string_view event, std::string_view model,
                                  std::optional<double> time) {
    const ordered_json* used = tree_at(data, "compactionTokensUsed");
    if (used == nullptr) return;
    const std::string_view named = text_at(*used, "model");
    Call call{
        .bill_id = event.empty() ? "" : fmt::format("copilot/{}", event.substr(0, most_of_copilot_name)),
        .model = std::string(named.empty() ? model : copilot_name_or_none(named)),
        .time = time,
        .usage = usage_of_sums(copilot_count_of(*used, "inputTokens", "input"),
                               copilot_count_of(*used, "cacheReadTokens", "cachedInput"),
                               count_at(*used, "cacheWriteTokens"), copilot_count_of(*used, "outputTokens", "output"))};
    if (is_bill(call.usage)) compactions_.push_back(std::move(call));
}

CopilotBills::SumsByModel CopilotBills::sums_of(const ordered_json& metrics) {
    SumsByModel all;
    if (!metrics.is_object()) return all;
    for (const auto& [model, metric] : metrics.items()) {
        const ordered_json* usage = tree_at(metric, "usage");
        if (usage == nullptr) continue;
        const ordered_json* requests = tree_at(metric, "requests");
        const Sums sums{.requests = requests == nullptr ? 0 : count_at(*requests, "count"),
                        .counts = {.uncached_input = count_at(*usage, "inputTokens"),
                                   .cache_read = count_at(*usage, "cacheReadTokens"),
                                   .cache_write = count_at(*usage, "cacheWriteTokens"),
                                   .output = count_at(*usage, "outputTokens")}};
        if (is_bill(sums.counts)) all.insert_or_assign(std::string(copilot_name_or_none(model)), sums);
    }
    return all;
}

/// A sum that goes on has all that the one in front had, and all that replies told of since then.
bool CopilotBills::continues(const SumsByModel& now) const {
    if (!may_go_on_) return false;
    for (const auto& [model, sums] : before_) {
        const auto at = now.find(model);
        if (at == now.end() || !at->second.covers(sums)) return false;
    }
    return copilot_output_in(now) - copilot_output_in(before_) >= output_;
}

std::optional<std::vector<Call>> CopilotBills::close(const ordered_json& data, std::string_view event,
                                                     std::optional<double> time, LogNotes& notes) {
    if (data.contains("eventsFileSizeBytes") || data.contains("agentMetrics")) note_running_sums();
    const ordered_json* metrics = tree_at(data, "modelMetrics");
    SumsByModel now = metrics == nullptr ? SumsByModel() : sums_of(*metrics);
    if (now.empty()) return std::nullopt;
    const bool is_sum_of_both = continues(now);
    std::vector<Call> calls;
    std::int64_t output = 0;
    for (const auto& [model, sums] : now) {
        const auto before = before_.find(model);
        const Sums billed = is_sum_of_both && before != before_.end() ? sums.without(before->second) : sums;
        const Usage& counts = billed.counts;
        output = add_saturating(output, counts.output);
        if (!is_bill(counts)) continue;
        calls.push_back(
            {.bill_id = event.empty() ? "" : fmt::format("copilot/{}/{}", event.substr(0, most_of_copilot_name), model),
             .model = model,
             .time = time,
             .usage = usage_of_sums(counts.uncached_input, counts.cache_read, counts.cache_write, counts.output),
             .requests = std::clamp<std::int64_t>(billed.requests, 1, max_copilot_requests)});
    }
    if (output < output_) ++notes.unknown["session.shutdown with less output than the replies in front of it"];
    std::int64_t with_compactions = output_;
    for (const Call& call : compactions_) with_compactions = add_saturating(with_compactions, call.usage->output);
    if (output >= with_compactions) compactions_.clear();  // they are in the sums
    for (Call& call : std::exchange(compactions_, {})) calls.push_back(std::move(call));
    before_ = std::move(now);
    output_ = 0;
    return calls;
}

std::vector<Call> CopilotBills::take_compactions() { return std::exchange(compactions_, {}); }

}  // namespace whittle::inline v0::logs
