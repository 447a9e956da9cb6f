#pragma once

#include "history_facts.hpp"
#include "whittle/message/validity.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// Where a rule puts what it finds.
class Findings {
public:
    Findings(const Outline& outline, Rule rule, std::vector<Violation>& found)
        : outline_(outline), rule_(rule), found_(found) {}

    void add(std::size_t message, std::size_t part, std::string text) {
        const Serial serial = message < outline_.size() ? outline_[message].serial : 0;
        found_.push_back({rule_, message, part, serial, std::move(text)});
    }
    void add_for_list(std::string text) { add(outline_.size(), 0, std::move(text)); }

private:
    const Outline& outline_;
    Rule rule_;
    std::vector<Violation>& found_;
};

using RuleCheck = void (*)(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);

struct RuleRow {
    Rule rule;
    std::string_view id;
    Severity severity;
    RuleCheck check;
};

/// Every rule, in the order of the enumerators.
[[nodiscard]] std::span<const RuleRow> rule_table() noexcept;

/// An id or a name as a violation shows it: quoted, valid UTF-8, at most 64 bytes.
[[nodiscard]] std::string quoted(std::string_view id);

/// What G8 wants of a tool's name and of a call's id.
[[nodiscard]] bool is_call_id_char(char c) noexcept;
[[nodiscard]] bool is_tool_name_char(char c, const ValidityProfile& profile) noexcept;
[[nodiscard]] bool starts_tool_name(char c, const ValidityProfile& profile) noexcept;

/// Ids to look up, filled again and again for one round after the other: it keeps its memory.
class IdSet {
public:
    void clear() noexcept { ids_.clear(); }
    void add(std::string_view id) { ids_.push_back(id); }
    /// After the last `add`.
    void sort() { std::ranges::sort(ids_); }
    [[nodiscard]] bool contains(std::string_view id) const { return std::ranges::binary_search(ids_, id); }

private:
    std::vector<std::string_view> ids_{};
};

/// Each id that message `i` answers and that is none of `open`, once; and a tool message without a result.
void check_answers(const Outline& outline, std::size_t i, const IdSet& open, Findings& findings);

void check_results_follow(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);
void check_result_after_call(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);
void check_user_first(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);
void check_system_in_front(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);
void check_results_next(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);
void check_results_first(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);
void check_result_of_previous(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);
void check_blank_text(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);
void check_prefill(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);
void check_thinking_order(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);
void check_thinking_first(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);
void check_images(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);
void check_request_bytes(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);
void check_turns(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);
void check_call_after_user(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);
void check_responses_match(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);
void check_empty_parts(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);

}  // namespace whittle::inline v0
