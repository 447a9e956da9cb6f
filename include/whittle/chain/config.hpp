#pragma once

#include "whittle/base/clock.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/event.hpp"
#include "whittle/base/language.hpp"
#include "whittle/base/random.hpp"
#include "whittle/conversation/detail/edit_environment.hpp"
#include "whittle/conversation/report.hpp"
#include "whittle/conversation/tool.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/message/detail/message_view.hpp"
#include "whittle/message/part.hpp"
#include "whittle/message/validity.hpp"
#include "whittle/storage/storage.hpp"
#include "whittle/tokens/counter.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// How a provider caches prompts. Prices are relative to the plain input price.
struct CacheProfile {
    std::string name = "no_cache";        ///< as configurations name it
    double read = 1.0;                    ///< price of a token read from the cache, relative to the input price
    double write = 1.0;                   ///< price of a token that is not read from it
    std::int64_t ttl_seconds = 0;         ///< lifetime since the last use; 0: nothing is cached
    std::int64_t min_prefix_tokens = 0;   ///< tokens that a cached prefix has at least
    std::int64_t prefix_step_tokens = 1;  ///< a cached prefix is a multiple of this many tokens

    friend bool operator==(const CacheProfile&, const CacheProfile&) = default;
};

/// Money per million tokens, in any currency.
struct PricesPerMillion {
    double input = 0.0;        ///< money per million input tokens
    double cache_read = 0.0;   ///< money per million tokens read from the cache
    double cache_write = 0.0;  ///< money per million tokens written to the cache
    double output = 0.0;       ///< money per million output tokens

    friend bool operator==(const PricesPerMillion&, const PricesPerMillion&) = default;
};

/// What the chain knows of the agent's model.
struct ModelProfile {
    std::string name{};                        ///< the model's name, for reports
    std::int64_t context_window = 0;           ///< tokens that the model takes; 0: unknown
    std::int64_t output_reserve = 0;           ///< tokens of the window kept free for the reply
    std::optional<PricesPerMillion> prices{};  ///< without prices there are no money figures
    CacheProfile cache{};                      ///< how the provider caches prompts, by name or numbers of your own
    ValidityProfile validity = openai_chat();  ///< message rules that every edit keeps to
    /// Thinking is void once something in front of it was edited; docs/message.md.
    bool thinking_bound_to_prefix = false;
};

/// Bounds of one hook.
struct HookLimits {
    int model_calls = 32;                         ///< model calls in one hook
    std::int64_t store_bytes = 0;                 ///< bytes stored in one hook; 0: no limit
    std::chrono::milliseconds deadline{120'000};  ///< milliseconds that one hook may take
};

/// What `Chain::compact_now` is to do. Serials are those of the outline; `Outline::cut_points` has places that cut no
/// tool round.
struct CompactOptions {
    std::int64_t target_tokens = 0;       ///< of the whole request, as triggers count; 0: half of what it has
    std::optional<Serial> from{};         ///< messages in front of this one stay as they are; absent: the first
    std::optional<Serial> stop_before{};  ///< this one and all behind it stay as they are; absent: none
    std::optional<HookLimits> limits{};   ///< what may be spent; absent: the chain's
    bool dry_run = false;                 ///< plan and report, write nothing; the report lists every candidate
};

/// Tools whose results stay: what a skill says holds until the end. A call, not a list in braces: g++ 12 breaks off
/// where a template makes a temporary of a struct with such an initialiser.
[[nodiscard]] inline std::vector<std::string> default_protected_tools() { return {"skill"}; }

/// Settings of a whole chain; every field has a default.
struct ChainConfig {
    std::shared_ptr<const TokenCounter> token_counter = chars_counter();  ///< how tokens are counted, for every trigger
    ModelProfile profile{};                                               ///< the agent's model
    std::shared_ptr<Storage> storage{};  ///< takes what is cut out; without one the journal alone keeps it
    std::vector<std::string> protected_tools = default_protected_tools();  ///< tools whose results always stay
    std::function<bool(const MessageInfo&)> pins{};                        ///< further messages that stay as they are
    /// Asked before each commit of a middleware, on the hook's thread; false: nothing of it is committed
    /// (`Outcome::vetoed`). What it throws fails the middleware. Not asked in dry runs, nor for the chain's own
    /// repairs.
    std::function<bool(const CommitPlan&)> before_commit{};
    HookLimits limits{};  ///< bounds of one hook
    bool verify = true;   ///< check every edit for new violations of `profile.validity`
    bool repair = false;  ///< mend what breaks `profile.validity` before each model call. O(messages) a call
    /// With `profile.thinking_bound_to_prefix`: `mark` the request, or `drop` thinking that an edit made void.
    ThinkingOnPrefixEdit thinking_on_prefix_edit = ThinkingOnPrefixEdit::mark;
    OnError on_error = OnError::skip;    ///< a failing middleware: `skip` it and report, or `propagate` the error
    bool dry_run = false;                ///< plan and report, write nothing
    bool explain = false;                ///< reports list every candidate with its rule
    std::optional<Language> language{};  ///< language of notices: `en` or `zh`. Absent: `default_language()`
    std::shared_ptr<Clock> clock = system_clock();  ///< time of records, pauses and limits
    std::shared_ptr<IdSource> ids =
        random_ids();  ///< new ids, for middlewares of your own; those of whittle ask for none
    std::shared_ptr<Random> random = system_random();  ///< of the jitter between attempts
};

/// A tool result that a hook took out of the request, in whole or in part. A view, valid during the call.
struct EvictedResult {
    std::string_view conversation{};             ///< id
    std::string_view middleware{};               ///< name of who took it out
    Serial serial = 0;                           ///< of the message that held it
    std::string_view tool{};                     ///< empty if its call does not say
    std::string_view call_id{};                  ///< of its call
    std::string_view arguments{};                ///< of its call, as the model wrote them; empty where they went before
    std::span<const std::string> stored_keys{};  ///< keys of the objects that hold it
    bool is_in_summary = false;  ///< a summary stands for its message; else something shorter in its place
};

/// What takes a message type or gets called back.
template <AgentMessage M = ChatMessage>
struct ChainCallbacks {
    /// Counts a whole request instead of `ChainConfig::token_counter`. O(n) per call; below 0 counts as 0.
    std::function<std::int64_t(const CallbackContext&, MessageView<M>)> conversation_counter{};
    /// Warnings, failures and what was done; empty: nobody listens.
    EventSink on_event{};
    std::function<void(const Report&)> on_report{};  ///< after each hook; what it throws is dropped
    /// Tells the host's tools and guards what the model no longer sees: a file may be read again. Once for each result
    /// when it first becomes less, after the hook's commits stand, on its thread; what it throws is dropped.
    std::function<void(const EvictedResult&)> on_evicted{};
};

template <typename Config>
struct MiddlewareType;
template <AgentMessage M>
struct MiddlewareBuildContext;

/// What a middleware's configuration check can see of the chain it is in.
struct ChainInfo {
    const ChainConfig& config;                      ///< settings of the chain
    std::span<const std::string_view> middlewares;  ///< names, in order
    std::span<const std::string_view>
        exclusive_tasks{};  ///< what `Middleware::exclusive_task` says of each; empty: nobody knows

    /// How many in front of the middleware of that name have the same task.
    [[nodiscard]] std::size_t count_same_task_before(std::string_view name) const noexcept;
};

/// The task of a middleware that folds the history into a summary.
inline constexpr std::string_view fold_history_task = "fold";

/// What a middleware puts into a storage.
struct StoreUse {
    std::string field{};                         ///< dotted name of the setting that a warning names
    const Storage* own = nullptr;                ///< where it stores, in place of the chain's storage
    std::string_view reader_tool = "read_file";  ///< the tool that its notices name, else `read_offloaded`
    bool has_media = false;                      ///< it stores media too, not only texts
};

/// Warns where a middleware stores what no tool of the request shows again.
void check_reader(const StoreUse& use, const ChainInfo& chain, std::span<const ToolSpec> tools, Problems& problems);

/// The cache profiles that configurations can name:
///
/// | name           | read | write | lifetime | minimum | step |
/// |----------------|------|-------|----------|---------|------|
/// | `anthropic_5m` | 0.1  | 1.25  | 300 s    | 1,024   | 1    |
/// | `anthropic_1h` | 0.1  | 2     | 3,600 s  | 1,024   | 1    |
/// | `openai`       | 0.1  | 1     | 600 s    | 1,024   | 128  |
/// | `openai_2026`  | 0.1  | 1.25  | 1,800 s  | 1,024   | 128  |
/// | `local`        | 0.05 | 1     | 1 day    |         | 1    |
/// | `no_cache`     | 1    | 1     | none     |         |      |
///
/// Entered 2026-11-21 from the cost model that the replay figures are defined by, which names the providers' pages
/// "Prompt caching" (Anthropic: cache writes for five minutes, or for an hour at twice the input price; OpenAI:
/// automatic caching, in 2026 with a price for writing) as its sources. Providers change them: a configuration can give
/// numbers of its own. `local` is a server of one's own that keeps the prompt of a conversation, in time instead of
/// money: a token that changed is read again, one that stayed slows down each token that is written. 0.05 is 150 tokens
/// of output a call at a slope of 0.2 us for each token in the context, against 0.6 ms of reading it; docs/tokens.md
/// says how to measure a server's own.
[[nodiscard]] std::span<const CacheProfile> cache_profiles() noexcept;

/// The profile of that name, or null.
[[nodiscard]] const CacheProfile* find_cache_profile(std::string_view name) noexcept;

}  // namespace whittle::inline v0
