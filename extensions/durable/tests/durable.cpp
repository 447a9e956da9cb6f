// Opening, saving, resuming, undoing, forking; and who may write.
#include "durable_tools.hpp"

#include "whittle/base/hash.hpp"
#include "whittle/reduction/reduction.hpp"

using namespace whittle;
using testing::errc_of;
using testing::everything_of;
using testing::keys_below;
using testing::texts_of;

namespace {

using Durable = DurableConversation<>;
using Texts = std::vector<std::string>;

/// Of a writer with a name, on a clock that stands still unless the test moves it.
DurableOptions named_writer(const std::string& name, std::shared_ptr<Clock> clock = std::make_shared<ManualClock>()) {
    return {.writer = name, .clock = std::move(clock), .ids = counting_ids("id")};
}

std::string what_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A conversation of calls with long results, saved after each of them.
void read_pages(Durable& durable, const Chain<>& chain, int first, int last) {
    for (int page = first; page <= last; ++page) {
        const std::string id = "c" + std::to_string(page);
        chain.before_model(*durable);
        durable->push_back(ChatMessage::assistant().call(id, "read_page", "{}"));
        durable->push_back(ChatMessage::result(id, "read_page", id + std::string(4'000, '.')));
        durable.save();
    }
}

Chain<> clearing_chain(const std::shared_ptr<Storage>& storage) {
    return {ChainConfig{.storage = storage, .clock = std::make_shared<ManualClock>()},
            Reduction<ChatMessage>{{.skip_truncation = true, .max_tokens_for_clear = 3'000}}};
}

}  // namespace

TEST_CASE("what was saved is there for whoever opens next, and only that", "[durable]") {
    const auto storage = memory_storage();
    {
        auto durable = Durable::open(storage, "chat", named_writer("a"));
        CHECK(durable->empty());
        durable->push_back(ChatMessage::user("one"));
        CHECK(durable.save() == 2);  // entry 1 made the log
        durable->push_back(ChatMessage::assistant("two"));
        CHECK(durable.save() == 3);
        durable->push_back(ChatMessage::user("never saved"));
    }
    CHECK(texts_of(read_durable(storage, "chat")) == Texts{"one", "two"});
    auto durable = Durable::open(storage, "chat", named_writer("a"));
    CHECK(texts_of(*durable) == Texts{"one", "two"});
    CHECK(durable->turn_number() == 1);
    durable->push_back(ChatMessage::user("three"));
    durable.save();
    CHECK(texts_of(read_durable(storage, "chat")) == Texts{"one", "two", "three"});
}

TEST_CASE("a save without news writes nothing", "[durable]") {
    const auto storage = std::make_shared<testing::WatchedStorage>(memory_storage());
    auto durable = Durable::open(storage, "chat", named_writer("a"));
    durable->push_back(ChatMessage::user("one"));
    const std::uint64_t number = durable.save();
    const int puts = storage->puts;
    CHECK(durable.save() == number);
    CHECK(storage->puts == puts);
    SECTION("but a pin is news") { CHECK(durable->pin(durable->outline()[0].serial)); }
    SECTION("so is a mark") { durable->mark(0, {.origin = Origin::attachment, .by = "host"}); }
    SECTION("so is a note") { durable->notes("host").set("n", std::int64_t{1}); }
    SECTION("so is a run") { durable->begin_run(); }
    CHECK(durable.save() == number + 1);
    CHECK(everything_of(read_durable(storage, "chat")) == everything_of(*durable));
}

TEST_CASE("commits, undo and restore are saved with the journal as it is", "[durable]") {
    const auto storage = memory_storage();
    const Chain<> chain = clearing_chain(storage);
    auto durable = Durable::open(storage, "chat", named_writer("a"));
    durable->push_back(ChatMessage::user("Read the book."));
    read_pages(durable, chain, 1, 8);
    REQUIRE(durable->journal().size() >= 1);
    CHECK(everything_of(read_durable(storage, "chat")) == everything_of(*durable));

    auto resumed = Durable::open(storage, "chat", named_writer("a"));
    CHECK(resumed->undo());
    resumed.save();
    CHECK(everything_of(read_durable(storage, "chat")) == everything_of(*resumed));
    while (resumed->undo()) {
    }
    resumed.save();
    auto whole = read_durable(storage, "chat");
    CHECK(whole.journal().empty());
    CHECK(text_of(whole.messages()[2], 0) == "c1" + std::string(4'000, '.'));
    CHECK(everything_of(whole) == everything_of(*resumed));
}

TEST_CASE("a snapshot takes the place of what is in front of it", "[durable]") {
    const auto storage = memory_storage();
    const Chain<> chain = clearing_chain(storage);
    auto durable = Durable::open(storage, "chat", named_writer("a"));
    read_pages(durable, chain, 1, 8);
    CHECK(keys_below(*storage, "whittle-log/chat/snapshot/").empty());
    durable.compact_log();
    CHECK(keys_below(*storage, "whittle-log/chat/snapshot/").size() == 1);
    CHECK(keys_below(*storage, "whittle-log/chat/log/").size() == 1);  // the entry that it covers stays
    CHECK(everything_of(read_durable(storage, "chat")) == everything_of(*durable));
    read_pages(durable, chain, 9, 12);
    CHECK(everything_of(read_durable(storage, "chat")) == everything_of(*durable));
    CHECK(compact_durable_log(*storage, "chat") == durable.last_entry_number());  // without knowing what messages are
    CHECK(keys_below(*storage, "whittle-log/chat/log/").size() == 1);
    CHECK(everything_of(read_durable(storage, "chat")) == everything_of(*durable));
    read_pages(durable, chain, 13, 14);  // whoever holds it goes on
    CHECK(everything_of(read_durable(storage, "chat")) == everything_of(*durable));
}

TEST_CASE("snapshots come by themselves, and the log stays as long as the conversation", "[durable]") {
    const auto storage = memory_storage();
    DurableOptions options = named_writer("a");
    options.snapshot_after_bytes = 20'000;
    auto durable = Durable::open(storage, "chat", options);
    for (int i = 0; i < 300; ++i) {
        durable->push_back(ChatMessage::user(std::to_string(i) + std::string(500, 'x')));
        durable.save();
    }
    CHECK(durable.snapshot_error().empty());
    CHECK(keys_below(*storage, "whittle-log/chat/snapshot/").size() == 1);
    std::int64_t bytes = 0;
    storage->list("whittle-log/chat/", [&](const ObjectInfo& object) { return bytes += object.bytes, true; });
    CHECK(bytes < 3 * static_cast<std::int64_t>(everything_of(*durable).size()));
    CHECK(everything_of(read_durable(storage, "chat")) == everything_of(*durable));
}

TEST_CASE("who holds a conversation is told to others by name, until the lease ends", "[durable]") {
    const auto storage = memory_storage();
    const auto clock = std::make_shared<ManualClock>(1'000);
    auto first = Durable::open(storage, "chat", named_writer("host-1", clock));
    const auto open_second = [&](bool take_over) {
        DurableOptions options = named_writer("host-2", clock);
        options.take_over = take_over;
        return Durable::open(storage, "chat", options);
    };
    CHECK(errc_of([&] { (void)open_second(false); }) == Errc::conflict);
    CHECK(what_of([&] { (void)open_second(false); }) ==
          R"(open conversation "chat": "host-1" holds it until 1970-01-01T00:01:01.000Z)");
    SECTION("once it is over") { clock->advance(std::chrono::seconds(61)); }
    SECTION("once it was given back") { first.release(); }
    SECTION("or by force") { CHECK(open_second(true).fencing_token() == 2); }
    auto second = open_second(false);
    first->push_back(ChatMessage::user("too late"));
    CHECK(errc_of([&] { first.save(); }) == Errc::conflict);
    CHECK(errc_of([&] { first.save(); }) == Errc::conflict);  // and stays so
    CHECK(read_durable(storage, "chat").empty());
    second->push_back(ChatMessage::user("in time"));
    second.save();
    CHECK(texts_of(read_durable(storage, "chat")) == Texts{"in time"});
}

TEST_CASE("the loser is told who won", "[durable]") {
    const auto storage = memory_storage();
    auto first = Durable::open(storage, "chat", named_writer("host-1"));
    DurableOptions options = named_writer("host-2");
    options.take_over = true;
    auto second = Durable::open(storage, "chat", options);
    CHECK(second.fencing_token() > first.fencing_token());
    first->push_back(ChatMessage::user("late"));
    CHECK(what_of([&] { first.save(); }) ==
          R"(save conversation "chat": entry 2 is "host-2"'s, whose token is 2; ours is 1)");
    CHECK(errc_of([&] { first.renew(); }) == Errc::conflict);
}

TEST_CASE("a lease is renewed by saves, and by itself when half of it is over", "[durable]") {
    const auto storage = memory_storage();
    const auto clock = std::make_shared<ManualClock>();
    auto first = Durable::open(storage, "chat", named_writer("host-1", clock));
    for (int i = 0; i < 10; ++i) {
        clock->advance(std::chrono::seconds(40));
        if (i % 2 == 0) first->push_back(ChatMessage::user("m"));
        first.save();
        CHECK(errc_of([&] { (void)Durable::open(storage, "chat", named_writer("host-2", clock)); }) == Errc::conflict);
    }
    CHECK(read_durable(storage, "chat").size() == 5);
}

TEST_CASE("a writer that was left behind by a snapshot does not write into the gap", "[durable]") {
    const auto storage = memory_storage();
    auto first = Durable::open(storage, "chat", named_writer("host-1"));
    first->push_back(ChatMessage::user("one"));
    first.save();
    DurableOptions options = named_writer("host-2");
    options.take_over = true;
    auto second = Durable::open(storage, "chat", options);
    second->push_back(ChatMessage::assistant("two"));
    second.save();
    second.compact_log();  // the number that the first writer wants is free again
    REQUIRE_FALSE(storage->stat("whittle-log/chat/log/000000000003"));
    first->push_back(ChatMessage::assistant("late"));
    CHECK(errc_of([&] { first.save(); }) == Errc::conflict);
    CHECK(texts_of(read_durable(storage, "chat")) == Texts{"one", "two"});
    second->push_back(ChatMessage::user("three"));
    second.compact_log();
    CHECK(texts_of(read_durable(storage, "chat")) == Texts{"one", "two", "three"});
    CHECK(keys_below(*storage, "whittle-log/chat/log/").size() == 1);  // what it left there is gone
}

TEST_CASE("a fork copies nothing, and keeps what it needs of its origin", "[durable]") {
    const auto storage = std::make_shared<testing::WatchedStorage>(memory_storage());
    const Chain<> chain = clearing_chain(storage);
    auto origin = Durable::open(storage, "chat", named_writer("a"));
    read_pages(origin, chain, 1, 8);
    const std::int64_t before = storage->bytes_put;
    auto branch = origin.fork("branch");
    CHECK(storage->bytes_put - before < 2'000);
    CHECK(branch->id() == "branch");
    branch->push_back(ChatMessage::user("another way"));
    branch.save();
    read_pages(origin, chain, 9, 12);
    origin.compact_log();
    read_pages(origin, chain, 13, 20);
    origin.compact_log();
    CHECK(everything_of(read_durable(storage, "branch")) == everything_of(*branch));
    CHECK(everything_of(read_durable(storage, "chat")) == everything_of(*origin));
    auto resumed = Durable::open(storage, "branch", named_writer("a"));
    while (resumed->undo()) {
    }
    CHECK(text_of(resumed->messages()[1], 0) == "c1" + std::string(4'000, '.'));  // its origin's object

    SECTION("a branch of a branch reads through both") {
        auto twig = resumed.fork("twig");
        twig->push_back(ChatMessage::user("and another"));
        twig.save();
        origin.compact_log();
        CHECK(everything_of(read_durable(storage, "twig")) == everything_of(*twig));
        resumed.compact_log();  // of its own log, too, it keeps what the twig reads
        origin.compact_log();
        CHECK(everything_of(read_durable(storage, "twig")) == everything_of(*twig));
        CHECK(everything_of(read_durable(storage, "branch")) == everything_of(*resumed));
        twig.compact_log();
        resumed->push_back(ChatMessage::user("on"));
        resumed.compact_log();
        origin.compact_log();
        CHECK(keys_below(*storage, "whittle-log/branch/log/").size() == 1);
        CHECK(keys_below(*storage, "whittle-log/chat/log/").size() == 1);
        CHECK(everything_of(read_durable(storage, "twig")) == everything_of(*twig));
    }
    SECTION("once it has a snapshot of its own, its origin keeps nothing for it") {
        resumed.compact_log();
        origin.compact_log();
        CHECK(keys_below(*storage, "whittle-log/chat/log/").size() == 1);
        CHECK(everything_of(read_durable(storage, "branch")) == everything_of(*resumed));
    }
    SECTION("there is only one of a name") {
        CHECK(errc_of([&] { (void)origin.fork("branch"); }) == Errc::already_exists);
        CHECK(everything_of(read_durable(storage, "chat")) == everything_of(*origin));
    }
}

TEST_CASE("a store that can only put and get keeps the whole log", "[durable]") {
    const auto storage = std::make_shared<testing::SmallestStorage>();
    DurableOptions options = named_writer("a");
    options.snapshot_after_bytes = 1;
    auto durable = Durable::open(storage, "chat", options);
    for (int i = 0; i < 20; ++i) {
        durable->push_back(ChatMessage::user(std::to_string(i)));
        durable.save();
    }
    CHECK(everything_of(read_durable<ChatMessage>(storage, "chat")) == everything_of(*durable));
    CHECK(errc_of([&] { compact_durable_log(*storage, "chat"); }) == Errc::not_offered);
}

TEST_CASE("bad options are told all at once, and no conversation has the name of the logs' folder", "[durable]") {
    const DurableOptions bad{.writer = "a/b", .lease_seconds = 0, .snapshot_after_bytes = 0, .root = ".."};
    const std::string text = what_of([&] { (void)Durable::open(memory_storage(), "chat", bad); });
    for (const char* field : {"writer", "lease_seconds", "snapshot_after_bytes", "root"}) CHECK(has(text, field));
    CHECK(errc_of([&] { (void)Durable::open(memory_storage(), "whittle-log"); }) == Errc::invalid_argument);
    CHECK(errc_of([&] { (void)Durable::open(nullptr, "chat"); }) == Errc::invalid_argument);
    CHECK(errc_of([&] { (void)read_durable(memory_storage(), "chat"); }) == Errc::not_found);
}
