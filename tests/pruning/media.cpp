// Taking media out of messages, and what stands in their place.
#include "media.hpp"
#include "support/catch.hpp"
#include "support/faulty_storage.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/openai/openai.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

template <AgentMessage M>
std::vector<std::string> media_keys(const Conversation<M>& c) {
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < c.size(); ++i) {
        for (const PartInfo& part : c.outline()[i].parts) {
            if (part.mark && part.mark->reason == media_reason)
                keys.push_back(part.mark->stored_keys.empty() ? "" : part.mark->stored_keys.front());
        }
    }
    return keys;
}

/// A user message with an image, a call whose result has one, and a newest user message with one.
template <AgentMessage M>
Conversation<M> with_images() {
    Conversation<M> c("conv");
    c.push_back(user_with_image<M>("what is this?"));
    c.push_back(calling<M>("a", "shot"));
    const ToolResult shot{"a", "shot", {{.kind = PartKind::text, .text = "taken"}, image()}};
    c.push_tool_results(std::vector{shot});
    c.push_back(message_traits<M>::make(Role::assistant, "a dot"));
    c.push_back(user_with_image<M>("and this?"));
    return c;
}

template <AgentMessage M>
std::vector<M> copy_of(const Conversation<M>& c) {
    return {c.messages().begin(), c.messages().end()};
}

template <AgentMessage M>
StageGain strip(Conversation<M>& c, MediaMode mode, const std::shared_ptr<Storage>& storage,
                std::size_t end = static_cast<std::size_t>(-1)) {
    const auto stage = std::make_shared<Strip<M>>(mode, end);
    Chain<M>(chain_for<M>(storage), {}, {stage}).before_model(c);
    return stage->gain;
}

ToolReturn protected_shot() { return {.result = {"a", "skill", {{.kind = PartKind::text, .text = "look"}, image()}}}; }

}  // namespace

TEMPLATE_TEST_CASE("old images become references, in messages and in tool results, whatever the message type",
                   "[media]", ChatMessage, openai::Message, anthropic::Message) {
    auto c = with_images<TestType>();
    const auto before = copy_of(c);
    const auto storage = memory_storage();
    const std::int64_t tokens = c.tokens(chars_counter());
    const StageGain gain = strip(c, MediaMode::reference, storage);
    CHECK(gain.count == 2);
    CHECK(gain.tokens == tokens - c.tokens(chars_counter()));
    CHECK(gain.tokens > 3'000);   // 2'000 each, less the references
    CHECK(count_images(c) == 1);  // that of the newest user message
    CHECK(text_of(c.messages()[0]) == "what is this?[image: ref://" + media_keys(c).front() + "]");
    for (const std::string& key : media_keys(c)) {
        REQUIRE(key.starts_with("conv/media/"));
        CHECK(key.substr(11) == sha256_hex(*storage->get(key)));
    }
    CHECK(strip(c, MediaMode::reference, storage).count == 0);
    REQUIRE(c.undo());
    CHECK(copy_of(c) == before);
}

TEMPLATE_TEST_CASE("without a store, or if so asked, a placeholder stands there and the journal has the image",
                   "[media]", ChatMessage, openai::Message, anthropic::Message) {
    const bool has_store = GENERATE(false, true);
    auto c = with_images<TestType>();
    const auto before = copy_of(c);
    const auto storage = has_store ? memory_storage() : nullptr;
    strip(c, has_store ? MediaMode::placeholder : MediaMode::automatic, storage);
    CHECK(text_of(c.messages()[0]) == "what is this?[image removed]");
    CHECK(media_keys(c) == std::vector<std::string>{"", ""});
    REQUIRE(c.undo());
    CHECK(copy_of(c) == before);
}

TEST_CASE("automatic is a reference where there is a store", "[media]") {
    auto c = with_images<ChatMessage>();
    strip(c, MediaMode::automatic, memory_storage());
    CHECK(media_keys(c).front().starts_with("conv/media/"));
}

TEST_CASE("kept media stay, and so do those behind the end and pinned ones", "[media]") {
    auto c = with_images<ChatMessage>();
    CHECK(strip(c, MediaMode::keep, memory_storage()).count == 0);
    CHECK(strip(c, MediaMode::reference, memory_storage(), 0).count == 0);
    CHECK(c.pin(c.outline()[0].serial));
    CHECK(strip(c, MediaMode::reference, memory_storage(), 2).count == 0);
    CHECK(count_images(c) == 3);
}

TEST_CASE("an image in the result of a protected tool stays", "[media]") {
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("do"));
    c.push_back(calling<ChatMessage>("a", "skill"));
    c.push_tool_results(std::vector{protected_shot()});
    c.push_back(ChatMessage::assistant("done"));
    CHECK(strip(c, MediaMode::reference, memory_storage()).count == 0);
}

TEST_CASE("the same image is stored once in a conversation, another one apart", "[media]") {
    auto c = with_images<ChatMessage>();
    c.push_back(ChatMessage::assistant("a line"));
    c.push_back({.role = Role::user, .parts = {{.text = "now"}, image("other bytes")}});
    c.push_back(ChatMessage::assistant("a box"));
    c.push_back(ChatMessage::user("thanks"));
    const auto storage = memory_storage();
    CHECK(strip(c, MediaMode::reference, storage).count == 4);
    std::size_t objects = 0;
    storage->list("conv/media/", [&](const ObjectInfo&) { return ++objects, true; });
    CHECK(objects == 2);
}

TEST_CASE("a linked image keeps its link in the object", "[media]") {
    Conversation<> c("conv");
    const std::string link = "https://example.org/cat.jpg";
    c.push_back({.role = Role::user,
                 .parts = {{.text = "see"}, {.kind = PartKind::media, .media = {.mime = "image/*", .url = link}}}});
    c.push_back(ChatMessage::user("thanks"));
    const auto storage = memory_storage();
    CHECK(strip(c, MediaMode::reference, storage).count == 1);
    CHECK(storage->get(media_keys(c).front())->find(link) != std::string::npos);
}

TEST_CASE("an image that the store refuses stays", "[media]") {
    auto c = with_images<ChatMessage>();
    strip(c, MediaMode::reference, std::make_shared<FaultyStorage>(memory_storage(), 1));
    CHECK(count_images(c) == 2);
    CHECK(images_in(c.messages()[0]).size() == 1);
}

TEST_CASE("an image that weighs less than its reference stays", "[media]") {
    auto c = with_images<ChatMessage>();
    const auto stage = std::make_shared<Strip<ChatMessage>>(MediaMode::reference);
    const ChainConfig config{.token_counter = chars_counter({.tokens_per_image = 3}), .storage = memory_storage()};
    Chain<>(config, {}, {stage}).before_model(c);
    CHECK(stage->gain.count == 0);
    CHECK(count_images(c) == 3);
}

TEST_CASE("a user message of nothing but an image is no user turn, before and after the image went", "[media]") {
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant("done"));
    c.push_back(user_with_image<ChatMessage>(""));
    c.push_back(ChatMessage::assistant("a dot"));
    c.push_back(ChatMessage::user("thanks"));
    const auto boundary = [&] { return pruning_boundary(c.outline(), {.skip_boundary_turns = 2}); };
    REQUIRE(boundary() == 0);
    REQUIRE_FALSE(is_original_user_message(c.outline()[2]));
    REQUIRE(strip(c, MediaMode::reference, memory_storage()).count == 1);
    CHECK(c.messages()[2].parts[0].kind == PartKind::text);
    CHECK_FALSE(is_original_user_message(c.outline()[2]));
    CHECK(boundary() == 0);
}

TEST_CASE("the text says what it was, in both languages", "[media]") {
    const auto english = [](std::string_view mime) { return media_removed(mime, Language::english); };
    CHECK(english("image/png") == "[image removed]");
    CHECK(english("audio/wav") == "[audio removed]");
    CHECK(english("video/mp4") == "[video removed]");
    CHECK(english("application/pdf") == "[document removed]");
    CHECK(english("") == "[media removed]");
    CHECK(media_reference("c/media/ab", "image/png", Language::english) == "[image: ref://c/media/ab]");
    CHECK(media_reference("c/media/ab", "image/png", Language::chinese) == "[图片: ref://c/media/ab]");
    CHECK(media_removed("image/png", Language::chinese) == "[图片已移除]");
    CHECK(to_string(MediaMode::automatic) == "automatic");
    CHECK(to_string(MediaMode::reference) == "reference");
}
