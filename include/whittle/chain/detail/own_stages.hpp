#pragma once

// What a chain does itself before each request, as middlewares; included by chain.hpp.

#include "whittle/base/event.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/conversation/detail/repair.hpp"

#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// Mends what breaks the rules of the provider (`ChainConfig::repair`).
template <AgentMessage M>
class Chain<M>::RepairStage final : public Middleware<M> {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return detail::repair_name; }
    void before_model(Turn<M>& turn) override {
        if (turn.conversation.empty()) return;
        turn.conversation.mend(turn.config.profile.validity, {.language = turn.language, .for_request = true},
                               turn.environment());
    }
};

/// Takes note of other tools or another system text, which void the thinking that is bound to them, and drops that
/// under ThinkingOnPrefixEdit::drop.
template <AgentMessage M>
class Chain<M>::ThinkingStage final : public Middleware<M> {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "thinking"; }
    void before_model(Turn<M>& turn) override {
        if (!note_request(turn) || turn.config.thinking_on_prefix_edit != ThinkingOnPrefixEdit::drop) return;
        try {
            drop(turn);
        } catch (...) {  // what was noted stays: the request says that its thinking is void
            if (turn.config.on_error == OnError::propagate) throw;
            const std::string text = detail::current_error_text();
            detail::take_back(turn.report, text);
            detail::emit_failure(turn.on_event, name(), turn.conversation_id(), text);
        }
    }

private:
    [[nodiscard]] static bool note_request(Turn<M>& turn) noexcept {
        detail::SideTable& side = turn.conversation.history_.side;
        const auto column = side.columns.find(turn.config.token_counter->id());
        return column && side.columns[*column].overhead_known && side.note_request(side.columns[*column].overhead_of);
    }
    static void drop(Turn<M>& turn) {
        EditEnvironment environment = turn.environment();
        environment.before_commit = nullptr;  // the provider refuses what is void
        auto edit = turn.conversation.edit("thinking", std::move(environment));
        edit.drop_removable_thinking();
        edit.commit({.require_token_reduction = false});
        detail::SideTable& side = turn.conversation.history_.side;
        side.counters.request_edited = side.counters.request_edited && side.has_thinking();
    }
};

}  // namespace whittle::inline v0
