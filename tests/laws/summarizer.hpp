// A summarizer for the laws: it always says the same.
#pragma once

#include "whittle/model/scripted_model.hpp"

#include <memory>

namespace whittle::testing {

template <AgentMessage M>
Reply<M> same_summary(const ModelRequest<M>&) {
    return {
        message_traits<M>::make(Role::assistant, "<analysis>...</analysis><summary>What was done so far.</summary>")};
}

template <AgentMessage M>
std::shared_ptr<Model<M>> summarizer() {
    return std::make_shared<ScriptedModel<M>>(&same_summary<M>);
}

}  // namespace whittle::testing
