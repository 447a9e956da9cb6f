#include "session_report.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace whittle::cli {
namespace {

std::int64_t saved_by(const ReportedRule& rule) noexcept { return rule.tokens_before - rule.tokens; }

ReportedCost sum_over(const std::vector<ReportedCall>& calls, ReportedCost ReportedCall::*side) noexcept {
    ReportedCost sum;
    for (const ReportedCall& call : calls) {
        const ReportedCost& one = call.*side;
        sum.tokens += call.is_counted ? one.tokens : 0;
        sum.cached += call.is_counted ? one.cached : 0;
        sum.cost += one.cost;
        sum.refetches += one.refetches;
    }
    return sum;
}

void keep_first_edits(SessionReport& session_report) {
    if (session_report.edits.size() <= max_report_edits) return;
    session_report.edits_left_out = static_cast<std::int64_t>(session_report.edits.size() - max_report_edits);
    session_report.edits.resize(max_report_edits);
}

/// Those that edits name, then the oldest of the others.
std::vector<bool> listed_messages(const SessionReport& session_report) {
    std::vector<bool> is_listed(session_report.messages.size());
    for (const ReportedEdit& edit : session_report.edits) {
        is_listed[edit.message] = true;
        if (edit.summary) is_listed[*edit.summary] = true;
    }
    auto room = static_cast<std::ptrdiff_t>(max_report_messages) - std::ranges::count(is_listed, true);
    for (std::size_t i = 0; i < is_listed.size() && room > 0; ++i) {
        if (is_listed[i]) continue;
        is_listed[i] = true;
        --room;
    }
    return is_listed;
}

void drop_unlisted(SessionReport& session_report, const std::vector<bool>& is_listed) {
    std::vector<std::size_t> places;
    std::size_t size = 0;
    for (std::size_t i = 0; i < is_listed.size(); ++i) {
        places.push_back(size);
        if (!is_listed[i]) continue;
        if (size != i) session_report.messages[size] = std::move(session_report.messages[i]);
        ++size;
    }
    session_report.messages_left_out = static_cast<std::int64_t>(session_report.messages.size() - size);
    session_report.messages.resize(size);
    for (ReportedEdit& edit : session_report.edits) {
        edit.message = places[edit.message];
        if (edit.summary) edit.summary = places[*edit.summary];
    }
}

std::size_t size_of_all(const std::vector<ReportText*>& texts) {
    std::size_t size = 0;
    for (const ReportText* text : texts) size += size_in_report(*text);
    return size;
}

}  // namespace

ReportedCost sum_of_recorded(const SessionReport& session_report) noexcept {
    return sum_over(session_report.calls, &ReportedCall::recorded);
}
ReportedCost sum_of_sent(const SessionReport& session_report) noexcept {
    return sum_over(session_report.calls, &ReportedCall::sent);
}

std::vector<ReportedRule> rules_of(const std::vector<ReportedEdit>& edits) {
    std::map<std::tuple<std::string, std::string, MessageState>, ReportedRule> sums;
    for (const ReportedEdit& edit : edits) {
        const std::string& name = edit.edit.rule.empty() ? edit.edit.reason : edit.edit.rule;
        ReportedRule& sum = sums[{edit.edit.by, name, edit.state}];
        sum.by = edit.edit.by;
        sum.rule = name;
        sum.state = edit.state;
        ++sum.messages;
        sum.tokens_before += edit.tokens_before;
        sum.tokens += edit.tokens;
    }
    std::vector<ReportedRule> rules;
    for (auto& [key, sum] : sums) rules.push_back(std::move(sum));
    std::ranges::stable_sort(rules, std::greater{}, saved_by);
    return rules;
}

void bound_lists(SessionReport& session_report) {
    keep_first_edits(session_report);
    if (session_report.messages.size() > max_report_messages)
        drop_unlisted(session_report, listed_messages(session_report));
}

void fit_session_reports(std::vector<SessionReport*> session_reports, std::size_t budget) {
    std::vector<ReportText*> edited;
    std::vector<ReportText*> others;
    for (SessionReport* session_report : session_reports) {
        for (ReportedMessage& message : session_report->messages)
            (message.is_edited ? edited : others).push_back(&message.text);
        for (ReportedEdit& edit : session_report->edits) edited.push_back(&edit.text);
    }
    const std::size_t for_others = std::min(size_of_all(others), budget / 4);
    fit_texts(edited, budget - for_others);
    const std::size_t used = std::min(size_of_all(edited), budget);
    fit_texts(others, budget - used);
}

}  // namespace whittle::cli
