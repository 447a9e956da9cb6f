#include "repaired_list.hpp"

#include "whittle/base/text.hpp"
#include "whittle/conversation/detail/checks.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

/// How many of the first repairs are made at once: of names, or erases of which each is in front of that before it.
std::size_t count_together(std::span<const PartRepair> repairs) {
    using enum PartRepair::Kind;
    const PartRepair::Kind kind = repairs.front().kind;
    std::size_t count = 1;
    const auto goes_with = [&](const PartRepair& r) {
        return r.kind == kind && (kind == rename || (kind == erase && r.part < repairs[count - 1].part));
    };
    while (count < repairs.size() && goes_with(repairs[count])) ++count;
    return count;
}

}  // namespace

RepairedList::RepairedList(const SideTable& side, MessagePort& port, const ValidityProfile& profile, Language language,
                           UnixMillis when)
    : side_(side),
      port_(port),
      text_only_(has_rule(profile, Rule::OC6_text_only_results)),
      media_text_(repair_texts(language).media),
      when_(when),
      next_serial_(side.counters.next_serial) {}

std::vector<Overlay::Slot> RepairedList::make(std::span<const RepairedMessage> plan) {
    std::vector<Overlay::Slot> slots;
    std::vector<const MessageInfo*> infos;  // of the messages so far
    GroupFinder groups;
    const auto add = [&](Overlay::Slot slot) {
        MessageInfo joined = slot.copy ? slot.copy->info : side_.infos[slot.base];
        groups.join(joined, Outline(std::span<const MessageInfo* const>(infos)));
        if (slot.copy) {
            slot.copy->info = std::move(joined);
        } else if (joined.round_serial != side_.infos[slot.base].round_serial) {
            const AnyCopy copied = port_.copy_without(port_.original(slot.base), {});
            slot = {Overlay::inserted, MessageCopy::owned(port_, copied, joined)};
        }
        infos.push_back(slot.copy ? &slot.copy->info : &side_.infos[slot.base]);
        slots.push_back(std::move(slot));
    };
    for (const RepairedMessage& m : plan) {
        if (m.is_untouched()) {
            add({m.source, nullptr});
        } else if (m.kind == RepairedMessage::Kind::kept) {
            add({Overlay::inserted, edit(m)});
        } else {
            for (const AnyMessage message : write(m))
                add({Overlay::inserted, copy_of_new(m, message, infos.empty() ? nullptr : infos.back())});
        }
    }
    return slots;
}

Mark RepairedList::mark(Origin origin, std::string_view code, const Mark& old) const {
    Provenance provenance{.origin = origin, .by = std::string(repair_name), .reason = std::string(code), .when = when_};
    if (old) provenance.stored_keys = old->stored_keys;
    return std::make_shared<const Provenance>(std::move(provenance));
}

std::optional<std::size_t> RepairedList::Edited::place_of(const PartRepair& repair) const {
    const auto found = std::ranges::lower_bound(numbers, repair.part);
    if (found == numbers.end() || *found != repair.part) return std::nullopt;
    return static_cast<std::size_t>(found - numbers.begin());
}

/// What the message says stays its author's: only what repair wrote itself is marked as a repair.
MessageCopy::Owned RepairedList::edit(const RepairedMessage& m) const {
    MessageInfo known = side_.infos[m.source];
    for (PartInfo& part : known.parts) {
        if (part.kind != PartKind::tool_call) part.tool = SharedString();  // its call may be another one now
    }
    std::vector<std::size_t> gone;
    Edited edited{MessageCopy::without(port_, port_.original(m.source), known, {}, gone),
                  std::vector<std::size_t>(known.parts.size())};
    std::iota(edited.numbers.begin(), edited.numbers.end(), std::size_t{0});
    for (std::span<const PartRepair> left = m.parts; !left.empty();) {
        const std::size_t together = count_together(left);
        switch (left.front().kind) {
            case PartRepair::Kind::rename: rename(edited, left.first(together)); break;
            case PartRepair::Kind::erase: erase(edited, left.first(together)); break;
            default: set_text(edited, left.front());
        }
        left = left.subspan(together);
    }
    edited.copy->update_fingerprint();
    if (!edited.copy->info.mark) edited.copy->info.mark = mark(Origin::original, m.code, nullptr);
    return std::move(edited.copy);
}

void RepairedList::rename(Edited& edited, std::span<const PartRepair> repairs) const {
    std::vector<MessagePort::NewName> names;
    for (const PartRepair& r : repairs) {
        if (const auto at = edited.place_of(r)) names.push_back({*at, r.call_id, r.tool});
    }
    edited.copy = MessageCopy::renamed(port_, edited.copy->message, edited.copy->info, names);
}

void RepairedList::erase(Edited& edited, std::span<const PartRepair> repairs) const {
    std::vector<std::size_t> parts;
    for (std::size_t i = repairs.size(); i-- > 0;) {
        if (const auto at = edited.place_of(repairs[i])) parts.push_back(*at);
    }
    std::vector<std::size_t> gone;
    edited.copy = MessageCopy::without(port_, edited.copy->message, edited.copy->info, parts, gone);
    std::erase_if(edited.numbers, [&](const std::size_t& number) {
        return std::ranges::binary_search(gone, static_cast<std::size_t>(&number - edited.numbers.data()));
    });
}

void RepairedList::set_text(Edited& edited, const PartRepair& repair) const {
    const auto at = edited.place_of(repair);
    if (!at) return;
    MessageCopy& copy = *edited.copy;
    const Mark& old = copy.info.parts[*at].mark;
    const bool is_ours = repair.kind != PartRepair::Kind::valid_utf8;
    std::string text(repair.kind == PartRepair::Kind::media_text ? media_text_ : "{}");
    if (!is_ours)
        port_.visit_part(copy.message, *at, true, [&](const PartView& part) { text = to_valid_utf8(part.text); });
    const Mark fresh = mark(is_ours ? Origin::repair : origin_of(old), repair.code, old);
    if (copy.set_text_in_place(side_.columns, *at, text, fresh)) return;
    MessageCopy::Owned next = MessageCopy::with_text(port_, copy.message, copy.info, *at, text, fresh);
    const std::size_t gone = find_gone(copy.info.parts, next->info.parts.size(), *at, true);
    if (gone < edited.numbers.size()) edited.numbers.erase(edited.numbers.begin() + static_cast<std::ptrdiff_t>(gone));
    edited.copy = std::move(next);
}

/// None where there is nothing to say.
std::vector<AnyMessage> RepairedList::write(const RepairedMessage& m) {
    if (m.kind == RepairedMessage::Kind::result) return port_.make_results(result_of(m));
    std::string text = m.text;
    if (m.source != RepairedMessage::none) {
        port_.visit_parts(port_.original(m.source), [&](const PartView& part) {
            if (part.kind == PartKind::text) text += part.text;
        });
        text = to_valid_utf8(text);
    }
    if (text.empty()) return {};
    return {port_.make(m.role, text)};
}

/// Of one message at a time: its results follow each other.
const std::vector<Part>& RepairedList::parts_from(std::size_t source) {
    if (source_ == source) return parts_;
    source_ = source;
    parts_.clear();
    port_.visit_parts(port_.original(source), [&](const PartView& part) { parts_.push_back(to_part(part)); });
    return parts_;
}

ToolResult RepairedList::result_of(const RepairedMessage& m) {
    ToolResult result{m.call_id.str(), m.tool.str(), {}, m.is_error};
    if (m.from.empty()) result.parts.push_back({.kind = PartKind::tool_result, .text = m.text});
    for (const auto& [source, p] : m.from) {
        Part part = parts_from(source)[p];
        part.text = to_valid_utf8(part.text);
        if (part.kind == PartKind::media && text_only_)
            part = {.kind = PartKind::tool_result, .text = std::string(media_text_)};
        result.parts.push_back(std::move(part));
    }
    return result;
}

/// `before`: what stands in front of it; null for nothing.
MessageCopy::Owned RepairedList::copy_of_new(const RepairedMessage& m, AnyMessage message, const MessageInfo* before) {
    MessageCopy::Owned copy = MessageCopy::of_new(port_, message);
    MessageInfo& info = copy->info;
    info.serial = next_serial_++;
    info.turn = before == nullptr ? 0 : before->turn;
    info.model_calls_before = before == nullptr ? 0 : before->model_calls_before;
    const bool is_theirs = !m.from.empty() && info.has(PartKind::tool_result);
    info.mark = mark(is_theirs ? Origin::original : Origin::repair, m.code, nullptr);
    for (std::size_t p = 0; is_theirs && p < m.from.size() && p < info.parts.size(); ++p)
        info.parts[p].mark = side_.infos[m.from[p].first].parts[m.from[p].second].mark;
    return copy;
}

}  // namespace whittle::inline v0::detail
