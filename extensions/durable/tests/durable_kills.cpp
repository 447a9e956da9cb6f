// Processes that save, snapshot and compact one conversation and are killed at random moments.
#include "durable_tools.hpp"
#include "support/killed_process.hpp"
#include "support/suite_sizes.hpp"

#ifdef WHITTLE_HAVE_SQLITE
#    include "whittle/sqlite/sqlite_storage.hpp"
#endif

#include <map>

using namespace whittle;
using testing::KilledProcess;
using testing::Tell;
using testing::texts_of;

namespace {

using OpenStore = std::function<std::shared_ptr<Storage>()>;

std::string said_by(int run, int writer, int step) {
    return "run" + std::to_string(run) + "-" + std::to_string(writer) + "-" + std::to_string(step);
}

/// Opens by force and saves; goes on after it lost.
[[noreturn]] void save_for_ever(const OpenStore& open_store, const std::string& id, int run, int writer,
                                const Tell& tell) {
    const auto storage = open_store();
    const DurableOptions options{
        .writer = "w" + std::to_string(writer), .take_over = true, .snapshot_after_bytes = 6'000};
    for (int step = 0;;) {
        try {
            auto durable = DurableConversation<>::open(storage, id, options);
            for (;;) {
                durable->push_back(ChatMessage::user(said_by(run, writer, step)));
                (void)durable.save();
                tell('+');
                ++step;
            }
        } catch (const Error& error) {
            if (error.errc() != Errc::conflict) throw;
            ++step;  // its text may count or not
            tell('-');
        }
    }
}

[[noreturn]] void compact_for_ever(const OpenStore& open_store, const std::string& id, const Tell& tell) {
    const auto storage = open_store();
    for (;;) {
        try {
            (void)compact_durable_log(*storage, id);
            tell('+');
        } catch (const Error& error) {
            if (error.errc() != Errc::not_found && error.errc() != Errc::conflict) throw;
        }
    }
}

/// Conversations that several processes write to, all of them killed again and again.
class KillSweep {
public:
    explicit KillSweep(OpenStore open_store) : open_store_(std::move(open_store)) {}

    /// A writer alone, one beside a compactor, or two writers; the number of processes that were killed.
    int kill_some(int run) {
        const std::string id = "chat" + std::to_string(run / 12);
        if (id != id_) said_.clear();
        id_ = id;
        std::vector<std::unique_ptr<KilledProcess>> processes;
        const auto start_writer = [&](int writer) {
            processes.push_back(std::make_unique<KilledProcess>(
                [this, run, writer](const Tell& tell) { save_for_ever(open_store_, id_, run, writer, tell); }));
        };
        start_writer(0);
        const int kind = run % 3;
        if (kind == 1) {
            processes.push_back(std::make_unique<KilledProcess>(
                [this](const Tell& tell) { compact_for_ever(open_store_, id_, tell); }));
        }
        if (kind == 2) start_writer(1);
        processes.front()->wait_for(random_() % 12);
        for (std::size_t p = processes.size(); p-- > 0;) {
            std::this_thread::sleep_for(std::chrono::microseconds(random_() % 3'000));
            const std::string reported = processes[p]->kill();
            acknowledged_ += static_cast<int>(std::ranges::count(reported, '+'));
            if (p == 0 || kind == 2) said_.push_back({run, static_cast<int>(p), reported});
        }
        return static_cast<int>(processes.size());
    }

    /// Every acknowledged text is there once; what was not may be there once.
    void check() {
        std::map<std::string, int> found;
        try {
            for (const std::string& text : texts_of(read_durable(open_store_(), id_))) {
                if (++found[text] > 1) FAIL_CHECK(text << " stands there twice");
            }
        } catch (const Error& error) {
            if (error.errc() != Errc::not_found) FAIL_CHECK(error.what());  // killed before it made the log
        }
        for (const Said& said : said_) {
            for (std::size_t step = 0; step < said.reported.size(); ++step) {
                const std::string text = said_by(said.run, said.writer, static_cast<int>(step));
                if (said.reported[step] == '+' && !found.contains(text)) FAIL_CHECK("lost " << text);
            }
        }
    }

    [[nodiscard]] int acknowledged() const { return acknowledged_; }

private:
    struct Said {
        int run = 0;
        int writer = 0;
        std::string reported{};
    };

    OpenStore open_store_;
    std::string id_{};
    std::vector<Said> said_{};
    int acknowledged_ = 0;
    std::mt19937 random_{static_cast<unsigned>(testing::number_from("WHITTLE_SEED", 1))};
};

void sweep(const OpenStore& open_store, int kills) {
    KillSweep killed(open_store);
    int done = 0;
    for (int run = 0; done < kills; ++run) {
        CAPTURE(run);
        done += killed.kill_some(run);
        killed.check();
    }
    CHECK(killed.acknowledged() > kills);
}

/// Fewer than for a store alone: each reads a whole conversation again.
int durable_kills() { return testing::is_soak() ? testing::kills_in_a_test() : testing::kills_in_a_test() / 6; }

}  // namespace

TEST_CASE("a saver, a compactor and two writers killed at any moment: nothing acknowledged is lost, nothing is twice",
          "[durable]") {
    const testing::TempDir dir(testing::in_memory());
    sweep([&] { return file_storage(dir / "store", {.durability = Durability::none}); }, durable_kills());
}

#ifdef WHITTLE_HAVE_SQLITE
TEST_CASE("the same in a file of SQLite", "[durable]") {
    const testing::TempDir dir(testing::in_memory());
    sweep([&] { return sqlite_storage(dir / "store", {.durability = Durability::none, .busy_timeout_ms = 60'000}); },
          durable_kills());
}
#endif
