#include "whittle/chain/hook_turn.hpp"

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

}  // namespace whittle::inline v0
