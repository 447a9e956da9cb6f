#include "apply_report.hpp"

#include "rule_descriptions.hpp"
#include "shown.hpp"
#include "table.hpp"
#include "terminal.hpp"
#include "whittle/conversation/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;

/// Where the messages stood in the input: what is told names them by that.
using Indices = std::unordered_map<Serial, std::size_t>;

Indices index_of(std::span<const Serial> serials) {
    Indices indices;
    for (std::size_t i = 0; i < serials.size(); ++i) indices[serials[i]] = i;
    return indices;
}

std::string name_message(const Indices& indices, Serial serial) {
    const auto index = indices.find(serial);
    return index == indices.end() ? "a message of this run" : fmt::format("message {}", index->second);
}

ordered_json to_json(const Candidate& candidate, const Indices& indices) {
    const auto index = indices.find(candidate.serial);
    return {{"message", index == indices.end() ? ordered_json(nullptr) : ordered_json(index->second)},
            {"part", candidate.part},
            {"decision", candidate.removed ? "cut" : "keep"},
            {"rule", candidate.rule},
            {"tokens", candidate.tokens_freed}};
}

ordered_json to_json(const StageReport& stage, const Indices& indices) {
    ordered_json json{{"middleware", stage.middleware},
                      {"outcome", to_string(stage.outcome)},
                      {"count", stage.count},
                      {"threshold", stage.threshold}};
    if (!stage.not_due_reason.empty()) json["reason"] = stage.not_due_reason;
    if (!stage.details) return json;
    json["tokens_before"] = stage.details->tokens_before;
    json["tokens_after"] = stage.details->tokens_after;
    json["first_changed"] =
        stage.details->first_changed ? ordered_json(*stage.details->first_changed) : ordered_json(nullptr);
    json["candidates"] = ordered_json::array();
    for (const Candidate& candidate : stage.details->candidates)
        json["candidates"].push_back(to_json(candidate, indices));
    json["stored"] = stage.details->stored_keys;
    if (!stage.details->error.empty()) json["error"] = stage.details->error;
    return json;
}

ordered_json to_json(const Report& report, bool dry_run, const Indices& indices) {
    ordered_json json{{"dry_run", dry_run},
                      {"changed", report.changed()},
                      {"tokens_before", report.tokens_before},
                      {"tokens_after", report.tokens_after}};
    json["stages"] = ordered_json::array();
    for (const StageReport& stage : report.stages) json["stages"].push_back(to_json(stage, indices));
    return json;
}

/// What the rules mean that decided.
std::string words_of_rules(const Report& report) {
    std::set<std::string> rules;
    for (const StageReport& stage : report.stages) {
        if (!stage.details) continue;
        for (const Candidate& candidate : stage.details->candidates) rules.emplace(candidate.rule);
    }
    const std::string text = rules_text(rules, text_columns());
    return text.empty() ? text : "what the rules mean:\n" + text;
}

/// One run is one look: what waits for later calls is not cut by it.
std::string hint_of_waiting(const Report& report) {
    const bool waits = std::ranges::any_of(
        report.stages, [](const StageReport& stage) { return stage.not_due_reason == "does_not_pay_yet"; });
    if (!waits) return {};
    return wrapped("this was one call: `whittle replay` shows what is cut over all calls, and --now cuts at once",
                   text_columns());
}

std::string refusals_text(const std::vector<StoreFailure>& refused, const std::string& store) {
    return fmt::format("{} could not be stored{}, and what they are the originals of stays; the first: {}",
                       numbered(static_cast<std::int64_t>(refused.size()), "object"),
                       store.empty() ? "" : " in " + store, refused.front().reason);
}

}  // namespace

std::string apply_report_text(const Report& report, std::span<const Serial> messages, bool dry_run, bool json) {
    const Indices indices = index_of(messages);
    if (json) return shown_json(to_json(report, dry_run, indices)) + "\n";
    return shown_lines(to_text(report, [&](Serial serial) { return name_message(indices, serial); })) +
           words_of_rules(report) + hint_of_waiting(report);
}

std::vector<std::string> failures_of(const Report& report, const std::string& store) {
    std::vector<std::string> lines;
    for (const StageReport& stage : report.stages) {
        const std::string error = stage.details ? stage.details->error : std::string();
        const bool has_failed = stage.outcome == Outcome::failed;
        if (has_failed)
            lines.push_back(fmt::format("failed: {}: {}", stage.middleware, error.empty() ? "no reason given" : error));
        if (!stage.details) continue;
        if (!stage.details->store_failures.empty())
            lines.push_back(
                fmt::format("failed: {}: {}", stage.middleware, refusals_text(stage.details->store_failures, store)));
    }
    return lines;
}

std::vector<std::string> warnings_of(const Report& report) {
    std::vector<std::string> lines;
    for (const StageReport& stage : report.stages) {
        if (stage.details && stage.outcome != Outcome::failed && !stage.details->error.empty())
            lines.push_back(fmt::format("warning: {}: {}", stage.middleware, stage.details->error));
    }
    return lines;
}

}  // namespace whittle::cli
