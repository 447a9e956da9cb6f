#pragma once

#include "whittle/base/clock.hpp"
#include "whittle/base/hash.hpp"
#include "whittle/storage/storage.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// A conversation that is kept outside of the store.
struct SavedConversationText {
    std::string name_in_reports{};  ///< what reports call it, such as a file's path
    std::string text{};  ///< its side table, or its messages: an object stays whose key stands anywhere in it
};

/// Why an object goes or stays.
enum class RetentionReason {
    unreferenced,     ///< goes: nothing that lives refers to it
    over_size,        ///< goes: likewise, and the store is too large
    purged,           ///< goes: of a conversation that is given up, referred to by no other
    expired,          ///< goes: of a conversation that was saved too long ago, referred to by no other
    referenced,       ///< stays: a conversation that lives refers to it
    log,              ///< stays: the log of a conversation that lives, or what a branch reads of another's
    too_young,        ///< stays: not old enough, or its store does not know how old it is
    recently_active,  ///< stays: in the folder of a conversation that was saved within the time of grace
    unknown,          ///< stays: in the folder of no conversation that is known
};

/// "unreferenced", "over_size", ...
[[nodiscard]] std::string_view to_string(RetentionReason reason) noexcept;

/// An object, and why it goes or stays.
struct RetentionObject {
    std::string key{};                                  ///< of the object
    std::int64_t bytes = 0;                             ///< length of its content
    std::int64_t stored_at_seconds = 0;                 ///< as `ObjectInfo::stored_at_seconds`
    RetentionReason reason = RetentionReason::unknown;  ///< why it goes or stays
    std::string
        conversation{};  ///< who refers to it, or reads it, or whose it is: a conversation's id or a saved one's name
};

/// What is kept, and what is looked at.
struct RetentionOptions {
    /// Gives one conversation after the other that is saved outside of the store, and nullopt after the last. Empty:
    /// none is. Those with a log in the store need not be given.
    std::function<std::optional<SavedConversationText>()> next_saved_conversation{};
    /// Every conversation that lives has a log in the store or comes from `next_saved_conversation`. Without it, what
    /// lies in the folder of no conversation that is known stays.
    bool all_conversations_known = false;
    std::vector<std::string> log_roots =
        std::vector<std::string>(1, "whittle-log");  ///< as `DurableOptions::root`, all that are in use
    std::vector<std::string>
        purge_conversations{};  ///< ids of conversations that go: their logs, and what lies in their folders
    std::int64_t unreferenced_max_age_seconds = 86'400;  ///< what nothing refers to goes when it is that old
    /// Conversations whose logs were last written longer ago go as those in `purge_conversations`. 0: none does.
    std::int64_t conversation_max_idle_seconds = 0;
    /// The store's objects together: above it, what nothing refers to goes from the oldest on, also if it is younger
    /// than `unreferenced_max_age_seconds`. 0: no limit.
    std::int64_t max_bytes = 0;
    std::int64_t grace_seconds = 3'600;                   ///< nothing younger goes, whatever the other options say
    std::shared_ptr<Clock> clock{};                       ///< null: the system's
    std::function<void(const RetentionObject&)> visit{};  ///< told of every object, in order of the keys
    std::function<void()>
        check_cancelled{};  ///< called for each object, and each 64 KiB that are read; what it throws gets out
};

/// So many objects, and their size.
struct RetentionSum {
    std::int64_t objects = 0;  ///< how many
    std::int64_t bytes = 0;    ///< sum of their contents
};

/// What would go. Holds the keys of what goes, and 16 bytes for each object of a log.
struct RetentionPlan {
    std::vector<RetentionObject> to_remove{};        ///< objects in order of their keys, then those of logs
    std::map<RetentionReason, RetentionSum> sums{};  ///< of all objects, those that stay too, by reason
    std::int64_t bytes_before = 0;                   ///< of the store
    std::int64_t bytes_after = 0;                    ///< once it is carried out
    std::vector<Hash128>
        known_log_keys{};  ///< fingerprints of the keys of logs, in order: later ones were not looked at

    /// Of what would go.
    [[nodiscard]] RetentionSum removal_sum() const;
};

/// Says what of `storage` may go. References are followed, not prefixes: an object stays if its key stands in the log
/// of a conversation that lives, or in a saved one. Removes nothing. Throws Error(invalid_argument) if no conversation
/// is known that lives, so that everything would be garbage; Error(conflict) for a conversation in
/// `purge_conversations` whose log was written within `grace_seconds`; Error(invalid_config) that lists every bad
/// option; Error(not_offered) for a store that cannot list; Error(damaged) for a log that cannot be read, since what it
/// refers to is not known. Memory: 24 bytes for each object, with `max_bytes` 40 more for each young one that nothing
/// refers to, 16 for each object of a log, and what goes; one object of a log at a time.
[[nodiscard]] RetentionPlan plan_retention(Storage& storage, const RetentionOptions& options);

/// What came of a plan.
struct RetentionResult {
    RetentionSum removed{};  ///< what is gone
    std::vector<std::string>
        planned_but_kept{};  ///< keys of the plan that are referred to, or were written, since it was made
};

/// Removes what `plan` says, while others write: what is new in the logs since it was made is read first, and again
/// after each 256 objects, and in front of each object the next entry of its conversation's log, if there is one. What
/// that refers to, and the folder and the log of a conversation that wrote there, are kept, and so is an object that
/// was written again. What a writer outside of the logs refers to since the plan was made is not known: then make a new
/// plan. The same options as for the plan. Throws what the store throws: what was removed until then is gone, and the
/// rest may be planned again.
RetentionResult execute_retention(Storage& storage, const RetentionPlan& plan, const RetentionOptions& options);

}  // namespace whittle::inline v0
