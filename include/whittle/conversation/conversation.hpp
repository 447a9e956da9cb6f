#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/detail/names.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/random.hpp"
#include "whittle/conversation/detail/host_results.hpp"
#include "whittle/conversation/detail/repair_options.hpp"
#include "whittle/conversation/detail/repeated_calls.hpp"
#include "whittle/conversation/detail/side_table.hpp"
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
template <AgentMessage M>
struct ConversationState;

/// What `Conversation::sync` found.
struct SyncResult {
    std::size_t common_prefix = 0;  ///< messages that were the same
    std::size_t appended = 0;       ///< messages that are new at the end
    std::size_t replaced = 0;       ///< our messages that the host no longer has
    bool diverged = false;          ///< the host changed or removed something that we had
    std::uint64_t version = 0;      ///< with which the host's list is in step: what `apply_to` wants
};

/// The messages of one agent, with everything the library knows about them: stable serial numbers, tool rounds, turns,
/// token counts, provenance and a journal that can undo every commit. Used by one thread at a time; any chain may serve
/// it.
template <AgentMessage M = ChatMessage>
class Conversation {
public:
    using message_type = M;

    /// `id` names the conversation in storage keys and reports; one that is not `is_safe_name` is made safe. Empty:
    /// random.
    explicit Conversation(std::string id = {}) : side_(to_safe_name(id.empty() ? random_ids()->next() : id)) {}
    Conversation(Conversation&&) noexcept = default;
    Conversation& operator=(Conversation&&) noexcept = default;

    [[nodiscard]] const std::string& id() const noexcept { return side_.id; }
    [[nodiscard]] std::span<const M> messages() const noexcept { return messages_; }
    [[nodiscard]] Outline outline() const noexcept { return side_.outline(); }
    [[nodiscard]] std::size_t size() const noexcept { return messages_.size(); }
    [[nodiscard]] bool empty() const noexcept { return messages_.empty(); }
    /// Grows with every change. A transaction commits only onto the version it was planned on.
    [[nodiscard]] std::uint64_t version() const noexcept { return side_.counters.version; }

    /// Appends a message. `usage`: what the provider billed for the call that gave this reply; if absent, the trait
    /// `usage` is asked. Cost: the size of the message. Strong guarantee. Throws Error(invalid_argument) inside a hook.
    void push_back(M message, std::optional<Usage> usage = std::nullopt);
    /// Appends a model's reply with its usage.
    void push_reply(Reply<M> reply) { push_back(std::move(reply.message), reply.usage); }

    /// Appends the results of the open round, in the given order, as the provider wants them. A result that came in
    /// shortened gets a journal entry, so that `undo` and `restore` can bring it back. Strong guarantee.
    void push_tool_results(std::span<const ToolReturn> returns) requires ToolMessage<M>;
    void push_tool_results(std::span<const ToolResult> results) requires ToolMessage<M>;
    /// Appends results in messages that the host made: they keep their own members and order, and what stands beside
    /// the results in them; only texts of results are set. `messages` may hold the whole results or what is shown of
    /// them, and messages without results. A result without a return stays as it is, and so does one whose return has
    /// media that the message lacks. Of the same id, the first return is that of the first result. Throws
    /// Error(invalid_argument) for a return whose result is in none of the messages.
    void push_tool_results(std::span<const M> messages, std::span<const ToolReturn> returns);

    /// For hosts that own the list: takes over what is new in `host`. Common messages at the front and at the back are
    /// found by the trait `stamp`, else by content (role and parts: who changes a field that is no part gives the
    /// message a new stamp), and keep their side-table entries. Strong guarantee.
    SyncResult sync(std::span<const M> host);
    /// The same where results came in shortened: the new messages at the end that hold them are taken in as by
    /// `push_tool_results(messages, returns)`. A return whose result is not among them is passed over. Should it throw
    /// after the host's list diverged, what is in front of the results may have been taken over.
    SyncResult sync(std::span<const M> host, std::span<const ToolReturn> returns);
    /// What a host whose list was in step at `version` must replace; see `apply_to`.
    /// Throws Error(invalid_argument) for a version from before the conversation was loaded.
    [[nodiscard]] Changes changes_since(std::uint64_t version) const { return side_.log.since(version); }
    /// Brings a host's list that was in step at `version` up to date. Copies only what changed. Strong guarantee.
    /// Throws Error(invalid_argument) if the list has another length than it can have had.
    void apply_to(std::vector<M>& host, std::uint64_t version) const {
        apply_to(host, version, [](const M& message) -> const M& { return message; });
    }
    /// Brings a list of another type up to date; `make` gives its element for a message.
    template <typename T, std::invocable<const M&> Make>
    requires std::constructible_from<T, std::invoke_result_t<Make, const M&>>
    void apply_to(std::vector<T>& host, std::uint64_t version, const Make& make) const;

    /// Tokens of the messages by `counter`. The first call with a counter counts everything, later ones only what is
    /// new.
    [[nodiscard]] std::int64_t tokens(const std::shared_ptr<const TokenCounter>& counter) {
        return side_.columns[column(counter)].messages;
    }
    /// Tokens of each message by `counter`, in order.
    [[nodiscard]] std::vector<std::int64_t> tokens_of_each(const std::shared_ptr<const TokenCounter>& counter) {
        return side_.tokens_of_each(column(counter));
    }
    /// The size of a request with these messages.
    [[nodiscard]] ContextCount context(const std::shared_ptr<const TokenCounter>& counter, std::string_view system,
                                       std::span<const ToolSpec> tools);

    /// Starts a turn. Until this is called for the first time, every user message starts one.
    void begin_turn();
    /// Starts a run: what middlewares remember for one run is forgotten.
    void begin_run() {
        require_outside_hook("begin_run");
        side_.notes.end_run();
        ++side_.counters.run;
    }
    [[nodiscard]] int turn() const noexcept { return side_.counters.turn; }
    [[nodiscard]] int run() const noexcept { return side_.counters.run; }
    /// Model replies so far.
    [[nodiscard]] int model_calls() const noexcept { return side_.counters.model_calls; }

    /// A transaction of its own, outside of any chain. docs/chain.md says what the environment may hold.
    [[nodiscard]] Transaction<M> edit(std::string_view by);
    [[nodiscard]] Transaction<M> edit(std::string_view by, EditEnvironment environment);

    /// Keeps a message as it is until `unpin`. False if there is no such message. Throws Error(invalid_argument) in a
    /// hook.
    bool pin(Serial serial) { return set_pinned(serial, true); }
    bool unpin(Serial serial) { return set_pinned(serial, false); }
    /// Pins every message now here for which `predicate` holds.
    void pin(const std::function<bool(const MessageInfo&)>& predicate);
    /// For hosts that saved only the messages: says where message `index` comes from.
    void mark(std::size_t index, Provenance provenance);

    [[nodiscard]] Notes notes(std::string_view owner) noexcept { return {side_.notes, owner}; }
    [[nodiscard]] const NoteBook& note_book() const noexcept { return side_.notes; }
    /// What is saved of it beside messages, journal and notes, without a copy of these (`state`).
    [[nodiscard]] const Counters& counters() const noexcept { return side_.counters; }
    [[nodiscard]] Calibrations calibrations() const { return side_.columns.calibrations(); }

    /// What was stored of this conversation. Thread-safe, grows with it.
    [[nodiscard]] std::shared_ptr<const StoredObjects> objects() const noexcept { return side_.objects; }
    /// Tool results that showed a stored text again.
    [[nodiscard]] std::int64_t read_backs() const noexcept { return side_.counters.read_backs; }

    /// Tool calls that asked again, with the same arguments, for a result that had left the request; counted when their
    /// round was prepared (`Chain::prepare_tools`), since this object was made.
    [[nodiscard]] std::int64_t repeated_calls() const {
        const auto known = detail::RepeatedCalls::find(*side_.attachments.get());
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
    [[nodiscard]] bool prefix_edited() const noexcept {
        return side_.counters.prefix_edited || side_.counters.request_edited;
    }

    using Journal = std::vector<std::shared_ptr<const JournalEntry<M>>>;
    [[nodiscard]] const Journal& journal() const noexcept { return journal_; }
    /// Undoes the newest journal entry; the restored messages are pinned. False if the journal is empty. Throws if the
    /// store does not give a text back; then nothing has changed.
    bool undo() { return undo(no_poll); }
    /// Undoes an entry that may have many messages: `poll` is called for each; if it throws, nothing has changed.
    bool undo(Poll poll);
    /// Brings back the original of a message that is still in the list, and pins it. Throws Error(not_found) if it is
    /// original already, unknown, or folded (the text then names the entry to undo).
    void restore(Serial serial);

    /// A copy under another id. Journal entries are shared. For another branch of the same dialogue. If something was
    /// stored, a list of what the fork may read is stored below its id, beside the objects and in `storage`: it is what
    /// the fork may go by once it was saved and loaded. Throws what the store throws; then there is no fork.
    [[nodiscard]] Conversation fork(std::string new_id, const std::shared_ptr<Storage>& storage = nullptr) const;

    /// Everything, for saving; `from_state` is the inverse.
    [[nodiscard]] ConversationState<M> state() const;
    [[nodiscard]] static Conversation from_state(ConversationState<M> state);

    /// Whether a hook of a chain is running: what it committed may still be taken back.
    [[nodiscard]] bool in_hook() const noexcept { return in_hook_; }

    /// The last hook's report; empty before the first.
    [[nodiscard]] const Report& report() const noexcept { return report_; }
    /// Messages that the last model request had; 0 before the first.
    [[nodiscard]] std::size_t sent() const noexcept { return side_.counters.sent; }

private:
    friend class Transaction<M>;
    friend class Chain<M>;
    friend class Turn<M>;

    Conversation(const Conversation&) = default;  // for fork

    [[nodiscard]] std::size_t column(const std::shared_ptr<const TokenCounter>& counter);
    void count_into(MessageInfo& info, const M& message) const;
    [[nodiscard]] MessageInfo describe_new(const M& message);
    void append(M&& message, MessageInfo&& info);
    void require_outside_hook(std::string_view attempted) const;
    bool set_pinned(Serial serial, bool pinned);
    [[nodiscard]] std::size_t require_index(Serial serial, std::string_view attempted) const;

    // Replacing stretches. `make_room` does all that can fail, and gives the new size; `exchange` cannot fail.
    std::size_t make_room(std::vector<Splice<M>>& splices);
    void exchange(std::vector<Splice<M>>& splices) noexcept;
    [[nodiscard]] static bool is_in_place(const std::vector<Splice<M>>& splices) noexcept;
    /// With an entry: true if it changes what kept thinking is bound to.
    bool commit(std::vector<Splice<M>> splices, std::shared_ptr<JournalEntry<M>> entry);
    [[nodiscard]] std::shared_ptr<JournalEntry<M>> new_entry(typename JournalEntry<M>::Kind kind, std::string by,
                                                             std::string reason);
    void append_results(std::span<const ToolReturn> returns);
    std::uint64_t append_host(std::span<const M> messages, detail::ReturnQueue& returns);
    bool append_host_results(const M& message, detail::ReturnQueue& returns, JournalEntry<M>& entry);
    void keep_original(JournalEntry<M>& entry, M original, const detail::HostPlan& plan);
    [[nodiscard]] std::size_t find_first_result(std::span<const M> host, std::span<const ToolReturn> returns) const;
    void keep_originals(JournalEntry<M>& entry, std::size_t first, std::span<const ToolReturn> returns);
    void cut_back(detail::SideTable::Tail& to) noexcept;
    /// Calls `append`; takes back what was appended if it throws.
    template <std::invocable Append>
    void append_all_or_nothing(const Append& append);
    void replace_by_host(std::span<const M> host, std::size_t front, std::size_t back);
    void free_spare() noexcept;
    void prepare_undo(Splice<M>& splice, bool pin, Poll poll);
    RepairResult mend(const ValidityProfile& profile, const RepairOptions& options, const EditEnvironment& environment);
    /// Whether `splices` change what kept thinking is bound to; looks at thinking of messages from `since` on.
    [[nodiscard]] bool edits_prefix(const std::vector<Splice<M>>& splices, Serial since) const;
    [[nodiscard]] static bool same_as_host(const M& ours, const MessageInfo& info, const M& host);

    [[nodiscard]] detail::Savepoint savepoint() const { return {journal_.size(), side_.savepoint()}; }
    void roll_back(const detail::Savepoint& to) noexcept;
    void settle(std::size_t from_entry) noexcept;

    std::vector<M> messages_{};
    detail::SideTable side_;
    std::vector<M> spare_messages_{};  // room for `exchange`
    std::vector<MessageInfo> spare_infos_{};
    Journal journal_{};
    Report report_{};
    bool in_hook_ = false;
};

}  // namespace whittle::inline v0

#include "whittle/conversation/detail/append.hpp"
#include "whittle/conversation/detail/replace.hpp"
#include "whittle/conversation/detail/sync.hpp"
#include "whittle/conversation/detail/sync_results.hpp"

#define WHITTLE_DEFINES_CONVERSATION
#include "whittle/base/detail/compiled_types.hpp"
