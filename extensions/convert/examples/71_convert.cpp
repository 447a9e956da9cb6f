// A history of OpenAI's messages as one of Anthropic's, with what has no place there.
#include <whittle/convert/convert.hpp>

#include <iostream>
#include <vector>

using namespace whittle;

int main() {
    // [convert]
    const std::vector<openai::Message> ours{
        openai::Message::parse(R"({"role":"system","content":"Be brief."})"),
        openai::Message::parse(R"({"role":"user","content":"Which book?","name":"ann"})"),
        openai::Message::parse(R"({"role":"assistant","content":"The one about bees."})")};

    const AnthropicConversion theirs = to_anthropic(ours);
    std::cout << "system " << theirs.system << '\n';
    for (const anthropic::Message& message : theirs.messages) std::cout << message.json() << '\n';
    for (const ConversionLoss& loss : theirs.losses)
        std::cout << "message " << loss.message << ": " << loss.text << '\n';
    // [/convert]
}
