// Processes that write and collect, killed at random moments, and disks that forget what was not synced.
#include "storage/forgetful_disk.hpp"
#include "support/catch.hpp"
#include "support/killed_process.hpp"
#include "whittle/durable/durable.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/retention/retention.hpp"
#if WHITTLE_HAVE_SQLITE
#    include "whittle/sqlite/sqlite_storage.hpp"
#endif

using namespace whittle;
using testing::ForgetfulDisk;
using testing::KilledProcess;
using testing::Names;
using testing::Tell;
using testing::TempDir;

namespace {

using OpenShared = std::function<std::shared_ptr<Storage>()>;

/// Two days ahead: all that was written is old enough to go.
std::shared_ptr<ManualClock> days_later() {
    return std::make_shared<ManualClock>(system_clock()->now() + std::int64_t{48} * 3'600 * 1'000);
}

/// Each step stores two objects and saves a message that refers to one of them.
[[noreturn]] void write_for_ever(const OpenShared& open, const std::string& id, int run, const Tell& tell) {
    const auto storage = open();
    auto durable =
        DurableConversation<>::open(storage, id, {.writer = "w", .take_over = true, .snapshot_after_bytes = 4'000});
    for (int step = 0;; ++step) {
        const std::string key = id + "/" + std::to_string(run) + "-" + std::to_string(step);
        storage->put_if_absent(key, key);
        storage->put_if_absent(key + "-litter", key);
        durable->push_back(ChatMessage::user(key));
        (void)durable.save();
        tell('+');
    }
}

void collect_all(Storage& storage, std::vector<std::string> purge) {
    const RetentionOptions options{
        .all_conversations_known = true, .purge_conversations = std::move(purge), .clock = days_later()};
    (void)execute_retention(storage, plan_retention(storage, options), options);
}

/// Everything that a conversation refers to is there; its texts.
std::vector<std::string> check_references(const std::shared_ptr<Storage>& storage, const std::string& id) {
    std::vector<std::string> texts;
    const auto read = read_durable(storage, id);
    for (const ChatMessage& message : read.messages()) {
        texts.push_back(text_of(message, 0));
        if (storage->get(texts.back()) != texts.back()) FAIL_CHECK("lost " << texts.back());
    }
    return texts;
}

/// A writer is killed, then who collects what it left and gives another conversation up.
class CollectorSweep {
public:
    explicit CollectorSweep(OpenShared open) : open_(std::move(open)) {}

    void kill_both(int run) {
        const std::string id = "chat" + std::to_string(run / 20);
        if (id != id_) acknowledged_.clear();
        id_ = id;
        const std::string reported = killed_after(8, [&](const Tell& tell) { write_for_ever(open_, id_, run, tell); });
        for (std::size_t step = 0; step < reported.size(); ++step)
            acknowledged_.push_back(id_ + "/" + std::to_string(run) + "-" + std::to_string(step));
        const std::string gone = "gone" + std::to_string(run);
        make_gone(gone);
        (void)killed_after(2, [&](const Tell& tell) {
            for (;;) {
                collect_all(*open_(), {gone});
                tell('+');
            }
        });
        check(gone);
    }
    [[nodiscard]] int removed_whole() const { return removed_whole_; }

private:
    std::string killed_after(unsigned most_steps, const std::function<void(const Tell&)>& work) {
        KilledProcess process(work);
        process.wait_for(random_() % most_steps);
        std::this_thread::sleep_for(std::chrono::microseconds(random_() % 3'000));
        return process.kill();
    }
    void make_gone(const std::string& gone) const {
        const auto storage = open_();
        auto durable = DurableConversation<>::open(storage, gone, {.writer = "w", .snapshot_after_bytes = 2'000});
        for (int i = 0; i < 12; ++i) {
            const std::string key = gone + "/" + std::to_string(i);
            storage->put_if_absent(key, key);
            durable->push_back(ChatMessage::user(key));
            (void)durable.save();
        }
        durable.release();
    }
    /// Whatever moment it was: what lives is whole, and the next collection ends what the killed one began.
    void check(const std::string& gone) {
        const auto storage = open_();
        if (!acknowledged_.empty()) expect_acknowledged(check_references(storage, id_));
        removed_whole_ += testing::keys_below(*storage, gone + "/").empty() ? 1 : 0;
        collect_all(*storage, {});  // as who does not know that one is half gone
        collect_all(*storage, {gone});
        CHECK(testing::keys_below(*storage, gone + "/").empty());
        CHECK(testing::keys_below(*storage, "whittle-log/" + gone + "/").empty());
        if (acknowledged_.empty()) return;
        const std::vector<std::string> texts = check_references(storage, id_);
        expect_acknowledged(texts);
        CHECK(testing::keys_below(*storage, id_ + "/").size() == texts.size());
    }
    void expect_acknowledged(const std::vector<std::string>& texts) const {
        std::map<std::string, int> found;
        for (const std::string& text : texts) ++found[text];
        for (const std::string& text : acknowledged_) {
            if (found[text] != 1) FAIL_CHECK(text << " is there " << found[text] << " times");
        }
    }

    OpenShared open_;
    std::string id_{};
    std::vector<std::string> acknowledged_{};
    int removed_whole_ = 0;
    std::mt19937 random_{static_cast<unsigned>(testing::number_from("WHITTLE_SEED", 1))};
};

void sweep_collector(const OpenShared& open) {
    CollectorSweep sweep(open);
    const int runs = testing::is_soak() ? testing::kills_in_a_test() / 2 : testing::kills_in_a_test() / 10;
    for (int run = 0; run < runs; ++run) {
        CAPTURE(run);
        sweep.kill_both(run);
    }
    CHECK(sweep.removed_whole() < runs);
}

}  // namespace

TEST_CASE("a writer and a collector killed at any moment leave every conversation with all that it refers to",
          "[retention]") {
    const TempDir dir(testing::in_memory());
    sweep_collector([&] { return file_storage(dir / "store", {.durability = Durability::none}); });
}

#if WHITTLE_HAVE_SQLITE
TEST_CASE("a collector killed over a file of SQLite takes nothing that is referred to", "[retention]") {
    const TempDir dir(testing::in_memory());
    sweep_collector([&] { return sqlite_storage(dir / "store", {.durability = Durability::none}); });
}
#endif

TEST_CASE("a collection that a power failure ends takes nothing that is referred to", "[retention]") {
    const Names names = GENERATE(Names::synced_only, Names::all, Names::any);
    std::mt19937 random(5);
    int cuts = 0;
    for (int at = 1;; at += static_cast<int>(testing::every(7)), ++cuts) {
        CAPTURE(at);
        const TempDir dir(testing::in_memory());
        ForgetfulDisk disk(dir / "store");
        int changes = 0;
        bool is_collecting = false;
        disk.before_change = [&] {
            if (is_collecting && ++changes == at) disk.fail_power(dir / "after", names, random);
        };
        const std::shared_ptr<Storage> storage =
            file_storage_on(disk.ops(), dir / "store", {.durability = Durability::full});
        std::vector<std::string> saved;
        for (const char* const id : {"chat", "gone"}) {
            auto durable = DurableConversation<>::open(storage, id, {.writer = "w"});
            for (int i = 0; i < 4; ++i) {
                const std::string key = std::string(id) + "/" + std::to_string(i);
                storage->put_if_absent(key, key);
                storage->put_if_absent(key + "-litter", key);
                durable->push_back(ChatMessage::user(key));
                (void)durable.save();
                if (std::string_view(id) == "chat") saved.push_back(key);
            }
            durable.release();
        }
        is_collecting = true;
        collect_all(*storage, {"gone"});
        if (changes < at) break;
        const std::shared_ptr<Storage> after =
            file_storage_on(testing::ops_without_sync(), dir / "after", {.durability = Durability::none});
        CHECK(check_references(after, "chat") == saved);
        collect_all(*after, {"gone"});
        CHECK(testing::keys_below(*after, "chat/") == saved);
        CHECK(testing::keys_below(*after, "gone/").empty());
    }
    CHECK(cuts > 3);
}
