// Fixed work whose instructions are counted, since a busy machine's times cannot be compared; bench/check_instructions
// runs it under callgrind. Usage: bench_instructions estimate|exact|undue|clear
#include "extensions/tiktoken/tests/small_vocabulary.hpp"
#include "history.hpp"

#include <whittle/whittle.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <string_view>

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

/// Every beginning of the words of `text` is a token: a word merges from its front, and an unknown one in the end too.
std::shared_ptr<const TokenCounter> exact_by_words_of(std::string_view text) {
    test::Ranks ranks = test::single_bytes();
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at + 1), text.size());
        for (std::size_t size = 2; size <= end - at; ++size)
            ranks.try_emplace(std::string(text.substr(at, size)), static_cast<TokenId>(ranks.size()));
        at = end;
    }
    const std::string packed = pack_custom_vocabulary("words", "o200k_base", test::to_tiktoken_file(ranks));
    return exact_counter(Vocabulary::from_packed(packed));
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
    static_cast<void>(conversation.tokens(chars_counter()));
    whittle_run_clear(chain, conversation);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view work = argc == 2 ? argv[1] : "";
    if (work == "estimate") {
        whittle_count_text(*estimate_counter(), fixed_text());
    } else if (work == "exact") {
        const std::string text = fixed_text();
        whittle_count_text(*exact_by_words_of(std::string_view(text).substr(0, text.size() / 2)), text);
    } else if (work == "undue") {
        undue();
    } else if (work == "clear") {
        clear();
    } else {
        std::fprintf(stderr, "usage: bench_instructions estimate|exact|undue|clear\n");
        return 2;
    }
    return 0;
}
