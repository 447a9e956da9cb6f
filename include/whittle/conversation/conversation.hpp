#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/detail/names.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/random.hpp"
#include "whittle/conversation/detail/append.hpp"
#include "whittle/conversation/detail/append_host.hpp"
#include "whittle/conversation/detail/history.hpp"
#include "whittle/conversation/detail/repair_options.hpp"
#include "whittle/conversation/detail/repeated_calls.hpp"
#include "whittle/conversation/detail/sync.hpp"
#include "whittle/conversation/detail/undo.hpp"
#include "whittle/conversation/journal.hpp"
#include "whittle/conversation/report.hpp"
#include "whittle/conversation/tool.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/message/detail/message_view.hpp"
#include "whittle/message/validity.hpp"
#include "whittle/model/model.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

struct EditEnvironment;
struct RepairResult;
template <AgentMessage M>
class Transaction;
template <AgentMessage M>
class Chain;
template <AgentMessage M>
class Turn;

/// The messages of one agent, with everything the library knows about them: stable serial numbers, tool rounds, turns,
/// token counts, provenance and a journal that can undo every commit. Used by one thread at a time; any chain may serve
/// it.
template <AgentMessage M = ChatMessage>
class Conversation {
public:
    using message_type = M;  ///< the type of its messages

    /// `id` names the conversation in storage keys and reports; one that is not `is_safe_name` is made safe. Empty:
    /// random.
    explicit Conversation(std::string id = {})
        : history_{.side = detail::SideTable(to_safe_name(id.empty() ? random_ids()->next() : id))} {}
    Conversation(Conversation&&) noexcept = default;
    Conversation& operator=(Conversation&&) noexcept = default;

    /// Its id, safe in a storage key: what it stores is below it.
    [[nodiscard]] const std::string& id() const noexcept { return history_.side.id; }
    /// All messages, as the model would see them. A view: valid until the next change.
    [[nodiscard]] std::span<const M> messages() const noexcept { return history_.messages; }
    /// The messages without their texts. A view: valid until the next change.
    [[nodiscard]] Outline outline() const noexcept { return history_.side.outline(); }
    /// Number of messages.
    [[nodiscard]] std::size_t size() const noexcept { return history_.messages.size(); }
    /// Whether it has no message.
    [[nodiscard]] bool empty() const noexcept { return history_.messages.empty(); }
    /// Grows with every change. A transaction commits only onto the version it was planned on.
    [[nodiscard]] std::uint64_t version() const noexcept { return history_.side.counters.version; }

    /// Appends a message. `usage`: what the provider billed for the call that gave this reply; if absent, the trait
    /// `usage` is asked. Cost: the size of the message. Strong guarantee. Throws Error(invalid_argument) inside a hook.
    void push_back(M message, std::optional<Usage> usage = std::nullopt) {
        require_outside_hook("push_back");
        detail::push(history_, std::move(message), usage);
    }
    /// Appends a model's reply with its usage.
    void push_reply(Reply<M> reply) { push_back(std::move(reply.message), reply.usage); }

    /// Appends the results of the open round, in the given order, as the provider wants them. A result that came in
    /// shortened gets a journal entry, so that `undo` and `restore_and_pin` can bring it back. Strong guarantee.
    void push_tool_results(std::span<const ToolReturn> returns) requires ToolMessage<M> {
        require_outside_hook("push_tool_results");
        detail::append_all_or_nothing(history_, [&] { detail::append_results(history_, returns); });
    }
    void push_tool_results(std::span<const ToolResult> results) requires ToolMessage<M> {
        std::vector<ToolReturn> returns;
        for (const ToolResult& result : results) returns.push_back({.result = result});
        push_tool_results(returns);
    }
    /// Appends results in messages that the host made: they keep their own members and order, and what stands beside
    /// the results in them; only texts of results are set. `messages` may hold the whole results or what is shown of
    /// them, and messages without results. A result without a return stays as it is, and so does one whose return has
    /// media that the message lacks. Of the same id, the first return is that of the first result. Throws
    /// Error(invalid_argument) for a return whose result is in none of the messages.
    void push_tool_results(std::span<const M> messages, std::span<const ToolReturn> returns) {
        require_outside_hook("push_tool_results");
        detail::ReturnQueue queue(returns, detail::ReturnQueue::Missing::refused);
        detail::append_all_or_nothing(history_, [&] { detail::append_host(history_, messages, queue); });
    }

    /// For hosts that own the list: takes over what is new in `host`. Common messages at the front and at the back are
    /// found by the trait `stamp`, else by content (role and parts: who changes a field that is no part gives the
    /// message a new stamp), and keep their side-table entries. Strong guarantee.
    SyncResult sync(std::span<const M> host) {
        require_outside_hook("sync");
        return detail::follow(history_, host);
    }
    /// The same where results came in shortened: the new messages at the end that hold them are taken in as by
    /// `push_tool_results(messages, returns)`. A return whose result is not among them is passed over. Should it throw
    /// after the host's list diverged, what is in front of the results may have been taken over.
    SyncResult sync(std::span<const M> host, std::span<const ToolReturn> returns) {
        require_outside_hook("sync");
        return detail::follow(history_, host, returns);
    }
    /// What a host whose list was in step at `version` must replace; see `apply_to`.
    /// Throws Error(invalid_argument) for a version from before the conversation was loaded.
    [[nodiscard]] Changes replacements_since(std::uint64_t version) const { return history_.side.log.since(version); }
    /// Brings a host's list that was in step at `version` up to date. Copies only what changed. Strong guarantee.
    /// Throws Error(invalid_argument) if the list has another length than it can have had.
    void apply_to(std::vector<M>& host, std::uint64_t version) const {
        apply_to(host, version, [](const M& message) -> const M& { return message; });
    }
    /// Brings a list of another type up to date; `make` gives its element for a message.
    template <typename T, std::invocable<const M&> Make>
    requires std::constructible_from<T, std::invoke_result_t<Make, const M&>>
    void apply_to(std::vector<T>& host, std::uint64_t version, const Make& make) const {
        detail::apply_changes(host, history_.side.log, version, messages(), make);
    }

    /// Tokens of the messages by `counter`. The first call with a counter counts everything, later ones only what is
    /// new.
    [[nodiscard]] std::int64_t tokens(const std::shared_ptr<const TokenCounter>& counter) {
        return history_.side.columns[detail::column_of(history_, counter)].messages;
    }
    /// Tokens of each message by `counter`, in order.
    [[nodiscard]] std::vector<std::int64_t> tokens_of_each(const std::shared_ptr<const TokenCounter>& counter) {
        return history_.side.tokens_of_each(detail::column_of(history_, counter));
    }
    /// The size of a request with these messages.
    [[nodiscard]] ContextCount context(const std::shared_ptr<const TokenCounter>& counter, std::string_view system,
                                       std::span<const ToolSpec> tools) {
        const std::size_t known = history_.side.columns.size();
        const std::size_t counted = detail::column_of(history_, counter);
        return history_.side.context(counted, counted == known, system, tools);
    }

    /// Starts a turn. Until this is called for the first time, every user message starts one.
    void begin_turn() {
        require_outside_hook("begin_turn");
        history_.side.counters.explicit_turns = true;
        ++history_.side.counters.turn;
    }
    /// Starts a run: what middlewares remember for one run is forgotten.
    void begin_run() {
        require_outside_hook("begin_run");
        history_.side.notes.end_run();
        ++history_.side.counters.run;
    }
    /// Number of the newest turn; 0 before the first. Until `begin_turn` was called, a user message that starts a turn
    /// belongs to the next one.
    [[nodiscard]] int turn_number() const noexcept { return history_.side.counters.turn; }
    /// How many runs were begun by `begin_run`.
    [[nodiscard]] int run_number() const noexcept { return history_.side.counters.run; }
    /// Model replies so far.
    [[nodiscard]] int model_calls() const noexcept { return history_.side.counters.model_calls; }

    /// A transaction of its own, outside of any chain. `EditEnvironment` says what it may hold.
    [[nodiscard]] Transaction<M> edit(std::string_view by);
    [[nodiscard]] Transaction<M> edit(std::string_view by, EditEnvironment environment);

    /// Keeps a message as it is until `unpin`. False if there is no such message. Throws Error(invalid_argument) in a
    /// hook.
    bool pin(Serial serial) { return set_pinned(serial, true); }
    /// Takes back `pin`. False if there is no such message. Throws Error(invalid_argument) in a hook.
    bool unpin(Serial serial) { return set_pinned(serial, false); }
    /// Pins every message now here for which `predicate` holds.
    void pin(const std::function<bool(const MessageInfo&)>& predicate) {
        require_outside_hook("pin");
        history_.side.pin(predicate);
    }
    /// For hosts that saved only the messages: says where message `index` comes from.
    void mark(std::size_t index, Provenance provenance) {
        require_outside_hook("mark");
        history_.side.mark(index, std::move(provenance));
    }

    /// The notes of one middleware, by its name. A view of this conversation.
    [[nodiscard]] Notes notes(std::string_view owner) noexcept { return {history_.side.notes, owner}; }
    /// The notes of all middlewares, for saving.
    [[nodiscard]] const NoteBook& middleware_notes() const noexcept { return history_.side.notes; }
    /// What is saved of it beside messages, journal and notes, without a copy of these (`state`).
    [[nodiscard]] const Counters& counters() const noexcept { return history_.side.counters; }
    /// What was learnt of each counter from the provider's bills, for saving.
    [[nodiscard]] Calibrations calibrations() const { return history_.side.columns.calibrations(); }

    /// What was stored of this conversation. Thread-safe, grows with it.
    [[nodiscard]] std::shared_ptr<const StoredObjects> objects() const noexcept { return history_.side.objects; }
    /// Tool results that showed a stored text again.
    [[nodiscard]] std::int64_t read_backs() const noexcept { return history_.side.counters.read_backs; }

    /// Tool calls that asked again, with the same arguments, for a result that had left the request; counted when their
    /// round was prepared (`Chain::pending_tool_calls`), since this object was made.
    [[nodiscard]] std::int64_t repeated_calls_after_eviction() const {
        const auto known = detail::RepeatedCalls::find(*history_.side.caches.get());
        return known ? known->count() : 0;
    }

    /// Mends what breaks rules of `profile`, as one journal entry that `undo` takes back: missing results are written,
    /// orphans removed, results put behind their calls, ids and arguments corrected; docs/chain.md has the list. What
    /// breaks no rule stays as it is, calls that still run stay open, and a second repair changes nothing. Not while
    /// tools run: ids may change. Strong guarantee. Throws as `Transaction::commit`.
    RepairResult repair(const ValidityProfile& profile, const RepairOptions& options = {});
    RepairResult repair(const ValidityProfile& profile, const RepairOptions& options,
                        const EditEnvironment& environment);

    /// Whether something in front of thinking that is still here was edited, or the system text or the tools that it
    /// was written under: a provider that binds thinking to its prefix refuses such thinking unless it is asked to drop
    /// it (docs/message.md). Saved, copied by `fork`, taken back by `undo` where the thinking is valid again.
    [[nodiscard]] bool thinking_prefix_edited() const noexcept {
        return history_.side.counters.thinking_prefix_edited || history_.side.counters.request_edited;
    }

    /// Its entries, oldest first. Shared with forks, never changed.
    using Journal = std::vector<std::shared_ptr<const JournalEntry<M>>>;
    /// What was committed and can be undone, oldest first.
    [[nodiscard]] const Journal& journal() const noexcept { return history_.journal; }
    /// Undoes the newest journal entry; the restored messages are pinned. False if the journal is empty. Throws if the
    /// store does not give a text back; then nothing has changed.
    bool undo() { return undo(never_cancelled); }
    /// Undoes an entry that may have many messages: `check_cancelled` is called for each; if it throws, nothing has
    /// changed.
    bool undo(CancelCheck check_cancelled) {
        require_outside_hook("undo");
        return detail::undo_newest(history_, check_cancelled);
    }
    /// Brings back the original of a message that is still in the list, and pins it. Throws Error(not_found) if it is
    /// original already, unknown, or folded (the text then names the entry to undo).
    void restore_and_pin(Serial serial) {
        require_outside_hook("restore_and_pin");
        detail::restore(history_, serial);
    }

    /// A copy under another id. Journal entries are shared. For another branch of the same dialogue. If something was
    /// stored, a list of what the fork may read is stored below its id, beside the objects and in `storage`: it is what
    /// the fork may go by once it was saved and loaded. Throws what the store throws; then there is no fork.
    [[nodiscard]] Conversation fork(std::string new_id, const std::shared_ptr<Storage>& storage = nullptr) const;

    /// Everything, for saving; `from_state` is the inverse.
    [[nodiscard]] ConversationState<M> state() const;
    /// The conversation that `state` gave. Throws Error(damaged) if messages and their entries differ in number.
    [[nodiscard]] static Conversation from_state(ConversationState<M> state);

    /// Whether a hook of a chain is running: what it committed may still be taken back.
    [[nodiscard]] bool in_hook() const noexcept { return in_hook_; }

    /// The last hook's report; empty before the first.
    [[nodiscard]] const Report& report() const noexcept { return report_; }
    /// Messages that the last model request had; 0 before the first.
    [[nodiscard]] std::size_t last_request_messages() const noexcept { return history_.side.counters.sent; }

private:
    friend class Transaction<M>;
    friend class Chain<M>;
    friend class Turn<M>;

    Conversation(const Conversation&) = default;  // for fork

    void require_outside_hook(std::string_view operation) const { detail::require_outside_hook(in_hook_, operation); }
    bool set_pinned(Serial serial, bool pinned) {
        require_outside_hook("pin");
        return history_.side.set_pinned(serial, pinned);
    }

    RepairResult mend(const ValidityProfile& profile, const RepairOptions& options, const EditEnvironment& environment);

    detail::History<M> history_;
    Report report_{};
    bool in_hook_ = false;
};

template <AgentMessage M>
Conversation<M> Conversation<M>::fork(std::string new_id, const std::shared_ptr<Storage>& storage) const {
    require_outside_hook("fork");  // the journal entries of a hook are not final
    Conversation copy(*this);
    detail::SideTable& side = copy.history_.side;
    side.id = to_safe_name(new_id.empty() ? random_ids()->next() : new_id);
    if (!side.objects) return copy;
    side.objects = std::make_shared<StoredObjects>(*side.objects, side.id);
    side.objects->save_roots(storage);
    return copy;
}

template <AgentMessage M>
ConversationState<M> Conversation<M>::state() const {
    const detail::SideTable& side = history_.side;
    ConversationState<M> state{side.id, history_.messages, side.infos, history_.journal, side.notes, side.counters};
    state.calibrations = side.columns.calibrations();
    if (side.objects) state.roots = side.objects->roots();
    return state;
}

template <AgentMessage M>
Conversation<M> Conversation<M>::from_state(ConversationState<M> state) {
    if (state.messages.size() != state.infos.size()) {
        throw Error(Errc::damaged, "load conversation \"" + state.id + "\": " + std::to_string(state.messages.size()) +
                                       " messages, but " + std::to_string(state.infos.size()) + " side-table entries");
    }
    Conversation c(state.id);
    c.history_.messages = std::move(state.messages);
    c.history_.journal = std::move(state.journal);
    detail::SideTable& side = c.history_.side;
    side.load(std::move(state.infos), std::move(state.notes), state.counters);
    side.columns.load(std::move(state.calibrations));
    for (const std::string& root : state.roots) side.objects->allow(root);
    for (const auto& entry : c.history_.journal) {
        for (const std::string& key : entry->referenced_keys) side.objects->claim(key, nullptr);
        for (const StoredText& text : entry->texts_in_store) side.objects->claim(text.key, text.storage);
        for (const auto& splice : entry->undo) side.take_names(splice.infos);
    }
    return c;
}

}  // namespace whittle::inline v0

#define WHITTLE_DEFINES_CONVERSATION
#include "whittle/base/detail/compiled_types.hpp"
