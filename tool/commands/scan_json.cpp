#include "scan_report.hpp"
#include "shown.hpp"

#include <nlohmann/json.hpp>

#include <array>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;

/// With what we count of it.
ordered_json agent_json(const BillSum& sum, const CountedSum& counted) {
    ordered_json json = whittle::cli::bill_json(sum);
    json["counted"] = {
        {"sessions", counted.sessions}, {"input_tokens", counted.counted}, {"billed", usage_json(counted.billed)}};
    return json;
}

ordered_json strategy_json(const StrategySum& sum) {
    return {{"name", sum.name},
            {"cost", sum.cost},
            {"cost_with_refetches", sum.with_refetches},
            {"priced_sessions", sum.priced_sessions},
            {"dollars", dollars_json(sum.dollars, sum.priced_sessions)},
            {"sent_tokens", sum.sent},
            {"peak_tokens", sum.peak},
            {"resets", sum.resets},
            {"needed", sum.needed},
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

void ScanReport::add_locations(ordered_json& json) const {
    json["locations"] = ordered_json::array();
    for (const LogLocation& location : locations_)
        json["locations"].push_back({{"agent", location.agent},
                                     {"path", location.path},
                                     {"exists", location.exists},
                                     {"files", location.files.size()}});
}

void ScanReport::add_notes_to(ordered_json& json) const {
    json["notes"] = {{"records", notes_.records},           {"damaged_lines", notes_.damaged},
                     {"repaired_records", notes_.repaired}, {"left_out", notes_.left_out},
                     {"unknown", notes_.unknown},           {"versions", notes_.versions},
                     {"newer_versions", notes_.newer},      {"skipped_files", skipped_.json()}};
}

std::string ScanReport::bill_json() const {
    ordered_json json;
    add_locations(json);
    json["total"] = whittle::cli::bill_json(tables_.all);
    json["agents"] = ordered_json::object();
    for (const auto& [agent, sum] : tables_.agents) json["agents"][agent] = whittle::cli::bill_json(sum);
    add_bills(json, tables_, bills_);
    add_notes_to(json);
    return shown_json(json) + "\n";
}

std::string ScanReport::json() const {
    ordered_json json;
    add_locations(json);
    CountedSum counted;
    for (const auto& [agent, sum] : counted_) counted += sum;
    json["total"] = agent_json(tables_.all, counted);
    json["agents"] = ordered_json::object();
    for (const auto& [agent, sum] : tables_.agents) {
        const auto known = counted_.find(agent);
        json["agents"][agent] = agent_json(sum, known == counted_.end() ? CountedSum{} : known->second);
    }
    add_bills(json, tables_, bills_);
    json["agreement"] = {{"counted_to_billed", token_ratios_}, {"hit_rate_difference", hit_differences_}};
    json["basis"] = bases_.json();
    json["strategies"] = ordered_json::array({strategy_json(recorded_)});
    for (const StrategySum& sum : strategies_) json["strategies"].push_back(strategy_json(sum));
    json["spending"] = spending_json(spending_);
    json["compactions"] = {{"number", compactions_}, {"sessions", compacted_sessions_}};
    json["compactions"]["needed_later"] = ordered_json::object();
    for (const auto& [kind, count] : lost_)
        json["compactions"]["needed_later"][kind] = {
            {"needed", count.needed}, {"visible", count.visible}, {"lost", count.lost}};
    json["most_expensive"] = ordered_json::array();
    for (const ExpensiveSession& expensive : expensive_)
        json["most_expensive"].push_back({{"session", expensive.id},
                                          {"agent", expensive.agent},
                                          {"file", expensive.file},
                                          {"calls", expensive.calls},
                                          {"cost", expensive.cost},
                                          {"is_billed", expensive.is_billed},
                                          {"dollars", dollars_json(expensive.strategies.front().dollars,
                                                                   expensive.strategies.front().priced_sessions)},
                                          {"recommended_with_refetches", expensive.recommended}});
    add_notes_to(json);
    return shown_json(json) + "\n";
}

}  // namespace whittle::cli
