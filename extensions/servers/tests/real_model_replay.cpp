// What a real language model said, played again: recorded by scripts/real_model --record
// extensions/servers/tests/recordings.
#include "../examples/real_model/plans.hpp"
#include "../examples/real_model/recording.hpp"
#include "support/catch.hpp"

#include "whittle/openai/detail/openai_request.hpp"
#include "whittle/preset/presets.hpp"
#include "whittle/provider/classify_error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

using namespace whittle;
using namespace real_model;

namespace {

struct RecordedServer {
    std::string prefix{};
    std::string dialect{};
    bool takes_tool_choice = true;
};

const std::vector<RecordedServer>& recorded_servers() {
    static const std::vector<RecordedServer> all{{"llama_server_", "llama_cpp", false},
                                                 {"llama_cpp_python_", "llama_cpp_python", true}};
    return all;
}

std::filesystem::path file_of(const RecordedServer& server, std::string_view name) {
    return std::filesystem::path(WHITTLE_SOURCE_DIR) / "extensions/servers/tests/recordings" /
           (server.prefix + std::string(name) + ".json");
}

/// Of all talks, the streamed one with llama_server alone is not kept: it would double the recordings.
bool is_kept(const RecordedServer& server, const TalkPlan& plan) {
    return !(plan.is_stream && server.prefix == "llama_server_");
}

std::shared_ptr<ReplayTransport> replay(const RecordedServer& server, std::string_view name) {
    return std::make_shared<ReplayTransport>(load(file_of(server, name)));
}

Server against(const RecordedServer& server, std::shared_ptr<HttpTransport> transport, std::string model = "smollm2") {
    return {std::move(transport), "http://127.0.0.1:8000/v1", std::move(model), server.dialect,
            server.takes_tool_choice};
}

/// The talk as it was recorded, all of it and nothing else.
Talk talk_again(const RecordedServer& server, const TalkPlan& plan) {
    CAPTURE(server.prefix, plan.name);
    const auto transport = replay(server, plan.name);
    Talk talk = execute_retention(plan, against(server, transport));
    CHECK(transport->mismatch() == "");
    CHECK(transport->sent() == transport->recording().exchanges.size());
    if (transport->same_bytes() < transport->sent())
        WARN(server.prefix << plan.name << ": " << transport->sent() - transport->same_bytes()
                           << " requests have other texts than were recorded; record again with scripts/real_model");
    return talk;
}

std::int64_t count_status(const Recording& recording, int status) {
    return std::ranges::count(recording.exchanges, status, &Exchange::status);
}

/// Whether a message other than a tool's result has the text.
bool is_carried(const Talk& talk, std::string_view text) {
    return std::ranges::any_of(talk.messages, [text](const openai::Message& message) {
        return message.json()["role"] != "tool" && message.json().dump().find(text) != std::string::npos;
    });
}

bool is_overflow(const Call& call) { return call.failure == ModelErrorClass::overflow; }

}  // namespace

TEST_CASE("every refusal of a real server is an overflow with its window and its size", "[real_model]") {
    std::int64_t refusals = 0;
    for (const RecordedServer& server : recorded_servers()) {
        for (const TalkPlan& plan : plans) {
            if (!is_kept(server, plan)) continue;
            CAPTURE(server.prefix, plan.name);
            const auto transport = replay(server, plan.name);
            for (const Exchange& exchange : transport->recording().exchanges) {
                if (exchange.status == 200) continue;
                ++refusals;
                const ClassifiedError error = classify_error(exchange.status, {}, exchange.reply);
                CHECK(to_string(error.error_class) == "overflow");
                CHECK(error.context_limit_tokens == 2'048);
                CHECK(error.requested_tokens >= 2'048);
                CHECK(error.requested_tokens < 4'000);
            }
        }
    }
    CHECK(refusals >= 7);
}

TEST_CASE("llama-cpp-python, whose templates cannot render null, gets empty text beside a call", "[real_model]") {
    const ClassifiedError error = classify_error(
        500, {},
        R"({"error":{"message":"can only concatenate str (not \"NoneType\") to str","type":"internal_server_error","param":null,"code":null}})");
    CHECK(to_string(error.error_class) == "server");  // what it says of null; it is not retried into an overflow
    const openai::Message call = openai::Message::parse(
        R"({"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]})");
    OpenAIModelConfig config{.model = "m", .dialect = *openai::find_dialect("llama_cpp_python")};
    const std::string body = openai::chat_body({.messages = {&call, 1}}, config, false);
    CHECK(body.find(R"("content":"")") != std::string::npos);
    CHECK(body.find(R"("content":null)") == std::string::npos);
}

TEST_CASE("a conversation with a real model goes on past its window", "[real_model]") {
    for (const RecordedServer& server : recorded_servers()) {
        for (const TalkPlan& plan : plans) {
            if (!is_kept(server, plan)) continue;
            CAPTURE(server.prefix, plan.name);
            const Talk talk = talk_again(server, plan);
            CHECK(talk.window == 2'048);
            CHECK(talk.violations.empty());
            REQUIRE(talk.runs.size() == static_cast<std::size_t>(plan.questions));
            for (const RunResult& run : talk.runs) CHECK(run.error == "");
            CHECK(std::ranges::any_of(talk.calls, is_overflow));
            CHECK(talk.messages.back().json()["role"] == "assistant");
        }
    }
}

TEST_CASE("the request behind a refusal is smaller, and a real server takes it", "[real_model]") {
    for (const RecordedServer& server : recorded_servers()) {
        CAPTURE(server.prefix);
        const auto transport = replay(server, "overflow");
        const Recording& recording = transport->recording();
        const Talk talk = execute_retention(plans[0], against(server, transport));
        CHECK(std::ssize(talk.recoveries) == count_status(recording, 400));
        for (const Recovery& recovery : talk.recoveries) CHECK(recovery.tokens_after < recovery.tokens_before);
        for (std::size_t i = 0; i < talk.calls.size(); ++i) {
            if (!is_overflow(talk.calls[i])) continue;
            REQUIRE(i + 1 < talk.calls.size());
            CHECK(!talk.calls[i + 1].failure);
            CHECK(talk.calls[i + 1].prompt_tokens < talk.calls[i].overflow.context_limit_tokens);
            CHECK(recording.exchanges[i + 1].bytes < recording.exchanges[i].bytes);
        }
    }
}

TEST_CASE("a real server's refusal that is not understood ends the conversation", "[real_model]") {
    // The control of the tests above: with another wording nothing is recovered.
    Recording changed = replay(recorded_servers()[0], "overflow")->recording();
    for (Exchange& exchange : changed.exchanges) {
        if (exchange.status == 400) exchange.reply = R"({"error":{"code":400,"message":"no","type":"unheard_of"}})";
    }
    const auto transport = std::make_shared<ReplayTransport>(changed);
    const Talk talk = execute_retention(plans[0], against(recorded_servers()[0], transport));
    CHECK(talk.window == 0);
    CHECK(std::ranges::any_of(talk.runs, [](const RunResult& run) { return run.outcome == RunOutcome::failed; }));
}

TEST_CASE("what a small real model gives for summaries is refused with a reason", "[real_model]") {
    int refused = 0;
    for (const RecordedServer& server : recorded_servers()) {
        for (const TalkPlan& plan : plans) {
            if (plan.summary_tokens == 0) continue;
            CAPTURE(server.prefix, plan.name);
            const Talk talk = talk_again(server, plan);
            REQUIRE(!talk.verdicts.empty());
            // So small a model writes none that is accepted: cut off, or a greeting.
            for (const std::string& verdict : talk.verdicts) {
                CHECK(verdict != "");
                CHECK(verdict != "accepted");
                ++refused;
            }
            CHECK(!is_carried(talk, "/srv/garden/bed_1.md"));
        }
    }
    CHECK(refused >= 4);
}

TEST_CASE("what a real server reads anew under the preset local is predicted to the token", "[real_model]") {
    const RecordedServer& server = recorded_servers()[0];
    const Talk talk = talk_again(server, local_plan);
    CHECK(talk.recoveries.empty());
    CHECK(talk.violations.empty());
    const std::vector<Prefill> prefills = prefills_of(replay(server, "local")->recording().exchanges);
    REQUIRE(prefills.size() == 18);
    int edits = 0;
    for (const Prefill& prefill : prefills) {
        CHECK(static_cast<std::int64_t>(prefill.predicted) == prefill.timing.prefill_tokens);
        edits += prefill.timing.prefill_tokens > 400 ? 1 : 0;  // more than a note that is new
    }
    CHECK(edits >= 2);
}

TEST_CASE("the timings of a real server come with each reply", "[real_model]") {
    const auto transport = replay(recorded_servers()[0], "local");
    const Talk talk = execute_retention(local_plan, against(recorded_servers()[0], transport));
    const std::vector<Prefill> prefills = prefills_of(transport->recording().exchanges);
    REQUIRE(talk.calls.size() == prefills.size());
    CacheProfileEstimator speed;
    for (std::size_t i = 0; i < prefills.size(); ++i) {
        REQUIRE(talk.calls[i].timing.has_value());
        CHECK(*talk.calls[i].timing == prefills[i].timing);
        speed.observe(*talk.calls[i].timing);
    }
    CHECK(speed.profile().read > 0.0);
    CHECK(speed.profile().read < 1.0);
}

TEST_CASE("log-probabilities beside the wrong tokens are refused, and those of a marked prompt are not",
          "[real_model]") {
    const RecordedServer& server = recorded_servers()[1];
    const auto plain = replay(server, "logprobs");
    const Scoring shifted = score_sample(against(server, plain, "smollm2-logprobs"));
    CHECK(plain->mismatch() == "");
    CHECK(!shifted.is_aligned);
    CHECK(shifted.refusal.find("do not belong to the tokens") != std::string::npos);
    const auto marked = replay(server, "logprobs_marked");
    const Scoring scoring = score_sample(against(server, marked, "smollm2-logprobs-marked"));
    CHECK(marked->mismatch() == "");
    CHECK(scoring.is_aligned);
    CHECK(scoring.perplexity < scoring.perplexity_mixed);
    CHECK(scoring.perplexity < shifted.perplexity);
    CHECK(scoring.kept.size() < sample_text().size());
}

TEST_CASE("a real server without log-probabilities of a prompt leaves the choice to the heuristic", "[real_model]") {
    const RecordedServer& server = recorded_servers()[0];
    const Scoring scoring = score_sample(against(server, replay(server, "logprobs")));
    CHECK(!scoring.is_aligned);
    CHECK(scoring.refusal.find("read log-probabilities") != std::string::npos);
    CHECK(scoring.perplexity == 0.0);
    CHECK(scoring.kept.size() < sample_text().size());
}
