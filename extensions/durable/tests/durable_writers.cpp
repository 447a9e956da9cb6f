// Several writers of one conversation: exactly one wins each commit, whatever clocks and pauses do.
#include "durable_tools.hpp"
#include "support/soak.hpp"

#ifdef WHITTLE_HAVE_SQLITE
#    include "whittle/sqlite/sqlite_storage.hpp"
#endif

#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

using namespace whittle;
using testing::errc_of;
using testing::texts_of;

namespace {

using DurableWriterEnd = DurableConversation<>;

/// A process: it opens, says what it has to say, and may be paused at each put, for as long as the other likes.
class Contender {
public:
    Contender(std::string name, std::string id, std::shared_ptr<Storage> storage)
        : name_(std::move(name)),
          id_(std::move(id)),
          storage_(std::make_shared<testing::WatchedStorage>(std::move(storage))) {}

    std::function<void()> pause = [] {};
    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(1'000'000);
    std::vector<std::string> acknowledged{};
    int losses = 0;
    int refusals = 0;

    /// Opens, or says one thing.
    void act(bool take_over, bool compacts) {
        storage_->before_put = storage_->after_put = [this](std::string_view) { pause(); };
        const auto error = errc_of([&] {
            if (!end_) {
                end_.emplace(DurableWriterEnd::open(storage_, id_, options(take_over)));
                return;
            }
            const std::string text = name_ + "-" + std::to_string(++said_);
            (*end_)->push_back(ChatMessage::user(text));
            (void)end_->save();
            acknowledged.push_back(text);
            if (compacts) end_->compact_log();
        });
        if (!error) return;
        REQUIRE(*error == Errc::conflict);
        if (end_) {
            ++losses;
        } else {
            ++refusals;
        }
        end_.reset();
    }

private:
    DurableOptions options(bool take_over) const {
        return {
            .writer = name_, .lease_seconds = 5, .take_over = take_over, .snapshot_after_bytes = 3'000, .clock = clock};
    }

    std::string name_;
    std::string id_;
    std::shared_ptr<testing::WatchedStorage> storage_;
    std::optional<DurableWriterEnd> end_{};
    int said_ = 0;
};

/// Each acknowledged text stands in the conversation once, in the order of its writer; no text stands there twice.
void check_texts(const std::vector<std::string>& found,
                 const std::vector<const std::vector<std::string>*>& acknowledged) {
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (!places.emplace(found[i], i).second) FAIL_CHECK(found[i] << " stands there twice");
    }
    for (const auto* const of_one : acknowledged) {
        std::size_t last = 0;
        for (const std::string& text : *of_one) {
            const auto at = places.find(text);
            if (at == places.end()) {
                FAIL_CHECK("lost " << text);
                continue;
            }
            if (at->second < last) FAIL_CHECK(text << " stands before an earlier one");
            last = at->second;
        }
    }
}

constexpr int rounds_of_one = 200;

struct Scores {
    int acknowledged = 0;
    int losses = 0;
    int refusals = 0;
};

/// Rounds of one conversation: in each, one of two writers acts, and may be paused while the other acts up to 11 times.
void compete_for(const std::string& id, const std::shared_ptr<Storage>& storage, std::mt19937& random, Scores& scores) {
    Contender first("first", id, storage);
    Contender second("second", id, storage);
    bool is_paused = false;
    const auto act = [&](Contender& contender) {
        contender.clock->advance(std::chrono::milliseconds(random() % 700));
        if (random() % 40 == 0)
            contender.clock->set(contender.clock->now() + static_cast<int>(random() % 60'000) - 30'000);
        contender.act(random() % 20 == 0, random() % 15 == 0);
    };
    const auto paused_by = [&](Contender& other) {
        return [&] {
            if (is_paused || random() % 6 != 0) return;
            is_paused = true;
            for (auto steps = random() % 12; steps > 0; --steps) act(other);
            is_paused = false;
        };
    };
    first.pause = paused_by(second);
    second.pause = paused_by(first);
    for (int round = 0; round < rounds_of_one; ++round) act(random() % 2 == 0 ? first : second);
    check_texts(texts_of(read_durable(storage, id)), {&first.acknowledged, &second.acknowledged});
    for (const Contender* const contender : {&first, &second}) {
        scores.acknowledged += static_cast<int>(contender->acknowledged.size());
        scores.losses += contender->losses;
        scores.refusals += contender->refusals;
    }
}

#ifdef __SANITIZE_THREAD__
constexpr int rounds_of_threads = 20;
#else
constexpr int rounds_of_threads = 30;
#endif

/// Threads that open by force, save a few times, and lose to each other.
void contend(const std::function<std::shared_ptr<Storage>()>& open_store, int rounds) {
    std::array<std::vector<std::string>, 2> acknowledged;
    std::array<int, 2> losses{};
    std::vector<std::thread> threads;
    std::mutex failures;
    std::string failure;
    for (std::size_t t = 0; t < acknowledged.size(); ++t) {
        threads.emplace_back([&, t] {
            const std::string name = "thread" + std::to_string(t);
            const auto storage = open_store();
            int said = 0;
            for (int round = 0; round < rounds; ++round) {
                try {
                    auto end = DurableWriterEnd::open(
                        storage, "chat", {.writer = name, .take_over = true, .snapshot_after_bytes = 4'000});
                    for (int i = 0; i < 3; ++i) {
                        const std::string text = name + "-" + std::to_string(++said);
                        end->push_back(ChatMessage::user(text));
                        (void)end.save();
                        acknowledged[t].push_back(text);
                    }
                } catch (const Error& error) {
                    ++losses[t];
                    const std::lock_guard lock(failures);
                    if (error.errc() != Errc::conflict) failure = error.what();
                }
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(failure.empty());
    INFO(losses[0] << " and " << losses[1] << " losses");
    CHECK(acknowledged[0].size() + acknowledged[1].size() > static_cast<std::size_t>(rounds));
    check_texts(texts_of(read_durable(open_store(), "chat")), {&acknowledged[0], &acknowledged[1]});
}

int thread_rounds() { return testing::is_soak() ? 8 * rounds_of_threads : rounds_of_threads; }

}  // namespace

TEST_CASE("of two writers exactly one wins each commit, with pauses in the middle of puts and clocks that jump",
          "[durable]") {
    const int conversations = testing::is_soak() ? 50 : 1;
    const auto storage = memory_storage();
    Scores scores;
    std::mt19937 random(5);
    for (int c = 0; c < conversations; ++c) compete_for("chat" + std::to_string(c), storage, random, scores);
    INFO(scores.acknowledged << " acknowledged, " << scores.losses << " lost, " << scores.refusals << " refused");
    CHECK(scores.acknowledged > conversations * rounds_of_one / 5);
    CHECK(scores.losses > conversations * rounds_of_one / 100);
    CHECK(scores.refusals > conversations);
}

TEST_CASE("threads that take a conversation from each other lose nothing, in memory", "[durable]") {
    const auto storage = memory_storage();
    contend([&] { return storage; }, thread_rounds());
}

TEST_CASE("threads that take a conversation from each other lose nothing, in files", "[durable]") {
    const testing::TempDir dir;
    contend([&] { return file_storage(dir / "store", {.durability = Durability::none}); }, thread_rounds());
}

#ifdef WHITTLE_HAVE_SQLITE
TEST_CASE("threads that take a conversation from each other lose nothing, in a file of SQLite", "[durable]") {
    const testing::TempDir dir;
    contend([&] { return sqlite_storage(dir / "store", {.durability = Durability::none, .busy_timeout_ms = 60'000}); },
            thread_rounds());
}
#endif
