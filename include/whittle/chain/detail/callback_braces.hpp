#pragma once

// The callbacks of a chain as braces write them.

#include "whittle/base/detail/callback_slot.hpp"
#include "whittle/chain/config.hpp"

namespace whittle::inline v0 {
namespace detail {

namespace chain_callback {
struct conversation_counter;
struct on_event;
struct on_report;
struct on_evicted;
}  // namespace chain_callback

/// `ChainCallbacks` with the same members in the same order: names the member that a function does not fit.
template <AgentMessage M>
struct ChainBraces {
    using Callbacks = ChainCallbacks<M>;

    CallbackSlot<chain_callback::conversation_counter, decltype(Callbacks::conversation_counter)>
        conversation_counter{};
    CallbackSlot<chain_callback::on_event, decltype(Callbacks::on_event)> on_event{};
    CallbackSlot<chain_callback::on_report, decltype(Callbacks::on_report)> on_report{};
    CallbackSlot<chain_callback::on_evicted, decltype(Callbacks::on_evicted)> on_evicted{};

    [[nodiscard]] Callbacks take() {
        return {.conversation_counter = conversation_counter.take(),
                .on_event = on_event.take(),
                .on_report = on_report.take(),
                .on_evicted = on_evicted.take()};
    }
};

}  // namespace detail

template <AgentMessage M>
ChainCallbacks<M>::operator detail::ChainBraces<M>() const {
    return {.conversation_counter = conversation_counter,
            .on_event = on_event,
            .on_report = on_report,
            .on_evicted = on_evicted};
}

}  // namespace whittle::inline v0
