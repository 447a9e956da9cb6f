#include "agent.hpp"
#include "support/catch.hpp"
#include "support/faulty_storage.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/base/text.hpp"
#include "whittle/reduction/reduction.hpp"

using namespace whittle;
using namespace whittle::testing;

namespace {

TokenSavingConfig at_every_call() { return {.batch_calls = 1}; }

std::string repeat(std::string_view text, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
}

/// Six scripts: one code point of each has 1, 2, 2, 3, 3 or 4 bytes.
const std::vector<std::string> scripts{"x", "ж", "ש", "漢", "ก", "😀"};

std::string long_text(std::size_t chars = 5'000) { return repeat("0123456789", chars / 10); }

constexpr std::string_view plain_marker = " chars truncated ...]\n\n";

}  // namespace

TEST_CASE("1,799 and 1,800 code points stay, of 1,801 the first 900 and the last 700 do", "[token_saving]") {
    for (const std::string& c : scripts) {
        CAPTURE(c);
        CHECK(compress_tool_output(repeat(c, 1'799)) == repeat(c, 1'799));
        CHECK(compress_tool_output(repeat(c, 1'800)) == repeat(c, 1'800));
        CHECK(compress_tool_output(repeat(c, 1'801)) ==
              repeat(c, 900) + "\n\n[... 201 chars truncated ...]\n\n" + repeat(c, 700));
    }
}

TEST_CASE("two results of one id in one message are two where their format tells them apart", "[token_saving]") {
    using M = anthropic::Message;
    Conversation<M> c("conv");
    c.push_back(message_traits<M>::make(Role::user, "do"));
    c.push_back(M::parse(R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{}},)"
                         R"({"type":"tool_use","id":"a","name":"ls","input":{}}]})"));
    const std::string block = R"({"type":"tool_result","tool_use_id":"a","content":")" + long_text() + "\"}";
    c.push_back(M::parse(R"({"role":"user","content":[)" + block + "," + block + "]}"));
    c.push_back(message_traits<M>::make(Role::assistant, "done"));
    c.push_back(message_traits<M>::make(Role::user, "more"));
    TokenSavingConfig config = at_every_call();
    config.keep_recent_tool_messages = 1;
    Chain<M>(ChainConfig{}, TokenSaving<M>(config)).before_model(c);
    CHECK(text_of(c.messages()[2], 0).find(plain_marker) != std::string::npos);
    CHECK(text_of(c.messages()[2], 1) == long_text());
}

TEST_CASE("head and tail are cut at their own places", "[token_saving]") {
    const std::string text = repeat("h", 900) + repeat("m", 4'000) + repeat("t", 700);
    CHECK(compress_tool_output(text) == repeat("h", 900) + "\n\n[... 4000 chars truncated ...]\n\n" + repeat("t", 700));
    CHECK(compress_tool_output("0123456789" + repeat("m", 100) + "abc", 50, 10, 3) ==
          "0123456789\n\n[... 100 chars truncated ...]\n\nabc");
    CHECK(compress_tool_output(repeat("m", 100), 50, 0, 0) == "\n\n[... 100 chars truncated ...]\n\n");
}

TEST_CASE("what was cut once comes back unchanged, whatever the sizes are", "[token_saving]") {
    const std::string text = repeat("漢字 and 😀 words, ", 300);
    for (const std::int64_t threshold : {60, 200, 1'000, 1'800}) {
        for (const std::int64_t head : {std::int64_t{0}, threshold / 2, threshold - 1}) {
            const std::int64_t tail = threshold - 1 - head;
            const std::string once = compress_tool_output(text, threshold, head, tail);
            CAPTURE(threshold, head, tail);
            CHECK(once.size() < text.size());
            CHECK(is_valid_utf8(once));
            CHECK(compress_tool_output(once, threshold, head, tail) == once);
        }
    }
}

TEST_CASE("a cut that would save nothing is not made", "[token_saving]") {
    const std::string text = repeat("x", 40);
    CHECK(compress_tool_output(text, 39, 20, 18) == text);
    for (std::size_t size = 0; size < 400; ++size) {
        const std::string input = repeat("ж", size);
        CHECK(count_code_points(compress_tool_output(input, 100, 60, 39)) <= static_cast<std::int64_t>(size));
    }
}

TEST_CASE("a cut splits no character, and bytes that are no UTF-8 count one by one", "[token_saving]") {
    const std::string mixed = repeat("aж漢😀", 1'000);
    for (std::int64_t head = 897; head < 901; ++head)
        CHECK(is_valid_utf8(compress_tool_output(mixed, 1'800, head, 700)));
    CHECK(count_code_points("\x80\x80\xFF") == 3);
    CHECK(count_code_points("\xED\xA0\x80") == 3);  // half of a surrogate pair
    CHECK(count_code_points("\xE0\x80\x80\xF4\x90\x80\x80") == 7);
    CHECK(count_code_points("\xE6\xBC") == 2);   // an unfinished character
    CHECK(count_code_points("e\xCC\x81") == 2);  // two code points, one character to a reader
    const std::string broken = repeat("\x80", 2'000);
    CHECK(compress_tool_output(broken) ==
          repeat("\x80", 900) + "\n\n[... 400" + std::string(plain_marker) + repeat("\x80", 700));
}

TEST_CASE("a cut splits no grapheme cluster: fewer code points stay, and the marker counts those too",
          "[token_saving]") {
    const std::string text = "0123456👩‍🚀" + repeat("m", 100) + "🇩🇪tail";
    CHECK(compress_tool_output(text, 50, 9, 5) == "0123456\n\n[... 105" + std::string(plain_marker) + "tail");
    CHECK(compress_tool_output(text, 50, 10, 6) ==
          "0123456👩‍🚀\n\n[... 100" + std::string(plain_marker) + "🇩🇪tail");
    for (const std::string unit : {"👩‍👩‍👧‍👦", "e\u0301\u0302", "🇩🇪", "\r\n", "क्षि", "각"}) {
        const std::string row = repeat(unit, 200);
        for (std::int64_t head = 20; head < 32; ++head) {
            const std::string once = compress_tool_output(row, 80, head, 79 - head);
            const std::size_t marker = once.find("\n\n[... ");
            const std::string tail = once.substr(once.find(plain_marker) + plain_marker.size());
            CAPTURE(unit, head);
            REQUIRE(marker % unit.size() == 0);
            REQUIRE(tail.size() % unit.size() == 0);
            REQUIRE(compress_tool_output(once, 80, head, 79 - head) == once);
        }
    }
    const std::string endless = "x" + repeat("\u0301", 5'000);  // one cluster: cut between code points
    CHECK(compress_tool_output(endless, 300, 200, 50).starts_with("x" + repeat("\u0301", 199) + "\n\n[... 4751"));
}

TEST_CASE("head and tail can be given in lines, within their chars", "[token_saving]") {
    const auto cut = [](const std::string& text, HeadTailLines lines) {
        return cut_to_head_and_tail(text, 60, 20, 20, {}, lines).value_or(text);
    };
    const std::string text = "one\ntwo\r\nthree\n" + repeat("m", 100) + "\nfour\nfive\n";
    CHECK(cut(text, {2, 1}) == "one\ntwo\r\n\n\n[... 112" + std::string(plain_marker) + "five\n");
    CHECK(cut(text, {1, 0}) == "one\n\n\n[... 102" + std::string(plain_marker) + "mmmmmmmmm\nfour\nfive\n");
    CHECK(cut(text, {9, 9}) == cut(text, {}));
    for (const std::int64_t lines : {1, 2, 3, 9})
        CHECK(cut(cut(text, {lines, lines}), {lines, lines}) == cut(text, {lines, lines}));
    TokenSavingConfig config = at_every_call();
    config.head_keep_lines = -1;
    config.tail_keep_lines = -1;
    CHECK_THROWS_WITH((Chain{ChainConfig{}, TokenSaving<>{config}}),
                      Catch::Contains("head_keep_lines") && Catch::Contains("tail_keep_lines"));
    config.head_keep_lines = 2;
    config.tail_keep_lines = 1;
    config.when = SavingTime::on_arrival;
    const Chain chain{ChainConfig{}, TokenSaving<>{config}};
    CollectingSink sink;
    const std::string whole = repeat("a line of some length\n", 200);
    chain.wrap_tool({.call_id = "a", .key_safe_call_id = "a", .tool = "t"}, sink,
                    [&](const ToolContext&, PartSink& out) {
                        out.push({.text = whole});
                        return ToolOutcome{};
                    });
    const std::string shown = sink.take()[0].text;
    CHECK(shown.starts_with(repeat("a line of some length\n", 2) + "\n\n[... "));
    CHECK(shown.ends_with(std::string(plain_marker) + "a line of some length\n"));
}

TEST_CASE("nonsense is refused when the chain is made, all of it at once", "[token_saving]") {
    TokenSavingConfig config{.compress_threshold_chars = 1'000, .keep_recent_tool_messages = -1};
    config.perplexity_recent_cutoff = 11;
    config.perplexity_keep_ratio_mid = 0.0;
    config.perplexity_keep_ratio_old = 1.5;
    config.batch_calls = 0;
    try {
        const Chain chain{ChainConfig{}, TokenSaving<>{config}};
        FAIL("it was accepted");
    } catch (const Error& error) {
        CHECK(error.errc() == Errc::invalid_config);
        for (const std::string field : {"head_keep_chars = 900 + tail_keep_chars 700", "keep_recent_tool_messages = -1",
                                        "perplexity_mid_cutoff = 10", "perplexity_keep_ratio_mid = 0",
                                        "perplexity_keep_ratio_old = 1.5", "batch_calls = 0"})
            CHECK_THAT(error.what(), Catch::Contains("token_saving." + field));
    }
    CHECK_NOTHROW(Chain{ChainConfig{}, TokenSaving<>{}});
}

TEST_CASE("a place before another middleware, and words without a classifier, are warned of", "[token_saving]") {
    TokenSavingConfig config;
    config.enable_perplexity_compression = true;
    const Chain chain{ChainConfig{}, TokenSaving<>{config}, Reduction<>{{.skip_truncation = true}}};
    std::vector<std::string> fields;
    for (const Problem& warning : chain.config_warnings())
        if (warning.field.starts_with("token_saving.")) fields.push_back(warning.field);
    CHECK(fields == std::vector<std::string>{"token_saving.enable_perplexity_compression", "token_saving.place"});
    CHECK(Chain{ChainConfig{}, TokenSaving<>{}}.config_warnings().empty());
}

TEST_CASE("of three long results the first is cut, of two none", "[token_saving]") {
    const auto stage = std::make_shared<TokenSaving<>>(at_every_call());
    const Chain<> chain{ChainConfig{}, {}, Chain<>::Stages{stage}};
    CHECK(stage->stats() == TokenSavingStats{});
    Conversation<> c = asked();
    drive(chain, c, {long_text(), long_text()});
    CHECK(stage->stats().compressions == 0);
    drive(chain, c, {long_text()});
    CHECK(text_at(c, 2) == compress_tool_output(long_text()));
    CHECK(text_at(c, 4) == long_text());
    CHECK(stage->stats() == TokenSavingStats{.compressions = 1, .chars_saved = 3'366, .replacements_emitted = 1});
    CHECK(stage->stats("conv") == stage->stats());
    CHECK(stage->stats("other") == TokenSavingStats{});
    chain.before_model(c);
    CHECK(stage->stats().compressions == 1);
    CHECK(stage->stats().replacements_emitted == 0);
}

TEST_CASE("with a store the original is kept and the marker says where and how to read it", "[token_saving]") {
    const auto language = GENERATE(Language::english, Language::chinese);
    const auto storage = memory_storage();
    const Chain chain{ChainConfig{.storage = storage, .language = language}, TokenSaving<>{at_every_call()}};
    Conversation<> c = asked();
    for (int i = 0; i < 3; ++i) add_step(c, long_text());
    const std::vector<ToolSpec> tools{{.name = "read_file"}};
    chain.before_model(c, {.tools = tools});
    CHECK(storage->get("conv/token_saving/c1") == long_text());
    CHECK_THAT(text_at(c, 2), Catch::Contains("conv/token_saving/c1"));
    CHECK_THAT(text_at(c, 2), Catch::Contains("read_file"));
    CHECK_THAT(text_at(c, 2), Catch::Contains(language == Language::english ? "3400 chars" : "3400 个字符"));
    CHECK(c.objects()->find("conv/token_saving/c1", storage).has_value());
    REQUIRE(c.undo());
    CHECK(text_at(c, 2) == long_text());
    chain.before_model(c, {.tools = tools});
    CHECK(text_at(c, 2) == long_text());  // restored texts are pinned
}

TEST_CASE("without a store the journal has the original", "[token_saving]") {
    const Chain chain{ChainConfig{}, TokenSaving<>{at_every_call()}};
    Conversation<> c = asked();
    drive(chain, c, {long_text(), "a", "b"});
    CHECK(text_at(c, 2) == compress_tool_output(long_text()));
    REQUIRE(c.undo());
    CHECK(text_at(c, 2) == long_text());
}

TEST_CASE("an own store is used instead of the chain's", "[token_saving]") {
    const auto own = memory_storage();
    const auto shared = memory_storage();
    TokenSavingConfig config = at_every_call();
    config.storage = own;
    Conversation<> c = asked();
    drive(Chain{ChainConfig{.storage = shared}, TokenSaving<>{config}}, c, {long_text(), "a", "b"});
    CHECK(own->get("conv/token_saving/c1") == long_text());
    CHECK_FALSE(shared->get("conv/token_saving/c1"));
}

TEST_CASE("a store that fails leaves the result whole, and the next call tries again", "[token_saving]") {
    const auto faulty = std::make_shared<FaultyStorage>(memory_storage(), 2);  // 1 is the look for a free name
    std::vector<std::string> told;
    const Chain chain{ChainConfig{.storage = faulty, .on_error = OnError::propagate},
                      ChainCallbacks<>{.on_event = [&](const Event& e) { told.emplace_back(e.kind); }},
                      TokenSaving<>{at_every_call()}};
    Conversation<> c = asked();
    for (int i = 0; i < 3; ++i) add_step(c, long_text());
    chain.before_model(c);
    CHECK(told == std::vector<std::string>{"store_failed"});
    CHECK(text_at(c, 2) == long_text());
    CHECK(c.report().find("token_saving")->outcome == Outcome::store_failed);
    chain.before_model(c);
    CHECK_THAT(text_at(c, 2), Catch::Contains("3400 chars truncated"));
}

TEST_CASE("results are cut in batches of ten model calls, not one at every call", "[token_saving]") {
    const Chain chain{ChainConfig{}, TokenSaving<>{}};
    Conversation<> c = asked();
    std::vector<int> changed_at;
    for (int call = 0; call < 35; ++call) {
        if (chain.before_model(c).changed()) changed_at.push_back(call);
        add_step(c, long_text());
    }
    CHECK(changed_at == std::vector<int>{10, 20, 30});
    std::size_t whole = 0;
    for (std::size_t i = 2; i < c.size(); i += 2) whole += text_at(c, i) == long_text() ? 1 : 0;
    CHECK(whole == 2 + 5);
}

TEST_CASE("a batch that was missed is made up for, with what was there when it was due", "[token_saving]") {
    const Chain chain{ChainConfig{}, TokenSaving<>{}};
    Conversation<> c = asked();
    for (int i = 0; i < 13; ++i) add_step(c, long_text());
    chain.before_model(c);
    CHECK(text_at(c, 2 * 8) != long_text());
    CHECK(text_at(c, 2 * 9) == long_text());
}

TEST_CASE("what is no result of a known call, pinned, protected or somebody else's stays", "[token_saving]") {
    Conversation<> c = asked();
    for (const std::string tool : {"run", "skill", "run", "run", "run", "run"}) add_step(c, long_text(), tool);
    c.pin(c.outline()[6].serial);
    c.mark(8, {.origin = Origin::placeholder, .by = "other", .reason = "clear"});
    const auto stages = Chain<>::Stages{std::make_shared<TokenSaving<>>(at_every_call())};
    const Chain<> chain{ChainConfig{.explain = true}, {}, stages};
    chain.before_model(c);
    std::vector<std::string> rules;
    for (const Candidate& candidate : c.report().find("token_saving")->details->candidates)
        rules.emplace_back(candidate.rule);
    CHECK(rules == std::vector<std::string>{"long_result", "protected_tool", "pinned", "other_middleware",
                                            "recent_result", "recent_result"});
    CHECK(text_at(c, 2) == compress_tool_output(long_text()));
    for (const std::size_t i : {4u, 6u, 8u}) CHECK(text_at(c, i) == long_text());

    Conversation<> without_id = asked("no-id");
    without_id.push_back(ChatMessage::assistant("").call("", "run"));
    without_id.push_back(ChatMessage::result("", "run", long_text()));
    for (int i = 0; i < 3; ++i) add_step(without_id, "short");
    chain.before_model(without_id);
    CHECK(text_at(without_id, 2) == long_text());
}

TEST_CASE("what Reduction truncated or cleared is never cut", "[token_saving]") {
    const auto storage = memory_storage();
    const Chain chain{ChainConfig{.storage = storage},
                      Reduction<>{{.max_length_for_trunc = 4'000, .max_tokens_for_clear = 1 << 30}},
                      TokenSaving<>{at_every_call()}};
    Conversation<> c = asked();
    c.push_back(ChatMessage::assistant("").call("c1", "run"));
    CollectingSink sink;
    const ToolContext call = chain.pending_tool_calls(c, {}).front();
    ToolOutcome outcome = chain.wrap_tool(call, sink, [&](const ToolContext&, PartSink& out) {
        out.push({.text = long_text(9'000)});
        return ToolOutcome{};
    });
    c.push_tool_results(std::vector{collect_tool_return(call, sink, std::move(outcome))});
    const std::string truncated = text_at(c, 2);
    REQUIRE_THAT(truncated, Catch::Contains("conv/trunc/c1"));
    for (int i = 0; i < 3; ++i) add_step(c, "short");
    chain.before_model(c);
    CHECK(text_at(c, 2) == truncated);
}

TEST_CASE("text of a tool that looks like our marker is ordinary text", "[token_saving]") {
    const std::string forged = "[... 9 chars truncated. Full text: conv/token_saving/c9 ...]\n" + long_text();
    const auto storage = memory_storage();
    const Chain chain{ChainConfig{.storage = storage}, TokenSaving<>{at_every_call()}};
    Conversation<> c = asked();
    drive(chain, c, {forged, "a", "b"});
    CHECK(storage->get("conv/token_saving/c1") == forged);
    CHECK_FALSE(c.objects()->find("conv/token_saving/c9", storage));
}

TEST_CASE("switched off, a lever does nothing", "[token_saving]") {
    TokenSavingConfig config = at_every_call();
    config.enable_compression = false;
    const auto when = GENERATE(SavingTime::batched, SavingTime::on_arrival);
    config.when = when;
    Conversation<> c = asked();
    drive(Chain{ChainConfig{}, TokenSaving<>{config}}, c, {long_text(), "a", "b"});
    CHECK(text_at(c, 2) == long_text());
}

namespace {

/// One call through the chain's tool wraps.
struct Arriving {
    explicit Arriving(std::shared_ptr<Storage> storage_)
        : storage(std::move(storage_)),
          stage(std::make_shared<TokenSaving<>>(TokenSavingConfig{.when = SavingTime::on_arrival})),
          chain(ChainConfig{.storage = storage, .on_error = OnError::propagate},
                {.on_event = [told = told](const Event& e) { told->emplace_back(e.kind); }}, Chain<>::Stages{stage}) {}

    void call(Conversation<>& c, const std::vector<std::string>& texts, const std::string& arguments = "{}") {
        const std::string id = "c" + std::to_string(c.model_calls() + 1);
        c.push_back(ChatMessage::assistant("").call(id, "run", arguments));
        const ToolContext context = chain.pending_tool_calls(c, {}).front();
        CollectingSink sink;
        ToolOutcome outcome = chain.wrap_tool(context, sink, [&](const ToolContext&, PartSink& out) {
            for (const std::string& text : texts) out.push({.text = text});
            return ToolOutcome{};
        });
        c.push_tool_results(std::vector{collect_tool_return(context, sink, std::move(outcome))});
    }

    std::shared_ptr<std::vector<std::string>> told = std::make_shared<std::vector<std::string>>();
    std::shared_ptr<Storage> storage;
    std::shared_ptr<TokenSaving<>> stage;
    Chain<> chain;
};

}  // namespace

TEST_CASE("on arrival a long result is cut before the model sees it, and undo brings it back", "[token_saving]") {
    Arriving agent(GENERATE(false, true) ? memory_storage() : nullptr);
    Conversation<> c = asked();
    agent.call(c, {long_text(), "short", long_text(3'000)});
    CHECK_THAT(text_at(c, 2, 0), Catch::Contains("3400 chars truncated"));
    CHECK(text_at(c, 2, 1) == "short");
    CHECK_THAT(text_at(c, 2, 2), Catch::Contains("1400 chars truncated"));
    CHECK(agent.stage->stats().compressions == 2);
    if (agent.storage) {
        CHECK(agent.storage->get("conv/token_saving/c1") == long_text());
        CHECK(agent.storage->get("conv/token_saving/c1-part3") == long_text(3'000));
    }
    while (c.undo()) {
    }
    CHECK(text_at(c, 2, 0) == long_text());
    CHECK(text_at(c, 2, 2) == long_text(3'000));
}

TEST_CASE("on arrival a result that shows a stored text again passes whole", "[token_saving]") {
    Arriving agent(memory_storage());
    Conversation<> c = asked();
    agent.call(c, {long_text()});
    agent.call(c, {long_text()}, R"({"path": {"at": "conv/token_saving/c1"}})");
    CHECK(text_at(c, 4) == long_text());
}

TEST_CASE("on arrival a failing tool's text gets out uncut, and so does its error", "[token_saving]") {
    Arriving agent(memory_storage());
    CollectingSink sink;
    const ToolContext context{
        .call_id = "c1", .key_safe_call_id = "c1", .conversation_id = "conv", .storage = agent.storage};
    CHECK_THROWS_AS(agent.chain.wrap_tool(context, sink,
                                          [&](const ToolContext&, PartSink& out) -> ToolOutcome {
                                              out.write(long_text());
                                              throw std::runtime_error("the tool");
                                          }),
                    std::runtime_error);
    CHECK(sink.take().front().text == long_text());
}

TEST_CASE("on arrival a store that fails leaves the result whole, also under propagate", "[token_saving]") {
    Arriving agent(std::make_shared<FaultyStorage>(memory_storage(), 2));
    Conversation<> c = asked();
    agent.call(c, {long_text()});
    CHECK(text_at(c, 2) == long_text());
    CHECK(agent.stage->stats().compressions == 0);
    CHECK(std::ranges::count(*agent.told, "store_failed") == 1);
}
