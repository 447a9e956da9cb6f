// Fixed work whose instructions are counted, since a busy machine's times cannot be compared; bench/check_instructions
// runs it under callgrind. Usage: bench_instructions estimate|undue
#include "history.hpp"
#include "tokens/small_vocabulary.hpp"

#include <whittle/whittle.hpp>

#include <cstdio>
#include <random>
#include <string>

namespace {

using namespace whittle;

volatile std::int64_t result;

std::string fixed_text() {
    std::mt19937 random(1);
    std::string text;
    while (text.size() < 100'000) {
        text += "for (const auto& value : values) total += value.weight; // 12 of 345\n";
        text += test::random_word(random, 1 + random() % 9, 26) +
                " \xd1\x81\xd0\xbb\xd0\xbe\xd0\xb2\xd0\xbe \xe4\xb8\xad\xe6\x96\x87 ";
    }
    return text;
}

}  // namespace

/// Only what happens in here is counted.
extern "C" [[gnu::noinline]] void whittle_count_text(const TokenCounter& counter, const std::string& text) {
    for (int i = 0; i < 3; ++i) result = counter.count(text);
}

extern "C" [[gnu::noinline]] void whittle_run_undue(const Chain<>& chain, Conversation<>& conversation) {
    for (int i = 0; i < 1'000; ++i) {
        conversation.push_back(ChatMessage::assistant("Reading on, nothing to say yet."));
        chain.before_model(conversation);
    }
}

int main(int argc, char** argv) {
    const std::string_view work = argc == 2 ? argv[1] : "";
    if (work == "estimate") {
        whittle_count_text(*estimate(), fixed_text());
    } else if (work == "undue") {
        ChainConfig config;
        config.storage = memory_storage();
        const Chain<> chain{std::move(config), Reduction{}};
        Conversation<> conversation = bench::history_of(1'000, 400);
        chain.before_model(conversation);
        whittle_run_undue(chain, conversation);
    } else {
        std::fprintf(stderr, "usage: bench_instructions estimate|undue\n");
        return 2;
    }
    return 0;
}
