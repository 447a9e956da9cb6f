// expect: the model is for another message type than the chain
// expect: ModelForChain<[^,]*ScriptedModel<[^,]*openai::Message>, [^,]*ChatMessage>
// expect-not: (cannot|could not|no viable) conver
#include <whittle/adapter/openai.hpp>
#include <whittle/whittle.hpp>

void host(std::shared_ptr<whittle::ScriptedModel<whittle::openai::Message>> model) {
    whittle::AgentLoop loop{model, {}, whittle::Chain{whittle::ChainConfig{}, whittle::Reduction{{}}}};
}
