// Many edits of one message: what the transaction knows of it after each is what a look at the whole message says.
#include "support/catch.hpp"
#include "support/generators_messages.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/conversation/conversation.hpp"
#include "whittle/openai/openai.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace whittle;

namespace {

constexpr std::size_t many = 12;

/// Calls and their results, all of one round in as few messages as can be; an image beside every third result.
testing::History round_of_many() {
    testing::History history{ChatMessage::user("go"), ChatMessage::assistant("I read")};
    ChatMessage results{Role::tool, {}};
    for (std::size_t i = 0; i < many; ++i) {
        const std::string id = "call_" + std::to_string(i);
        history[1].call(id, "read", R"({"path":"a file with a name"})");
        results.parts.push_back({PartKind::tool_result, "text " + std::to_string(i) + " of a file", id, "read"});
        if (i % 3 == 0)
            results.parts.push_back({PartKind::media, {}, id, "read", {"image/png", "\x89PNG", {}, 10, 10}});
    }
    history.push_back(results);
    history.push_back(ChatMessage::assistant("done"));
    history.push_back(ChatMessage::user("next"));
    return history;
}

/// One result of many blocks, and a user's message of many texts and images.
testing::History blocks_of_many() {
    testing::History history{ChatMessage::user("go"), ChatMessage::assistant().call("call_1", "read"),
                             ChatMessage{Role::tool, {}}, ChatMessage{Role::user, {}}};
    for (std::size_t i = 0; i < many; ++i) {
        const std::string text = "block " + std::to_string(i);
        history[2].parts.push_back({PartKind::tool_result, text, "call_1", "read"});
        history[3].parts.push_back({PartKind::text, text});
        if (i % 3 == 0) history[3].parts.push_back({PartKind::media, {}, {}, {}, {"image/png", "\x89PNG", {}, 10, 10}});
    }
    history.push_back(ChatMessage::assistant("done"));
    history.push_back(ChatMessage::user("next"));
    return history;
}

template <typename M>
void check_known(const Transaction<M>& edit, std::size_t message) {
    const MessageInfo& known = edit.outline()[message];
    const MessageInfo seen = describe(edit.messages()[message]);
    CHECK(edit.tokens_of(message) == count_message(edit.messages()[message], edit.counter()));
    REQUIRE(known.parts.size() == seen.parts.size());
    for (std::size_t p = 0; p < seen.parts.size(); ++p) {
        CHECK(known.parts[p].kind == seen.parts[p].kind);
        CHECK(known.parts[p].text_bytes == seen.parts[p].text_bytes);
        CHECK(known.parts[p].media_base64_bytes == seen.parts[p].media_base64_bytes);
        CHECK(known.parts[p].call_id == seen.parts[p].call_id);
        CHECK(known.parts[p].starts_new_result == seen.parts[p].starts_new_result);
        CHECK(known.parts[p].is_error == seen.parts[p].is_error);
        CHECK(known.parts[p].has_object_arguments == seen.parts[p].has_object_arguments);
        CHECK(edit.text_of_part(message, p) == text_of(edit.messages()[message], p));
    }
}

/// Sets every part, from the last on, each in an edit group of its own; takes one of them back.
template <typename M>
void edit_all(Transaction<M>& edit) {
    edit.allow_editing_pinned(true);
    for (std::size_t m = 0; m < edit.outline().size(); ++m) {
        for (std::size_t p = edit.outline()[m].parts.size(); p-- > 0;) {
            const PartKind kind = edit.outline()[m].parts[p].kind;
            const EditGroup edit_group = edit.begin_edit_group();
            edit.set_text(m, p, kind == PartKind::tool_call ? R"({"path":1.0})" : "short \xC3\xA9", {.reason = "test"});
            check_known(edit, m);
            if (p % 5 != 4) continue;
            edit.drop_edit_group(edit_group);
            check_known(edit, m);
        }
    }
}

template <typename M>
void check_edits(const testing::History& history) {
    const std::vector<M> messages = testing::build_all<M>(history);
    Conversation<M> conversation("many");
    for (const M& m : messages) conversation.push_back(m);
    Transaction<M> edit = conversation.edit("test");
    edit_all(edit);
    const std::int64_t after = edit.tokens_after();
    edit.update_fingerprints();
    for (std::size_t m = 0; m < edit.outline().size(); ++m)
        CHECK(edit.outline()[m].fingerprint == fingerprint(edit.messages()[m]));
    REQUIRE(edit.commit({.require_token_reduction = false}).committed());
    std::int64_t sum = 0;
    for (std::size_t m = 0; m < conversation.size(); ++m) {
        CHECK(conversation.outline()[m].fingerprint == fingerprint(conversation.messages()[m]));
        sum += count_message(conversation.messages()[m], edit.counter());
    }
    CHECK(sum == after);
    while (conversation.undo()) {
    }
    REQUIRE(conversation.size() == messages.size());
    for (std::size_t m = 0; m < messages.size(); ++m) CHECK(conversation.messages()[m] == messages[m]);
}

/// Results of media alone, beside texts, of media among texts; thinking in front of calls.
testing::History mixed_parts() {
    testing::History history{ChatMessage::user("go"), ChatMessage::assistant(), ChatMessage{Role::tool, {}}};
    for (std::size_t i = 0; i < many; ++i) {
        const std::string id = "call_" + std::to_string(i / 3);
        history[1].parts.push_back({PartKind::thinking, "a thought " + std::to_string(i)});
        const Part text{PartKind::tool_result, std::string(i, 'a') + " text", id, "read"};
        const Part media{PartKind::media, {}, id, "read", {"image/png", "\x89PNG", {}, 10, 10}};
        history[2].parts.push_back((i / 3 + i) % 3 == 0 || i / 3 == 1 ? media : text);
    }
    for (std::size_t i = 0; i < many / 3; ++i) history[1].call("call_" + std::to_string(i), "read");
    history.push_back(ChatMessage::assistant("done"));
    return history;
}

template <typename M>
Conversation<M> conversation_of(const std::vector<M>& messages) {
    Conversation<M> conversation("many");
    for (const M& m : messages) conversation.push_back(m);
    return conversation;
}

/// Its own key for each part that takes a text, so that one sees which part a mark belongs to.
template <typename M>
void mark_parts(Transaction<M>& edit, std::size_t message) {
    edit.allow_editing_pinned(true);
    for (std::size_t p = edit.outline()[message].parts.size(); p-- > 0;) {
        const PartKind kind = edit.outline()[message].parts[p].kind;
        if (kind != PartKind::text && kind != PartKind::tool_result) continue;
        edit.set_text(message, p, "text " + std::to_string(p),
                      {.reason = "test", .stored_keys = {"k" + std::to_string(p)}});
    }
}

std::vector<std::string> stored_of(const Mark& mark) { return mark ? mark->stored_keys : std::vector<std::string>(); }

template <typename M>
void check_same(const Transaction<M>& one, const Transaction<M>& other, std::size_t message) {
    CHECK(same_message(one.messages()[message], other.messages()[message]));
    CHECK(one.tokens_after() == other.tokens_after());
    const MessageInfo& a = one.outline()[message];
    const MessageInfo& b = other.outline()[message];
    CHECK(a.fingerprint == b.fingerprint);
    CHECK(stored_of(a.mark) == stored_of(b.mark));
    REQUIRE(a.parts.size() == b.parts.size());
    for (std::size_t p = 0; p < a.parts.size(); ++p) {
        CHECK(a.parts[p].kind == b.parts[p].kind);
        CHECK(a.parts[p].call_id == b.parts[p].call_id);
        CHECK(stored_of(a.parts[p].mark) == stored_of(b.parts[p].mark));
    }
}

/// Takes some parts of a message out at once, and one by one.
template <typename M>
void check_erases(const std::vector<M>& messages, std::size_t message, testing::Dice& dice) {
    Conversation<M> conversation = conversation_of(messages);
    Transaction<M> together = conversation.edit("test");
    Transaction<M> alone = conversation.edit("test");
    together.allow_editing_pinned(true);
    alone.allow_editing_pinned(true);
    if (dice.one_in(2)) mark_parts(together, message), mark_parts(alone, message);
    const std::size_t often = 1 + dice.below(3);
    std::vector<std::size_t> parts;
    for (std::size_t p = together.outline()[message].parts.size(); p-- > 0;) {
        if (dice.one_in(often)) parts.push_back(p);
    }
    for (const std::size_t p : parts) alone.erase_part(message, p, {.reason = "gone", .stored_keys = {"more"}});
    if (parts.size() > 1) std::swap(parts.front(), parts.back());
    if (!parts.empty()) parts.push_back(parts.front());
    const EditGroup edit_group = together.begin_edit_group();
    together.erase_parts(message, parts, {.reason = "gone", .stored_keys = {"more"}});
    check_same(together, alone, message);
    check_known(together, message);
    together.drop_edit_group(edit_group);
    CHECK(together.outline()[message].parts.size() == describe(together.messages()[message]).parts.size());
    together.erase_parts(message, parts, {.reason = "gone", .stored_keys = {"more"}});
    check_same(together, alone, message);
}

/// Fails at the count that is asked for.
struct FailingCounts {
    std::int64_t left = -1;
    std::int64_t operator()(std::string_view text) {
        if (left >= 0 && left-- == 0) throw std::runtime_error("no count");
        return static_cast<std::int64_t>(text.size());
    }
};

}  // namespace

TEST_CASE("after each of many edits of one message, what is known of it is what it says", "[chain]") {
    for (const testing::History& history : {round_of_many(), blocks_of_many()}) {
        check_edits<ChatMessage>(history);
        check_edits<openai::Message>(history);
        check_edits<anthropic::Message>(history);
    }
}

TEST_CASE("an edit of one of many parts whose count fails leaves the edits before it", "[chain]") {
    for (std::int64_t allowed = 0; allowed < 4; ++allowed) {
        const auto counts = std::make_shared<FailingCounts>();
        Conversation<> conversation("many");
        for (const ChatMessage& m : round_of_many()) conversation.push_back(m);
        auto edit = conversation.edit(
            "test", {.counter = counter_from("failing", [counts](std::string_view text) { return (*counts)(text); })});
        edit.set_text(2, 0, "first", {.reason = "test"});
        edit.set_text(2, 2, "second", {.reason = "test"});
        const std::int64_t before = edit.tokens_after();
        counts->left = allowed;
        bool has_failed = false;
        try {
            edit.set_text(2, 3, "third", {.reason = "test"});
        } catch (const std::runtime_error&) {
            has_failed = true;
        }
        counts->left = -1;
        if (!has_failed) continue;
        CHECK(edit.tokens_after() == before);
        CHECK(edit.text_of_part(2, 3) == "text 2 of a file");
        CHECK(edit.text_of_part(2, 2) == "second");
        check_known(edit, 2);
        CHECK(edit.commit().committed());
    }
}

TEST_CASE("several stored texts of one message leave memory together and come back", "[chain]") {
    const testing::History history = round_of_many();
    Conversation<> conversation("many");
    for (const ChatMessage& m : history) conversation.push_back(m);
    const auto storage = memory_storage();
    auto edit = conversation.edit("test", {.storage = storage});
    for (const std::size_t part : {0U, 2U, 3U}) {
        const std::string key = "k" + std::to_string(part);
        edit.begin_edit_group();
        edit.store_text_on_commit(key, 2, part);
        edit.set_text(2, part, "[k]", {.origin = Origin::placeholder, .reason = "test", .stored_keys = {key}});
    }
    REQUIRE(edit.commit().committed());
    CHECK(conversation.journal().back()->texts_in_store.size() == 3);
    CHECK(text_of(conversation.journal().back()->undo[0].messages[0], 0) == "[k]");
    REQUIRE(conversation.undo());
    CHECK(conversation.messages()[2] == history[2]);
}

TEST_CASE("parts that are erased together are gone as if each was erased by itself", "[chain]") {
    testing::Dice dice(7);
    for (const testing::History& history : {round_of_many(), blocks_of_many(), mixed_parts()}) {
        testing::for_each_message_type([&](auto type) {
            using M = typename decltype(type)::type;
            INFO(testing::Builder<M>::name);
            const std::vector<M> messages = testing::build_all<M>(history);
            for (std::size_t m = 0; m < messages.size(); ++m) {
                for (int i = 0; i < 6; ++i) check_erases(messages, m, dice);
            }
        });
    }
}

TEST_CASE("a result that is mere media shows its empty text again, whatever else is erased with it", "[chain]") {
    const auto message = anthropic::Message::parse(R"({"role":"user","content":[
        {"type":"tool_result","tool_use_id":"a","content":[
            {"type":"text","text":"x"},{"type":"image","source":{"type":"url","url":"u"}}]},
        {"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"y"},{"type":"text","text":"z"}]},
        {"type":"tool_result","tool_use_id":"c","content":"w"}]})");
    for (unsigned mask = 1; mask < 32; ++mask) {
        Conversation<anthropic::Message> conversation = conversation_of(std::vector{message});
        Transaction<anthropic::Message> together = conversation.edit("test");
        Transaction<anthropic::Message> alone = conversation.edit("test");
        mark_parts(together, 0);
        mark_parts(alone, 0);
        std::vector<std::size_t> parts;
        for (std::size_t p = 5; p-- > 0;) {
            if ((mask >> p & 1U) == 0) continue;
            parts.push_back(p);
            alone.erase_part(0, p, {.reason = "gone"});
        }
        together.erase_parts(0, parts, {.reason = "gone"});
        check_same(together, alone, 0);
    }
}

TEST_CASE("erasing many parts is refused as a whole, and undone as a whole", "[chain]") {
    const testing::History history = blocks_of_many();
    Conversation<> conversation = conversation_of(std::vector<ChatMessage>(history));
    auto edit = conversation.edit("test");
    const auto error_of = [&](std::vector<std::size_t> parts) {
        try {
            edit.erase_parts(2, std::move(parts), {.reason = "gone"});
        } catch (const Error& error) {
            return error.errc();
        }
        return Errc{};
    };
    CHECK(error_of({0, many}) == Errc::invalid_argument);
    CHECK(edit.outline()[2].parts.size() == many);
    edit.erase_parts(2, {}, {.reason = "gone"});
    CHECK(edit.commit().outcome == Outcome::nothing);
    edit.erase_parts(2, {5, 1, 3, 1}, {.reason = "gone"});
    edit.erase_parts(2, {0}, {.reason = "gone"});
    REQUIRE(edit.commit().committed());
    CHECK(conversation.outline()[2].parts.size() == many - 4);
    CHECK(text_of(conversation.messages()[2], 0) == "block 2");
    CHECK(conversation.journal().back()->reason == "gone");
    REQUIRE(conversation.undo());
    CHECK(conversation.messages()[2] == history[2]);
}

TEST_CASE("texts in place of the media of one result are known as they are, with an id and without", "[chain]") {
    const std::string image = R"({"type":"image","source":{"type":"url","url":"u"}})";
    const std::string images = "[" + image + "," + image + "," + image + "]";
    const auto message = anthropic::Message::parse(
        R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":)" + images +
        R"(},{"type":"tool_result","content":)" + images + R"(},{"type":"tool_result","tool_use_id":"b","content":[)" +
        image + R"(,{"type":"text","text":""},)" + image + "]}]}");
    Conversation<anthropic::Message> conversation = conversation_of(std::vector{message});
    Transaction<anthropic::Message> edit = conversation.edit("test");
    edit.allow_editing_pinned(true);
    for (std::size_t p = edit.outline()[0].parts.size(); p-- > 0;) {
        if (edit.outline()[0].parts[p].kind != PartKind::media) continue;
        edit.set_text(0, p, "[image " + std::to_string(p) + "]", {.reason = "test"});
        check_known(edit, 0);
    }
    CHECK(edit.outline()[0].parts.size() == 9);  // the two empty texts behind media are gone
    edit.update_fingerprints();
    CHECK(edit.outline()[0].fingerprint == fingerprint(edit.messages()[0]));
}
