#include "support/catch.hpp"
#include "support/errc_of.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/model/failover_model.hpp"
#include "whittle/model/retry_model.hpp"
#include "whittle/model/scripted_model.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using std::chrono::milliseconds;
using whittle::testing::errc_of;

namespace {

using Request = ModelRequest<ChatMessage>;
using ChatModel = std::shared_ptr<Model<ChatMessage>>;

const ModelError busy(ModelErrorClass::server, "busy");
const ModelError overflow(Overflow{.context_limit_tokens = 4, .requested_tokens = 5}, "too large");

/// Throws the errors one after the other, then answers "done". Counts how often it was asked.
struct Script {
    std::vector<ModelError> errors{};
    int asked = 0;

    Reply<ChatMessage> next() {
        const auto at = static_cast<std::size_t>(asked++);
        if (at < errors.size()) throw errors[at];
        return {ChatMessage::assistant("done")};
    }
};

ChatModel model_of(Script& script) {
    return std::make_shared<ScriptedModel<ChatMessage>>([&script](const Request&) { return script.next(); });
}

/// Streams `piece`, then throws; the second time it answers.
ChatModel broken_stream(int& asked) {
    return std::make_shared<ScriptedModel<ChatMessage>>([&asked](const Request& request) -> Reply<ChatMessage> {
        (*request.on_delta)({.text = asked == 0 ? "half" : "whole"});
        if (asked++ == 0) throw ModelError(ModelErrorClass::transport, "cut");
        return {ChatMessage::assistant("whole")};
    });
}

struct World {
    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
    std::shared_ptr<Random> random = std::make_shared<SeededRandom>(1);
    std::vector<milliseconds> waits{};

    RetryEnvironment environment() const { return {clock, random}; }
    RetryModelCallbacks callbacks() {
        return {.on_retry = [this](const RetryNotice& notice) { waits.push_back(notice.wait); }};
    }
};

ModelErrorClass class_of_failure(Model<ChatMessage>& model, const Request& request = {}) {
    try {
        model.generate(request);
    } catch (const ModelError& error) {
        return error.error_class();
    }
    FAIL("nothing was thrown");
    return {};
}

}  // namespace

TEST_CASE("a failure that may pass is followed by another attempt after a growing pause", "[retry]") {
    World world;
    Script script{{busy, busy, busy}};
    const ChatModel model = with_retry(model_of(script), {}, world.callbacks(), world.environment());
    CHECK(text_of(model->generate({}).message) == "done");
    CHECK(script.asked == 4);
    REQUIRE(world.waits.size() == 3);
    CHECK((world.waits[0] >= milliseconds(1'000) && world.waits[0] < milliseconds(1'500)));
    CHECK((world.waits[1] >= milliseconds(2'000) && world.waits[1] < milliseconds(3'000)));
    CHECK((world.waits[2] >= milliseconds(4'000) && world.waits[2] < milliseconds(6'000)));
    CHECK(milliseconds(world.clock->now()) == world.waits[0] + world.waits[1] + world.waits[2]);
}

TEST_CASE("a pointer to a host's own model class says the message type, to retry and to failover", "[retry]") {
    const auto host = std::make_shared<ScriptedModel<ChatMessage>>(
        [](const Request&) -> Reply<ChatMessage> { return {ChatMessage::assistant("done")}; });
    const std::vector<std::shared_ptr<ScriptedModel<ChatMessage>>> two{host, host};
    for (const ChatModel& model : {with_retry(host), with_retry(host, {.max_retries = 1}), with_failover(two),
                                   with_failover({host, host}), with_failover(std::vector{with_retry(host)})})
        CHECK(text_of(model->generate({}).message) == "done");
}

TEST_CASE("the attempts are counted, and the last error goes to the caller as it is", "[retry]") {
    World world;
    Script script{{busy, busy, ModelError(ModelErrorClass::rate_limit, "third"), busy}};
    const ChatModel model = with_retry(model_of(script), {.max_retries = 2}, {}, world.environment());
    CHECK_THROWS_WITH(model->generate({}), "third");
    CHECK(script.asked == 3);
}

TEST_CASE("only rate_limit, server and transport are asked again", "[retry]") {
    const struct {
        ModelErrorClass error_class;
        int asked;
    } rows[] = {{ModelErrorClass::rate_limit, 2},  {ModelErrorClass::server, 2},   {ModelErrorClass::transport, 2},
                {ModelErrorClass::auth, 1},        {ModelErrorClass::overflow, 1}, {ModelErrorClass::refusal, 1},
                {ModelErrorClass::bad_request, 1}, {ModelErrorClass::cancelled, 1}};
    for (const auto& row : rows) {
        CAPTURE(to_string(row.error_class));
        World world;
        const ModelError error(row.error_class, "no");
        Script script{{error, error}};
        const ChatModel model = with_retry(model_of(script), {.max_retries = 1}, {}, world.environment());
        CHECK(class_of_failure(*model) == row.error_class);
        CHECK(script.asked == row.asked);
    }
}

TEST_CASE("what is no model error gets out at once", "[retry]") {
    int asked = 0;
    World world;
    const auto throwing = std::make_shared<ScriptedModel<ChatMessage>>([&asked](const Request&) -> Reply<ChatMessage> {
        ++asked;
        throw std::string("callback");
    });
    CHECK_THROWS_AS(with_retry<ChatMessage>(throwing, {}, {}, world.environment())->generate({}), std::string);
    CHECK(asked == 1);
}

TEST_CASE("a provider's longer waiting time is obeyed, for any class; above max_wait its error is final", "[retry]") {
    World world;
    Script script{{ModelError(milliseconds(30'000), "slow"),
                   ModelError(ModelErrorClass::server, milliseconds(40'000), "overloaded"),
                   ModelError(milliseconds(60'001), "much slower")}};
    const ChatModel model =
        with_retry(model_of(script), {.max_wait = milliseconds(60'000)}, world.callbacks(), world.environment());
    CHECK_THROWS_WITH(model->generate({}), "much slower");
    CHECK(world.waits == std::vector<milliseconds>{milliseconds(30'000), milliseconds(40'000)});
    CHECK(script.asked == 3);
}

TEST_CASE("a shorter waiting time than the own pause is lengthened, and max_wait shortens the own pause", "[retry]") {
    SeededRandom random(1);
    const ModelError soon(milliseconds(5), "soon");
    CHECK(plan_retry(soon, 1, {}, {}, random) >= milliseconds(1'000));
    CHECK(plan_retry(soon, 3, {}, {.max_wait = milliseconds(100)}, random) == milliseconds(100));
    CHECK(plan_retry(busy, 3, {}, {.max_wait = milliseconds(0)}, random) == milliseconds(0));
}

TEST_CASE("no attempt begins behind the deadline", "[retry]") {
    SeededRandom random(1);
    const ModelError in_30_s(milliseconds(30'000), "slow");
    const RetryModelConfig config{.deadline = milliseconds(50'000)};
    CHECK(plan_retry(in_30_s, 1, milliseconds(20'000), config, random) == milliseconds(30'000));
    CHECK(plan_retry(in_30_s, 1, milliseconds(20'001), config, random) == std::nullopt);
    CHECK(plan_retry(in_30_s, 1, milliseconds(20'001), {.deadline = {}}, random) == milliseconds(30'000));

    World world;
    Script script{{busy, busy, busy, busy}};
    const ChatModel model =
        with_retry(model_of(script), {.max_retries = 100, .deadline = milliseconds(2'900)}, {}, world.environment());
    CHECK_THROWS_AS(model->generate({}), ModelError);
    CHECK(script.asked == 2);  // the second pause would end at 3 s or later
}

TEST_CASE("a stop during the pause ends the call as cancelled", "[retry]") {
    World world;
    StopSource stop;
    Script script{{busy}};
    const ChatModel model = with_retry(model_of(script), {},
                                       {.on_retry =
                                            [&stop](const RetryNotice& notice) {
                                                CHECK(notice.stop == stop.get_token());
                                                CHECK(notice.purpose == "summary");
                                                stop.request_stop();
                                            }},
                                       world.environment());
    CHECK(class_of_failure(*model, {.stop = stop.get_token(), .purpose = "summary"}) == ModelErrorClass::cancelled);
    CHECK(script.asked == 1);
    CHECK(class_of_failure(*model, {.stop = stop.get_token()}) == ModelErrorClass::cancelled);
    CHECK(script.asked == 1);
}

TEST_CASE("a reply that broke off while it streamed is not asked for again unless the caller can discard it",
          "[retry]") {
    World world;
    std::string seen;
    const DeltaSink sink = [&seen](const Delta& delta) { seen += delta.text; };
    int asked = 0;
    CHECK(class_of_failure(*with_retry(broken_stream(asked), {}, {}, world.environment()), {.on_delta = &sink}) ==
          ModelErrorClass::transport);
    CHECK(asked == 1);
    CHECK(seen == "half");

    asked = 0;
    const ChatModel model =
        with_retry(broken_stream(asked), {}, {.on_stream_restart = [&seen] { seen.clear(); }}, world.environment());
    CHECK(text_of(model->generate({.on_delta = &sink}).message) == "whole");
    CHECK(seen == "whole");
}

TEST_CASE("nothing streamed means nothing to discard", "[retry]") {
    World world;
    Script script{{busy}};
    const DeltaSink sink = [](const Delta&) {};
    int discarded = 0;
    const ChatModel model =
        with_retry(model_of(script), {}, {.on_stream_restart = [&discarded] { ++discarded; }}, world.environment());
    CHECK(text_of(model->generate({.on_delta = &sink}).message) == "done");
    CHECK(discarded == 0);
}

TEST_CASE("an empty sink means that nobody listens", "[retry]") {
    const auto never_streams = std::make_shared<ScriptedModel<ChatMessage>>([](const Request& request) {
        if (request.on_delta != nullptr) (*request.on_delta)({.text = "piece"});
        return Reply<ChatMessage>{ChatMessage::assistant("done")};
    });
    const DeltaSink empty;
    CHECK(text_of(with_retry<ChatMessage>(never_streams)->generate({.on_delta = &empty}).message) == "done");
    CHECK(text_of(with_failover<ChatMessage>({never_streams})->generate({.on_delta = &empty}).message) == "done");
}

TEST_CASE("a retry configuration with bad fields is refused with all of them", "[retry]") {
    Script script;
    CHECK(errc_of([&] { static_cast<void>(with_retry(model_of(script), {.max_retries = -1})); }) ==
          Errc::invalid_config);
    CHECK(errc_of([&] { static_cast<void>(with_retry<ChatMessage>(nullptr)); }) == Errc::invalid_argument);
    Problems problems;
    check_retry_model({-1, milliseconds(-1), milliseconds(-1)}, "retry", problems);
    CHECK(problems.all().size() == 3);
}

TEST_CASE("the next model of the list answers for one that is down, busy or not allowed", "[failover]") {
    for (const ModelErrorClass error_class :
         {ModelErrorClass::rate_limit, ModelErrorClass::server, ModelErrorClass::transport, ModelErrorClass::auth}) {
        CAPTURE(to_string(error_class));
        Script first{{ModelError(error_class, "no")}};
        Script second;
        const ChatModel model = with_failover<ChatMessage>({model_of(first), model_of(second)});
        CHECK(text_of(model->generate({}).message) == "done");
        CHECK(first.asked == 1);
        CHECK(second.asked == 1);
    }
}

TEST_CASE("overflow, refusal and a bad request stay with the model that said so", "[failover]") {
    for (const ModelError& error :
         {overflow, ModelError(ModelErrorClass::refusal, "no"), ModelError(ModelErrorClass::bad_request, "no")}) {
        Script first{{error}};
        Script second;
        const ChatModel model = with_failover<ChatMessage>({model_of(first), model_of(second)});
        CHECK(class_of_failure(*model) == error.error_class());
        CHECK(second.asked == 0);
    }
}

TEST_CASE("each call starts with the first model, and the last one's error goes to the caller as it is", "[failover]") {
    Script first{{busy}};
    Script second{{overflow}};
    std::vector<std::size_t> failed;
    const ChatModel model = with_failover<ChatMessage>(
        {model_of(first), model_of(second)},
        {.on_failover = [&failed](const FailoverNotice& notice) { failed.push_back(notice.failed_index); }});
    try {
        model->generate({});
        FAIL("no error");
    } catch (const ModelError& error) {
        CHECK(error.overflow().context_limit_tokens == 4);
    }
    CHECK(failed == std::vector<std::size_t>{0});
    CHECK(text_of(model->generate({}).message) == "done");
    CHECK(first.asked == 2);
    CHECK(second.asked == 1);
}

TEST_CASE("the caller may decide which failure goes to the next model, but not to go on after a stop", "[failover]") {
    Script first{{overflow, ModelError(ModelErrorClass::cancelled, "stopped")}};
    Script second;
    const auto goes_on = [](const FailoverNotice& notice) { return notice.purpose.empty(); };
    const ChatModel model =
        with_failover<ChatMessage>({model_of(first), model_of(second)}, {.should_failover = goes_on});
    CHECK(text_of(model->generate({}).message) == "done");
    CHECK(class_of_failure(*model) == ModelErrorClass::cancelled);
    CHECK(second.asked == 1);
}

TEST_CASE("what the failed model streamed must be discarded before the next model answers", "[failover]") {
    std::string seen;
    const DeltaSink sink = [&seen](const Delta& delta) { seen += delta.text; };
    int asked = 0;
    Script second;
    CHECK(class_of_failure(*with_failover<ChatMessage>({broken_stream(asked), model_of(second)}),
                           {.on_delta = &sink}) == ModelErrorClass::transport);
    asked = 0;
    const ChatModel model = with_failover<ChatMessage>({broken_stream(asked), model_of(second)},
                                                       {.on_stream_restart = [&seen] { seen.clear(); }});
    CHECK(text_of(model->generate({.on_delta = &sink}).message) == "done");
    CHECK(seen.empty());
}

TEST_CASE("each model of the list can have its own retries", "[failover]") {
    World world;
    Script first{{busy, busy}};
    Script second;
    const ChatModel model = with_failover<ChatMessage>(
        {with_retry(model_of(first), {.max_retries = 1}, {}, world.environment()), model_of(second)});
    CHECK(text_of(model->generate({}).message) == "done");
    CHECK(first.asked == 2);
    CHECK(second.asked == 1);
}

TEST_CASE("a list without models, or with a hole, is refused", "[failover]") {
    Script script;
    CHECK(errc_of([] { static_cast<void>(with_failover<ChatMessage>({})); }) == Errc::invalid_argument);
    CHECK(errc_of([&] {
              static_cast<void>(with_failover<ChatMessage>({model_of(script), nullptr}));
          }) == Errc::invalid_argument);
}
