#include "support/catch.hpp"
#include "tools.hpp"
#include "whittle/base/text.hpp"

#include <random>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// Keeps what arrives, call by call.
class Recorder final : public PartSink {
public:
    void write(std::string_view text) override { writes.emplace_back(text); }
    void push(Part part) override { pushed.push_back(std::move(part)); }
    void mark_stored(StoredPart part) override { objects.push_back(std::move(part)); }

    std::vector<std::string> writes{};
    std::vector<Part> pushed{};
    std::vector<StoredPart> objects{};
};

const std::vector<std::string> scripts{"plain ascii text, line\n", "naïve café — 1€ ",
                                       "小さな世界です。",         "мир и покой ",
                                       "مرحبا بالعالم ",           "👩‍🚀🌍 a👍🏽"};

std::string filled(const std::string& unit, std::size_t bytes) {
    std::string text = repeat(unit, static_cast<int>(bytes / unit.size()));
    return text + std::string(bytes - text.size(), '.');
}

std::vector<std::string> cut_randomly(const std::string& text, std::mt19937& random) {
    std::vector<std::string> chunks;
    const std::size_t longest = 1 + random() % 4'000;
    for (std::size_t at = 0; at < text.size(); at += chunks.back().size())
        chunks.push_back(text.substr(at, random() % (longest + 1)));
    return chunks;
}

}  // namespace

TEST_CASE("a stream shows the same bytes as the whole result, below, at and above the limit", "[truncation]") {
    constexpr std::int64_t limit = 3'000;
    std::mt19937 random(7);
    for (const std::string& script : scripts) {
        for (const std::int64_t bytes : {limit - 1, limit, limit + 1, limit + 200, limit + 900, 7 * limit}) {
            Bench bench({.max_length_for_trunc = limit});
            const std::string whole = filled(script, static_cast<std::size_t>(bytes));
            const ToolReturn expected = bench.run("a", {whole});
            for (int round = 0; round < 6; ++round) {
                const ToolReturn got = bench.run_chunks("a", cut_randomly(whole, random));
                CAPTURE(script, bytes, round);
                REQUIRE(got.result == expected.result);
                REQUIRE(got.stored.size() == expected.stored.size());
            }
            CHECK(is_valid_utf8(expected.result.parts[0].text));
            if (!expected.stored.empty()) CHECK(bench.storage->get("conv/trunc/a") == whole);
        }
    }
}

TEST_CASE("200 random chunkings of one long result all show the same bytes", "[truncation]") {
    std::mt19937 random(11);
    std::string whole;
    for (const std::string& script : scripts) whole += repeat(script, 40);
    whole.insert(whole.size() / 3, "\xF0\x9F");  // not UTF-8 in the head of a half
    Bench bench({.max_length_for_trunc = 4'000});
    const ToolReturn expected = bench.run("a", {whole});
    REQUIRE(expected.stored.size() == 1);
    for (int round = 0; round < 200; ++round)
        REQUIRE(bench.run_chunks("a", cut_randomly(whole, random)).result == expected.result);
    CHECK(bench.keys().size() == 1);
    CHECK(bench.storage->get("conv/trunc/a") == whole);
}

TEST_CASE("what is shown of a stream ends between grapheme clusters, however it is chopped", "[truncation]") {
    std::mt19937 random(19);
    const std::vector<std::string> units{
        "👩‍👩‍👧‍👦", "e\u0301\u0302", "🇩🇪", "\r\n", "क्षि", "ᄀ\u1161\u11A8"};
    for (const std::string& unit : units) {
        const std::string whole = repeat(unit, 1'900 / static_cast<int>(unit.size()));
        for (std::int64_t limit = 600; limit < 640; limit += 3) {
            Bench bench({.max_length_for_trunc = limit});
            const ToolReturn expected = bench.run("a", {whole});
            const std::string shown = expected.result.parts[0].text;
            const std::size_t tail = shown.size() - shown.find("]\n\n") - 3;
            CAPTURE(unit, limit);
            REQUIRE(shown.find("\n\n[") % unit.size() == 0);
            REQUIRE(tail % unit.size() == 0);
            REQUIRE(tail > 0);
            for (int round = 0; round < 6; ++round)
                REQUIRE(bench.run_chunks("a", cut_randomly(whole, random)).result == expected.result);
            std::vector<std::string> bytes;
            for (const char c : whole) bytes.emplace_back(1, c);
            REQUIRE(bench.run_chunks("a", bytes).result == expected.result);
        }
    }
}

TEST_CASE("a stream of hostile clusters shows the same bytes as the whole, within the limit", "[truncation]") {
    std::mt19937 random(23);
    const std::vector<std::string> units{"\u0301", "\u200D",  "🇩",        "👩\u200D",
                                         "\u0600", "क\u094D", "\xF0\x9F", "\r\n\u0301"};
    for (const std::string& unit : units) {
        for (const std::string& front : {std::string(), std::string("plain text, "), std::string(700, 'a') + "🇩🇪"}) {
            const std::string whole = front + repeat(unit, 9'000 / static_cast<int>(unit.size())) + "end";
            Bench bench({.max_length_for_trunc = 1'501});
            const ToolReturn expected = bench.run("a", {whole});
            const std::string& shown = expected.result.parts[0].text;
            CAPTURE(unit, front);
            REQUIRE(shown.size() < whole.size());
            REQUIRE((!is_valid_utf8(whole) || shown.find("\n\n[tool") > 600));
            for (int round = 0; round < 6; ++round)
                REQUIRE(bench.run_chunks("a", cut_randomly(whole, random)).result == expected.result);
            CHECK(bench.storage->get("conv/trunc/a") == whole);
        }
    }
}

TEST_CASE("head and tail can be given in lines, whole and streamed alike", "[truncation]") {
    std::mt19937 random(31);
    std::string whole;
    for (int i = 1; i <= 400; ++i) whole += "line " + std::to_string(i) + (i % 7 == 0 ? " 🇩🇪\r\n" : "\n");
    const auto ends_of = [&](const std::string& shown) {
        const std::size_t tail = shown.find("]\n\n") + 3;
        return std::pair(shown.substr(0, shown.find("\n\n[")), shown.substr(tail));
    };
    for (const std::int64_t head : {0, 1, 3, 30, 1'000}) {
        for (const std::int64_t tail : {0, 1, 4, 30, 1'000}) {
            Bench bench({.max_length_for_trunc = 900, .trunc_head_lines = head, .trunc_tail_lines = tail});
            const ToolReturn expected = bench.run("a", {whole});
            const auto [front, end] = ends_of(expected.result.parts[0].text);
            CAPTURE(head, tail);
            CHECK(whole.starts_with(front));
            CHECK(whole.ends_with(end));
            CHECK(front.size() <= 450);
            CHECK(end.size() <= 450);
            if (head > 0 && head < 31) CHECK(count_lines(front) == head);
            if (tail > 0 && tail < 31) CHECK(count_lines(end) == tail);
            if (head == 0 || head == 1'000) CHECK(front.size() > 440);
            if (tail == 0 || tail == 1'000) CHECK(end.size() > 440);
            for (int round = 0; round < 8; ++round)
                REQUIRE(bench.run_chunks("a", cut_randomly(whole, random)).result == expected.result);
            CHECK(bench.storage->get("conv/trunc/a") == whole);
        }
    }
}

TEST_CASE("lines are kept of each text of a result, within the limits in bytes and in tokens", "[truncation]") {
    const std::string lines = repeat("some line\n", 300);
    Bench bench({.max_length_for_trunc = 2'000, .trunc_head_lines = 2, .trunc_tail_lines = 1});
    const ToolReturn two = bench.run("a", {lines, lines});
    for (const Part& part : two.result.parts) {
        CHECK(part.text.starts_with("some line\nsome line\n\n\n[tool result truncated"));
        CHECK(part.text.ends_with("]\n\nsome line\n"));
    }
    Bench tokens({.max_tokens_for_trunc = 10, .trunc_head_lines = 50, .trunc_tail_lines = 50});
    const std::string shown = tokens.run("a", {lines}).result.parts[0].text;
    CHECK(shown.starts_with(repeat("some line\n", 2) + "som\n\n["));  // five tokens
    CHECK(tokens.run_chunks("a", {lines.substr(0, 7), lines.substr(7)}).result.parts[0].text == shown);
    CHECK(bench.run("b", {repeat("x\n", 100)}).stored.empty());  // the limit decides whether a result is cut
}

TEST_CASE("the first lines of a stream pass at once, the others when the tool is done", "[truncation]") {
    Bench bench({.max_length_for_trunc = 3'000, .trunc_head_lines = 2});
    Recorder seen;
    bench.chain.wrap_tool(bench.context("a"), seen, [&](const ToolContext&, PartSink& out) {
        for (const char* piece : {"one", "\ntw", "o\nthree\n", "four"}) out.write(piece);
        CHECK(seen.writes == std::vector<std::string>{"one", "\ntw", "o\n"});
        return ToolOutcome{};
    });
    REQUIRE(seen.writes.size() == 4);
    CHECK(seen.writes[3] == "three\nfour");
}

TEST_CASE("the last cluster of a stream waits where the head's end is near", "[truncation]") {
    Bench bench({.max_length_for_trunc = 100});
    Recorder seen;
    bench.chain.wrap_tool(bench.context("a"), seen, [](const ToolContext&, PartSink& out) {
        for (const char* piece : {"ab", "\u0301", "c", "d"}) out.write(piece);
        return ToolOutcome{};
    });
    CHECK(seen.writes == std::vector<std::string>{"a", "b\u0301", "c", "d"});
}

TEST_CASE("the head of a stream passes at once, the rest when the tool is done", "[truncation]") {
    Bench bench({.max_length_for_trunc = 3'000});
    Recorder seen;
    std::size_t seen_while_running = 0;
    bench.chain.wrap_tool(bench.context("a"), seen, [&](const ToolContext&, PartSink& out) {
        out.write("first chunk");
        CHECK(seen.writes == std::vector<std::string>{"first chunk"});
        out.write("");
        out.write(std::string(8'000, 'x'));
        for (const std::string& part : seen.writes) seen_while_running += part.size();
        return ToolOutcome{};
    });
    CHECK(seen_while_running == 1'500);
    REQUIRE(seen.writes.size() == 3);
    CHECK(seen.writes[2].starts_with("\n\n[tool result truncated: 8011 bytes"));
    CHECK(seen.writes[2].ends_with(std::string(1'500, 'x')));
    REQUIRE(seen.objects.size() == 1);
    CHECK(bench.storage->get("conv/trunc/a") == "first chunk" + std::string(8'000, 'x'));
}

TEST_CASE("a short stream passes as it came, without its empty pieces", "[truncation]") {
    Bench bench({.max_length_for_trunc = 1'000});
    Recorder seen;
    bench.chain.wrap_tool(bench.context("a"), seen, [](const ToolContext&, PartSink& out) {
        for (const char* piece : {"01234", "", "56789"}) out.write(piece);
        return ToolOutcome{};
    });
    CHECK(seen.writes == std::vector<std::string>{"01234", "56789"});
}

TEST_CASE("the error of a tool comes out after what it wrote was stored and announced", "[truncation]") {
    Bench bench({.max_length_for_trunc = 1'000});
    for (const int bytes : {2, 9'000}) {
        const std::string id = std::to_string(bytes);
        CollectingSink seen;
        const auto tool = [&](const ToolContext&, PartSink& out) -> ToolOutcome {
            out.write(std::string(static_cast<std::size_t>(bytes), 'x'));
            throw std::runtime_error("lost the connection");
        };
        CHECK_THROWS_WITH(bench.chain.wrap_tool(bench.context(id), seen, tool), "lost the connection");
        const auto stored = seen.take_stored();
        CHECK(stored.size() == (bytes > 1'000 ? 1 : 0));
        if (!stored.empty()) CHECK(bench.storage->get(stored[0].key) == std::string(9'000, 'x'));
        CHECK(seen.take()[0].text.starts_with("xx"));
    }
}

TEST_CASE("media in a stream pass through, in order, behind its text", "[truncation]") {
    Bench bench({.max_length_for_trunc = 1'000});
    const Part sound{.kind = PartKind::media, .media = {.mime = "audio/wav", .bytes = "A"}};
    const Part other{.kind = PartKind::media, .media = {.mime = "audio/wav", .bytes = "B"}};
    CollectingSink seen;
    bench.chain.wrap_tool(bench.context("a"), seen, [&](const ToolContext&, PartSink& out) {
        out.write(std::string(5'000, 'x'));
        out.push(sound);
        out.push(other);
        return ToolOutcome{};
    });
    const std::vector<Part> parts = seen.take();
    REQUIRE(parts.size() == 3);
    CHECK(parts[0].text.size() < 2'000);
    CHECK(parts[1] == sound);
    CHECK(parts[2] == other);
    CHECK(bench.storage->get("conv/trunc/a") == std::string(5'000, 'x'));
}

TEST_CASE("texts that are written and pushed in turn share the limit and get an object each", "[truncation]") {
    WITH_EACH_MESSAGE_TYPE_THAT(type, keeps_texts);
    const Bench bench = Bench::of(type, {.max_length_for_trunc = 2'000});
    const ToolContext call = bench.context("a");
    CollectingSink seen;
    ToolOutcome outcome = bench.chain.wrap_tool(call, seen, [&](const ToolContext&, PartSink& out) {
        out.push({.text = std::string(3'000, 'p')});
        out.write(std::string(4'000, 'w'));
        out.push({.text = "short"});
        return ToolOutcome{};
    });
    const ToolReturn back = collect_tool_return(call, seen, std::move(outcome));
    REQUIRE(back.result.parts.size() == 3);
    CHECK(back.result.parts[2].text == "short");
    AnyConversation c = bench.push(back);
    REQUIRE(c.undo());
    CHECK(c.message(c.size() - 1).parts[0].text == std::string(3'000, 'p'));
    CHECK(c.message(c.size() - 1).parts[1].text == std::string(4'000, 'w'));
}

TEST_CASE("a stream of exactly the limit is unchanged, like the whole result", "[truncation]") {
    Bench bench({.max_length_for_trunc = 5'000});
    CHECK(bench.run_text("a", std::string(5'000, 'x'), true).result.parts[0].text == std::string(5'000, 'x'));
    CHECK(bench.keys().empty());
}

TEST_CASE("what another truncation shortened is passed on, never stored as an original", "[truncation]") {
    const auto storage = memory_storage();
    const auto shorten = [](std::int64_t bytes) { return ReductionConfig{.max_length_for_trunc = bytes}; };
    for (const bool streams : {false, true}) {
        const AnyChain chain(*message_types().front(), ChainConfig{.storage = storage},
                             std::vector<AnyStage>{{.config = shorten(1'000), .name = "outer"},
                                                   {.config = shorten(3'000), .name = "inner"}});
        Bench helper(shorten(1));
        CollectingSink seen;
        const ToolContext call = helper.context(streams ? "s" : "p");
        ToolContext own = call;
        own.storage = storage;
        chain.wrap_tool(own, seen, [&](const ToolContext&, PartSink& out) {
            const std::string whole(9'000, 'x');
            streams ? out.write(whole) : out.push({.text = whole});
            return ToolOutcome{};
        });
        const auto stored = seen.take_stored();
        REQUIRE(stored.size() == 1);
        CHECK(stored[0].by == "inner");
        CHECK(storage->get(stored[0].key) == std::string(9'000, 'x'));
    }
    CHECK(keys_in(*storage).size() == 2);
}
