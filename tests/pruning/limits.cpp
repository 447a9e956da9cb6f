// Requests that a provider would refuse for their images or their bytes.
#include "support/catch.hpp"
#include "support/generators_messages.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/pruning/pruning.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// A screenshot of so many bytes, which say what it is.
ChatMessage screenshot(int number, std::size_t bytes = 600, int side = 800) {
    ChatMessage message = ChatMessage::user("look " + std::to_string(number));
    Part image{PartKind::media};
    image.media.mime = "image/png";
    image.media.bytes = "image " + std::to_string(number) + std::string(bytes, 'p');
    image.media.width = side;
    image.media.height = side;
    message.parts.push_back(image);
    return message;
}

template <AgentMessage M = ChatMessage>
Conversation<M> gallery(int images, std::size_t bytes = 600, int side = 800) {
    Conversation<M> conversation("gallery");
    for (int i = 0; i < images; ++i) {
        for (M& built : Builder<M>::build(screenshot(i, bytes, side))) conversation.push_back(std::move(built));
        for (M& built : Builder<M>::build(ChatMessage::assistant("seen"))) conversation.push_back(std::move(built));
    }
    for (M& built : Builder<M>::build(ChatMessage::user("and now?"))) conversation.push_back(std::move(built));
    return conversation;
}

ChainConfig limited_to(const RequestLimits& limits, bool with_store = true) {
    ChainConfig config;
    config.profile.validity.limits = limits;
    if (with_store) config.storage = memory_storage();
    return config;
}

std::size_t images_in(const Outline& outline) { return whittle::detail::size_of_request(outline).images; }

/// Only limits act.
PruningConfig limits_alone() { return {.skip_boundary_turns = 1'000}; }

/// Which images are left, by number.
std::vector<int> images_left(const Conversation<>& conversation) {
    std::vector<int> left;
    for (const ChatMessage& message : conversation.messages()) {
        for (const Part& part : message.parts) {
            if (part.kind == PartKind::media) left.push_back(std::stoi(std::string(part.media.bytes).substr(6)));
        }
    }
    return left;
}

}  // namespace

TEST_CASE("too many images become references, oldest first, before a request is refused", "[limits]") {
    ChainConfig config;
    config.storage = memory_storage();
    config.profile.validity.limits = {.max_images = 10};
    const Chain chain{config, Pruning{{.skip_boundary_turns = 1'000}}};
    Conversation<> conversation = gallery(12);
    REQUIRE(chain.before_model(conversation).changed());
    CHECK(images_in(conversation.outline()) == 7);  // three quarters: the cache is left alone for a while
    CHECK(text_of(conversation.messages()[0]).find("[image: ref://gallery/media/") != std::string::npos);
    CHECK(conversation.undo());
}

TEST_CASE("limits hold on every message type that has media", "[limits]") {
    for_each_message_type([](auto type) {
        using M = typename decltype(type)::type;
        Conversation<M> conversation = gallery<M>(12);
        if (images_in(conversation.outline()) < 12) return;  // it has none
        INFO(Builder<M>::name);
        const typename Chain<M>::Stages stages{std::make_shared<Pruning<M>>(limits_alone())};
        const Chain<M> chain(limited_to({.max_images = 8}), {}, stages);
        REQUIRE(chain.before_model(conversation).changed());
        CHECK(images_in(conversation.outline()) == 6);
        CHECK_FALSE(chain.before_model(conversation).changed());
        CHECK(conversation.undo());
        CHECK(images_in(conversation.outline()) == 12);
    });
}

TEST_CASE("within the limits nothing is touched, and the oldest go first", "[limits]") {
    Conversation<> conversation = gallery(8);
    const Chain chain{limited_to({.max_images = 8}), Pruning{limits_alone()}};
    CHECK_FALSE(chain.before_model(conversation).changed());
    conversation.push_back(ChatMessage::assistant("yes"));
    conversation.push_back(screenshot(8));
    REQUIRE(chain.before_model(conversation).changed());
    CHECK(images_left(conversation) == std::vector<int>{3, 4, 5, 6, 7, 8});
}

TEST_CASE("bytes of a request go down by media first, then by results", "[limits]") {
    Conversation<> media = gallery(10, 3'000);
    const Chain chain{limited_to({.max_request_bytes = 20'000}), Pruning{limits_alone()}};
    REQUIRE(chain.before_model(media).changed());
    const std::int64_t left = whittle::detail::size_of_request(media.outline()).bytes;
    CHECK(left <= 16'000);
    CHECK(left >= 10'000);

    Conversation<> texts("texts");
    texts.push_back(ChatMessage::user("read"));
    for (int i = 0; i < 6; ++i) {
        const std::string id = "t" + std::to_string(i);
        texts.push_back(ChatMessage::assistant("").call(id, "read_file", "{}"));
        texts.push_back(ChatMessage::result(id, "read_file", std::string(5'000, 'x')));
    }
    REQUIRE(chain.before_model(texts).changed());
    CHECK(whittle::detail::size_of_request(texts.outline()).bytes < 20'000);
    CHECK(texts.messages().back().parts.front().text.size() == 5'000);  // the open round
}

TEST_CASE("an image that is too large by itself goes, wherever it stands", "[limits]") {
    Conversation<> conversation = gallery(3, 600, 500);
    conversation.push_back(ChatMessage::assistant("more"));
    conversation.push_back(screenshot(3, 600, 9'000));
    conversation.push_back(ChatMessage::assistant("large"));
    conversation.push_back(ChatMessage::user("go on"));
    const RequestLimits sides{.max_image_side = 8'000};
    REQUIRE(Chain(limited_to(sides), Pruning{limits_alone()}).before_model(conversation).changed());
    CHECK(images_left(conversation) == std::vector<int>{0, 1, 2});

    Conversation<> many = gallery(6, 600, 3'000);
    const RequestLimits for_many{
        .max_image_side = 8'000, .many_images_threshold = 5, .max_side_with_many_images = 2'000};
    REQUIRE(Chain(limited_to(for_many), Pruning{limits_alone()}).before_model(many).changed());
    CHECK(validate(many.outline(), limited_to(for_many).profile.validity).empty());
}

TEST_CASE("what has to stay over the limits is told once, with the numbers", "[limits]") {
    Conversation<> conversation("pinned");
    conversation.push_back(screenshot(0));
    conversation.pin(conversation.outline()[0].serial);
    conversation.push_back(ChatMessage::assistant("yes"));
    conversation.push_back(screenshot(1));
    std::vector<std::string> told;
    ChainCallbacks<> callbacks;
    callbacks.on_event = [&](const Event& event) {
        if (event.kind == "over_limits") told.emplace_back(event.text);
    };
    const Chain<> chain(limited_to({.max_images = 1}), callbacks, Pruning<>{limits_alone()});
    CHECK_FALSE(chain.before_model(conversation).changed());
    CHECK_FALSE(chain.before_model(conversation).changed());
    REQUIRE(told.size() == 1);
    CHECK(told[0].find("2 images (limit 1)") != std::string::npos);
}

TEST_CASE("limits can be left to the host, and protections hold", "[limits]") {
    Conversation<> conversation = gallery(12);
    PruningConfig off = limits_alone();
    off.fit_image_and_byte_limits = false;
    CHECK_FALSE(Chain(limited_to({.max_images = 10}), Pruning{off}).before_model(conversation).changed());
}

TEST_CASE("a body that was refused as too large loses its media", "[limits]") {
    Conversation<> conversation = gallery(5);
    const Chain chain{limited_to({}), Pruning{limits_alone()}};
    CHECK(chain.on_overflow(conversation, {}));
    CHECK(images_in(conversation.outline()) == 0);
}

TEST_CASE("thousands of images in one message and in many are looked at in linear time", "[limits]") {
    for (const bool together : {false, true}) {
        Conversation<> conversation("many");
        ChatMessage all = ChatMessage::user("all");
        for (int i = 0; i < 3'000; ++i) {
            if (together) {
                all.parts.push_back(screenshot(i, 10).parts.back());
            } else {
                conversation.push_back(screenshot(i, 10));
            }
        }
        if (together) conversation.push_back(std::move(all));
        conversation.push_back(ChatMessage::assistant("seen"));
        conversation.push_back(ChatMessage::user("so?"));
        REQUIRE(Chain(limited_to({.max_images = 100}, false), Pruning{limits_alone()})
                    .before_model(conversation)
                    .changed());
        CHECK(images_in(conversation.outline()) == 75);
    }
}

TEST_CASE("an image that no request can have goes from the newest messages too, and comes back with undo", "[limits]") {
    const RequestLimits sides{.max_image_side = 8'000};
    for (const bool in_round : {false, true}) {
        CAPTURE(in_round);
        Conversation<> conversation = gallery(2);
        if (in_round) {
            conversation.push_back(ChatMessage::assistant("").call("s", "screenshot", "{}"));
            ChatMessage result = ChatMessage::result("s", "screenshot", "taken");
            result.parts.push_back(screenshot(2, 600, 9'000).parts.back());
            result.parts.back().call_id = "s";
            conversation.push_back(result);
        } else {
            conversation.push_back(ChatMessage::assistant("yes"));
            conversation.push_back(screenshot(2, 600, 9'000));
        }
        const std::vector<ChatMessage> before(conversation.messages().begin(), conversation.messages().end());
        const Chain chain{limited_to(sides), Pruning{limits_alone()}};
        REQUIRE(chain.before_model(conversation).changed());
        CHECK(images_left(conversation) == std::vector<int>{0, 1});
        CHECK(validate(conversation.outline(), limited_to(sides).profile.validity).empty());
        REQUIRE(conversation.undo());
        CHECK(std::ranges::equal(conversation.messages(), before));
    }
}

TEST_CASE("the warning about limits names the one that is broken", "[limits]") {
    Conversation<> conversation("pinned");
    conversation.push_back(screenshot(0, 600, 9'000));
    conversation.pin(conversation.outline()[0].serial);
    conversation.push_back(ChatMessage::assistant("yes"));
    conversation.push_back(ChatMessage::user("go on"));
    std::vector<std::string> told;
    ChainCallbacks<> callbacks;
    callbacks.on_event = [&](const Event& event) {
        if (event.kind == "over_limits") told.emplace_back(event.text);
    };
    const Chain<> chain(limited_to({.max_images = 10, .max_image_side = 8'000}), callbacks, Pruning<>{limits_alone()});
    CHECK_FALSE(chain.before_model(conversation).changed());
    REQUIRE(told.size() == 1);
    CHECK(told[0] ==
          "what has to stay is over the provider's limits: an image of 9000 pixels a side in message 1 (limit 8000)");
}
