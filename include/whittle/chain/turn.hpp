#pragma once

#include "whittle/chain/hook_turn.hpp"
#include "whittle/conversation/transaction.hpp"
#include "whittle/port/model.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// What goes with the messages of a model call. A view.
template <AgentMessage M = ChatMessage>
struct HookRequest {
    std::span<const ToolSpec> tools{};
    std::string_view system{};  ///< system text that stands beside the messages
    Model<M>* model = nullptr;  ///< the agent's own model, or null
    std::stop_token stop{};
};

/// What a middleware's hook works with. Valid during the hook only.
template <AgentMessage M = ChatMessage>
class Turn final : public HookTurn {
public:
    Turn(Conversation<M>& of, const ChainConfig& chain, const ChainCallbacks<M>& chain_callbacks,
         const HookRequest<M>& hook_request, HookBudget& left, StageReport& stage,
         Language of_notices = Language::english)
        : HookTurn(of.side_, chain, chain_callbacks.on_event,
                   {hook_request.tools, hook_request.system, hook_request.stop}, left, stage, of_notices),
          conversation(of),
          callbacks(chain_callbacks),
          request(hook_request) {}

    Conversation<M>& conversation;
    const ChainCallbacks<M>& callbacks;
    const HookRequest<M>& request;

    [[nodiscard]] std::int64_t context_tokens() const override {
        if (callbacks.conversation_counter)
            return std::max<std::int64_t>(0, callbacks.conversation_counter(conversation.messages(), request.tools));
        return counted().total;
    }
    [[nodiscard]] ContextCount counted() const override {
        return conversation.context(config.token_counter, request.system, request.tools);
    }
    [[nodiscard]] std::uint64_t last_entry() const noexcept override {
        const auto& journal = conversation.journal();
        return journal.empty() ? 0 : journal.back()->id;
    }
    void visit_parts(std::size_t message, FunctionRef<void(const PartView&)> visit) const override {
        message_traits<M>::for_each_part(conversation.messages()[message], visit);
    }
    void visit_replaced(FunctionRef<void(const ReplacedMessage&)> visit) const override {
        for (const auto& entry : conversation.journal()) {
            for (std::size_t s = 0; s < entry->undo.size(); ++s)
                for (std::size_t m = 0; m < entry->undo[s].infos.size(); ++m)
                    visit({*entry, s, m, entry->undo[s].infos[m]});
        }
    }
    [[nodiscard]] std::string text_of(const ReplacedMessage& replaced, std::size_t part) const override {
        const auto& entry = static_cast<const JournalEntry<M>&>(replaced.record);
        return whittle::text_of(load_original(*objects(), entry, replaced.splice, replaced.message), part);
    }
    /// A transaction under the middleware's name, with everything that the chain has.
    [[nodiscard]] Transaction<M> edit() { return conversation.edit(report.middleware, environment()); }
};

}  // namespace whittle::inline v0
