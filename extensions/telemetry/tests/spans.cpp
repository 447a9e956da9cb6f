// Hooks as spans.
#include "receiver.hpp"

#include "support/catch.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/reduction/reduction.hpp"

using namespace whittle;
using nlohmann::json;
using telemetry::OpenTelemetry;
using testing::attributes_of;
using testing::Receiver;

TEST_CASE("a chain that clears old results sends a span of its hook, with one child for the stage", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    auto config = testing::fixed_config();
    config.agent_model = {"openai", "gpt-5"};
    OpenTelemetry exporter(config, receiver);
    const Chain<> chain(ChainConfig{.storage = memory_storage(), .clock = std::make_shared<ManualClock>()},
                        ChainCallbacks<>{.on_event = exporter.event_sink(), .on_report = exporter.report_sink()},
                        Reduction<>{{.max_tokens_for_clear = 2'000, .clear_target_tokens = 500}});
    Conversation<> history("book");
    history.push_back(ChatMessage::user("Read."));
    for (const char* id : {"one", "two", "three", "four", "five"}) {
        history.push_back(ChatMessage::assistant().call(id, "read_page"));
        history.push_back(ChatMessage::result(id, "read_page", std::string(4'000, '.')));
    }
    REQUIRE(chain.before_model(history).changed());
    chain.before_model(history);  // not due any more
    const auto result = exporter.flush();
    CHECK(result.ok());
    CHECK(result.spans_sent == 2);

    const std::vector<json> spans = receiver->spans();
    REQUIRE(spans.size() == 2);
    const json hook = attributes_of(spans[0]);
    CHECK(spans[0]["name"] == "whittle before_model");
    CHECK(spans[0]["kind"] == 1);
    CHECK_FALSE(spans[0].contains("parentSpanId"));
    CHECK(hook["gen_ai.conversation.id"] == "book");
    CHECK(hook["gen_ai.provider.name"] == "openai");
    CHECK(hook["gen_ai.request.model"] == "gpt-5");
    CHECK(hook["whittle.changed"] == true);
    const json stage = attributes_of(spans[1]);
    CHECK(spans[1]["name"] == "whittle reduction");
    CHECK(spans[1]["traceId"] == spans[0]["traceId"]);
    CHECK(spans[1]["parentSpanId"] == spans[0]["spanId"]);
    CHECK(stage["whittle.outcome"] == "committed");
    CHECK(stage["whittle.stored.objects"] == "4");
    CHECK(stage["whittle.stored.size"] == "16000");
    CHECK(stage["gen_ai.conversation.id"] == "book");
}

TEST_CASE("model calls of a stage are client spans of GenAI with their usage, one behind the other", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    auto config = testing::fixed_config();
    config.models_by_middleware["summarization"] = {"anthropic", "claude-small"};
    OpenTelemetry exporter(config, receiver);
    exporter.report_sink()(testing::summary_report());
    CHECK(exporter.flush().spans_sent == 4);

    const std::vector<json> spans = receiver->spans();
    REQUIRE(spans.size() == 4);
    CHECK(spans[0]["startTimeUnixNano"] == "995000000000");
    CHECK(spans[0]["endTimeUnixNano"] == "1000000000000");
    CHECK(attributes_of(spans[1])["whittle.first_changed"] == "1");
    CHECK(attributes_of(spans[1])["whittle.cache.invalidated_tokens"] == "70000");

    const json& failed = spans[2];
    CHECK(failed["name"] == "chat claude-small");
    CHECK(failed["kind"] == 3);
    CHECK(failed["parentSpanId"] == spans[1]["spanId"]);
    CHECK(failed["status"] == json({{"code", 2}, {"message", "no connection"}}));
    CHECK(attributes_of(failed)["error.type"] == "_OTHER");
    CHECK(failed["startTimeUnixNano"] == "995000000000");
    CHECK(failed["endTimeUnixNano"] == "996000000000");

    const json& worked = spans[3];
    const json reported = attributes_of(worked);
    CHECK_FALSE(worked.contains("status"));
    CHECK(worked["endTimeUnixNano"] == "999500000000");
    CHECK(reported["gen_ai.operation.name"] == "chat");
    CHECK(reported["gen_ai.provider.name"] == "anthropic");
    CHECK(reported["gen_ai.request.model"] == "claude-small");
    CHECK(reported["gen_ai.usage.input_tokens"] == "43000");  // with what the cache had
    CHECK(reported["gen_ai.usage.cache_read.input_tokens"] == "2000");
    CHECK(reported["gen_ai.usage.cache_creation.input_tokens"] == "1000");
    CHECK(reported["gen_ai.usage.output_tokens"] == "900");
    CHECK(reported["whittle.purpose"] == "summarization: summary");
}

TEST_CASE("a stage that failed has the status of an error; without texts it says only which kind", "[telemetry]") {
    const bool texts = GENERATE(true, false);
    const auto receiver = std::make_shared<Receiver>();
    auto config = testing::fixed_config();
    config.include_event_texts = texts;
    OpenTelemetry exporter(config, receiver);
    Report report = testing::undue_report();
    report.stages[0].outcome = Outcome::failed;
    report.stages[0].ensure_details().error = "the disk is full";
    exporter.report_sink()(report);
    exporter.flush();
    const json span = receiver->spans().at(1);
    CHECK(span["status"]["code"] == 2);
    CHECK(span["status"].value("message", "") == (texts ? "the disk is full" : ""));
    CHECK(attributes_of(span)["error.type"] == "failed");
}

TEST_CASE("hooks in which nothing was due leave no span", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    OpenTelemetry exporter(testing::fixed_config(), receiver);
    Report report = testing::undue_report();
    for (const Outcome outcome : {Outcome::not_applicable, Outcome::not_due, Outcome::cooling_down}) {
        report.stages[0].outcome = outcome;
        exporter.report_sink()(report);
    }
    CHECK(exporter.waiting() == 0);
}

TEST_CASE("spans and records stand below the span of the host", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    auto config = testing::fixed_config();
    config.traceparent = [] { return std::string("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"); };
    OpenTelemetry exporter(config, receiver);
    exporter.event_sink()(testing::committed_event());
    exporter.report_sink()(testing::summary_report());
    exporter.flush();
    const std::vector<json> spans = receiver->spans();
    for (const json& span : spans) CHECK(span["traceId"] == "4bf92f3577b34da6a3ce929d0e0e4736");
    CHECK(spans.at(0)["parentSpanId"] == "00f067aa0ba902b7");
    CHECK(receiver->records().at(0)["traceId"] == "4bf92f3577b34da6a3ce929d0e0e4736");
    CHECK(receiver->records().at(0)["spanId"] == "00f067aa0ba902b7");
}

TEST_CASE("below a span that is not sampled there are none, but the records of events stay", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    auto config = testing::fixed_config();
    config.traceparent = [] { return std::string("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"); };
    OpenTelemetry exporter(config, receiver);
    exporter.event_sink()(testing::committed_event());
    exporter.report_sink()(testing::summary_report());
    exporter.flush();
    CHECK(receiver->spans().empty());
    CHECK(receiver->records().at(0)["flags"] == 0);
}

TEST_CASE("what is no traceparent, or throws, is passed over: the hook has a trace of its own", "[telemetry]") {
    const std::string good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const std::string text = GENERATE_COPY(values<std::string>({
        "",
        "throw",
        good + "-x",                                               // version 00 has nothing behind the flags
        "ff" + good.substr(2),                                     // no version
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"  // upper case
        ,
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
    }));
    const auto receiver = std::make_shared<Receiver>();
    auto config = testing::fixed_config();
    config.traceparent = [text]() -> std::string {
        if (text == "throw") throw std::runtime_error("no span");
        return text;
    };
    OpenTelemetry exporter(config, receiver);
    exporter.report_sink()(testing::summary_report());
    exporter.flush();
    const json span = receiver->spans().at(0);
    CHECK_FALSE(span.contains("parentSpanId"));
    CHECK(span["traceId"] != "4bf92f3577b34da6a3ce929d0e0e4736");
    CHECK(span["traceId"].get<std::string>().size() == 32);
}

TEST_CASE("a later version of traceparent may have more behind", "[telemetry]") {
    const auto receiver = std::make_shared<Receiver>();
    auto config = testing::fixed_config();
    config.traceparent = [] { return std::string("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03-more"); };
    OpenTelemetry exporter(config, receiver);
    exporter.report_sink()(testing::summary_report());
    exporter.flush();
    CHECK(receiver->spans().at(0)["parentSpanId"] == "00f067aa0ba902b7");
}

TEST_CASE("ids are never all zeros, whatever the source of random numbers gives", "[telemetry]") {
    class Zeros final : public Random {
    public:
        std::uint64_t next() override { return 0; }
    };
    const auto receiver = std::make_shared<Receiver>();
    auto config = testing::fixed_config();
    config.random = std::make_shared<Zeros>();
    OpenTelemetry exporter(config, receiver);
    exporter.report_sink()(testing::summary_report());
    exporter.flush();
    CHECK(receiver->spans().at(0)["traceId"] != std::string(32, '0'));
    CHECK(receiver->spans().at(0)["spanId"] != std::string(16, '0'));
}
