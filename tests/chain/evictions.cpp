// What tells a host's tools and guards that the model no longer sees a result.
#include "support/catch.hpp"
#include "support/generators_messages.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/summarization/summarization.hpp"

#include <cstddef>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

struct Told {
    std::string middleware{};
    Serial serial = 0;
    std::string tool{};
    std::string call_id{};
    std::string arguments{};
    std::vector<std::string> stored{};
    bool is_in_summary = false;
};

/// Writes down what it is told.
struct Guard {
    std::vector<Told> told{};

    [[nodiscard]] auto listener() {
        return [this](const EvictedResult& e) {
            told.push_back({std::string(e.middleware),
                            e.serial,
                            std::string(e.tool),
                            std::string(e.call_id),
                            std::string(e.arguments),
                            {e.stored_keys.begin(), e.stored_keys.end()},
                            e.is_in_summary});
        };
    }
};

template <AgentMessage M = ChatMessage>
Conversation<M> reads(int size) {
    Conversation<M> conversation("evict");
    const auto push = [&](const ChatMessage& message) {
        for (M& built : Builder<M>::build(message)) conversation.push_back(std::move(built));
    };
    push(ChatMessage::user("read"));
    for (int i = 0; i < size; ++i) {
        const std::string id = "e" + std::to_string(i);
        push(ChatMessage::assistant("").call(id, "read_file", "{\"path\":\"" + id + ".txt\"}"));
        push(ChatMessage::result(id, "read_file", std::string(4'000, 'x')));
    }
    return conversation;
}

ChainConfig with_store() {
    ChainConfig config;
    config.storage = memory_storage();
    return config;
}

constexpr int kept_rounds = 1;

template <AgentMessage M>
typename Chain<M>::Stages clearing_at(std::int64_t tokens) {
    return {std::make_shared<Reduction<M>>(ReductionConfig{
        .skip_truncation = true, .max_tokens_for_clear = tokens, .clear_retention_suffix_limit = kept_rounds})};
}

}  // namespace

TEST_CASE("tools are told once of each result that goes, with arguments and where it is, on every message type",
          "[evictions]") {
    for_each_message_type([](auto type) {
        using M = typename decltype(type)::type;
        if constexpr (ToolMessage<M>) {
            INFO(Builder<M>::name);
            Guard guard;
            ChainCallbacks<M> callbacks;
            callbacks.on_evicted = guard.listener();
            const Chain<M> chain(with_store(), callbacks, clearing_at<M>(4'000));
            Conversation<M> conversation = reads<M>(6);
            REQUIRE(chain.before_model(conversation).changed());
            REQUIRE(guard.told.size() == 6 - kept_rounds);
            std::set<std::string> ids;
            for (const Told& told : guard.told) {
                CHECK(told.middleware == "reduction");
                CHECK(told.tool == "read_file");
                CHECK(told.arguments.find(told.call_id + ".txt") != std::string::npos);
                CHECK(told.stored.size() == 1);
                CHECK_FALSE(told.is_in_summary);
                CHECK(conversation.outline().index_of(told.serial));
                ids.insert(told.call_id);
            }
            CHECK(ids.size() == guard.told.size());
            chain.before_model(conversation);
            CHECK(guard.told.size() == 6 - kept_rounds);
        }
    });
}

TEST_CASE("results that a summary folds are told of, those that were cleared before are not", "[evictions]") {
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>([](const ModelRequest<ChatMessage>&) {
        return Reply<ChatMessage>{ChatMessage::assistant("<summary>The files e0 to e5 were read.</summary>")};
    });
    Guard guard;
    ChainCallbacks<> callbacks;
    callbacks.on_evicted = guard.listener();
    const SummarizationConfig config{.trigger = {.context_tokens = 3'000}, .keep_recent_tokens = 0};
    const Chain<> folding(with_store(), callbacks, Chain<>::Stages{std::make_shared<Summarization<>>(model, config)});
    Conversation<> whole = reads(6);
    REQUIRE(folding.before_model(whole).changed());
    CHECK(guard.told.size() >= 4);
    for (const Told& told : guard.told) {
        CHECK(told.is_in_summary);
        CHECK(told.arguments.find(told.call_id) != std::string::npos);
    }

    Conversation<> cleared = reads(6);
    Chain<>(with_store(), {}, clearing_at<ChatMessage>(4'000)).before_model(cleared);
    guard.told.clear();
    REQUIRE(folding.compact_now(cleared, {.target_tokens = 1}).changed());
    CHECK(guard.told.size() <= kept_rounds);
}

TEST_CASE("undone hooks and dry runs evict nothing, and a guard that throws stops nobody", "[evictions]") {
    Guard guard;
    ChainCallbacks<> callbacks;
    callbacks.on_evicted = guard.listener();
    ChainConfig dry = with_store();
    dry.dry_run = true;
    Conversation<> conversation = reads(6);
    Chain<>(dry, callbacks, clearing_at<ChatMessage>(4'000)).before_model(conversation);
    CHECK(guard.told.empty());

    int asked = 0;
    std::vector<std::string> events;
    ChainCallbacks<> broken;
    broken.on_evicted = [&](const EvictedResult&) {
        ++asked;
        throw std::runtime_error("guard is gone");
    };
    broken.on_event = [&](const Event& event) { events.emplace_back(event.text); };
    CHECK(Chain<>(with_store(), broken, clearing_at<ChatMessage>(4'000)).before_model(conversation).changed());
    CHECK(asked == 6 - kept_rounds);
    CHECK(
        std::ranges::any_of(events, [](const std::string& e) { return e.find("guard is gone") != std::string::npos; }));
}

TEST_CASE("a guard against reading a file twice lets a file be read again once it is gone", "[evictions]") {
    std::set<std::string> seen;  // by arguments, as the guard of some agent keeps them
    ChainCallbacks<> callbacks;
    callbacks.on_evicted = [&](const EvictedResult& eviction) { seen.erase(std::string(eviction.arguments)); };
    const Chain<> chain(with_store(), callbacks, clearing_at<ChatMessage>(4'000));
    Conversation<> conversation = reads(6);
    for (int i = 0; i < 6; ++i) seen.insert("{\"path\":\"e" + std::to_string(i) + ".txt\"}");
    chain.before_model(conversation);
    CHECK_FALSE(seen.contains(R"({"path":"e0.txt"})"));
    CHECK(seen.contains(R"({"path":"e5.txt"})"));  // still in the request
}
