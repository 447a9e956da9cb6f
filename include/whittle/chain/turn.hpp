#pragma once

#include "whittle/chain/config.hpp"
#include "whittle/chain/transaction.hpp"
#include "whittle/port/model.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
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
struct Turn {
    Conversation<M>& conversation;
    const ChainConfig& config;
    const ChainCallbacks<M>& callbacks;
    const HookRequest<M>& request;
    HookBudget& budget;
    StageReport& report;  ///< of this middleware and hook
    Language language = Language::english;

    [[nodiscard]] const TokenCounter& counter() const noexcept { return *config.token_counter; }

    /// The size of the request as every trigger judges it: the chain's conversation counter if there is one, else the
    /// anchored total.
    [[nodiscard]] std::int64_t context_tokens() const {
        if (callbacks.conversation_counter) {
            return std::max<std::int64_t>(0, callbacks.conversation_counter(conversation.messages(), request.tools));
        }
        return counted().total;
    }

    /// The request by the chain's counter, whatever judges the triggers.
    [[nodiscard]] ContextCount counted() const {
        return conversation.context(config.token_counter, request.system, request.tools);
    }

    /// A transaction under the middleware's name, with everything that the chain has.
    [[nodiscard]] Transaction<M> edit() { return conversation.edit(report.middleware, environment()); }
    [[nodiscard]] EditEnvironment environment() const {
        return {.counter = config.token_counter,
                .storage = config.storage,
                .validity = &config.profile.validity,
                .verify = config.verify,
                .clock = config.clock,
                .dry_run = config.dry_run,
                .stop = request.stop,
                .budget = &budget,
                .pins = &config.pins,
                .report = &report,
                .events = &callbacks.on_event,
                .on_prefix_edit =
                    config.profile.thinking_bound_to_prefix ? std::optional(config.on_prefix_edit) : std::nullopt};
    }

    [[nodiscard]] Notes notes() noexcept { return conversation.notes(report.middleware); }

    [[nodiscard]] bool has_tool(std::string_view name) const noexcept {
        return std::ranges::any_of(request.tools, [&](const ToolSpec& tool) { return tool.name == name; });
    }
};

}  // namespace whittle::inline v0
