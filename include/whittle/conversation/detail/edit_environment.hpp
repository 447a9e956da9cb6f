#pragma once

#include "whittle/base/clock.hpp"
#include "whittle/base/event.hpp"
#include "whittle/base/platform.hpp"
#include "whittle/base/version.hpp"
#include "whittle/conversation/report.hpp"
#include "whittle/message/validity.hpp"
#include "whittle/storage/storage.hpp"
#include "whittle/tokens/counter.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace whittle::inline v0 {

/// What is done about thinking that a provider binds to everything in front of it, when something in front is edited.
enum class ThinkingOnPrefixEdit {
    mark,  ///< keep it, and ask the provider to pass over it: `ModelRequest::thinking_prefix_edited`
    drop,  ///< take it out in the same commit, as far as the validity profile allows; what has to stay is marked
};

/// What is left of `ChainConfig::limits` in a hook.
struct HookBudget {
    int model_calls = 0;                   ///< calls that middlewares may still make of a model
    std::int64_t store_bytes = INT64_MAX;  ///< that may still be written to the store
    UnixMillis deadline = INT64_MAX;       ///< when the hook has to be done
};

/// What a transaction works with. A chain fills it in; the defaults make a transaction of its own: verified as for
/// OpenAI's chat interface, without a store, with the system's clock. Pointers are not owned and must outlive the
/// transaction.
struct EditEnvironment {
    std::shared_ptr<const TokenCounter> counter = chars_counter();  ///< of tokens, before and after
    std::shared_ptr<Storage> storage{};  ///< for originals; null: storing one throws Error(invalid_argument)
    const ValidityProfile* validity = &openai_chat();  ///< the provider's rules; null: none
    bool verify = true;                                ///< refuse commits that break one of them anew
    std::shared_ptr<Clock> clock = system_clock();     ///< for times in marks and the journal, and the deadline
    bool dry_run = false;                              ///< plan and report, change nothing
    StopToken stop{};                                  ///< once it is asked for, a commit throws Error(cancelled)
    HookBudget* budget = nullptr;                      ///< null: without bounds
    const std::function<bool(const MessageInfo&)>* pins =
        nullptr;                     ///< further messages that stay as they are; null: none
    Hook hook = Hook::before_model;  ///< in which the transaction runs
    const std::function<bool(const CommitPlan&)>* before_commit = nullptr;  ///< false: nothing is committed
    StageReport* report = nullptr;                                          ///< filled in; null: no report
    const EventSink* events = nullptr;                                      ///< who is told; null: nobody
    std::optional<ThinkingOnPrefixEdit>
        thinking_on_prefix_edit{};  ///< absent: the model does not bind thinking to its prefix
};

namespace detail {

/// Throws Error(cancelled) or Error(limit_exceeded).
void require_budget(const EditEnvironment& environment, std::string_view by, std::int64_t bytes);
/// Tells of writes that a store refused, as one event of kind "store_failed": how many, which was the first, and why.
/// `events` null: nobody listens.
void emit_store_failures(const EventSink* events, std::string_view by, std::string_view conversation,
                         std::span<const StoreFailure> failures) noexcept;

}  // namespace detail

}  // namespace whittle::inline v0
