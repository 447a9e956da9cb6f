// expect: the model is for another message type than the chain
// expect: ModelForChain<[^,]*Model<[^,]*openai::Message>, [^,]*ChatMessage>
// expect: ModelForChain<[^,]*ScriptedModel<[^,]*openai::Message>, [^,]*ChatMessage>
// expect: a stage is for another message type than its chain
// expect: SameMessageType<[^,]*Reduction<[^,]*, [^,]*ChatMessage, [^,]*openai::Message>
// expect-not: (cannot|could not|no viable) conver
#include <whittle/openai/openai.hpp>
#include <whittle/whittle.hpp>

using namespace whittle;

void model_for_other_messages(std::shared_ptr<ScriptedModel<openai::Message>> model) {
    AgentLoop loop{model, {}, Chain{ChainConfig{}, Reduction{{}}}};
}

void chain_for_other_messages(std::shared_ptr<Model<openai::Message>> model) {
    Chain chain{ChainConfig{}, Reduction{{}}};
    AgentLoop<openai::Message> loop{model, {}, chain};
}

void stage_for_other_messages() { Chain<openai::Message> chain{ChainConfig{}, Reduction{{}}}; }
