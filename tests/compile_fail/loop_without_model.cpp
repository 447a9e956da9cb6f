// expect: this is no model: give a std::shared_ptr or std::unique_ptr to a Model<M>, or a function
// expect: ModelForChain<int, [^,]*ChatMessage>
// expect-not: the model is for another message type than the chain
#include <whittle/whittle.hpp>

using namespace whittle;

void no_model(const Chain<>& chain) { AgentLoop loop{7, chain}; }

void function_of_something_else(const Chain<>& chain) {
    AgentLoop loop{[](int number) { return number; }, {}, chain};
}
