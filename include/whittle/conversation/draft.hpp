#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/conversation/detail/edit_environment.hpp"

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

namespace detail {
struct DraftState;
class MessagePort;
struct SideTable;
}  // namespace detail

struct RepairOptions;
struct RepairResult;

/// Edits that stand or fall together, for example all of one tool round.
using EditGroup = int;

/// What a commit asks for, or nothing is committed.
struct CommitOptions {
    bool require_token_reduction = true;   ///< commit only if the count gets lower (L6)
    std::int64_t min_token_reduction = 0;  ///< and at least by this much
};

/// What came of a commit.
struct CommitResult {
    Outcome outcome = Outcome::nothing;          ///< committed, or why not
    std::int64_t tokens_before = 0;              ///< of the messages, by the counter that judges
    std::int64_t tokens_after = 0;               ///< of what was committed or would have been
    std::optional<std::size_t> first_changed{};  ///< index of the first message that differs
    int unstored_edit_groups = 0;                ///< edit groups that were left out because a store write failed
    std::exception_ptr first_store_error{};      ///< what the first of these writes threw

    /// Whether the conversation was changed.
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
    [[nodiscard]] Outline outline() const noexcept;
    /// Brings the fingerprints of `outline()` up to date; the commit does it by itself.
    void update_fingerprints();
    /// Calls `visit` for one part of a message, if there is one. Reading all parts of a message so, or setting them, is
    /// linear in their number where the message type has an index of them (`HasPartIndex`).
    void visit_part(std::size_t message, std::size_t part, FunctionRef<void(const PartView&)> visit) const;
    /// Calls `visit` for each part of a message, in order.
    void visit_parts(std::size_t message, FunctionRef<void(const PartView&)> visit) const;
    /// The text of a part; empty if there is no such part.
    [[nodiscard]] std::string text_of_part(std::size_t message, std::size_t part) const;
    /// It is a pin, a system text, the newest user message or in the open round. More may forbid an edit: `may_edit`.
    [[nodiscard]] bool is_protected(std::size_t message) const;
    /// Whether every part of a message may be edited now, and the message itself folded or erased. False exactly where
    /// one of these edits throws Error(pinned), or there is no such message.
    [[nodiscard]] bool may_edit(std::size_t message) const;
    /// Whether a part may be edited now: by `set_text` and `erase_part`; thinking by `erase_part` alone, for it is
    /// never set. A call in the open tool loop may be edited where its thinking may not.
    [[nodiscard]] bool may_edit(std::size_t message, std::size_t part) const;

    /// The counter that judges edits.
    [[nodiscard]] const TokenCounter& counter() const noexcept;
    /// Tokens of the messages by that counter, on both sides by estimate.
    [[nodiscard]] std::int64_t tokens_before() const noexcept;
    /// As the edits have left them.
    [[nodiscard]] std::int64_t tokens_after() const noexcept;
    /// Tokens of one message as it is now. `message` must be there.
    [[nodiscard]] std::int64_t tokens_of(std::size_t message) const noexcept;
    /// Index of the first message that differs from the conversation's; absent if none does.
    [[nodiscard]] std::optional<std::size_t> first_changed() const noexcept;

    /// Edits from here on belong together. Returns the edit group's number.
    EditGroup begin_edit_group() noexcept;

    // Each edit carries where the result comes from; `by` and `when` are filled in.
    /// Another text for one part; of a call its arguments, a JSON object.
    void set_text(std::size_t message, std::size_t part, std::string_view text, Provenance provenance);
    /// Takes one part out.
    void erase_part(std::size_t message, std::size_t part, Provenance provenance) {
        erase_parts(message, {part}, std::move(provenance));
    }
    /// Several parts of one message in one edit, in whatever order they are named: as if each were erased by itself,
    /// the last one first. Linear in the parts of the message where its type has `HasIndexedErase`. Returns those that
    /// are no longer shown, ascending: a type may show one without its text, and another may go with it.
    std::vector<std::size_t> erase_parts(std::size_t message, std::vector<std::size_t> parts, Provenance provenance);
    /// Takes a message out.
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
    /// Says where a message comes from, and leaves its text as it is.
    void mark(std::size_t message, Provenance provenance);

    /// Takes out all thinking, that of the open tool loop only where no rule of the profile asks for it: what it was
    /// bound to has changed outside of the messages.
    void drop_removable_thinking();

    /// Of which text a stored object is the whole original.
    struct Original {
        Serial serial = 0;     ///< of the message
        std::size_t part = 0;  ///< index of the part in it
    };
    /// Asks the commit to store `content` first. If that fails, this edit group's edits are left out. `original` says
    /// of which text this is the whole original, so that it may leave memory. `storage` is where it goes; null: the
    /// environment's own.
    void store_on_commit(std::string key, std::string content, std::optional<Original> original = std::nullopt,
                         std::shared_ptr<Storage> storage = nullptr);
    /// Stores the text of a part as it is now. One that nobody edited is read when it is written, and may leave memory
    /// then.
    void store_text_on_commit(std::string key, std::size_t message, std::size_t part,
                              std::shared_ptr<Storage> storage = nullptr);
    /// Writes what is to be stored now, before the commit, and takes back the edit groups of which something is
    /// refused: what is planned on top then stands on what stays. A dry run writes nothing. Returns the number of
    /// refused edit groups.
    int store_and_drop_refused();

    /// A user's own rewriter or finalizer may edit what is pinned (L7).
    void allow_editing_pinned(bool allow) noexcept;
    /// What another middleware shortened may be edited where its original is stored: the new text has to name it too.
    void allow_editing_foreign_placeholders() noexcept;
    /// The request is too large: results of the open round may be edited too, if nothing else pins them (L7).
    void allow_editing_open_results() noexcept;
    /// Takes back the last edit group's edits and offloads.
    void drop_edit_group(EditGroup edit_group) { drop_edit_groups({edit_group}); }
    /// Takes back several edit groups' edits and offloads in one go.
    void drop_edit_groups(std::vector<EditGroup> edit_groups);
    /// Takes back those of `edit_groups` that break a rule which the history keeps now, with what builds on them, and
    /// returns them: the edit groups that made what breaks the rule, else those next to it; edits of parts that made
    /// nothing worse go last. The history is validated at most O(log edit groups) times; from the fourth time on the
    /// nearest ones go in growing numbers.
    std::vector<EditGroup> drop_invalid_edit_groups(std::vector<EditGroup> edit_groups);

    /// The rules that the history keeps now and what is staged would break: what `commit` refuses. Empty where the
    /// configuration verifies nothing.
    [[nodiscard]] std::vector<Violation> introduced_violations() const;
    /// Whether the host's `before_commit` refuses what is staged; `needs_model` goes into the plan that it sees. Asks
    /// nobody where nothing is staged or no such function is set.
    [[nodiscard]] bool host_would_veto(bool needs_model = false) const;
    /// Verifies, asks `before_commit`, stores, commits. Throws what that function throws, Error(conflict) if the
    /// conversation changed meanwhile, Error(invalid_history) if the result would break a rule that is kept now,
    /// Error(cancelled) and Error(limit_exceeded); then the conversation is as it was. A failure behind these checks,
    /// such as bad_alloc, also takes the edits back.
    CommitResult commit(const CommitOptions& options = {});

protected:
    /// `side` and what `port` is of have to outlive the draft.
    Draft(detail::SideTable& side, std::size_t column, std::string by, EditEnvironment&& environment,
          std::unique_ptr<detail::MessagePort> port);
    Draft(Draft&&) noexcept;
    ~Draft();

    [[nodiscard]] detail::MessagePort& port() const noexcept;
    [[nodiscard]] bool is_open() const noexcept;
    /// The messages of the projection, once it `is_open`: from the first edit on.
    [[nodiscard]] std::span<const void* const> addresses() const noexcept;
    /// As `Conversation::repair`. Nothing may be staged, before or after.
    RepairResult repair(const ValidityProfile& profile, const RepairOptions& options);
    /// `messages`: new ones of the port.
    void replace(std::size_t first, std::size_t last, std::vector<const void*> messages, Provenance provenance);

private:
    std::unique_ptr<detail::DraftState> state_;
};

}  // namespace whittle::inline v0
