// Rows of hook runs.
#include "../history.hpp"
#include "row.hpp"

#include <whittle/tiktoken/vocabulary.hpp>
#include <whittle/whittle.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <random>

namespace whittle::bench {
namespace {

constexpr std::size_t hook_steps = 200;

Chain<> chain_of(std::int64_t trigger, std::shared_ptr<const TokenCounter> counter = chars_counter()) {
    ChainConfig config;
    config.storage = memory_storage();
    config.token_counter = std::move(counter);
    ReductionConfig reduction;
    reduction.skip_truncation = true;
    reduction.max_tokens_for_clear = trigger;
    reduction.clear_retention_suffix_limit = 3;
    return Chain{std::move(config), Reduction{std::move(reduction)}};
}

std::int64_t cleared_in(const Conversation<>& conversation) {
    return std::ranges::count_if(conversation.messages(), [](const ChatMessage& m) {
        return m.role == Role::tool &&
               count_message(m, *chars_counter()) < static_cast<std::int64_t>(bytes_per_result) / 8;
    });
}

/// Lines that differ, as a log's do.
std::string log_of(std::size_t bytes, std::mt19937& random) {
    constexpr std::array words{"request", "session", "cache", "upload", "index", "retry", "payment", "export"};
    std::string text;
    while (text.size() < bytes) {
        std::array<char, 160> line{};
        const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
        std::snprintf(line.data(), line.size(),
                      "2026-11-22T10:%02u:%02u.%03uZ [worker-%u] %s %08x finished in %u ms, %u rows\n", below(60),
                      below(60), below(1'000), below(32), words[below(8)], below(4'000'000'000), below(5'000),
                      below(100'000));
        text += line.data();
    }
    text.resize(bytes);
    return text;
}

std::vector<std::string> logs_of(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::string> logs(count);
    for (std::string& log : logs) log = log_of(bytes_per_result, random);
    return logs;
}

/// Calls `step` with a conversation of about that size, `hook_steps` times. One that has grown by a twentieth is given
/// up for a new one.
template <typename Step>
void for_each_step(const Chain<>& chain, std::size_t messages, Step&& step) {
    const std::size_t of_one = std::clamp<std::size_t>(messages / 40, 1, hook_steps);
    for (std::size_t done = 0; done < hook_steps; done += of_one) {
        Conversation<> conversation = history_of(messages, bytes_per_result);
        chain.before_model(conversation);
        step(conversation, std::min(of_one, hook_steps - done));
    }
}

}  // namespace

/// `pass alone` is the median of single hook runs on the wall: they are too short for the processor's clock, and an
/// interrupted one does not count.
Row undue(std::size_t messages) {
    const Chain<> chain = chain_of(never);
    Row row;
    std::vector<double> passes;
    for_each_step(chain, messages, [&](Conversation<>& conversation, std::size_t count) {
        row.seconds += seconds_of([&] {
            for (std::size_t i = 0; i < count; ++i) {
                push_round(conversation, std::string(bytes_per_result, 'x'));
                chain.before_model(conversation);
            }
        });
    });
    row.seconds /= hook_steps;
    for_each_step(chain, messages, [&](Conversation<>& conversation, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            push_round(conversation, std::string(bytes_per_result, 'x'));
            const auto start = std::chrono::steady_clock::now();
            chain.before_model(conversation);
            passes.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        }
        push_round(conversation, std::string(bytes_per_result, 'x'));
        const long before = allocations_so_far();
        chain.before_model(conversation);
        row.allocations = allocations_so_far() - before;
        row.check = cleared_in(conversation);
    });
    const auto middle = passes.begin() + static_cast<std::ptrdiff_t>(passes.size() / 2);
    std::ranges::nth_element(passes, middle);
    row.more = {{"seconds_pass_alone", *middle}};
    return row;
}

/// The texts of the steps and those that are only counted differ, so that neither finds the other's pieces known.
Row undue_exact(std::size_t messages, const std::string& vocabulary) {
    const auto counter = exact_counter(Vocabulary::open(vocabulary));
    const Chain<> chain = chain_of(never, counter);
    Conversation<> conversation = history_of(messages, bytes_per_result);
    for (std::string& log : logs_of(hook_steps, 1)) push_round(conversation, std::move(log));
    chain.before_model(conversation);
    std::vector<std::string> logs = logs_of(hook_steps, 2);
    const std::vector<std::string> others = logs_of(hook_steps, 3);
    Row row;
    row.seconds = seconds_of([&] {
                      for (std::string& log : logs) {
                          push_round(conversation, std::move(log));
                          chain.before_model(conversation);
                      }
                  }) /
                  hook_steps;
    std::int64_t tokens = 0;
    const double counting = seconds_of([&] {
        for (const std::string& log : others) {
            tokens += counter->count("read") + counter->count(R"({"path":"src/main.cpp"})") + counter->count(log);
        }
    });
    row.check = cleared_in(conversation);
    row.more = {{"seconds_counting_alone", counting / hook_steps},
                {"tokens", static_cast<double>(tokens) / hook_steps}};
    return row;
}

Row clear(std::size_t messages) {
    const Chain<> chain = chain_of(1'000);
    Conversation<> conversation = history_of(messages, bytes_per_result);
    static_cast<void>(conversation.tokens(chars_counter()));  // a running conversation has its counts
    const long before = allocations_so_far();
    Row row;
    row.seconds = seconds_of([&] { chain.before_model(conversation); });
    row.allocations = allocations_so_far() - before;
    row.check = cleared_in(conversation);
    return row;
}

Row session(std::size_t calls) {
    const Chain<> chain = chain_of(never);
    Conversation<> conversation("bench");
    conversation.push_back(ChatMessage::user("go"));
    const long before = allocations_so_far();
    Row row;
    row.seconds = seconds_of([&] {
        for (std::size_t i = 0; i < calls; ++i) {
            push_round(conversation, std::string(bytes_per_result, 'x'));
            chain.before_model(conversation);
        }
    });
    row.allocations = allocations_so_far() - before;
    row.check = cleared_in(conversation);
    return row;
}

/// With a window of 200,000 tokens, so that results are cut and cleared time and again. Hook runs are on the wall: how
/// long an agent waits in front of a request.
Row preset(std::size_t calls) {
    const Chain<> chain = make_chain(recommended({.context_window = 200'000}));
    Conversation<> conversation("bench");
    conversation.push_back(ChatMessage::user("go"));
    std::vector<double> runs;
    std::int64_t most_tokens = 0;
    Row row;
    std::vector<std::string> logs = logs_of(calls, 4);
    const auto counter = chars_counter();
    row.seconds = seconds_of([&] {
        for (std::string& log : logs) {
            push_round(conversation, std::move(log));
            const auto start = std::chrono::steady_clock::now();
            chain.before_model(conversation);
            runs.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
            most_tokens = std::max(most_tokens, conversation.tokens(counter));
        }
    });
    row.seconds /= static_cast<double>(calls);
    row.check = cleared_in(conversation);
    std::ranges::sort(runs);
    row.more = {{"seconds_hook_median", runs[runs.size() / 2]},
                {"seconds_hook_99th", runs[runs.size() * 99 / 100]},
                {"seconds_hook_longest", runs.back()},
                {"most_tokens", static_cast<double>(most_tokens)}};
    return row;
}

/// One request, as the peers make one: the bound of a request, which would split the fold, is out of reach. All else is
/// the default: acceptance of the reply, facts and user messages that are kept, the check of the commit, the journal.
Row summary(std::size_t messages) {
    double asked = 0;
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>([&](const ModelRequest<ChatMessage>&) {
        asked = cpu_seconds();
        return Reply<ChatMessage>{ChatMessage::assistant(
            "The user asked to go. src/main.cpp was read in every step and nothing was changed. Next: answer.")};
    });
    SummarizationConfig config;
    config.trigger = {.context_tokens = 100'000};
    config.max_input_tokens = never;
    ChainConfig defaults;
    const Chain chain{std::move(defaults), Summarization{std::shared_ptr<Model<ChatMessage>>(model), config}};
    Conversation<> conversation = history_of(messages, bytes_per_result);
    static_cast<void>(conversation.tokens(chars_counter()));
    const long before = allocations_so_far();
    const double start = cpu_seconds();
    chain.before_model(conversation);
    Row row;
    row.seconds = cpu_seconds() - start;
    row.allocations = allocations_so_far() - before;
    row.check = std::ranges::count_if(conversation.messages(), [](const ChatMessage& m) {
        return text_of(m).find("src/main.cpp was read in every step") != std::string::npos;
    });
    if (conversation.size() >= messages) row.check = 0;
    row.more = {{"seconds_to_request", asked - start}};
    return row;
}

}  // namespace whittle::bench
