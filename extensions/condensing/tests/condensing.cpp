// Condensing of results when they come: what passes, what is stored, and how it comes back.
#include "condensing.hpp"

#include "whittle/reduction/reduction.hpp"

#include <stdexcept>

using namespace whittle;
using namespace whittle::testing;

TEST_CASE("a long result is shown in its form, and the store has it as it came", "[condensing]") {
    const auto bench = CondensingBench::with_store();
    const std::string text = json_rows(60);
    const ToolReturn shown = bench.run(text);
    const std::string now = text_of(shown);
    CHECK(now.size() < text.size() / 2);
    CHECK(has(now, "[JSON of"));
    CHECK(has(now, "As it came: conv/condensed/c1 - read it with read_offloaded]"));
    REQUIRE(shown.stored.size() == 1);
    CHECK(shown.stored[0].by == "condensing");
    CHECK(bench.storage->get("conv/condensed/c1", 0, 1 << 20) == text);
}

TEST_CASE("undo and restore bring a condensed result back byte for byte", "[condensing]") {
    for (const bool has_store : {true, false}) {
        const CondensingBench bench = has_store ? CondensingBench::with_store() : CondensingBench();
        const std::string text = json_rows(60);
        const ToolReturn shown = bench.run(text);
        CHECK(text_of(shown) != text);
        Conversation<> conversation("conv");
        conversation.push_back(ChatMessage::user("go"));
        conversation.push_back(ChatMessage::assistant("").call("c1", "tool"));
        conversation.push_tool_results(std::vector{shown});
        REQUIRE(conversation.undo());
        CHECK(text_of(conversation.messages()[2], 0) == text);
    }
}

TEST_CASE("read_offloaded reads what was condensed, and its pages pass as they are", "[condensing]") {
    const auto bench = CondensingBench::with_store({.min_bytes = 100});
    const std::string text = json_rows(60);
    Conversation<> conversation("conv");
    conversation.push_back(ChatMessage::user("go"));
    conversation.push_back(ChatMessage::assistant("").call("c1", "tool"));
    conversation.push_tool_results(std::vector{bench.run(text)});
    conversation.push_back(
        ChatMessage::assistant("").call("c2", "read_offloaded", R"({"reference":"conv/condensed/c1"})"));
    const Tool reading_tool = read_offloaded_tool(bench.storage);
    ToolContext call = bench.chain.pending_tool_calls(conversation).at(0);
    call.storage = bench.storage;
    const ToolReturn page = bench.run(call, [&](PartSink& out) { return reading_tool.invoke(call, out); });
    CHECK(has(text_of(page), text));
    CHECK(page.stored.empty());
}

TEST_CASE("what is short, read, failed, excluded or no gain passes byte for byte", "[condensing]") {
    const auto bench = CondensingBench::with_store({.exclude_tools = {"exact"}});
    const std::string text = json_rows(60);
    CHECK(bench.shown(json_rows(3)) == json_rows(3));
    CHECK(bench.shown(text, "read_file") == text);
    CHECK(bench.shown(text, "mcp__files__exact") == text);
    CHECK(bench.shown(text, "read_offloaded") == text);
    CHECK(bench.shown(text, "fetch_media") == text);
    CHECK(bench.shown(text, "bash", R"({"command":"cat data.json"})") == text);
    CHECK(bench.shown(text, "bash", R"({"command":"curl -s https://example.org"})") != text);
    const ToolReturn failed = bench.run(bench.context("tool"), [&](PartSink& out) {
        out.push({.text = text});
        return ToolOutcome{.is_error = true};
    });
    CHECK(text_of(failed) == text);
    const std::string compact = "[" + std::string(8'000, '1') + "]";
    CHECK(bench.shown(compact) == compact);
    const auto greedy = CondensingBench::with_store({.min_gain = 0.95});
    CHECK(greedy.shown(text) == text);
    CHECK(greedy.storage->get("conv/condensed/c1", 0, 10) == std::nullopt);
}

TEST_CASE("with condense_file_reads what a tool reads has its form too", "[condensing]") {
    const auto bench = CondensingBench::with_store({.condense_file_reads = true});
    const std::string text = json_rows(60);
    CHECK(bench.shown(text, "read_file") != text);
}

TEST_CASE("source code, prose and numbered lines have no form", "[condensing]") {
    std::string source;
    std::string prose;
    std::string numbered;
    for (int i = 0; i < 400; ++i) {
        source += "    int value_" + std::to_string(i) + " = compute(" + std::to_string(i) + ");\n";
        prose += "| It was a bright cold day, and the clocks had struck " + std::to_string(i) + " times. ";
        if (i % 9 == 0) prose += "\n";
        numbered += std::to_string(i + 1) + "\treturn value;\n";
    }
    for (const std::string& text : {source, prose, numbered}) CHECK(form_of_text(text).empty());
}

TEST_CASE("a result that the store refuses passes as it came", "[condensing]") {
    const std::string text = json_rows(60);
    for (const OnError on_error : {OnError::skip, OnError::propagate}) {
        const CondensingBench bench({},
                                    ChainConfig{.storage = memory_storage({.max_bytes = 10}), .on_error = on_error});
        std::vector<std::string> heard;
        const EventSink events = [&](const Event& event) { heard.emplace_back(event.kind); };
        ToolContext call = bench.context("tool");
        call.on_middleware_error = on_error;
        call.events = &events;
        const ToolReturn shown = bench.run(call, [&](PartSink& out) {
            out.push({.text = text});
            return ToolOutcome{};
        });
        CHECK(text_of(shown) == text);
        CHECK(shown.stored.empty());
        CHECK_FALSE(shown.original);
        CHECK_FALSE(heard.empty());
    }
}

TEST_CASE("a result that is written in pieces has the form of one that is pushed", "[condensing]") {
    const auto bench = CondensingBench::with_store();
    const std::string text = json_rows(60);
    const ToolReturn written = bench.run(bench.context("tool"), [&](PartSink& out) {
        for (std::size_t at = 0; at < text.size(); at += 700) out.write(std::string_view(text).substr(at, 700));
        return ToolOutcome{};
    });
    CHECK(text_of(written) == bench.shown(text));
}

TEST_CASE("a result that is longer than what is held passes as it comes", "[condensing]") {
    const auto bench = CondensingBench::with_store({.min_bytes = 10, .max_buffered_bytes = 2'000});
    const std::string text = json_rows(60);
    const ToolReturn shown = bench.run(bench.context("tool"), [&](PartSink& out) {
        for (std::size_t at = 0; at < text.size(); at += 700) out.write(std::string_view(text).substr(at, 700));
        return ToolOutcome{};
    });
    CHECK(text_of(shown) == text);
    REQUIRE(shown.result.parts.size() == 1);
    CHECK(shown.stored.empty());
}

TEST_CASE("a tool that throws has its text passed on first", "[condensing]") {
    const auto bench = CondensingBench::with_store();
    CollectingSink sink;
    const ToolContext call = bench.context("tool");
    const auto run = [&] {
        return bench.chain.wrap_tool(call, sink, [&](const ToolContext&, PartSink& out) -> ToolOutcome {
            out.write(json_rows(60));
            throw std::runtime_error("broken pipe");
        });
    };
    CHECK_THROWS_AS(run(), std::runtime_error);
    REQUIRE(sink.take().at(0).text == json_rows(60));
}

TEST_CASE("texts of one result are condensed each by itself, media stay", "[condensing]") {
    const auto bench = CondensingBench::with_store();
    const ToolReturn shown = bench.run(bench.context("tool"), [&](PartSink& out) {
        out.push({.text = "first"});
        out.push({.kind = PartKind::media, .media = {.mime = "image/png", .bytes = "x"}});
        out.push({.text = json_rows(60)});
        return ToolOutcome{};
    });
    REQUIRE(shown.result.parts.size() == 3);
    CHECK(shown.result.parts[0].text == "first");
    CHECK(shown.result.parts[1].media.bytes == "x");
    REQUIRE(shown.stored.size() == 1);
    CHECK(shown.stored[0].part == 2);
    CHECK(bench.storage->get("conv/condensed/c1-part3", 0, 1 << 20) == json_rows(60));
}

TEST_CASE("every bad setting of condensing is reported at once", "[condensing]") {
    CondensingConfig config;
    config.min_bytes = -1;
    config.min_gain = 1.5;
    config.head_rows = 0;
    config.max_string_bytes = 3;
    config.cut_above_rows = 10;
    std::string text;
    try {
        const CondensingBench bench{config};
    } catch (const Error& error) {
        text = error.what();
    }
    for (const char* field : {"min_bytes", "min_gain", "head_rows", "max_string_bytes", "cut_above_rows"})
        CHECK(has(text, std::string("condensing.") + field));
}

TEST_CASE("a form that is still too long keeps both ends, and Reduction leaves it alone", "[condensing]") {
    const auto storage = memory_storage();
    const Chain<> chain{ChainConfig{.storage = storage}, Reduction<>{{.max_length_for_trunc = 1'000}},
                        Condensing<>{{.max_condensed_bytes = 900, .max_lossless_json_bytes = 1 << 30}}};
    Conversation<> conversation("conv");
    conversation.push_back(ChatMessage::user("go"));
    conversation.push_back(ChatMessage::assistant("").call("c1", "tool"));
    const std::string text = json_rows(200);
    CollectingSink sink;
    const ToolContext call = chain.pending_tool_calls(conversation).at(0);
    ToolOutcome outcome = chain.wrap_tool(call, sink, [&](const ToolContext&, PartSink& out) {
        out.write(text);
        return ToolOutcome{};
    });
    conversation.push_tool_results(std::vector{collect_tool_return(call, sink, std::move(outcome))});
    const std::string shown = text_of(conversation.messages()[2], 0);
    CHECK(shown.size() < 1'300);
    for (const char* part :
         {"[JSON of", ", condensed: ", " bytes] stands for its middle", "[1000,\"item 0\",10.50,true],\n",
          "true],\n[..", " bytes]\n[11", "[1199,\"item 199\",13.50,true]]}"})
        CHECK(has(shown, part));
    CHECK(keys_in(*storage) == std::vector<std::string>{"conv/condensed/c1"});
    while (conversation.undo()) {
    }
    CHECK(text_of(conversation.messages()[2], 0) == text);
}
