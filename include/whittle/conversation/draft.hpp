#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/conversation/detail/bound_thinking.hpp"
#include "whittle/conversation/detail/edit_environment.hpp"
#include "whittle/conversation/detail/side_table.hpp"
#include "whittle/conversation/detail/stable_list.hpp"
#include "whittle/conversation/detail/text_blocks.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

/// A planned change of a conversation, whatever the type of its messages: edits are made on copies, seen through a
/// projection, and committed at once or not at all. Dropping it changes nothing. Indices are those of the projection. A
/// message must not be edited that is pinned, a system text, the newest user message, in the open round, or open
/// thinking (throws Error(pinned)), nor a part that another middleware made (folding it whole is allowed); `may_edit`
/// says all of this beforehand. Thinking is never edited: of a closed tool loop it may be erased, all of a message in
/// one commit (else the commit throws Error(invalid_history)). `Transaction<M>` adds what takes and gives messages.
class Draft {
public:
    Draft(const Draft&) = delete;
    Draft& operator=(Draft&&) = delete;
    Draft& operator=(const Draft&) = delete;

    /// What the conversation would be. A view: valid until the next edit. The fingerprint of a message of which several
    /// parts were edited is that before these edits until `update_fingerprints`, or the commit.
    [[nodiscard]] Outline outline() const noexcept {
        return is_open_ ? Outline(std::span<const MessageInfo* const>(infos_)) : side_->outline();
    }
    void update_fingerprints();
    /// Calls `visit` for one part of a message, if there is one. Reading all parts of a message so, or setting them, is
    /// linear in their number where the message type has an index of them (`HasPartIndex`).
    void visit_part(std::size_t message, std::size_t part, FunctionRef<void(const PartView&)> visit) const;
    /// Calls `visit` for each part of a message, in order.
    void visit_parts(std::size_t message, FunctionRef<void(const PartView&)> visit) const {
        read_all(message_at(message), visit);
    }
    /// The text of a part; empty if there is no such part.
    [[nodiscard]] std::string text_of_part(std::size_t message, std::size_t part) const;
    /// It is a pin, a system text, the newest user message or in the open round. More may forbid an edit: `may_edit`.
    [[nodiscard]] bool is_pinned(std::size_t message) const { return is_protected(message); }
    /// Whether every part of a message may be edited now, and the message itself folded or erased. False exactly where
    /// one of these edits throws Error(pinned), or there is no such message.
    [[nodiscard]] bool may_edit(std::size_t message) const;
    /// Whether a part may be edited now: by `set_text` and `erase_part`; thinking by `erase_part` alone, for it is
    /// never set. A call in the open tool loop may be edited where its thinking may not.
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
    /// the last one first. Linear in the parts of the message where its type has `HasIndexedErase`. Returns those that
    /// are no longer shown, ascending: a type may show one without its text, and another may go with it.
    std::vector<std::size_t> erase_parts(std::size_t message, std::vector<std::size_t> parts, Provenance provenance);
    void erase(std::size_t message, Provenance provenance) { erase_range(message, message + 1, std::move(provenance)); }
    /// Messages [first, last) in one edit.
    void erase_range(std::size_t first, std::size_t last, Provenance provenance) {
        replace(first, last, {}, std::move(provenance));
    }
    /// A message of that role with that text. `at` may be the number of messages.
    void insert_text(std::size_t at, Role role, std::string_view text, Provenance provenance) {
        replace_with_text(at, at, role, text, std::move(provenance));
    }
    /// Messages [first, last) make way for such a message.
    void replace_with_text(std::size_t first, std::size_t last, Role role, std::string_view text,
                           Provenance provenance);
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
    /// Stores the text of a part as it is now. One that nobody edited is read when it is written, and may leave memory
    /// then.
    void offload_text(std::string key, std::size_t message, std::size_t part,
                      std::shared_ptr<Storage> storage = nullptr);
    /// Writes what is to be stored now, before the commit, and takes back the units of which something is refused: what
    /// is planned on top then stands on what stays. A dry run writes nothing. Returns the number of refused units.
    int store();

    /// A user's own rewriter or finalizer may edit what is pinned (L7).
    void allow_pinned(bool allow) noexcept { allow_pinned_ = allow; }
    /// What another middleware shortened may be edited where its original is stored: the new text has to name it too.
    void allow_stored() noexcept { allow_stored_ = true; }
    /// The request is too large: results of the open round may be edited too, if nothing else pins them (L7).
    void allow_open_results() noexcept {
        allow_open_results_ = true;
        protected_.reset();
    }
    /// Takes back the last unit's edits and offloads.
    void drop_unit(Unit unit);
    /// Takes back several units' edits and offloads in one go.
    void drop_units(std::vector<Unit> units);
    /// Takes back those of `units` that break a rule which the history keeps now, with what builds on them, and returns
    /// them: the units that made what breaks the rule, else those next to it; edits of parts that made nothing worse go
    /// last. The history is validated at most O(log units) times; from the fourth time on the nearest ones go in
    /// growing numbers.
    std::vector<Unit> drop_rule_breakers(std::vector<Unit> units);

    /// Whether the host's `before_commit` refuses what is staged; `needs_model` goes into the plan that it sees. Asks
    /// nobody where nothing is staged or no such function is set.
    [[nodiscard]] bool is_vetoed(bool needs_model = false) const;
    /// Verifies, asks `before_commit`, stores, commits. Throws what that function throws, Error(conflict) if the
    /// conversation changed meanwhile, Error(invalid_history) if the result would break a rule that is kept now,
    /// Error(cancelled) and Error(limit_exceeded); then the conversation is as it was. A failure behind these checks,
    /// such as bad_alloc, also takes the edits back.
    CommitResult commit(const CommitOptions& options = {});

protected:
    /// What tokens of a message or a part come from, in one column.
    struct Measure {
        std::int64_t units = 0;
        std::int64_t media = 0;
    };
    /// A message that stands in the projection in place of the conversation's own, or beside these.
    struct Owned {
        void* message = nullptr;
        MessageInfo info{};
        Unit unit = 0;                    // whose edit made the copy
        bool is_shared = false;           // other units edited it too, or it is not a plain copy
        bool has_old_print = false;       // the fingerprint is that before some edits
        std::vector<Measure> measures{};  // of all its parts, once several were set
    };
    /// Messages [first, first + count) of the conversation make way for `items`.
    struct Stretch {
        std::size_t first = 0;
        std::size_t count = 0;
        std::span<Owned* const> items{};
    };

    Draft(detail::SideTable& side, std::size_t column, std::string by, EditEnvironment&& environment);
    Draft(Draft&&) noexcept;
    ~Draft();

    [[nodiscard]] bool is_open() const noexcept { return is_open_; }
    /// The messages of the projection; empty until the first edit.
    [[nodiscard]] std::span<const void* const> addresses() const noexcept { return messages_; }
    /// `messages`: addresses of new ones, which stay until `forget_messages`.
    void replace(std::size_t first, std::size_t last, std::vector<const void*> messages, Provenance provenance);

private:
    static constexpr std::size_t inserted = static_cast<std::size_t>(-1);
    /// Few are walked over sooner than an index of them is made.
    [[nodiscard]] static bool has_many_parts(const MessageInfo& info) noexcept { return info.parts.size() >= 8; }

    // What is asked of the messages, whose type is known further up: they go by address.
    [[nodiscard]] virtual const void* own_message(std::size_t base) const noexcept = 0;  // of the conversation
    virtual void read_all(const void* message, FunctionRef<void(const PartView&)> visit) const = 0;
    /// `keep_index`: more parts of this message will be read, and it stays as it is until it is edited here.
    virtual void read_part(const void* message, std::size_t part, bool keep_index,
                           FunctionRef<void(const PartView&)> visit) const = 0;
    [[nodiscard]] virtual bool has_part_index() const noexcept = 0;
    [[nodiscard]] virtual MessageInfo describe_message(const void* message) const = 0;
    virtual void count_into(MessageInfo& info, const void* message) const = 0;
    [[nodiscard]] virtual Hash128 print_of(const void* message) const = 0;
    [[nodiscard]] virtual detail::BoundPrint bound_print_of(const void* message) const = 0;
    /// Of one message at a time, in a place for scratch.
    virtual void* copy_to_edit(const void* message) = 0;
    virtual void set_text_of(void* copy, std::size_t part, std::string_view text) = 0;
    virtual void erase_parts_of(void* copy, std::span<const std::size_t> parts) = 0;
    /// A new message at an address that stays until `forget_messages`.
    [[nodiscard]] virtual const void* make_new(Role role, std::string_view text) = 0;
    /// Gives what is edited an address that stays until `forget_copies`, or puts it in place of a message that has one.
    virtual void* keep_edited() = 0;
    virtual void put_edited(void* in_place_of) = 0;
    /// False, and nothing done, where more than this part changes.
    [[nodiscard]] virtual bool set_in_place(void* message, std::size_t part, std::string_view text) = 0;
    virtual void forget_copies() noexcept = 0;
    virtual void forget_messages() noexcept = 0;
    /// The commit: takes the messages out of `stretches`.
    virtual void carry_out(std::span<const Stretch> stretches, JournalRecord record) = 0;

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
        std::vector<const void*> messages{};
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

    [[nodiscard]] const void* message_at(std::size_t at) const noexcept {
        return is_open_ ? messages_[at] : own_message(at);
    }
    [[nodiscard]] Mark seal(Provenance provenance) const;
    void open_overlay();
    [[nodiscard]] bool is_current() const noexcept {
        return side_->counters.version == version_ && side_->epoch == epoch_;
    }
    void require_current(std::string_view attempted) const;
    void require(bool condition, std::string_view attempted, std::size_t message, std::string_view rule) const;
    [[nodiscard]] std::string_view rule_on(std::size_t message) const;
    [[nodiscard]] std::string_view rule_on(std::size_t message, std::size_t part) const;
    [[nodiscard]] bool is_in_open_loop(std::size_t message) const;
    void require_editable(std::string_view attempted, std::size_t message) const;
    void require_own_part(std::string_view attempted, std::size_t message, std::size_t part) const;
    void require_whole_thinking() const;
    void require_own_thinking(std::size_t first, std::size_t last, std::span<const void* const> messages) const;
    [[nodiscard]] bool is_protected(std::size_t message) const;
    [[nodiscard]] std::optional<std::size_t> first_void_thinking() const;
    void drop_void_thinking();
    void drop_thinking_from(std::size_t first);
    void erase_thinking(std::size_t first, bool open);
    [[nodiscard]] bool keeps_every_rule() const noexcept;
    [[nodiscard]] std::vector<Violation> made_violations() const;
    [[nodiscard]] Provenance keep_references(Provenance provenance, std::size_t first, std::size_t last) const;

    void stage_erase(std::size_t message, std::vector<std::size_t> parts, Provenance provenance);
    void stage(Edit edit, std::size_t at);
    void apply(const Edit& edit, std::size_t at);
    void apply_text(const Edit& edit, std::size_t at);
    void apply_erase(const Edit& edit, std::size_t at);
    void erase_one_by_one(const std::vector<std::size_t>& parts, void* copy, MessageInfo& info);
    void apply_replace(const Edit& edit, std::size_t at);
    Owned& add_new(const void* message, const Edit& edit, std::size_t at);
    void regroup_behind(std::size_t first, Unit unit, const std::vector<const MessageInfo*>& removed);
    Owned& own(std::size_t message, Unit unit);
    void put(std::size_t at, Unit unit, MessageInfo info);
    void see(std::size_t at, Owned& owned) noexcept;
    [[nodiscard]] bool apply_in_place(const Edit& edit, std::size_t at);
    [[nodiscard]] std::vector<Measure> measure_all(const void* message, std::size_t columns) const;
    [[nodiscard]] std::vector<Measure> measure(const Owned& owned, std::size_t part) const;
    void add_measure(const PartView& part, std::vector<Measure>& measures) const;
    void take_in(const Edit& edit, Owned& owned, const std::vector<Measure>& before);
    void mend_torn();

    [[nodiscard]] std::optional<std::size_t> find(const Edit& edit, std::ptrdiff_t& shift) const;
    [[nodiscard]] bool is_alone(const Edit& edit, std::size_t at) const;
    void revert(std::size_t at);
    void add_dependents(std::vector<Unit>& units) const;
    [[nodiscard]] std::vector<Serial> harmlessly_edited() const;
    [[nodiscard]] std::vector<Unit> units_nearest_to(const std::vector<Violation>& made, const std::vector<Unit>& units,
                                                     std::size_t at_least) const;
    [[nodiscard]] std::optional<Unit> replay();
    void start_again() noexcept;
    void forget_overlay() noexcept;

    void read_original(std::size_t base, std::size_t part, FunctionRef<void(const PartView&)> visit) const;
    [[nodiscard]] bool is_worth_it(const CommitOptions& options) const noexcept;
    void verify() const;
    [[nodiscard]] std::optional<StoreFailure> try_write(Offload& offload);
    void keep_candidates_of(std::span<const Unit> refused);
    void write(const Offload& offload);
    void write(const Offload& offload, std::string_view content);
    [[nodiscard]] std::vector<Stretch> changed_stretches() const;
    [[nodiscard]] JournalRecord to_record(const std::vector<Stretch>& stretches);
    [[nodiscard]] std::int64_t sent_tokens_behind(std::size_t first) const noexcept;
    void fill_report(const CommitResult& result);

    detail::SideTable* side_;
    std::string by_;
    EditEnvironment env_;
    std::uint64_t version_;
    std::uint64_t epoch_;
    std::size_t column_;
    std::int64_t before_;
    std::int64_t after_;
    Unit unit_ = 0;
    bool allow_pinned_ = false;
    bool allow_stored_ = false;
    bool allow_open_results_ = false;

    std::vector<Edit> edits_{};
    std::vector<std::size_t> gone_{};  // parts that the last erase took out
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
    std::vector<const void*> messages_{};
    std::vector<const MessageInfo*> infos_{};
    std::vector<Owned*> owned_{};
    std::vector<std::size_t> base_{};                       // index in the conversation, or `inserted`
    detail::StableList<Owned> copies_{};                    // what `owned_` points to
    bool is_torn_ = false;                                  // an edit failed half-way: the overlay is to be made again
    mutable std::optional<std::vector<bool>> protected_{};  // by base index; made when first asked for
    mutable std::optional<std::size_t> open_loop_{};  // where it starts in the projection; size() for none; the same
};

}  // namespace whittle::inline v0
