// Fixed work whose instructions are counted, since a busy machine's times cannot be compared; bench/check_instructions
// runs it under callgrind. Usage: bench_instructions estimate|undue|clear
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

extern "C" [[gnu::noinline]] void whittle_run_clear(const Chain<>& chain, Conversation<>& conversation) {
    chain.before_model(conversation);
}

namespace {

Chain<> chain_of(const ReductionConfig& reduction) {
    ChainConfig config;
    config.storage = memory_storage();
    return Chain{std::move(config), Reduction{reduction}};
}

void undue() {
    const Chain<> chain = chain_of({});
    Conversation<> conversation = bench::history_of(1'000, 400);
    chain.before_model(conversation);
    whittle_run_undue(chain, conversation);
}

void clear() {
    const Chain<> chain = chain_of({.max_tokens_for_clear = 1'000, .clear_retention_suffix_limit = 3});
    Conversation<> conversation = bench::history_of(10'000, 2'500);
    static_cast<void>(conversation.tokens(chars()));
    whittle_run_clear(chain, conversation);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view work = argc == 2 ? argv[1] : "";
    if (work == "estimate") {
        whittle_count_text(*estimate(), fixed_text());
    } else if (work == "undue") {
        undue();
    } else if (work == "clear") {
        clear();
    } else {
        std::fprintf(stderr, "usage: bench_instructions estimate|undue|clear\n");
        return 2;
    }
    return 0;
}
