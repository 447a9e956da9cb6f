// What of a store may go, and what a writer at the same time keeps.
#include "whittle/retention/retention.hpp"

#include "support/catch.hpp"
#include "support/soak.hpp"
#include "support/storage_tools.hpp"
#include "support/temp_dir.hpp"
#include "whittle/durable/durable.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/reduction/reduction.hpp"
#if WHITTLE_HAVE_SQLITE
#    include "whittle/sqlite/sqlite_storage.hpp"
#endif
#if WHITTLE_HAVE_ENCRYPTION
#    include "whittle/encryption/encrypted_storage.hpp"
#endif

#include <latch>
#include <random>
#include <thread>

using namespace whittle;
using testing::errc_of;
using testing::keys_below;
using Keys = std::vector<std::string>;

namespace {

constexpr std::int64_t hour = 3'600;

/// A store and a clock that a test moves.
struct Fixture {
    explicit Fixture(std::shared_ptr<ManualClock> time = std::make_shared<ManualClock>(1'700'000'000'000))
        : clock(std::move(time)), storage(memory_storage({.clock = clock})) {
        options.clock = clock;
    }

    void put(const std::string& key, std::string_view content = "12345678") { storage->put_if_absent(key, content); }
    void wait_hours(std::int64_t hours) { clock->advance(std::chrono::hours(hours)); }
    /// A conversation with a log, which refers to `keys`.
    void save(const std::string& id, const Keys& keys) {
        DurableConversation<> durable =
            DurableConversation<>::open(storage, id, {.writer = "w", .take_over = true, .clock = clock});
        std::string text = "see";
        for (const std::string& key : keys) text += " " + key + ",";
        durable->push_back(ChatMessage::user(text));
        durable.save();
        durable.release();
    }
    [[nodiscard]] RetentionPlan plan() const { return plan_retention(*storage, options); }
    [[nodiscard]] Keys going() const {
        Keys keys;
        for (const RetentionObject& object : plan().to_remove) keys.push_back(object.key);
        return keys;
    }
    /// "reason key by" of each object that is no log.
    [[nodiscard]] Keys reasons() const {
        Keys reasons;
        RetentionOptions asked = options;
        asked.visit = [&](const RetentionObject& object) {
            if (object.key.starts_with("whittle-log/")) return;
            reasons.push_back(std::string(to_string(object.reason)) + ' ' + object.key +
                              (object.conversation.empty() ? "" : ' ' + object.conversation));
        };
        (void)plan_retention(*storage, asked);
        return reasons;
    }

    std::shared_ptr<ManualClock> clock;
    std::shared_ptr<Storage> storage;
    RetentionOptions options{};
};

/// Gives these, once.
std::function<std::optional<SavedConversationText>()> giving(std::vector<SavedConversationText> saved) {
    return [saved = std::move(saved), at = std::size_t{0}]() mutable -> std::optional<SavedConversationText> {
        if (at == saved.size()) return std::nullopt;
        return saved[at++];
    };
}

}  // namespace

TEST_CASE("what a log refers to stays, what nothing refers to goes once it is old, and each is told why",
          "[retention]") {
    Fixture fixture;
    fixture.put("a/clear/c1");
    fixture.put("a/clear/c2");
    fixture.put("b/clear/c1");
    fixture.put("else/x");
    fixture.save("a", {"a/clear/c1", "b/clear/c1"});
    fixture.wait_hours(30);
    fixture.put("a/clear/c3");
    fixture.save("b", {});
    CHECK(fixture.reasons() == Keys{"referenced a/clear/c1 a", "unreferenced a/clear/c2 a", "too_young a/clear/c3 a",
                                    "referenced b/clear/c1 a", "unknown else/x"});
    const RetentionPlan plan = fixture.plan();
    REQUIRE(plan.to_remove.size() == 1);
    CHECK(plan.to_remove[0].key == "a/clear/c2");
    CHECK(plan.removal_sum().bytes == 8);
    CHECK(plan.bytes_after == plan.bytes_before - 8);
    CHECK(plan.sums.at(RetentionReason::log).objects > 2);
    CHECK(keys_below(*fixture.storage, "a/") == Keys{"a/clear/c1", "a/clear/c2", "a/clear/c3"});  // nothing is done yet
    const RetentionResult result = execute_retention(*fixture.storage, plan, fixture.options);
    CHECK(result.removed.objects == 1);
    CHECK(result.removed.bytes == 8);
    CHECK(result.planned_but_kept.empty());
    CHECK(keys_below(*fixture.storage, "a/") == Keys{"a/clear/c1", "a/clear/c3"});
    CHECK(fixture.going().empty());
    fixture.options.all_conversations_known = true;
    CHECK(fixture.going() == Keys{"else/x"});
}

TEST_CASE("where no conversation is known nothing is guessed", "[retention]") {
    Fixture fixture;
    fixture.put("a/x");
    fixture.wait_hours(100);
    CHECK(errc_of([&] { (void)fixture.plan(); }) == Errc::invalid_argument);
    fixture.options.purge_conversations = {"a"};
    CHECK(errc_of([&] { (void)fixture.plan(); }) == Errc::invalid_argument);
    fixture.options.purge_conversations.clear();
    fixture.options.next_saved_conversation = giving({{"talk.json", "nothing"}});
    CHECK(fixture.reasons() == Keys{"unknown a/x"});
    fixture.options.next_saved_conversation = giving({{"talk.json", "nothing"}});
    fixture.options.all_conversations_known = true;
    CHECK(fixture.reasons() == Keys{"unreferenced a/x"});
    fixture.options.next_saved_conversation = giving({{"talk.json", R"({"stored":["\/srv\/store\/a\/x"]})"}});
    CHECK(fixture.reasons() == Keys{"referenced a/x talk.json"});
    CHECK(errc_of([&] {
              RetentionOptions bad = fixture.options;
              bad.grace_seconds = -1;
              (void)plan_retention(*fixture.storage, bad);
          }) == Errc::invalid_config);
}

TEST_CASE("saved messages refer to the objects of their marks, and to what these refer to", "[retention]") {
    Fixture fixture;
    const std::string known(32, 'a');
    const std::string unknown(32, 'b');
    fixture.storage->put_if_absent("a/marks/" + known, R"({"messages":[{"mark":{"stored":"a/clear/c1"}}]})");
    fixture.put("a/marks/" + unknown);
    fixture.put("a/clear/c1");
    fixture.put("a/clear/c2");
    fixture.wait_hours(100);
    fixture.options.all_conversations_known = true;
    fixture.options.next_saved_conversation =
        giving({{"list.jsonl", R"({"role":"user","mark_id":")" + known + R"(-3"})"}});
    CHECK(fixture.reasons() == Keys{"referenced a/clear/c1 list.jsonl", "unreferenced a/clear/c2",
                                    "referenced a/marks/" + known + " list.jsonl", "unreferenced a/marks/" + unknown});
}

TEST_CASE("a log that cannot be read is an error: what it refers to is not known", "[retention]") {
    Fixture fixture;
    fixture.put("a/x");
    fixture.put("whittle-log/a/log/000000000001", "half an ent");
    fixture.wait_hours(100);
    CHECK(errc_of([&] { (void)fixture.plan(); }) == Errc::damaged);
}

TEST_CASE("nothing goes that is younger than the time of grace, and nothing of a conversation at work", "[retention]") {
    Fixture fixture;
    fixture.put("a/old");
    fixture.wait_hours(48);
    fixture.put("a/new");
    fixture.save("a", {});
    fixture.options.unreferenced_max_age_seconds = 0;
    CHECK(fixture.reasons() == Keys{"too_young a/new a", "recently_active a/old a"});
    fixture.wait_hours(2);
    CHECK(fixture.reasons() == Keys{"unreferenced a/new a", "unreferenced a/old a"});
    fixture.options.grace_seconds = 3 * hour;
    CHECK(fixture.reasons() == Keys{"too_young a/new a", "recently_active a/old a"});
    fixture.options.grace_seconds = 0;
    CHECK(fixture.going() == Keys{"a/new", "a/old"});
}

TEST_CASE("a store that is too large gives up what nothing refers to, the oldest first, and never more than it must",
          "[retention]") {
    Fixture fixture;
    fixture.save("a", {"a/kept"});
    fixture.put("a/kept", std::string(1'000, 'k'));
    for (int i = 0; i < 5; ++i) {
        fixture.put("a/" + std::to_string(9 - i), std::string(100, 'x'));
        fixture.wait_hours(2);
    }
    const std::int64_t all = fixture.plan().bytes_before;
    CHECK(fixture.going().empty());
    fixture.options.max_bytes = all - 150;
    CHECK(fixture.going() == Keys{"a/8", "a/9"});
    CHECK(fixture.plan().bytes_after == all - 200);
    fixture.options.max_bytes = 1;
    const RetentionPlan plan = fixture.plan();
    CHECK(plan.sums.at(RetentionReason::over_size).objects == 5);
    CHECK(plan.bytes_after == all - 500);  // what is referred to stays, whatever the limit
    fixture.options.unreferenced_max_age_seconds = 9 * hour;
    fixture.options.max_bytes = all - 150;
    CHECK(fixture.reasons() == Keys{"too_young a/5 a", "too_young a/6 a", "too_young a/7 a", "over_size a/8 a",
                                    "unreferenced a/9 a", "referenced a/kept a"});
    CHECK(fixture.plan().bytes_after == all - 200);
}

TEST_CASE("a conversation is purged with its log and its objects, but for what others refer to", "[retention]") {
    Fixture fixture;
    const std::string long_id = "a-conversation-with-a-long-id";
    for (const std::string& key : {long_id + "/clear/c1", long_id + "/clear/c2", short_root(long_id) + "/0001"})
        fixture.put(key);
    fixture.save(long_id, {long_id + "/clear/c1"});
    fixture.save("other", {long_id + "/clear/c2"});
    fixture.put("other/x");
    fixture.options.purge_conversations = {long_id};
    CHECK(errc_of([&] { (void)fixture.plan(); }) == Errc::conflict);  // it was saved just now
    fixture.wait_hours(2);
    const RetentionPlan plan = fixture.plan();
    (void)execute_retention(*fixture.storage, plan, fixture.options);
    CHECK(keys_below(*fixture.storage, long_id + "/") == Keys{long_id + "/clear/c2"});
    CHECK(keys_below(*fixture.storage, short_root(long_id) + "/").empty());
    CHECK(keys_below(*fixture.storage, "whittle-log/" + long_id + "/").empty());
    CHECK(keys_below(*fixture.storage, "other/") == Keys{"other/x"});
    CHECK(read_durable(fixture.storage, "other").size() == 1);
    CHECK(plan.to_remove.back().key.starts_with("whittle-log/"));  // logs last: a plan that is broken off is made again
}

TEST_CASE("conversations that were saved too long ago go", "[retention]") {
    Fixture fixture;
    fixture.put("a/x");
    fixture.save("a", {"a/x", "b/shared"});
    fixture.wait_hours(100);
    fixture.put("b/x");
    fixture.put("b/shared");
    fixture.save("b", {"b/x"});
    fixture.options.conversation_max_idle_seconds = 48 * hour;
    CHECK(fixture.reasons() == Keys{"expired a/x a", "too_young b/shared b", "referenced b/x b"});
    (void)execute_retention(*fixture.storage, fixture.plan(), fixture.options);
    CHECK(keys_below(*fixture.storage, "whittle-log/a/").empty());
    CHECK(keys_below(*fixture.storage, "b/").size() == 2);
}

TEST_CASE("a branch keeps the log that it reads and what that refers to, until it has a snapshot of its own",
          "[retention]") {
    Fixture fixture;
    fixture.put("a/x");
    {
        auto a = DurableConversation<>::open(fixture.storage, "a", {.writer = "w", .clock = fixture.clock});
        a->push_back(ChatMessage::user("see a/x"));
        auto branch = a.fork("branch");
        branch->push_back(ChatMessage::user("more"));
        branch.save();
        branch.release();
        a.release();
    }
    fixture.wait_hours(5);
    fixture.options.purge_conversations = {"a"};
    CHECK(fixture.reasons() == Keys{"referenced a/x a"});
    CHECK(fixture.going().empty());
    (void)compact_durable_log(*fixture.storage, "branch", {.clock = fixture.clock});
    fixture.wait_hours(5);
    CHECK(fixture.reasons() == Keys{"referenced a/x branch"});
    (void)execute_retention(*fixture.storage, fixture.plan(), fixture.options);
    CHECK(keys_below(*fixture.storage, "whittle-log/a/").empty());
    CHECK(text_of(read_durable(fixture.storage, "branch").messages()[0], 0) == "see a/x");
    CHECK(fixture.storage->get("a/x"));
}

TEST_CASE("what a writer refers to after the plan was made is kept", "[retention]") {
    Fixture fixture;
    for (const char* key : {"a/x", "b/y", "b/z"}) fixture.put(key);
    fixture.save("a", {});
    fixture.save("b", {});
    fixture.save("gone", {});
    fixture.put("gone/x");
    fixture.wait_hours(30);
    fixture.options.purge_conversations = {"gone"};
    const RetentionPlan plan = fixture.plan();
    CHECK(plan.removal_sum().objects > 4);

    SECTION("by its log: what it names, and all of its own") {
        fixture.save("a", {"b/y"});
        const RetentionResult result = execute_retention(*fixture.storage, plan, fixture.options);
        CHECK(result.planned_but_kept == Keys{"a/x", "b/y"});
        CHECK_FALSE(fixture.storage->get("b/z"));
    }
    SECTION("by writing the object again") {
        fixture.storage->remove("b/y");
        fixture.put("b/y");
        CHECK(execute_retention(*fixture.storage, plan, fixture.options).planned_but_kept == Keys{"b/y"});
    }
    SECTION("by opening the conversation that was to be purged") {
        fixture.save("gone", {});
        (void)execute_retention(*fixture.storage, plan, fixture.options);
        CHECK(fixture.storage->get("gone/x"));
        CHECK(read_durable(fixture.storage, "gone").size() == 2);
    }
    SECTION("in the middle of removing") {
        RetentionOptions options = fixture.options;
        for (int i = 0; i < 600; ++i) fixture.put("b/many/" + std::to_string(i));
        fixture.wait_hours(30);
        const RetentionPlan many = plan_retention(*fixture.storage, options);
        int removed = 0;
        class Watched final : public Storage {
        public:
            Watched(Storage& inner, std::function<void()> before_remove)
                : inner_(inner), before_remove_(std::move(before_remove)) {}
            void put_if_absent(std::string_view key, std::string_view content) override {
                inner_.put_if_absent(key, content);
            }
            std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t most) override {
                return inner_.get(key, offset, most);
            }
            std::optional<ObjectInfo> stat(std::string_view key) override { return inner_.stat(key); }
            void list(std::string_view prefix, const std::function<bool(const ObjectInfo&)>& visit) override {
                inner_.list(prefix, visit);
            }
            bool remove(std::string_view key) override {
                before_remove_();
                return inner_.remove(key);
            }

        private:
            Storage& inner_;
            std::function<void()> before_remove_;
        } watched(*fixture.storage, [&] {
            if (++removed == 100) fixture.save("b", {});
        });
        (void)execute_retention(watched, many, options);
        CHECK(removed < 300);
        CHECK(keys_below(*fixture.storage, "b/many/").size() > 300);
    }
}

TEST_CASE("whatever conversations a store has, all of them can be read and undone after a collection", "[retention]") {
    std::mt19937 random(9);
    for (int round = 0; round < (testing::is_soak() ? 200 : 20); ++round) {
        Fixture fixture;
        const Chain<> chain(ChainConfig{.storage = fixture.storage, .clock = fixture.clock},
                            Reduction<>{{.max_tokens_for_clear = 1'500, .clear_target_tokens = 500}});
        const int conversations = 2 + static_cast<int>(random() % 3);
        std::map<std::string, std::vector<std::string>> originals;
        for (int i = 0; i < conversations; ++i) {
            const std::string id = "conversation-" + std::to_string(i);
            auto durable = DurableConversation<>::open(fixture.storage, id, {.writer = "w", .clock = fixture.clock});
            for (int r = 0; r < 12; ++r) {
                const std::string call = "c" + std::to_string(r);
                durable->push_back(ChatMessage::assistant().call(call, "read"));
                durable->push_back(ChatMessage::result(call, "read", call + std::string(900, 'x')));
                chain.before_model(*durable);
                if (random() % 5 == 0) (void)durable->undo();
                if (random() % 3 == 0) durable.save();
                if (random() % 9 == 0) durable.compact_log();
            }
            durable.save();
            durable.release();
        }
        fixture.wait_hours(50);
        fixture.options.all_conversations_known = true;
        fixture.options.grace_seconds = 0;
        fixture.options.max_bytes = 1;
        if (random() % 2 == 0) fixture.options.purge_conversations = {"conversation-0"};
        (void)execute_retention(*fixture.storage, fixture.plan(), fixture.options);
        for (int i = fixture.options.purge_conversations.empty() ? 0 : 1; i < conversations; ++i) {
            auto read = read_durable(fixture.storage, "conversation-" + std::to_string(i));
            while (read.undo()) {
            }
            REQUIRE(read.size() == 24);
            for (int r = 0; r < 12; ++r)
                CHECK(text_of(read.messages()[static_cast<std::size_t>(2 * r + 1)], 0).size() > 900);
        }
        if (!fixture.options.purge_conversations.empty())
            CHECK(keys_below(*fixture.storage, "conversation-0/").empty());
    }
}

TEST_CASE("files, SQLite and encrypted stores are collected alike", "[retention]") {
    const testing::TempDir dir;
    std::vector<std::pair<std::string, std::shared_ptr<Storage>>> stores{{"files", file_storage(dir / "files")}};
#if WHITTLE_HAVE_SQLITE
    stores.emplace_back("SQLite", sqlite_storage(dir / "objects.db"));
#endif
#if WHITTLE_HAVE_ENCRYPTION
    const EncryptionKey key{"k1", std::string(32, 'a')};
    stores.emplace_back("encrypted",
                        encrypted_storage(memory_storage(), {.current_key = [&] { return key; },
                                                             .find_key = [&](auto) { return std::optional(key); }}));
#endif
    for (const auto& [name, storage] : stores) {
        CAPTURE(name);
        {
            auto durable = DurableConversation<>::open(storage, "a", {.writer = "w"});
            storage->put_if_absent("a/x", "kept");
            storage->put_if_absent("a/y", "not kept");
            durable->push_back(ChatMessage::user("see a/x"));
            durable.save();
        }
        RetentionOptions options;
        CHECK(plan_retention(*storage, options).to_remove.empty());  // young
        options.clock = std::make_shared<ManualClock>(system_clock()->now() + 48 * hour * 1'000);
        const RetentionPlan plan = plan_retention(*storage, options);
        REQUIRE(plan.to_remove.size() == 1);
        CHECK(plan.to_remove[0].key == "a/y");
        CHECK(plan.to_remove[0].bytes == 8);
        CHECK(execute_retention(*storage, plan, options).removed.objects == 1);
        CHECK(keys_below(*storage, "a/") == Keys{"a/x"});
        CHECK(read_durable(storage, "a").size() == 1);
    }
}

TEST_CASE("writers that store and save while a store is collected lose nothing", "[retention][threads]") {
    Fixture fixture(std::make_shared<ManualClock>(system_clock()->now()));
    for (int i = 0; i < 2'000; ++i) fixture.put("conv-" + std::to_string(i % 4) + "/old/" + std::to_string(i));
    for (int i = 0; i < 4; ++i) fixture.save("conv-" + std::to_string(i), {});
    fixture.wait_hours(50);
    std::latch open(4);
    std::vector<std::thread> writers;
    for (int w = 0; w < 4; ++w) {
        writers.emplace_back([&, w] {
            const std::string id = "conv-" + std::to_string(w);
            auto durable = DurableConversation<>::open(fixture.storage, id,
                                                       {.writer = "w", .take_over = true, .clock = fixture.clock});
            open.count_down();
            for (int i = 0; i < 30; ++i) {  // names old objects again, as after an undo
                const std::string key = id + "/old/" + std::to_string(4 * i + w);
                fixture.storage->put_if_absent(key, "12345678");
                durable->push_back(ChatMessage::user("see " + key));
                fixture.storage->put_if_absent(id + "/new/" + std::to_string(i), "new");
                durable->push_back(ChatMessage::user("see " + id + "/new/" + std::to_string(i)));
                durable.save();
            }
        });
    }
    const RetentionPlan before = fixture.plan();
    open.wait();
    (void)execute_retention(*fixture.storage, before, fixture.options);
    for (int i = 0; i < 5; ++i) (void)execute_retention(*fixture.storage, fixture.plan(), fixture.options);
    for (std::thread& writer : writers) writer.join();
    (void)execute_retention(*fixture.storage, fixture.plan(), fixture.options);
    for (int w = 0; w < 4; ++w) {
        const auto read = read_durable(fixture.storage, "conv-" + std::to_string(w));
        for (const ChatMessage& m : read.messages()) {
            const std::string text = text_of(m, 0);
            if (text.starts_with("see conv")) CHECK(fixture.storage->get(text.substr(4)));
        }
    }
}

TEST_CASE("the options of retention can be made as a temporary in a generic lambda", "[retention]") {
    const auto roots = [](auto) { return RetentionOptions{}.log_roots; };  // tests/loop/config_temporaries.cpp
    CHECK(roots(0) == std::vector<std::string>{"whittle-log"});
}
