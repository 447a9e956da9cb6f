#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/tokens/counter.hpp"

#include <string>

using namespace whittle;
using namespace whittle::testing;

TEST_CASE("a polled counter counts as the one that it asks, and polls before each text", "[tokens]") {
    int polls = 0;
    const auto counter = cancellable_counter(pessimistic_counter(), [&] { ++polls; });
    CHECK(counter->id() == pessimistic_counter()->id());
    CHECK(counter->media_tokens({}) == pessimistic_counter()->media_tokens({}));
    const ChatMessage call = ChatMessage::assistant("two").call("c", "read", "{}");
    CHECK(count_message(call, *counter) == count_message(call, *pessimistic_counter()));
    CHECK(polls == 3);  // the text, the arguments and the tool's name
}

TEST_CASE("what a check throws ends a count in the midst of a message", "[tokens]") {
    struct Enough {};
    int polls = 0;
    const auto counter = cancellable_counter(chars_counter(), [&] {
        if (++polls == 2) throw Enough{};
    });
    CHECK_THROWS_AS(count_message(ChatMessage::assistant("two").call("c", "read", "{}"), *counter), Enough);
    CHECK(polls == 2);
}

TEST_CASE("a polled counter needs a counter and a function", "[tokens]") {
    CHECK(errc_of([] { (void)cancellable_counter(nullptr, [] {}); }) == Errc::invalid_argument);
    CHECK(errc_of([] { (void)cancellable_counter(chars_counter(), {}); }) == Errc::invalid_argument);
}
