// One target for all that stands on JSON messages: a chain from a configuration, for messages of a provider.
#include <whittle/config/config_json.hpp>
#include <whittle/openai/openai.hpp>
#include <whittle/whittle.hpp>

#include <iostream>

using namespace whittle;

int main() {
    // [chain]
    const auto chain = make_chain<openai::Message>(read_chain_settings(R"({"preset": "recommended"})"));
    Conversation<openai::Message> conversation("chat");
    conversation.push_back(openai::Message({{"role", "user"}, {"content", "Hello."}}));
    chain.before_model(conversation);
    std::cout << conversation.messages()[0].json() << '\n';
    // [/chain]
}
