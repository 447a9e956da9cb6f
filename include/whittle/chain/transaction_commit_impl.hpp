#pragma once

// The commit of Transaction<M>; included by transaction.hpp.

#include "whittle/base/saturating.hpp"
#include "whittle/chain/transaction.hpp"
#include "whittle/chain/transaction_detail.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

template <AgentMessage M>
bool Transaction<M>::is_worth_it(const CommitOptions& options) const noexcept {
    const std::int64_t gain = sub_saturating(before_, after_);
    if (!options.must_save && options.at_least_tokens <= 0) return true;
    return gain > 0 && gain >= options.at_least_tokens;
}

/// No message comes or goes, and no edit changes anything for the worse that a rule looks at.
template <AgentMessage M>
bool Transaction<M>::keeps_every_rule() const noexcept {
    for (std::size_t i = 0; i < base_.size(); ++i) {
        if (base_[i] != i) return false;
        if (owned_[i] != nullptr && !keeps_rules(conversation_->side_.infos[i], *infos_[i])) return false;
    }
    return base_.size() == conversation_->size();
}

/// What the projection breaks that the conversation does not.
template <AgentMessage M>
std::vector<Violation> Transaction<M>::made_violations() const {
    if (env_.validity == nullptr || !is_open_ || keeps_every_rule()) return {};
    const std::vector<Violation> after = validate(outline(), *env_.validity);
    if (after.empty()) return {};  // what was there before need not be read
    return new_violations(validate(conversation_->outline(), *env_.validity), after);
}

template <AgentMessage M>
void Transaction<M>::verify() const {
    require_whole_thinking();
    if (!env_.verify) return;
    const std::vector<Violation> made = made_violations();
    if (!made.empty()) detail::throw_new_violations(by_, made);
}

template <AgentMessage M>
void Transaction<M>::write(const Offload& offload) {
    if (!offload.source) return write(offload, offload.content);
    const M& message = conversation_->messages_[*offload.source];
    const auto write_text = [&](const PartView& part) { write(offload, part.text); };
    if (conversation_->side_.infos[*offload.source].parts.size() < few_parts)
        return visit_one_part(message, offload.original->part, write_text);
    finders_[&message].finder.visit(message, offload.original->part, write_text);
}

template <AgentMessage M>
void Transaction<M>::write(const Offload& offload, std::string_view content) {
    const auto bytes = static_cast<std::int64_t>(content.size());
    detail::require_budget(env_, by_, bytes);
    offload.storage->put_if_absent(offload.key, content);
    if (env_.budget != nullptr) env_.budget->store_bytes -= bytes;
    conversation_->side_.own_objects().add(offload.key, offload.storage);
    stored_.push_back(offload.key);
    bytes_stored_ += bytes;
}

/// What the store says if it refuses.
template <AgentMessage M>
std::optional<StoreFailure> Transaction<M>::try_write(Offload& offload) {
    std::string why;
    try {
        write(offload);
        offload.is_written = true;
        return std::nullopt;
    } catch (const Error& error) {
        if (error.errc() == Errc::cancelled) throw;
        why = error.what();
        if (!store_error_) store_error_ = std::current_exception();
    } catch (const std::exception& error) {
        why = error.what();
        if (!store_error_) store_error_ = std::current_exception();
    }
    return StoreFailure{offload.key, why.empty() ? "unknown reason" : std::move(why)};
}

/// Stores first (L2). What was refused is reported, and told once for all.
template <AgentMessage M>
int Transaction<M>::store() {
    require_current("store");
    if (env_.dry_run || offloads_.empty()) return 0;
    std::vector<Unit> failed;  // offloads stand in order of their units
    std::vector<StoreFailure> failures;
    for (Offload& offload : offloads_) {
        if (offload.is_written || (!failed.empty() && failed.back() == offload.unit)) continue;
        auto failure = try_write(offload);
        if (!failure) continue;
        failed.push_back(offload.unit);
        failures.push_back(*std::move(failure));
    }
    if (failed.empty()) return 0;
    const int refused = static_cast<int>(failed.size());
    refused_units_ += refused;
    detail::tell_store_failures(env_.events, by_, conversation_->id(), failures);
    if (env_.report != nullptr) {
        auto& reported = env_.report->more().store_failures;
        reported.insert(reported.end(), std::move_iterator(failures.begin()), std::move_iterator(failures.end()));
    }
    drop_units(std::move(failed));
    return refused;
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

/// Uses up what is to be stored.
template <AgentMessage M>
std::shared_ptr<JournalEntry<M>> Transaction<M>::to_entry(const std::vector<Splice<M>>& splices) {
    auto entry = conversation_->new_entry(JournalEntry<M>::Kind::edit, by_, {});
    for (const Edit& edit : edits_) {
        if (entry->reason.empty()) entry->reason = edit.mark->reason;
        entry->stored.insert(entry->stored.end(), edit.mark->stored.begin(), edit.mark->stored.end());
    }
    detail::sort_unique(entry->stored);
    entry->when = env_.clock->now();
    entry->tokens_before = before_;
    entry->tokens_after = after_;
    std::vector<Place> places;
    for (std::size_t i = 0; i < splices.size(); ++i) {
        for (std::size_t m = 0; m < splices[i].count; ++m)
            places.push_back({conversation_->side_.infos[splices[i].first + m].serial, i, m});
    }
    if (!std::ranges::is_sorted(places, {}, &Place::serial)) std::ranges::sort(places, {}, &Place::serial);
    for (Offload& offload : offloads_) {
        if (!offload.original) continue;
        const auto place = std::ranges::lower_bound(places, offload.original->serial, {}, &Place::serial);
        if (place == places.end() || place->serial != offload.original->serial) continue;
        entry->texts.push_back({place->splice, place->message, offload.original->part, std::move(offload.key),
                                std::move(offload.storage)});
    }
    return entry;
}

template <AgentMessage M>
std::int64_t Transaction<M>::sent_tokens_behind(std::size_t first) const noexcept {
    std::int64_t tokens = 0;
    for (std::size_t i = first; i < std::min(conversation_->sent(), conversation_->size()); ++i) {
        tokens = add_saturating(tokens, conversation_->side_.infos[i].tokens[column_]);
    }
    return tokens;
}

template <AgentMessage M>
void Transaction<M>::fill_report(const CommitResult& result) {
    if (env_.report == nullptr) return;
    env_.report->outcome = result.outcome;
    StageDetails& details = env_.report->more();
    details.tokens_before = result.tokens_before;
    details.tokens_after = result.tokens_after;
    details.first_changed = result.first_changed;
    if (result.first_changed) details.cached_tokens_invalidated = sent_tokens_behind(*result.first_changed);
    details.stored.insert(details.stored.end(), std::move_iterator(stored_.begin()), std::move_iterator(stored_.end()));
    stored_.clear();  // told once
    details.bytes_stored += std::exchange(bytes_stored_, 0);
    details.thinking_dropped += thinking_dropped_;
    const bool is_done = result.outcome == Outcome::committed || result.outcome == Outcome::planned;
    if (is_done && env_.on_prefix_edit && first_void_thinking()) details.prefix_edited = true;
}

template <AgentMessage M>
CommitResult Transaction<M>::commit(const CommitOptions& options) {
    require_current("commit");
    mend_torn();
    CommitResult result{.tokens_before = before_, .tokens_after = after_, .first_changed = first_changed()};
    const auto finish = [&](Outcome outcome) {
        result.outcome = outcome;
        result.tokens_after = after_;
        result.first_changed = first_changed();
        result.dropped_units = refused_units_;
        result.store_error = store_error_;
        fill_report(result);
        return result;
    };
    const bool is_refused = refused_units_ > 0;
    if (edits_.empty()) return finish(is_refused ? Outcome::store_failed : Outcome::nothing);
    if (!is_worth_it(options)) return finish(is_refused ? Outcome::store_failed : Outcome::too_small);
    verify();
    if (env_.dry_run) {
        drop_void_thinking();
        return finish(Outcome::planned);
    }
    detail::require_budget(env_, by_, 0);
    if (store() > 0) {
        if (edits_.empty() || !is_worth_it(options)) return finish(Outcome::store_failed);
        verify();
    }
    drop_void_thinking();
    finish(Outcome::committed);  // what can fail comes before the commit point
    const std::size_t from = conversation_->journal().size();
    try {
        update_fingerprints();
        std::vector<Splice<M>> splices = to_splices();
        auto entry = to_entry(splices);
        conversation_->commit(std::move(splices), std::move(entry));
    } catch (...) {
        start_again();  // the copies may have been moved from
        throw;
    }
    Serial& next_serial = conversation_->side_.counters.next_serial;
    next_serial = std::max(next_serial, next_serial_);
    if (!conversation_->in_hook_) conversation_->settle(from);
    if (env_.events != nullptr) detail::tell_commit(*env_.events, by_, conversation_->id(), result);
    start_again();
    return result;
}

/// After a commit the transaction is as good as new.
template <AgentMessage M>
void Transaction<M>::start_again() noexcept {
    edits_.clear();
    texts_.clear();
    offloads_.clear();
    stored_.clear();
    bytes_stored_ = 0;
    refused_units_ = 0;
    store_error_ = nullptr;
    thinking_dropped_ = 0;
    is_open_ = false;
    is_torn_ = false;
    finders_.clear();
    copies_.clear();
    protected_.reset();
    open_loop_.reset();
    version_ = conversation_->version();
    epoch_ = conversation_->side_.epoch;
    before_ = after_ = conversation_->side_.columns[column_].messages;
    next_serial_ = conversation_->side_.counters.next_serial;
}

}  // namespace whittle::inline v0
