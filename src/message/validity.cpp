#include "whittle/message/validity.hpp"

#include "validity_rules.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace whittle::inline v0 {
namespace {

const RuleRow* row_of(Rule rule) noexcept {
    const auto found = std::ranges::find(rule_table(), rule, &RuleRow::rule);
    return found == rule_table().end() ? nullptr : &*found;
}

ValidityProfile make_openai_chat() {
    using enum Rule;
    return {.name = "openai_chat",
            .rules = {G1_utf8, G2_paired, G3_unique_ids, G4_object_arguments, G7_has_user, G8_names, OC1_results_follow,
                      OC2_result_after_call, OC3_content}};
}

ValidityProfile make_openai_compatible() {
    using enum Rule;
    ValidityProfile profile = openai_chat();
    profile.name = "openai_compatible";
    profile.rules.insert(profile.rules.end(),
                         {OC6_last_role, OC6_alternation, OC6_system_first, OC6_text_only_results});
    return profile;
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

}  // namespace

const ValidityProfile& openai_chat() {
    static const ValidityProfile profile = make_openai_chat();
    return profile;
}

const ValidityProfile& openai_compatible() {
    static const ValidityProfile profile = make_openai_compatible();
    return profile;
}

std::span<const ValidityProfile* const> validity_profiles() noexcept {
    static const std::array<const ValidityProfile*, 2> profiles{&openai_chat(), &openai_compatible()};
    return profiles;
}

const ValidityProfile* find_validity_profile(std::string_view name) noexcept {
    const auto profiles = validity_profiles();
    const auto found = std::ranges::find_if(profiles, [&](const ValidityProfile* p) { return p->name == name; });
    return found == profiles.end() ? nullptr : *found;
}

std::string_view id_of(Rule rule) noexcept {
    const RuleRow* const row = row_of(rule);
    return row ? row->id : "unknown";
}

Severity severity_of(Rule rule) noexcept {
    const RuleRow* const row = row_of(rule);
    return row ? row->severity : Severity::refused;
}

std::vector<Violation> validate(const Outline& outline, const ValidityProfile& profile) {
    const HistoryFacts facts(outline);
    std::vector<Violation> found;
    for (const RuleRow& row : rule_table()) {
        if (std::ranges::find(profile.rules, row.rule) == profile.rules.end()) continue;
        Findings findings(outline, row.rule, found);
        row.check(facts, profile, findings);
    }
    std::ranges::stable_sort(found, {}, [](const Violation& v) { return std::pair(v.message, v.part); });
    return found;
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
