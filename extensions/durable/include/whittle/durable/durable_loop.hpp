#pragma once

#include "whittle/conversation/tool.hpp"
#include "whittle/durable/durable.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/model/model.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace whittle::inline v0 {

/// A name for one call of a tool, 64 hex digits: the same when a resumed conversation runs the call again, and no other
/// call's, also where the model gives an id twice. For tools with side effects, which do nothing for a key that they
/// have done. A fork's call has another key, since its conversation has another id.
[[nodiscard]] std::string idempotency_key(const ToolContext& context);

namespace detail {

template <ToolMessage M>
class SavingModel final : public Model<M> {
public:
    SavingModel(std::shared_ptr<Model<M>> model, DurableConversation<M>& conversation)
        : model_(std::move(model)), conversation_(conversation) {}

    Reply<M> generate(const ModelRequest<M>& request) override {
        if (!conversation_->in_hook()) conversation_.save();  // in one, a summary is asked for
        return model_->generate(request);
    }

private:
    std::shared_ptr<Model<M>> model_;
    DurableConversation<M>& conversation_;
};

}  // namespace detail

/// `model` for a loop that runs `conversation`, which is saved before each call: with the results of the last tools.
/// The conversation must outlive it and stay where it is. What `save` throws ends the run.
template <ToolMessage M>
[[nodiscard]] std::shared_ptr<Model<M>> save_before_model_calls(std::shared_ptr<Model<M>> model,
                                                                DurableConversation<M>& conversation) {
    return std::make_shared<detail::SavingModel<M>>(std::move(model), conversation);
}

/// Callbacks for the same loop: the conversation is saved before each tool starts, so that a call that was begun is
/// known to whoever resumes; if nothing is new, its lease is renewed. So a writer that has lost its conversation starts
/// no tool. Save once more after the run.
template <ToolMessage M>
[[nodiscard]] LoopCallbacks save_before_tool_starts(DurableConversation<M>& conversation,
                                                    LoopCallbacks callbacks = {}) {
    callbacks.on_tool_start = [&conversation, next = std::move(callbacks.on_tool_start)](const ToolContext& context) {
        if (const std::uint64_t before = conversation.last_entry_number(); conversation.save() == before)
            conversation.renew();
        if (next) next(context);
    };
    return callbacks;
}

}  // namespace whittle::inline v0
