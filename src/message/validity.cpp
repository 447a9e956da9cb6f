#include "whittle/message/validity.hpp"

#include "validity_rules.hpp"

#include <fmt/format.h>

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

/// G6 asks who a text is from, and the newest user message is found by its marks.
bool keeps_mark(const Mark& before, const Mark& after) noexcept {
    return before == after || (origin_of(after) == Origin::placeholder && after->reason != media_reason);
}

bool keeps_part_rules(const PartInfo& before, const PartInfo& after) noexcept {
    const bool is_same_part =
        before.kind == after.kind && before.call_id == after.call_id && before.tool == after.tool &&
        before.is_error == after.is_error && before.starts_new_result == after.starts_new_result &&
        before.is_image == after.is_image && before.longer_side_pixels == after.longer_side_pixels &&
        before.media_base64_bytes == after.media_base64_bytes;
    const bool is_no_longer = after.text_bytes <= before.text_bytes && (after.text_bytes > 0 || before.text_bytes == 0);
    const bool is_no_worse = (!after.is_blank || before.is_blank) &&
                             (!after.is_invalid_utf8 || before.is_invalid_utf8) &&
                             (after.has_object_arguments || !before.has_object_arguments);
    // White space at an end is looked at only where there is more than that.
    const bool is_end_kept = !after.ends_in_space || (before.ends_in_space && before.is_blank == after.is_blank);
    return is_same_part && is_no_longer && is_no_worse && is_end_kept && keeps_mark(before.mark, after.mark);
}

std::vector<Violation> check(const HistoryFacts& facts, const ValidityProfile& profile, CancelCheck check_cancelled) {
    std::vector<Violation> found;
    for (const RuleRow& row : rule_table()) {
        if (std::ranges::find(profile.rules, row.rule) == profile.rules.end()) continue;
        check_cancelled();
        Findings findings(facts.outline(), row.rule, found);
        row.check(facts, profile, findings);
    }
    std::ranges::stable_sort(found, {}, [](const Violation& v) { return std::pair(v.message_index, v.part_index); });
    return found;
}

}  // namespace

std::string_view to_string(Rule rule) noexcept {
    const RuleRow* const row = row_of(rule);
    return row ? row->id : "unknown";
}

Severity severity_of(Rule rule) noexcept {
    const RuleRow* const row = row_of(rule);
    return row ? row->severity : Severity::refused;
}

std::vector<Violation> validate(const Outline& outline, const ValidityProfile& profile) {
    return validate(outline, profile, std::nullopt, never_cancelled);
}

std::vector<Violation> validate(const Outline& outline, const ValidityProfile& profile,
                                std::span<const ToolSpec> tools) {
    return validate(outline, profile, tools, never_cancelled);
}

std::vector<Violation> validate(const Outline& outline, const ValidityProfile& profile,
                                std::optional<std::span<const ToolSpec>> tools, CancelCheck check_cancelled) {
    return check(HistoryFacts(outline, tools, check_cancelled), profile, check_cancelled);
}

bool surely_keeps_rules(const MessageInfo& before, const MessageInfo& after) noexcept {
    const auto keeps_part = [](const PartInfo& a, const PartInfo& b) { return keeps_part_rules(a, b); };
    return before.role == after.role && before.serial == after.serial && before.round_serial == after.round_serial &&
           before.mark == after.mark && std::ranges::equal(before.parts, after.parts, keeps_part);
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

std::string to_text(std::span<const Violation> violations) {
    std::string text;
    for (const Violation& v : violations)
        text += fmt::format("; {} at message {}: {}", to_string(v.rule), v.message_index, v.text);
    return text;
}

}  // namespace whittle::inline v0
