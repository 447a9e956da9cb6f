#include "whittle/saved/side_table.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/reduction/reduction.hpp"

#include "support/catch.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

using namespace whittle;

namespace {

using Random = std::mt19937;

std::size_t below(Random& random, std::size_t n) { return random() % n; }

template <typename M>
M make_call(const std::vector<std::string>& ids);

template <>
ChatMessage make_call(const std::vector<std::string>& ids) {
    ChatMessage m = ChatMessage::assistant("calling");
    for (const std::string& id : ids) m.call(id, "read", "{\"path\":\"" + id + "\"}");
    m.usage = Usage{.uncached_input = 800, .output = 5};
    return m;
}

template <>
openai::Message make_call(const std::vector<std::string>& ids) {
    nlohmann::ordered_json json{{"role", "assistant"}, {"content", nullptr}, {"x_unknown", 1.0}};
    for (const std::string& id : ids) {
        json["tool_calls"].push_back(
            {{"id", id}, {"type", "function"}, {"function", {{"name", "read"}, {"arguments", "{\"p\": 1}"}}}});
    }
    return openai::Message(json);
}

std::string some_text(Random& random) {
    static const std::vector<std::string> pieces{"plain ", "caf\u00e9 ", "\"quoted\\\" ", "line\n",
                                                 "[Old tool result content cleared] "};
    std::string text;
    for (std::size_t n = 20 + below(random, 60); n > 0; --n) text += pieces[below(random, pieces.size())];
    return text;
}

/// A result that came in shortened: its whole text is in the store.
ToolReturn shortened(const std::string& id, const std::string& text, const std::string& key,
                     const std::shared_ptr<Storage>& storage) {
    storage->put_if_absent(key, text);
    return {{id, "read", {{.kind = PartKind::text, .text = text.substr(0, 10) + "..."}}},
            {{.part = 0, .key = key, .by = "test", .storage = storage}}};
}

template <typename M>
void push_round(Conversation<M>& c, Random& random, const std::shared_ptr<Storage>& storage) {
    std::vector<std::string> ids;
    for (std::size_t n = 1 + below(random, 3); n > 0; --n)
        ids.push_back("call" + std::to_string(below(random, 4)) + "x" + std::to_string(n));
    c.push_back(make_call<M>(ids));
    std::vector<ToolReturn> returns;
    for (const std::string& id : ids) {
        if (storage && below(random, 3) == 0) {
            returns.push_back(
                shortened(id, some_text(random), c.id() + "/t/" + std::to_string(c.size()) + id, storage));
        } else {
            returns.push_back({{id, "read", {{.kind = PartKind::text, .text = some_text(random)}}}, {}});
        }
    }
    c.push_tool_results(returns);
}

template <typename M>
Chain<M> clearing_chain(std::shared_ptr<Storage> storage) {
    ChainConfig config;
    config.storage = std::move(storage);
    ReductionConfig reduction{.skip_truncation = true, .max_tokens_for_clear = 300};
    return Chain<M>(std::move(config), Reduction<M>(std::move(reduction)));
}

/// A conversation with rounds, commits, notes, pins and restored messages.
template <typename M>
Conversation<M> random_conversation(unsigned seed, const std::shared_ptr<Storage>& storage) {
    Random random(seed);
    const auto chain = clearing_chain<M>(storage);
    Conversation<M> c("seed" + std::to_string(seed));
    c.push_back(message_traits<M>::make(Role::system, "be brief"));
    for (int step = 0; step < 14; ++step) {
        switch (below(random, 6)) {
            case 0: c.push_back(message_traits<M>::make(Role::user, some_text(random))); break;
            case 1: chain.before_model(c); break;
            case 2:
                if (!c.journal().empty()) c.undo();
                break;
            case 3:
                c.pin(1 + below(random, c.size()));
                c.notes("host").set("n" + std::to_string(step), step);
                break;
            default: push_round(c, random, storage);
        }
    }
    c.push_back(message_traits<M>::make(Role::user, "and now?"));
    return c;
}

void check_same_mark(const Mark& a, const Mark& b) {
    REQUIRE((a == nullptr) == (b == nullptr));
    if (a) CHECK(*a == *b);
}

void check_same_info(const MessageInfo& a, const MessageInfo& b) {
    CHECK(a.serial == b.serial);
    CHECK(a.role == b.role);
    CHECK(a.round_serial == b.round_serial);
    CHECK(a.turn == b.turn);
    CHECK(a.model_calls_before == b.model_calls_before);
    CHECK(a.pinned == b.pinned);
    CHECK(a.fingerprint == b.fingerprint);
    check_same_mark(a.mark, b.mark);
    REQUIRE(a.parts.size() == b.parts.size());
    for (std::size_t p = 0; p < a.parts.size(); ++p) {
        const PartInfo& x = a.parts[p];
        const PartInfo& y = b.parts[p];
        CHECK(std::tie(x.kind, x.text_bytes, x.call_id, x.tool, x.key_safe_call_id, x.is_error, x.is_blank,
                       x.is_invalid_utf8, x.has_object_arguments) ==
              std::tie(y.kind, y.text_bytes, y.call_id, y.tool, y.key_safe_call_id, y.is_error, y.is_blank,
                       y.is_invalid_utf8, y.has_object_arguments));
        CHECK(std::tie(x.starts_new_result, x.ends_in_space, x.is_image, x.longer_side_pixels, x.media_base64_bytes) ==
              std::tie(y.starts_new_result, y.ends_in_space, y.is_image, y.longer_side_pixels, y.media_base64_bytes));
        check_same_mark(x.mark, y.mark);
    }
}

template <typename M>
std::vector<std::string> bytes_of(const Conversation<M>& c) {
    std::vector<std::string> bytes;
    for (const M& m : c.messages()) bytes.push_back(message_traits<M>::to_bytes(m));
    return bytes;
}

template <typename M>
void check_same(const Conversation<M>& a, const Conversation<M>& b) {
    CHECK(a.id() == b.id());
    CHECK(bytes_of(a) == bytes_of(b));
    CHECK(a.version() == b.version());
    CHECK(a.turn_number() == b.turn_number());
    CHECK(a.run_number() == b.run_number());
    CHECK(a.model_calls() == b.model_calls());
    CHECK(a.middleware_notes().all() == b.middleware_notes().all());
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) check_same_info(a.outline()[i], b.outline()[i]);
    REQUIRE(a.journal().size() == b.journal().size());
}

template <typename M>
std::vector<M> copy_of(std::span<const M> messages) {
    return {messages.begin(), messages.end()};
}

template <typename M>
Conversation<M> save_and_load(const Conversation<M>& c, std::shared_ptr<Storage> storage) {
    return from_side_table<M>(to_side_table(c), copy_of(c.messages()), std::move(storage));
}

template <typename M>
void check_round_trip(unsigned seed, const std::shared_ptr<Storage>& storage) {
    Conversation<M> c = random_conversation<M>(seed, storage);
    Conversation<M> loaded = save_and_load(c, storage);
    check_same(c, loaded);
    CHECK(to_side_table(loaded) == to_side_table(c));

    // What comes later is the same too: names, chain, undo.
    Random random(seed);
    Random same_random(seed);
    push_round(c, random, nullptr);
    push_round(loaded, same_random, nullptr);
    check_same(c, loaded);
    while (c.undo()) {
        REQUIRE(loaded.undo());
        check_same(c, loaded);
    }
    CHECK_FALSE(loaded.undo());
}

/// A conversation that a chain has cleared: five rounds, four of them placeholders.
template <typename M>
Conversation<M> cleared_conversation(const std::shared_ptr<Storage>& storage) {
    Conversation<M> c("demo");
    c.push_back(message_traits<M>::make(Role::user, "go"));
    for (int i = 0; i < 5; ++i) {
        const std::string id = "c" + std::to_string(i);
        c.push_back(make_call<M>({id}));
        c.push_tool_results(std::vector<ToolResult>{
            {id, "read", {{.kind = PartKind::text, .text = std::string(900, static_cast<char>('a' + i))}}}});
    }
    clearing_chain<M>(storage).before_model(c);
    REQUIRE(c.journal().size() == 1);
    return c;
}

Errc error_of(const std::function<void()>& action, std::string* text = nullptr) {
    try {
        action();
    } catch (const Error& error) {
        if (text) *text = error.what();
        return error.errc();
    }
    FAIL("no error");
    return {};
}

}  // namespace

TEMPLATE_TEST_CASE("a saved conversation is the same after loading, and stays the same when both go on", "[side_table]",
                   ChatMessage, openai::Message) {
    for (unsigned seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        check_round_trip<TestType>(seed, memory_storage());
        check_round_trip<TestType>(seed, nullptr);
    }
}

TEMPLATE_TEST_CASE("the chain changes nothing on a conversation that it has cleared before saving", "[side_table]",
                   ChatMessage, openai::Message) {
    const auto storage = memory_storage();
    const Conversation<TestType> c = cleared_conversation<TestType>(storage);
    Conversation<TestType> loaded = save_and_load(c, storage);
    CHECK(c.last_request_messages() == c.size());
    CHECK(loaded.last_request_messages() == c.last_request_messages());  // what the provider's cache holds
    clearing_chain<TestType>(storage).before_model(loaded);
    CHECK(bytes_of(loaded) == bytes_of(c));
    CHECK(loaded.journal().size() == 1);
}

TEMPLATE_TEST_CASE("undo after loading gives the original bytes, also from embedded objects", "[side_table]",
                   ChatMessage, openai::Message) {
    const auto storage = memory_storage();
    Conversation<TestType> c = cleared_conversation<TestType>(storage);
    const std::string table = to_side_table(c, storage.get());
    const auto other = memory_storage();
    Conversation<TestType> loaded = from_side_table<TestType>(table, copy_of(c.messages()), other);
    CHECK(other->get("demo/clear/c0") == std::string(900, 'a'));
    REQUIRE(loaded.undo());
    REQUIRE(c.undo());
    CHECK(bytes_of(loaded) == bytes_of(c));
    CHECK(text_of(loaded.messages()[2], 0) == std::string(900, 'a'));
}

TEST_CASE("an object name is not given again after loading", "[side_table]") {
    const auto storage = memory_storage();
    Conversation<ChatMessage> loaded = save_and_load(cleared_conversation<ChatMessage>(storage), storage);
    loaded.push_back(make_call<ChatMessage>({"C0"}));
    CHECK(loaded.outline()[loaded.size() - 1].parts[1].key_safe_call_id != "C0");
}

TEST_CASE("bytes that are not UTF-8 survive, in messages, texts, marks and notes", "[side_table]") {
    const std::string bytes("\xFF\x00\xC3(", 4);
    Conversation<ChatMessage> c("raw");
    c.push_back(ChatMessage::user(bytes));
    c.push_back(ChatMessage::user("two"));
    c.mark(1, {.origin = Origin::summary,
               .by = bytes,
               .reason = bytes,
               .stored_keys = {bytes},
               .covers = {7},
               .verbatim_user_messages = {bytes},
               .skill_records = {"s"},
               .retained_facts = R"([[0,"never"]])"});
    c.notes("a" + bytes).set("b" + bytes, bytes);
    check_same(c, save_and_load(c, nullptr));
}

TEST_CASE("notes keep their type and scope", "[side_table]") {
    Conversation<ChatMessage> c("notes");
    c.notes("m").set("integer", std::int64_t{INT64_MIN});
    c.notes("m").set("whole", 1.0);
    c.notes("m").set("tiny", 4.9e-324);
    c.notes("m").set("infinite", -std::numeric_limits<double>::infinity());
    c.notes("m").set("nan", std::nan(""));
    c.notes("m").set("text", std::string("t"), NoteScope::run);
    Conversation<ChatMessage> loaded = save_and_load(c, nullptr);
    CHECK(loaded.notes("m").integer("integer") == INT64_MIN);
    CHECK(loaded.notes("m").real("whole") == 1.0);
    CHECK(loaded.notes("m").real("tiny") == 4.9e-324);
    CHECK(loaded.notes("m").real("infinite") == -std::numeric_limits<double>::infinity());
    CHECK(std::isnan(loaded.notes("m").real("nan").value_or(0)));
    CHECK(loaded.notes("m").text("text") == "t");
    loaded.begin_run();
    CHECK_FALSE(loaded.notes("m").text("text"));
    CHECK(loaded.notes("m").integer("integer"));
}

TEST_CASE("a message that changed since it was saved is reported with its index", "[side_table]") {
    const Conversation<ChatMessage> c = cleared_conversation<ChatMessage>(nullptr);
    const std::string table = to_side_table(c);
    auto messages = copy_of(c.messages());
    messages[3].parts[0].text += "!";
    std::string text;
    CHECK(error_of([&] { static_cast<void>(from_side_table<ChatMessage>(table, messages, nullptr)); }, &text) ==
          Errc::damaged);
    CHECK(text.find("message 3 ") != std::string::npos);
    messages.pop_back();
    CHECK(error_of([&] { static_cast<void>(from_side_table<ChatMessage>(table, messages, nullptr)); }, &text) ==
          Errc::damaged);
    CHECK(text == "load conversation \"demo\": 10 messages, but the side table was saved with 11");
}

TEST_CASE("a text that is no side table of a known version is refused", "[side_table]") {
    const auto load = [](const std::string& json) {
        return [json] { static_cast<void>(from_side_table<ChatMessage>(json, {}, nullptr)); };
    };
    std::string text;
    CHECK(error_of(load("{}"), &text) == Errc::parse_failed);
    CHECK(text == "read a side table: whittle_side_table: missing: this is no side table");
    CHECK(error_of(load(R"({"whittle_side_table": 3})"), &text) == Errc::parse_failed);
    CHECK(text == "read a side table: whittle_side_table: version 3 is not known; this library reads versions up to 2");
    CHECK(error_of(load("[]")) == Errc::parse_failed);
    CHECK(error_of(load(std::string(100'000, '['))) == Errc::parse_failed);
    CHECK(error_of(load(to_side_table(Conversation<ChatMessage>("x")) + std::string("\0x", 2))) == Errc::parse_failed);
}

TEST_CASE("numbers that would break a later undo are refused on loading", "[side_table]") {
    const Conversation<ChatMessage> c = cleared_conversation<ChatMessage>(nullptr);
    const auto table = nlohmann::ordered_json::parse(to_side_table(c));
    const auto with = [&](const char* place, const nlohmann::ordered_json& value) {
        auto changed = table;
        changed[nlohmann::ordered_json::json_pointer(place)] = value;
        return error_of(
            [&] { static_cast<void>(from_side_table<ChatMessage>(changed.dump(), copy_of(c.messages()), nullptr)); });
    };
    CHECK(with("/journal/0/undo/0/first", 11) == Errc::parse_failed);
    CHECK(with("/journal/0/undo/0/count", 100) == Errc::parse_failed);
    CHECK(with("/journal/0/undo/1/first", 0) == Errc::parse_failed);
    CHECK(with("/journal/0/undo/0/first", -1) == Errc::parse_failed);
    CHECK(with("/journal/0/undo/0/infos", nlohmann::ordered_json::array()) == Errc::parse_failed);
    CHECK(with("/journal/0/undo/0/infos/0/parts", nlohmann::ordered_json::array()) == Errc::damaged);
    CHECK(with("/journal/0/undo/0/messages/0", R"({"role":"tool","parts":[]})") == Errc::damaged);
    CHECK(with("/journal/0/id", 2) == Errc::parse_failed);
    CHECK(with("/journal/0/texts", {{{"splice", 0}, {"message", 0}, {"part", 9}, {"key", "k"}}}) == Errc::parse_failed);
    CHECK(with("/journal/0/texts", {{{"splice", 0}, {"message", 0}, {"part", 0}, {"key", "../k"}}}) ==
          Errc::parse_failed);
    CHECK(with("/messages/0/serial", 2) == Errc::parse_failed);
    CHECK(with("/messages/0/serial", 99) == Errc::parse_failed);
    CHECK(with("/messages/0/turn", 2147483647) == Errc::parse_failed);
    CHECK(with("/messages/1/parts/1/object_name", "../../etc") == Errc::parse_failed);
    CHECK(with("/counters/next_serial", std::uint64_t{18446744073709551615ULL}) == Errc::parse_failed);
    CHECK(with("/counters/next_serial", 1.5) == Errc::parse_failed);
    CHECK(with("/objects/..~1k", "x") == Errc::parse_failed);
    CHECK(with("/surprise", 1) == Errc::parse_failed);
}

TEST_CASE("a side table cut off or altered at any byte loads whole or not at all", "[side_table]") {
    const auto storage = memory_storage();
    const Conversation<ChatMessage> c = cleared_conversation<ChatMessage>(storage);
    const std::string table = to_side_table(c);
    const auto try_load = [&](const std::string& json) {
        try {
            Conversation<ChatMessage> loaded = from_side_table<ChatMessage>(json, copy_of(c.messages()), storage);
            CHECK(bytes_of(loaded) == bytes_of(c));
            while (loaded.undo()) {
            }
            return true;
        } catch (const Error& error) {
            CHECK((error.errc() == Errc::parse_failed || error.errc() == Errc::damaged ||
                   error.errc() == Errc::not_found));
            return false;
        }
    };
    for (std::size_t size = 0; size < table.size(); size += 7) CHECK_FALSE(try_load(table.substr(0, size)));
    for (std::size_t i = 0; i < table.size(); i += 3) {
        std::string altered = table;
        altered[i] = altered[i] == '1' ? '9' : '1';
        try_load(altered);
    }
}

TEST_CASE("embedding needs every object, and embedded objects need a storage", "[side_table]") {
    const auto storage = memory_storage();
    const Conversation<ChatMessage> c = cleared_conversation<ChatMessage>(storage);
    const std::string table = to_side_table(c, storage.get());
    CHECK(error_of([&] { static_cast<void>(from_side_table<ChatMessage>(table, copy_of(c.messages()), nullptr)); }) ==
          Errc::invalid_argument);
    storage->remove("demo/clear/c0");
    CHECK(error_of([&] { static_cast<void>(to_side_table(c, storage.get())); }) == Errc::not_found);
}
