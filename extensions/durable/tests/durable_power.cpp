// A disk that forgets, when the power fails, what was not synced.
#include "durable_tools.hpp"
#include "storage/forgetful_disk.hpp"
#include "support/soak.hpp"

#include <map>

using namespace whittle;
using testing::ForgetfulDisk;
using testing::Names;
using testing::TempDir;

namespace {

struct PowerKnown {
    std::vector<std::string> acknowledged{};
    std::size_t said = 0;
};

/// Two writers in turn, with snapshots and removals in between.
void save_some(const std::shared_ptr<Storage>& storage, PowerKnown& known) {
    for (int turn = 0; turn < 2; ++turn) {
        auto durable = DurableConversation<>::open(
            storage, "chat", {.writer = "w" + std::to_string(turn), .take_over = true, .snapshot_after_bytes = 2'500});
        for (int i = 0; i < 5; ++i) {
            const std::string text = "m" + std::to_string(known.said++);
            durable->push_back(ChatMessage::user(text));
            durable.save();
            known.acknowledged.push_back(text);
        }
    }
}

/// Fails the power before the `at`-th change. False if there were fewer changes.
bool cut_power_at(int at, Durability durability, Names names, std::mt19937& random, const TempDir& dir,
                  PowerKnown& known) {
    ForgetfulDisk disk(dir / "store");
    PowerKnown now;
    int changes = 0;
    disk.before_change = [&] {
        if (++changes != at) return;
        disk.fail_power(dir / "after", names, random);
        known = now;
    };
    save_some(file_storage_on(disk.ops(), dir / "store", {.durability = durability}), now);
    return changes >= at;
}

/// How often what was acknowledged was "kept", was "shorter", or was "refused" by name.
std::map<std::string, int> power_fates(Durability durability, Names names) {
    std::map<std::string, int> fates;
    std::mt19937 random(3);
    for (int at = 1;; at += static_cast<int>(testing::every(11))) {
        CAPTURE(at);
        const TempDir dir(testing::in_memory());
        PowerKnown known;
        if (!cut_power_at(at, durability, names, random, dir, known)) return fates;
        const std::shared_ptr<Storage> storage =
            file_storage_on(testing::ops_without_sync(), dir / "after", {.durability = Durability::none});
        std::vector<std::string> found;
        try {
            auto durable = DurableConversation<>::open(storage, "chat", {.writer = "later", .take_over = true});
            found = testing::texts_of(*durable);
            durable->push_back(ChatMessage::user("after"));
            durable.save();
            CHECK(testing::texts_of(read_durable(storage, "chat")).size() == found.size() + 1);
        } catch (const Error& error) {
            CHECK(error.errc() == Errc::damaged);
            ++fates["refused"];
            continue;
        }
        for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == "m" + std::to_string(i));
        ++fates[found.size() >= known.acknowledged.size() ? "kept" : "shorter"];
        CHECK(found.size() <= known.acknowledged.size() + 1);
    }
}

}  // namespace

TEST_CASE("with durability full, a power failure takes no acknowledged save and doubles none", "[durable]") {
    const Names names = GENERATE(Names::synced_only, Names::all, Names::any);
    auto fates = power_fates(Durability::full, names);
    CHECK(fates["kept"] > 15);
    CHECK(fates.size() == 1);
}

TEST_CASE("with less durability, a power failure leaves the beginning of the conversation, or what is missing is named",
          "[durable]") {
    auto lost = power_fates(Durability::data, Names::any);
    CHECK(lost["kept"] + lost["shorter"] + lost["refused"] > 10);
    CHECK(lost["refused"] > 0);
    auto torn = power_fates(Durability::none, Names::all);
    CHECK(torn["shorter"] + torn["refused"] > 0);
}
