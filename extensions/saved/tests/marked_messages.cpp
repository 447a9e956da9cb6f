// Marks that go with messages: for hosts that save messages and nothing beside them.
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/saved/side_table.hpp"
#include "whittle/summarization/summarization.hpp"

#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "support/generators_messages.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// A conversation with cleared rounds and two turns that the host began, in `storage`.
template <AgentMessage T>
Conversation<T> cleared_talk(const std::shared_ptr<Storage>& storage, int rounds = 5) {
    Conversation<T> c("talk");
    const auto push = [&](const ChatMessage& m) {
        for (T& built : Builder<T>::build(m)) c.push_back(std::move(built));
    };
    c.begin_turn();
    push(ChatMessage::user("read them"));
    for (int i = 0; i < rounds; ++i) {
        const std::string id = "r" + std::to_string(i);
        push(ChatMessage::assistant("next").call(id, "read_file", "{\"path\":\"" + id + "\"}"));
        push(ChatMessage::result(id, "read_file", id + std::string(2'000, 'x')));
    }
    push(ChatMessage::assistant("They are read."));
    c.begin_turn();
    push(ChatMessage::user("and now?"));
    const Chain<T> chain(ChainConfig{.storage = storage},
                         Reduction<T>{{.skip_truncation = true, .max_tokens_for_clear = 100}});
    REQUIRE(chain.before_model(c).changed());
    return c;
}

/// What is known of each message, without what only a whole side table has.
template <AgentMessage T>
std::vector<std::string> known_of(const Conversation<T>& c) {
    std::vector<std::string> known;
    const Outline outline = c.outline();
    for (std::size_t i = 0; i < outline.size(); ++i) {
        const MessageInfo& info = outline[i];
        std::string text = "turn " + std::to_string(info.turn) + ", serial " + std::to_string(info.serial) +
                           ", group " + std::to_string(info.round_serial) + (info.pinned ? ", pinned" : "");
        for (std::size_t p = 0; p < info.parts.size(); ++p) {
            text += ", " + std::string(info.parts[p].key_safe_call_id);
            if (const Mark& mark = mark_of(info, p))
                text += " by " + mark->by + " for " + mark->reason + " in " +
                        (mark->stored_keys.empty() ? "nothing" : mark->stored_keys.front());
        }
        known.push_back(text);
    }
    return known;
}

/// How many parts are known not to be what they were.
template <AgentMessage T>
std::size_t marks_in(const Conversation<T>& c) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < c.size(); ++i) {
        for (std::size_t p = 0; p < c.outline()[i].parts.size(); ++p)
            count += mark_of(c.outline()[i], p) != nullptr ? 1U : 0U;
    }
    return count;
}

/// As a host saves them, and reads them again.
template <AgentMessage T>
std::vector<T> saved_and_read(const std::vector<T>& messages) {
    std::vector<T> read;
    for (const T& m : messages) read.push_back(message_traits<T>::from_bytes(message_traits<T>::to_bytes(m)));
    return read;
}

const LoadOptions of_talk{.expected_id = "talk"};

template <AgentMessage T>
void expect_marks_to_go_along() {
    INFO(Builder<T>::name);
    const auto storage = memory_storage();
    Conversation<T> c = cleared_talk<T>(storage);
    c.pin(c.outline()[0].serial);
    const std::vector<T> saved = save_marks(c, *storage);
    Conversation<T> loaded = load_marked_messages<T>(saved_and_read(saved), storage, of_talk);
    CHECK(known_of(loaded) == known_of(c));
    CHECK(loaded.turn_number() == 2);
    CHECK(loaded.last_request_messages() == c.last_request_messages());
    CHECK(loaded.id() == "talk");
    for (std::size_t i = 0; i < c.size(); ++i)
        CHECK(message_traits<T>::to_bytes(loaded.messages()[i]) == message_traits<T>::to_bytes(c.messages()[i]));
    const Chain<T> chain(ChainConfig{.storage = storage},
                         Reduction<T>{{.skip_truncation = true, .max_tokens_for_clear = 100}});
    CHECK_FALSE(chain.before_model(loaded).changed());  // nothing is cleared a second time
    loaded.push_back(message_traits<T>::make(Role::user, "more"));
    CHECK(loaded.turn_number() == 2);  // the host says where turns begin

    CHECK(marks_in(load_marked_messages<T>(saved, memory_storage(), of_talk)) == 0);  // no store knows them
    CHECK(marks_in(load_marked_messages<T>(saved, storage, {.expected_id = "other"})) == 0);
    CHECK(save_marks(loaded, *storage).size() == loaded.size());
}

using Wire = openai::Message;

void set_mark_id_in(Wire& m, const std::string& id) { message_traits<Wire>::set_mark_id(m, id); }
std::string mark_id_in(const Wire& m) { return message_traits<Wire>::mark_id(m); }

}  // namespace

TEST_CASE("marks go with messages that are saved alone", "[marks]") {
    expect_marks_to_go_along<ChatMessage>();
    expect_marks_to_go_along<openai::Message>();
    expect_marks_to_go_along<anthropic::Message>();
}

TEST_CASE("an id says nothing of itself, and is no part of what a message says", "[marks]") {
    const auto storage = memory_storage();
    const Conversation<Wire> c = cleared_talk<Wire>(storage);
    for (const Wire& m : save_marks(c, *storage)) {
        const std::string id = mark_id_in(m);
        CHECK(id.size() < 40);
        CHECK(id.find_first_not_of("0123456789abcdef-") == std::string::npos);
        Wire without = m;
        set_mark_id_in(without, "");
        CHECK(parts_of(m) == parts_of(without));
        CHECK(describe(m).fingerprint == describe(without).fingerprint);
        CHECK(count_message(m, *chars_counter()) == count_message(without, *chars_counter()));
        CHECK_FALSE(without.json().contains("whittle_mark"));
    }
}

TEST_CASE("forged ids, and ids of other messages, are not believed", "[marks]") {
    const auto storage = memory_storage();
    const Conversation<Wire> c = cleared_talk<Wire>(storage);
    const std::vector<Wire> saved = save_marks(c, *storage);
    const auto cleared = static_cast<std::size_t>(
        std::ranges::find_if(saved, [](const Wire& m) { return m.json().at("role") == "tool"; }) - saved.begin());
    const std::string good = mark_id_in(saved[cleared]);
    Wire planted(nlohmann::ordered_json{{"role", "user"}, {"content", "I am a placeholder of yours"}});
    for (const std::string& id :
         {good, good + "0", good.substr(0, 33), "0" + good.substr(1), good.substr(0, 33) + "99999999999999999999",
          std::string("../../talk/marks/") + good, std::string("-1"), std::string(32, 'f') + "-0"}) {
        INFO(id);
        set_mark_id_in(planted, id);
        CHECK(marks_in(load_marked_messages<Wire>({planted}, storage, of_talk)) == 0);
    }
    std::vector<Wire> twice{saved[cleared], saved[cleared]};
    CHECK(marks_in(load_marked_messages<Wire>(twice, storage, of_talk)) == 1);

    const auto forger = memory_storage();  // an object is what its name says
    forger->put_if_absent("talk/marks/" + good.substr(0, 32), "{\"whittle_marks\":1}");
    CHECK(marks_in(load_marked_messages<Wire>(saved, forger, of_talk)) == 0);
    CHECK(errc_of([&] { (void)load_marked_messages<Wire>(saved, storage, {}); }) == Errc::invalid_argument);
    CHECK(errc_of([&] { (void)load_marked_messages<Wire>(saved, nullptr, of_talk); }) == Errc::invalid_argument);
}

TEST_CASE("a list that the host changed keeps the marks of what is as it was", "[marks]") {
    const auto storage = memory_storage();
    const Conversation<Wire> c = cleared_talk<Wire>(storage);
    const std::size_t all = marks_in(c);
    REQUIRE(all > 3);
    const std::vector<Wire> saved = save_marks(c, *storage);
    const Wire note(nlohmann::ordered_json{{"role", "user"}, {"content", "a note of the host's"}});
    SECTION("messages came behind it") {
        std::vector<Wire> longer = saved;
        longer.push_back(note);
        const Conversation<Wire> loaded = load_marked_messages<Wire>(longer, storage, of_talk);
        CHECK(marks_in(loaded) == all);
        CHECK(loaded.size() == saved.size() + 1);
    }
    SECTION("a message came in between") {
        std::vector<Wire> longer = saved;
        longer.insert(longer.begin() + 3, note);
        const Conversation<Wire> loaded = load_marked_messages<Wire>(longer, storage, of_talk);
        CHECK(marks_in(loaded) == all);
        for (std::size_t i = 1; i < loaded.size(); ++i)
            CHECK(loaded.outline()[i - 1].serial < loaded.outline()[i].serial);
        CHECK(loaded.outline().rounds().size() == c.outline().rounds().size());
    }
    SECTION("the first round is gone") {
        std::vector<Wire> shorter(saved.begin() + 3, saved.end());
        CHECK(marks_in(load_marked_messages<Wire>(shorter, storage, of_talk)) == all - 1);
    }
    SECTION("a cleared result says something else now") {
        std::vector<Wire> other = saved;
        message_traits<Wire>::set_text(other[2], 0, "what the host put there");
        CHECK(marks_in(load_marked_messages<Wire>(other, storage, of_talk)) == all - 1);
    }
    SECTION("two rounds changed places") {
        std::vector<Wire> other = saved;
        std::rotate(other.begin() + 1, other.begin() + 3, other.begin() + 5);
        CHECK(marks_in(load_marked_messages<Wire>(other, storage, of_talk)) == all - 1);
    }
}

TEST_CASE("a later save writes only what differs", "[marks]") {
    const auto storage = memory_storage();
    Conversation<Wire> c = cleared_talk<Wire>(storage, 60);
    const auto objects = [&] {
        int count = 0;
        storage->list("talk/marks/", [&](const ObjectInfo&) { return ++count, true; });
        return count;
    };
    const std::vector<Wire> first = save_marks(c, *storage);
    const int before = objects();
    CHECK(before >= 3);
    CHECK(save_marks(c, *storage) == first);
    CHECK(objects() == before);
    c.push_back(message_traits<Wire>::make(Role::assistant, "Done."));
    const std::vector<Wire> second = save_marks(c, *storage);
    CHECK(objects() == before + 1);
    CHECK(mark_id_in(second.front()) == mark_id_in(first.front()));
    CHECK(load_marked_messages<Wire>(first, storage, of_talk).size() == first.size());  // the older list is known still
}

TEST_CASE("a summary that was saved with its messages is known as one", "[marks]") {
    const auto storage = memory_storage();
    const auto model = std::make_shared<ScriptedModel<>>([](const ModelRequest<ChatMessage>&) {
        return Reply<ChatMessage>{ChatMessage::assistant("<summary>Files r0 to r4 were read.</summary>")};
    });
    Conversation<> c = cleared_talk<ChatMessage>(storage);
    const Chain<> chain(ChainConfig{.storage = storage},
                        Summarization<>{model, {.trigger = {.context_messages = 5}, .keep_recent_tokens = 0}});
    REQUIRE(chain.before_model(c).changed());
    Conversation<> loaded = load_marked_messages(save_marks(c, *storage), storage, of_talk);
    const auto summary_in = [](const Conversation<>& of) -> const Provenance& {
        std::size_t i = 0;
        while (origin_of(of.outline()[i].mark) != Origin::summary) ++i;
        return *of.outline()[i].mark;
    };
    CHECK(summary_in(loaded) == summary_in(c));
}
