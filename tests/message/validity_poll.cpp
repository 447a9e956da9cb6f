#include "support/catch.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/message/validity.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

using namespace whittle;

namespace {

struct Enough {};

/// One call with 1,000 results that answer it, in one message.
std::vector<MessageInfo> one_message_of_results() {
    ChatMessage results = ChatMessage::result("c", "read", "0");
    for (int i = 1; i < 1'000; ++i) {
        results.parts.push_back(results.parts.front());
        results.parts.back().text = std::to_string(i);
    }
    std::vector<MessageInfo> infos{describe(ChatMessage::user("go")),
                                   describe(ChatMessage::assistant("").call("c", "read", "{}")), describe(results)};
    for (std::size_t i = 0; i < infos.size(); ++i) infos[i].serial = i + 1;
    link_rounds(infos);
    return infos;
}

}  // namespace

TEST_CASE("validation polls for each part of a message, and ends with what the check throws", "[validity]") {
    const std::vector<MessageInfo> infos = one_message_of_results();
    const Outline outline{infos};
    std::size_t polls = 0;
    const auto found = validate(outline, anthropic_messages(), std::nullopt, [&] { ++polls; });
    CHECK(found == validate(outline, anthropic_messages()));
    CHECK(polls > 1'000);
    for (const std::size_t at : {std::size_t{1}, std::size_t{500}, polls}) {
        std::size_t seen = 0;
        CHECK_THROWS_AS(validate(outline, anthropic_messages(), std::nullopt,
                                 [&] {
                                     if (++seen == at) throw Enough{};
                                 }),
                        Enough);
        CHECK(seen == at);
    }
}
