// A model that asks again for what has left the request.
#include "support/catch.hpp"
#include "support/generators_messages.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/reduction/reduction.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

template <AgentMessage M>
void push_as(Conversation<M>& conversation, const ChatMessage& message) {
    for (M& built : Builder<M>::build(message)) conversation.push_back(std::move(built));
}

std::string path_of(const std::string& name) { return "{\"path\":\"" + name + "\"}"; }

/// Rounds that read a file each, and calls that are open: `again` of them.
template <AgentMessage M = ChatMessage>
Conversation<M> reading_again(const std::vector<std::string>& files, const std::vector<std::string>& again) {
    Conversation<M> conversation("again");
    push_as(conversation, ChatMessage::user("read"));
    for (std::size_t i = 0; i < files.size(); ++i) {
        const std::string id = "g" + std::to_string(i);
        push_as(conversation, ChatMessage::assistant("").call(id, "read_file", path_of(files[i])));
        push_as(conversation, ChatMessage::result(id, "read_file", std::string(4'000, 'x')));
    }
    ChatMessage open = ChatMessage::assistant("");
    for (std::size_t i = 0; i < again.size(); ++i) open.call("o" + std::to_string(i), "read_file", path_of(again[i]));
    push_as(conversation, open);
    return conversation;
}

template <AgentMessage M = ChatMessage>
Chain<M> clearing_chain(std::vector<std::string>* told = nullptr) {
    ChainConfig config;
    config.storage = memory_storage();
    ChainCallbacks<M> callbacks;
    if (told != nullptr) {
        callbacks.on_event = [told](const Event& event) {
            if (event.kind == "repeated_call") told->emplace_back(event.text);
        };
    }
    const typename Chain<M>::Stages stages{
        std::make_shared<Reduction<M>>(ReductionConfig{.skip_truncation = true, .max_tokens_for_clear = 100})};
    return Chain<M>(std::move(config), std::move(callbacks), stages);
}

}  // namespace

TEST_CASE("a call for what was cleared is noticed once, counted, and told where the text is, on every message type",
          "[repeated_calls]") {
    for_each_message_type([](auto type) {
        using M = typename decltype(type)::type;
        if constexpr (ToolMessage<M>) {
            INFO(Builder<M>::name);
            std::vector<std::string> told;
            const Chain<M> chain = clearing_chain<M>(&told);
            Conversation<M> conversation = reading_again<M>({"a.txt", "b.txt", "c.txt"}, {"a.txt", "new.txt"});
            REQUIRE(chain.before_model(conversation).changed());
            const std::vector<ToolContext> calls = chain.pending_tool_calls(conversation);
            REQUIRE(calls.size() == 2);
            REQUIRE(calls[0].earlier_same_call_keys.size() == 1);
            CHECK(calls[0].storage->get(calls[0].earlier_same_call_keys[0], 0, 10).has_value());
            CHECK(calls[1].earlier_same_call_keys.empty());
            CHECK(conversation.repeated_calls_after_eviction() == 1);
            REQUIRE(told.size() == 1);
            CHECK(told[0].find(calls[0].earlier_same_call_keys[0]) != std::string::npos);
            CHECK(told[0].find("read_file is called again") != std::string::npos);
            CHECK(chain.pending_tool_calls(conversation).size() == 2);
            CHECK(conversation.repeated_calls_after_eviction() == 1);
            CHECK(told.size() == 1);
        }
    });
}

TEST_CASE("a call for what the model still sees is no repeat, nor one with other arguments or of another tool",
          "[repeated_calls]") {
    Conversation<> conversation = reading_again({"a.txt", "b.txt", "c.txt"}, {"a.txt", "A.txt"});
    const Chain<> chain = clearing_chain();
    for (const ToolContext& call : chain.pending_tool_calls(conversation)) CHECK(call.earlier_same_call_keys.empty());
    REQUIRE(chain.before_model(conversation).changed());
    CHECK_FALSE(chain.pending_tool_calls(conversation)[0].earlier_same_call_keys.empty());
    CHECK(chain.pending_tool_calls(conversation)[1].earlier_same_call_keys.empty());

    Conversation<> grep = reading_again({"a.txt", "b.txt", "c.txt"}, {});
    grep.push_back(ChatMessage::assistant("").call("h", "grep", path_of("a.txt")));
    REQUIRE(chain.before_model(grep).changed());
    for (const ToolContext& call : chain.pending_tool_calls(grep)) CHECK(call.earlier_same_call_keys.empty());
    CHECK(grep.repeated_calls_after_eviction() == 0);
}

TEST_CASE("a result that was read again meanwhile, and is whole, is no lost one", "[repeated_calls]") {
    Conversation<> conversation = reading_again({"a.txt", "b.txt", "a.txt"}, {"a.txt"});
    const Chain<> chain = clearing_chain();
    REQUIRE(chain.before_model(conversation).changed());
    const auto whole = [&](std::size_t i) { return conversation.messages()[i].parts.front().text.size() == 4'000; };
    REQUIRE_FALSE(whole(2));
    CHECK(chain.pending_tool_calls(conversation)[0].earlier_same_call_keys.empty() == whole(6));
}

TEST_CASE("a call that an undo brought back is known again", "[repeated_calls]") {
    Conversation<> conversation = reading_again({"a.txt", "b.txt", "c.txt"}, {"a.txt"});
    const Chain<> chain = clearing_chain();
    // The first round goes, is looked past, comes back, and is cleared.
    const Serial first = conversation.outline()[1].serial;
    ReductionCallbacks<> dropping;
    dropping.clear_message_rewriter = [](const CallbackContext&, const ChatMessage&, std::span<const ChatMessage>) {
        return std::vector<ChatMessage>{};
    };
    ChainConfig config;
    config.storage = memory_storage();
    const Chain<> rewriting(config, Reduction<>{{.skip_truncation = true, .max_tokens_for_clear = 100}, dropping});
    REQUIRE(rewriting.before_model(conversation).changed());
    REQUIRE_FALSE(conversation.outline().index_of(first));
    CHECK(rewriting.pending_tool_calls(conversation)[0].earlier_same_call_keys.empty());
    REQUIRE(conversation.undo());
    REQUIRE(conversation.outline().index_of(first));
    for (std::size_t i = 0; i < conversation.size(); ++i) conversation.unpin(conversation.outline()[i].serial);
    REQUIRE(chain.before_model(conversation).changed());
    CHECK_FALSE(chain.pending_tool_calls(conversation)[0].earlier_same_call_keys.empty());
}

TEST_CASE("a host may show the stored text instead of running the tool again", "[repeated_calls]") {
    const Chain<> chain = clearing_chain();
    Conversation<> conversation = reading_again({"a.txt", "b.txt", "c.txt"}, {"a.txt"});
    chain.before_model(conversation);
    for (const ToolContext& call : chain.pending_tool_calls(conversation)) {
        if (call.earlier_same_call_keys.empty()) continue;
        const std::string text = call.storage->get(call.earlier_same_call_keys[0], 0, 1'000'000).value_or("");
        CHECK(text == std::string(4'000, 'x'));
    }
}

TEST_CASE("thousands of equal calls, earlier and now, are compared in linear time", "[repeated_calls]") {
    const std::vector<std::string> same(3'000, "a.txt");
    Conversation<> conversation = reading_again(same, same);
    const Chain<> chain = clearing_chain();
    REQUIRE(chain.before_model(conversation).changed());
    CHECK(chain.pending_tool_calls(conversation).size() == 3'000);
    CHECK(conversation.repeated_calls_after_eviction() == 3'000);
}
