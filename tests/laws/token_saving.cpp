// Token saving, lever by lever, held to every law on every message type.
#include "whittle/token_saving/token_saving.hpp"
#include "support/laws.hpp"

using namespace whittle;
using namespace whittle::testing;

namespace {

TokenSavingConfig short_results(int batch_calls) {
    return {.compress_threshold_chars = 400,
            .head_keep_chars = 150,
            .tail_keep_chars = 100,
            .keep_recent_tool_messages = 1,
            .batch_calls = batch_calls};
}

TokenSavingConfig on_arrival() {
    TokenSavingConfig config = short_results(1);
    config.when = SavingTime::on_arrival;
    return config;
}

/// Every plain word of what is old enough goes by rank, however little that is.
TokenSavingConfig old_words(bool with_results) {
    TokenSavingConfig config = short_results(1);
    config.enable_compression = with_results;
    config.enable_perplexity_compression = true;
    config.perplexity_classifier = WordScorer(heuristic_scores);
    config.perplexity_recent_cutoff = 1;
    config.perplexity_mid_cutoff = 2;
    config.perplexity_min_content_words = 3;
    config.minimum_gain_tokens = 0;
    return config;
}

TokenSavingConfig always_nudging() {
    TokenSavingConfig config;
    config.enable_compression = false;
    config.early_exit_min_call_index = 0;
    config.signals_fn = [](std::span<const Step>) { return Signals{{"streak", 1.0}}; };
    return config;
}

}  // namespace

// Lengths are judged in code points, which equal bytes do not tell: L11 is tests/token_saving/head_tail.cpp.
WHITTLE_LAWS("head and tail at every call",
             [](auto type) { return TokenSaving<MessageOf<decltype(type)>>{short_results(1)}; },
             {.looks_at_sizes_only = false})
WHITTLE_LAWS("head and tail in batches, without a store",
             [](auto type) { return TokenSaving<MessageOf<decltype(type)>>{short_results(3)}; },
             {.with_storage = false, .looks_at_sizes_only = false})
WHITTLE_LAWS("head and tail on arrival", [](auto type) { return TokenSaving<MessageOf<decltype(type)>>{on_arrival()}; },
             {.looks_at_sizes_only = false})
WHITTLE_LAWS("word-level compression",
             [](auto type) { return TokenSaving<MessageOf<decltype(type)>>{old_words(false)}; },
             {.looks_at_sizes_only = false})
WHITTLE_LAWS("head and tail with word-level compression, in Chinese",
             [](auto type) { return TokenSaving<MessageOf<decltype(type)>>{old_words(true)}; },
             {.language = Language::chinese, .looks_at_sizes_only = false})

TEST_CASE("the nudge keeps every law but L6, whose exception it is, on every message type", "[laws]") {
    for_each_message_type([&](auto type) {
        using M = MessageOf<decltype(type)>;
        const Subject<M> subject = subject_of<M>([](auto) { return TokenSaving<M>{always_nudging()}; }, {});
        for (const Law<M>& law : all_laws<M>()) {
            if (law.id == "L6") continue;
            INFO(Builder<M>::name << ", " << law.id);
            const Failures failures = check_law(law, subject);
            CHECK(failures == Failures{});
        }
    });
}
