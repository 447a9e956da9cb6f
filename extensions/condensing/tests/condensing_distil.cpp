// Extracts of long results by a model: what it is shown, what is taken from it, and what happens where it fails.
#include "condensing.hpp"

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// Answers what a function says.
class Extractor final : public TextModel {
public:
    explicit Extractor(std::function<std::string(std::string_view prompt)> answer) : answer_(std::move(answer)) {}
    TextReply complete(std::string_view, std::string_view prompt, const TextOptions& options, StopToken) override {
        prompts.emplace_back(prompt);
        purpose = options.purpose;
        return {answer_(prompt), std::nullopt};
    }
    std::vector<std::string> prompts{};
    std::string purpose{};

private:
    std::function<std::string(std::string_view)> answer_;
};

std::shared_ptr<Extractor> saying(std::string text) {
    return std::make_shared<Extractor>([text = std::move(text)](std::string_view) { return text; });
}

/// A report that has no format.
std::string long_report() {
    std::string text;
    for (int i = 0; i < 400; ++i) {
        text += "The part src/module_" + std::string(1, static_cast<char>('a' + i % 26)) + ".cpp was looked at by " +
                std::string(static_cast<std::size_t>(1 + i % 7), 'x') + " people, and nothing was found in it. ";
        if (i == 211) text += "But src/payment.cpp drops refunds above 900 euros. ";
        if (i % 5 == 0) text += '\n';
    }
    return text;
}

CondensingConfig with_extracts(std::shared_ptr<TextModel> model) {
    CondensingConfig config;
    config.distiller = std::move(model);
    config.distil_min_bytes = 10'000;
    return config;
}

constexpr const char* good_extract = "src/payment.cpp drops refunds above 900 euros; nothing was found in the others.";

}  // namespace

TEST_CASE("a model writes an extract of a long text, for the newest request", "[condensing]") {
    const auto model = saying(good_extract);
    const auto bench = CondensingBench::with_store(with_extracts(model));
    Conversation<> conversation("conv");
    conversation.push_back(ChatMessage::user("Why do refunds fail?"));
    bench.chain.before_model(conversation);
    conversation.push_back(ChatMessage::assistant("").call("c1", "review", R"({"of":"shop"})"));
    const std::string text = long_report();
    const ToolReturn shown = bench.run(bench.chain.pending_tool_calls(conversation).at(0), [&](PartSink& out) {
        out.write(text);
        return ToolOutcome{};
    });
    REQUIRE(model->prompts.size() == 1);
    for (const char* part : {"Why do refunds fail?", "The tool: review", R"({"of":"shop"})", "drops refunds above"})
        CHECK(has(model->prompts[0], part));
    CHECK(model->purpose == "condensing: extract");
    const std::string now = text_of(shown);
    CHECK(now.ends_with(std::string("]\n") + good_extract + "\n"));
    CHECK(has(now, "an extract by a model: what it leaves out has no marks"));
    CHECK(bench.storage->get("conv/condensed/c1", 0, 1 << 20) == text);
    conversation.push_tool_results(std::vector{shown});
    REQUIRE(conversation.undo());
    CHECK(text_of(conversation.messages()[2], 0) == text);
}

TEST_CASE("what is no extract is refused, and the text stays", "[condensing]") {
    const std::string text = long_report();
    const auto throwing = std::make_shared<Extractor>(
        [](std::string_view) -> std::string { throw std::runtime_error("the server is gone"); });
    const std::vector<std::shared_ptr<Extractor>> models{
        throwing,
        saying(""),
        saying("I'm sorry, but I cannot help with that."),
        saying("Hello! How can I help you today?"),
        saying(text + text),
        saying(
            "The fault is in lib/zebra_handler.rs, lib/quux_table.rs, lib/frobnicate.rs and /etc/other/place.conf.")};
    for (const auto& model : models) {
        std::vector<std::string> heard;
        const EventSink events = [&](const Event& event) { heard.emplace_back(event.kind); };
        const auto bench = CondensingBench::with_store(with_extracts(model));
        ToolContext call = bench.context("review");
        call.events = &events;
        const ToolReturn shown = bench.run(call, [&](PartSink& out) {
            out.push({.text = text});
            return ToolOutcome{};
        });
        CHECK(model->prompts.size() == 1);
        CHECK(text_of(shown) == text);
        CHECK(shown.stored.empty());
        CHECK(heard == std::vector<std::string>{"distil_failed"});
    }
}

TEST_CASE("no model is asked about what is short in its form, read, failed, or after a stop", "[condensing]") {
    const auto model = saying(good_extract);
    const auto bench = CondensingBench::with_store(with_extracts(model));
    CHECK(has(bench.shown(json_rows(200)), "@columns"));
    CHECK(bench.shown(long_report(), "read_file") == long_report());
    CHECK(bench.shown(long_report(), "bash", R"({"command":"cat notes.txt"})") == long_report());
    StopSource stop;
    stop.request_stop();
    ToolContext call = bench.context("review");
    call.stop = stop.get_token();
    const ToolReturn shown = bench.run(call, [&](PartSink& out) {
        out.push({.text = long_report()});
        return ToolOutcome{};
    });
    CHECK(text_of(shown) == long_report());
    CHECK(model->prompts.empty());
}

TEST_CASE("a model is shown both ends of a text that is too long for it, once for a result", "[condensing]") {
    const auto model = saying(good_extract);
    CondensingConfig config = with_extracts(model);
    config.distil_max_input_bytes = 2'000;
    const auto bench = CondensingBench::with_store(config);
    bench.run(bench.context("review"), [&](PartSink& out) {
        out.push({.text = long_report()});
        out.push({.text = long_report()});
        return ToolOutcome{};
    });
    REQUIRE(model->prompts.size() == 1);
    CHECK(model->prompts[0].size() < 3'000);
    CHECK(has(model->prompts[0], "bytes of the result are not shown to you]"));
}

TEST_CASE("where an extract is refused the form stays", "[condensing]") {
    const auto model = saying("Hello!");
    CondensingConfig config = with_extracts(model);
    config.distil_min_bytes = 100;
    const auto bench = CondensingBench::with_store(config);
    CHECK(has(bench.shown(json_rows(200)), "@columns"));
    CHECK(model->prompts.size() == 1);
}
