// Counts allocations of this thread: a chain that is not due makes none.
#include "support/catch.hpp"
#include "whittle/reduction/reduction.hpp"

#include <cstdlib>
#include <new>
#include <string>

namespace {
thread_local std::size_t allocations = 0;
}

[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace whittle;

TEST_CASE("a hook that is not due, and one that remembers a plan too small, allocate nothing", "[chain][allocations]") {
    Conversation<> c("alloc");
    c.push_back(ChatMessage::user("do"));
    for (int i = 0; i < 20; ++i) {
        c.push_back(ChatMessage::assistant("").call("c" + std::to_string(i), "read"));
        c.push_back(ChatMessage::result("c" + std::to_string(i), "read", std::string(500, 'x')));
    }
    ReductionConfig config{.skip_truncation = true};
    Outcome expected = Outcome::not_due;
    SECTION("not due") {}
    SECTION("cooling down") {
        config.max_tokens_for_clear = 100;
        config.clear_at_least_tokens = 1'000'000;
        expected = Outcome::cooling_down;
    }
    const std::vector<ToolSpec> tools{{.name = "read_file"}};
    const Chain chain{ChainConfig{.storage = memory_storage(), .dry_run = GENERATE(false, true)}, Reduction<>{config}};
    const HookRequest<> request{.tools = tools, .system = "be helpful"};
    for (int warm_up = 0; warm_up < 2; ++warm_up) chain.before_model(c, request);
    const std::size_t before = allocations;
    const Report& report = chain.before_model(c, request);
    const std::size_t made = allocations - before;
    CHECK(report.stages.front().outcome == expected);
    CHECK(made == 0);
    CHECK(before > 0);
}

TEST_CASE("clearing allocates for what it keeps, not for what it looks at", "[chain][allocations]") {
    constexpr std::size_t results = 500;
    Conversation<> c("alloc");
    c.push_back(ChatMessage::user("do"));
    for (std::size_t i = 0; i < results; ++i) {
        const std::string id = "call_" + std::to_string(i);
        c.push_back(ChatMessage::assistant("").call(id, "read"));
        c.push_back(ChatMessage::result(id, "read", std::string(2'000, 'x')));
    }
    ReductionConfig config{.skip_truncation = true, .max_tokens_for_clear = 100};
    const Chain chain{ChainConfig{.storage = memory_storage()}, Reduction<>{config}};
    static_cast<void>(c.tokens(chain.config().token_counter));
    const std::size_t before = allocations;
    chain.before_model(c);
    const std::size_t made = allocations - before;
    CHECK(c.objects()->size() == results - 1);
    CHECK(made < 30 * results);  // compilers differ by two or three
}
