#pragma once

#include "history_facts.hpp"
#include "whittle/message/validity.hpp"

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

void check_results_follow(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);
void check_result_after_call(const HistoryFacts& facts, const ValidityProfile& profile, Findings& findings);

}  // namespace whittle::inline v0
