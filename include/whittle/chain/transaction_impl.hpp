#pragma once

// Definitions of Transaction<M>; included by transaction.hpp.

#include "whittle/chain/transaction.hpp"

#include <algorithm>
#include <exception>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace whittle::inline v0 {

namespace detail {

/// Marks those messages that a transaction must leave alone. Linear.
[[nodiscard]] std::vector<bool> find_protected(const Outline& outline,
                                               const std::function<bool(const MessageInfo&)>* pins);
/// Thinking since the newest user message: providers want it back unchanged while the tool loop is open.
[[nodiscard]] bool has_open_thinking(const Outline& outline, std::size_t message);
[[noreturn]] void throw_pinned(std::string_view by, std::string_view attempted, Serial serial, std::string_view rule);
[[noreturn]] void throw_new_violations(std::string_view by, const std::vector<Violation>& violations);
void tell_commit(const EventSink& events, std::string_view by, std::string_view conversation,
                 const CommitResult& result) noexcept;
void sort_unique(std::vector<std::string>& keys);
/// Throws Error(cancelled) or Error(limit_exceeded).
void require_budget(const EditEnvironment& environment, std::string_view by, std::int64_t bytes);

}  // namespace detail

template <AgentMessage M>
Transaction<M>::Transaction(Conversation<M>& conversation, std::string by, EditEnvironment environment)
    : conversation_(&conversation),
      by_(std::move(by)),
      env_(std::move(environment)),
      version_(conversation.version()),
      column_(conversation.column(env_.counter)),
      before_(conversation.columns_[column_].messages),
      after_(before_),
      next_serial_(conversation.next_serial_) {}

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
    if (!protected_) protected_ = detail::find_protected(conversation_->outline(), env_.pins);
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

// ---- the overlay
// -----------------------------------------------------------------------------------------------------

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
        infos_[i] = &conversation_->infos_[i];
        base_[i] = i;
    }
    is_open_ = true;
}

template <AgentMessage M>
typename Transaction<M>::Owned& Transaction<M>::own(std::size_t message, Unit unit) {
    if (owned_[message] != nullptr && owned_[message]->unit != unit) owned_[message]->is_shared = true;
    if (owned_[message] == nullptr) {
        copies_.push_back({*messages_[message], *infos_[message], unit});
        owned_[message] = &copies_.back();
        messages_[message] = &copies_.back().message;
        infos_[message] = &copies_.back().info;
    }
    return *owned_[message];
}

/// Describes `owned` anew after `message` replaced its content; what the conversation knows of it stays.
template <AgentMessage M>
void Transaction<M>::refresh(Owned& owned, const M& message) {
    MessageInfo fresh = describe(message);
    conversation_->count_into(fresh, message);
    after_ = after_ - owned.info.tokens[column_] + fresh.tokens[column_];
    owned.info.parts = std::move(fresh.parts);
    owned.info.fingerprint = fresh.fingerprint;
    owned.info.tokens = std::move(fresh.tokens);
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
    apply_to_part(edit, at);
}

template <AgentMessage M>
void Transaction<M>::apply_to_part(const Edit& edit, std::size_t at) {
    M edited = *messages_[at];
    if (edit.kind == Edit::Kind::set_text) {
        message_traits<M>::set_text(edited, edit.part, edit.text);
    } else {
        message_traits<M>::erase_part(edited, edit.part);
    }
    Owned& owned = own(at, edit.unit);
    const std::vector<PartInfo> old_parts = owned.info.parts;
    refresh(owned, edited);
    owned.message = std::move(edited);
    const std::size_t skipped = edit.kind == Edit::Kind::erase_part && owned.info.parts.size() < old_parts.size()
                                    ? edit.part
                                    : old_parts.size();
    for (std::size_t p = 0; p < owned.info.parts.size(); ++p) {
        const std::size_t old = p < skipped ? p : p + 1;
        if (old >= old_parts.size()) break;
        PartInfo& part = owned.info.parts[p];
        part.mark = old_parts[old].mark;
        part.object_name = old_parts[old].object_name;
        if (part.tool.empty()) part.tool = old_parts[old].tool;
    }
    const bool is_shown = edit.kind == Edit::Kind::set_text && edit.part < owned.info.parts.size();
    (is_shown ? owned.info.parts[edit.part].mark : owned.info.mark) = edit.mark;  // a type may show no part for no text
}

template <AgentMessage M>
void Transaction<M>::apply_replace(const Edit& edit, std::size_t at) {
    std::vector<const M*> new_messages;
    std::vector<const MessageInfo*> new_infos;
    std::vector<Owned*> new_owned;
    std::int64_t growth = 0;
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
        join_group(owned.info, Outline(std::span<const MessageInfo* const>(new_infos)));
        if (owned.info.group == 0)
            join_group(owned.info, Outline(std::span<const MessageInfo* const>(infos_).first(at)));
        conversation_->names_.assign_to(owned.info);
        growth = add_saturating(growth, owned.info.tokens[column_]);
        copies_.push_back(std::move(owned));
        new_messages.push_back(&copies_.back().message);
        new_infos.push_back(&copies_.back().info);
        new_owned.push_back(&copies_.back());
    }
    const auto first = infos_.begin() + static_cast<std::ptrdiff_t>(at);
    const std::vector<const MessageInfo*> removed(first, first + static_cast<std::ptrdiff_t>(edit.covered.size()));
    for (const MessageInfo* info : removed) growth -= info->tokens[column_];
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
    for (std::size_t i = first; i < infos_.size(); ++i) {
        if (!std::ranges::binary_search(calls, infos_[i]->group)) continue;
        Owned& owned = own(i, edit.unit);
        owned.is_shared = true;
        join_group(owned.info, Outline(std::span<const MessageInfo* const>(infos_).first(i)));
    }
}

template <AgentMessage M>
void Transaction<M>::stage(Edit edit, std::size_t at) {
    detail::grow(edits_, 1);
    edit.at = at;
    apply(edit, at);
    edits_.push_back(std::move(edit));
}

// ---- taking back
// -----------------------------------------------------------------------------------------------------

/// Where the message stands that `edit` was made on. `shift`: how far such messages moved since, as a first guess.
template <AgentMessage M>
std::optional<std::size_t> Transaction<M>::find(const Edit& edit, std::ptrdiff_t& shift) const {
    if (edit.target == 0) return infos_.size();
    const auto guess = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(edit.at) + shift);
    if (guess < infos_.size() && infos_[guess]->serial == edit.target) return guess;
    const auto found = outline().index_of(edit.target);
    if (found) shift = static_cast<std::ptrdiff_t>(*found) - static_cast<std::ptrdiff_t>(edit.at);
    return found;
}

/// Whether taking `edit` back gives the conversation's own message again.
template <AgentMessage M>
bool Transaction<M>::is_alone(const Edit& edit, std::size_t at) const {
    return edit.kind != Edit::Kind::replace && base_[at] != inserted && owned_[at] != nullptr && !owned_[at]->is_shared;
}

template <AgentMessage M>
void Transaction<M>::revert(std::size_t at) {
    if (owned_[at] == nullptr) return;
    const MessageInfo& original = conversation_->infos_[base_[at]];
    after_ = after_ - owned_[at]->info.tokens[column_] + original.tokens[column_];
    messages_[at] = &conversation_->messages_[base_[at]];
    infos_[at] = &original;
    owned_[at] = nullptr;
}

template <AgentMessage M>
void Transaction<M>::drop_unit(Unit unit) {
    drop_units({unit});
}

template <AgentMessage M>
void Transaction<M>::drop_units(std::vector<Unit> units) {
    std::ranges::sort(units);
    const auto is_dropped = [&](const auto& item) { return std::ranges::binary_search(units, item.unit); };
    std::vector<std::size_t> places;
    std::ptrdiff_t shift = 0;
    bool is_plain = true;
    for (const Edit& edit : edits_) {
        if (!is_dropped(edit)) continue;
        const auto at = find(edit, shift);
        is_plain = is_plain && at && *at < infos_.size() && is_alone(edit, *at);
        if (!is_plain) break;
        places.push_back(*at);
    }
    if (!is_plain) add_dependents(units);
    std::erase_if(edits_, is_dropped);
    std::erase_if(offloads_, is_dropped);
    if (is_plain) {
        for (const std::size_t at : places) revert(at);
        return;
    }
    while (const auto lost = replay()) {
        units = {*lost};
        add_dependents(units);
        std::erase_if(edits_, is_dropped);
        std::erase_if(offloads_, is_dropped);
    }
}

/// Adds the units that build on what `units` made. Sorted before and after.
template <AgentMessage M>
void Transaction<M>::add_dependents(std::vector<Unit>& units) const {
    std::unordered_set<Serial> touched;
    for (std::size_t known = 0; known != units.size();) {
        known = units.size();
        for (const Edit& edit : edits_) {
            if (!std::ranges::binary_search(units, edit.unit)) continue;
            if (edit.kind != Edit::Kind::replace) touched.insert(edit.target);
            touched.insert(edit.covered.begin(), edit.covered.end());
            for (std::size_t i = 0; i < edit.messages.size(); ++i) touched.insert(edit.first_serial + i);
        }
        const auto is_touched = [&](Serial serial) { return touched.contains(serial); };
        for (const Edit& edit : edits_) {
            if (!is_touched(edit.target) && std::ranges::none_of(edit.covered, is_touched)) continue;
            const auto place = std::ranges::lower_bound(units, edit.unit);
            if (place == units.end() || *place != edit.unit) units.insert(place, edit.unit);
        }
    }
}

/// Makes the overlay again from the edits that are left. Gives the unit of an edit that no longer finds what it was
/// made on.
template <AgentMessage M>
std::optional<Unit> Transaction<M>::replay() {
    is_open_ = false;
    copies_.clear();
    after_ = before_;
    open_overlay();
    std::ptrdiff_t shift = 0;
    for (const Edit& edit : edits_) {
        const auto at = find(edit, shift);
        if (!at || *at + edit.covered.size() > infos_.size()) return edit.unit;
        for (std::size_t i = 0; i < edit.covered.size(); ++i) {
            if (infos_[*at + i]->serial != edit.covered[i]) return edit.unit;
        }
        apply(edit, *at);
    }
    return std::nullopt;
}

// ---- edits
// -----------------------------------------------------------------------------------------------------------

template <AgentMessage M>
void Transaction<M>::require_current(std::string_view attempted) const {
    if (conversation_->version() == version_) return;
    throw Error(Errc::conflict, by_ + ": " + std::string(attempted) +
                                    ": the conversation changed since the edits were planned; plan again");
}

template <AgentMessage M>
void Transaction<M>::require(bool condition, std::string_view attempted, std::size_t message,
                             std::string_view rule) const {
    if (!condition)
        detail::throw_pinned(by_, attempted, message < outline().size() ? outline()[message].serial : 0, rule);
}

template <AgentMessage M>
void Transaction<M>::require_editable(std::string_view attempted, std::size_t message) const {
    if (message >= outline().size()) {
        throw Error(Errc::invalid_argument, by_ + ": " + std::string(attempted) + " message " +
                                                std::to_string(message) + ": there are only " +
                                                std::to_string(outline().size()));
    }
    if (allow_pinned_) return;
    require(!is_protected(message), attempted, message,
            "it is pinned, a system text, the newest user message or in the open round");
}

template <AgentMessage M>
void Transaction<M>::require_own_part(std::string_view attempted, std::size_t message, std::size_t part) const {
    const MessageInfo& info = outline()[message];
    if (part >= info.parts.size()) {
        throw Error(Errc::invalid_argument, by_ + ": " + std::string(attempted) + " part " + std::to_string(part) +
                                                " of message " + std::to_string(info.serial) + ": it has " +
                                                std::to_string(info.parts.size()));
    }
    if (allow_pinned_) return;
    const Mark& mark = mark_of(info, part);
    require(origin_of(mark) == Origin::original || mark->by == by_, attempted, message,
            "another middleware made this part");
    const bool open_thinking =
        info.parts[part].kind == PartKind::thinking && detail::has_open_thinking(outline(), message);
    require(!open_thinking, attempted, message, "its thinking belongs to the open tool loop");
}

/// `provenance` with the store references that stand in messages [first, last).
template <AgentMessage M>
Provenance Transaction<M>::keep_references(Provenance provenance, std::size_t first, std::size_t last) const {
    const auto keep = [&](const Mark& mark) {
        if (mark) provenance.stored.insert(provenance.stored.end(), mark->stored.begin(), mark->stored.end());
    };
    for (std::size_t i = first; i < last; ++i) {
        keep(outline()[i].mark);
        for (const PartInfo& part : outline()[i].parts) keep(part.mark);
    }
    detail::sort_unique(provenance.stored);
    return provenance;
}

template <AgentMessage M>
void Transaction<M>::set_text(std::size_t message, std::size_t part, std::string text, Provenance provenance) {
    require_current("set_text");
    open_overlay();
    require_editable("set_text", message);
    require_own_part("set_text", message, part);
    if (const Mark& old = mark_of(outline()[message], part)) {
        provenance.stored.insert(provenance.stored.begin(), old->stored.begin(), old->stored.end());
        detail::sort_unique(provenance.stored);
    }
    stage({.kind = Edit::Kind::set_text,
           .unit = unit_,
           .target = outline()[message].serial,
           .part = part,
           .text = std::move(text),
           .mark = seal(std::move(provenance))},
          message);
}

template <AgentMessage M>
void Transaction<M>::erase_part(std::size_t message, std::size_t part, Provenance provenance) {
    require_current("erase_part");
    open_overlay();
    require_editable("erase_part", message);
    require_own_part("erase_part", message, part);
    const MessageInfo& info = outline()[message];
    Provenance rest =
        info.mark ? *info.mark : Provenance{};  // what stays is what it was; the mark keeps the references
    rest.reason = std::move(provenance.reason);
    rest.stored.insert(rest.stored.end(), provenance.stored.begin(), provenance.stored.end());
    if (const Mark& old = info.parts[part].mark)
        rest.stored.insert(rest.stored.end(), old->stored.begin(), old->stored.end());
    detail::sort_unique(rest.stored);
    stage({.kind = Edit::Kind::erase_part,
           .unit = unit_,
           .target = info.serial,
           .part = part,
           .mark = seal(std::move(rest))},
          message);
}

template <AgentMessage M>
void Transaction<M>::replace_range(std::size_t first, std::size_t last, std::vector<M> messages,
                                   Provenance provenance) {
    require_current("replace");
    open_overlay();
    if (first > last || last > outline().size()) {
        throw Error(Errc::invalid_argument, by_ + ": replace messages " + std::to_string(first) + " to " +
                                                std::to_string(last) + ": there are " +
                                                std::to_string(outline().size()));
    }
    Edit edit{.kind = Edit::Kind::replace, .unit = unit_, .first_serial = next_serial_};
    for (std::size_t i = first; i < last; ++i) {
        require_editable("replace", i);
        edit.covered.push_back(outline()[i].serial);
    }
    if (first < outline().size()) edit.target = outline()[first].serial;
    if (provenance.covers.empty() && !messages.empty()) provenance.covers = edit.covered;
    edit.mark = seal(keep_references(std::move(provenance), first, last));
    edit.messages = std::move(messages);
    const std::size_t count = edit.messages.size();
    stage(std::move(edit), first);
    next_serial_ += count;
}

template <AgentMessage M>
void Transaction<M>::insert(std::size_t at, M message, Provenance provenance) {
    std::vector<M> messages;
    messages.push_back(std::move(message));
    replace_range(at, at, std::move(messages), std::move(provenance));
}

template <AgentMessage M>
void Transaction<M>::mark(std::size_t message, Provenance provenance) {
    require_current("mark");
    open_overlay();
    require_editable("mark", message);
    stage({.kind = Edit::Kind::mark,
           .unit = unit_,
           .target = outline()[message].serial,
           .mark = seal(std::move(provenance))},
          message);
}

template <AgentMessage M>
void Transaction<M>::offload(std::string key, std::string content, std::optional<Original> original,
                             std::shared_ptr<Storage> storage) {
    auto target = storage ? std::move(storage) : env_.storage;
    if (!target) throw Error(Errc::invalid_argument, by_ + ": offload \"" + key + "\": there is no storage");
    require_valid_key("offload", key);
    offloads_.push_back({unit_, std::move(key), std::move(content), original, std::move(target)});
}

// ---- commit
// ----------------------------------------------------------------------------------------------------------

template <AgentMessage M>
bool Transaction<M>::is_worth_it(const CommitOptions& options) const noexcept {
    const std::int64_t gain = before_ - after_;
    if (!options.must_save && options.at_least_tokens <= 0) return true;
    return gain > 0 && gain >= options.at_least_tokens;
}

template <AgentMessage M>
void Transaction<M>::verify() const {
    if (env_.validity == nullptr) return;
    const auto fresh =
        new_violations(validate(conversation_->outline(), *env_.validity), validate(outline(), *env_.validity));
    if (!fresh.empty()) detail::throw_new_violations(by_, fresh);
}

template <AgentMessage M>
void Transaction<M>::write(const Offload& offload) {
    const auto bytes = static_cast<std::int64_t>(offload.content.size());
    detail::require_budget(env_, by_, bytes);
    offload.storage->put_if_absent(offload.key, offload.content);
    if (env_.budget != nullptr) env_.budget->store_bytes -= bytes;
    stored_.push_back(offload.key);
    bytes_stored_ += bytes;
}

/// Stores first (L2). False if something could not be stored and its edits were dropped.
template <AgentMessage M>
bool Transaction<M>::write_offloads(CommitResult& result) {
    std::vector<Unit> failed;  // offloads stand in order of their units
    for (const Offload& offload : offloads_) {
        if (!failed.empty() && failed.back() == offload.unit) continue;
        try {
            write(offload);
        } catch (const Error& error) {
            if (error.errc() == Errc::cancelled) throw;
            failed.push_back(offload.unit);
            if (env_.report != nullptr) env_.report->more().store_failures.push_back({offload.key, error.what()});
        } catch (const std::exception& error) {
            failed.push_back(offload.unit);
            if (env_.report != nullptr) env_.report->more().store_failures.push_back({offload.key, error.what()});
        }
    }
    if (failed.empty()) return true;
    result.dropped_units += static_cast<int>(failed.size());
    drop_units(std::move(failed));
    return false;
}

template <AgentMessage M>
std::vector<Splice<M>> Transaction<M>::to_splices() {
    std::vector<Splice<M>> splices;
    const std::size_t size = base_.size();
    std::size_t base = 0;
    for (std::size_t i = 0; i < size || base < conversation_->size();) {
        if (i < size && base_[i] == base && owned_[i] == nullptr) {
            ++i, ++base;
            continue;
        }
        Splice<M> splice{.first = base};
        for (; i < size && !(base_[i] != inserted && owned_[i] == nullptr); ++i) {
            if (base_[i] != inserted) base = base_[i] + 1;
            conversation_->count_into(owned_[i]->info, owned_[i]->message);  // a counter may have come meanwhile
            splice.messages.push_back(std::move(owned_[i]->message));
            splice.infos.push_back(std::move(owned_[i]->info));
        }
        base = i < size ? base_[i] : conversation_->size();
        splice.count = base - splice.first;
        splices.push_back(std::move(splice));
    }
    return splices;
}

template <AgentMessage M>
std::shared_ptr<JournalEntry<M>> Transaction<M>::to_entry(const std::vector<Splice<M>>& splices) const {
    auto entry = conversation_->new_entry(JournalEntry<M>::Kind::edit, by_, {});
    for (const Edit& edit : edits_) {
        if (entry->reason.empty()) entry->reason = edit.mark->reason;
        entry->stored.insert(entry->stored.end(), edit.mark->stored.begin(), edit.mark->stored.end());
    }
    detail::sort_unique(entry->stored);
    entry->when = env_.clock->now();
    entry->tokens_before = before_;
    entry->tokens_after = after_;
    std::unordered_map<Serial, std::pair<std::size_t, std::size_t>> places;
    for (std::size_t s = 0; s < splices.size(); ++s) {
        for (std::size_t m = 0; m < splices[s].count; ++m)
            places.emplace(conversation_->infos_[splices[s].first + m].serial, std::pair(s, m));
    }
    for (const Offload& offload : offloads_) {
        if (!offload.original) continue;
        const auto place = places.find(offload.original->serial);
        if (place == places.end()) continue;
        entry->texts.push_back(
            {place->second.first, place->second.second, offload.original->part, offload.key, offload.storage});
    }
    return entry;
}

template <AgentMessage M>
std::int64_t Transaction<M>::sent_tokens_behind(std::size_t first) const noexcept {
    std::int64_t tokens = 0;
    for (std::size_t i = first; i < std::min(conversation_->sent(), conversation_->size()); ++i) {
        tokens = add_saturating(tokens, conversation_->infos_[i].tokens[column_]);
    }
    return tokens;
}

template <AgentMessage M>
void Transaction<M>::fill_report(const CommitResult& result) const {
    if (env_.report == nullptr) return;
    env_.report->outcome = result.outcome;
    StageDetails& details = env_.report->more();
    details.tokens_before = result.tokens_before;
    details.tokens_after = result.tokens_after;
    details.first_changed = result.first_changed;
    if (result.first_changed) details.cached_tokens_invalidated = sent_tokens_behind(*result.first_changed);
    details.stored.insert(details.stored.end(), stored_.begin(), stored_.end());
    details.bytes_stored += bytes_stored_;
}

template <AgentMessage M>
CommitResult Transaction<M>::commit(const CommitOptions& options) {
    require_current("commit");
    CommitResult result{.tokens_before = before_, .tokens_after = after_, .first_changed = first_changed()};
    const auto finish = [&](Outcome outcome) {
        result.outcome = outcome;
        result.tokens_after = after_;
        result.first_changed = first_changed();
        fill_report(result);
        return result;
    };
    if (edits_.empty()) return finish(Outcome::nothing);
    if (!is_worth_it(options)) return finish(Outcome::too_small);
    verify();
    if (env_.dry_run) return finish(Outcome::planned);
    detail::require_budget(env_, by_, 0);
    if (!write_offloads(result)) {
        if (edits_.empty() || !is_worth_it(options)) return finish(Outcome::store_failed);
        verify();
    }
    finish(Outcome::committed);  // what can fail comes before the commit point
    std::vector<Splice<M>> splices = to_splices();
    auto entry = to_entry(splices);
    const std::size_t from = conversation_->journal().size();
    conversation_->commit(std::move(splices), std::move(entry));
    conversation_->next_serial_ = std::max(conversation_->next_serial_, next_serial_);
    if (!conversation_->in_hook_) conversation_->settle(from);
    if (env_.events != nullptr) detail::tell_commit(*env_.events, by_, conversation_->id(), result);
    start_again();
    return result;
}

/// After a commit the transaction is as good as new.
template <AgentMessage M>
void Transaction<M>::start_again() noexcept {
    edits_.clear();
    offloads_.clear();
    stored_.clear();
    bytes_stored_ = 0;
    is_open_ = false;
    copies_.clear();
    protected_.reset();
    version_ = conversation_->version();
    before_ = after_ = conversation_->columns_[column_].messages;
    next_serial_ = conversation_->next_serial_;
}

}  // namespace whittle::inline v0
