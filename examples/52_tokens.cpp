// One text by several counters, and a conversation that learns from what the provider billed.
#include <whittle/whittle.hpp>

#include <iostream>

using namespace whittle;

int main() {
    // [count]
    const std::string text = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. id=4f9a2c77e1";
    for (const auto& counter : {chars_counter(), pessimistic_counter(), estimate_counter()})
        std::cout << counter->id() << ": " << counter->count(text) << " tokens\n";

    PresetConfig settings = recommended({.context_window = 200'000});
    settings.chain.token_counter = estimate_counter();
    settings.chain.profile.cache = *find_cache_profile("openai");  // how your provider caches prompts
    const Chain<> chain = make_chain(settings);

    Conversation conversation("bill");
    conversation.push_back(ChatMessage::user(std::string(40'000, 'x')));
    std::cout << "before the first reply: " << conversation.context(chars_counter(), {}, {}).total << " tokens\n";
    conversation.push_reply({ChatMessage::assistant("Noted."), Usage{.uncached_input = 16'000, .output = 2}});
    std::cout << "as it is billed:        " << conversation.context(chars_counter(), {}, {}).total << " tokens\n";
    // [/count]
}
