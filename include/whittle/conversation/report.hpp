#pragma once

#include "whittle/conversation/detail/callback_context.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/message/part.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// Where in an agent's run a chain is called.
enum class Hook {
    before_agent,
    before_model,
    wrap_model,
    after_model,
    wrap_tool,
    on_overflow,
    after_agent,
    compact_now,  ///< the host asked for it
};

/// "before_agent", "before_model", ...
[[nodiscard]] std::string_view to_string(Hook hook) noexcept;

/// What a middleware's hook run came to.
enum class Outcome {
    not_applicable,  ///< it has nothing to do in this hook
    not_due,         ///< count <= threshold, or `StageReport::not_due_reason` says why not yet
    cooling_down,    ///< due, but an earlier plan freed too little and the conversation has not grown enough since
    nothing,         ///< due, but there is nothing it may take
    too_small,       ///< the plan frees less than asked for
    committed,
    planned,       ///< dry run: it would have committed
    store_failed,  ///< nothing committed because of the store
    vetoed,        ///< the host's `ChainConfig::before_commit` said no
    failed,        ///< an error; the conversation is as it was before
};

/// "not_applicable", "not_due", ...
[[nodiscard]] std::string_view to_string(Outcome outcome) noexcept;

/// What a middleware is about to commit, before edit groups that a store refuses and thinking that becomes void go on
/// top. A view: valid during the call of `ChainConfig::before_commit` only.
struct CommitPlan : CallbackContext {
    std::string_view middleware{};           ///< name of who commits
    Hook hook = Hook::before_model;          ///< in which it commits
    std::string_view reason{};               ///< that the provenance of the first edit names, such as "summary"
    Outline before{};                        ///< of all messages, as they are
    Outline after{};                         ///< as they would be
    std::span<const Serial> touched{};       ///< messages of `before` that change or go
    std::size_t first_changed = 0;           ///< index of the first message that differs: what a prompt cache keeps
    std::int64_t message_tokens_before = 0;  ///< of the messages, by the chain's counter
    std::int64_t message_tokens_after = 0;   ///< as they would be
    bool needs_model = false;  ///< a summary has to be paid for first: `after` has a few words in its place
};

/// One thing that a plan looked at.
struct Candidate {
    Serial serial = 0;              ///< of the message
    std::size_t part = 0;           ///< index of the part in it
    bool removed = false;           ///< false: kept, or the stage failed
    std::string_view rule{};        ///< id of the rule that decided; static text
    std::int64_t tokens_freed = 0;  ///< of what was cut; else 0
};

/// A model call that a middleware made for itself, such as for a summary.
struct ModelCallReport {
    std::string purpose{};          ///< `ModelRequest::purpose`
    std::optional<Usage> usage{};   ///< as billed; absent if the provider did not say
    std::int64_t milliseconds = 0;  ///< by the chain's clock
    std::string error{};            ///< empty: it worked
};

/// An object that the store did not take.
struct StoreFailure {
    std::string key{};     ///< of the object
    std::string reason{};  ///< what the store threw
};

/// One thing that a repair mended.
struct Repair {
    Serial serial = 0;          ///< of the message that was broken; 0 if one is added to the list
    std::size_t part = 0;       ///< index of the part in it; 0 where the whole message is meant
    std::string_view code{};    ///< such as "missing_result"; static text, docs/chain.md has the list
    std::string description{};  ///< what was done, for a person

    friend bool operator==(const Repair&, const Repair&) = default;
};

/// The long part of a report: only due or explained runs have one.
struct StageDetails {
    std::int64_t tokens_before = 0;              ///< of the messages, by the chain's counter
    std::int64_t tokens_after = 0;               ///< the same, after what was committed or planned
    std::optional<std::size_t> first_changed{};  ///< index of the first edited message
    std::int64_t cached_tokens_invalidated = 0;  ///< estimated tokens behind it that the last request had sent
    /// What the plan chose; with `ChainConfig::explain` also what it kept.
    std::vector<Candidate> candidates{};
    std::vector<std::string> stored_keys{};      ///< keys written
    std::int64_t bytes_stored = 0;               ///< sum of the contents written
    std::vector<StoreFailure> store_failures{};  ///< objects that the store did not take
    std::vector<ModelCallReport> model_calls{};  ///< that the middleware made for itself
    std::vector<Repair> repairs{};               ///< what was mended (`Conversation::repair`)
    std::int64_t violations_left = 0;            ///< rules that are still broken after a repair
    bool thinking_prefix_edited = false;         ///< the commit changed what kept thinking is bound to
    std::int64_t thinking_parts_dropped = 0;     ///< thinking parts that went because of that
    std::string error{};                         ///< what went wrong, for a person; empty: nothing
};

/// One record per middleware and hook run. Fixed size: a run that is not due allocates nothing.
struct StageReport {
    std::string_view middleware{};              ///< kept alive by `Report::names`
    Hook hook = Hook::before_model;             ///< in which it ran
    Outcome outcome = Outcome::not_applicable;  ///< what came of it
    std::string_view counter{};                 ///< id of the counter that judged
    std::int64_t count = 0;                     ///< tokens; messages where `Trigger::context_messages` decided
    std::int64_t threshold = 0;                 ///< in the same unit
    std::shared_ptr<StageDetails> details{};    ///< null: nothing beyond this record
    /// Why it is not due above `threshold`, such as "does_not_pay_yet"; static text. Empty: the outcome says it.
    std::string_view not_due_reason{};

    StageDetails& ensure_details();  ///< makes the details if there are none
};

/// What one hook of a chain did. Belongs to the conversation and is valid until its next hook.
struct Report {
    Hook hook = Hook::before_model;  ///< that ran
    /// Of each middleware, in the order in which they ran. In front stand the chain's own stages that had something to
    /// do, behind those of a second run that makes the request fit.
    std::vector<StageReport> stages{};
    std::shared_ptr<const void> names{};  ///< what the names of the stages point into; outlives the chain
    std::int64_t tokens_before = 0;       ///< of the whole request, by the chain's count
    std::int64_t tokens_after = 0;        ///< of the whole request, after the hook
    double calibration = 1.0;             ///< billed tokens for one of the estimate (`ContextCount`)
    double calibration_relative_error =
        0.0;                        ///< how far off `tokens_before` was lately, as a part of it (`ContextCount`)
    std::int64_t milliseconds = 0;  ///< by the chain's clock
    std::string conversation{};     ///< its id

    /// Whether a middleware has committed.
    [[nodiscard]] bool changed() const noexcept;
    /// The first record of a middleware, by its name; null if there is none. Valid as long as the report.
    [[nodiscard]] const StageReport* find(std::string_view middleware) const noexcept;
};

namespace detail {

/// What `stage` chose was not done: no candidate is cut, each by the rule "vetoed".
void note_veto(StageReport& stage) noexcept;
/// What `stage` did was taken back because of `error`: it committed nothing and cut nothing.
void take_back(StageReport& stage, std::string error);
/// What every stage did that committed was taken back: the last one, which failed, took them along.
void take_back_commits(Report& report);

}  // namespace detail

/// What a stage came to, for a person: "not due: not above its limit".
[[nodiscard]] std::string outcome_text(const StageReport& stage);

/// A few lines for a person: what each middleware decided, and why. What went wrong stands first.
[[nodiscard]] std::string to_text(const Report& report);

/// `to_text(report)` with the host's own names for messages: a report knows only their serials.
[[nodiscard]] std::string to_text(const Report& report, const std::function<std::string(Serial)>& name_message);

/// What `Conversation::sync` found.
struct SyncResult {
    std::size_t common_prefix = 0;        ///< messages that were the same
    std::size_t appended = 0;             ///< messages that are new at the end
    std::size_t removed_or_replaced = 0;  ///< our messages that the host no longer has
    bool diverged = false;                ///< the host changed or removed something that we had
    std::uint64_t version = 0;            ///< with which the host's list is in step: what `apply_to` wants
};

}  // namespace whittle::inline v0
