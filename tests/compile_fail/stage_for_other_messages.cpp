// expect: a stage is for another message type than its chain
// expect: SameMessageType<[^,]*Reduction<[^,]*, [^,]*ChatMessage, [^,]*openai::Message>
// expect-not: (cannot|could not|no viable) conver
#include <whittle/adapter/openai.hpp>
#include <whittle/whittle.hpp>

void host() { whittle::Chain<whittle::openai::Message> chain{whittle::ChainConfig{}, whittle::Reduction{{}}}; }
