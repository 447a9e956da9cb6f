#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/platform.hpp"
#include "whittle/chain/hook_turn.hpp"
#include "whittle/conversation/tool.hpp"
#include "whittle/conversation/transaction.hpp"
#include "whittle/model/model.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// What goes with the messages of a model call. A view.
template <AgentMessage M = ChatMessage>
struct HookRequest {
    std::span<const ToolSpec> tools{};  ///< that the model is offered
    std::string_view system{};          ///< system text that stands beside the messages
    Model<M>* model = nullptr;          ///< the agent's own model, or null
    StopToken stop{};                   ///< asked for by the host: ends what takes long
};

/// What a middleware's hook works with. Valid during the hook only.
template <AgentMessage M = ChatMessage>
class Turn final : public HookTurn {
public:
    /// Made by the chain; all that is passed by reference must outlive it.
    Turn(Conversation<M>& of, const ChainConfig& chain, const ChainCallbacks<M>& chain_callbacks,
         const HookRequest<M>& hook_request, HookBudget& left, StageReport& stage,
         Language of_notices = Language::english)
        : HookTurn(of.history_.side, chain, chain_callbacks.on_event,
                   {hook_request.tools, hook_request.system, hook_request.stop}, left, stage, of_notices),
          conversation(of),
          callbacks(chain_callbacks),
          request(hook_request) {}

    Conversation<M>& conversation;       ///< that this hook is about; edit it by `edit`
    const ChainCallbacks<M>& callbacks;  ///< of the chain
    const HookRequest<M>& request;       ///< what the host gave this hook

    [[nodiscard]] std::int64_t context_tokens() const override {
        if (callbacks.conversation_counter)
            return std::max<std::int64_t>(0,
                                          callbacks.conversation_counter(callback_context(), conversation.messages()));
        return counted().total;
    }
    [[nodiscard]] ContextCount counted() const override {
        return conversation.context(config.token_counter, request.system, request.tools);
    }
    [[nodiscard]] std::uint64_t last_journal_entry_id() const noexcept override {
        const auto& journal = conversation.journal();
        return journal.empty() ? 0 : journal.back()->id;
    }
    void visit_parts(std::size_t message, FunctionRef<void(const PartView&)> visit) const override {
        message_traits<M>::for_each_part(conversation.messages()[message], visit);
    }
    void visit_replaced(FunctionRef<void(const ReplacedMessage&)> visit) const override {
        whittle::visit_replaced<M>(conversation.journal(), visit);
    }
    [[nodiscard]] std::string text_of(const ReplacedMessage& replaced, std::size_t part) const override {
        return whittle::text_of(load_original<M>(*objects(), replaced), part);
    }
    /// A transaction under the middleware's name, with everything that the chain has.
    [[nodiscard]] Transaction<M> edit() { return conversation.edit(report.middleware, environment()); }
};

/// How a run of an agent ended.
enum class RunOutcome {
    answered,       ///< the model answered without asking for a tool
    return_direct,  ///< a tool's result is the answer
    step_limit,
    stopped,  ///< by the stop token
    failed,
};

/// "answered", "return_direct", ...
[[nodiscard]] std::string_view to_string(RunOutcome outcome) noexcept;

/// The rest of the pipeline around a model call. Valid during the call only.
template <AgentMessage M>
using ModelNext = FunctionRef<Reply<M>(const ModelRequest<M>&)>;

/// One way to keep a conversation small, or to watch it. Override what you need. Immutable after construction: one
/// instance serves many conversations, from several threads at once; what it must remember goes into `Turn::notes`.
/// What a hook throws undoes that hook's commits (docs/chain.md).
template <AgentMessage M = ChatMessage>
class Middleware {
public:
    using message_type = M;  ///< the type of messages that it works on

    Middleware() = default;
    Middleware(const Middleware&) = default;
    Middleware(Middleware&&) = default;
    Middleware& operator=(const Middleware&) = default;
    Middleware& operator=(Middleware&&) = default;
    virtual ~Middleware() = default;

    /// Instances in one chain need distinct names: reports, notes and provenance go by it. The view lives as long as
    /// the middleware.
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;

    /// Before a run of an agent.
    virtual void before_agent(Turn<M>&) {}
    /// Before every model call, also inside a tool loop.
    virtual void before_model(Turn<M>&) {}
    /// Around a model call; changes concern this request only.
    virtual Reply<M> wrap_model(const ModelRequest<M>& request, const ModelNext<M>& next) { return next(request); }
    /// After the reply was appended.
    virtual void after_model(Turn<M>&) {}
    /// Around a tool call. May run on several threads at once, hence without the conversation. What was pushed into
    /// `out` cannot be taken back.
    virtual ToolOutcome wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& next) {
        return next(context, out);
    }
    /// The model refused the request as too large: it has `turn.report.count` tokens and has to come to
    /// `turn.report.threshold`, as triggers count; where the window is unknown, that is half of it. True if the
    /// middleware made the conversation smaller.
    virtual bool on_overflow(Turn<M>&, const Overflow&) { return false; }
    /// The host asked for a smaller conversation, whatever the triggers say: it has `turn.report.count` tokens and is
    /// to come to `turn.report.threshold`, as triggers count. Without an override: what is done on overflow.
    virtual void compact_now(Turn<M>& turn) { on_overflow(turn, {}); }
    /// Also on error, stop and step limit.
    virtual void after_agent(Turn<M>&, RunOutcome) {}

    /// Checks of the configuration that need to see the whole chain: runs once, when the chain is made.
    virtual void check(const ChainInfo&, Problems&) const {}
    /// Checks that need the tools of a request: runs once for a chain, with the first tools it sees.
    virtual void check_tools(const ChainInfo&, std::span<const ToolSpec>, Problems&) const {}
    /// What one middleware of a chain should do, and no second one, such as `fold_history_task`: two of one task get in
    /// each other's way (`ChainInfo::count_same_task_before`). Empty: nothing of that kind.
    [[nodiscard]] virtual std::string_view exclusive_task() const noexcept { return {}; }
    /// Tools that go with it, such as one that shows what it takes out of messages: an agent's loop offers them
    /// (`Chain::tools`).
    [[nodiscard]] virtual std::vector<Tool> tools(const ChainConfig&) const { return {}; }
    /// Where it stores, if not below the conversation's id: what lies below these keys a conversation may read back.
    [[nodiscard]] virtual std::vector<std::string> extra_readable_roots() const { return {}; }
    /// How many messages this middleware will not touch before its next trigger: by plan, not by promise.
    [[nodiscard]] virtual std::size_t expected_stable_prefix(const Conversation<M>& conversation) const {
        return conversation.size();
    }
};

}  // namespace whittle::inline v0
