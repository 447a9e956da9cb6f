// A list that went on since its side table was saved: `prefix_from_side_table`.
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/saved/side_table.hpp"

#include "support/catch.hpp"
#include "support/errc_of.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

template <typename M>
Chain<M> front_chain(const std::shared_ptr<Storage>& storage) {
    return Chain<M>(ChainConfig{.storage = storage},
                    Reduction<M>(ReductionConfig{.skip_truncation = true, .max_tokens_for_clear = 300}));
}

template <typename M>
void push_text(std::vector<M>& list, Role role, const std::string& text) {
    list.push_back(message_traits<M>::make(role, text));
}

void push_round(std::vector<openai::Message>& list, const std::string& id) {
    list.push_back(openai::Message::parse(R"({"role":"assistant","content":null,"tool_calls":[{"id":")" + id +
                                          R"(","type":"function","function":{"name":"read","arguments":"{}"}}]})"));
    list.push_back(openai::Message::parse(R"({"role":"tool","tool_call_id":")" + id + R"(","content":")" +
                                          std::string(900, 'x') + R"("})"));
}

void push_round(std::vector<anthropic::Message>& list, const std::string& id) {
    list.push_back(anthropic::Message::parse(R"({"role":"assistant","content":[{"type":"tool_use","id":")" + id +
                                             R"(","name":"read","input":{}}]})"));
    list.push_back(anthropic::Message::parse(R"({"role":"user","content":[{"type":"tool_result","tool_use_id":")" + id +
                                             R"(","content":")" + std::string(900, 'x') + R"("}]})"));
}

/// A conversation of four rounds that a chain has cleared, as a host saves it.
template <typename M>
struct Saved {
    explicit Saved(const std::shared_ptr<Storage>& storage) {
        std::vector<M> list;
        push_text(list, Role::user, "go");
        for (const std::string id : {"a", "b", "c", "d"}) push_round(list, id);
        Conversation<M> conversation("talk");
        for (const M& m : list) conversation.push_back(m);
        front_chain<M>(storage).before_model(conversation);
        REQUIRE(conversation.journal().size() == 1);
        original = list;
        messages.assign(conversation.messages().begin(), conversation.messages().end());
        table = to_side_table(conversation);
    }
    std::vector<M> original{};
    std::vector<M> messages{};
    std::string table{};
};

template <typename M>
std::vector<M> list_of(const Conversation<M>& conversation) {
    return {conversation.messages().begin(), conversation.messages().end()};
}

template <typename M>
Conversation<M> front_of(const Saved<M>& saved, const std::vector<M>& list, const std::shared_ptr<Storage>& storage,
                         const LoadOptions& options = {}) {
    return prefix_from_side_table<M>(saved.table, std::span<const M>(list), storage, options);
}

}  // namespace

TEMPLATE_TEST_CASE("of a list that went on, the front that was saved is loaded with its marks", "[side_table]",
                   openai::Message, anthropic::Message) {
    using M = TestType;
    const auto storage = memory_storage();
    const Saved<M> saved(storage);
    std::vector<M> list = saved.messages;
    push_round(list, "e");
    push_text(list, Role::assistant, "done");
    Conversation<M> conversation = front_of(saved, list, storage);
    CHECK(conversation.id() == "talk");
    CHECK(list_of(conversation) == saved.messages);
    CHECK(to_side_table(conversation) == saved.table);

    conversation.sync(list);
    CHECK(list_of(conversation) == list);
    while (conversation.undo()) continue;
    const std::vector<M> undone = list_of(conversation);
    CHECK(std::vector<M>(undone.begin(), undone.begin() + static_cast<std::ptrdiff_t>(saved.original.size())) ==
          saved.original);
    CHECK(undone.size() == list.size());
}

TEMPLATE_TEST_CASE("a list that did not go on is its own front", "[side_table]", openai::Message, anthropic::Message) {
    using M = TestType;
    const auto storage = memory_storage();
    const Saved<M> saved(storage);
    Conversation<M> conversation = front_of(saved, saved.messages, storage);
    CHECK(list_of(conversation) == saved.messages);
    const std::size_t entries = conversation.journal().size();
    front_chain<M>(storage).before_model(conversation);
    CHECK(conversation.journal().size() == entries);  // it knows what it has cleared
}

TEMPLATE_TEST_CASE("a list that lacks saved messages, or has other ones, has no such front", "[side_table]",
                   openai::Message, anthropic::Message) {
    using M = TestType;
    const auto storage = memory_storage();
    const Saved<M> saved(storage);
    std::vector<M> shorter = saved.messages;
    shorter.pop_back();
    CHECK(errc_of([&] { (void)front_of(saved, shorter, storage); }) == Errc::damaged);
    CHECK(errc_of([&] { (void)front_of(saved, {}, storage); }) == Errc::damaged);
    std::vector<M> other = saved.messages;
    other.front() = message_traits<M>::make(Role::user, "stop");
    push_text(other, Role::user, "more");
    CHECK(errc_of([&] { (void)front_of(saved, other, storage); }) == Errc::damaged);
    std::vector<M> originals = saved.original;  // what was cleared came back: its marks are not these messages'
    CHECK(errc_of([&] { (void)front_of(saved, originals, storage); }) == Errc::damaged);
}

TEST_CASE("the front of another conversation, or of a text that is no side table, is refused", "[side_table]") {
    const auto storage = memory_storage();
    Saved<openai::Message> saved(storage);
    CHECK(errc_of([&] { (void)front_of(saved, saved.messages, storage, {.expected_id = "another"}); }) ==
          Errc::damaged);
    CHECK(front_of(saved, saved.messages, storage, {.expected_id = "talk"}).size() == saved.messages.size());
    saved.table = "{}";
    CHECK(errc_of([&] { (void)front_of(saved, saved.messages, storage); }) == Errc::parse_failed);
}

TEST_CASE("loading a front polls for each message, and ends with what the check throws", "[side_table]") {
    struct Enough {};
    const auto storage = memory_storage();
    const Saved<openai::Message> saved(storage);
    std::size_t polls = 0;
    (void)front_of(saved, saved.messages, storage, {.check_cancelled = [&] { ++polls; }});
    CHECK(polls >= 2 * saved.messages.size());
    for (const std::size_t at : {std::size_t{1}, polls / 2, polls}) {
        std::size_t seen = 0;
        const auto check_cancelled = [&] {
            if (++seen == at) throw Enough{};
        };
        CHECK_THROWS_AS(front_of(saved, saved.messages, storage, {.check_cancelled = check_cancelled}), Enough);
        CHECK(seen == at);
    }
}
