// The tool fetch_media, by itself and in a loop.
#include "whittle/pruning/fetch_media.hpp"
#include "media.hpp"
#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/loop/agent_loop.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/openai/openai.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// A conversation whose first image lies in `storage`.
Conversation<> stripped(const std::shared_ptr<Storage>& storage) {
    Conversation<> c("conv");
    c.push_back(user_with_image<ChatMessage>("what is this?"));
    c.push_back(ChatMessage::assistant("a dot"));
    c.push_back(ChatMessage::user("sure?"));
    Chain<>(ChainConfig{.storage = storage}, Strip<ChatMessage>(MediaMode::reference)).before_model(c);
    return c;
}

std::string reference_in(std::string_view text) {
    const std::size_t at = text.find("ref://");
    if (at == std::string_view::npos) return {};
    return std::string(text.substr(at, text.find(']', at) - at));
}

std::string arguments_for(const std::string& reference) { return R"({"reference":")" + reference + "\"}"; }

struct Fetched {
    std::vector<Part> parts{};
    ToolOutcome outcome{};
};

Fetched fetch_for(const Conversation<>& c, const std::string& arguments, const FetchMediaOptions& options = {},
                  const std::shared_ptr<Storage>& storage = nullptr) {
    CollectingSink sink;
    ToolContext context{.call_id = "f", .arguments = arguments, .conversation_id = c.id(), .objects = c.objects()};
    Fetched fetched;
    fetched.outcome = fetch_media_tool(storage, options).invoke(context, sink);
    fetched.parts = sink.take();
    return fetched;
}

/// Asks to see again what the first message had, then answers.
template <AgentMessage M>
Reply<M> fetch_first(const ModelRequest<M>& request) {
    const auto calls = std::ranges::count_if(request.messages,
                                             [](const M& m) { return message_traits<M>::role(m) == Role::assistant; });
    if (calls > 2) return {message_traits<M>::make(Role::assistant, "it is a dot")};
    const std::string reference = reference_in(text_of(request.messages[0]));
    return {calling<M>("f1", "fetch_media", arguments_for(reference))};
}

template <AgentMessage M>
std::vector<std::string> images_from(const Conversation<M>& c, std::size_t first) {
    std::vector<std::string> images;
    for (std::size_t i = first; i < c.size(); ++i) {
        for (std::string& image : images_in(c.messages()[i])) images.push_back(std::move(image));
    }
    return images;
}

}  // namespace

TEST_CASE("an image that was taken out comes back as it was", "[fetch_media]") {
    const auto storage = memory_storage();
    const Conversation c = stripped(storage);
    const std::string text = text_of(c.messages()[0]);
    const std::string reference = GENERATE_COPY(reference_in(text), text, reference_in(text).substr(6));
    const Fetched fetched = fetch_for(c, arguments_for(reference));
    CHECK_FALSE(fetched.outcome.is_error);
    REQUIRE(fetched.parts.size() == 2);
    CHECK(fetched.parts[0].text == reference_in(text));
    CHECK(fetched.parts[1] == image());
    CHECK(fetched.outcome.read_back == std::vector{reference_in(text).substr(6)});
}

TEST_CASE("a reference is taken as a model copies it: with quotes, brackets, punctuation or the words around",
          "[fetch_media]") {
    const auto storage = memory_storage();
    const Conversation c = stripped(storage);
    const std::string reference = reference_in(text_of(c.messages()[0]));
    const std::string key = reference.substr(6);
    for (const std::string& copied :
         {reference + ":", "`" + reference + "`", "<" + reference + ">.", "[image: " + reference + "]",
          "'" + key + "',", "the image at " + reference + ", please", "\n" + reference + "\n",
          "\xE2\x80\x9C" + key + "\xE2\x80\x9D", "REF " + reference + "...", "(" + key + ")"}) {
        CAPTURE(copied);
        std::string escaped;
        for (const char ch : copied) escaped += ch == '\n' ? std::string("\\n") : std::string(1, ch);
        CHECK_FALSE(fetch_for(c, arguments_for(escaped)).outcome.is_error);
    }
    for (const std::string& other : {"x" + key, key + "x", std::string(":::"), key.substr(1)}) {
        CAPTURE(other);
        CHECK(fetch_for(c, arguments_for(other)).outcome.is_error);
    }
}

TEST_CASE("bytes that are no text, a link, and sizes come back as they were", "[fetch_media]") {
    const Media media = GENERATE(Media{.mime = "audio/wav", .bytes = std::string("\0\xff\xfe", 3)},
                                 Media{.mime = "image/*", .url = "https://example.org/a.png"},
                                 Media{.mime = "image/gif", .bytes = "GIF89a", .width = 7, .height = 9});
    const auto storage = memory_storage();
    Conversation<> c("conv");
    c.push_back({.role = Role::user, .parts = {{.text = "see"}, {.kind = PartKind::media, .media = media}}});
    c.push_back(ChatMessage::user("thanks"));
    Chain<>(ChainConfig{.storage = storage}, Strip<ChatMessage>(MediaMode::reference)).before_model(c);
    const Fetched fetched = fetch_for(c, arguments_for(reference_in(text_of(c.messages()[0]))));
    REQUIRE(fetched.parts.size() == 2);
    CHECK(fetched.parts[1].media == media);
}

TEST_CASE("what is wrong with a call is an error result that says so", "[fetch_media]") {
    const auto storage = memory_storage();
    Conversation c = stripped(storage);
    const std::string key = reference_in(text_of(c.messages()[0]));
    const auto says = [&](const std::string& arguments, std::string_view what, const FetchMediaOptions& options = {}) {
        const Fetched fetched = fetch_for(c, arguments, options);
        CHECK(fetched.outcome.is_error);
        REQUIRE(fetched.parts.size() == 1);
        CHECK(fetched.parts[0].text.find(what) != std::string::npos);
    };
    says("{}", "\"reference\": a string is required");
    says("[1]", "\"reference\": a string is required");
    says(R"({"reference":"ref://other/media/ab"})", "names nothing that was stored of this conversation");
    says(arguments_for(key), "the limit is 10", {.max_stored_bytes = 10});
    REQUIRE(storage->remove(key.substr(6)));
    says(arguments_for(key), "no longer stored");
}

TEST_CASE("a stored text is no image, and a damaged object is none either", "[fetch_media]") {
    const auto storage = memory_storage();
    const std::string content =
        GENERATE(std::string(5'000, 'x'),
                 R"([{"type":"media","mime":"image/png","bytes":{"base64":"!"}}])" + std::string(5'000, ' '));
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant().call("a", "run"));
    c.push_back(ChatMessage::result("a", "run", content));
    c.push_back(ChatMessage::assistant("done"));
    Chain<>(ChainConfig{.storage = storage}, Pruning<>({.skip_boundary_turns = 0})).before_model(c);
    const std::string key = pruned_key("conv", "a", content);
    REQUIRE(storage->stat(key));
    const Fetched fetched = fetch_for(c, arguments_for("ref://" + key));
    CHECK(fetched.outcome.is_error);
    REQUIRE(fetched.parts.size() == 1);
    const bool is_text = content.front() == 'x';
    CHECK(fetched.parts[0].text.find(is_text ? "holds no media" : "base64 is damaged") != std::string::npos);
}

TEST_CASE("the tool checks its options", "[fetch_media]") {
    CHECK(errc_of([] { static_cast<void>(fetch_media_tool(nullptr, {.max_stored_bytes = 0})); }) ==
          Errc::invalid_config);
    CHECK(fetch_media_tool(nullptr, {.language = Language::chinese}).description.find("ref://") != std::string::npos);
}

TEST_CASE("a loop offers fetch_media where a middleware moves media into the storage", "[fetch_media]") {
    const auto names = [](const Chain<>& chain, const LoopConfig& config = {}) {
        const auto model = std::make_shared<ScriptedModel<ChatMessage>>(std::vector<ChatMessage>{});
        std::vector<std::string> offered;
        const AgentLoop<> loop(model, {}, chain, config);
        for (const ToolSpec& spec : loop.tool_specs()) offered.push_back(spec.name);
        return offered;
    };
    using Names = std::vector<std::string>;
    const ChainConfig stores{.storage = memory_storage()};
    CHECK(names(Chain<>(stores, Strip<ChatMessage>(MediaMode::reference))) == Names{"read_offloaded", "fetch_media"});
    CHECK(names(Chain<>(stores, Pruning<>())) == Names{"read_offloaded", "fetch_media"});
    CHECK(names(Chain<>(stores)) == Names{"read_offloaded"});
    CHECK(names(Chain<>(ChainConfig{}, Pruning<>())).empty());
    CHECK(names(Chain<>(stores, Pruning<>()), {.offer_fetch_media = false}) == Names{"read_offloaded"});
}

TEMPLATE_TEST_CASE("in a loop the model sees an old image again, bit for bit, as its provider takes it",
                   "[fetch_media]", ChatMessage, openai::Message, anthropic::Message) {
    using M = TestType;
    const ChainConfig config = chain_for<M>(memory_storage());
    Conversation<M> c("conv");
    c.push_back(user_with_image<M>("what is this?"));
    c.push_back(message_traits<M>::make(Role::assistant, "hm"));
    c.push_back(message_traits<M>::make(Role::user, "well?"));
    c.push_back(message_traits<M>::make(Role::assistant, "let me think"));
    const auto model = std::make_shared<ScriptedModel<M>>(&fetch_first<M>);
    AgentLoop<M> loop(model, {}, Chain<M>(config, Strip<M>(MediaMode::reference, 3)));
    const RunResult result = loop.run(c, "look again");
    CHECK(result.outcome == RunOutcome::answered);
    CHECK(images_in(c.messages()[0]).empty());
    CHECK(images_from(c, 5) == std::vector{pixel_url});
    CHECK(validate(c.outline(), config.profile.validity).empty());
    CHECK(c.read_backs() == 1);
}
