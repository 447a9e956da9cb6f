#include "agent_log.hpp"
#include "bill_sums.hpp"
#include "cost_basis.hpp"
#include "masked.hpp"
#include "shown.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t longest_billed_name = 44;

/// The end of it where it is long.
std::string end_of_path(const std::string& path) {
    if (width_of(path) <= longest_billed_name) return path;
    constexpr std::string_view dots = "...";
    std::size_t begin = path.size() - std::min(path.size(), longest_billed_name - dots.size());
    while (begin < path.size() && (static_cast<unsigned char>(path[begin]) & 0xC0U) == 0x80U) ++begin;
    return clipped_to_width(std::string(dots) + path.substr(begin), longest_billed_name);
}

std::vector<std::string> bill_cells(const std::string& name, const BillSum& sum, bool has_dollars) {
    std::vector<std::string> cells{name,
                                   grouped(sum.sessions),
                                   grouped(sum.calls),
                                   grouped(sum.billed_calls),
                                   grouped(sum.billed.uncached_input),
                                   grouped(sum.billed.cache_read),
                                   grouped(sum.billed.cache_write),
                                   grouped(sum.billed.output),
                                   sum.billed_calls > 0 ? rounded(sum.billed_cost) : "-"};
    if (has_dollars) cells.insert(cells.begin() + 1, sum.priced_calls > 0 ? dollars(sum.dollars) : "-");
    return cells;
}

/// Those that were billed and have no price, the most calls first.
std::string models_without_price(const BillSums& models) {
    std::map<std::string, std::int64_t> calls;
    for (const auto& [name, sum] : models) {
        if (sum.billed_calls > sum.priced_calls)
            calls[name.empty() ? "not recorded" : printed(name)] = sum.billed_calls - sum.priced_calls;
    }
    return list_of_kinds(calls);
}

std::string prices_note(const BillTables& tables) {
    const BillSum& all = tables.all;
    std::string text;
    if (all.priced_calls > 0)
        text = fmt::format(
            "dollars: each call at the price of its model, by --price or else the providers' list prices of {}; what a "
            "subscription costs is another figure\n",
            prices_as_of);
    if (all.billed_calls > all.priced_calls)
        text += fmt::format("no price is known for {}, by model: {} (--price MODEL=INPUT,OUTPUT)\n",
                            all.priced_calls == 0 ? "any call" : numbered(all.billed_calls - all.priced_calls, "call"),
                            models_without_price(tables.models));
    return text;
}

ordered_json rows_json(const char* kind, const BillSums& sums) {
    ordered_json rows = ordered_json::array();
    for (const auto& [name, sum] : sums) {
        rows.push_back({{kind, name}});
        rows.back().update(bill_json(sum));
        rows.back().erase("repeated_calls");
    }
    return rows;
}

ordered_json session_json(const SessionBill& session, const Bills& bills) {
    ordered_json json{{"agent", session.agent}, {"session", session.id},      {"parent", session.parent},
                      {"file", session.file},   {"project", session.project}, {"version", session.version}};
    std::optional<double> first;
    std::optional<double> last;
    std::set<std::string> models;
    for (const BilledCall& call : session.calls) {
        if (!call.is_counted()) continue;
        models.insert(bills.models()[call.model]);
        if (!call.time) continue;
        first = std::min(first.value_or(*call.time), *call.time);
        last = std::max(last.value_or(*call.time), *call.time);
    }
    json["first"] = first ? ordered_json(utc_text_of(*first)) : ordered_json();
    json["last"] = last ? ordered_json(utc_text_of(*last)) : ordered_json();
    json["models"] = models;
    json.update(bill_json(sum_of(session)));
    return json;
}

}  // namespace

std::string bill_sentence(const BillSum& sum) {
    const std::string of = fmt::format("{}, {}", numbered(sum.sessions, "session"), numbered(sum.calls, "model call"));
    const std::int64_t input = input_of(sum.billed);
    if (sum.billed_calls == 0) return of + "; what they were billed is in none of the logs.";
    const std::string cached =
        input > 0 ? fmt::format(" ({:.0f} % of it read from the cache)",
                                100.0 * static_cast<double>(sum.billed.cache_read) / static_cast<double>(input))
                  : "";
    const std::string tokens =
        fmt::format("{} of input{} and {} of output", numbered(input, "token"), cached, grouped(sum.billed.output));
    const std::string billed = fmt::format(
        "{}; {} billed", of, sum.billed_calls == 1 ? "1 call was" : grouped(sum.billed_calls) + " calls were");
    if (sum.is_priced())
        return fmt::format("{}, {} by the prices of {}: {}.", billed, dollars(sum.dollars),
                           sum.billed_calls == 1 ? "its model" : "their models", tokens);
    const std::string cost =
        fmt::format("{}: {}, which cost as much as {} tokens of plain input", billed, tokens, rounded(sum.billed_cost));
    if (sum.priced_calls == 0) return cost + ".";
    return fmt::format("{}; the {} whose price is known {} to {}.", cost, numbered(sum.priced_calls, "call"),
                       sum.priced_calls == 1 ? "comes" : "come", dollars(sum.dollars));
}

Table bill_table(const BillSums& sums, const BillSum& all, const BillTableForm& form) {
    const bool has_dollars = all.priced_calls > 0;
    std::vector<std::string> header{form.heading, "sessions", "calls",  "billed calls", "input",
                                    "cached",     "written",  "output", "cost"};
    if (has_dollars) header.insert(header.begin() + 1, "dollars");
    Table table(std::move(header));
    std::vector<std::pair<std::string, BillSum>> rows(sums.begin(), sums.end());
    BillSum rest;
    const std::size_t named = form.most == 0 ? rows.size() : std::min(rows.size(), form.most);
    if (named < rows.size())
        std::ranges::stable_sort(rows, std::greater{}, [](const auto& row) { return row.second.rank(); });
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& [name, sum] = rows[i];
        if (i >= named) {
            rest += sum;
            continue;
        }
        const std::string label = shown(printed(name.empty() ? form.unnamed : name));
        table.add(bill_cells(form.are_paths ? end_of_path(label) : clipped_to_width(label, longest_billed_name), sum,
                             has_dollars));
    }
    const auto others = static_cast<std::int64_t>(rows.size() - named);
    if (others > 0) table.add(bill_cells(others == 1 ? "1 other" : grouped(others) + " others", rest, has_dollars));
    table.add_line();
    table.add(bill_cells("all", all, has_dollars));
    return table;
}

std::string bill_notes(const BillTables& tables) {
    const BillSum& all = tables.all;
    std::string text = prices_note(tables);
    if (all.repeated_calls > 0)
        text +=
            fmt::format("{} found again in copies, such as a resumed, forked or archived session, and not billed again",
                        numbered(all.repeated_calls, "call")) +
            (tables.copied_sessions == 0
                 ? "\n"
                 : fmt::format("; {} nothing else, and {} in no figure\n",
                               tables.copied_sessions == 1 ? "1 session holds"
                                                           : grouped(tables.copied_sessions) + " sessions hold",
                               tables.copied_sessions == 1 ? "is" : "are"));
    if (all.early.calls > 0)
        text +=
            fmt::format("output of {} is in no sum here, about {}: it was recorded before {} end, or without a bill\n",
                        numbered(all.early.calls, "call"), numbered(all.early.estimated_tokens, "token"),
                        all.early.calls == 1 ? "its" : "their");
    if (tables.calls_without_time > 0)
        text += fmt::format("{} without a time {} left out, since --since was given\n",
                            numbered(tables.calls_without_time, "call"), tables.calls_without_time == 1 ? "is" : "are");
    return text;
}

ordered_json usage_json(const Usage& usage) {
    return {{"input_tokens", usage.uncached_input},          {"cache_read_tokens", usage.cache_read},
            {"cache_write_tokens", usage.cache_write},       {"output_tokens", usage.output},
            {"cache_write_5m_tokens", usage.cache_write_5m}, {"cache_write_1h_tokens", usage.cache_write_1h}};
}

std::string dollars_cell(const BillSum& sum) { return sum.priced_calls > 0 ? fmt::format("{:.6f}", sum.dollars) : ""; }

ordered_json dollars_json(double dollars, std::int64_t priced) {
    constexpr double in_dollar = 1e6;
    return priced > 0 ? ordered_json(std::round(dollars * in_dollar) / in_dollar) : ordered_json();
}

ordered_json bill_json(const BillSum& sum) {
    ordered_json json{{"sessions", sum.sessions}, {"calls", sum.calls}, {"billed_calls", sum.billed_calls}};
    json["repeated_calls"] = sum.repeated_calls;
    json["billed"] = usage_json(sum.billed);
    json["billed_cost"] = sum.billed_cost;
    json["priced_calls"] = sum.priced_calls;
    json["dollars"] = dollars_json(sum.dollars, sum.priced_calls);
    json["output_recorded_early"] = {{"calls", sum.early.calls}, {"estimated_tokens", sum.early.estimated_tokens}};
    return json;
}

void add_bills(ordered_json& json, const BillTables& tables, const Bills& bills) {
    json["days"] = rows_json("day", tables.days);
    json["models"] = rows_json("model", tables.models);
    json["projects"] = rows_json("project", tables.projects);
    json["bills"] = ordered_json::array();
    for (const SessionBill& session : bills.sessions()) {
        if (session.is_counted) json["bills"].push_back(session_json(session, bills));
    }
    json["copied_sessions"] = tables.copied_sessions;
    json["calls_without_time"] = tables.calls_without_time;
}

std::string bill_csv(const Bills& bills) {
    std::string csv =
        "agent,session,parent,file,project,calls,billed_calls,billed_input,billed_cache_read,billed_cache_write,"
        "billed_output,billed_cost,repeated_calls,priced_calls,dollars\n";
    for (const SessionBill& session : bills.sessions()) {
        if (!session.is_counted) continue;
        const BillSum sum = sum_of(session);
        csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{:.1f},{},{},{}\n", session.agent, csv_cell(session.id),
                           csv_cell(session.parent), csv_cell(session.file), csv_cell(session.project), sum.calls,
                           sum.billed_calls, sum.billed.uncached_input, sum.billed.cache_read, sum.billed.cache_write,
                           sum.billed.output, sum.billed_cost, sum.repeated_calls, sum.priced_calls, dollars_cell(sum));
    }
    return csv;
}

}  // namespace whittle::cli
