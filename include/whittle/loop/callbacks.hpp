#pragma once

#include "whittle/base/detail/callback_slot.hpp"
#include "whittle/conversation/tool.hpp"
#include "whittle/port/model.hpp"

#include <functional>

namespace whittle::inline v0 {

namespace detail {
struct LoopBraces;
}  // namespace detail

/// What a host may watch. Called on the thread that runs the loop, one at a time; what these throw fails the run. With
/// several `tool_threads`, tools start in call order and `on_tool_end` comes in the order in which they end.
struct LoopCallbacks {
    DeltaSink on_delta{};  ///< asks the model to stream
    /// A reply that had begun to stream turned out too large, and the model is asked again with a smaller conversation:
    /// the host discards what it showed of this reply. Absent: the run fails instead, since the beginning would come
    /// twice; the conversation is smaller by then, so that `run(conversation)` may go on.
    std::function<void()> on_restart{};
    std::function<void(const ToolContext&)> on_tool_start{};
    std::function<void(const ToolContext&, const ToolResult&)> on_tool_end{};

    operator detail::LoopBraces() const;
};

namespace detail {

namespace loop_callback {
struct on_delta;
struct on_restart;
struct on_tool_start;
struct on_tool_end;
}  // namespace loop_callback

/// `LoopCallbacks` as braces write it: names the member that a function does not fit.
struct LoopBraces {
    CallbackSlot<loop_callback::on_delta, decltype(LoopCallbacks::on_delta)> on_delta{};
    CallbackSlot<loop_callback::on_restart, decltype(LoopCallbacks::on_restart)> on_restart{};
    CallbackSlot<loop_callback::on_tool_start, decltype(LoopCallbacks::on_tool_start)> on_tool_start{};
    CallbackSlot<loop_callback::on_tool_end, decltype(LoopCallbacks::on_tool_end)> on_tool_end{};

    [[nodiscard]] LoopCallbacks take() {
        return {.on_delta = on_delta.take(),
                .on_restart = on_restart.take(),
                .on_tool_start = on_tool_start.take(),
                .on_tool_end = on_tool_end.take()};
    }
};

}  // namespace detail

inline LoopCallbacks::operator detail::LoopBraces() const {
    return {.on_delta = on_delta, .on_restart = on_restart, .on_tool_start = on_tool_start, .on_tool_end = on_tool_end};
}

}  // namespace whittle::inline v0
