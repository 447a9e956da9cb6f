// An allocation fails at the n-th call, for every n, until the operation gets through.
#include "support/catch.hpp"
#include "support/failing_alloc.hpp"
#include "support/laws_world.hpp"
#include "whittle/reduction/reduction.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

template <typename M>
std::vector<M> one(const ChatMessage& m) {
    return Builder<M>::build(m);
}

/// Five closed rounds and an open one.
template <typename M>
World<M> rounds(OnError on_error = OnError::propagate) {
    const Subject<M> subject{[] {
        ReductionConfig config{.skip_truncation = true, .max_tokens_for_clear = 200};
        return Stages<M>{std::make_shared<Reduction<M>>(std::move(config))};
    }};
    World<M> world(subject, {.on_error = on_error});
    for (const M& m : one<M>(ChatMessage::user("go"))) world.push(m);
    for (int i = 0; i < 6; ++i) {
        const std::string id = "call_" + std::to_string(i);
        for (const M& m : one<M>(ChatMessage::assistant("look").call(id, "read")))
            world.push(m, Usage{.uncached_input = 5'000});
        if (i < 5) {
            for (const M& m : one<M>(ChatMessage::result(id, "read", std::string(700, 'r')))) world.push(m);
        }
    }
    (void)world.conversation.context(world.chain.config().token_counter, "be brief", law_tools());
    return world;
}

template <typename M>
using Act = std::function<void(World<M>&)>;

/// `act` throws, or swallows, the failure: in the first case nothing has changed. The second attempt has the same
/// messages as a run without a failure, and after a clean failure the same everything. `repeats`: what lost a store
/// write is left out of a commit, and the next attempt takes it.
template <typename M>
void sweep(const std::function<World<M>()>& make, const Act<M>& act, bool repeats = false) {
    World<M> undisturbed = make();
    act(undisturbed);
    for (const AllocationFailure how : {AllocationFailure::once, AllocationFailure::for_good}) {
        bool is_reached = true;
        for (std::int64_t n = 1; is_reached; ++n) {
            World<M> world = make();
            const std::string before = snapshot(world.conversation);
            bool has_thrown = false;
            {
                const FailingAllocation failing(n, how);
                try {
                    act(world);
                } catch (const std::exception&) {
                    has_thrown = true;
                }
                is_reached = FailingAllocation::has_failed();
            }
            INFO("allocation " << n << (how == AllocationFailure::once ? "" : " and all later ones"));
            const std::string after = snapshot(world.conversation);
            if (has_thrown) REQUIRE(difference(before, after).empty());
            if (has_thrown || repeats || after == before) act(world);
            // Without any memory an object name may stay taken; then the next one gets a number.
            const bool is_exact = has_thrown && how == AllocationFailure::once;
            if (is_exact) REQUIRE(difference(snapshot(undisturbed.conversation), snapshot(world.conversation)).empty());
            const bool is_same =
                all_bytes(world.conversation.messages()) == all_bytes(undisturbed.conversation.messages());
            REQUIRE(is_same);
            REQUIRE(world.conversation.tokens(world.chain.config().token_counter) ==
                    undisturbed.conversation.tokens(world.chain.config().token_counter));
        }
    }
}

/// On a type whose traits use no JSON library: nlohmann's destructors allocate, and end the program if they cannot.
template <typename Test>
void on_tool_types(Test test) {
    test(Type<StepMessage>{});
}

}  // namespace

TEST_CASE("clearing under propagate leaves the conversation as it was, whichever allocation fails", "[sweep]") {
    on_tool_types([](auto type) {
        using M = typename decltype(type)::type;
        sweep<M>([] { return rounds<M>(); }, [](World<M>& world) { world.ask(); }, true);
    });
}

TEST_CASE("clearing under skip never throws for memory once the hook has begun, and clears at the next try",
          "[sweep]") {
    on_tool_types([](auto type) {
        using M = typename decltype(type)::type;
        sweep<M>([] { return rounds<M>(OnError::skip); }, [](World<M>& world) { world.ask(); }, true);
    });
}

TEST_CASE("appending leaves the conversation as it was, whichever allocation fails", "[sweep]") {
    on_tool_types([](auto type) {
        using M = typename decltype(type)::type;
        const M reply = one<M>(ChatMessage::assistant("again").call("call_0", "read").call("call_0", "read")).front();
        sweep<M>([] { return rounds<M>(); },
                 [&](World<M>& world) { world.conversation.push_back(reply, Usage{.uncached_input = 900}); });
    });
}

TEST_CASE("tool results come in all or not at all, whichever allocation fails", "[sweep]") {
    on_tool_types([](auto type) {
        using M = typename decltype(type)::type;
        const auto make = [] {
            World<M> world = rounds<M>();
            world.storage->put_if_absent("laws/tool/call_5", std::string(5'000, 'f'));
            return world;
        };
        std::vector<ToolReturn> returns(2);
        returns[0].result = {"call_5", "read", {Part{PartKind::text, "the start"}}};
        returns[1].result = {"stranger", "read", {Part{PartKind::text, "nobody asked"}}};
        sweep<M>(make, [&](World<M>& world) {
            std::vector<ToolReturn> stored = returns;
            stored[0].stored.push_back({0, "laws/tool/call_5", "reduction", world.storage});
            world.conversation.push_tool_results(stored);
        });
    });
}

TEST_CASE("undoing leaves the conversation as it was, whichever allocation fails", "[sweep]") {
    on_tool_types([](auto type) {
        using M = typename decltype(type)::type;
        const auto make = [] {
            World<M> world = rounds<M>();
            world.ask();
            REQUIRE(world.conversation.journal().size() == 1);
            return world;
        };
        sweep<M>(make, [](World<M>& world) { world.conversation.undo(); });
        sweep<M>(make,
                 [](World<M>& world) { world.conversation.restore_and_pin(world.conversation.outline()[2].serial); });
    });
}

TEST_CASE("following a host's list leaves the conversation as it was, whichever allocation fails", "[sweep]") {
    on_tool_types([](auto type) {
        using M = typename decltype(type)::type;
        std::vector<M> longer = rounds<M>().originals;
        for (const M& m : one<M>(ChatMessage::result("call_5", "read", "end"))) longer.push_back(m);
        for (const M& m : one<M>(ChatMessage::assistant("more").call("call_0", "read"))) longer.push_back(m);
        std::vector<M> other = longer;
        other[3] = one<M>(ChatMessage::assistant("otherwise").call("call_1", "read")).front();
        sweep<M>([] { return rounds<M>(); }, [&](World<M>& world) { world.conversation.sync(longer); });
        sweep<M>([] { return rounds<M>(); }, [&](World<M>& world) { world.conversation.sync(other); });
    });
}

TEST_CASE("a new counter counts the same after any allocation failed", "[sweep]") {
    const auto count = [](World<ChatMessage>& world) {
        (void)world.conversation.context(estimate_counter(), "system text", law_tools());
    };
    World<ChatMessage> undisturbed = rounds<ChatMessage>();
    const ContextCount expected = undisturbed.conversation.context(estimate_counter(), "system text", law_tools());
    bool is_reached = true;
    for (std::int64_t n = 1; is_reached; ++n) {
        World<ChatMessage> world = rounds<ChatMessage>();
        const std::string before = snapshot(world.conversation);
        {
            const FailingAllocation failing(n);
            try {
                count(world);
            } catch (const std::bad_alloc&) {
            }
            is_reached = FailingAllocation::has_failed();
        }
        const ContextCount again = world.conversation.context(estimate_counter(), "system text", law_tools());
        CHECK(again.total == expected.total);
        CHECK(again.estimate == expected.estimate);
        CHECK(snapshot(world.conversation) == before);
    }
}
