#include "support/catch.hpp"
#include "whittle/base/detail/joining_thread.hpp"
#include "whittle/summary/detail/text.hpp"
#include "work.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using std::chrono::milliseconds;

namespace {

using Seen = Attempt<ChatMessage>;

[[noreturn]] ChatReply fail(const char* text) { throw ModelError(ModelErrorClass::server, text); }

ChatReply cut_off(std::string text) { return {ChatMessage::assistant(std::move(text)), {}, FinishReason::length}; }

}  // namespace

TEST_CASE("a digest makes one request: system, data, instruction, in that order", "[digest]") {
    Work work = short_talk();
    work.config.user_instruction = "Sum it up in one line.";
    work.config.model_options = {.max_output_tokens = 300, .temperature = 0.5, .extra = R"({"seed":7})"};
    const auto result = work.run([](const Request& request) {
        CHECK(request.messages.size() == 3);
        CHECK(request.messages[0].role == Role::system);
        CHECK(request.messages[1].role == Role::user);
        CHECK(data_of(request).find("please look") != std::string::npos);
        CHECK(request.messages[2] == ChatMessage::user("Sum it up in one line."));
        CHECK(request.purpose == "test: summary");
        CHECK(request.on_delta == nullptr);
        REQUIRE(request.options != nullptr);
        CHECK(*request.options == GenerateOptions{300, 0.5, R"({"seed":7})"});
        return ChatReply{ChatMessage::assistant("<analysis>hm</analysis>\n<summary>\nthe gist\n</summary>"),
                         Usage{.uncached_input = 400, .output = 9}};
    });
    REQUIRE(result.ok());
    CHECK(result.summary == "the gist");
    CHECK(result.model_calls == 1);
    CHECK(result.usage == Usage{.uncached_input = 400, .output = 9});
    CHECK(work.state.empty());
}

TEST_CASE("a reply that is no summary is a failed attempt with its reason", "[digest]") {
    struct Bad {
        ChatReply reply;
        Refusal why;
    };
    const std::string instruction(summary_instruction(Language::english));
    const std::vector<Bad> bad{
        {say(""), Refusal::empty},
        {say(" \n\t "), Refusal::empty},
        {say("<analysis>only thoughts</analysis>"), Refusal::empty},
        {say("<summary></summary>"), Refusal::empty},
        {{ChatMessage::assistant("a good start"), {}, FinishReason::length}, Refusal::cut_off},
        {{ChatMessage::assistant("a good start"), {}, FinishReason::paused}, Refusal::cut_off},
        {{ChatMessage::assistant("no"), {}, FinishReason::refusal}, Refusal::refusal},
        {say("I'm sorry, but I can't help with that."), Refusal::refusal},
        {say("Error: upstream timed out"), Refusal::error_text},
        {say(R"({"error": {"code": 500}})"), Refusal::error_text},
        {{ChatMessage::assistant("summary").call("c", "read"), {}, FinishReason::stop}, Refusal::tool_call},
        {say(instruction), Refusal::echo},
        {say("Sure.\n" + instruction + "\n<summary>short</summary>"), Refusal::echo},
        {say(std::string(10'000'000, 'z')), Refusal::too_long},
        {say(std::string(1'596, 'z') + " end"), Refusal::not_smaller},
    };
    for (const Bad& example : bad) {
        Work work = short_talk();
        const auto version = work.conversation.version();
        const auto result = work.run([&](const Request&) { return example.reply; });
        CAPTURE(to_string(example.why));
        REQUIRE(result.failure);
        CHECK(result.failure->failure == SummaryFailure::refused);
        CHECK(result.failure->refusal == example.why);
        CHECK(result.summary.empty());
        REQUIRE(result.last_response);
        CHECK(result.last_response->message == example.reply.message);
        CHECK(work.conversation.version() == version);
        CHECK(work.state.empty());
    }
}

TEST_CASE("a model that sends its prompt back has written no summary, whichever part of it", "[digest]") {
    for (const std::size_t part : {0U, 1U, 2U}) {
        Work work = short_talk();
        work.config.user_instruction = "Condense.";
        const auto result = work.run([&](const Request& request) { return say(text_of(request.messages[part])); });
        CAPTURE(part);
        REQUIRE(result.failure);
        CHECK(result.failure->refusal == Refusal::echo);
    }
}

TEST_CASE("the caller can refuse a summary, which is a failed attempt too", "[digest]") {
    Work work = short_talk();
    work.config.retry = RetryConfig{.max_retries = 1};
    ScriptedModel<ChatMessage> model(std::vector{ChatMessage::assistant("first"), ChatMessage::assistant("second")});
    const auto result = work.run(model, [](std::string_view summary) {
        return std::string(summary == "first" ? "too large with what goes with it" : "");
    });
    CHECK(result.summary == "second");
    CHECK(result.model_calls == 2);
}

TEST_CASE("a model that fails n times is asked again up to the limit, for every n", "[digest]") {
    for (int failures = 0; failures <= 6; ++failures) {
        Work work = short_talk();
        work.config.retry = RetryConfig{};
        int calls = 0;
        const auto result =
            work.run([&](const Request&) { return ++calls <= failures ? fail("down") : say("the gist"); });
        CAPTURE(failures);
        CHECK(calls == std::min(failures + 1, 4));
        CHECK(result.ok() == (failures <= 3));
        if (!result.ok()) CHECK(result.failure->message == "exceeds max retry attempts (3): down");
    }
}

TEST_CASE("retry is off without its configuration; a partial reply is kept", "[digest]") {
    int calls = 0;
    const auto fails_first = [&](const Request&) { return ++calls == 1 ? cut_off("partial") : say("whole"); };
    SECTION("no configuration: one call, the failure as it is, the response kept") {
        Work work = short_talk();
        const auto result = work.run(fails_first);
        REQUIRE(result.failure);
        CHECK(result.failure->refusal == Refusal::cut_off);
        CHECK(text_of(result.last_response->message) == "partial");
        CHECK(calls == 1);
    }
    SECTION("with it: the second reply") {
        Work work = short_talk();
        work.config.retry = RetryConfig{.max_retries = 2};
        CHECK(work.run(fails_first).summary == "whole");
        CHECK(calls == 2);
    }
}

TEST_CASE("should_retry is asked after a good reply too", "[digest]") {
    Work work = short_talk();
    work.config.retry = RetryConfig{.max_retries = 1};
    work.callbacks.retry.should_retry = [](const Seen& seen) {
        CHECK(seen.error == nullptr);
        return true;
    };
    const auto result = work.run([](const Request&) { return say("fine"); });
    REQUIRE(result.failure);
    CHECK(result.model_calls == 2);
    CHECK(result.failure->message.find("exceeds max retry attempts (1)") == 0);
}

TEST_CASE("failover sees what happened and its own input stands for the whole fold", "[digest]") {
    Work work;
    work.user("the only message " + std::string(400, 'x'));
    work.config.failover = FailoverConfig{};
    work.config.user_instruction = "condense";
    const auto backup = std::make_shared<ScriptedModel<ChatMessage>>([](const Request& request) {
        CHECK(request.messages.size() == 1);
        CHECK(request.messages[0] == ChatMessage::user("failover input"));
        CHECK(request.options != nullptr);
        return say("from the backup");
    });
    work.callbacks.failover.get_failover_model = [&](const FailoverContext<ChatMessage>& context) {
        CHECK(context.attempt == 1);
        CHECK(context.system_instruction.role == Role::system);
        CHECK(text_of(context.user_instruction) == "condense");
        CHECK(context.originals.size() == 1);
        CHECK(context.last_response == nullptr);
        CHECK(context.last_error->message == "primary error");
        return FailoverModel<ChatMessage>{backup, {ChatMessage::user("failover input")}};
    };
    const auto result = work.run([](const Request&) -> ChatReply { fail("primary error"); });
    CHECK(result.summary == "from the backup");
    REQUIRE(result.chunks.size() == 1);
    CHECK(result.chunks[0].is_whole_fold);
}

TEST_CASE("failover ends after its attempts, and its callback's errors end it", "[digest]") {
    Work work = short_talk();
    work.config.failover = FailoverConfig{.max_retries = 1};
    const auto fails = [](const Request&) -> ChatReply { fail("down"); };
    SECTION("attempts used up") {
        const auto result = work.run(fails);
        CHECK(result.failure->message == "exceeds max failover attempts (1): down");
        CHECK(result.model_calls == 2);
    }
    SECTION("no callback: the first model again, with the default input") {
        int calls = 0;
        std::vector<std::string> data;
        const auto result = work.run([&](const Request& request) {
            data.push_back(data_of(request));
            return ++calls == 1 ? fail("down") : say("the gist");
        });
        CHECK(result.summary == "the gist");
        REQUIRE(data.size() == 2);
        CHECK(data[0] == data[1]);
    }
    SECTION("the callback throws") {
        work.callbacks.failover.get_failover_model = [](const auto&) -> FailoverModel<ChatMessage> {
            throw std::runtime_error("no backup today");
        };
        const auto result = work.run(fails);
        CHECK(result.failure->failure == SummaryFailure::callback);
        CHECK(result.failure->message == "get_failover_model: no backup today");
    }
    SECTION("the callback gives no model") {
        work.callbacks.failover.get_failover_model = [](const auto&) { return FailoverModel<ChatMessage>{}; };
        CHECK(work.run(fails).failure->message == "get_failover_model: it gave no model");
    }
    SECTION("the last response is the partial text of the attempt before") {
        std::string partial;
        work.callbacks.failover.get_failover_model = [&](const FailoverContext<ChatMessage>& context) {
            partial = text_of(context.last_response->message);
            return FailoverModel<ChatMessage>{
                std::make_shared<ScriptedModel<ChatMessage>>(std::vector{ChatMessage::assistant("all of it")}), {}};
        };
        CHECK(work.run([](const Request&) { return cut_off("half a sum"); }).summary == "all of it");
        CHECK(partial == "half a sum");
    }
    SECTION("an input that does not fit is a failed attempt without a call") {
        int calls = 0;
        const auto backup = std::make_shared<ScriptedModel<ChatMessage>>([&](const Request&) {
            ++calls;
            return say("never");
        });
        work.callbacks.failover.get_failover_model = [&](const auto&) {
            return FailoverModel<ChatMessage>{backup, {ChatMessage::user(std::string(4'000, 'x'))}, 500};
        };
        const auto result = work.run(fails);
        CHECK(result.failure->failure == SummaryFailure::does_not_fit);
        CHECK(calls == 0);
    }
}

TEST_CASE("every attempt is told, with its phase and number", "[digest]") {
    Work work = short_talk();
    work.config.retry = RetryConfig{.max_retries = 1};
    work.config.failover = FailoverConfig{.max_retries = 2};
    std::vector<std::string> told;
    work.callbacks.on_generate = [&](const Seen& seen) {
        told.push_back(std::string(to_string(seen.phase)) + std::to_string(seen.number) +
                       (seen.response ? " response" : "") + (seen.error ? " error" : ""));
        throw std::runtime_error("a watcher's own problem");
    };
    int calls = 0;
    const auto result = work.run([&](const Request&) {
        if (++calls == 1) fail("down");
        return calls < 4 ? say("") : say("the gist");
    });
    CHECK(result.summary == "the gist");
    CHECK(told == std::vector<std::string>{"primary1 error", "primary2 response error", "failover1 response error",
                                           "failover2 response"});
}

TEST_CASE("a hook's model calls and time are obeyed and counted, its report filled", "[digest]") {
    Work work = short_talk();
    StageReport report;
    HookBudget budget{.model_calls = 2};
    work.environment.budget = &budget;
    work.environment.report = &report;
    work.config.retry = RetryConfig{};
    const auto fails = [&](const Request&) -> ChatReply {
        work.clock->advance(milliseconds(30));
        fail("down");
    };
    SECTION("calls") {
        const auto result = work.run(fails);
        CHECK(result.failure->failure == SummaryFailure::budget);
        CHECK(budget.model_calls == 0);
        REQUIRE(report.details);
        REQUIRE(report.details->model_calls.size() == 2);
        CHECK(report.details->model_calls[1].purpose == "test: summary");
        CHECK(report.details->model_calls[1].error == "down");
        CHECK(report.details->model_calls[1].milliseconds == 30);
    }
    SECTION("a pause that is longer than the time left is not begun") {
        budget.deadline = 900;
        const auto result = work.run(fails);
        CHECK(result.failure->failure == SummaryFailure::budget);
        CHECK(result.model_calls == 1);
        CHECK(work.clock->now() == 30);
    }
    SECTION("no time left: no call") {
        budget.deadline = 0;
        CHECK(work.run(fails).model_calls == 0);
    }
}

TEST_CASE("the pause is the back-off, or what the provider asks for if that is longer", "[digest]") {
    Work work = short_talk();
    work.config.retry = RetryConfig{.max_retries = 1};
    work.callbacks.retry.backoff = [](const Seen& seen) { return milliseconds(700 * seen.number); };
    int calls = 0;
    const auto limited = [&](milliseconds retry_after) {
        return [&calls, retry_after](const Request&) -> ChatReply {
            if (++calls == 1) throw ModelError(retry_after, "slow down");
            return say("the gist");
        };
    };
    SECTION("shorter") {
        CHECK(work.run(limited(milliseconds(5))).ok());
        CHECK(work.clock->now() == 700);
    }
    SECTION("longer") {
        CHECK(work.run(limited(milliseconds(9'000))).ok());
        CHECK(work.clock->now() == 9'000);
    }
}

TEST_CASE("a stop is obeyed at once, in a call and in an hour's back-off", "[digest]") {
    Work work = short_talk();
    work.config.retry = RetryConfig{};
    work.config.failover = FailoverConfig{};
    const auto version = work.conversation.version();
    StopSource stop;
    work.environment.stop = stop.get_token();
    detail::JoiningThread stopper;
    int calls = 0;
    SECTION("a call that would never return") {
        std::mutex mutex;
        std::condition_variable wake;
        CHECK_THROWS_AS(work.run([&](const Request& request) -> ChatReply {
            ++calls;
            stopper = detail::JoiningThread([&] { stop.request_stop(); });
            const StopCallback on_stop(request.stop, [&] {
                const std::lock_guard lock(mutex);
                wake.notify_all();
            });
            std::unique_lock lock(mutex);
            wake.wait(lock, [&] { return request.stop.stop_requested(); });
            throw ModelError(ModelErrorClass::transport, "connection closed");  // as a stopped client may say it
        }),
                        Error);
    }
    SECTION("an hour of the machine's clock") {
        work.environment.clock = system_clock();
        work.callbacks.retry.backoff = [&](const Seen&) {
            stopper = detail::JoiningThread([&] { stop.request_stop(); });
            return std::chrono::hours(1);
        };
        CHECK_THROWS_AS(work.run([&](const Request&) -> ChatReply {
            ++calls;
            fail("down");
        }),
                        Error);
    }
    SECTION("a reply that came after the stop is dropped") {
        CHECK_THROWS_AS(work.run([&](const Request&) {
            ++calls;
            stop.request_stop();
            return say("too late");
        }),
                        Error);
    }
    SECTION("before the first call") {
        stop.request_stop();
        CHECK_THROWS_AS(work.run([](const Request&) { return say("never"); }), Error);
        ++calls;
    }
    CHECK(calls == 1);
    CHECK(work.conversation.version() == version);
    CHECK(work.state.empty());
}

TEST_CASE("a cancelled call is never made again; any other exception of a model is a failed attempt", "[digest]") {
    Work work = short_talk();
    work.config.retry = RetryConfig{};
    int calls = 0;
    SECTION("cancelled by the host") {
        const auto cancelled = [&](const Request&) -> ChatReply {
            ++calls;
            throw ModelError(ModelErrorClass::cancelled, "user pressed escape");
        };
        CHECK_THROWS_WITH(work.run(cancelled), "user pressed escape");
        CHECK(calls == 1);
    }
    SECTION("a foreign exception") {
        const auto result = work.run([&](const Request&) -> ChatReply {
            if (++calls == 1) throw std::runtime_error("socket");
            return say("the gist");
        });
        CHECK(result.ok());
        CHECK(calls == 2);
    }
    SECTION("authentication: retried by default, as the callbacks may decide otherwise") {
        work.callbacks.retry.should_retry = [](const Seen& seen) {
            return seen.error != nullptr && seen.error->model_error != ModelErrorClass::auth;
        };
        const auto result = work.run([&](const Request&) -> ChatReply {
            ++calls;
            throw ModelError(ModelErrorClass::auth, "no key");
        });
        CHECK(result.failure->model_error == ModelErrorClass::auth);
        CHECK(calls == 1);
    }
}

TEST_CASE("gen_model_input has full control and is not chunked", "[digest]") {
    Work work = short_talk();
    work.callbacks.gen_model_input = [](const CallbackContext&, const ChatMessage& system,
                                        const ChatMessage& instruction, MessageView<ChatMessage> messages) {
        CHECK(system.role == Role::system);
        return std::vector<ChatMessage>{messages[0], instruction};
    };
    SECTION("it fits") {
        const auto result = work.run([](const Request& request) {
            CHECK(request.messages.size() == 2);
            CHECK(text_of(request.messages[0]).starts_with("please look"));
            return say("the gist");
        });
        CHECK(result.ok());
    }
    SECTION("it does not fit: no call, not even with retries") {
        work.config.max_input_tokens = 150;
        work.config.retry = RetryConfig{};
        const auto result = work.run([](const Request&) { return say("never"); });
        CHECK(result.failure->failure == SummaryFailure::does_not_fit);
        CHECK(result.model_calls == 0);
    }
}

TEST_CASE("gen_model_input and failover see all messages, and beside them those to fold", "[digest]") {
    Work work = short_talk();
    work.user("the newest request, which stays");
    work.config.failover = FailoverConfig{};
    std::vector<std::size_t> sizes;
    const auto look = [&](const OriginalMessages<ChatMessage>& originals) {
        sizes.insert(sizes.end(), {originals.size(), originals.folded().size()});
        CHECK(text_of(originals[2]) == "the newest request, which stays");
        CHECK(originals.folded()[1] == originals[1]);
    };
    work.callbacks.gen_model_input = [&](const CallbackContext&, const ChatMessage&, const ChatMessage& instruction,
                                         const OriginalMessages<ChatMessage>& originals) {
        look(originals);
        return std::vector<ChatMessage>{originals.folded()[0], instruction};
    };
    const auto backup = std::make_shared<ScriptedModel<ChatMessage>>(std::vector{ChatMessage::assistant("the gist")});
    work.callbacks.failover.get_failover_model = [&](const FailoverContext<ChatMessage>& context) {
        look(context.originals);
        return FailoverModel<ChatMessage>{backup};
    };
    ScriptedModel<ChatMessage> model([](const Request&) -> ChatReply { fail("down"); });
    const std::vector<std::size_t> fold{0, 1};
    const auto result = generate_summary<ChatMessage>({.model = model,
                                                       .all_messages = work.conversation.messages(),
                                                       .outline = work.conversation.outline(),
                                                       .fold = fold},
                                                      work.config, work.callbacks, work.environment, work.state);
    CHECK(result.summary == "the gist");
    CHECK(sizes == std::vector<std::size_t>{3, 2, 3, 2});
}

TEST_CASE("an empty fold is the caller's mistake", "[digest]") {
    Work work;
    CHECK_THROWS_AS(work.run([](const Request&) { return say("x"); }), Error);
}
