#include "totals_json.hpp"

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const RequestTotals& totals, const ModelProfile& profile) {
    ordered_json json{{"input_tokens", totals.input},
                      {"peak_tokens", totals.peak},
                      {"cached_tokens", totals.cached},
                      {"written_tokens", totals.written},
                      {"uncached_tokens", totals.uncached},
                      {"hit_rate", totals.hit_rate()},
                      {"resets", totals.resets},
                      {"invalidated_tokens", totals.invalidated},
                      {"input_cost_tokens", totals.input_cost}};
    if (profile.context_window > 0) json["calls_over_window"] = totals.over_window;
    return json;
}

ordered_json quotient(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? ordered_json(static_cast<double>(part) / static_cast<double>(whole)) : ordered_json(nullptr);
}

ordered_json to_json(const SessionCost& cost, const ModelProfile& profile) {
    ordered_json json = cost.json();
    if (profile.prices)
        json["money"] = {{"everything", money_of(cost.billed_everything, *profile.prices)},
                         {"sent", money_of(cost.billed_with_refetches, *profile.prices)}};
    return json;
}

ordered_json to_json(const std::vector<ReplayViolation>& violations) {
    ordered_json list = ordered_json::array();
    for (const ReplayViolation& v : violations) {
        list.push_back({{"trajectory", v.trajectory},
                        {"call", v.call},
                        {"rule", to_string(v.violation.rule)},
                        {"message", v.violation.message_index},
                        {"part", v.violation.part_index},
                        {"text", v.violation.text}});
    }
    return list;
}

}  // namespace

ordered_json totals_json(const ReplayTotals& totals, const SessionCost& cost, const ModelProfile& profile) {
    ordered_json json{{"calls", totals.calls}, {"output_tokens", totals.output}};
    json["cost"] = to_json(cost, profile);
    json["raw"] = to_json(totals.raw, profile);
    json["sent"] = to_json(totals.sent, profile);
    json["side_calls"] = {
        {"calls", totals.side_calls}, {"input_tokens", totals.side_input}, {"output_tokens", totals.side_output}};
    json["ratio"] = {{"input_tokens", quotient(totals.sent.input, totals.raw.input)},
                     {"peak_tokens", quotient(totals.sent.peak, totals.raw.peak)}};
    json["commits"] = totals.commits;
    json["edits"] = ordered_json::object();
    for (const auto& [reason, messages] : totals.edits) json["edits"][reason] = messages;
    json["bytes_stored"] = totals.bytes_stored;
    json["changed_bytes"] = totals.changed_bytes;
    json["restored_bytes"] = totals.restored_bytes;
    json["restorable"] = totals.restorable();
    json["not_undone"] = totals.not_undone;
    json["violations"] = totals.violations.size();
    json["violation_list"] = to_json(totals.violations);
    json["failed_hooks"] = totals.failed_hooks;
    json["failed_writes"] = totals.failed_writes;
    json["errors"] = totals.errors;
    return json;
}

}  // namespace whittle::cli
