#include "overlay.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/conversation/detail/checks.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace whittle::inline v0::detail {

MessagePort::~MessagePort() = default;

MessageCopy::Owned MessageCopy::of_new(MessagePort& port, AnyMessage message) {
    return described(port, port.copy_without(message, {}));
}

MessageCopy::Owned MessageCopy::with_text(MessagePort& port, AnyMessage message, const MessageInfo& old,
                                          std::size_t part, std::string_view text, const Mark& mark) {
    Owned copy = described(port, port.copy_with_text(message, part, text));
    MessageInfo& info = copy->info;
    const std::size_t gone = find_gone(old.parts, info.parts.size(), part, true);
    keep_known(info, old, {&gone, 1});
    const bool is_shown = gone != part && part < info.parts.size();
    (is_shown ? info.parts[part].mark : info.mark) = mark;  // a type may show no part for no text
    return copy;
}

/// All parts at once. If fewer or more are gone then, one by one from the last to the first: an erase may show another
/// part, or leave one, and one that is no more went with another.
MessageCopy::Owned MessageCopy::without(MessagePort& port, AnyMessage message, const MessageInfo& old,
                                        std::span<const std::size_t> parts, std::vector<std::size_t>& gone) {
    Owned copy = described(port, port.copy_without(message, parts));
    gone.assign(parts.begin(), parts.end());
    if (copy->info.parts.size() + parts.size() == old.parts.size()) {
        keep_known(copy->info, old, parts);
        return copy;
    }
    copy = owned(port, port.copy_without(message, {}), old);
    gone.clear();
    for (std::size_t i = parts.size(); i-- > 0;) {
        if (parts[i] >= copy->info.parts.size()) {
            gone.push_back(parts[i]);
            continue;
        }
        Owned next = described(port, port.copy_without(copy->message, {&parts[i], 1}));
        const std::size_t lost = find_gone(copy->info.parts, next->info.parts.size(), parts[i], false);
        keep_known(next->info, copy->info, {&lost, 1});
        if (lost < copy->info.parts.size()) gone.push_back(lost);
        copy = std::move(next);
    }
    std::ranges::reverse(gone);
    return copy;
}

MessageCopy::Owned MessageCopy::renamed(MessagePort& port, AnyMessage message, const MessageInfo& old,
                                        std::span<const MessagePort::NewName> names) {
    Owned copy = described(port, port.copy_renamed(message, names));
    keep_known(copy->info, old, {});
    for (const MessagePort::NewName& name : names) {
        PartInfo& part = copy->info.parts[name.part];
        if (part.kind != PartKind::tool_call) part.key_safe_call_id = SharedString();
    }
    return copy;
}

bool MessageCopy::set_text_in_place(const TokenColumns& columns, std::size_t part, std::string_view text,
                                    const Mark& mark) {
    if (!port_.abilities.has_part_index || info.parts.size() < 2 || part >= info.parts.size()) return false;
    if (measures_.size() != info.tokens_by_counter.size()) {
        Measures all(info.tokens_by_counter.size());
        port_.visit_parts(message, [&](const PartView& view) { add_measure(view, columns, all); });
        measures_ = std::move(all);
    }
    const auto is_saturated = [](const Measure& sum) {
        return std::max(sum.units, sum.media) == std::numeric_limits<std::int64_t>::max();
    };
    if (std::ranges::any_of(measures_, is_saturated)) return false;  // not to be taken apart again
    const Measures before = measure(columns, part);
    if (!port_.set_text_in_place(message, part, text)) return false;
    is_torn_ = true;
    describe_part(columns, part, before);
    info.parts[part].mark = mark;
    is_torn_ = false;
    return true;
}

void MessageCopy::add_measure(const PartView& part, const TokenColumns& columns, Measures& measures) {
    for (std::size_t c = 0; c < measures.size(); ++c)
        detail::add_measure(part, *columns[c].counter, measures[c].units, measures[c].media);
}

/// What one part takes, for each of the columns.
MessageCopy::Measures MessageCopy::measure(const TokenColumns& columns, std::size_t part) const {
    Measures measures(measures_.size());
    port_.visit_part(message, part, true, [&](const PartView& view) { add_measure(view, columns, measures); });
    return measures;
}

/// Its text was set and nothing else changed. `before`: its measure.
void MessageCopy::describe_part(const TokenColumns& columns, std::size_t part, const Measures& before) {
    const Measures now = measure(columns, part);
    port_.visit_part(message, part, true, [&](const PartView& view) { describe_again(info.parts[part], view); });
    has_old_fingerprint_ = true;
    const auto replace = [](std::int64_t& sum, std::int64_t old, std::int64_t fresh) {
        sum = add_saturating(sub_saturating(sum, old), fresh);
    };
    for (std::size_t c = 0; c < now.size(); ++c) {
        Measure& sum = measures_[c];
        replace(sum.units, before[c].units, now[c].units);
        replace(sum.media, before[c].media, now[c].media);
        info.tokens_by_counter[c] = add_saturating(columns[c].counter->to_tokens(sum.units), sum.media);
    }
}

void MessageCopy::update_fingerprint() {
    if (!has_old_fingerprint_) return;
    info.fingerprint = port_.bound_fingerprint(message).whole;
    has_old_fingerprint_ = false;
}

Overlay::Overlay(SideTable& side, MessagePort& port, std::size_t column) noexcept
    : side_(side), port_(port), column_(column), tokens_(side.columns[column].messages) {}

namespace {

/// Few are walked over sooner than an index of them is made.
bool has_many_parts(const MessageInfo& info) noexcept { return info.parts.size() >= 8; }

}  // namespace

void Overlay::visit_part(std::size_t at, std::size_t part, bool keep_index, MessagePort::Visit visit) const {
    port_.visit_part(message(at), part, keep_index && has_many_parts(outline()[at]), visit);
}

void Overlay::visit_original(std::size_t base, std::size_t part, MessagePort::Visit visit) const {
    port_.visit_part(port_.original(base), part, has_many_parts(side_.infos[base]), visit);
}

std::optional<std::size_t> Overlay::base_of(std::size_t at) const noexcept {
    if (!is_open_) return at;
    return slots_[at].base == inserted ? std::nullopt : std::optional(slots_[at].base);
}

std::optional<std::size_t> Overlay::first_changed() const noexcept {
    if (!is_open_) return std::nullopt;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (slots_[i].base != i || slots_[i].copy) return i;
    }
    return slots_.size() < side_.infos.size() ? std::optional(slots_.size()) : std::nullopt;
}

std::size_t Overlay::open_loop_begin() const {
    if (!open_loop_) open_loop_ = outline().open_loop_begin().value_or(outline().size());
    return *open_loop_;
}

void Overlay::open() {
    if (is_open_) return;
    const std::size_t size = side_.infos.size();
    messages_.resize(size);
    infos_.resize(size);
    slots_.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
        messages_[i] = port_.original(i);
        infos_[i] = &side_.infos[i];
        slots_[i].base = i;
    }
    is_open_ = true;
}

void Overlay::close() noexcept {
    is_open_ = false;
    is_torn_ = false;
    slots_.clear();
    open_loop_.reset();
    tokens_ = side_.columns[column_].messages;
}

void Overlay::show(std::vector<Slot> slots) {
    close();
    messages_.clear();
    infos_.clear();
    slots_ = std::move(slots);
    tokens_ = 0;
    for (const auto& [base, copy] : slots_) {
        messages_.push_back(copy ? copy->message : port_.original(base));
        infos_.push_back(copy ? &copy->info : &side_.infos[base]);
        tokens_ = add_saturating(tokens_, infos_.back()->tokens_by_counter[column_]);
    }
    is_open_ = true;
}

std::vector<std::size_t> Overlay::apply(const Edit& edit, std::size_t at) {
    const auto is_thinking = [&](std::size_t part) { return infos_[at]->parts[part].kind == PartKind::thinking; };
    if (edit.kind != Edit::Kind::erase_parts || !std::ranges::all_of(edit.parts, is_thinking))
        open_loop_.reset();  // without its thinking, a reply is still one
    if (edit.kind == Edit::Kind::erase_parts) return erase(edit, at);
    edit.kind == Edit::Kind::replace ? replace(edit, at) : set_text(edit, at);
    return {};
}

void Overlay::replace_tokens(std::int64_t old, std::int64_t now) noexcept {
    tokens_ = add_saturating(sub_saturating(tokens_, old), now);
}

/// The projection shows `copy`, which `edit_group` made, in place of message `at`.
void Overlay::put(std::size_t at, MessageCopy::Owned copy, EditGroup edit_group) {
    Slot& slot = slots_[at];
    copy->edit_group = slot.copy && slot.copy->edit_group != edit_group ? MessageCopy::several : edit_group;
    replace_tokens(infos_[at]->tokens_by_counter[column_], copy->info.tokens_by_counter[column_]);
    slot.copy = std::move(copy);
    messages_[at] = slot.copy->message;
    infos_[at] = &slot.copy->info;
}

void Overlay::set_text(const Edit& edit, std::size_t at) {
    MessageCopy* const copy = slots_[at].copy.get();
    if (copy != nullptr && set_text_in_place(*copy, edit)) return;
    put(at, MessageCopy::with_text(port_, messages_[at], *infos_[at], edit.part, edit.text, edit.mark),
        edit.edit_group);
}

bool Overlay::set_text_in_place(MessageCopy& copy, const Edit& edit) {
    const std::int64_t tokens = copy.info.tokens_by_counter[column_];
    try {
        if (!copy.set_text_in_place(side_.columns, edit.part, edit.text, edit.mark)) return false;
    } catch (...) {
        is_torn_ = is_torn_ || copy.is_torn();
        throw;
    }
    copy.add_editor(edit.edit_group);
    replace_tokens(tokens, copy.info.tokens_by_counter[column_]);
    return true;
}

std::vector<std::size_t> Overlay::erase(const Edit& edit, std::size_t at) {
    std::vector<std::size_t> gone;
    MessageCopy::Owned copy = MessageCopy::without(port_, messages_[at], *infos_[at], edit.parts, gone);
    copy->info.mark = edit.mark;
    put(at, std::move(copy), edit.edit_group);
    return gone;
}

/// Of a new message, as it stands in front of message `at`.
MessageCopy::Owned Overlay::copy_of_new(AnyMessage message, const Edit& edit, std::size_t at) const {
    MessageCopy::Owned copy = MessageCopy::of_new(port_, message);
    copy->info.mark = edit.mark;
    if (infos_.empty()) return copy;
    const MessageInfo& neighbour = *infos_[std::min(at, infos_.size() - 1)];
    copy->info.turn = neighbour.turn;
    copy->info.model_calls_before = neighbour.model_calls_before;
    return copy;
}

void Overlay::replace(const Edit& edit, std::size_t at) {
    std::vector<AnyMessage> messages;
    std::vector<const MessageInfo*> infos;
    std::vector<Slot> slots;
    std::int64_t growth = 0;
    GroupFinder among_new;
    GroupFinder in_front;
    for (const AnyMessage message : edit.messages) {
        MessageCopy::Owned copy = copy_of_new(message, edit, at);
        MessageInfo& info = copy->info;
        info.serial = edit.first_serial + infos.size();
        among_new.join(info, Outline(std::span<const MessageInfo* const>(infos)));
        if (info.round_serial == 0) in_front.join(info, Outline(std::span<const MessageInfo* const>(infos_).first(at)));
        side_.names.assign_to(info);
        growth = add_saturating(growth, info.tokens_by_counter[column_]);
        messages.push_back(copy->message);
        infos.push_back(&info);
        slots.push_back({inserted, std::move(copy)});
    }
    std::vector<Serial> calls;  // of the messages that go
    for (const MessageInfo* info : std::span(infos_).subspan(at, edit.covered.size())) {
        growth = sub_saturating(growth, info->tokens_by_counter[column_]);
        if (info->round_serial == info->serial) calls.push_back(info->serial);
    }
    const bool was_torn = std::exchange(is_torn_, true);
    const auto splice = [&](auto& target, auto& fresh) {
        grow(target, fresh.size());
        const auto from = target.begin() + static_cast<std::ptrdiff_t>(at);
        target.insert(target.erase(from, from + static_cast<std::ptrdiff_t>(edit.covered.size())),
                      std::move_iterator(fresh.begin()), std::move_iterator(fresh.end()));
    };
    splice(messages_, messages);
    splice(infos_, infos);
    splice(slots_, slots);
    tokens_ = add_saturating(tokens_, growth);
    regroup_behind(at + infos.size(), std::move(calls));
    is_torn_ = was_torn;
}

/// Results whose call was replaced look for the new one.
void Overlay::regroup_behind(std::size_t first, std::vector<Serial> replaced_calls) {
    if (replaced_calls.empty()) return;
    std::ranges::sort(replaced_calls);
    GroupFinder groups;
    for (std::size_t i = first; i < infos_.size(); ++i) {
        if (!std::ranges::binary_search(replaced_calls, infos_[i]->round_serial)) continue;
        if (!slots_[i].copy) {
            put(i, MessageCopy::owned(port_, port_.copy_without(messages_[i], {}), *infos_[i]), MessageCopy::several);
        }
        slots_[i].copy->edit_group = MessageCopy::several;
        groups.join(slots_[i].copy->info, Outline(std::span<const MessageInfo* const>(infos_).first(i)));
    }
}

std::optional<std::size_t> Overlay::find(const Edit& edit, std::ptrdiff_t& shift) const {
    if (edit.target == 0) return infos_.size();
    const auto guess = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(edit.at) + shift);
    if (guess < infos_.size() && infos_[guess]->serial == edit.target) return guess;
    const auto found = outline().index_of(edit.target);
    if (found) shift = static_cast<std::ptrdiff_t>(*found) - static_cast<std::ptrdiff_t>(edit.at);
    return found;
}

bool Overlay::is_alone(const Edit& edit, std::size_t at) const {
    const bool is_of_one = edit.kind != Edit::Kind::replace && at < slots_.size() && slots_[at].base != inserted;
    return is_of_one && slots_[at].copy && slots_[at].copy->edit_group != MessageCopy::several;
}

void Overlay::revert(std::size_t at) {
    Slot& slot = slots_[at];
    if (!slot.copy) return;
    const MessageInfo& original = side_.infos[slot.base];
    tokens_ = add_saturating(sub_saturating(tokens_, slot.copy->info.tokens_by_counter[column_]),
                             original.tokens_by_counter[column_]);
    messages_[at] = port_.original(slot.base);
    infos_[at] = &original;
    slot.copy.reset();
    open_loop_.reset();
}

std::optional<EditGroup> Overlay::rebuild(std::span<const Edit> edits) {
    close();
    is_torn_ = true;
    open();
    std::ptrdiff_t shift = 0;
    for (const Edit& edit : edits) {
        const auto at = find(edit, shift);
        if (!at || *at + edit.covered.size() > infos_.size()) return edit.edit_group;
        const auto is_same = [](const MessageInfo* info, Serial serial) { return info->serial == serial; };
        if (!std::ranges::equal(std::span(infos_).subspan(*at, edit.covered.size()), edit.covered, is_same))
            return edit.edit_group;
        static_cast<void>(apply(edit, *at));
    }
    is_torn_ = false;
    return std::nullopt;
}

MessagePort::Replacement Overlay::replacement() const {
    MessagePort::Replacement result;
    std::size_t base = 0;
    for (std::size_t i = 0; i < slots_.size() || base < side_.infos.size();) {
        if (i < slots_.size() && slots_[i].base == base && !slots_[i].copy) {
            ++i, ++base;
            continue;
        }
        MessagePort::Stretch stretch{.first = base, .begin = result.copies.size()};
        for (; i < slots_.size() && slots_[i].copy; ++i)
            result.copies.push_back({slots_[i].copy->message, &slots_[i].copy->info});
        base = i < slots_.size() ? slots_[i].base : side_.infos.size();
        stretch.count = base - stretch.first;
        stretch.end = result.copies.size();
        result.stretches.push_back(stretch);
    }
    return result;
}

/// No message comes or goes, and no edit changes anything for the worse that a rule looks at.
bool Overlay::keeps_every_rule() const noexcept {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (slots_[i].base != i || (slots_[i].copy && !surely_keeps_rules(side_.infos[i], *infos_[i]))) return false;
    }
    return slots_.size() == side_.infos.size();
}

std::vector<Violation> Overlay::introduced_violations(const ValidityProfile* profile) const {
    if (profile == nullptr || !is_open_ || keeps_every_rule()) return {};
    const std::vector<Violation> after = validate(outline(), *profile);
    if (after.empty()) return {};  // what was there before need not be read
    return new_violations(validate(side_.outline(), *profile), after);
}

std::vector<Serial> Overlay::harmlessly_edited() const {
    std::vector<Serial> found;
    for (const Slot& slot : slots_) {
        if (!slot.copy || slot.base == inserted) continue;
        const MessageInfo& before = side_.infos[slot.base];
        MessageInfo now = slot.copy->info;
        now.round_serial = before.round_serial;
        if (surely_keeps_rules(before, now)) found.push_back(now.serial);
    }
    std::ranges::sort(found);
    return found;
}

std::optional<Serial> Overlay::split_thinking() const {
    const auto count = [](const MessageInfo& info) {
        return std::ranges::count(info.parts, PartKind::thinking, &PartInfo::kind);
    };
    for (const Slot& slot : slots_) {
        if (!slot.copy || slot.base == inserted) continue;
        const auto left = count(slot.copy->info);
        if (left != 0 && left != count(side_.infos[slot.base])) return slot.copy->info.serial;
    }
    return std::nullopt;
}

std::optional<std::size_t> Overlay::first_void_thinking() const {
    if (!is_open_) return std::nullopt;
    return detail::first_void_thinking(side_.infos, outline(), 0, [&](std::size_t old, std::size_t now) {
        return std::pair(port_.bound_fingerprint(port_.original(old)), port_.bound_fingerprint(messages_[now]));
    });
}

void Overlay::update_fingerprints() {
    for (const Slot& slot : slots_) {
        if (slot.copy) slot.copy->update_fingerprint();
    }
}

}  // namespace whittle::inline v0::detail
