#pragma once

#include "whittle/chain/detail/evictions.hpp"
#include "whittle/chain/detail/hook_run.hpp"
#include "whittle/chain/detail/open_calls.hpp"
#include "whittle/chain/detail/repeated_calls.hpp"
#include "whittle/chain/middleware.hpp"

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

namespace detail {

template <typename T>
struct StageTraits {};
template <typename T>
requires requires { typename T::message_type; }
struct StageTraits<T> {
    using message_type = typename T::message_type;
};
template <typename T>
struct StageTraits<std::shared_ptr<T>> : StageTraits<T> {};
template <typename T>
using StageMessage = typename StageTraits<std::remove_cvref_t<T>>::message_type;

/// Fails to compile where a stage is for another message type than its chain. The compiler's message has all three.
template <typename Stage, typename StageIsFor, typename ChainIsFor>
struct SameMessageType {
    static_assert(std::is_same_v<StageIsFor, ChainIsFor>,
                  "a stage is for another message type than its chain: SameMessageType<...> beside this line names the "
                  "stage, its message type and that of the chain. A stage without a type, as in Reduction{...}, is for "
                  "ChatMessage: write Reduction<M>{...}");
};

template <AgentMessage M, typename S>
std::shared_ptr<Middleware<M>> to_stage(S&& stage) {
    if constexpr (!std::is_same_v<StageMessage<S>, M>) {
        [[maybe_unused]] const SameMessageType<std::remove_cvref_t<S>, StageMessage<S>, M> required;
        return nullptr;
    } else if constexpr (std::convertible_to<S, std::shared_ptr<Middleware<M>>>) {
        return std::forward<S>(stage);
    } else {
        return std::make_shared<std::remove_cvref_t<S>>(std::forward<S>(stage));
    }
}

/// Checks the chain's own settings and the names.
void check_chain(const ChainInfo& info, Problems& problems);
void emit_warning(const EventSink& events, const Problem& problem) noexcept;
/// The tools that go with a chain's settings.
[[nodiscard]] std::vector<Tool> own_tools(const ChainConfig& config);

}  // namespace detail

/// A value of a middleware class, or a shared pointer to one.
template <typename T>
concept ChainStage = requires {
    typename detail::StageMessage<T>;
}
&&(std::derived_from<std::remove_cvref_t<T>, Middleware<detail::StageMessage<T>>> ||
   std::convertible_to<T, std::shared_ptr<Middleware<detail::StageMessage<T>>>>);

/// An ordered list of middlewares with shared settings. before-hooks run in list order, after-hooks in reverse, wraps
/// nest with the first one outermost. Immutable: one chain may serve many conversations, each on one thread at a time.
template <AgentMessage M = ChatMessage>
class Chain {
public:
    /// The middlewares, in list order. Shared: one middleware may be in several chains.
    using Stages = std::vector<std::shared_ptr<Middleware<M>>>;

    /// Throws Error(invalid_config) that lists every problem. Warnings go to `config_warnings()` and to `on_event`.
    Chain(ChainConfig config, ChainCallbacks<M> callbacks, Stages stages)
        : config_(std::move(config)), callbacks_(std::move(callbacks)), stages_(std::move(stages)) {
        check_configuration();
    }
    explicit Chain(ChainConfig config, Stages stages = {}) : Chain(std::move(config), {}, std::move(stages)) {}

    /// Takes middlewares by value, or as shared pointers where the caller wants to keep one.
    template <ChainStage First, ChainStage... Rest>
    Chain(ChainConfig config, First first, Rest... rest)
        : Chain(std::move(config), ChainCallbacks<M>{}, std::move(first), std::move(rest)...) {}
    template <ChainStage First, ChainStage... Rest>
    Chain(ChainConfig config, ChainCallbacks<M> callbacks, First first, Rest... rest)
        : Chain(std::move(config), std::move(callbacks),
                Stages{detail::to_stage<M>(std::move(first)), detail::to_stage<M>(std::move(rest))...}) {}

    /// The settings that it was made with.
    [[nodiscard]] const ChainConfig& config() const noexcept { return config_; }
    /// The callbacks that it was made with.
    [[nodiscard]] const ChainCallbacks<M>& callbacks() const noexcept { return callbacks_; }
    /// Its middlewares, in list order.
    [[nodiscard]] const Stages& stages() const noexcept { return stages_; }
    /// Doubtful settings that were found when the chain was made.
    [[nodiscard]] const std::vector<Problem>& config_warnings() const noexcept { return warnings_; }
    /// The configured roots of keys, beside the conversations' ids: what loading a saved conversation is told.
    [[nodiscard]] const std::vector<std::string>& extra_readable_roots() const noexcept { return roots_; }
    /// The language of its notices: the configured one, else `default_language()` as it is now.
    [[nodiscard]] Language language() const noexcept { return config_.language.value_or(default_language()); }

    /// The tools that go with the chain, each name once: `read_offloaded` where it has a storage, then what its
    /// middlewares offer. `AgentLoop` adds them to those of the host.
    [[nodiscard]] std::vector<Tool> tools() const {
        std::vector<Tool> tools = detail::own_tools(config_);
        for (const auto& stage : stages_) detail::add_missing(tools, stage->tools(config_));
        return tools;
    }
    /// Warns of what the middlewares miss among the tools, once for a chain; later calls do nothing. Thread-safe. The
    /// first `before_model` does it if nobody has.
    void warn_missing_tools(std::span<const ToolSpec> tools) const;

    // Hooks. Each returns the conversation's report, valid until its next hook. Under OnError::propagate they throw,
    // with the conversation as it was before the hook.
    /// Before a run: once, not before each model call.
    const Report& before_agent(Conversation<M>& conversation, const HookRequest<M>& request = {}) const {
        return run(conversation, request, Hook::before_agent, [](auto& m, Turn<M>& turn) { m.before_agent(turn); });
    }
    /// Before each model call: this is what makes the conversation smaller.
    const Report& before_model(Conversation<M>& conversation, const HookRequest<M>& request = {}) const {
        warn_missing_tools(request.tools);
        return run(conversation, request, Hook::before_model, [](auto& m, Turn<M>& turn) { m.before_model(turn); });
    }
    /// After a reply was appended.
    const Report& after_model(Conversation<M>& conversation, const HookRequest<M>& request = {}) const {
        return run(conversation, request, Hook::after_model, [](auto& m, Turn<M>& turn) { m.after_model(turn); });
    }
    /// After a run, however it ended.
    const Report& after_agent(Conversation<M>& conversation, RunOutcome outcome,
                              const HookRequest<M>& request = {}) const {
        return run(conversation, request, Hook::after_agent,
                   [outcome](auto& m, Turn<M>& turn) { m.after_agent(turn, outcome); });
    }

    /// The model was asked for more than it takes. Middlewares shrink the conversation in list order until its count is
    /// at most the learnt window less the reserve. True if it got smaller.
    bool on_overflow(Conversation<M>& conversation, const Overflow& overflow, const HookRequest<M>& request = {}) const;

    /// The host's button: middlewares shrink the conversation in list order, below any trigger, until it has the
    /// target. What is protected stays, so that it may end above it; the report's `tokens_after` says. Between hooks,
    /// at any time. Throws Error(invalid_argument) for a bad option, invalid_config for bad limits, else as the other
    /// hooks.
    const Report& compact_now(Conversation<M>& conversation, const CompactOptions& options = {},
                              const HookRequest<M>& request = {}) const;

    /// A model call through all `wrap_model`s. Throws what the model throws; under OnError::skip, a middleware that
    /// throws something else is reported and passed over.
    Reply<M> generate(Model<M>& model, const ModelRequest<M>& request) const {
        return generate_from(0, model, request);
    }

    /// The calls of the open round that wait for a result, in order, with their object names.
    [[nodiscard]] std::vector<ToolContext> pending_tool_calls(const Conversation<M>& conversation,
                                                              const HookRequest<M>& request = {}) const;
    /// A tool call through all `wrap_tool`s. Thread-safe. Throws what the tool or a middleware throws; under
    /// OnError::skip not what a middleware throws after the tool has written into `out`.
    ToolOutcome wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& tool) const {
        return wrap_from(0, context, out, tool);
    }

    /// The results that the host's `messages` hold, each through all `wrap_tool`s: those that a call of the open round
    /// waits for. To be pushed, or synced, with these messages. `on_event` is told what the chain's own is told
    /// meanwhile. Throws as `wrap_tool`.
    [[nodiscard]] std::vector<ToolReturn> wrap_results(const Conversation<M>& conversation, std::span<const M> messages,
                                                       const HookRequest<M>& request = {},
                                                       const EventSink& on_event = {}) const;

    /// How many messages no middleware plans to touch before its next trigger: where a prompt-cache mark can stand.
    [[nodiscard]] std::size_t count_stable_messages(const Conversation<M>& conversation) const {
        std::size_t prefix = conversation.size();
        for (const auto& stage : stages_) prefix = (std::min)(prefix, stage->expected_stable_prefix(conversation));
        return prefix;
    }
    /// The window that triggers see: the profile's, or a smaller one learnt from an overflow. 0: unknown.
    [[nodiscard]] std::int64_t context_window(Conversation<M>& conversation) const {
        return detail::known_window(conversation.notes(detail::chain_notes), config_.profile);
    }

private:
    using HookCall = FunctionRef<void(Middleware<M>&, Turn<M>&)>;
    class Run;
    class RepairStage;
    class ThinkingStage;

    void check_configuration();
    void add_own_stages();
    void allow_roots(const Conversation<M>& conversation) const;
    const Report& run(Conversation<M>& conversation, const HookRequest<M>& request, Hook hook, HookCall call) const;
    Reply<M> generate_from(std::size_t stage, Model<M>& model, const ModelRequest<M>& request) const;
    ToolOutcome wrap_from(std::size_t stage, const ToolContext& context, PartSink& out, const ToolNext& tool) const;

    ChainConfig config_;
    ChainCallbacks<M> callbacks_;
    Stages stages_;
    Stages own_stages_{};  // in front of these
    std::vector<Problem> warnings_{};
    std::vector<std::string> roots_{};                         // where stages store, beside the conversations' ids
    std::shared_ptr<const std::vector<std::string>> names_{};  // of all stages; shared with reports
    std::shared_ptr<std::atomic_flag> tools_checked_ = std::make_shared<std::atomic_flag>();
};

template <ChainStage First, ChainStage... Rest>
Chain(ChainConfig, First, Rest...) -> Chain<detail::StageMessage<First>>;
template <AgentMessage M, ChainStage First, ChainStage... Rest>
Chain(ChainConfig, ChainCallbacks<M>, First, Rest...) -> Chain<M>;
template <AgentMessage M>
Chain(ChainConfig, ChainCallbacks<M>, std::vector<std::shared_ptr<Middleware<M>>>) -> Chain<M>;

}  // namespace whittle::inline v0

#include "whittle/chain/detail/chain.hpp"
#include "whittle/chain/detail/own_stages.hpp"

#define WHITTLE_DEFINES_CHAIN
#include "whittle/base/detail/compiled_types.hpp"
