#include "whittle/message/validity.hpp"

#include "validity_rules.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace whittle::inline v0 {
namespace {

const RuleRow* row_of(Rule rule) noexcept {
    const auto found = std::ranges::find(rule_table(), rule, &RuleRow::rule);
    return found == rule_table().end() ? nullptr : &*found;
}

/// How often a violation of a rule stands in a list, by message and by sentence.
class Multiset {
public:
    explicit Multiset(const std::vector<Violation>& violations) {
        for (const Violation& v : violations) {
            ++by_message_[{v.rule, v.serial}];
            ++by_text_[{v.rule, v.serial, v.text}];
        }
    }
    /// Takes the violation with the same sentence.
    bool take_same(const Violation& v) {
        const auto same = by_text_.find({v.rule, v.serial, v.text});
        return same != by_text_.end() && same->second-- > 0 && take_any(v);
    }
    /// Takes one of the same rule and message.
    bool take_any(const Violation& v) {
        const auto any = by_message_.find({v.rule, v.serial});
        return any != by_message_.end() && any->second-- > 0;
    }

private:
    std::map<std::pair<Rule, Serial>, std::int64_t> by_message_;
    std::map<std::tuple<Rule, Serial, std::string>, std::int64_t> by_text_;
};

std::vector<Violation> check(const HistoryFacts& facts, const ValidityProfile& profile) {
    std::vector<Violation> found;
    for (const RuleRow& row : rule_table()) {
        if (std::ranges::find(profile.rules, row.rule) == profile.rules.end()) continue;
        Findings findings(facts.outline(), row.rule, found);
        row.check(facts, profile, findings);
    }
    std::ranges::stable_sort(found, {}, [](const Violation& v) { return std::pair(v.message, v.part); });
    return found;
}

}  // namespace

std::string_view id_of(Rule rule) noexcept {
    const RuleRow* const row = row_of(rule);
    return row ? row->id : "unknown";
}

Severity severity_of(Rule rule) noexcept {
    const RuleRow* const row = row_of(rule);
    return row ? row->severity : Severity::refused;
}

std::vector<Violation> validate(const Outline& outline, const ValidityProfile& profile) {
    return check(HistoryFacts(outline), profile);
}

std::vector<Violation> validate(const Outline& outline, const ValidityProfile& profile,
                                std::span<const ToolSpec> tools) {
    return check(HistoryFacts(outline, tools), profile);
}

std::vector<Violation> new_violations(const std::vector<Violation>& before, const std::vector<Violation>& after) {
    Multiset known(before);
    std::vector<const Violation*> unmatched;
    for (const Violation& v : after) {
        if (!known.take_same(v)) unmatched.push_back(&v);
    }
    std::vector<Violation> added;
    for (const Violation* v : unmatched) {
        if (!known.take_any(*v)) added.push_back(*v);
    }
    return added;
}

}  // namespace whittle::inline v0
