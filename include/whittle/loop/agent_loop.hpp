#pragma once

#include "whittle/base/platform.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/loop/detail/jobs.hpp"
#include "whittle/loop/detail/model_for_chain.hpp"
#include "whittle/model/detail/delta_watch.hpp"
#include "whittle/model/detail/function_model.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// Settings of an agent's loop.
struct LoopConfig {
    int max_steps = 100;   ///< model calls in one run, 1 or more
    int tool_threads = 1;  ///< tools of one reply at the same time, 1 to 64; threads are started only above 1
    std::string system{};  ///< system text beside the messages
    bool offer_read_offloaded = true;  ///< adds that tool if the chain has a storage and no tool has its name
    bool offer_fetch_media = true;     ///< the same, if a middleware of the chain offers it
};

/// What a host may watch. Called on the thread that runs the loop, one at a time; what these throw fails the run. With
/// several `tool_threads`, tools start in call order and `on_tool_end` comes in the order in which they end.
struct LoopCallbacks {
    DeltaSink on_delta{};  ///< asks the model to stream
    /// A reply that had begun to stream turned out too large, and the model is asked again with a smaller conversation:
    /// the host discards what it showed of this reply. Absent: the run fails instead, since the beginning would come
    /// twice; the conversation is smaller by then, so that `run(conversation)` may go on.
    std::function<void()> on_stream_restart{};
    std::function<void(const ToolContext&)>
        on_tool_start{};  ///< before each call is handed to its tool, also one that is refused
    /// With its result as the model will see it.
    std::function<void(const ToolContext&, const ToolResult&)> on_tool_end{};
};

/// How a run ended, and what it took.
struct RunResult {
    std::string text{};                       ///< the answer, or the direct result; what there was of it otherwise
    RunOutcome outcome = RunOutcome::failed;  ///< how it ended
    int steps = 0;                            ///< model calls made
    Usage usage{};                            ///< sum over the run
    int silent_truncations = 0;      ///< requests of which the provider billed so little that it must have cut them
    std::string error{};             ///< failed: why; for a request that is too large with the numbers
    std::exception_ptr exception{};  ///< what ended the run, if it was thrown; else null
    std::vector<Problem>
        config_warnings{};  ///< doubtful settings of the chain, such as a trigger above the model's window
};

/// Throws Error(invalid_config) that lists every problem.
void check_loop(const LoopConfig& config, std::span<const Tool> tools, bool has_model);

namespace detail {

/// How a tool call came out.
struct ToolRun {
    ToolReturn result{};
    std::exception_ptr failure{};  ///< what a middleware threw under OnError::propagate after the tool had run
};

}  // namespace detail

/// Asks the model, runs the tools it asks for, and asks again, with a chain around all of it. One loop may run several
/// conversations, each on one thread. The model is offered `tools`, and those that go with the chain (`Chain::tools`).
template <ToolMessage M = ChatMessage>
class AgentLoop {
public:
    AgentLoop(std::shared_ptr<Model<M>> model, std::vector<Tool> tools, Chain<M> chain, LoopConfig config = {},
              LoopCallbacks callbacks = {});
    /// Without tools of its own.
    AgentLoop(std::shared_ptr<Model<M>> model, Chain<M> chain, LoopConfig config = {}, LoopCallbacks callbacks = {})
        : AgentLoop(std::move(model), {}, std::move(chain), std::move(config), std::move(callbacks)) {}
    /// The model is a function that takes `const ModelRequest<M>&` and gives `Reply<M>` or `M`.
    template <detail::ModelFunction<M> F>
    AgentLoop(F model, std::vector<Tool> tools, Chain<M> chain, LoopConfig config = {}, LoopCallbacks callbacks = {})
        : AgentLoop(detail::to_model<M>(std::move(model)), std::move(tools), std::move(chain), std::move(config),
                    std::move(callbacks)) {}
    template <detail::ModelFunction<M> F>
    AgentLoop(F model, Chain<M> chain, LoopConfig config = {}, LoopCallbacks callbacks = {})
        : AgentLoop(detail::to_model<M>(std::move(model)), {}, std::move(chain), std::move(config),
                    std::move(callbacks)) {}
    /// Never compiles: says what is wrong with what should be a model, or with a chain for another message type.
    template <typename T, AgentMessage ChainIsFor>
    requires(!detail::StandsForModel<T, M> || !std::is_same_v<ChainIsFor, M>)
        AgentLoop(T, std::vector<Tool>, const Chain<ChainIsFor>& chain, LoopConfig = {}, LoopCallbacks = {})
        : chain_(chain.config()) {
        [[maybe_unused]] const detail::ModelForChain<typename detail::PointedAt<T>::type, ChainIsFor> required;
    }
    template <typename T, AgentMessage ChainIsFor>
    requires(!detail::StandsForModel<T, M> || !std::is_same_v<ChainIsFor, M>)
        AgentLoop(T, const Chain<ChainIsFor>& chain, LoopConfig = {}, LoopCallbacks = {})
        : chain_(chain.config()) {
        [[maybe_unused]] const detail::ModelForChain<typename detail::PointedAt<T>::type, ChainIsFor> required;
    }

    /// Starts a turn with a user message.
    RunResult run(Conversation<M>& conversation, M user, StopToken stop = {});
    RunResult run(Conversation<M>& conversation, std::string_view user, StopToken stop = {}) {
        return run(conversation, message_traits<M>::make(Role::user, user), std::move(stop));
    }
    /// Goes on with what is in the conversation. Never throws for what the model, a tool or a middleware does: the
    /// result says how it ended, and no call is left without a result.
    RunResult run(Conversation<M>& conversation, StopToken stop = {});

    /// Its chain, for `config_warnings()` and hooks of your own.
    [[nodiscard]] const Chain<M>& chain() const noexcept { return chain_; }
    /// What the model is told of the tools, those of the chain included.
    [[nodiscard]] std::span<const ToolSpec> tool_specs() const noexcept { return specs_; }

private:
    [[nodiscard]] HookRequest<M> request(StopToken stop) const {
        return {specs_, config_.system, model_.get(), std::move(stop)};
    }
    void run_steps(Conversation<M>& conversation, const HookRequest<M>& request, RunResult& result,
                   std::vector<ToolReturn>& pending);
    [[nodiscard]] Reply<M> ask(Conversation<M>& conversation, const HookRequest<M>& request);
    [[nodiscard]] Reply<M> generate_once(Conversation<M>& conversation, const HookRequest<M>& request,
                                         const DeltaSink* on_delta);
    [[nodiscard]] bool was_truncated(Conversation<M>& conversation, const HookRequest<M>& request,
                                     const Usage& usage) const;
    bool run_tools(Conversation<M>& conversation, const HookRequest<M>& request, RunResult& result,
                   std::vector<ToolReturn>& pending);
    [[nodiscard]] detail::ToolRun run_tool(const ToolContext& context) const;
    [[nodiscard]] bool take_direct(const ToolContext& context, const ToolResult& tool_result, bool has_direct,
                                   RunResult& result) const;
    [[nodiscard]] static bool is_round_last(const Conversation<M>& conversation);
    void close_open_calls(Conversation<M>& conversation, const HookRequest<M>& request, std::string_view why,
                          std::vector<ToolReturn> pending);

    std::shared_ptr<Model<M>> model_;
    std::vector<Tool> tools_;
    std::vector<ToolSpec> specs_;
    Chain<M> chain_;
    LoopConfig config_;
    LoopCallbacks callbacks_;
};

template <typename T, ToolMessage M>
AgentLoop(T, std::vector<Tool>, Chain<M>, LoopConfig = {}, LoopCallbacks = {}) -> AgentLoop<M>;
template <typename T, ToolMessage M>
AgentLoop(T, Chain<M>, LoopConfig = {}, LoopCallbacks = {}) -> AgentLoop<M>;

namespace detail {

/// Why a call cannot be handed to a tool, as text for the model; empty if it can.
[[nodiscard]] std::string refuse_call(const ToolContext& context, const Tool* tool, std::span<const ToolSpec> specs);
[[nodiscard]] ToolReturn error_return(const ToolContext& context, std::string text);
/// What `sink` got before the tool failed, and then `text`.
[[nodiscard]] ToolReturn failed_return(const ToolContext& context, CollectingSink& sink, std::string text);
/// Adds the tools of the chain that the configuration wants and whose names no tool has.
void add_offered(std::vector<Tool>& tools, std::vector<Tool> offered, const LoopConfig& config);
/// The same refusal with what we know of it: the provider's numbers and ours, before and after shrinking.
[[nodiscard]] ModelError overflow_error(const ModelError& error, std::int64_t window, std::int64_t tokens_before,
                                        std::int64_t tokens_after);
void add_usage(Usage& sum, const std::optional<Usage>& usage) noexcept;
/// Whether a request that we count as `counted` tokens cannot have been read whole: less than half of it was billed as
/// input. Never for requests below 2,000 tokens.
[[nodiscard]] bool is_far_below(const Usage& usage, std::int64_t counted) noexcept;
void emit_truncation(const EventSink& events, std::string_view conversation, std::int64_t counted,
                     const Usage& usage) noexcept;
/// Without its numbers if no model has such a limit: they come from a sentence, and the limit would stay as the window.
[[nodiscard]] Overflow believed(Overflow overflow) noexcept;

/// What any provider bills at least: four bytes a token, which real text is hardly ever below. Without media, which
/// cost what the provider likes, and without thinking, which is mostly not read again.
template <AgentMessage M>
[[nodiscard]] std::int64_t count_plain(const M& m) {
    const auto counter = chars_counter();
    std::int64_t units = 0;
    message_traits<M>::for_each_part(m, [&](const PartView& part) {
        if (part.kind == PartKind::media || part.kind == PartKind::thinking) return;
        units = add_saturating(units, counter->measure_units(part.text));
        if (part.kind == PartKind::tool_call) units = add_saturating(units, counter->measure_units(part.tool));
    });
    return counter->to_tokens(units);
}

}  // namespace detail

template <ToolMessage M>
AgentLoop<M>::AgentLoop(std::shared_ptr<Model<M>> model, std::vector<Tool> tools, Chain<M> chain, LoopConfig config,
                        LoopCallbacks callbacks)
    : model_(std::move(model)),
      tools_(std::move(tools)),
      chain_(std::move(chain)),
      config_(std::move(config)),
      callbacks_(std::move(callbacks)) {
    detail::add_offered(tools_, chain_.tools(), config_);
    check_loop(config_, tools_, model_ != nullptr);
    for (const Tool& tool : tools_) specs_.push_back(tool.spec());
    chain_.warn_missing_tools(specs_);
}

template <ToolMessage M>
RunResult AgentLoop<M>::run(Conversation<M>& conversation, M user, StopToken stop) {
    close_open_calls(conversation, request(stop), "a new message came", {});
    conversation.begin_turn();
    conversation.push_back(std::move(user));
    return run(conversation, std::move(stop));
}

template <ToolMessage M>
RunResult AgentLoop<M>::run(Conversation<M>& conversation, StopToken stop) {
    RunResult result;
    result.config_warnings = chain_.config_warnings();
    const HookRequest<M> hook_request = request(std::move(stop));
    conversation.begin_run();
    const auto guarded = [&](auto&& work) {
        try {
            work();
        } catch (const Error& error) {
            result.outcome = error.errc() == Errc::cancelled ? RunOutcome::stopped : RunOutcome::failed;
            result.error = error.what();
            result.exception = std::current_exception();
        } catch (...) {
            result.outcome = RunOutcome::failed;
            result.error = detail::current_error_text();
            result.exception = std::current_exception();
        }
    };
    std::vector<ToolReturn> pending;
    guarded([&] {
        chain_.before_agent(conversation, hook_request);
        if (is_round_last(conversation) && run_tools(conversation, hook_request, result, pending)) return;
        run_steps(conversation, hook_request, result, pending);
    });
    guarded([&] { close_open_calls(conversation, hook_request, to_string(result.outcome), std::move(pending)); });
    guarded([&] { chain_.after_agent(conversation, result.outcome, hook_request); });
    return result;
}

template <ToolMessage M>
void AgentLoop<M>::run_steps(Conversation<M>& conversation, const HookRequest<M>& hook_request, RunResult& result,
                             std::vector<ToolReturn>& pending) {
    bool is_paused = false;
    while (result.steps < config_.max_steps) {
        if (hook_request.stop.stop_requested()) {
            result.outcome = RunOutcome::stopped;
            return;
        }
        Reply<M> reply = ask(conversation, hook_request);
        ++result.steps;
        detail::add_usage(result.usage, reply.usage);
        if (!is_paused) result.text.clear();
        result.text += text_of(reply.message);
        if (reply.usage && was_truncated(conversation, hook_request, *reply.usage)) {
            ++result.silent_truncations;
            reply.usage.reset();  // it says nothing of the size of the conversation
        }
        const bool wants_more = reply.finish == FinishReason::paused;
        conversation.push_reply(std::move(reply));
        chain_.after_model(conversation, hook_request);
        const bool has_calls = conversation.outline().open_round_begin().has_value();
        const bool is_empty = conversation.outline()[conversation.size() - 1].parts.empty();
        is_paused = wants_more && !has_calls && !is_empty;  // an empty one would be the same request again
        if (is_paused) continue;
        if (!has_calls) {
            result.outcome = RunOutcome::answered;
            return;
        }
        if (run_tools(conversation, hook_request, result, pending)) return;
    }
    result.outcome = hook_request.stop.stop_requested() ? RunOutcome::stopped : RunOutcome::step_limit;
}

/// Asks; if the request was too large, shrinks the conversation and asks once more.
template <ToolMessage M>
Reply<M> AgentLoop<M>::ask(Conversation<M>& conversation, const HookRequest<M>& hook_request) {
    chain_.before_model(conversation, hook_request);
    const auto as_told = [&](const ModelError& error) {
        const Report& report = conversation.report();
        return detail::overflow_error(error, chain_.context_window(conversation), report.tokens_before,
                                      report.tokens_after);
    };
    detail::DeltaWatch watch(&callbacks_.on_delta, callbacks_.on_stream_restart);
    try {
        return generate_once(conversation, hook_request, watch.sink());
    } catch (const ModelError& error) {
        if (error.error_class() != ModelErrorClass::overflow) throw;
        const bool is_smaller = chain_.on_overflow(conversation, detail::believed(error.overflow()), hook_request);
        if (!is_smaller || !watch.may_restart()) throw as_told(error);
    }
    watch.restart();
    try {
        return generate_once(conversation, hook_request, watch.sink());
    } catch (const ModelError& error) {
        if (error.error_class() != ModelErrorClass::overflow) throw;
        throw as_told(error);
    }
}

template <ToolMessage M>
Reply<M> AgentLoop<M>::generate_once(Conversation<M>& conversation, const HookRequest<M>& hook_request,
                                     const DeltaSink* on_delta) {
    const std::function<std::size_t()> count_stable_messages = [&] {
        return chain_.count_stable_messages(conversation);
    };
    return chain_.generate(*model_, {.messages = conversation.messages(),
                                     .system = hook_request.system,
                                     .tools = hook_request.tools,
                                     .stop = hook_request.stop,
                                     .on_delta = on_delta,
                                     .thinking_prefix_edited = chain_.config().profile.thinking_bound_to_prefix &&
                                                               conversation.thinking_prefix_edited(),
                                     .count_stable_messages = &count_stable_messages});
}

/// Some servers cut a request that is too large and say nothing. The chain's counter may be far above the truth, so a
/// suspicion is checked with what is certain to be billed.
template <ToolMessage M>
bool AgentLoop<M>::was_truncated(Conversation<M>& conversation, const HookRequest<M>& hook_request,
                                 const Usage& usage) const {
    const auto counter = chain_.config().token_counter;
    const ContextCount context = conversation.context(counter, hook_request.system, hook_request.tools);
    if (!detail::is_far_below(usage, context.estimate)) return false;
    std::int64_t counted = count_overhead(hook_request.system, hook_request.tools, *chars_counter());
    for (const M& message : conversation.messages()) counted = add_saturating(counted, detail::count_plain(message));
    if (!detail::is_far_below(usage, counted)) return false;
    detail::emit_truncation(chain_.callbacks().on_event, conversation.id(), counted, usage);
    return true;
}

/// Runs the calls of the open round. True if the run ends here. Results stay in `pending` until the conversation has
/// them.
template <ToolMessage M>
bool AgentLoop<M>::run_tools(Conversation<M>& conversation, const HookRequest<M>& hook_request, RunResult& result,
                             std::vector<ToolReturn>& pending) {
    const std::vector<ToolContext> calls = chain_.pending_tool_calls(conversation, hook_request);
    std::vector<detail::ToolRun> runs(calls.size());
    std::size_t started = 0;
    const auto start = [&](std::size_t i) {
        if (hook_request.stop.stop_requested()) return false;
        if (callbacks_.on_tool_start) callbacks_.on_tool_start(calls[i]);
        started = i + 1;
        return true;
    };
    for (std::size_t i = 0; i < calls.size(); ++i) runs[i].result = detail::error_return(calls[i], {});
    const auto work = [&](std::size_t i) noexcept {
        try {
            runs[i] = run_tool(calls[i]);
        } catch (...) {
            runs[i].failure = std::current_exception();  // out of memory
        }
    };
    const auto ended = [&](std::size_t i) {
        if (callbacks_.on_tool_end) callbacks_.on_tool_end(calls[i], runs[i].result.result);
    };
    pending.reserve(calls.size());
    const auto keep = [&]() noexcept {
        for (std::size_t i = 0; i < started; ++i) pending.push_back(std::move(runs[i].result));
    };
    try {
        detail::run_jobs(calls.size(), static_cast<std::size_t>(config_.tool_threads), {start, work, ended});
    } catch (...) {
        keep();
        throw;
    }
    keep();
    for (const detail::ToolRun& run : runs) {
        if (run.failure) std::rethrow_exception(run.failure);
    }
    bool is_direct = false;
    for (std::size_t i = 0; i < started; ++i)
        is_direct = take_direct(calls[i], pending[i].result, is_direct, result) || is_direct;
    conversation.push_tool_results(pending);
    pending.clear();
    if (is_direct) result.outcome = RunOutcome::return_direct;
    return is_direct;
}

/// Whether this result is the answer of the run; if so, adds its text.
template <ToolMessage M>
bool AgentLoop<M>::take_direct(const ToolContext& context, const ToolResult& tool_result, bool has_direct,
                               RunResult& result) const {
    const auto tool = std::ranges::find(tools_, context.tool, &Tool::name);
    if (tool == tools_.end() || !tool->return_direct || tool_result.is_error) return false;
    if (!has_direct) result.text.clear();
    for (const Part& part : tool_result.parts) result.text += part.text;
    return true;
}

/// Never throws for what the tool does. Runs on several threads at once.
template <ToolMessage M>
detail::ToolRun AgentLoop<M>::run_tool(const ToolContext& context) const {
    const auto found = std::ranges::find(tools_, context.tool, &Tool::name);
    const Tool* tool = found == tools_.end() ? nullptr : &*found;
    if (std::string refusal = detail::refuse_call(context, tool, specs_); !refusal.empty())
        return {detail::error_return(context, std::move(refusal)), {}};
    CollectingSink sink;
    bool has_run = false;
    const auto invoke = [&](const ToolContext& inner, PartSink& out) {
        has_run = false;
        ToolOutcome outcome = tool->invoke(inner, out);
        has_run = true;
        return outcome;
    };
    try {
        ToolOutcome outcome = chain_.wrap_tool(context, sink, invoke);
        return {collect_tool_return(context, sink, std::move(outcome)), {}};
    } catch (...) {
        const bool is_chains = has_run && chain_.config().on_error == OnError::propagate;
        return {detail::failed_return(context, sink, context.tool + " failed: " + detail::current_error_text()),
                is_chains ? std::current_exception() : nullptr};
    }
}

/// Whether nothing stands behind the newest calls but their results.
template <ToolMessage M>
bool AgentLoop<M>::is_round_last(const Conversation<M>& conversation) {
    const Serial group = conversation.outline().open_round_serial();
    return group != 0 && conversation.outline()[conversation.size() - 1].round_serial == group;
}

/// Providers refuse a call without a result, so those that were not run get one that says so. `pending`: results that
/// came, but are not in the conversation yet.
template <ToolMessage M>
void AgentLoop<M>::close_open_calls(Conversation<M>& conversation, const HookRequest<M>& hook_request,
                                    std::string_view why, std::vector<ToolReturn> pending) {
    if (!is_round_last(conversation)) return;
    std::vector<ToolReturn> returns = std::move(pending);  // the first calls of the round, in its order
    const std::vector<ToolContext> calls = chain_.pending_tool_calls(conversation, hook_request);
    for (std::size_t i = returns.size(); i < calls.size(); ++i) {
        returns.push_back(detail::error_return(calls[i], "not run: the run ended before (" + std::string(why) + ")"));
    }
    if (!returns.empty()) conversation.push_tool_results(returns);
}

}  // namespace whittle::inline v0

#define WHITTLE_DEFINES_AGENT_LOOP
#include "whittle/base/detail/compiled_types.hpp"
