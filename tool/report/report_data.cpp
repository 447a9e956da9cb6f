#include "masked.hpp"
#include "report_page.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_columns = 2'000;

/// Names that stand many times in the data, each once.
class NameList {
public:
    std::size_t number_of(const std::string& name) {
        const auto [known, is_new] = numbers_.try_emplace(name, names_.size());
        if (is_new) names_.push_back(name);
        return known->second;
    }
    [[nodiscard]] ordered_json json() const { return names_; }

private:
    std::map<std::string, std::size_t> numbers_{};
    std::vector<std::string> names_{};
};

/// Texts, each by its number; -1 for one without anything.
class TextList {
public:
    int number_of(const ReportText& text) {
        if (text.is_whole() && text.head.empty()) return -1;
        if (text.is_whole()) {
            list_.push_back(text.head);
        } else {
            list_.push_back({text.head, text.left_out, text.tail});
        }
        return static_cast<int>(list_.size()) - 1;
    }
    [[nodiscard]] ordered_json take() { return std::move(list_); }

private:
    ordered_json list_ = ordered_json::array();
};

/// One side of the comparison, call by call. Costs are added up, up to each column.
class SideColumns {
public:
    void add_cost(const ReportedCost& call) {
        cost_ += call.cost;
        refetches_ += call.refetches;
    }
    void end_column(const ReportedCost& largest) {
        tokens_.push_back(largest.tokens);
        cached_.push_back(largest.cached);
        costs_.push_back(to_whole(cost_));
        refetches_so_far_.push_back(to_whole(refetches_));
    }
    void put(ordered_json& columns, const char* tokens, const char* cached, const char* cost, const char* refetches) {
        columns[tokens] = std::move(tokens_);
        columns[cached] = std::move(cached_);
        columns[cost] = std::move(costs_);
        columns[refetches] = std::move(refetches_so_far_);
    }

private:
    double cost_ = 0;
    double refetches_ = 0;
    ordered_json tokens_ = ordered_json::array();
    ordered_json cached_ = ordered_json::array();
    ordered_json costs_ = ordered_json::array();
    ordered_json refetches_so_far_ = ordered_json::array();
};

/// Neighbouring calls share a column where there are too many: the largest request of them stands for it.
ordered_json columns_json(const std::vector<ReportedCall>& calls) {
    const std::size_t per = std::max<std::size_t>(1, (calls.size() + most_columns - 1) / most_columns);
    ordered_json columns{{"per", per}};
    ordered_json all_edits = ordered_json::array();
    ordered_json all_uncounted = ordered_json::array();
    SideColumns recorded;
    SideColumns sent;
    for (std::size_t first = 0; first < calls.size(); first += per) {
        const std::size_t end = std::min(calls.size(), first + per);
        const ReportedCall* largest = &calls[first];
        std::int64_t edits = 0;
        std::int64_t uncounted = 0;
        for (std::size_t i = first; i < end; ++i) {
            recorded.add_cost(calls[i].recorded);
            sent.add_cost(calls[i].sent);
            edits += calls[i].edits;
            uncounted += calls[i].is_counted ? 0 : 1;
            if (calls[i].sent.tokens > largest->sent.tokens) largest = &calls[i];
        }
        recorded.end_column(largest->recorded);
        sent.end_column(largest->sent);
        all_edits.push_back(edits);
        all_uncounted.push_back(uncounted);
    }
    recorded.put(columns, "recorded", "cached_recorded", "cost_recorded", "refetches_recorded");
    sent.put(columns, "sent", "cached", "cost_sent", "refetches_sent");
    columns["edits"] = std::move(all_edits);
    columns["uncounted"] = std::move(all_uncounted);
    return columns;
}

ordered_json index_or_none(const std::optional<std::size_t>& index) {
    return index ? ordered_json(*index) : ordered_json(-1);
}

std::string in_words(MessageState state) {
    switch (state) {
        case MessageState::cut: return "shortened";
        case MessageState::cleared: return "replaced by a placeholder";
        case MessageState::folded: return "folded into a summary";
        case MessageState::removed: return "taken out";
        case MessageState::added: return "written by the chain";
        case MessageState::kept: break;
    }
    return "brought back as it was";
}

/// In a script element `<` could end it; the others are kept out for readers of the source.
std::string without_markup(const std::string& json) {
    std::string out;
    out.reserve(json.size());
    for (const char c : json) {
        switch (c) {
            case '<': out += "\\u003c"; break;
            case '>': out += "\\u003e"; break;
            case '&': out += "\\u0026"; break;
            default: out += c;
        }
    }
    return out;
}

}  // namespace

std::string session_report_data(const SessionReport& session_report) {
    NameList names;
    TextList texts;
    ordered_json json{{"chain", printed(session_report.chain)},
                      {"base", session_report.base},
                      {"price", session_report.price ? ordered_json(*session_report.price) : ordered_json(nullptr)},
                      {"beside", session_report.billed_elsewhere},
                      {"counter", session_report.counter},
                      {"calls", session_report.calls.size()},
                      {"columns", columns_json(session_report.calls)}};
    json["messages"] = ordered_json::array();
    for (const ReportedMessage& message : session_report.messages)
        json["messages"].push_back({index_or_none(message.recorded), message.call, names.number_of(message.role),
                                    names.number_of(message.tool), message.tokens, texts.number_of(message.text)});
    json["edits"] = ordered_json::array();
    for (const ReportedEdit& edit : session_report.edits) {
        const std::string& rule = edit.edit.rule.empty() ? edit.edit.reason : edit.edit.rule;
        json["edits"].push_back({edit.message, edit.edit.call, names.number_of(std::string(to_string(edit.state))),
                                 edit.tokens, names.number_of(edit.edit.by), names.number_of(rule), edit.edit.count,
                                 edit.edit.threshold, texts.number_of(edit.text), index_or_none(edit.summary)});
    }
    json["messages_left_out"] = session_report.messages_left_out;
    json["edits_left_out"] = session_report.edits_left_out;
    json["names"] = names.json();
    json["texts"] = texts.take();
    return without_markup(json.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

ReportTable rules_table(const SessionReport& session_report) {
    Table table({"what became of messages", "by", "rule", "times", "tokens before", "after", "less"});
    ReportedRule all;
    for (const ReportedRule& rule : session_report.rules) {
        table.add({in_words(rule.state), rule.by, rule.rule, grouped(rule.messages), grouped(rule.tokens_before),
                   grouped(rule.tokens), grouped(rule.tokens_before - rule.tokens)});
        all.messages += rule.messages;
        all.tokens_before += rule.tokens_before;
        all.tokens += rule.tokens;
    }
    if (session_report.rules.size() > 1) {
        table.add_line();
        table.add({"all", "", "", grouped(all.messages), grouped(all.tokens_before), grouped(all.tokens),
                   grouped(all.tokens_before - all.tokens)});
    }
    return {.caption = "What was changed",
            .table = std::move(table),
            .note = fmt::format(
                "by: the middleware that did it; rule: which of its rules asked for that (whittle's documentation of "
                "the middleware has them); times: messages, one that was changed twice counts twice; tokens before "
                "and after: of these messages, each once, counted by {}. What left a call stays away from all later "
                "ones, so that many times \"less\" is saved.",
                session_report.counter)};
}

}  // namespace whittle::cli
