#include "callbacks.h"
#ifndef RUNTIME_ALONE
#    include <whittle/hosts/agent_cpp.hpp>
#    include <whittle/whittle.hpp>

using namespace whittle;

void hooked(std::vector<common_chat_msg>& messages) {
    const Chain<common_chat_msg> chain{ChainConfig{.storage = memory_storage()}, Reduction<common_chat_msg>{}};
    host::AgentCppHooks hooks(chain, "agent");
    hooks.before_llm_call(messages);
}
#endif
