// Stores that fail, objects that are broken, formats that are newer.
#include "durable_tools.hpp"
#include "support/faulty_storage.hpp"
#include "support/soak.hpp"
#include "whittle/base/hash.hpp"

#include <map>

using namespace whittle;
using testing::errc_of;
using testing::keys_below;
using testing::texts_of;

namespace {

using DurableChat = DurableConversation<>;
using Lines = std::vector<std::string>;

const std::string entries_of_chat = "whittle-log/chat/log/";
const std::string snapshots_of_chat = "whittle-log/chat/snapshot/";

std::string entry_key(int number) {
    std::string digits = std::to_string(number);
    return entries_of_chat + std::string(12 - digits.size(), '0') + digits;
}

DurableOptions still(std::int64_t snapshot_after_bytes = 262'144) {
    return {.writer = "w",
            .snapshot_after_bytes = snapshot_after_bytes,
            .clock = std::make_shared<ManualClock>(),
            .ids = counting_ids()};
}

std::string text_of_failure(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

bool names(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Entries 1 (made) to `last`, each with a message but the first.
std::shared_ptr<Storage> log_of(int last) {
    const auto storage = memory_storage();
    auto durable = DurableChat::open(storage, "chat", still());
    for (int i = 2; i <= last; ++i) {
        durable->push_back(ChatMessage::user("m" + std::to_string(i)));
        durable.save();
    }
    return storage;
}

/// The same objects in a store of their own.
std::shared_ptr<Storage> copy_of(Storage& storage) {
    const auto copy = memory_storage();
    for (const std::string& key : keys_below(storage, "whittle-log/")) copy->put_if_absent(key, *storage.get(key));
    return copy;
}

std::string reframed(std::string_view bytes, const std::function<std::string(std::string)>& change,
                     const std::string& version = "1") {
    const std::size_t line = bytes.find('\n');
    const std::string body = change(std::string(bytes.substr(line + 1)));
    const std::string head = std::string(bytes.substr(0, bytes.find(' '))) + " " + version;
    return head + " " + sha256_hex(head + "\n" + body) + "\n" + body;
}

}  // namespace

TEST_CASE("a half-written entry at the end is cut and told, and never comes back unnoticed", "[durable]") {
    const auto whole = log_of(4);
    const std::string last = *whole->get(entry_key(4));
    for (std::size_t bytes = 0; bytes < last.size(); bytes += testing::every(17)) {
        CAPTURE(bytes);
        const auto storage = copy_of(*whole);
        testing::replace_object(*storage, entry_key(4), std::string_view(last).substr(0, bytes));
        CHECK(texts_of(read_durable(storage, "chat")) == Lines{"m2", "m3"});
        auto durable = DurableChat::open(storage, "chat", still());
        CHECK(durable.torn_entries() == std::vector<std::uint64_t>{4});
        CHECK(durable.last_entry_number() == 5);
        durable->push_back(ChatMessage::user("m5"));
        durable.save();
        CHECK(texts_of(read_durable(storage, "chat")) == Lines{"m2", "m3", "m5"});
        testing::replace_object(*storage, entry_key(4), last);  // as no store may do: both cannot count
        CHECK(text_of_failure([&] { (void)read_durable(storage, "chat"); }) ==
              R"(read the log of "chat": entry 5 follows entry 3, not the entry 4 that stands before it)");
    }
}

TEST_CASE("a store that has a broken entry under every number is told as such, by readers and by writers",
          "[durable]") {
    class BrokenStorage final : public Storage {
    public:
        void put_if_absent(std::string_view key, std::string_view) override {
            if (is_broken) throw Error(Errc::already_exists, "put " + std::string(key) + ": other content");
        }
        std::optional<std::string> get(std::string_view, std::int64_t, std::int64_t) override {
            return is_broken ? std::optional<std::string>("broken") : std::nullopt;
        }
        bool is_broken = true;
    };
    const auto storage = std::make_shared<BrokenStorage>();
    CHECK(names(text_of_failure([&] { (void)read_durable(storage, "chat"); }),
                R"(read the log of "chat": all 1000 entries behind entry 0 are damaged, the last one: )"));
    storage->is_broken = false;
    auto durable = DurableChat::open(storage, "chat", still());
    durable->push_back(ChatMessage::user("m2"));
    storage->is_broken = true;
    CHECK(text_of_failure([&] { durable.save(); }) ==
          "put " + entry_key(2) + ": the store calls this key and all behind it up to " + entry_key(1'000) +
              " taken, and has no whole entry under any of them; nothing was written: check the store");
    storage->is_broken = false;
    durable.save();
    CHECK(durable.last_entry_number() == 2);
}

TEST_CASE("a store that says of an entry that it is there and that it is not is told as such", "[durable]") {
    class TornStorage final : public Storage {
    public:
        explicit TornStorage(std::shared_ptr<Storage> inner) : inner_(std::move(inner)) {}
        void put_if_absent(std::string_view key, std::string_view content) override {
            inner_->put_if_absent(key, content);
        }
        std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t bytes) override {
            if (key == entry_key(3) && bytes > 1) return std::nullopt;
            return inner_->get(key, offset, bytes);
        }
        void list(std::string_view prefix, const std::function<bool(const ObjectInfo&)>& visit) override {
            inner_->list(prefix, visit);
        }

    private:
        std::shared_ptr<Storage> inner_;
    };
    const auto storage = std::make_shared<TornStorage>(log_of(4));
    CHECK(text_of_failure([&] { (void)read_durable(storage, "chat"); }) ==
          R"(read the log of "chat": entry 3 is missing, entry 4 is there)");
}

TEST_CASE("a byte that changed at the end is noticed wherever it is", "[durable]") {
    const auto whole = log_of(3);
    const std::string last = *whole->get(entry_key(3));
    constexpr std::size_t first_line = 80;  // all of it, always
    for (std::size_t at = 0; at < last.size(); at += at < first_line ? 1 : testing::every(7)) {
        CAPTURE(at);
        const auto storage = copy_of(*whole);
        std::string changed = last;
        changed[at] = static_cast<char>(changed[at] ^ (at % 2 == 0 ? 0x15 : 0x02));
        testing::replace_object(*storage, entry_key(3), changed);
        CHECK(texts_of(read_durable(storage, "chat")) == Lines{"m2"});
    }
}

TEST_CASE("a broken or missing entry in the middle is an error that names it, and nothing is written", "[durable]") {
    const auto storage = log_of(6);
    SECTION("broken") {
        testing::replace_object(*storage, entry_key(4), "whittle-log 1 of which");
        const std::string text = text_of_failure([&] { (void)read_durable(storage, "chat"); });
        CHECK(names(text, "entry 4, which entry 5 follows, is damaged"));
    }
    SECTION("missing") {
        storage->remove(entry_key(4));
        CHECK(text_of_failure([&] { (void)read_durable(storage, "chat"); }) ==
              R"(read the log of "chat": entry 4 is missing, entry 5 is there)");
    }
    SECTION("another's") {
        const auto other = log_of(5);
        testing::replace_object(*storage, entry_key(4), reframed(*other->get(entry_key(4)), [](std::string body) {
            return body.replace(body.find("\"when\":0"), 8, "\"when\":1");
        }));
        CHECK(names(text_of_failure([&] { (void)read_durable(storage, "chat"); }), "entry 5 follows entry 4"));
    }
    const auto before = keys_below(*storage, "");
    CHECK(errc_of([&] { (void)DurableChat::open(storage, "chat", still()); }) == Errc::damaged);
    CHECK(keys_below(*storage, "") == before);
}

TEST_CASE("a broken snapshot is passed over while the entries in front of it are there", "[durable]") {
    const auto storage = log_of(4);
    const std::string covered = *storage->get(entry_key(2));
    compact_durable_log(*storage, "chat");
    const std::string key = snapshots_of_chat + "000000000004";
    const std::string snapshot = *storage->get(key);
    SECTION("and if they are not, that is told") {
        testing::replace_object(*storage, key, snapshot.substr(0, snapshot.size() / 2));
        const std::string text = text_of_failure([&] { (void)read_durable(storage, "chat"); });
        CHECK(names(text, "entry 1 is missing, entry 4 is there; snapshot 4 is damaged"));
    }
    SECTION("a whole one of a newer format is refused by name") {
        testing::replace_object(*storage, key,
                                reframed(
                                    snapshot, [](std::string body) { return body; }, "3"));
        const std::string text = text_of_failure([&] { (void)DurableChat::open(storage, "chat", still()); });
        CHECK(names(text, "whittle-snapshot of version 3 is not known; this library reads versions up to 2"));
    }
}

TEST_CASE("an entry of a newer format is refused by name, at the end too", "[durable]") {
    const auto storage = log_of(4);
    testing::replace_object(*storage, entry_key(4),
                            reframed(
                                *storage->get(entry_key(4)), [](std::string body) { return body; }, "12"));
    CHECK(errc_of([&] { (void)DurableChat::open(storage, "chat", still()); }) == Errc::parse_failed);
    CHECK(text_of_failure([&] { (void)read_durable(storage, "chat"); }) ==
          "read \"whittle-log/chat/log/000000000004\": whittle-log of version 12 is not known; this library reads "
          "versions up to 2");
}

TEST_CASE("a store that fails at any call loses nothing that was acknowledged, and doubles nothing", "[durable]") {
    for (int fail_at = 1;; ++fail_at) {
        CAPTURE(fail_at);
        const auto inner = memory_storage();
        const auto storage = std::make_shared<testing::FaultyStorage>(inner, fail_at);
        Lines acknowledged;
        std::optional<DurableChat> durable;
        int failures = 0;
        for (int i = 0; i < 12; ++i) {
            try {
                if (!durable) durable.emplace(DurableChat::open(storage, "chat", still(900)));
                (*durable)->push_back(ChatMessage::user("m" + std::to_string(i)));
                durable->save();
                acknowledged.push_back("m" + std::to_string(i));
            } catch (const Error& error) {
                CHECK(error.errc() == Errc::storage_failed);
                ++failures;
                durable.reset();
            }
        }
        const Lines found = texts_of(read_durable(inner, "chat"));
        std::map<std::string, int> times;
        for (const std::string& text : found) CHECK(++times[text] == 1);
        for (const std::string& text : acknowledged) CHECK(times[text] == 1);
        CHECK(failures <= 1);
        if (storage->calls() < fail_at) {
            CHECK(fail_at > 50);
            break;
        }
    }
}

TEST_CASE("a save that failed may be tried again, and saves everything once", "[durable]") {
    const auto inner = memory_storage();
    const auto storage = std::make_shared<testing::WatchedStorage>(inner);
    auto durable = DurableChat::open(storage, "chat", still());
    durable->push_back(ChatMessage::user("one"));
    SECTION("if it surely was not stored") {
        storage->before_put = [](std::string_view) { throw Error(Errc::storage_failed, "full"); };
        CHECK(errc_of([&] { durable.save(); }) == Errc::storage_failed);
        storage->before_put = [](std::string_view) {};
        durable->push_back(ChatMessage::assistant("two"));
        durable.save();
        CHECK(texts_of(read_durable(inner, "chat")) == Lines{"one", "two"});
    }
    SECTION("but not where nobody knows") {
        storage->after_put = [](std::string_view) { throw Error(Errc::storage_failed, "the answer is lost"); };
        CHECK(errc_of([&] { durable.save(); }) == Errc::storage_failed);
        storage->after_put = [](std::string_view) {};
        CHECK(names(text_of_failure([&] { durable.save(); }), "is stored is not known"));
        CHECK(texts_of(*DurableChat::open(inner, "chat", still())) == Lines{"one"});
    }
}

TEST_CASE("a snapshot that fails leaves the save as it is, and is tried again", "[durable]") {
    const auto inner = memory_storage();
    const auto storage = std::make_shared<testing::WatchedStorage>(inner);
    auto durable = DurableChat::open(storage, "chat", still(1));
    storage->before_put = [](std::string_view key) {
        if (key.starts_with(snapshots_of_chat)) throw Error(Errc::storage_failed, "full");
    };
    durable->push_back(ChatMessage::user("one"));
    durable.save();
    CHECK(names(durable.snapshot_error(), "full"));
    CHECK(texts_of(read_durable(inner, "chat")) == Lines{"one"});
    storage->before_put = [](std::string_view) {};
    durable->push_back(ChatMessage::assistant("two"));
    durable.save();
    CHECK(durable.snapshot_error().empty());
    CHECK(keys_below(*inner, snapshots_of_chat).size() == 1);
}

TEST_CASE("reading while others write and shorten gives a state that was saved", "[durable]") {
    const auto inner = memory_storage();
    auto durable = DurableChat::open(inner, "chat", still(2'000));
    int said = 0;
    const auto say = [&] {
        durable->push_back(ChatMessage::user("m" + std::to_string(said++)));
        durable.save();
    };
    for (int i = 0; i < 5; ++i) say();
    const auto storage = std::make_shared<testing::WatchedStorage>(inner);
    int gets = 0;
    for (int every = 1; every < 30; ++every) {
        const int before = said;
        int talks = 8;
        storage->before_get = [&](std::string_view) {
            if (++gets % every != 0 || talks-- <= 0) return;
            for (int i = 0; i < 3; ++i) say();
            if (talks % 2 == 0) durable.compact_log();
        };
        const Lines found = texts_of(read_durable<ChatMessage>(storage, "chat"));
        CHECK(static_cast<int>(found.size()) >= before);
        for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == "m" + std::to_string(i));
    }
}
