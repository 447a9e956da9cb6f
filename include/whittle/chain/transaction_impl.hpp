#pragma once

// Definitions of Transaction<M>; included by transaction.hpp.

#include "whittle/chain/transaction.hpp"

#include <algorithm>
#include <exception>
#include <span>

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
typename Transaction<M>::Owned& Transaction<M>::own(std::size_t message) {
    if (owned_[message] == nullptr) {
        copies_.push_back({*messages_[message], *infos_[message]});
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
std::size_t Transaction<M>::locate(const Edit& edit) const {
    if (edit.target == 0) return infos_.size();
    return outline().index_of(edit.target).value_or(infos_.size());
}

template <AgentMessage M>
void Transaction<M>::apply(const Edit& edit, std::size_t at) {
    if (edit.kind == Edit::Kind::replace) return apply_replace(edit, at);
    if (edit.kind == Edit::Kind::mark) {
        own(at).info.mark = edit.mark;
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
    Owned& owned = own(at);
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
    if (edit.kind == Edit::Kind::erase_part) {
        owned.info.mark = edit.mark;
    } else {
        owned.info.parts[edit.part].mark = edit.mark;
    }
}

template <AgentMessage M>
void Transaction<M>::apply_replace(const Edit& edit, std::size_t at) {
    std::vector<const M*> new_messages;
    std::vector<const MessageInfo*> new_infos;
    std::vector<Owned*> new_owned;
    for (const M& message : edit.messages) {
        Owned owned{message, describe(message)};
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
        copies_.push_back(std::move(owned));
        after_ = add_saturating(after_, copies_.back().info.tokens[column_]);
        new_messages.push_back(&copies_.back().message);
        new_infos.push_back(&copies_.back().info);
        new_owned.push_back(&copies_.back());
    }
    for (std::size_t i = at; i < at + edit.count; ++i) after_ -= infos_[i]->tokens[column_];
    const auto splice = [&](auto& target, const auto& fresh) {
        const auto first = target.begin() + static_cast<std::ptrdiff_t>(at);
        target.insert(target.erase(first, first + static_cast<std::ptrdiff_t>(edit.count)), fresh.begin(), fresh.end());
    };
    splice(messages_, new_messages);
    splice(infos_, new_infos);
    splice(owned_, new_owned);
    splice(base_, std::vector<std::size_t>(new_infos.size(), inserted));
}

template <AgentMessage M>
void Transaction<M>::stage(Edit edit, std::size_t at) {
    apply(edit, at);
    edits_.push_back(std::move(edit));
}

/// Makes the overlay again from the edits that are left.
template <AgentMessage M>
void Transaction<M>::rebuild() {
    is_open_ = false;
    copies_.clear();
    after_ = before_;
    open_overlay();
    for (const Edit& edit : edits_) apply(edit, locate(edit));
}

template <AgentMessage M>
void Transaction<M>::drop_unit(Unit unit) {
    std::vector<Unit> units{unit};
    const auto is_dropped = [&](Unit u) { return std::ranges::find(units, u) != units.end(); };
    for (std::size_t known = 0; known != units.size();) {  // units that edit the same message fall together
        known = units.size();
        for (const Edit& dropped : edits_) {
            if (!is_dropped(dropped.unit)) continue;
            for (const Edit& edit : edits_) {
                if (edit.target == dropped.target && !is_dropped(edit.unit)) units.push_back(edit.unit);
            }
        }
    }
    std::erase_if(edits_, [&](const Edit& e) { return is_dropped(e.unit); });
    std::erase_if(offloads_, [&](const Offload& o) { return is_dropped(o.unit); });
    rebuild();
}

// ---- edits
// -----------------------------------------------------------------------------------------------------------

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
    require(!mark || mark->by == by_, attempted, message, "another middleware made this part");
    const bool open_thinking =
        info.parts[part].kind == PartKind::thinking && detail::has_open_thinking(outline(), message);
    require(!open_thinking, attempted, message, "its thinking belongs to the open tool loop");
}

template <AgentMessage M>
void Transaction<M>::set_text(std::size_t message, std::size_t part, std::string text, Provenance provenance) {
    open_overlay();
    require_editable("set_text", message);
    require_own_part("set_text", message, part);
    if (const Mark& old = mark_of(outline()[message], part)) {
        provenance.stored.insert(provenance.stored.begin(), old->stored.begin(), old->stored.end());
        detail::sort_unique(provenance.stored);
    }
    stage({Edit::Kind::set_text,
           unit_,
           outline()[message].serial,
           0,
           part,
           std::move(text),
           {},
           0,
           seal(std::move(provenance))},
          message);
}

template <AgentMessage M>
void Transaction<M>::erase_part(std::size_t message, std::size_t part, Provenance provenance) {
    open_overlay();
    require_editable("erase_part", message);
    require_own_part("erase_part", message, part);
    stage({Edit::Kind::erase_part, unit_, outline()[message].serial, 0, part, {}, {}, 0, seal(std::move(provenance))},
          message);
}

template <AgentMessage M>
void Transaction<M>::replace_range(std::size_t first, std::size_t last, std::vector<M> messages,
                                   Provenance provenance) {
    open_overlay();
    if (first > last || last > outline().size()) {
        throw Error(Errc::invalid_argument, by_ + ": replace messages " + std::to_string(first) + " to " +
                                                std::to_string(last) + ": there are " +
                                                std::to_string(outline().size()));
    }
    for (std::size_t i = first; i < last; ++i) require_editable("replace", i);
    const Serial target = first < outline().size() ? outline()[first].serial : 0;
    const Serial first_serial = next_serial_;
    next_serial_ += messages.size();
    stage({Edit::Kind::replace,
           unit_,
           target,
           last - first,
           0,
           {},
           std::move(messages),
           first_serial,
           seal(std::move(provenance))},
          first);
}

template <AgentMessage M>
void Transaction<M>::insert(std::size_t at, M message, Provenance provenance) {
    std::vector<M> messages;
    messages.push_back(std::move(message));
    replace_range(at, at, std::move(messages), std::move(provenance));
}

template <AgentMessage M>
void Transaction<M>::mark(std::size_t message, Provenance provenance) {
    open_overlay();
    require_editable("mark", message);
    stage({Edit::Kind::mark, unit_, outline()[message].serial, 0, 0, {}, {}, 0, seal(std::move(provenance))}, message);
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
    return (!options.must_save || gain > 0) && gain >= options.at_least_tokens;
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
    std::vector<Unit> failed;
    for (const Offload& offload : offloads_) {
        if (std::ranges::find(failed, offload.unit) != failed.end()) continue;
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
    for (const Unit unit : failed) drop_unit(unit);
    result.dropped_units += static_cast<int>(failed.size());
    return failed.empty();
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
    for (const Offload& offload : offloads_) {
        if (!offload.original) continue;
        for (std::size_t s = 0; s < splices.size(); ++s) {
            for (std::size_t m = 0; m < splices[s].count; ++m) {
                if (conversation_->infos_[splices[s].first + m].serial != offload.original->serial) continue;
                entry->texts.push_back({s, m, offload.original->part, offload.key, offload.storage});
            }
        }
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
    if (conversation_->version() != version_) {
        throw Error(Errc::conflict,
                    by_ + ": commit: the conversation changed since the edits were planned; plan again");
    }
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
    edits_.clear();
    version_ = conversation_->version();
    return result;
}

}  // namespace whittle::inline v0
