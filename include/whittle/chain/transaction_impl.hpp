#pragma once

// Definitions of Transaction<M>; included by transaction.hpp.

#include "whittle/base/saturating.hpp"
#include "whittle/chain/transaction.hpp"
#include "whittle/chain/transaction_detail.hpp"

#include <algorithm>
#include <exception>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace whittle::inline v0 {

template <AgentMessage M>
Transaction<M>::Transaction(Conversation<M>& conversation, std::string by, EditEnvironment environment)
    : conversation_(&conversation),
      by_(std::move(by)),
      env_(std::move(environment)),
      version_(conversation.version()),
      epoch_(conversation.side_.epoch),
      column_(conversation.column(env_.counter)),
      before_(conversation.side_.columns[column_].messages),
      after_(before_),
      next_serial_(conversation.side_.counters.next_serial) {}

template <AgentMessage M>
MessageView<M> Transaction<M>::messages() const noexcept {
    return is_open_ ? MessageView<M>(std::span<const M* const>(messages_)) : MessageView<M>(conversation_->messages());
}

template <AgentMessage M>
Outline Transaction<M>::outline() const noexcept {
    return is_open_ ? Outline(std::span<const MessageInfo* const>(infos_)) : conversation_->outline();
}

template <AgentMessage M>
bool Transaction<M>::is_protected(std::size_t message) const {
    if (!protected_) protected_ = detail::find_protected(conversation_->outline(), by_, env_.pins, allow_open_results_);
    const std::size_t base = is_open_ ? base_[message] : message;
    return base != inserted && (*protected_)[base];
}

template <AgentMessage M>
bool Transaction<M>::is_pinned(std::size_t message) const {
    return is_protected(message);
}

template <AgentMessage M>
std::optional<std::size_t> Transaction<M>::first_changed() const noexcept {
    if (!is_open_) return std::nullopt;
    for (std::size_t i = 0; i < base_.size(); ++i) {
        if (base_[i] != i || owned_[i] != nullptr) return i;
    }
    return base_.size() < conversation_->size() ? std::optional(base_.size()) : std::nullopt;
}

template <AgentMessage M>
void Transaction<M>::open_overlay() {
    if (is_open_) return;
    const std::size_t size = conversation_->size();
    messages_.resize(size);
    infos_.resize(size);
    base_.resize(size);
    owned_.assign(size, nullptr);
    for (std::size_t i = 0; i < size; ++i) {
        messages_[i] = &conversation_->messages_[i];
        infos_[i] = &conversation_->side_.infos[i];
        base_[i] = i;
    }
    is_open_ = true;
}

template <AgentMessage M>
typename Transaction<M>::Owned& Transaction<M>::own(std::size_t message, Unit unit) {
    if (owned_[message] != nullptr && owned_[message]->unit != unit) owned_[message]->is_shared = true;
    if (owned_[message] == nullptr) {
        copies_.push_back({*messages_[message], *infos_[message], unit});
        see(message, copies_.back());
    }
    return *owned_[message];
}

/// The projection shows `owned` in place of message `at`.
template <AgentMessage M>
void Transaction<M>::see(std::size_t at, Owned& owned) noexcept {
    owned_[at] = &owned;
    messages_[at] = &owned.message;
    infos_[at] = &owned.info;
}

/// Puts `message` in place of message `at`.
template <AgentMessage M>
void Transaction<M>::put(std::size_t at, Unit unit, M message, MessageInfo info) {
    const std::int64_t after =
        add_saturating(sub_saturating(after_, infos_[at]->tokens[column_]), info.tokens[column_]);
    if (owned_[at] == nullptr) {
        copies_.push_back({std::move(message), std::move(info), unit});
        see(at, copies_.back());
    } else {
        Owned& owned = own(at, unit);
        finders_.erase(&owned.message);
        owned.message = std::move(message);
        owned.info = std::move(info);
        owned.has_old_print = false;
    }
    after_ = after;
}

template <AgentMessage M>
Mark Transaction<M>::seal(Provenance provenance) const {
    provenance.by = by_;
    provenance.when = env_.clock->now();
    return std::make_shared<const Provenance>(std::move(provenance));
}

template <AgentMessage M>
void Transaction<M>::apply(const Edit& edit, std::size_t at) {
    if (edit.kind == Edit::Kind::replace) return apply_replace(edit, at);
    if (edit.kind == Edit::Kind::mark) {
        own(at, edit.unit).info.mark = edit.mark;
        return;
    }
    if (edit.kind == Edit::Kind::set_text) return apply_text(edit, at);
    apply_erase(edit, at);
}

template <AgentMessage M>
void Transaction<M>::apply_replace(const Edit& edit, std::size_t at) {
    std::vector<const M*> new_messages;
    std::vector<const MessageInfo*> new_infos;
    std::vector<Owned*> new_owned;
    std::int64_t growth = 0;
    GroupFinder among_new;
    GroupFinder in_front;
    for (const M& message : edit.messages) {
        Owned owned{message, describe(message), edit.unit, true};
        owned.info.serial = edit.first_serial + new_infos.size();
        owned.info.mark = edit.mark;
        conversation_->count_into(owned.info, message);
        const std::size_t neighbour = std::min(at, infos_.size() - (infos_.empty() ? 0 : 1));
        if (!infos_.empty()) {
            owned.info.turn = infos_[neighbour]->turn;
            owned.info.call_index = infos_[neighbour]->call_index;
        }
        among_new.join(owned.info, Outline(std::span<const MessageInfo* const>(new_infos)));
        if (owned.info.group == 0)
            in_front.join(owned.info, Outline(std::span<const MessageInfo* const>(infos_).first(at)));
        conversation_->side_.names.assign_to(owned.info);
        growth = add_saturating(growth, owned.info.tokens[column_]);
        copies_.push_back(std::move(owned));
        new_messages.push_back(&copies_.back().message);
        new_infos.push_back(&copies_.back().info);
        new_owned.push_back(&copies_.back());
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
    regroup_behind(at + new_infos.size(), edit, removed);
}

/// Results whose call was replaced look for the new one.
template <AgentMessage M>
void Transaction<M>::regroup_behind(std::size_t first, const Edit& edit,
                                    const std::vector<const MessageInfo*>& removed) {
    std::vector<Serial> calls;
    for (const MessageInfo* info : removed) {
        if (info->group == info->serial) calls.push_back(info->serial);
    }
    if (calls.empty()) return;
    std::ranges::sort(calls);
    GroupFinder groups;
    for (std::size_t i = first; i < infos_.size(); ++i) {
        if (!std::ranges::binary_search(calls, infos_[i]->group)) continue;
        Owned& owned = own(i, edit.unit);
        owned.is_shared = true;
        groups.join(owned.info, Outline(std::span<const MessageInfo* const>(infos_).first(i)));
    }
}

template <AgentMessage M>
void Transaction<M>::stage(Edit edit, std::size_t at) {
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
