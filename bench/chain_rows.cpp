// Our side of bench/chain.py: one history, three rows, as JSON lines. The peers in bench/peers do the same work.
//
//   undue N    a history of N messages, one more call with a result of 2,500 bytes, and a hook run with nothing due
//   clear N    clearing all results but the newest three in a history of N messages
//   session N  N calls, each with a hook run, nothing due
#include "allocations.hpp"
#include "history.hpp"

#include <whittle/whittle.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>

namespace {

using namespace whittle;

constexpr std::size_t result_bytes = 2'500;
constexpr std::int64_t never = 1'000'000'000'000;

/// Of the processor, not of the clock on the wall: other programs' work does not count.
double seconds_of(auto&& work) {
    const auto now = [] {
        timespec time{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
    };
    const double start = now();
    work();
    return now() - start;
}

Chain<> chain_of(std::int64_t trigger) {
    ChainConfig config;
    config.storage = memory_storage();
    ReductionConfig reduction;
    reduction.skip_truncation = true;
    reduction.max_tokens_for_clear = trigger;
    reduction.clear_retention_suffix_limit = 3;
    return Chain{std::move(config), Reduction{std::move(reduction)}};
}

void push_round(Conversation<>& conversation) {
    const std::string id = "call_" + std::to_string(conversation.size());
    conversation.push_back(ChatMessage::assistant().call(id, "read", R"({"path":"src/main.cpp"})"));
    conversation.push_back(ChatMessage::result(id, "read", std::string(result_bytes, 'x')));
}

std::int64_t cleared_in(const Conversation<>& conversation) {
    return std::ranges::count_if(conversation.messages(), [](const ChatMessage& m) {
        return m.role == Role::tool && count_message(m, *chars()) < static_cast<std::int64_t>(result_bytes) / 8;
    });
}

void print(const char* row, std::size_t n, double seconds, long allocated, std::int64_t check) {
    std::printf(R"({"row": "%s", "n": %zu, "seconds": %.9f, "allocations": %ld, "check": %lld})"
                "\n",
                row, n, seconds, allocated, static_cast<long long>(check));
}

void undue(std::size_t n) {
    const Chain<> chain = chain_of(never);
    Conversation<> conversation = bench::history_of(n, result_bytes);
    chain.before_model(conversation);
    constexpr int steps = 200;
    const double seconds = seconds_of([&] {
        for (int i = 0; i < steps; ++i) {
            push_round(conversation);
            chain.before_model(conversation);
        }
    });
    const long before = allocations;
    chain.before_model(conversation);
    const long allocated = allocations - before;
    print("undue", n, seconds / steps, allocated, cleared_in(conversation));
}

void clear(std::size_t n) {
    const Chain<> chain = chain_of(1'000);
    Conversation<> conversation = bench::history_of(n, result_bytes);
    static_cast<void>(conversation.tokens(chars()));  // a running conversation has its counts
    const long before = allocations;
    const double seconds = seconds_of([&] { chain.before_model(conversation); });
    const long allocated = allocations - before;
    print("clear", n, seconds, allocated, cleared_in(conversation));
}

void session(std::size_t n) {
    const Chain<> chain = chain_of(never);
    Conversation<> conversation("bench");
    conversation.push_back(ChatMessage::user("go"));
    const long before = allocations;
    const double seconds = seconds_of([&] {
        for (std::size_t i = 0; i < n; ++i) {
            push_round(conversation);
            chain.before_model(conversation);
        }
    });
    const long allocated = allocations - before;
    print("session", n, seconds, allocated, cleared_in(conversation));
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view row = argc == 3 ? argv[1] : "";
    const std::size_t n = argc == 3 ? std::stoul(argv[2]) : 0;
    if (row == "undue") return undue(n), 0;
    if (row == "clear") return clear(n), 0;
    if (row == "session") return session(n), 0;
    std::fprintf(stderr, "usage: bench_chain_rows undue|clear|session N\n");
    return 2;
}
