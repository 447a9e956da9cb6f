#pragma once

// How Transaction<M> edits single parts of messages; included by transaction.hpp.

#include "whittle/base/saturating.hpp"
#include "whittle/chain/transaction.hpp"
#include "whittle/chain/transaction_detail.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

template <AgentMessage M>
void Transaction<M>::apply_text(const Edit& edit, std::size_t at) {
    if (set_in_place(edit, at)) return;
    M edited = *messages_[at];
    message_traits<M>::set_text(edited, edit.part, edit.text);
    MessageInfo info = describe(edited);
    conversation_->count_into(info, edited);
    const MessageInfo& old = *infos_[at];
    const std::size_t gone = detail::find_gone(old.parts, info.parts.size(), edit.part, true);
    detail::keep_known(info, old, {&gone, 1});
    const bool is_shown = gone != edit.part && edit.part < info.parts.size();
    (is_shown ? info.parts[edit.part].mark : info.mark) = edit.mark;  // a type may show no part for no text
    put(at, edit.unit, std::move(edited), std::move(info));
}

/// All parts at once. If fewer or more are gone then, one by one: an erase may show another part, or leave one.
template <AgentMessage M>
void Transaction<M>::apply_erase(const Edit& edit, std::size_t at) {
    const MessageInfo& old = *infos_[at];
    M edited = *messages_[at];
    erase_parts_of(edited, edit.parts);
    MessageInfo info = describe(edited);
    if (info.parts.size() + edit.parts.size() == old.parts.size()) {
        detail::keep_known(info, old, edit.parts);
    } else {
        edited = *messages_[at];
        info = old;
        erase_one_by_one(edit.parts, edited, info);
    }
    conversation_->count_into(info, edited);
    info.mark = edit.mark;
    put(at, edit.unit, std::move(edited), std::move(info));
}

/// From the last to the first; `info` describes `edited` before and after. One that is no more went with another.
template <AgentMessage M>
void Transaction<M>::erase_one_by_one(const std::vector<std::size_t>& parts, M& edited, MessageInfo& info) const {
    for (std::size_t i = parts.size(); i-- > 0;) {
        if (parts[i] >= info.parts.size()) continue;
        message_traits<M>::erase_part(edited, parts[i]);
        MessageInfo fresh = describe(edited);
        const std::size_t gone = detail::find_gone(info.parts, fresh.parts.size(), parts[i], false);
        detail::keep_known(fresh, info, {&gone, 1});
        info = std::move(fresh);
    }
}

/// A further text of a message of which this transaction has a copy: the part alone is edited, described and counted,
/// so that many edits of one message cost what they change. False where the message has to be looked at as a whole.
template <AgentMessage M>
bool Transaction<M>::set_in_place(const Edit& edit, std::size_t at) {
    Owned* const owned = owned_[at];
    if (edit.kind != Edit::Kind::set_text || owned == nullptr || owned->info.parts.size() < 2) return false;
    if (!HasPartIndex<M> || edit.part >= owned->info.parts.size()) return false;
    Parts& parts = finders_[&owned->message];
    if (parts.measures.size() != owned->info.tokens.size())
        parts.measures = measure_all(owned->message, owned->info.tokens.size());
    const auto is_saturated = [](const Measure& sum) {
        return std::max(sum.units, sum.media) == std::numeric_limits<std::int64_t>::max();
    };
    if (std::ranges::any_of(parts.measures, is_saturated)) return false;  // not to be taken apart again
    const std::vector<Measure> before = measure(owned->message, edit.part, parts);
    if (!parts.finder.set_text_in_place(owned->message, edit.part, edit.text)) return false;
    is_torn_ = true;
    take_in(edit, own(at, edit.unit), parts, before);
    is_torn_ = false;
    return true;
}

template <AgentMessage M>
void Transaction<M>::add_measure(const PartView& part, std::vector<Measure>& measures) const {
    for (std::size_t c = 0; c < measures.size(); ++c)
        detail::add_measure(part, *conversation_->side_.columns[c].counter, measures[c].units, measures[c].media);
}

template <AgentMessage M>
std::vector<typename Transaction<M>::Measure> Transaction<M>::measure_all(const M& message, std::size_t columns) const {
    std::vector<Measure> measures(columns);
    message_traits<M>::for_each_part(message, [&](const PartView& part) { add_measure(part, measures); });
    return measures;
}

/// The same of one part.
template <AgentMessage M>
std::vector<typename Transaction<M>::Measure> Transaction<M>::measure(const M& message, std::size_t part,
                                                                      Parts& parts) const {
    std::vector<Measure> measures(parts.measures.size());
    parts.finder.visit(message, part, [&](const PartView& view) { add_measure(view, measures); });
    return measures;
}

/// The text of `edit.part` was set and nothing else changed: describes and counts that part. `before`: its measure.
template <AgentMessage M>
void Transaction<M>::take_in(const Edit& edit, Owned& owned, Parts& parts, const std::vector<Measure>& before) {
    MessageInfo& info = owned.info;
    const std::vector<Measure> now = measure(owned.message, edit.part, parts);
    parts.finder.visit(owned.message, edit.part,
                       [&](const PartView& view) { detail::describe_anew(info.parts[edit.part], view); });
    info.parts[edit.part].mark = edit.mark;
    owned.has_old_print = true;
    const std::int64_t tokens_before = info.tokens[column_];
    const auto replace = [](std::int64_t& sum, std::int64_t old, std::int64_t fresh) {
        sum = add_saturating(sub_saturating(sum, old), fresh);
    };
    for (std::size_t c = 0; c < now.size(); ++c) {
        Measure& sum = parts.measures[c];
        replace(sum.units, before[c].units, now[c].units);
        replace(sum.media, before[c].media, now[c].media);
        info.tokens[c] = add_saturating(conversation_->side_.columns[c].counter->to_tokens(sum.units), sum.media);
    }
    replace(after_, tokens_before, info.tokens[column_]);
}

/// Something failed between an edit of a message and its description.
template <AgentMessage M>
void Transaction<M>::mend_torn() {
    if (!is_torn_) return;
    static_cast<void>(replay());
    is_torn_ = false;
}

template <AgentMessage M>
void Transaction<M>::update_fingerprints() {
    for (Owned* const owned : owned_) {
        if (owned == nullptr || !owned->has_old_print) continue;
        owned->info.fingerprint = fingerprint(owned->message);
        owned->has_old_print = false;
    }
}

}  // namespace whittle::inline v0
