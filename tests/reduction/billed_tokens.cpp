// Limits are in tokens that a provider bills, what is cleared is counted by us: the learnt ratio stands between them.
#include "support/catch.hpp"
#include "whittle/reduction/reduction.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

using namespace whittle;

namespace {

constexpr double ratios[] = {1.6, 0.7};

std::string result_text() { return std::string(2'000, 'x'); }

/// What clearing one result takes off our count.
std::int64_t counted_of_one() {
    return chars_counter()->count(result_text()) - chars_counter()->count(plain_placeholder(Language::english));
}

std::int64_t billed(double results, double ratio) {
    return static_cast<std::int64_t>(results * ratio * static_cast<double>(counted_of_one()));
}

/// The last reply, of which the provider bills `ratio` tokens for each of ours.
void answer(Conversation<>& conversation, double ratio) {
    ChatMessage last = ChatMessage::assistant("done");
    const std::int64_t counted = conversation.tokens(chars_counter()) + count_message(last, *chars_counter());
    const auto billed_input = static_cast<std::int64_t>(ratio * static_cast<double>(counted));
    conversation.push_back(std::move(last), Usage{.uncached_input = billed_input});
}

/// Seven rounds, of which six may be cleared.
Conversation<> seven_rounds(double ratio) {
    Conversation<> conversation("billed");
    conversation.push_back(ChatMessage::user("do"));
    for (const char* id : {"a", "b", "c", "d", "e", "f", "g"}) {
        conversation.push_back(ChatMessage::assistant("").call(id, "read"));
        conversation.push_back(ChatMessage::result(id, "read", result_text()));
    }
    answer(conversation, ratio);
    return conversation;
}

std::int64_t billed_size(Conversation<>& conversation) { return conversation.context(chars_counter(), {}, {}).total; }

std::ptrdiff_t cleared_in(const Conversation<>& conversation) {
    return std::ranges::count_if(conversation.messages(), [](const ChatMessage& m) {
        return m.role == Role::tool && m.parts.front().text == plain_placeholder(Language::english);
    });
}

Outcome clear(Conversation<>& conversation, const ReductionConfig& config) {
    return Chain({}, Reduction(config)).before_model(conversation).stages[0].outcome;
}

}  // namespace

TEST_CASE("a target is met by as many results as the provider's tokens ask for", "[reduction]") {
    for (const double ratio : ratios) {
        CAPTURE(ratio);
        Conversation<> conversation = seven_rounds(ratio);
        const std::int64_t size = billed_size(conversation);
        CHECK(clear(conversation, {.skip_truncation = true,
                                   .max_tokens_for_clear = size - 1,
                                   .clear_target_tokens = size - billed(2.5, ratio)}) == Outcome::committed);
        CHECK(cleared_in(conversation) == 3);
        CHECK(billed_size(conversation) < size - billed(2.5, ratio));
    }
}

TEST_CASE("a least gain is one of the provider's tokens", "[reduction]") {
    for (const double ratio : ratios) {
        CAPTURE(ratio);
        Conversation<> conversation = seven_rounds(ratio);
        ReductionConfig config{.skip_truncation = true, .max_tokens_for_clear = billed_size(conversation) - 1};
        config.clear_at_least_tokens = billed(6.5, ratio);
        CHECK(clear(conversation, config) == Outcome::too_small);
        CHECK(cleared_in(conversation) == 0);
        config.clear_target_tokens = billed_size(conversation);
        config.clear_at_least_tokens = billed(2.5, ratio);
        Conversation<> other = seven_rounds(ratio);
        CHECK(clear(other, config) == Outcome::committed);
        CHECK(cleared_in(other) == 3);
        config.clear_at_least_tokens = billed(5.5, ratio);
        Conversation<> all = seven_rounds(ratio);
        CHECK(clear(all, config) == Outcome::committed);
        CHECK(cleared_in(all) == 6);
    }
}

TEST_CASE("a plan that was too small waits for what is missing in the provider's tokens", "[reduction]") {
    Conversation<> conversation = seven_rounds(1.6);
    const std::int64_t size = billed_size(conversation);
    const Chain chain(
        {}, Reduction(
                {.skip_truncation = true, .max_tokens_for_clear = size - 1, .clear_at_least_tokens = billed(7, 1.6)}));
    CHECK(chain.before_model(conversation).stages[0].outcome == Outcome::too_small);
    const auto waits_for = conversation.notes("reduction").integer("retry_at_tokens").value_or(0) - size;
    CHECK(waits_for >= billed(1, 1.6) - 2);
    CHECK(waits_for <= billed(1, 1.6) + 2);
}

TEST_CASE("on overflow the newest results lose what is missing in the provider's tokens, and hardly more",
          "[overflow]") {
    for (const double ratio : ratios) {
        CAPTURE(ratio);
        Conversation<> conversation("billed");
        conversation.push_back(ChatMessage::user("do"));
        conversation.push_back(ChatMessage::assistant("").call("a", "read"));
        conversation.push_back(ChatMessage::result("a", "read", std::string(80'000, 'x')));
        answer(conversation, ratio);
        const std::int64_t size = billed_size(conversation);
        const Chain chain({.storage = memory_storage()},
                          Reduction({.max_length_for_trunc = 100'000, .max_tokens_for_clear = 1'000'000}));
        CHECK(chain.on_overflow(conversation, {.context_limit_tokens = size / 2, .requested_tokens = size}));
        CHECK(billed_size(conversation) <= size / 2);
        CHECK(billed_size(conversation) > size / 2 - 400);
    }
}
