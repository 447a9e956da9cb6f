// When edits pay.
#include "support/catch.hpp"

#include "whittle/chain/chain.hpp"
#include "whittle/chain/detail/edit_schedule.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;

namespace {

using Work = std::function<void(Turn<>&)>;

class Asking final : public Middleware<> {
public:
    explicit Asking(Work work) : work_(std::move(work)) {}
    std::string_view name() const noexcept override { return "asking"; }
    void before_model(Turn<>& turn) override { work_(turn); }
    void after_model(Turn<>& turn) override { EditSchedule::note_reply(turn); }

private:
    Work work_;
};

/// A conversation in which each call adds a message of the model and nothing else.
struct Agent {
    explicit Agent(Work work, CacheProfile cache = {.name = "test", .read = 0.1, .write = 1.1, .ttl_seconds = 300})
        : chain(make_config(std::move(cache)), Asking{std::move(work)}) {
        conversation.push_back(ChatMessage::user("go"));
    }

    void call(int seconds = 1) {
        clock->advance(std::chrono::seconds(seconds));
        chain.before_model(conversation);
        conversation.push_back(ChatMessage::assistant("step"));
        chain.after_model(conversation);
    }

    [[nodiscard]] ChainConfig make_config(CacheProfile cache) const {
        ChainConfig config;
        config.profile.cache = std::move(cache);
        config.clock = clock;
        config.on_error = OnError::propagate;
        return config;
    }

    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(1'000);
    Conversation<> conversation{"agent"};
    Chain<> chain;
};

constexpr EditScheduleConfig from_the_start{.start_tokens = 0, .first_calls = 0};

/// What the schedule says at each of `calls` calls to one edit at the front, of `saved` of `size` tokens.
std::vector<bool> answers(int calls, std::int64_t saved, std::int64_t size, EditScheduleConfig config) {
    std::vector<bool> found;
    Agent agent([&](Turn<>& turn) {
        EditSchedule schedule(turn, config);
        const std::vector<EditOffer> offers{{.message = 0, .id = 7, .tokens_now = saved, .tokens_then = 0}};
        const auto tokens = [&](std::size_t first, std::size_t last) {
            return first == 0 && last > 0 ? size + static_cast<std::int64_t>(last)
                                          : static_cast<std::int64_t>(last - first);
        };
        found.push_back(schedule.decide(offers, size, tokens, "asking").has_value());
        schedule.advance();
    });
    for (int i = 0; i < calls; ++i) agent.call();
    return found;
}

}  // namespace

TEST_CASE("an edit is made once its rents have paid for what stands behind it", "[schedule]") {
    // 1,000 tokens cost 100 a call; what stands behind them costs some 1,000 to write anew, and a third of the calls so
    // far has to pay for it.
    const auto found = answers(40, 1'000, 1'980, from_the_start);
    const auto first = std::ranges::find(found, true) - found.begin();
    CHECK(first >= 29);
    CHECK(first <= 31);
}

TEST_CASE("the first calls are no evidence that a run goes on", "[schedule]") {
    EditScheduleConfig config = from_the_start;
    config.first_calls = 5;
    const auto without = answers(50, 1'000, 1'980, from_the_start);
    const auto with = answers(50, 1'000, 1'980, config);
    CHECK(std::ranges::find(with, true) - with.begin() == std::ranges::find(without, true) - without.begin() + 5);
}

TEST_CASE("nothing is edited in a request below the start", "[schedule]") {
    EditScheduleConfig config = from_the_start;
    config.start_tokens = 2'000;
    for (const bool found : answers(30, 1'000, 2'000, config)) CHECK_FALSE(found);
}

TEST_CASE("accounts advance with replies, not with hook runs", "[schedule]") {
    std::vector<bool> is_new;
    Agent agent([&](Turn<>& turn) {
        EditSchedule schedule(turn, from_the_start);
        is_new.push_back(schedule.is_new_call());
        schedule.advance();
    });
    agent.chain.before_model(agent.conversation);
    agent.chain.before_model(agent.conversation);
    agent.call();
    agent.chain.before_model(agent.conversation);
    CHECK(is_new == std::vector<bool>{true, false, false, true});
}

TEST_CASE("after a pause longer than the cache lives an edit is free", "[schedule]") {
    std::vector<bool> cold;
    std::vector<bool> found;
    Agent agent([&](Turn<>& turn) {
        EditSchedule schedule(turn, from_the_start);
        cold.push_back(schedule.is_cold());
        const std::vector<EditOffer> offers{{.message = 0, .id = 1, .tokens_now = 20, .tokens_then = 0}};
        found.push_back(
            schedule
                .decide(
                    offers, 100'000, [](std::size_t, std::size_t) { return std::int64_t{100'000}; }, "asking")
                .has_value());
        schedule.advance();
    });
    agent.call();
    agent.call(300);
    agent.call(301);
    agent.call();
    CHECK(cold == std::vector<bool>{false, false, true, false});
    CHECK(found == std::vector<bool>{false, false, true, false});
}

TEST_CASE("without a cache every edit pays at once", "[schedule]") {
    std::optional<std::size_t> first;
    Agent agent(
        [&](Turn<>& turn) {
            EditSchedule schedule(turn, from_the_start);
            const std::vector<EditOffer> offers{{.message = 0, .id = 1, .tokens_now = 20, .tokens_then = 0}};
            first = schedule.decide(
                offers, 100, [](std::size_t, std::size_t) { return std::int64_t{100}; }, "asking");
        },
        {.name = "none", .read = 1.0, .write = 1.0});
    agent.call();
    CHECK(first == 0);
}
