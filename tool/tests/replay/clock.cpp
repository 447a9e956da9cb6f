// The chain's clock follows the recording.
#include "support/catch.hpp"

#include "replay/replay.hpp"

#include <memory>
#include <optional>
#include <vector>

using namespace whittle;

namespace {

class Watching final : public Middleware<> {
public:
    explicit Watching(std::vector<UnixMillis>& times) : times_(times) {}
    std::string_view name() const noexcept override { return "watching"; }
    void before_model(Turn<>& turn) override { times_.push_back(turn.config.clock->now()); }
    void after_model(Turn<>& turn) override { times_.push_back(turn.config.clock->now()); }

private:
    std::vector<UnixMillis>& times_;
};

}  // namespace

TEST_CASE("a hook before a call sees the time of the newest message, one behind it that of the reply", "[replay]") {
    std::vector<UnixMillis> times;
    const auto clock = std::make_shared<ManualClock>(5);
    const Chain<> chain(ChainConfig{.clock = clock}, Watching(times));
    const std::vector<ChatMessage> messages{ChatMessage::user("a"), ChatMessage::assistant("b"),
                                            ChatMessage::user("c"), ChatMessage::assistant("d"),
                                            ChatMessage::user("e"), ChatMessage::assistant("f")};
    const std::vector<std::optional<double>> seconds{10.0, 12.5, 400.0, std::nullopt, 399.0, 500.0};
    (void)replay<ChatMessage>({.id = "r", .messages = messages, .seconds = seconds}, chain, {.clock = clock});
    CHECK(times == std::vector<UnixMillis>{10'000, 12'500, 400'000, 400'000, 400'000, 500'000});
    (void)replay<ChatMessage>({.id = "r", .messages = messages, .seconds = seconds}, chain, {.clock = clock});
    CHECK(times[6] == 10'000);
}
