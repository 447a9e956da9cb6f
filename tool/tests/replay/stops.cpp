// A stop is seen in the midst of what a replay does. No clock: what the replay calls requests the stop at a given call.
#include "whittle/anthropic/anthropic.hpp"

#include "replay/replay.hpp"
#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "whittle/reduction/reduction.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// Requests a stop at the `at`-th step, and counts those that come all the same.
class StopAt {
public:
    explicit StopAt(std::int64_t at) : at_(at) {}
    void step() {
        if (++steps_ == at_) source_.request_stop();
    }
    [[nodiscard]] std::int64_t steps() const noexcept { return steps_; }
    [[nodiscard]] StopToken token() const { return source_.get_token(); }

private:
    std::int64_t at_;
    std::int64_t steps_ = 0;
    StopSource source_{};
};

/// A call with `results` tool uses, and one user message that answers all of them.
std::vector<anthropic::Message> one_message_of(int results) {
    nlohmann::ordered_json calls = nlohmann::ordered_json::array();
    nlohmann::ordered_json answers = nlohmann::ordered_json::array();
    for (int i = 0; i < results; ++i) {
        const std::string id = "c" + std::to_string(i);
        calls.push_back(
            {{"type", "tool_use"}, {"id", id}, {"name", "read"}, {"input", nlohmann::ordered_json::object()}});
        answers.push_back({{"type", "tool_result"}, {"tool_use_id", id}, {"content", "text " + id}});
    }
    return {anthropic::Message({{"role", "user"}, {"content", "go"}}),
            anthropic::Message({{"role", "assistant"}, {"content", calls}}),
            anthropic::Message({{"role", "user"}, {"content", answers}}),
            anthropic::Message({{"role", "assistant"}, {"content", "done"}})};
}

class StopInWrap final : public Middleware<anthropic::Message> {
public:
    explicit StopInWrap(StopAt& stop) : stop_(stop) {}
    std::string_view name() const noexcept override { return "stop in wrap"; }
    ToolOutcome wrap_tool(const ToolContext& context, PartSink& out, const ToolNext& next) override {
        stop_.step();
        return next(context, out);
    }

private:
    StopAt& stop_;
};

/// Steps at each read.
class StepsAtReads final : public Storage {
public:
    explicit StepsAtReads(StopAt& stop) : stop_(stop) {}
    void put_if_absent(std::string_view key, std::string_view content) override { inner_->put_if_absent(key, content); }
    std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max_bytes) override {
        if (is_counting) stop_.step();
        return inner_->get(key, offset, max_bytes);
    }
    std::optional<ObjectInfo> stat(std::string_view key) override { return inner_->stat(key); }

    bool is_counting = false;

private:
    StopAt& stop_;
    std::shared_ptr<Storage> inner_ = memory_storage();
};

std::vector<ChatMessage> rounds_with_results(int rounds) {
    std::vector<ChatMessage> messages{ChatMessage::user("go")};
    for (int i = 0; i < rounds; ++i) {
        const std::string id = "c" + std::to_string(i);
        messages.push_back(ChatMessage::assistant("").call(id, "read", "{}"));
        messages.push_back(ChatMessage::result(id, "read", std::string(500, static_cast<char>('a' + i % 26))));
    }
    messages.push_back(ChatMessage::assistant("done"));
    return messages;
}

}  // namespace

TEST_CASE("a stop ends a replay between two results of one message while they are counted", "[replay]") {
    const std::vector<anthropic::Message> messages = one_message_of(5'000);
    // The message of the results is counted after the system text (1), the user's (1) and the calls with their names.
    StopAt stop(1 + 1 + 2 * 5'000 + 2'500);
    const auto counter = counter_from("steps", [&](std::string_view text) {
        stop.step();
        return static_cast<std::int64_t>(text.size());
    });
    const Chain<anthropic::Message> chain{ChainConfig{.token_counter = counter}};
    CHECK(errc_of([&] {
              (void)replay<anthropic::Message>({.id = "s", .messages = messages}, chain, {.stop = stop.token()});
          }) == Errc::cancelled);
    CHECK(stop.steps() < 1 + 1 + 3 * 2 * 5'000 + 2'500 + 3);
}

TEST_CASE("a stop ends a replay between two results of one message while they go through the wraps", "[replay]") {
    const std::vector<anthropic::Message> messages = one_message_of(5'000);
    StopAt stop(700);
    const Chain<anthropic::Message> chain{ChainConfig{}, std::make_shared<StopInWrap>(stop)};
    CHECK(errc_of([&] {
              (void)replay<anthropic::Message>({.id = "s", .messages = messages}, chain, {.stop = stop.token()});
          }) == Errc::cancelled);
    CHECK(stop.steps() == 700);
}

TEST_CASE("a stop ends a replay in the midst of undoing a commit of many messages", "[replay]") {
    const std::vector<ChatMessage> messages = rounds_with_results(400);
    StopAt stop(50);
    const auto storage = std::make_shared<StepsAtReads>(stop);
    const Chain<ChatMessage> chain{ChainConfig{.storage = storage},
                                   Reduction{ReductionConfig{.skip_truncation = true, .max_tokens_for_clear = 40'000}}};
    std::size_t edited_at_once = 0;
    const auto before_undo = [&](const Conversation<ChatMessage>& conversation) {
        REQUIRE_FALSE(conversation.journal().empty());
        edited_at_once = conversation.journal().back()->texts_in_store.size();
        storage->is_counting = true;
    };
    CHECK(errc_of([&] {
              (void)replay<ChatMessage>({.id = "s", .messages = messages}, chain,
                                        {.stop = stop.token(), .on_end = before_undo});
          }) == Errc::cancelled);
    CHECK(edited_at_once > 100);
    CHECK(stop.steps() == 50);
}

TEST_CASE("a stop that comes when the chain is done ends a replay before anything is undone", "[replay]") {
    const std::vector<ChatMessage> messages = rounds_with_results(40);
    StopAt stop(1);
    const auto storage = std::make_shared<StepsAtReads>(stop);
    const Chain<ChatMessage> chain{ChainConfig{.storage = storage},
                                   Reduction{ReductionConfig{.skip_truncation = true, .max_tokens_for_clear = 2'000}}};
    const auto request_stop = [&](const Conversation<ChatMessage>&) {
        stop.step();
        storage->is_counting = true;
    };
    CHECK(errc_of([&] {
              (void)replay<ChatMessage>({.id = "s", .messages = messages}, chain,
                                        {.stop = stop.token(), .on_end = request_stop});
          }) == Errc::cancelled);
    CHECK(stop.steps() == 1);
}
