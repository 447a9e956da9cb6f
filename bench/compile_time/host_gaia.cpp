#include "gaia/agent.h"
#ifndef RUNTIME_ALONE
#    include <whittle/hosts/gaia.hpp>
#    include <whittle/whittle.hpp>

using namespace whittle;

int hooked(gaia::Agent& agent) {
    const Chain<gaia::Message> chain{ChainConfig{.storage = memory_storage()}, Reduction<gaia::Message>{}};
    host::GaiaHooks hooks(chain, "gaia");
    hooks.attach(agent);
    return hooks.process_query_retrying_overflow(agent, "Hi.").empty() ? 1 : 0;
}
#endif
