#include "whittle/base/detail/saturating.hpp"
#include "whittle/conversation/detail/checks.hpp"
#include "whittle/conversation/draft.hpp"

#include <algorithm>
#include <limits>

// How a draft edits single parts of messages.

namespace whittle::inline v0 {

void Draft::apply_text(const Edit& edit, std::size_t at) {
    if (apply_in_place(edit, at)) return;
    void* const edited = copy_to_edit(messages_[at]);
    set_text_of(edited, edit.part, edit.text);
    MessageInfo info = describe_message(edited);
    count_into(info, edited);
    const MessageInfo& old = *infos_[at];
    const std::size_t gone = detail::find_gone(old.parts, info.parts.size(), edit.part, true);
    detail::keep_known(info, old, {&gone, 1});
    const bool is_shown = gone != edit.part && edit.part < info.parts.size();
    (is_shown ? info.parts[edit.part].mark : info.mark) = edit.mark;  // a type may show no part for no text
    put(at, edit.unit, std::move(info));
}

/// All parts at once. If fewer or more are gone then, one by one: an erase may show another part, or leave one.
void Draft::apply_erase(const Edit& edit, std::size_t at) {
    const MessageInfo& old = *infos_[at];
    void* edited = copy_to_edit(messages_[at]);
    erase_parts_of(edited, edit.parts);
    MessageInfo info = describe_message(edited);
    if (info.parts.size() + edit.parts.size() == old.parts.size()) {
        detail::keep_known(info, old, edit.parts);
        gone_ = edit.parts;
    } else {
        edited = copy_to_edit(messages_[at]);
        info = old;
        erase_one_by_one(edit.parts, edited, info);
    }
    count_into(info, edited);
    info.mark = edit.mark;
    put(at, edit.unit, std::move(info));
}

/// From the last to the first; `info` describes `copy` before and after. One that is no more went with another.
void Draft::erase_one_by_one(const std::vector<std::size_t>& parts, void* copy, MessageInfo& info) {
    gone_.clear();
    for (std::size_t i = parts.size(); i-- > 0;) {
        if (parts[i] >= info.parts.size()) {
            gone_.push_back(parts[i]);
            continue;
        }
        erase_parts_of(copy, {&parts[i], 1});
        MessageInfo fresh = describe_message(copy);
        const std::size_t gone = detail::find_gone(info.parts, fresh.parts.size(), parts[i], false);
        detail::keep_known(fresh, info, {&gone, 1});
        if (gone < info.parts.size()) gone_.push_back(gone);
        info = std::move(fresh);
    }
    std::ranges::reverse(gone_);
}

/// A further text of a message of which this draft has a copy: the part alone is edited, described and counted, so that
/// many edits of one message cost what they change. False where the message has to be looked at as a whole.
bool Draft::apply_in_place(const Edit& edit, std::size_t at) {
    Owned* const owned = owned_[at];
    if (owned == nullptr || owned->info.parts.size() < 2) return false;
    if (!has_part_index() || edit.part >= owned->info.parts.size()) return false;
    if (owned->measures.size() != owned->info.tokens.size())
        owned->measures = measure_all(owned->message, owned->info.tokens.size());
    const auto is_saturated = [](const Measure& sum) {
        return std::max(sum.units, sum.media) == std::numeric_limits<std::int64_t>::max();
    };
    if (std::ranges::any_of(owned->measures, is_saturated)) return false;  // not to be taken apart again
    const std::vector<Measure> before = measure(*owned, edit.part);
    if (!set_in_place(owned->message, edit.part, edit.text)) return false;
    is_torn_ = true;
    take_in(edit, own(at, edit.unit), before);
    is_torn_ = false;
    return true;
}

void Draft::add_measure(const PartView& part, std::vector<Measure>& measures) const {
    for (std::size_t c = 0; c < measures.size(); ++c)
        detail::add_measure(part, *side_->columns[c].counter, measures[c].units, measures[c].media);
}

std::vector<Draft::Measure> Draft::measure_all(const void* message, std::size_t columns) const {
    std::vector<Measure> measures(columns);
    read_all(message, [&](const PartView& part) { add_measure(part, measures); });
    return measures;
}

/// What one part takes, for each of the columns.
std::vector<Draft::Measure> Draft::measure(const Owned& owned, std::size_t part) const {
    std::vector<Measure> measures(owned.measures.size());
    read_part(owned.message, part, true, [&](const PartView& view) { add_measure(view, measures); });
    return measures;
}

/// The text of `edit.part` was set and nothing else changed: describes and counts that part. `before`: its measure.
void Draft::take_in(const Edit& edit, Owned& owned, const std::vector<Measure>& before) {
    MessageInfo& info = owned.info;
    const std::vector<Measure> now = measure(owned, edit.part);
    read_part(owned.message, edit.part, true,
              [&](const PartView& view) { detail::describe_anew(info.parts[edit.part], view); });
    info.parts[edit.part].mark = edit.mark;
    owned.has_old_print = true;
    const std::int64_t tokens_before = info.tokens[column_];
    const auto replace = [](std::int64_t& sum, std::int64_t old, std::int64_t fresh) {
        sum = add_saturating(sub_saturating(sum, old), fresh);
    };
    for (std::size_t c = 0; c < now.size(); ++c) {
        Measure& sum = owned.measures[c];
        replace(sum.units, before[c].units, now[c].units);
        replace(sum.media, before[c].media, now[c].media);
        info.tokens[c] = add_saturating(side_->columns[c].counter->to_tokens(sum.units), sum.media);
    }
    replace(after_, tokens_before, info.tokens[column_]);
}

/// Something failed between an edit of a message and its description.
void Draft::mend_torn() {
    if (!is_torn_) return;
    static_cast<void>(replay());
    is_torn_ = false;
}

void Draft::update_fingerprints() {
    for (Owned* const owned : owned_) {
        if (owned == nullptr || !owned->has_old_print) continue;
        owned->info.fingerprint = print_of(owned->message);
        owned->has_old_print = false;
    }
}

}  // namespace whittle::inline v0
