#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "whittle/chain/transaction.hpp"

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
    return {.origin = Origin::placeholder, .reason = "cut", .stored = {std::move(key)}};
}

}  // namespace

TEST_CASE("offload_text stores the text of a part that the same unit then replaces", "[chain]") {
    Conversation<> c = one_old_round();
    const auto storage = memory_storage();
    auto edit = c.edit("cutter", {.storage = storage});
    edit.begin_unit();
    edit.offload_text("k", 2, 0);
    edit.set_text(2, 0, "[k]", placeholder_of("k"));
    REQUIRE(edit.commit().committed());
    CHECK(storage->get("k") == long_text);
    CHECK(text_of(c.messages()[2], 0) == "[k]");
    REQUIRE(c.journal().size() == 1);
    CHECK(c.journal().back()->texts.size() == 1);  // the journal does not hold it a second time
    REQUIRE(c.undo());
    CHECK(text_of(c.messages()[2], 0) == long_text);
}

TEST_CASE("offload_text behind an edit stores what the edit left", "[chain]") {
    Conversation<> c = one_old_round();
    const auto storage = memory_storage();
    auto edit = c.edit("cutter", {.storage = storage});
    edit.set_text(2, 0, "half of it", {.origin = Origin::placeholder, .reason = "cut"});
    edit.offload_text("k", 2, 0);
    edit.set_text(2, 0, "[k]", placeholder_of("k"));
    REQUIRE(edit.commit().committed());
    CHECK(storage->get("k") == "half of it");
    REQUIRE(c.undo());
    CHECK(text_of(c.messages()[2], 0) == long_text);
}

TEST_CASE("offload_text of a message behind an inserted one stores that message", "[chain]") {
    Conversation<> c = one_old_round();
    const auto storage = memory_storage();
    auto edit = c.edit("cutter", {.storage = storage});
    edit.insert(0, ChatMessage::user("note"), {.origin = Origin::nudge});
    edit.offload_text("k", 3, 0);
    edit.set_text(3, 0, "[k]", placeholder_of("k"));
    REQUIRE(edit.commit().committed());
    CHECK(storage->get("k") == long_text);
}

TEST_CASE("offload_text refuses a part that is not there", "[chain]") {
    Conversation<> c = one_old_round();
    auto edit = c.edit("cutter", {.storage = memory_storage()});
    CHECK(errc_of([&] { edit.offload_text("k", 2, 1); }) == Errc::invalid_argument);
    CHECK(errc_of([&] { edit.offload_text("k", 9, 0); }) == Errc::invalid_argument);
    CHECK(errc_of([&] { edit.offload_text("no/../good", 2, 0); }) == Errc::invalid_key);
}
