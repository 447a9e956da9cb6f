#pragma once

#include "whittle/chain/conversation.hpp"
#include "whittle/chain/edit_environment.hpp"
#include "whittle/chain/text_blocks.hpp"
#include "whittle/chain/transaction_detail.hpp"
#include "whittle/message/part_index.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// Edits that stand or fall together, for example all of one tool round.
using Unit = int;

struct CommitOptions {
    bool must_save = true;             ///< commit only if the count gets lower (L6)
    std::int64_t at_least_tokens = 0;  ///< and at least by this much
};

struct CommitResult {
    Outcome outcome = Outcome::nothing;
    std::int64_t tokens_before = 0;
    std::int64_t tokens_after = 0;               ///< of what was committed or would have been
    std::optional<std::size_t> first_changed{};  ///< index of the first message that differs
    int dropped_units = 0;                       ///< units that were left out because a store write failed
    std::exception_ptr store_error{};            ///< what the first of these writes threw

    [[nodiscard]] bool committed() const noexcept { return outcome == Outcome::committed; }
};

/// A planned change of a conversation: edits are made on copies, seen through a projection, and committed at once or
/// not at all. Dropping it changes nothing. Indices are those of the projection. A message must not be edited that is
/// pinned, a system text, the newest user message, in the open round, or open thinking (throws Error(pinned)), nor a
/// part that another middleware made (folding it whole is allowed); `may_edit` says all of this beforehand. Thinking is
/// never edited: of a closed tool loop it may be erased, all of a message in one commit (else the commit throws
/// Error(invalid_history)).
template <AgentMessage M>
class Transaction {
public:
    Transaction(Conversation<M>& conversation, std::string by, EditEnvironment environment);
    Transaction(Transaction&&) noexcept = default;
    Transaction(const Transaction&) = delete;
    Transaction& operator=(Transaction&&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction() = default;

    // What the conversation would be. Views: valid until the next edit.
    [[nodiscard]] MessageView<M> messages() const noexcept;
    /// The fingerprint of a message of which several parts were edited is that before these edits until
    /// `update_fingerprints`, or the commit.
    [[nodiscard]] Outline outline() const noexcept;
    void update_fingerprints();
    /// Calls `visit(const PartView&)` for one part of a message, if there is one. Reading all parts of a message so, or
    /// setting them, is linear in their number where the message type has an index of them (`HasPartIndex`).
    template <typename Visit>
    void visit_part(std::size_t message, std::size_t part, Visit&& visit) const {
        const M& m = messages()[message];
        if (outline()[message].parts.size() < few_parts || !is_current()) return visit_one_part(m, part, visit);
        finders_[&m].finder.visit(m, part, visit);
    }
    /// The text of a part; empty if there is no such part.
    [[nodiscard]] std::string text_of_part(std::size_t message, std::size_t part) const {
        std::string text;
        visit_part(message, part, [&](const PartView& view) { text = view.text; });
        return text;
    }
    /// It is a pin, a system text, the newest user message or in the open round. More may forbid an edit: `may_edit`.
    [[nodiscard]] bool is_pinned(std::size_t message) const;
    /// Whether every part of a message may be edited now, and the message itself folded or erased. False exactly where
    /// one of these edits throws Error(pinned), or there is no such message.
    [[nodiscard]] bool may_edit(std::size_t message) const;
    /// The same of one part: `set_text` and `erase_part`; of thinking, `erase_part` alone, for it is never set. A call
    /// in the open tool loop may be edited where its thinking may not.
    [[nodiscard]] bool may_edit(std::size_t message, std::size_t part) const;

    [[nodiscard]] const TokenCounter& counter() const noexcept { return *env_.counter; }
    /// Tokens of the messages by that counter, on both sides by estimate.
    [[nodiscard]] std::int64_t tokens_before() const noexcept { return before_; }
    [[nodiscard]] std::int64_t tokens_after() const noexcept { return after_; }
    [[nodiscard]] std::int64_t tokens_of(std::size_t message) const noexcept {
        return outline()[message].tokens[column_];
    }
    [[nodiscard]] std::optional<std::size_t> first_changed() const noexcept;

    /// Edits from here on belong together. Returns the unit's number.
    Unit begin_unit() noexcept { return ++unit_; }

    // Each edit carries where the result comes from; `by` and `when` are filled in.
    void set_text(std::size_t message, std::size_t part, std::string_view text, Provenance provenance);
    void erase_part(std::size_t message, std::size_t part, Provenance provenance) {
        erase_parts(message, {part}, std::move(provenance));
    }
    /// Several parts of one message in one edit, in whatever order they are named: as if each were erased by itself,
    /// the last one first. Linear in the parts of the message where its type has `HasIndexedErase`.
    void erase_parts(std::size_t message, std::vector<std::size_t> parts, Provenance provenance);
    void replace_range(std::size_t first, std::size_t last, std::vector<M> messages, Provenance provenance);
    void insert(std::size_t at, M message, Provenance provenance);
    void erase(std::size_t message, Provenance provenance) {
        replace_range(message, message + 1, {}, std::move(provenance));
    }
    void mark(std::size_t message, Provenance provenance);

    /// Takes out all thinking, that of the open tool loop only where no rule of the profile asks for it: what it was
    /// bound to has changed outside of the messages.
    void drop_thinking() { drop_thinking_from(0); }

    /// Asks the commit to store `content` first. If that fails, this unit's edits are left out. `part` says of which
    /// text this is the whole original, so that it may leave memory.
    struct Original {
        Serial serial = 0;
        std::size_t part = 0;
    };
    void offload(std::string key, std::string content, std::optional<Original> original = std::nullopt,
                 std::shared_ptr<Storage> storage = nullptr);
    /// The same for the text of a part as it is now. One that nobody edited is read when it is written, and may leave
    /// memory then.
    void offload_text(std::string key, std::size_t message, std::size_t part,
                      std::shared_ptr<Storage> storage = nullptr);
    /// Writes what is to be stored now, before the commit, and takes back the units of which something is refused: what
    /// is planned on top then stands on what stays. A dry run writes nothing. Returns the number of refused units.
    int store();

    /// A user's own rewriter or finalizer may edit what is pinned (L7).
    void allow_pinned(bool allow) noexcept { allow_pinned_ = allow; }
    /// The request is too large: results of the open round may be edited too, if nothing else pins them (L7).
    void allow_open_results() noexcept {
        allow_open_results_ = true;
        protected_.reset();
    }
    /// Takes back the last unit's edits and offloads.
    void drop_unit(Unit unit);
    /// The same of several, in one go.
    void drop_units(std::vector<Unit> units);
    /// Takes back those of `units` that break a rule which the history keeps now, with what builds on them, and returns
    /// them: the units that made what breaks the rule, else those next to it; edits of parts that made nothing worse go
    /// last. The history is validated at most
    /// O(log units) times; from the fourth time on the nearest ones go in growing numbers.
    std::vector<Unit> drop_rule_breakers(std::vector<Unit> units);

    /// Verifies, stores, commits. Throws Error(conflict) if the conversation changed meanwhile, Error(invalid_history)
    /// if the result would break a rule that is kept now, Error(cancelled) and Error(limit_exceeded); then the
    /// conversation is as it was. A failure behind these checks, such as bad_alloc, also takes the edits back.
    CommitResult commit(const CommitOptions& options = {});

private:
    static constexpr std::size_t inserted = static_cast<std::size_t>(-1);
    static constexpr std::size_t few_parts = 8;  // fewer are walked over sooner than an index of them is made

    struct Edit {
        enum class Kind { set_text, erase_parts, replace, mark };
        Kind kind{};
        Unit unit = 0;
        Serial target = 0;                 // the first message concerned; 0 for an insertion at the end
        std::size_t at = 0;                // where it stood then
        std::size_t part = 0;              // set_text
        std::vector<std::size_t> parts{};  // erase_parts: ascending, each once
        std::string_view text{};           // in `texts_`
        bool moves_parts = false;          // set_text: another part is no longer shown, those behind it move up
        std::vector<Serial> covered{};     // replace: the messages that go
        std::vector<M> messages{};
        Serial first_serial = 0;  // replace: of the new messages
        Mark mark{};
    };
    struct Offload {
        Unit unit = 0;
        std::string key{};
        std::string content{};
        std::optional<Original> original{};
        std::shared_ptr<Storage> storage{};
        bool is_written = false;
        std::optional<std::size_t>
            source{};  // index of the conversation's message whose text `original` is the content
    };
    struct Place {
        Serial serial = 0;
        std::size_t splice = 0;
        std::size_t message = 0;  // of the splice
    };
    struct Owned {
        M message;
        MessageInfo info;
        Unit unit = 0;               // whose edit made the copy
        bool is_shared = false;      // other units edited it too, or it is not a plain copy
        bool has_old_print = false;  // the fingerprint is that before some edits
    };
    /// What a message's tokens come from, by column.
    struct Measure {
        std::int64_t units = 0;
        std::int64_t media = 0;
    };
    /// Where the parts of a message of many are, and what they sum up to.
    struct Parts {
        PartFinder<M> finder{};
        std::vector<Measure> measures{};
    };

    [[nodiscard]] Mark seal(Provenance provenance) const;
    void open_overlay();
    [[nodiscard]] bool is_current() const noexcept {
        return conversation_->version() == version_ && conversation_->side_.epoch == epoch_;
    }
    void require_current(std::string_view attempted) const;
    void require(bool condition, std::string_view attempted, std::size_t message, std::string_view rule) const;
    [[nodiscard]] std::string_view rule_on(std::size_t message) const;
    [[nodiscard]] std::string_view rule_on(std::size_t message, std::size_t part) const;
    [[nodiscard]] bool is_in_open_loop(std::size_t message) const;
    void require_editable(std::string_view attempted, std::size_t message) const;
    void require_whole_thinking() const;
    void require_own_thinking(std::size_t first, std::size_t last, const std::vector<M>& messages) const;
    [[nodiscard]] std::optional<std::size_t> first_void_thinking() const;
    void drop_void_thinking();
    void drop_thinking_from(std::size_t first);
    void erase_thinking(std::size_t first, bool open);
    void stage_erase(std::size_t message, std::vector<std::size_t> parts, Provenance provenance);
    [[nodiscard]] bool keeps_every_rule() const noexcept;
    [[nodiscard]] std::vector<Violation> made_violations() const;
    void require_own_part(std::string_view attempted, std::size_t message, std::size_t part) const;
    [[nodiscard]] bool is_protected(std::size_t message) const;
    Owned& own(std::size_t message, Unit unit);
    void regroup_behind(std::size_t first, const Edit& edit, const std::vector<const MessageInfo*>& removed);
    [[nodiscard]] Provenance keep_references(Provenance provenance, std::size_t first, std::size_t last) const;
    [[nodiscard]] std::optional<std::size_t> find(const Edit& edit, std::ptrdiff_t& shift) const;
    [[nodiscard]] bool is_alone(const Edit& edit, std::size_t at) const;
    void revert(std::size_t at);
    void add_dependents(std::vector<Unit>& units) const;
    [[nodiscard]] std::vector<Serial> harmlessly_edited() const;
    [[nodiscard]] std::vector<Unit> units_nearest_to(const std::vector<Violation>& made, const std::vector<Unit>& units,
                                                     std::size_t at_least) const;
    [[nodiscard]] std::optional<Unit> replay();
    void start_again() noexcept;
    void put(std::size_t at, Unit unit, M message, MessageInfo info);
    void see(std::size_t at, Owned& owned) noexcept;
    void stage(Edit edit, std::size_t at);
    void apply(const Edit& edit, std::size_t at);
    void apply_text(const Edit& edit, std::size_t at);
    void apply_erase(const Edit& edit, std::size_t at);
    void erase_one_by_one(const std::vector<std::size_t>& parts, M& edited, MessageInfo& info) const;
    [[nodiscard]] bool set_in_place(const Edit& edit, std::size_t at);
    [[nodiscard]] std::vector<Measure> measure_all(const M& message, std::size_t columns) const;
    [[nodiscard]] std::vector<Measure> measure(const M& message, std::size_t part, Parts& parts) const;
    void add_measure(const PartView& part, std::vector<Measure>& measures) const;
    void take_in(const Edit& edit, Owned& owned, Parts& parts, const std::vector<Measure>& before);
    void mend_torn();
    [[nodiscard]] std::string original_text(std::size_t base, std::size_t part) const;
    void apply_replace(const Edit& edit, std::size_t at);

    void rebuild();
    [[nodiscard]] bool is_worth_it(const CommitOptions& options) const noexcept;
    void verify() const;
    [[nodiscard]] std::optional<StoreFailure> try_write(Offload& offload);
    void write(const Offload& offload);
    void write(const Offload& offload, std::string_view content);
    [[nodiscard]] std::vector<Splice<M>> to_splices();
    [[nodiscard]] std::shared_ptr<JournalEntry<M>> to_entry(const std::vector<Splice<M>>& splices);
    [[nodiscard]] std::int64_t sent_tokens_behind(std::size_t first) const noexcept;
    void fill_report(const CommitResult& result);

    Conversation<M>* conversation_;
    std::string by_;
    EditEnvironment env_;
    std::uint64_t version_;
    std::uint64_t epoch_;
    std::size_t column_;
    std::int64_t before_;
    std::int64_t after_;
    Unit unit_ = 0;
    bool allow_pinned_ = false;
    bool allow_open_results_ = false;

    std::vector<Edit> edits_{};
    detail::TextBlocks texts_{};
    std::vector<Offload> offloads_{};
    std::vector<std::string> stored_{};
    std::int64_t bytes_stored_ = 0;
    int refused_units_ = 0;
    std::exception_ptr store_error_{};  // of the first refused write
    std::int64_t thinking_dropped_ = 0;
    Serial next_serial_ = 0;

    // The overlay, parallel vectors; empty until the first edit.
    bool is_open_ = false;
    std::vector<const M*> messages_{};
    std::vector<const MessageInfo*> infos_{};
    std::vector<Owned*> owned_{};
    std::vector<std::size_t> base_{};  // index in the conversation, or `inserted`
    detail::StableList<Owned> copies_{};
    mutable std::unordered_map<const M*, Parts> finders_{};  // of messages that have several parts
    bool is_torn_ = false;                                   // an edit failed half-way: the overlay is to be made again
    mutable std::optional<std::vector<bool>> protected_{};   // by base index; made when first asked for
    mutable std::optional<std::size_t> open_loop_{};  // where it starts in the projection; size() for none; the same
};

template <AgentMessage M>
Transaction<M> Conversation<M>::edit(std::string_view by) {
    return edit(by, EditEnvironment{});
}

template <AgentMessage M>
Transaction<M> Conversation<M>::edit(std::string_view by, EditEnvironment environment) {
    return Transaction<M>(*this, std::string(by), std::move(environment));
}

}  // namespace whittle::inline v0

#include "whittle/chain/transaction_commit_impl.hpp"
#include "whittle/chain/transaction_edit_impl.hpp"
#include "whittle/chain/transaction_impl.hpp"
#include "whittle/chain/transaction_parts_impl.hpp"
#include "whittle/chain/transaction_thinking_impl.hpp"

#define WHITTLE_DEFINES_TRANSACTION
#include "whittle/base/compiled_types.hpp"
