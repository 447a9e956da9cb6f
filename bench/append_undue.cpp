// What a model call costs while nothing is due: append one message, run the chain. It must not grow with the history.
//
// For histories of 1,000, 10,000 and 100,000 messages it prints the time of the first such step (cold: caches flushed
// by walking 64 MiB), the median of the following ones (warm), the ratio of the warm time to that of the smallest
// history, and the allocations of a hook run on its own. "remembered": the count is above the trigger, but an earlier
// dry plan freed too little. The yardstick is a walk over all messages, which is what a recount would cost.
#include "allocations.hpp"
#include "history.hpp"

#include <whittle/whittle.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace whittle;
using Nanoseconds = std::chrono::duration<double, std::nano>;

double time_of(auto&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return Nanoseconds(std::chrono::steady_clock::now() - start).count();
}

void flush_caches() {
    static std::vector<char> block(64 << 20);
    for (std::size_t i = 0; i < block.size(); i += 64) ++block[i];
}

struct Row {
    double cold = 0;
    double warm = 0;
    double walk = 0;
    long hook_allocations = 0;
};

Row measure(std::size_t messages, const Chain<>& chain) {
    Conversation<> conversation = bench::history_of(messages, 400);
    chain.before_model(conversation);
    const auto step = [&] {
        conversation.push_back(ChatMessage::assistant("Reading on, nothing to say yet."));
        chain.before_model(conversation);
    };
    flush_caches();
    Row row{.cold = time_of(step)};
    std::vector<double> times;
    for (int i = 0; i < 2'001; ++i) times.push_back(time_of(step));
    std::ranges::nth_element(times, times.begin() + 1'000);
    row.warm = times[1'000];
    row.walk = time_of([&] {
        std::int64_t total = 0;
        for (const ChatMessage& m : conversation.messages()) total += count_message(m, *chain.config().token_counter);
        volatile std::int64_t keep = total;
        (void)keep;
    });
    const long before = allocations;
    chain.before_model(conversation);
    row.hook_allocations = allocations - before;
    return row;
}

void print_table(const char* title, const Chain<>& chain) {
    std::printf("%s\n%10s %12s %12s %8s %14s %18s\n", title, "messages", "cold ns", "warm ns", "growth", "recount ns",
                "hook allocations");
    double smallest = 0;
    for (const std::size_t messages : {1'000u, 10'000u, 100'000u}) {
        const Row row = measure(messages, chain);
        if (smallest == 0) smallest = row.warm;
        std::printf("%10zu %12.0f %12.0f %7.2fx %14.0f %18ld\n", messages, row.cold, row.warm, row.warm / smallest,
                    row.walk, row.hook_allocations);
    }
    std::printf("\n");
}

}  // namespace

int main() {
    print_table("undue: append one message, run the chain",
                Chain{ChainConfig{.storage = memory_storage()},
                      Reduction{{.skip_truncation = true, .max_tokens_for_clear = 1'000'000'000}}});
    print_table(
        "remembered: above the trigger, the plan was too small before, dry run",
        Chain{
            ChainConfig{.storage = memory_storage(), .dry_run = true},
            Reduction{{.skip_truncation = true, .max_tokens_for_clear = 1'000, .clear_at_least_tokens = 500'000'000}}});
}
