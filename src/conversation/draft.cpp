#include "whittle/conversation/draft.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/conversation/detail/checks.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0 {

Draft::Draft(detail::SideTable& side, std::size_t column, std::string by, EditEnvironment&& environment)
    : side_(&side),
      by_(std::move(by)),
      env_(std::move(environment)),
      version_(side.counters.version),
      epoch_(side.epoch),
      column_(column),
      before_(side.columns[column].messages),
      after_(before_),
      next_serial_(side.counters.next_serial) {}

Draft::Draft(Draft&&) noexcept = default;
Draft::~Draft() = default;

void Draft::visit_part(std::size_t message, std::size_t part, FunctionRef<void(const PartView&)> visit) const {
    const bool keeps_index = has_many_parts(outline()[message]) && is_current();
    read_part(message_at(message), part, keeps_index, visit);
}

std::string Draft::text_of_part(std::size_t message, std::size_t part) const {
    std::string text;
    visit_part(message, part, [&](const PartView& view) { text = view.text; });
    return text;
}

std::optional<std::size_t> Draft::first_changed() const noexcept {
    if (!is_open_) return std::nullopt;
    for (std::size_t i = 0; i < base_.size(); ++i) {
        if (base_[i] != i || owned_[i] != nullptr) return i;
    }
    return base_.size() < side_->infos.size() ? std::optional(base_.size()) : std::nullopt;
}

void Draft::open_overlay() {
    if (is_open_) return;
    const std::size_t size = side_->infos.size();
    messages_.resize(size);
    infos_.resize(size);
    base_.resize(size);
    owned_.assign(size, nullptr);
    for (std::size_t i = 0; i < size; ++i) {
        messages_[i] = own_message(i);
        infos_[i] = &side_->infos[i];
        base_[i] = i;
    }
    is_open_ = true;
}

void Draft::forget_overlay() noexcept {
    is_open_ = false;
    copies_.clear();
    forget_copies();
}

Draft::Owned& Draft::own(std::size_t message, Unit unit) {
    if (owned_[message] != nullptr && owned_[message]->unit != unit) owned_[message]->is_shared = true;
    if (owned_[message] == nullptr) {
        Owned owned{.info = *infos_[message], .unit = unit};
        copy_to_edit(messages_[message]);
        owned.message = keep_edited();
        see(message, copies_.push_back(std::move(owned)));
    }
    return *owned_[message];
}

/// The projection shows `owned` in place of message `at`.
void Draft::see(std::size_t at, Owned& owned) noexcept {
    owned_[at] = &owned;
    messages_[at] = owned.message;
    infos_[at] = &owned.info;
}

/// Puts the edited message, which `info` describes, in place of message `at`.
void Draft::put(std::size_t at, Unit unit, MessageInfo info) {
    const std::int64_t after =
        add_saturating(sub_saturating(after_, infos_[at]->tokens[column_]), info.tokens[column_]);
    if (owned_[at] == nullptr) {
        Owned owned{.info = std::move(info), .unit = unit};
        owned.message = keep_edited();
        see(at, copies_.push_back(std::move(owned)));
    } else {
        Owned& owned = own(at, unit);
        put_edited(owned.message);
        owned.info = std::move(info);
        owned.has_old_print = false;
        owned.measures.clear();
    }
    after_ = after;
}

Mark Draft::seal(Provenance provenance) const {
    provenance.by = by_;
    provenance.when = env_.clock->now();
    return std::make_shared<const Provenance>(std::move(provenance));
}

void Draft::apply(const Edit& edit, std::size_t at) {
    if (edit.kind == Edit::Kind::replace) return apply_replace(edit, at);
    if (edit.kind == Edit::Kind::mark) {
        own(at, edit.unit).info.mark = edit.mark;
        return;
    }
    if (edit.kind == Edit::Kind::set_text) return apply_text(edit, at);
    apply_erase(edit, at);
}

/// A copy of a new message, as it stands in front of message `at`.
Draft::Owned& Draft::add_new(const void* message, const Edit& edit, std::size_t at) {
    Owned owned{.info = describe_message(message), .unit = edit.unit, .is_shared = true};
    owned.info.mark = edit.mark;
    count_into(owned.info, message);
    if (!infos_.empty()) {
        const MessageInfo& neighbour = *infos_[std::min(at, infos_.size() - 1)];
        owned.info.turn = neighbour.turn;
        owned.info.call_index = neighbour.call_index;
    }
    copy_to_edit(message);
    owned.message = keep_edited();
    return copies_.push_back(std::move(owned));
}

void Draft::apply_replace(const Edit& edit, std::size_t at) {
    std::vector<const void*> new_messages;
    std::vector<const MessageInfo*> new_infos;
    std::vector<Owned*> new_owned;
    std::int64_t growth = 0;
    GroupFinder among_new;
    GroupFinder in_front;
    for (const void* const message : edit.messages) {
        Owned& owned = add_new(message, edit, at);
        owned.info.serial = edit.first_serial + new_infos.size();
        among_new.join(owned.info, Outline(std::span<const MessageInfo* const>(new_infos)));
        if (owned.info.group == 0)
            in_front.join(owned.info, Outline(std::span<const MessageInfo* const>(infos_).first(at)));
        side_->names.assign_to(owned.info);
        growth = add_saturating(growth, owned.info.tokens[column_]);
        new_messages.push_back(owned.message);
        new_infos.push_back(&owned.info);
        new_owned.push_back(&owned);
    }
    const auto first = infos_.begin() + static_cast<std::ptrdiff_t>(at);
    const std::vector<const MessageInfo*> removed(first, first + static_cast<std::ptrdiff_t>(edit.covered.size()));
    for (const MessageInfo* info : removed) growth = sub_saturating(growth, info->tokens[column_]);
    const auto splice = [&](auto& target, const auto& fresh) {
        const auto from = target.begin() + static_cast<std::ptrdiff_t>(at);
        target.insert(target.erase(from, from + static_cast<std::ptrdiff_t>(removed.size())), fresh.begin(),
                      fresh.end());
    };
    splice(messages_, new_messages);
    splice(infos_, new_infos);
    splice(owned_, new_owned);
    splice(base_, std::vector<std::size_t>(new_infos.size(), inserted));
    after_ = add_saturating(after_, growth);
    regroup_behind(at + new_infos.size(), edit.unit, removed);
}

/// Results whose call was replaced look for the new one.
void Draft::regroup_behind(std::size_t first, Unit unit, const std::vector<const MessageInfo*>& removed) {
    std::vector<Serial> calls;
    for (const MessageInfo* info : removed) {
        if (info->group == info->serial) calls.push_back(info->serial);
    }
    if (calls.empty()) return;
    std::ranges::sort(calls);
    GroupFinder groups;
    for (std::size_t i = first; i < infos_.size(); ++i) {
        if (!std::ranges::binary_search(calls, infos_[i]->group)) continue;
        Owned& owned = own(i, unit);
        owned.is_shared = true;
        groups.join(owned.info, Outline(std::span<const MessageInfo* const>(infos_).first(i)));
    }
}

void Draft::stage(Edit edit, std::size_t at) {
    detail::grow(edits_, 1);
    edit.at = at;
    const std::size_t parts = edit.kind == Edit::Kind::set_text ? infos_[at]->parts.size() : 0;
    const auto is_thinking = [&](std::size_t part) { return infos_[at]->parts[part].kind == PartKind::thinking; };
    if (edit.kind != Edit::Kind::erase_parts || !std::ranges::all_of(edit.parts, is_thinking))
        open_loop_.reset();  // without its thinking, a reply is still one
    try {
        apply(edit, at);
    } catch (...) {
        mend_torn();
        throw;
    }
    edit.moves_parts = edit.kind == Edit::Kind::set_text && infos_[at]->parts.size() != parts;
    edits_.push_back(std::move(edit));
}

}  // namespace whittle::inline v0
