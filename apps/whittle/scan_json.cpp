#include "scan_report.hpp"
#include "shown.hpp"

#include <nlohmann/json.hpp>

#include <array>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;

ordered_json usage_json(const Usage& usage) {
    return {{"input_tokens", usage.input},
            {"cache_read_tokens", usage.cache_read},
            {"cache_write_tokens", usage.cache_write},
            {"output_tokens", usage.output},
            {"cache_write_5m_tokens", usage.cache_write_5m},
            {"cache_write_1h_tokens", usage.cache_write_1h}};
}

ordered_json bill_json(const BillSum& sum) {
    ordered_json json{{"sessions", sum.sessions}, {"calls", sum.calls}, {"billed_calls", sum.billed_calls}};
    json["repeated_calls"] = sum.repeated_calls;
    json["billed"] = usage_json(sum.billed);
    json["billed_cost"] = sum.billed_cost;
    json["output_recorded_early"] = {{"calls", sum.early.calls}, {"estimated_tokens", sum.early.estimated_tokens}};
    json["counted"] = {
        {"sessions", sum.counted_sessions}, {"input_tokens", sum.counted}, {"billed", usage_json(sum.counted_bill)}};
    return json;
}

ordered_json strategy_json(const StrategySum& sum) {
    return {{"name", sum.name},
            {"cost", sum.cost},
            {"cost_with_repairs", sum.with_repairs},
            {"sent_tokens", sum.sent},
            {"peak_tokens", sum.peak},
            {"resets", sum.resets},
            {"needed", sum.asked},
            {"recoverable", sum.recoverable},
            {"lost", sum.lost}};
}

ordered_json spent_json(const evaluation::Spent& spent) {
    return {{"messages", spent.messages}, {"tokens", spent.tokens}, {"sent_tokens", spent.sent}};
}

ordered_json spending_json(const evaluation::Spending& spending) {
    ordered_json json{{"all", spent_json(spending.all)},
                      {"users", spent_json(spending.users)},
                      {"replies", spent_json(spending.replies)},
                      {"kept_by_compactions", spent_json(spending.kept)}};
    json["results"] = ordered_json::object();
    for (const auto& [tool, spent] : spending.tools) json["results"][tool] = spent_json(spent);
    json["sent_by_age"] = spending.sent_by_age;
    json["repeated"] = spent_json(spending.repeated);
    json["unused"] = spent_json(spending.unused);
    return json;
}

}  // namespace

std::string ScanReport::json() const {
    ordered_json json;
    json["places"] = ordered_json::array();
    for (const ScannedPlace& place : places_)
        json["places"].push_back({{"agent", place.agent},
                                  {"path", place.path},
                                  {"is_there", place.is_there},
                                  {"files", place.files.size()}});
    json["total"] = bill_json(all_);
    json["agents"] = ordered_json::object();
    for (const auto& [agent, sum] : by_agent_) json["agents"][agent] = bill_json(sum);
    json["agreement"] = {{"counted_to_billed", token_ratios_}, {"hit_rate_difference", hit_differences_}};
    json["basis"] = bases_.json();
    json["strategies"] = ordered_json::array({strategy_json(recorded_)});
    for (const StrategySum& sum : strategies_) json["strategies"].push_back(strategy_json(sum));
    json["spending"] = spending_json(spending_);
    json["compactions"] = {{"number", compactions_}, {"sessions", compacted_sessions_}};
    json["compactions"]["needed_later"] = ordered_json::object();
    for (const auto& [kind, count] : lost_)
        json["compactions"]["needed_later"][kind] = {
            {"asked", count.asked}, {"visible", count.visible}, {"lost", count.lost}};
    json["dearest"] = ordered_json::array();
    for (const Dear& dear : dear_)
        json["dearest"].push_back({{"session", dear.id},
                                   {"agent", dear.agent},
                                   {"file", dear.file},
                                   {"calls", dear.calls},
                                   {"cost", dear.cost},
                                   {"is_billed", dear.is_billed},
                                   {"recommended_with_repairs", dear.recommended}});
    json["notes"] = {{"records", notes_.records},       {"damaged_lines", notes_.damaged},
                     {"mended_records", notes_.mended}, {"left_out", notes_.left_out},
                     {"unknown", notes_.unknown},       {"versions", notes_.versions},
                     {"newer_versions", notes_.newer},  {"files_passed_over", passed_over_.json()}};
    return shown_json(json) + "\n";
}

}  // namespace whittle::cli
