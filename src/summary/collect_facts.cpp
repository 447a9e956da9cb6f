#include "whittle/summary/detail/facts.hpp"

#include <algorithm>

namespace whittle::inline v0 {
namespace detail {
namespace {

/// What a summary brings along, oldest first: the words of the user that it carries, what it says itself, its list.
void collect_carried(VisitParts visit_parts, std::size_t message, const Provenance& mark, FactCollector& facts) {
    const bool is_summary = mark.origin == Origin::summary;
    if (is_summary) {
        for (const std::string& text : mark.verbatim_user_messages) {
            facts.next_message();  // what was said later may replace what was said before
            facts.add_user_text(text);
        }
        facts.next_message();
        visit_parts(message, [&](const PartView& part) {
            if (part.kind == PartKind::text) facts.add_summary_text(part.text);
        });
    }
    if (mark.retained_facts.empty()) return;
    facts.next_message();
    facts.add_carried(facts_from_note(mark.retained_facts));
}

void collect_folded(VisitParts visit_parts, std::size_t message, const MessageInfo& info, FactCollector& facts) {
    if (info.mark) collect_carried(visit_parts, message, *info.mark, facts);
    facts.next_message();
    if (origin_of(info.mark) == Origin::summary && !info.mark->retained_facts.empty()) return;
    std::size_t p = 0;
    visit_parts(message, [&](const PartView& part) {
        const Origin origin = origin_of(mark_of(info, p++));
        if (origin == Origin::original || origin == Origin::summary) facts.add(part, is_original_user_message(info));
    });
}

}  // namespace

/// In the order of the conversation: what the user says in a message that stays is newer than what was before it.
void collect_facts(VisitParts visit_parts, const Outline& outline, std::span<const std::size_t> fold,
                   FactCollector& facts) {
    auto folded = fold.begin();
    for (std::size_t i = fold.empty() ? outline.size() : fold.front(); i < outline.size(); ++i) {
        if (folded != fold.end() && *folded == i) {
            collect_folded(visit_parts, i, outline[i], facts);
            ++folded;
        } else if (is_original_user_message(outline[i])) {
            facts.next_message();
            visit_parts(i, [&](const PartView& part) {
                if (part.kind == PartKind::text) facts.add_later_text(part.text);
            });
        }
    }
}

std::int64_t carried_tokens(std::int64_t shown) noexcept {
    constexpr std::int64_t carried_for_shown = 4;
    return std::min(shown, INT64_MAX / carried_for_shown) * carried_for_shown;
}

}  // namespace detail

}  // namespace whittle::inline v0
