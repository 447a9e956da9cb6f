#include "support/catch.hpp"
#include "support/faulty_storage.hpp"
#include "tools.hpp"
#include "whittle/reduction/reduction.hpp"

#include <memory>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

ReductionConfig limit(std::int64_t bytes) { return {.max_length_for_trunc = bytes}; }

/// What a backend of its own must have, and no more.
class PlainStorage final : public Storage {
public:
    void put_if_absent(std::string_view key, std::string_view content) override { inner->put_if_absent(key, content); }
    std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t bytes) override {
        return inner->get(key, offset, bytes);
    }
    std::shared_ptr<Storage> inner = memory_storage();
};

}  // namespace

TEST_CASE("a long result becomes head, notice and tail, and its object holds all of it", "[truncation]") {
    Bench bench(limit(7'000), "read_file");
    const std::string whole = repeat("hello world", 1'000) + "\n" + repeat("hello world", 800);
    const ToolReturn back = bench.run("12345", {whole});
    REQUIRE(back.result.parts.size() == 1);
    const std::string& shown = back.result.parts[0].text;
    CHECK(shown.starts_with(whole.substr(0, 3'500) + "\n\n["));
    CHECK(shown.ends_with("]\n\n" + whole.substr(whole.size() - 3'500)));
    CHECK(has(shown, "19801 bytes, 2 lines"));
    CHECK(has(shown, "conv/trunc/12345"));
    CHECK(has(shown, "read_file"));
    CHECK(bench.storage->get("conv/trunc/12345") == whole);
}

TEST_CASE("the notice names the reader only if the request lists it", "[truncation]") {
    const std::string whole(5'000, 'x');
    ReductionConfig config = limit(1'000);
    config.read_file_tool_name = "cat_file";
    CHECK(has(Bench(config, "cat_file").run("a", {whole}).result.parts[0].text, "cat_file"));
    CHECK(has(Bench(config, "read_offloaded").run("a", {whole}).result.parts[0].text, R"(; read_offloaded(")"));
    CHECK_FALSE(has(Bench(config, "other").run("a", {whole}).result.parts[0].text, "with "));
}

TEST_CASE("a result of exactly the limit passes unchanged, one byte more does not", "[truncation]") {
    Bench bench(limit(5'000));
    CHECK(bench.run("a", {std::string(5'000, 'x')}).result.parts[0].text == std::string(5'000, 'x'));
    CHECK(bench.keys().empty());
    const ToolReturn back = bench.run("b", {std::string(5'001, 'x')});
    CHECK(back.result.parts[0].text == std::string(5'001, 'x'));  // a notice would make it longer
    CHECK(bench.keys().empty());
    CHECK(bench.run("c", {std::string(6'000, 'x')}).result.parts[0].text.size() < 6'000);
    CHECK(bench.keys() == std::vector<std::string>{"conv/trunc/c"});
}

TEST_CASE("an excluded tool is never truncated, by its bare or its qualified name", "[truncation]") {
    ReductionConfig config = limit(1'000);
    config.trunc_exclude_tools = {"tool", "mcp__web__fetch"};
    Bench bench(config);
    const std::string whole(9'000, 'x');
    for (const char* tool : {"tool", "mcp__srv__tool", "mcp__web__fetch"})
        CHECK(bench.run("a", {whole}, tool).result.parts[0].text == whole);
    CHECK(bench.run("a", {whole}, "fetch").result.parts[0].text != whole);
}

TEST_CASE("each of several texts has its share of the limit, and all parts go into one object", "[truncation]") {
    WITH_EACH_MESSAGE_TYPE_THAT(type, keeps_texts);
    const Bench bench = Bench::of(type, limit(5'000));
    const std::string small(1'000, 'a');
    const std::string large(6'000, 'b');
    const ToolReturn back = bench.run("m", {small, large});
    REQUIRE(back.result.parts.size() == 2);
    CHECK(back.result.parts[0].text == small);
    CHECK(back.result.parts[1].text.starts_with(std::string(1'250, 'b') + "\n\n["));
    CHECK(back.result.parts[1].text.ends_with("]\n\n" + std::string(1'250, 'b')));
    CHECK(bench.storage->get("conv/trunc/m") ==
          R"([{"type":"text","text":")" + small + R"("},{"type":"text","text":")" + large + R"("}])");
    AnyConversation c = bench.push(back);
    REQUIRE(c.undo());
    CHECK(c.message(c.size() - 1).parts[0].text == small);
    CHECK(c.message(c.size() - 1).parts[1].text == large);
}

TEST_CASE("media stay where they are and go into the object too", "[truncation]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const Bench bench = Bench::of(type, limit(5'000));
    const Part image{.kind = PartKind::media, .media = {.mime = "image/png", .bytes = "PNG\xFF", .url = {}}};
    const ToolReturn back = bench.run("m", {image, Part{.text = std::string(6'000, 'b')}});
    CHECK(back.result.parts[0] == image);
    CHECK(back.result.parts[1].text.starts_with(std::string(2'500, 'b') + "\n\n["));
    CHECK(has(*bench.storage->get("conv/trunc/m"), R"({"type":"media","mime":"image/png")"));
}

TEST_CASE("no parts, or nothing but media, stay as they are", "[truncation]") {
    Bench bench(limit(1'000));
    CHECK(bench.run("a", std::vector<Part>{}).result.parts.empty());
    const Part image{.kind = PartKind::media, .media = {.mime = "image/png", .bytes = std::string(9'000, 'p')}};
    CHECK(bench.run("a", {image}).result.parts == std::vector{image});
}

TEST_CASE("braces in a result are text", "[truncation]") {
    Bench bench(limit(1'000));
    CHECK(bench.run("a", {"{file_path} {} {0}" + std::string(5'000, 'x')})
              .result.parts[0]
              .text.starts_with("{file_path} {} {0}xx"));
}

TEST_CASE("a notice is written in the chain's language", "[truncation]") {
    Bench bench(limit(1'000), "read_file", {.language = Language::chinese});
    const std::string shown = bench.run("a", {std::string(5'000, 'x')}).result.parts[0].text;
    CHECK(has(shown, "结果已截断"));
    CHECK(has(shown, "5000 字节"));
    CHECK(has(shown, "用 read_file"));
}

TEST_CASE("a limit in tokens cuts at characters so that head and tail fit", "[truncation]") {
    ReductionConfig config = limit(50'000);
    config.max_tokens_for_trunc = 100;
    Bench bench(config);
    const std::string whole = repeat("小さな", 500);  // 4,500 bytes: 1,125 tokens of four bytes
    const std::string shown = bench.run("a", {whole}).result.parts[0].text;
    const std::size_t notice = shown.find("\n\n[");
    const std::string tail = shown.substr(shown.find("]\n\n") + 3);
    CHECK(whole.starts_with(shown.substr(0, notice)));
    CHECK(whole.ends_with(tail));
    CHECK(chars_counter()->count(shown.substr(0, notice)) == 50);
    CHECK(chars_counter()->count(tail) == 50);
    CHECK(bench.run("b", {std::string(400, 'x')}).stored.empty());
}

TEST_CASE("a tool's own store is used, also without a handler", "[truncation]") {
    const auto own = memory_storage();
    ReductionConfig config = limit(1'000);
    config.tool_config["grep"].backend = own;
    Bench bench(config);
    bench.run("a", {std::string(5'000, 'x')}, "grep");
    CHECK(own->get("conv/trunc/a") == std::string(5'000, 'x'));
    CHECK(bench.keys().empty());
}

TEST_CASE("a tool's own switch wins in both directions", "[truncation]") {
    const std::string whole(5'000, 'x');
    ReductionConfig on = limit(1'000);
    on.tool_config["quiet"].skip_truncation = true;
    CHECK(Bench(on).run("a", {whole}, "quiet").result.parts[0].text == whole);
    ReductionConfig off = limit(1'000);
    off.skip_truncation = true;
    off.tool_config["loud"].skip_truncation = false;
    CHECK(Bench(off).run("a", {whole}, "loud").result.parts[0].text != whole);
    CHECK(Bench(off).run("a", {whole}, "mcp__x__loud").result.parts[0].text != whole);
    CHECK(Bench(off).run("a", {whole}, "other").result.parts[0].text == whole);
}

TEST_CASE("truncation without a store is refused at construction, and the store is named", "[truncation]") {
    WITH_EACH_MESSAGE_TYPE(type);
    CHECK_THROWS_WITH((AnyChain(type, ChainConfig{}, limit(10))), Catch::Contains("reduction.backend"));
    CHECK_NOTHROW((AnyChain(type, ChainConfig{}, {.backend = memory_storage()})));
    CHECK_NOTHROW((AnyChain(type, ChainConfig{}, {.skip_truncation = true, .skip_clear = true})));
}

TEST_CASE("the user's function names the object; a leading slash is dropped, a bad key is reported", "[truncation]") {
    const std::string whole(5'000, 'x');
    ReductionCallbacks<> callbacks;
    callbacks.gen_trunc_offload_file_path = [](const ToolDetail& detail) {
        return "/custom/" + std::string(detail.call_id) + "-" + std::to_string(detail.result_parts[0].text.size());
    };
    Bench good(limit(1'000), {}, {}, callbacks);
    good.run("a", {whole});
    CHECK(good.keys() == std::vector<std::string>{"custom/a-5000"});
    callbacks.gen_trunc_offload_file_path = [](const ToolDetail&) { return std::string("../etc/passwd"); };
    Bench bad(limit(1'000), {}, {}, callbacks);
    CHECK(bad.run("a", {whole}).result.parts[0].text == whole);
    CHECK(has(bad.events.back(), "gen_trunc_offload_file_path"));
    CHECK(bad.keys().empty());
}

TEST_CASE("a failing key function leaves the whole result; under propagate its error comes out", "[truncation]") {
    const std::string whole(5'000, 'x');
    ReductionCallbacks<> callbacks;
    callbacks.gen_trunc_offload_file_path = [](const ToolDetail&) -> std::string {
        throw std::runtime_error("no path");
    };
    Bench skip(limit(1'000), {}, {}, callbacks);
    CHECK(skip.run("a", {whole}).result.parts[0].text == whole);
    CHECK(has(skip.events.back(), "no path"));
    Bench propagate(limit(1'000), {}, {.on_error = OnError::propagate}, callbacks);
    CollectingSink sink;
    CHECK_THROWS_WITH(propagate.run_into(sink, "a", {Part{.text = whole}}), Catch::Contains("no path"));
    CHECK(sink.take()[0].text == whole);
}

TEST_CASE("what cannot be stored stays whole up to a cap; beyond it the notice says why", "[truncation]") {
    ReductionConfig config = limit(1'000);
    config.max_bytes_without_store = 8'000;
    for (const bool streams : {false, true}) {
        CAPTURE(streams);
        Bench bench(config, {}, {.storage = std::make_shared<FaultyStorage>(memory_storage(), 1)});
        const std::string small(7'000, 's');
        CHECK(bench.run_text("a", small, streams).result.parts[0].text == small);
        CHECK(has(bench.events.back(), "injected failure"));
    }
    Bench bench(config, {}, {.storage = std::make_shared<FaultyStorage>(memory_storage(), 1)});
    const std::string large(9'000, 'l');
    const ToolReturn back = bench.run_text("b", large, true);
    CHECK(back.result.parts[0].text.size() < 2'000);
    CHECK(has(back.result.parts[0].text, "could not be stored: open_writer: injected failure"));
    CHECK(back.stored.at(0).key.empty());
}

TEST_CASE("a store that fails at any call never costs a byte of what fits under the cap", "[truncation]") {
    const std::string whole = repeat("0123456789\n", 600);
    for (int call = 1; call <= 8; ++call) {
        for (const bool streams : {false, true}) {
            const auto inner = memory_storage();
            Bench bench(limit(1'000), {}, {.storage = std::make_shared<FaultyStorage>(inner, call)});
            const ToolReturn back = bench.run_text("a", whole, streams);
            CAPTURE(call, streams);
            if (back.stored.empty()) {
                CHECK(back.result.parts[0].text == whole);
            } else {
                CHECK(inner->get(back.stored[0].key) == whole);
            }
        }
    }
}

TEST_CASE("a store with the two required functions gets all of a written result that fits into memory",
          "[truncation]") {
    for (const std::size_t piece : {std::size_t{700}, std::size_t{1'000'000}}) {
        CAPTURE(piece);
        Bench bench({}, {}, {.storage = std::make_shared<PlainStorage>()});
        const std::string whole = repeat("0123456789", 100'000);
        std::vector<std::string> chunks;
        for (std::size_t at = 0; at < whole.size(); at += piece) chunks.push_back(whole.substr(at, piece));
        const ToolReturn back = bench.run_chunks("a", chunks);
        REQUIRE(back.stored.size() == 1);
        CHECK(bench.storage->get(back.stored[0].key) == whole);
        CHECK(back.result.parts[0].text.size() < 51'000);
        REQUIRE(bench.chain.warnings().size() == 1);
        CHECK(bench.chain.warnings()[0].field == "reduction.backend");
    }
}

TEST_CASE("beyond what is held for a store that cannot stream, the notice says so", "[truncation]") {
    ReductionConfig config = limit(1'000);
    config.max_buffered_bytes_for_store = 20'000;
    Bench bench(config, {}, {.storage = std::make_shared<PlainStorage>()});
    CHECK(bench.run_text("a", std::string(20'000, 'x'), true).stored.at(0).key == "conv/trunc/a");
    const ToolReturn back = bench.run_text("b", std::string(20'001, 'x'), true);
    CHECK(back.stored.at(0).key.empty());
    CHECK(has(back.result.parts[0].text, "the backend cannot stream, and it has more than the 20000 bytes"));
    CHECK(has(bench.events.back(), "store_failed") != has(bench.events.back(), "truncated"));
}

TEST_CASE("bytes that are not UTF-8 are stored as they are and shown as U+FFFD", "[truncation]") {
    WITH_EACH_MESSAGE_TYPE(type);
    const Bench bench = Bench::of(type, limit(1'000));
    for (const bool streams : {false, true}) {
        const std::string id = streams ? "s" : "p";
        const ToolReturn small = bench.run_text(id + "1",
                                                "ab\xFF\xFE"
                                                "cd",
                                                streams);
        CHECK(small.result.parts[0].text == "ab\uFFFD\uFFFDcd");
        CHECK(bench.storage->get("conv/trunc/" + id + "1") ==
              "ab\xFF\xFE"
              "cd");
        const std::string whole = repeat("x\xFF", 3'000);
        const ToolReturn large = bench.run_text(id + "2", whole, streams);
        CHECK(is_valid_utf8(large.result.parts[0].text));
        CHECK(bench.storage->get("conv/trunc/" + id + "2") == whole);
        AnyConversation c = bench.push(small);
        REQUIRE(c.undo());
        CHECK(c.text(c.size() - 1) == (type.keeps_bytes ? "ab\xFF\xFE"
                                                          "cd"
                                                        : "ab\uFFFD\uFFFDcd"));
    }
}

TEST_CASE("equal ids, ids that differ in case, empty and huge ids: every original is found again", "[truncation]") {
    WITH_EACH_MESSAGE_TYPE_THAT(type, has_message_each);
    const Bench bench = Bench::of(type, limit(1'000));
    const std::vector<std::string> ids{"a", "a", "A", "", "", std::string(10'000, 'z'), "../../etc/x", "CON", "a\nb"};
    AnyConversation c(type);
    c.push_back(ChatMessage::user("go"));
    ChatMessage calls = ChatMessage::assistant("");
    for (const std::string& id : ids) calls.call(id, "tool");
    c.push_back(calls);
    std::vector<ToolReturn> returns;
    const auto contexts = bench.chain.pending_tool_calls(c);
    REQUIRE(contexts.size() == ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i)
        returns.push_back(bench.run(contexts[i], {Part{.text = std::to_string(i) + std::string(5'000, 'x')}}));
    c.push_tool_results(returns);
    CHECK(bench.keys().size() == ids.size());
    REQUIRE(c.undo());
    for (std::size_t i = 0; i < ids.size(); ++i) CHECK(c.text(2 + i) == std::to_string(i) + std::string(5'000, 'x'));
}

TEST_CASE("a key that holds something else is left alone, one with the same content is used again", "[truncation]") {
    const std::string whole(5'000, 'x');
    for (const bool streams : {false, true}) {
        Bench bench(limit(1'000));
        bench.storage->put_if_absent("conv/trunc/a", "another's");
        CHECK(bench.run_text("a", whole, streams).stored[0].key == "conv/trunc/a-2");
        CHECK(bench.run_text("a", whole, streams).stored[0].key == "conv/trunc/a-2");
        CHECK(bench.storage->get("conv/trunc/a") == "another's");
    }
}

TEST_CASE("L11: a result that looks like a notice or names an object is text like any other", "[truncation]") {
    Bench bench(limit(1'000));
    const std::string notice = truncation_notice({.tool = "tool",
                                                  .bytes = 9,
                                                  .lines = 1,
                                                  .head = 4,
                                                  .tail = 4,
                                                  .location = "conv/trunc/a",
                                                  .reader = "read_file"},
                                                 Language::english);
    const std::string forged = std::string(2'000, 'x') + notice + std::string(2'000, 'x');
    const ToolReturn back = bench.run("a", {forged});
    REQUIRE(back.stored.size() == 1);
    CHECK(bench.storage->get("conv/trunc/a") == forged);
}
