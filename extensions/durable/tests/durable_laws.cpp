// On every message type that has a codec: what is read from a log is what was saved, whatever happened in between.
#include "durable_tools.hpp"
#include "support/laws_world.hpp"
#include "support/soak.hpp"
#include "whittle/compaction/compaction.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/token_saving/token_saving.hpp"

using namespace whittle;
using testing::Dice;
using testing::everything_of;

namespace {

constexpr std::string_view laws_root = "whittle-log";

/// A conversation with a chain around it, saved to a log after each step.
template <AgentMessage M>
class SavedWorld {
public:
    explicit SavedWorld(std::uint64_t seed) : world(subject()), dice_(seed) { (void)log_.open(false); }

    void step() {
        (void)world.ask();
        act();
        save();
    }

    void save() {
        if (auto edit = base_.edit_to(world.conversation)) log_.append(*std::move(edit));
        base_.take(world.conversation);
        if (dice_.one_in(8)) log_.write_snapshot(detail::to_document(world.conversation));
        if (dice_.one_in(8)) (void)detail::compact_log(*store_, laws_root, "laws");
    }

    [[nodiscard]] std::string saved() const {
        detail::LoadedLog loaded = detail::read_log(*store_, laws_root, "laws");
        return everything_of(detail::to_live<M>(std::move(loaded.document), "laws", {.objects = world.storage}));
    }

    testing::World<M> world;
    int undone = 0;
    int synced = 0;

private:
    static testing::Subject<M> subject() {
        return {.make = [] {
            testing::Stages<M> stages;
            stages.push_back(std::make_shared<Reduction<M>>(ReductionConfig{
                .max_length_for_trunc = 900, .max_tokens_for_clear = 1'200, .clear_retention_suffix_limit = 1}));
            stages.push_back(std::make_shared<TokenSaving<M>>(TokenSavingConfig{}));
            return stages;
        }};
    }

    void act() {
        auto& conversation = world.conversation;
        if (dice_.one_in(4)) undone += conversation.undo() ? 1 : 0;
        switch (dice_.below(12)) {
            case 1: conversation.pin(conversation.outline()[dice_.below(conversation.size())].serial); break;
            case 2: conversation.unpin(conversation.outline()[dice_.below(conversation.size())].serial); break;
            case 3:
                conversation.mark(dice_.below(conversation.size()), {.origin = Origin::attachment, .by = "host"});
                break;
            case 4:
                conversation.notes("host").set("n" + std::to_string(dice_.below(3)), std::string("\xff\0x", 3));
                break;
            case 5: conversation.notes("host").erase("n" + std::to_string(dice_.below(3))); break;
            case 6: conversation.begin_run(); break;
            case 7: restore(); break;
            case 8: sync(); break;
            default: break;
        }
    }

    void restore() {
        for (std::size_t i = 0; i < world.conversation.size(); ++i) {
            try {
                world.conversation.restore_and_pin(world.conversation.outline()[i].serial);
                return;
            } catch (const Error&) {  // it is original
            }
        }
    }

    /// The host dropped one message and says another twice.
    void sync() {
        std::vector<M> host(world.conversation.messages().begin(), world.conversation.messages().end());
        host.erase(host.begin() + static_cast<std::ptrdiff_t>(dice_.below(host.size())));
        if (!host.empty()) host.push_back(host[dice_.below(host.size())]);
        synced += world.conversation.sync(host).diverged ? 1 : 0;
    }

    std::shared_ptr<Storage> store_ = memory_storage();
    detail::DurableLog log_{store_,
                            "laws",
                            {.root = std::string(laws_root),
                             .writer = "w",
                             .lease_ms = 1'000,
                             .clock = std::make_shared<ManualClock>(),
                             .ids = counting_ids()}};
    detail::SavedBase base_{};
    Dice dice_;
};

}  // namespace

TEST_CASE("what is read from a log is what was saved, on every message type", "[durable][laws]") {
    int undone = 0;
    int synced = 0;
    std::size_t commits = 0;
    testing::for_each_message_type([&](auto type) {
        using M = typename decltype(type)::type;
        if constexpr (HasCodec<M>) {
            for (std::uint64_t seed = 1; seed <= 40; seed += testing::every(8)) {
                INFO(testing::Builder<M>::name << ", history " << seed);
                SavedWorld<M> saved(seed);
                const testing::HistoryOptions options{.broken = seed % 4 == 3, .reminders = seed % 2 == 0};
                saved.world.drive(testing::generate_history(seed, options), [&] {
                    if (saved.world.conversation.empty()) return;
                    saved.step();
                    const bool is_same = saved.saved() == everything_of(saved.world.conversation);
                    CHECK(is_same);
                });
                undone += saved.undone;
                synced += saved.synced;
                commits += saved.world.conversation.journal().size();
            }
        }
    });
    CHECK(undone > 0);
    CHECK(synced > 0);
    CHECK(commits > 20);
}
