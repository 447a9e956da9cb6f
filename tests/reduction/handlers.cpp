#include "support/catch.hpp"
#include "tools.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

const Part orig{.text = "orig"};

TruncResult shortened(const ToolDetail&) {
    return {.need_trunc = true,
            .replacement_parts = {{.text = "truncated"}},
            .need_offload = true,
            .key = "/tmp/trunc/cid",
            .offload_content = "full content"};
}

ReductionCallbacks<> for_tool(ToolReductionCallbacks own) {
    ReductionCallbacks<> callbacks;
    callbacks.tool_config.emplace("tool", std::move(own));
    return callbacks;
}

}  // namespace

TEST_CASE("a handler's own parts and object are used, what the tool gave comes back with undo", "[handlers]") {
    WITH_EACH_MESSAGE_TYPE_THAT(type, keeps_media);
    const Bench bench = Bench::of(type, {}, {}, {}, for_tool({.trunc_handler = shortened}));
    const Part image{.kind = PartKind::media, .media = {.mime = "image/png", .bytes = "PNG"}};
    const ToolReturn back = bench.run("cid", {orig, image});
    REQUIRE(back.result.parts.size() == 1);
    CHECK(back.result.parts[0].text == "truncated");
    CHECK(bench.storage->get("tmp/trunc/cid") == "full content");
    AnyConversation c = bench.push(back);
    CHECK(origin_of(c.outline()[2].parts[0].mark) == Origin::placeholder);
    c.restore_and_pin(c.outline()[2].serial);
    CHECK(c.text(2) == "orig");
    CHECK(c.message(2).parts.size() == 2);
    REQUIRE(c.undo());
    REQUIRE(c.undo());
    CHECK(c.text(2) == "orig");
    CHECK(c.message(2).parts[1].media.mime == image.media.mime);
}

TEST_CASE("a handler that truncates nothing leaves the result, and it saw it whole", "[handlers]") {
    std::string seen;
    Bench bench({.max_length_for_trunc = 1}, {}, {}, for_tool({.trunc_handler = [&](const ToolDetail& detail) {
                    seen = std::string(detail.tool) + "/" + std::string(detail.call_id) + "/" +
                           detail.result_parts[0].text;
                    return TruncResult{};
                }}));
    CHECK(bench.run("id", {orig}).result.parts == std::vector{orig});
    CHECK(seen == "tool/id/orig");
}

TEST_CASE("a skipped phase runs no handler", "[handlers]") {
    const auto fail = [](const ToolDetail&) -> TruncResult { throw std::logic_error("called"); };
    ReductionConfig excluded;
    excluded.trunc_exclude_tools = {"tool"};
    ReductionConfig skipped;
    skipped.tool_config["tool"].skip_truncation = true;
    for (const ReductionConfig& config : {excluded, skipped}) {
        Bench bench(config, {}, {.on_error = OnError::propagate}, for_tool({.trunc_handler = fail}));
        CHECK(bench.run("a", {orig}).result.parts == std::vector{orig});
    }
}

TEST_CASE("a handler's failure leaves the full result; under propagate it comes out after that", "[handlers]") {
    const auto fail = [](const ToolDetail&) -> TruncResult { throw std::runtime_error("E"); };
    Bench skip({}, {}, {}, for_tool({.trunc_handler = fail}));
    CHECK(skip.run("a", {orig}).result.parts == std::vector{orig});
    CHECK(skip.events == std::vector<std::string>{"failed: E"});
    Bench propagate({}, {}, {.on_error = OnError::propagate}, for_tool({.trunc_handler = fail}));
    CollectingSink sink;
    CHECK_THROWS_WITH(propagate.run_into(sink, "a", {orig}), "E");
    CHECK(sink.take() == std::vector{orig});
}

TEST_CASE("a failing tool's output passes, its handler does not run", "[handlers]") {
    Bench bench({}, {}, {}, for_tool({.trunc_handler = shortened}));
    CollectingSink sink;
    CHECK_THROWS_WITH(bench.chain.wrap_tool(bench.context("a"), sink,
                                            [](const ToolContext&, PartSink& out) -> ToolOutcome {
                                                for (int i = 0; i < 10; ++i) out.write("chunk ");
                                                throw std::runtime_error("E");
                                            }),
                      "E");
    CHECK(sink.take()[0].text == repeat("chunk ", 10));
}

TEST_CASE("a streamed result reaches a handler whole", "[handlers]") {
    std::string seen;
    Bench bench({}, {}, {}, for_tool({.trunc_handler = [&](const ToolDetail& detail) {
                    seen = detail.result_parts[0].text;
                    return shortened(detail);
                }}));
    CHECK(bench.run_chunks("a", {"one ", "two ", "three"}).result.parts[0].text == "truncated");
    CHECK(seen == "one two three");
}

TEST_CASE("a sink of the tool's own truncates while it streams", "[handlers]") {
    WITH_EACH_MESSAGE_TYPE(type);
    class Upper final : public PartSink {
    public:
        explicit Upper(PartSink& out) : out_(out) {}
        void write(std::string_view text) override { out_.write(text.substr(0, 1)); }
        void push(Part part) override { out_.push(std::move(part)); }
        void mark_stored(StoredPart part) override { out_.mark_stored(std::move(part)); }
        void finish() override { out_.write("."); }

    private:
        PartSink& out_;
    };
    const Bench bench = Bench::of(
        type, {}, {}, {},
        for_tool({.trunc_sink = [](const ToolContext&, PartSink& out) { return std::make_unique<Upper>(out); }}));
    CHECK(bench.run_chunks("a", {"one", "two"}).result.parts[0].text == "ot.");
}

namespace {

void add_fetch(AnyConversation& c, const std::string& id, std::string arguments = "{}",
               const std::string& tool = "tool") {
    c.push_back(ChatMessage::assistant("").call(id, tool, std::move(arguments)));
    c.push_back(ChatMessage::result(id, tool, "output of " + id + std::string(2'000, 'x')));
}

AnyConversation two_rounds(const MessageType& type, const std::string& arguments = "{}") {
    AnyConversation c(type);
    c.push_back(ChatMessage::user("go"));
    add_fetch(c, "a", arguments);
    add_fetch(c, "b", arguments);
    return c;
}

ReductionConfig clearing() { return {.max_tokens_for_clear = 100}; }
ReductionConfig only_clearing() { return {.skip_truncation = true, .max_tokens_for_clear = 100}; }

}  // namespace

TEST_CASE("a clear handler rewrites arguments and result and stores what it wants", "[handlers]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const auto handler = [](const ToolDetail& detail) {
        return ClearResult{
            .need_clear = true,
            .replacement_arguments = R"({"note":"argument offloaded"})",
            .replacement_parts = {{.text = "result offloaded, retrieve it from /tmp/" + std::string(detail.call_id)}},
            .need_offload = true,
            .key = "tmp/" + std::string(detail.call_id),
            .offload_content =
                nlohmann::json{{"arguments", detail.arguments}, {"result", detail.result_parts[0].text}}.dump()};
    };
    const Bench bench = Bench::of(type, clearing(), {}, {}, for_tool({.clear_handler = handler}));
    AnyConversation c = two_rounds(type, R"({"path":"x"})");
    const std::string before = c.text(2);
    bench.chain.before_model(c);
    CHECK(c.text(2) == "result offloaded, retrieve it from /tmp/a");
    CHECK(c.text(1) == R"({"note":"argument offloaded"})");
    CHECK(c.text(4).starts_with("output of b"));
    const auto json = nlohmann::json::parse(*bench.storage->get("tmp/a"));
    CHECK(json["arguments"] == R"({"path":"x"})");
    CHECK(json["result"] == before);
    REQUIRE(c.undo());
    CHECK(c.text(2) == before);
    CHECK(c.text(1) == R"({"path":"x"})");
}

TEST_CASE("a failing clear handler or key function undoes the hook and is reported", "[handlers]") {
    WITH_EACH_MESSAGE_TYPE(type);
    ReductionCallbacks<> callbacks;
    callbacks.gen_clear_offload_file_path = [](const ToolDetail&) -> std::string {
        throw std::runtime_error("no key");
    };
    for (const bool propagates : {false, true}) {
        const auto policy = propagates ? OnError::propagate : OnError::skip;
        const Bench bench = Bench::of(type, clearing(), {}, {.on_error = policy}, callbacks);
        AnyConversation c = two_rounds(type);
        if (propagates) {
            CHECK_THROWS_WITH(bench.chain.before_model(c), "no key");
        } else {
            bench.chain.before_model(c);
            CHECK(c.report().stages[0].outcome == Outcome::failed);
        }
        CHECK(c.text(2).starts_with("output of a"));
        CHECK(c.journal_size() == 0);
    }
}

TEST_CASE("the user's function names the objects of the clearing phase", "[handlers]") {
    WITH_EACH_MESSAGE_TYPE(type);
    ReductionCallbacks<> callbacks;
    callbacks.gen_clear_offload_file_path = [](const ToolDetail& d) {
        return "/custom/clear/" + std::string(d.call_id);
    };
    const Bench bench = Bench::of(type, clearing(), {}, {}, callbacks);
    AnyConversation c = two_rounds(type);
    bench.chain.before_model(c);
    CHECK(c.text(2).find("custom/clear/a") != std::string::npos);
    CHECK(bench.storage->get("custom/clear/a")->starts_with("output of a"));
}

TEST_CASE("arguments of cleared calls are stored too and stay a JSON object", "[handlers]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const std::string arguments = R"({"query":")" + std::string(900, 'q') + R"("})";
    ReductionConfig config = clearing();
    config.clear_tool_inputs = GENERATE(ClearToolInputs(true), ClearToolInputs(std::vector<std::string>{"tool"}));
    const Bench bench = Bench::of(type, config);
    AnyConversation c = two_rounds(type, arguments);
    bench.chain.before_model(c);
    const auto json = nlohmann::json::parse(c.text(1));
    CHECK(json["note"] == "argument offloaded");
    CHECK(json["reference"] == "conv/clear/a.arguments");
    CHECK(bench.storage->get("conv/clear/a.arguments") == arguments);
    CHECK(c.text(3) == arguments);
    const auto version = c.version();
    bench.chain.before_model(c);
    CHECK(c.version() == version);
    REQUIRE(c.undo());
    CHECK(c.text(1) == arguments);
    ReductionConfig others = clearing();
    others.clear_tool_inputs = std::vector<std::string>{"another"};
    AnyConversation d = two_rounds(type, arguments);
    Bench::of(type, others).chain.before_model(d);
    CHECK(d.text(1) == arguments);
}

TEST_CASE("the callback after a commit sees it; what it throws is reported and the commit stands", "[handlers]") {
    WITH_EACH_MESSAGE_TYPE(type);
    int calls = 0;
    std::string heard;
    const auto after_commit = [&](std::size_t journal_size, const StageReport& report) {
        ++calls;
        CHECK(report.outcome == Outcome::committed);
        CHECK(journal_size == 1);
        throw std::runtime_error("disk full");
    };
    const AnyChain chain(type, {}, std::vector<AnyStage>{{.config = only_clearing(), .after_commit = after_commit}},
                         [&](const Event& event) { heard += event.text; });
    AnyConversation c = two_rounds(type);
    chain.before_model(c);
    chain.before_model(c);
    CHECK(calls == 1);
    CHECK(c.journal_size() == 1);
    CHECK(heard.find("disk full") != std::string::npos);
}

TEST_CASE("under propagate what the callback after a commit throws comes as it is, and the commit is taken back",
          "[handlers]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const auto after_commit = [](std::size_t, const StageReport&) { throw std::out_of_range("the host's own"); };
    const AnyChain chain(type, {.on_error = OnError::propagate},
                         std::vector<AnyStage>{{.config = only_clearing(), .after_commit = after_commit}});
    AnyConversation c = two_rounds(type);
    CHECK_THROWS_AS(chain.before_model(c), std::out_of_range);
    CHECK(c.journal_size() == 0);
}

namespace {

/// user, one round of two calls, "done", one round that is kept.
AnyConversation written_files(const MessageType& type) {
    AnyConversation c(type);
    c.push_back(ChatMessage::system("be brief"));
    c.push_back(ChatMessage::user("go"));
    c.push_back(ChatMessage::assistant("")
                    .call("w", "write", R"({"content":")" + std::string(900, 'w') + R"("})")
                    .call("e", "edit", R"({"content":")" + std::string(900, 'e') + R"("})"));
    c.push_back(ChatMessage::result("w", "write", "ok"));
    c.push_back(ChatMessage::result("e", "edit", "ok"));
    c.push_back(ChatMessage::assistant("done"));
    c.push_back(ChatMessage::assistant("").call("d", "dummy"));
    return c;
}

}  // namespace

TEST_CASE("the rewriter gets a whole round with its own results and replaces it", "[rewriter]") {
    WITH_EACH_MESSAGE_TYPE(type);
    std::size_t results_seen = 0;
    ReductionCallbacks<> callbacks;
    callbacks.clear_message_rewriter = [&](const CallbackContext&, const ChatMessage&,
                                           std::span<const ChatMessage> results) {
        results_seen = results.size();
        return std::vector{ChatMessage::user("<system-reminder>two files were written</system-reminder>")};
    };
    const Bench bench = Bench::of(type, clearing(), {}, {}, callbacks);
    AnyConversation c = written_files(type);
    const std::vector<std::string> before = c.bytes();
    bench.chain.before_model(c);
    CHECK(results_seen == 2);
    REQUIRE(c.size() == 5);
    CHECK(c.text(2) == "<system-reminder>two files were written</system-reminder>");
    CHECK(c.text(3) == "done");
    const auto version = c.version();
    bench.chain.before_model(c);
    CHECK(c.version() == version);
    REQUIRE(c.undo());
    CHECK(c.bytes() == before);
}

TEST_CASE("a rewriter may drop a call and keep another; an empty list removes the round", "[rewriter]") {
    WITH_EACH_MESSAGE_TYPE(type);
    ReductionCallbacks<> callbacks;
    callbacks.clear_message_rewriter = [](const CallbackContext&, const ChatMessage&,
                                          std::span<const ChatMessage> results) {
        return std::vector{ChatMessage::user("w was written"), ChatMessage::assistant("").call("e", "edit"),
                           results[1]};
    };
    AnyConversation c = written_files(type);
    Bench::of(type, clearing(), {}, {}, callbacks).chain.before_model(c);
    REQUIRE(c.size() == 7);
    CHECK(c.text(2) == "w was written");
    CHECK(c.text(4) == "ok");
    callbacks.clear_message_rewriter = [](const auto&...) { return std::vector<ChatMessage>{}; };
    AnyConversation d = written_files(type);
    Bench::of(type, clearing(), {}, {}, callbacks).chain.before_model(d);
    CHECK(d.size() == 4);
}

TEST_CASE("a user message behind the rewritten round stays behind it", "[rewriter]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c(type);
    c.push_back(ChatMessage::user("go"));
    add_fetch(c, "a");
    c.push_back(ChatMessage::user("and then?"));
    c.push_back(ChatMessage::assistant("").call("d", "dummy"));
    ReductionCallbacks<> callbacks;
    callbacks.clear_message_rewriter = [](const auto&...) { return std::vector{ChatMessage::user("reminder")}; };
    Bench::of(type, clearing(), {}, {}, callbacks).chain.before_model(c);
    REQUIRE(c.size() == 4);
    CHECK(c.text(1) == "reminder");
    CHECK(c.text(2) == "and then?");
}

TEST_CASE("a call without a result reaches the rewriter with an empty list", "[rewriter]") {
    WITH_EACH_MESSAGE_TYPE(type);
    AnyConversation c(type);
    c.push_back(ChatMessage::user("go"));
    c.push_back(ChatMessage::assistant("").call("lost", "tool", R"({"x":")" + std::string(900, 'x') + R"("})"));
    c.push_back(ChatMessage::user("go on"));
    c.push_back(ChatMessage::assistant("").call("d", "dummy"));
    std::size_t seen = 99;
    ReductionCallbacks<> callbacks;
    callbacks.clear_message_rewriter = [&](const CallbackContext&, const ChatMessage& call,
                                           std::span<const ChatMessage> results) {
        seen = results.size();
        return std::vector{call};
    };
    Bench::of(type, clearing(), {}, {}, callbacks).chain.before_model(c);
    CHECK(seen == 0);
    CHECK(c.size() == 4);
}

TEST_CASE("a rewriter that makes a round larger, or throws, changes nothing", "[rewriter]") {
    WITH_EACH_MESSAGE_TYPE(type);
    ReductionCallbacks<> callbacks;
    callbacks.clear_message_rewriter = [](const auto&...) {
        return std::vector{ChatMessage::user(std::string(90'000, 'u'))};
    };
    AnyConversation c = written_files(type);
    Bench::of(type, clearing(), {}, {}, callbacks).chain.before_model(c);
    CHECK(c.size() == 7);
    callbacks.clear_message_rewriter = [](const auto&...) -> std::vector<ChatMessage> {
        throw std::runtime_error("E");
    };
    AnyConversation d = written_files(type);
    Bench::of(type, clearing(), {}, {}, callbacks).chain.before_model(d);
    CHECK(d.size() == 7);
    CHECK(d.report().stages[0].outcome == Outcome::failed);
}
