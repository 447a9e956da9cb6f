// What a failed run throws under OnFailure::propagate: what the model or a callback threw, as it came.
#include "ladder_talk.hpp"
#include "support/catch.hpp"
#include "support/picky_storage.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

using namespace whittle;
using namespace whittle::testing;

namespace {

struct KeyRevoked : ModelError {
    KeyRevoked() : ModelError(ModelErrorClass::auth, "revoked") {}
};

struct WatcherBroke : std::runtime_error {
    WatcherBroke() : std::runtime_error("the host's own") {}
};

std::shared_ptr<Model<ChatMessage>> with_revoked_key() {
    return std::make_shared<ScriptedModel<ChatMessage>>(
        [](const ModelRequest<ChatMessage>&) -> Reply<ChatMessage> { throw KeyRevoked(); });
}

void run(std::shared_ptr<Model<ChatMessage>> model, CompactionCallbacks<> callbacks = {}) {
    ChainConfig chain = pessimistic_chain();
    chain.on_error = OnError::propagate;
    CompactionConfig config = sizes(400, 200, 20);
    config.on_failure = OnFailure::propagate;
    Conversation<> conversation = build(10, std::string(200, 'y'));
    Chain<>(std::move(chain), Compaction<>(std::move(model), config, std::move(callbacks))).before_model(conversation);
}

}  // namespace

TEST_CASE("a model's error and a callback's are thrown as they came where failures are thrown", "[compaction]") {
    CHECK_THROWS_AS(run(with_revoked_key()), KeyRevoked);
    CompactionCallbacks<> callbacks;
    callbacks.retry.should_retry = [](const auto&) -> bool { throw WatcherBroke(); };
    CHECK_THROWS_AS(run(with_revoked_key(), callbacks), WatcherBroke);
}

TEST_CASE("a commit that a store refused says what the store threw", "[compaction]") {
    Conversation<> conversation = build(3, std::string(2'000, 'y'));
    auto edit = conversation.edit("test", {.storage = std::make_shared<PickyStorage>("bad")});
    for (const char* key : {"bad/first", "good", "bad/second"}) {
        edit.begin_edit_group();
        edit.store_on_commit(key, "the original");
    }
    edit.set_text(1, 0, "cut", {.reason = "test"});
    const CommitResult result = edit.commit();
    CHECK(result.unstored_edit_groups == 2);
    REQUIRE(result.first_store_error != nullptr);
    CHECK_THROWS_WITH(std::rethrow_exception(result.first_store_error), "put: disk full");
}
