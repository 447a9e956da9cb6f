#pragma once

#include "whittle/base/clock.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/random.hpp"
#include "whittle/conversation/conversation.hpp"
#include "whittle/durable/detail/durable_log.hpp"
#include "whittle/durable/detail/masked_edit.hpp"
#include "whittle/durable/detail/saved_edit.hpp"
#include "whittle/storage/storage.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// How a conversation is kept.
struct DurableOptions {
    /// Name of this writer in the log, a safe name. No other living process has it: whoever has it may open again what
    /// it holds. Empty: random.
    std::string writer{};
    int lease_seconds = 60;  ///< how long others must not open after the last save, 1 or more
    bool take_over = false;  ///< open although another's lease has not ended
    /// Bytes of log after which a snapshot is written, 1 or more; as many as the last snapshot has, if that is more.
    std::int64_t snapshot_after_bytes = 262'144;
    std::string root = "whittle-log";  ///< first component of the log's keys, a safe name; no conversation has it as id
    std::shared_ptr<Storage> objects{};  ///< where the conversation's originals are; null: in the log's store
    std::vector<std::string> extra_readable_roots{};  ///< as `LoadOptions::extra_readable_roots`
    std::shared_ptr<Clock> clock = system_clock();    ///< of leases
    std::shared_ptr<IdSource> ids = random_ids();     ///< of writers without a name, and of attempts
};

namespace detail {

/// Throws Error(invalid_config) that lists every bad option, and Error(invalid_argument) for an id that is the root.
void check_durable(const DurableOptions& options, std::string_view id);
/// `options` with everything that may be left out.
[[nodiscard]] DurableOptions complete(DurableOptions options, const std::shared_ptr<Storage>& storage);
[[nodiscard]] LogOptions log_options(const DurableOptions& options);

template <AgentMessage M>
requires HasCodec<M>
[[nodiscard]] Conversation<M> to_live(SavedDocument document, const std::string& id, const DurableOptions& options) {
    std::vector<M> messages;
    messages.reserve(document.messages.size());
    for (const std::string& bytes : document.messages) messages.push_back(message_traits<M>::from_bytes(bytes));
    if (document.saved.id.empty()) document.saved.id = id;
    check_id(document.saved, id);
    return to_conversation<M>(
        std::move(document.saved), std::move(messages), options.objects,
        {.expected_id = id, .extra_readable_roots = options.extra_readable_roots, .check_cancelled = {}});
}

template <AgentMessage M>
requires HasCodec<M>
[[nodiscard]] SavedDocument to_document(const Conversation<M>& conversation) {
    SavedDocument document{.saved = to_saved(conversation), .messages = {}};
    document.messages.reserve(conversation.size());
    for (const M& m : conversation.messages()) document.messages.push_back(message_traits<M>::to_bytes(m));
    return document;
}

}  // namespace detail

/// A conversation whose saves cost what is new: each is one entry of a log in a store, written once under the next
/// number. Of several processes one writes at a time: it holds a lease, and who comes after its end fences it off.
/// Exactly one writer gets each number whatever clocks say; a writer that lost is told at its next save and can write
/// nothing more. extensions/durable/README.md has the guarantees. Used by one thread at a time.
template <AgentMessage M = ChatMessage>
requires HasCodec<M>
class DurableConversation {
public:
    /// Opens the conversation `id` as it was saved last, or a new one, and takes its lease. Throws Error(conflict) that
    /// names the writer that holds it and until when; Error(damaged) that names an entry that is broken in front of
    /// others; Error(parse_failed) for a newer format; Error(invalid_config); what the store throws.
    [[nodiscard]] static DurableConversation open(std::shared_ptr<Storage> storage, std::string_view id,
                                                  const DurableOptions& options = {}) {
        DurableConversation opened(std::move(storage), to_safe_name(id), options);
        opened.conversation_ =
            detail::to_live<M>(opened.log_.open(options.take_over), opened.conversation_.id(), opened.options_);
        opened.base_ = detail::SavedBase(opened.conversation_);
        opened.cut_ = opened.log_.torn_entries();
        return opened;
    }

    /// Change it as any other; it is saved by `save` only. Never assign another conversation to it.
    [[nodiscard]] Conversation<M>& operator*() noexcept { return conversation_; }
    /// As `operator*`.
    [[nodiscard]] Conversation<M>* operator->() noexcept { return &conversation_; }

    /// Saves what is new as one entry, and gives the number of the newest: as durable as the store makes it. Nothing
    /// new: nothing is written, unless half of the lease is over, which is then renewed. Throws Error(conflict) if
    /// another writer has taken over: nothing was saved then or can be; open again to go on from what is there. Throws
    /// what the store throws: call it again, or open again where the text says so. Throws Error(invalid_argument) in a
    /// hook.
    std::uint64_t save();

    /// Prolongs the lease, for what takes longer than it. Throws as `save`.
    void renew() { log_.renew(); }
    /// Gives the lease back, so that another may open at once. What was not saved is lost; nothing can be saved after.
    void release() { log_.release(); }

    /// Saves, writes a snapshot and removes what is not needed beside it. `save` does it where it is due.
    void compact_log() {
        save();
        write_snapshot();
    }
    /// Why the last snapshot that was due failed; empty: it did not. The log is as good without it, only longer.
    [[nodiscard]] const std::string& snapshot_error() const noexcept { return snapshot_error_; }

    /// Saves, and opens a branch of the conversation under another id, with a lease of its own. Nothing is copied: the
    /// branch names this log's entry, and what it needs of this log stays. Throws Error(already_exists) if there is
    /// such a conversation, and as `save`.
    [[nodiscard]] DurableConversation fork(std::string new_id);

    /// Number of the newest entry that is this conversation.
    [[nodiscard]] std::uint64_t last_entry_number() const noexcept { return log_.state().number; }
    /// The fencing token: larger than that of every writer before. For resources that refuse older ones.
    [[nodiscard]] std::uint64_t fencing_token() const noexcept { return log_.state().token; }
    /// The name of this writer in the log: `DurableOptions::writer`, or the one that was made where that is empty.
    [[nodiscard]] const std::string& writer() const noexcept { return log_.options().writer; }
    /// Numbers of half-written entries that were cut off the end when this was opened.
    [[nodiscard]] const std::vector<std::uint64_t>& torn_entries() const noexcept { return cut_; }

private:
    DurableConversation(std::shared_ptr<Storage> storage, const std::string& id, const DurableOptions& options)
        : storage_(std::move(storage)),
          options_((detail::check_durable(options, id), detail::complete(options, storage_))),
          conversation_(id),
          log_(storage_, id, detail::log_options(options_)) {}

    void write_snapshot() {
        detail::SavedDocument document = detail::to_document(conversation_);
        if (storage_->masks()) detail::mask_document<M>(document, *storage_);
        log_.write_snapshot(document);
    }
    void write_due_snapshot();

    std::shared_ptr<Storage> storage_;
    DurableOptions options_;
    Conversation<M> conversation_;
    detail::DurableLog log_;
    detail::SavedBase base_{};
    std::vector<std::uint64_t> cut_{};
    std::string snapshot_error_{};
};

/// A copy of what was saved last, for reading: holds nothing, takes no lease. Throws Error(not_found) if there is no
/// such conversation, and as `DurableConversation::open`. Of `options`, `root`, `objects` and `extra_readable_roots`
/// count.
template <AgentMessage M = ChatMessage>
requires HasCodec<M>
[[nodiscard]] Conversation<M> read_durable(const std::shared_ptr<Storage>& storage, std::string_view id,
                                           const DurableOptions& options = {}) {
    const std::string name = to_safe_name(id);
    detail::check_durable(options, name);
    return detail::to_live<M>(detail::read_log(*storage, options.root, name).document, name,
                              detail::complete(options, storage));
}

/// Writes a snapshot of what was saved last, and removes what is not needed beside it; whoever holds the conversation
/// goes on undisturbed. Of any message type. The number of the entry that the snapshot covers. Throws Error(not_found),
/// Error(not_offered) for a store that cannot list, and what the store throws.
std::uint64_t compact_durable_log(Storage& storage, std::string_view id, const DurableOptions& options = {});

template <AgentMessage M>
requires HasCodec<M> std::uint64_t DurableConversation<M>::save() {
    if (conversation_.in_hook()) throw Error(Errc::invalid_argument, "save: not inside a hook");
    std::optional<detail::SavedEdit> edit = base_.edit_to(conversation_);
    if (!edit) {
        if (log_.is_half_over()) log_.renew();
        return last_entry_number();
    }
    if (storage_->masks()) detail::mask_edit<M>(*edit, conversation_.messages(), *storage_);
    log_.append(*std::move(edit));
    base_.take(conversation_);
    write_due_snapshot();
    return last_entry_number();
}

template <AgentMessage M>
requires HasCodec<M>
void DurableConversation<M>::write_due_snapshot() {
    const detail::LogState& state = log_.state();
    if (state.bytes_since < (std::max)(options_.snapshot_after_bytes, state.snapshot_after_bytes)) return;
    try {
        write_snapshot();
        snapshot_error_.clear();
    } catch (const std::exception& error) {  // what was saved is saved
        snapshot_error_ = error.what();
    }
}

template <AgentMessage M>
requires HasCodec<M> DurableConversation<M> DurableConversation<M>::fork(std::string new_id) {
    save();
    DurableConversation branch(storage_, to_safe_name(new_id.empty() ? options_.ids->next() : new_id), options_);
    branch.conversation_ = conversation_.fork(branch.conversation_.id(), options_.objects);
    branch.log_.create_fork(conversation_.id(), log_.note_fork(branch.conversation_.id()));
    branch.base_ = detail::SavedBase(branch.conversation_);
    return branch;
}

}  // namespace whittle::inline v0
