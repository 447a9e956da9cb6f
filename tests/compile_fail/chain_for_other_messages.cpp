// expect: the model is for another message type than the chain
// expect: ModelForChain<[^,]*Model<[^,]*openai::Message>, [^,]*ChatMessage>
// expect-not: (cannot|could not|no viable) conver
#include <whittle/adapter/openai.hpp>
#include <whittle/whittle.hpp>

void host(std::shared_ptr<whittle::Model<whittle::openai::Message>> model) {
    whittle::Chain chain{whittle::ChainConfig{}, whittle::Reduction{{}}};
    whittle::AgentLoop<whittle::openai::Message> loop{model, {}, chain};
}
