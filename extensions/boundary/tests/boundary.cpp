// Compiled as C++17: a runtime of that standard has a chain around its conversation, and sees nothing but strings.
#include "support/catch.hpp"

#include <whittle/boundary/boundary.hpp>

#include <string>
#include <system_error>
#include <utility>

static_assert(__cplusplus == 201703L, "the consumer is C++17");

namespace {

using whittle::boundary::Context;
using whittle::boundary::Options;

const char* const clearing = R"({"storage": {"type": "memory"},
                                 "middlewares": [{"type": "reduction", "max_length_for_trunc": 400,
                                                  "max_tokens_for_clear": 300}]})";

Context small_context() {
    Options options;
    options.config = clearing;
    options.id = "b";
    return Context(options);
}

std::string call(int number) {
    return R"({"role":"assistant","content":null,"x_mine":[1,2],"tool_calls":[{"id":"c)" + std::to_string(number) +
           R"(","type":"function","function":{"name":"read","arguments":"{}"}}]})";
}

std::size_t count(const std::string& text, const std::string& words) {
    std::size_t found = 0;
    for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++found;
    return found;
}

/// Six rounds with a long result each.
Context after_six_rounds() {
    Context context = small_context();
    context.push(R"({"role":"user","content":"Read all six."})");
    for (int round = 1; round <= 6; ++round) {
        context.push(call(round));
        context.reduce_and_push_result("c" + std::to_string(round),
                                       "needle-" + std::to_string(round) + std::string(3'000, 'x'));
    }
    return context;
}

}  // namespace

TEST_CASE("a result is shortened when it comes, and read back", "[boundary]") {
    Context context = small_context();
    context.push(R"({"role":"user","content":"Read."})");
    context.push(call(1));
    const std::string text = std::string(2'000, 'x') + "\nthe needle\n" + std::string(2'000, 'y');
    const std::string shown = context.reduce_and_push_result("c1", text);
    CHECK(shown.size() < 1'000);
    CHECK(shown.find("needle") == std::string::npos);
    CHECK(context.messages().find("the needle") == std::string::npos);
    CHECK(context.chain_tools().find("read_offloaded") != std::string::npos);
    const std::string page = context.call_chain_tool("read_offloaded", R"({"reference":"b/trunc/c1","grep":"needle"})");
    CHECK(page.find("the needle") != std::string::npos);
    CHECK_THROWS_AS(context.call_chain_tool("rm", "{}"), std::system_error);
}

TEST_CASE("a request stays small, every call keeps its result, and undo gives all back", "[boundary]") {
    Context context = after_six_rounds();
    const std::string whole = context.messages();
    const std::string request = context.prepare_messages();
    CHECK(request.size() < whole.size());
    CHECK(count(request, "\"tool_call_id\"") == 6);
    CHECK(count(request, "x_mine") == 6);
    CHECK(context.prepare_messages() == request);
    CHECK(context.messages() == request);
    CHECK(context.last_hook_report().find("\"changed\":false") != std::string::npos);
    while (context.undo_chain_edit()) continue;
    CHECK(count(context.messages(), std::string(3'000, 'x')) >= 6);
}

TEST_CASE("results may come in messages of the runtime's own", "[boundary]") {
    Context context = small_context();
    context.push(R"({"role":"user","content":"Read."})");
    context.push(call(1));
    context.push(R"({"role":"tool","tool_call_id":"c1","x_time":5,"content":")" + std::string(3'000, 'x') + "\"}");
    CHECK(context.messages().find("x_time") != std::string::npos);
    CHECK(context.messages().size() < 2'000);
}

TEST_CASE("a runtime sees the parts without JSON", "[boundary]") {
    Context context = small_context();
    context.push(R"({"role":"user","content":"Read."})");
    context.push(call(1));
    const std::string shown = context.reduce_and_push_result("c1", "line one\n\"two\"");
    std::string seen;
    context.for_each_part([&](const whittle::boundary::VisitedPart& part) {
        seen += std::to_string(part.message) + " " + std::string(part.role) + " " + std::string(part.kind) + " " +
                std::string(part.tool) + " " + std::string(part.call_id) + ": " + std::string(part.text) + ";";
    });
    CHECK(seen == "0 user text  : Read.;1 assistant tool_call read c1: {};2 tool tool_result read c1: " + shown + ";");
    CHECK(shown == "line one\n\"two\"");
}

TEST_CASE("a refused request is made smaller", "[boundary]") {
    Options options;
    options.config = R"({"storage": {"type": "memory"}, "middlewares": [{"type": "reduction",
                         "max_length_for_trunc": 100000, "max_tokens_for_clear": 1000000}]})";
    Context context(options);
    context.push(R"({"role":"user","content":"Read all."})");
    for (int round = 1; round <= 3; ++round) {
        context.push(call(round));
        context.reduce_and_push_result("c" + std::to_string(round), std::string(20'000, 'x'));
    }
    const std::string before = context.prepare_messages();
    CHECK(context.on_overflow(8'000, 15'000));
    CHECK(context.messages().size() < before.size());
}

TEST_CASE("what is wrong is refused with words, and changes nothing", "[boundary]") {
    Context context = after_six_rounds();
    const std::string before = context.messages();
    CHECK_THROWS_AS(context.push("no JSON"), std::system_error);
    CHECK_THROWS_AS(context.push("[]"), std::system_error);
    CHECK(context.messages() == before);
    Options options;
    options.config = R"({"middlewares": [{"type": "no such"}]})";
    std::string reported;
    try {
        const Context refused(options);
    } catch (const std::system_error& error) {
        reported = error.what();
    }
    CHECK(reported.find("no such") != std::string::npos);
    options.config = clearing;
    options.tools = R"([{"name":"read"}])";
    CHECK_THROWS_AS(Context(options), std::system_error);
}

TEST_CASE("a context moves with its conversation", "[boundary]") {
    Context context = after_six_rounds();
    const std::string before = context.messages();
    Context moved = std::move(context);
    CHECK(moved.messages() == before);
}
