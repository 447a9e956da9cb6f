#include "whittle/chain/hook_turn.hpp"

#include <algorithm>

namespace whittle::inline v0 {

EditEnvironment HookTurn::environment() const {
    return {.counter = config.token_counter,
            .storage = config.storage,
            .validity = &config.profile.validity,
            .verify = config.verify,
            .clock = config.clock,
            .dry_run = config.dry_run,
            .stop = stop,
            .budget = &budget,
            .pins = &config.pins,
            .report = &report,
            .events = &on_event,
            .on_prefix_edit =
                config.profile.thinking_bound_to_prefix ? std::optional(config.on_prefix_edit) : std::nullopt};
}

std::int64_t HookTurn::known_window() const {
    const std::int64_t learnt = Notes(side_.notes, detail::chain_notes).integer("window").value_or(0);
    const std::int64_t profile = config.profile.context_window;
    return profile > 0 && learnt > 0 ? std::min(profile, learnt) : std::max(profile, learnt);
}

}  // namespace whittle::inline v0
