// A self-hosted server: what its timings say of its speed, and what it keeps of a conversation.
#include "whittle/servers/local_server.hpp"
#include "support/catch.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/openai/openai_chat_model.hpp"
#include "whittle/preset/presets.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;

namespace {

/// A server that reads 1,700 tokens a second and needs 20 ms for a token, and 0.2 us more for each token before it.
ServerTiming timing_of(std::int64_t cached, std::int64_t read, std::int64_t output) {
    const double context = static_cast<double>(cached + read) + static_cast<double>(output) / 2;
    return {.prefill_tokens = read,
            .prefill_ms = static_cast<double>(read) / 1.7,
            .cached_tokens = cached,
            .output_tokens = output,
            .output_ms = static_cast<double>(output) * (20.0 + 0.0002 * context)};
}

}  // namespace

TEST_CASE("a server's speed is learnt from its timings: what a token that stays costs", "[preset]") {
    CacheProfileEstimator speed;
    for (int i = 0; i < 20; ++i) speed.observe(timing_of(i * 1'500, 1'500, 100 + i % 3 * 50));
    const double output = (7 * 100 + 7 * 150 + 6 * 200) / 20.0;
    CHECK(std::abs(speed.profile().read - output * 0.0002 * 1.7) < 0.0001);
    CHECK(speed.profile().write == 1.0);
    CHECK(speed.profile().ttl_seconds == 86'400);
}

TEST_CASE("a server's speed is that of the profile local until enough is known", "[preset]") {
    CacheProfileEstimator speed;
    CHECK(speed.profile() == *find_cache_profile("local"));
    speed.observe(timing_of(0, 900, 100));
    CHECK(speed.profile().read == 0.05);
    speed.observe(timing_of(900, 300, 100));
    CHECK(speed.profile().read == 0.05);  // contexts differ by less than 1,000 tokens
    speed.observe({.prefill_tokens = -1, .output_tokens = 5, .output_ms = 1.0});
    speed.observe({.prefill_tokens = 5'000, .prefill_ms = 1.0});
    speed.observe({.prefill_tokens = 5'000, .prefill_ms = 1.0, .output_tokens = 5, .output_ms = INFINITY});
    CHECK(speed.profile().read == 0.05);
    speed.observe(timing_of(1'000, 1'500, 100));
    CHECK(std::abs(speed.profile().read - 100 * 0.0002 * 1.7) < 0.0004);
}

TEST_CASE("a server that gets no slower with context costs nothing to keep", "[preset]") {
    CacheProfileEstimator speed;
    for (const std::int64_t context : {1'000, 9'000})
        speed.observe({.prefill_tokens = context, .prefill_ms = 500.0, .output_tokens = 10, .output_ms = 200.0});
    CHECK(speed.profile().read == 0.0);
}

namespace {

using Tokens = std::vector<std::uint32_t>;

Tokens tokens(std::uint32_t first, std::uint32_t count) {
    Tokens all;
    for (std::uint32_t i = 0; i < count; ++i) all.push_back(first + i);
    return all;
}

Tokens operator+(Tokens a, const Tokens& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

}  // namespace

TEST_CASE("a slot keeps the prompt and its reply but for the last token, and reads one token at least", "[preset]") {
    ServerSlot slot;
    const Tokens prompt = tokens(0, 100);
    const Tokens reply = tokens(500, 10);
    CHECK(slot.prefill_tokens(prompt) == 100);
    CHECK(slot.prefill_tokens({}) == 0);
    slot.answered(prompt, reply);
    CHECK(slot.prefill_tokens(prompt) == 1);
    CHECK(slot.cached_tokens(prompt + reply + tokens(900, 5)) == 109);
    CHECK(slot.prefill_tokens(prompt + tokens(900, 5)) == 5);
    CHECK(slot.prefill_tokens(tokens(0, 40) + tokens(900, 5)) == 5);
    CHECK(slot.prefill_tokens(tokens(0, 40)) == 1);
    CHECK(slot.prefill_tokens(tokens(7, 3)) == 3);
    slot.answered(tokens(0, 40) + tokens(900, 5), {});
    CHECK(slot.cached_tokens(prompt) == 40);  // the rest of the first prompt is gone
}

TEST_CASE("a slot that goes back to checkpoints alone reads from the last one in front of a change", "[preset]") {
    ServerSlot slot(SlotCheckpoints{.max_count = 2, .min_step = 50});
    const auto answer = [&](std::uint32_t size) { slot.answered(tokens(0, size), {}); };
    answer(100);
    answer(120);  // too near to the one before
    CHECK(slot.cached_tokens(tokens(0, 130)) == 120);
    CHECK(slot.cached_tokens(tokens(0, 110) + tokens(900, 90)) == 100);
    CHECK(slot.cached_tokens(tokens(0, 120)) == 100);  // the last token is read anew
    CHECK(slot.cached_tokens(tokens(0, 90) + tokens(900, 90)) == 0);
    answer(200);
    answer(300);  // the oldest of three goes
    CHECK(slot.cached_tokens(tokens(0, 150) + tokens(900, 90)) == 0);
    CHECK(slot.cached_tokens(tokens(0, 250) + tokens(900, 90)) == 200);
    slot.answered(tokens(0, 250) + tokens(900, 90), {});  // gone back to 200: what stood behind is gone
    CHECK(slot.cached_tokens(tokens(0, 250) + tokens(900, 10)) == 200);
    CHECK(slot.cached_tokens(tokens(0, 250) + tokens(900, 91)) == 340);
    ServerSlot none(SlotCheckpoints{.max_count = 0});
    none.answered(tokens(0, 100), {});
    CHECK(none.cached_tokens(tokens(0, 101)) == 100);
    CHECK(none.cached_tokens(tokens(0, 99) + tokens(900, 9)) == 0);
}

namespace {

/// The request as such a server's template makes it: a token for each character.
Tokens tokens_of_request(const std::string& body) {
    Tokens all;
    const auto add = [&](const std::string& text) {
        for (const char c : text) all.push_back(static_cast<unsigned char>(c));
    };
    const nlohmann::json messages = nlohmann::json::parse(body).at("messages");
    for (const nlohmann::json& message : messages) {
        std::string text = "<" + message.value("role", "") + ">";
        if (message.contains("content") && message["content"].is_string()) text += message["content"];
        if (message.contains("tool_calls")) text += message["tool_calls"].dump();
        add(text);
    }
    add("<assistant>");
    return all;
}

/// Speaks as llama-server does, with one slot. Where it cannot go back to any token it keeps whole states: the newest,
/// and those at ends of prompts.
class SlotServer final : public HttpTransport {
public:
    explicit SlotServer(std::optional<SlotCheckpoints> checkpoints) : checkpoints_(checkpoints) {}

    HttpResponse send(const HttpRequest& request, const BodySink&) override {
        requested = tokens_of_request(request.body);
        const std::size_t kept = resume();
        const std::string number = std::to_string(++calls_);
        const nlohmann::json calls{
            {{"id", "call_" + number},
             {"type", "function"},
             {"function", {{"name", "read_file"}, {"arguments", R"({"path":"src/)" + number + R"(.txt"})"}}}}};
        const std::string reply = calls.dump();
        replied.assign(reply.begin(), reply.end());
        state_ = requested + Tokens(replied.begin(), replied.end() - 1);
        const nlohmann::json answer{
            {"choices",
             {{{"index", 0},
               {"finish_reason", "tool_calls"},
               {"message", {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", calls}}}}}},
            {"usage", {{"prompt_tokens", requested.size()}, {"completion_tokens", replied.size()}}},
            {"timings",
             {{"cache_n", kept},
              {"prompt_n", requested.size() - kept},
              {"prompt_ms", static_cast<double>(requested.size() - kept) / 1.7},
              {"predicted_n", replied.size()},
              {"predicted_ms", static_cast<double>(replied.size()) * (20.0 + 0.0002 * static_cast<double>(kept))}}}};
        return {.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = answer.dump()};
    }

    Tokens requested{};
    Tokens replied{};

private:
    [[nodiscard]] bool is_front(const Tokens& state) const {
        return state.size() < requested.size() && std::equal(state.begin(), state.end(), requested.begin());
    }

    std::size_t resume() {
        if (!checkpoints_) {
            while (!is_front(state_)) state_.pop_back();
            return state_.size();
        }
        std::size_t kept = is_front(state_) ? state_.size() : 0;
        while (kept == 0 && !states_.empty() && !is_front(states_.back())) states_.pop_back();
        if (kept == 0 && !states_.empty()) kept = states_.back().size();
        const std::size_t last = states_.empty() ? 0 : states_.back().size();
        if (requested.size() >= last + std::max<std::size_t>(1, checkpoints_->min_step)) states_.push_back(requested);
        if (states_.size() > checkpoints_->max_count) states_.erase(states_.begin());
        return kept;
    }

    std::optional<SlotCheckpoints> checkpoints_;
    Tokens state_{};
    std::vector<Tokens> states_{};
    int calls_ = 0;
};

struct Run {
    std::int64_t read = 0;
    int resets = 0;
    CacheProfileEstimator speed{};
};

std::string file_text(int number, std::mt19937& random) {
    std::string text;
    for (auto line = 20 + random() % 40; line-- > 0;)
        text += "line " + std::to_string(random() % 5'000) + " of file " + std::to_string(number) + ", word for word\n";
    return text;
}

/// An agent of 120 calls, each with a result of 1 to 3 KB, in a window of 60,000 of the server's tokens.
Run run_local(std::optional<SlotCheckpoints> checkpoints) {
    const auto server = std::make_shared<SlotServer>(checkpoints);
    OpenAIChatModel model(server, {.model = "m", .base_url = "http://127.0.0.1:1/v1"});
    PresetConfig config = preset_config(Preset::local, {.context_window = 60'000, .output_reserve = 500});
    config.trimming.unit = TrimUnit::lines;  // edits often, and far behind the front: checkpoints make a difference
    config.trimming.min_result_bytes = 240;
    const Chain<openai::Message> chain = make_chain<openai::Message>(config);
    Conversation<openai::Message> conversation("local");
    conversation.push_back(message_traits<openai::Message>::make(Role::user, "Read the whole tree."));
    ServerSlot slot = checkpoints ? ServerSlot(*checkpoints) : ServerSlot();
    std::mt19937 random(7);
    Run run;
    std::size_t wrong = 0;
    std::int64_t before = 0;
    for (int i = 1; i <= 120; ++i) {
        chain.before_model(conversation);
        Reply<openai::Message> reply = model.generate({.messages = conversation.messages()});
        REQUIRE(reply.timing.has_value());
        const ServerTiming timing = *reply.timing;
        wrong += slot.prefill_tokens(server->requested) == static_cast<std::size_t>(timing.prefill_tokens) ? 0 : 1;
        slot.answered(server->requested, server->replied);
        run.speed.observe(timing);
        run.read += timing.prefill_tokens;
        run.resets += timing.cached_tokens < before ? 1 : 0;
        before = timing.cached_tokens;
        conversation.push_reply(std::move(reply));
        const nlohmann::ordered_json result{
            {"role", "tool"}, {"tool_call_id", "call_" + std::to_string(i)}, {"content", file_text(i, random)}};
        conversation.push_back(openai::Message::parse(result.dump()));
    }
    CHECK(wrong == 0);
    return run;
}

}  // namespace

TEST_CASE("what a scripted server reads anew under the preset local is predicted to the token", "[preset]") {
    const Run free = run_local(std::nullopt);
    CHECK(free.resets > 0);
    CHECK(free.resets < 20);
    CHECK(free.speed.profile().read != find_cache_profile("local")->read);
    const Run dense = run_local(SlotCheckpoints{.max_count = 32, .min_step = 0});
    CHECK(dense.resets > 0);
    CHECK(dense.read >= free.read);
    const Run sparse = run_local(SlotCheckpoints{.max_count = 4, .min_step = 4'000});
    CHECK(sparse.read > dense.read);
    CHECK(run_local(SlotCheckpoints{.max_count = 0}).read >= sparse.read);
}
