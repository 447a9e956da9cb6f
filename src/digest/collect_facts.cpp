#include "whittle/digest/detail/facts.hpp"

#include <algorithm>

namespace whittle::inline v0 {
namespace detail {
namespace {

/// What a summary brings along, oldest first: the words of the user that it carries, what it says itself, its list.
void collect_carried(VisitParts visit_parts, std::size_t message, const Provenance& mark, FactCollector& facts) {
    if (mark.origin == Origin::summary) {
        for (const std::string& text : mark.user_messages) {
            facts.next_message();  // what was said later may replace what was said before
            facts.add_user_text(text);
        }
    }
    if (mark.facts.empty()) return;
    facts.next_message();
    visit_parts(message, [&](const PartView& part) {
        if (part.kind == PartKind::text) facts.add_summary_text(part.text);
    });
    facts.next_message();
    facts.add_carried(facts_from_note(mark.facts));
}

/// User messages behind the fold, which stay.
void collect_later(VisitParts visit_parts, const Outline& outline, std::span<const std::size_t> fold,
                   FactCollector& facts) {
    if (fold.empty()) return;
    for (std::size_t i = fold.back() + 1; i < outline.size(); ++i) {
        if (!is_user_message(outline[i])) continue;
        facts.next_message();
        visit_parts(i, [&](const PartView& part) {
            if (part.kind == PartKind::text) facts.add_later_text(part.text);
        });
    }
}

}  // namespace

void collect_facts(VisitParts visit_parts, const Outline& outline, std::span<const std::size_t> fold,
                   FactCollector& facts) {
    for (const std::size_t i : fold) {
        if (const Mark& mark = outline[i].mark; mark) collect_carried(visit_parts, i, *mark, facts);
    }
    for (const std::size_t i : fold) {
        const MessageInfo& info = outline[i];
        const bool is_user = is_user_message(info);
        facts.next_message();
        if (origin_of(info.mark) == Origin::summary && !info.mark->facts.empty()) continue;
        std::size_t p = 0;
        visit_parts(i, [&](const PartView& part) {
            const Origin origin = origin_of(mark_of(info, p++));
            if (origin == Origin::original || origin == Origin::summary) facts.add(part, is_user);
        });
    }
    collect_later(visit_parts, outline, fold, facts);
}

std::int64_t carried_tokens(std::int64_t shown) noexcept {
    constexpr std::int64_t carried_for_shown = 4;
    return std::min(shown, INT64_MAX / carried_for_shown) * carried_for_shown;
}

}  // namespace detail

}  // namespace whittle::inline v0
