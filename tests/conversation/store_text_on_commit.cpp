#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "support/faulty_storage.hpp"
#include "whittle/chain/chain.hpp"

#include <memory>
#include <string>

using whittle::testing::errc_of;
using namespace whittle;

namespace {

const std::string long_text(900, 'x');

Conversation<> one_old_round() {
    Conversation<> c("texts");
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant().call("a", "read"));
    c.push_back(ChatMessage::result("a", "read", long_text));
    c.push_back(ChatMessage::assistant("done"));
    c.push_back(ChatMessage::user("go on"));
    return c;
}

Provenance placeholder_of(std::string key) {
    return {.origin = Origin::placeholder, .reason = "cut", .stored_keys = {std::move(key)}};
}

}  // namespace

TEST_CASE("store_text_on_commit stores the text of a part that the same unit then replaces", "[chain]") {
    Conversation<> c = one_old_round();
    const auto storage = memory_storage();
    auto edit = c.edit("cutter", {.storage = storage});
    edit.begin_edit_group();
    edit.store_text_on_commit("k", 2, 0);
    edit.set_text(2, 0, "[k]", placeholder_of("k"));
    REQUIRE(edit.commit().committed());
    CHECK(storage->get("k") == long_text);
    CHECK(text_of(c.messages()[2], 0) == "[k]");
    REQUIRE(c.journal().size() == 1);
    CHECK(c.journal().back()->texts_in_store.size() == 1);  // the journal does not hold it a second time
    REQUIRE(c.undo());
    CHECK(text_of(c.messages()[2], 0) == long_text);
}

TEST_CASE("store_text_on_commit behind an edit stores what the edit left", "[chain]") {
    Conversation<> c = one_old_round();
    const auto storage = memory_storage();
    auto edit = c.edit("cutter", {.storage = storage});
    edit.set_text(2, 0, "half of it", {.origin = Origin::placeholder, .reason = "cut"});
    edit.store_text_on_commit("k", 2, 0);
    edit.set_text(2, 0, "[k]", placeholder_of("k"));
    REQUIRE(edit.commit().committed());
    CHECK(storage->get("k") == "half of it");
    REQUIRE(c.undo());
    CHECK(text_of(c.messages()[2], 0) == long_text);
}

TEST_CASE("store_text_on_commit of a message behind an inserted one stores that message", "[chain]") {
    Conversation<> c = one_old_round();
    const auto storage = memory_storage();
    auto edit = c.edit("cutter", {.storage = storage});
    edit.insert(0, ChatMessage::user("note"), {.origin = Origin::nudge});
    edit.store_text_on_commit("k", 3, 0);
    edit.set_text(3, 0, "[k]", placeholder_of("k"));
    REQUIRE(edit.commit().committed());
    CHECK(storage->get("k") == long_text);
}

TEST_CASE("store_text_on_commit refuses a part that is not there", "[chain]") {
    Conversation<> c = one_old_round();
    auto edit = c.edit("cutter", {.storage = memory_storage()});
    CHECK(errc_of([&] { edit.store_text_on_commit("k", 2, 1); }) == Errc::invalid_argument);
    CHECK(errc_of([&] { edit.store_text_on_commit("k", 9, 0); }) == Errc::invalid_argument);
    CHECK(errc_of([&] { edit.store_text_on_commit("no/../good", 2, 0); }) == Errc::invalid_key);
}

TEST_CASE("a text that the store refuses stays where it is", "[chain]") {
    Conversation<> c = one_old_round();
    auto edit = c.edit("cutter", {.storage = std::make_shared<testing::FaultyStorage>(memory_storage(), 1)});
    edit.begin_edit_group();
    edit.store_text_on_commit("k", 2, 0);
    edit.set_text(2, 0, "[k]", placeholder_of("k"));
    CHECK(edit.commit().outcome == Outcome::store_failed);
    CHECK(text_of(c.messages()[2], 0) == long_text);
}

TEST_CASE("an original that names a part which is not there does not stand in the way of undo", "[chain]") {
    struct Misnamed final : Middleware<> {
        std::string_view name() const noexcept override { return "misnamed"; }
        void before_model(Turn<>& turn) override {
            auto edit = turn.edit();
            edit.store_on_commit("k", "x",
                                 Transaction<ChatMessage>::Original{turn.conversation.outline()[2].serial, 7});
            edit.mark(2, {.origin = Origin::placeholder, .reason = "test", .stored_keys = {"k"}});
            edit.commit({.require_token_reduction = false});
        }
    };
    Conversation<> c = one_old_round();
    const Chain chain{ChainConfig{.storage = memory_storage()}, std::make_shared<Misnamed>()};
    REQUIRE(chain.before_model(c).find("misnamed")->outcome == Outcome::committed);
    CHECK(c.undo());
    CHECK_FALSE(c.outline()[2].mark);
}
