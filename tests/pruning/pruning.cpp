// Pruning<M>: which results go (T9), and how they come back.
#include "pruning_talk.hpp"
#include "support/catch.hpp"
#include "support/faulty_storage.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

TEST_CASE("only results in front of the n-th last user turn are pruned, those of skills never", "[pruning]") {
    const auto [turns, expected] = GENERATE(table<int, Indices>({{0, {2, 7}}, {1, {2, 7}}, {2, {2}}, {3, {}}}));
    CAPTURE(turns);
    Conversation c = example();
    const auto before = std::vector(c.messages().begin(), c.messages().end());
    prune(c, {.skip_boundary_turns = turns});
    CHECK(pruned(c) == expected);
    for (std::size_t i = 0; i < c.size(); ++i) {
        if (std::ranges::find(expected, i) == expected.end()) CHECK(c.messages()[i] == before[i]);
    }
}

TEST_CASE("with fewer user turns than the boundary asks for nothing is pruned", "[pruning]") {
    const int turns = GENERATE(0, 1, 2, 3);
    const int boundary = GENERATE(0, 1, 2, 3);
    CAPTURE(turns, boundary);
    Conversation c = talk(turns);
    prune(c, {.skip_boundary_turns = boundary});
    Indices expected;
    for (int i = 0; i < (boundary == 0 ? turns : turns - boundary); ++i)
        expected.push_back(static_cast<std::size_t>(2 + 3 * i));
    CHECK(pruned(c) == expected);
}

TEST_CASE("if only the current turn is to be protected, a short talk is pruned up to its newest user turn",
          "[pruning]") {
    const auto [turns, expected] = GENERATE(table<int, Indices>({{0, {}}, {1, {}}, {2, {2}}, {3, {2}}}));
    Conversation c = talk(turns);
    prune(c, {.skip_boundary_turns = turns == 3 ? 2 : 4, .protect_current_turn_only = true});
    CHECK(pruned(c) == expected);
}

TEST_CASE("two user messages of one turn are one user turn", "[pruning]") {
    Conversation<> c("conv");
    for (int turn = 0; turn < 3; ++turn) {
        c.begin_turn();
        c.push_back(ChatMessage::user("go on"));
        c.push_back(ChatMessage::user("and hurry"));
        add_round(c, "c" + std::to_string(turn), "read_file");
    }
    prune(c, {.skip_boundary_turns = 2});
    CHECK(pruned(c) == Indices{3});
}

TEST_CASE("a nudge and a summary are no user turns", "[pruning]") {
    const Origin origin = GENERATE(Origin::nudge, Origin::summary, Origin::skills);
    Conversation c = talk(3);
    c.mark(6, {.origin = origin, .by = "other"});
    prune(c, {.skip_boundary_turns = 2});
    CHECK(pruned(c).empty());
}

TEST_CASE("the open round stays whatever the boundary", "[pruning]") {
    Conversation c = talk(1);
    c.push_back(ChatMessage::user("next"));
    add_round(c, "open", "read_file");
    prune(c, {.skip_boundary_turns = 0});
    CHECK(pruned(c) == Indices{2});
    c.push_back(ChatMessage::assistant("seen"));
    prune(c, {.skip_boundary_turns = 0});
    CHECK(pruned(c) == Indices{2, 6});
}

TEST_CASE("tools are protected by name, qualified or not, by the chain and by the stage", "[pruning]") {
    const std::string tool = GENERATE("memory_store", "mcp__db__memory_store");
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("do"));
    add_round(c, "a", tool);
    add_round(c, "b", "read_file");
    c.push_back(ChatMessage::assistant("done"));
    const bool by_chain = GENERATE(true, false);
    PruningConfig config{.skip_boundary_turns = 0};
    ChainConfig chain;
    (by_chain ? chain.protected_tools : config.protected_tools) = {"memory_store"};
    prune(c, config, chain);
    CHECK(pruned(c) == Indices{4});
}

TEST_CASE("a predicate protects by tool, arguments, size and provenance", "[pruning]") {
    Conversation c = talk(2);
    std::vector<std::string> seen;
    prune(c, {.protect =
                  [&](const PruningDetail& detail) {
                      CHECK(detail.conversation_id == "conv");
                      CHECK(detail.key_safe_call_id == (seen.empty() ? "c1" : "c0"));
                      CHECK(detail.round_serial == c.outline()[seen.empty() ? 4 : 1].serial);
                      seen.push_back(std::string(detail.tool) + " " + std::string(detail.arguments) + " " +
                                     std::to_string(detail.result_bytes) +
                                     (detail.provenance == nullptr ? " original" : ""));
                      return detail.arguments.find("c0.cpp") != std::string_view::npos;
                  },
              .skip_boundary_turns = 0});
    CHECK(pruned(c) == Indices{5});
    CHECK(seen == std::vector<std::string>{R"(read_file {"path":"src/c1.cpp"} 2013 original)",
                                           R"(read_file {"path":"src/c0.cpp"} 2013 original)"});
}

TEST_CASE("failed results are evidence and stay, unless they are asked for", "[pruning]") {
    const bool prune_failed = GENERATE(false, true);
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("do"));
    add_round(c, "a", "build", true);
    add_round(c, "b", "build");
    c.push_back(ChatMessage::assistant("done"));
    prune(c, {.skip_boundary_turns = 0, .prune_failed_results = prune_failed});
    CHECK(pruned(c) == (prune_failed ? Indices{2, 4} : Indices{4}));
}

TEST_CASE("pinned results stay", "[pruning]") {
    Conversation c = talk(2);
    REQUIRE(c.pin(c.outline()[2].serial));
    prune(c, {.skip_boundary_turns = 0});
    CHECK(pruned(c) == Indices{5});
}

TEST_CASE("the newest results stay up to their budget, protected ones not counted", "[pruning]") {
    Conversation c = talk(4);
    add_round(c, "s", "skill");
    c.push_back(ChatMessage::assistant("done"));
    const std::int64_t one = 2'013 / 4;  // tokens of a result
    const auto [budget, expected] = GENERATE_COPY(table<std::int64_t, Indices>(
        {{0, {2, 5, 8, 11}}, {one, {2, 5, 8}}, {2 * one - 1, {2, 5, 8}}, {2 * one, {2, 5}}, {4 * one, {}}}));
    prune(c, {.skip_boundary_turns = 0, .protect_newest_tokens = budget});
    CHECK(pruned(c) == expected);
}

TEST_CASE("below the minimum gain nothing is pruned", "[pruning]") {
    Conversation c = talk(4);
    Conversation copy = c.fork("copy");
    prune(copy, {.skip_boundary_turns = 0});
    const std::int64_t gain = c.tokens(chars_counter()) - copy.tokens(chars_counter());
    REQUIRE(gain > 1'000);
    prune(c, {.skip_boundary_turns = 0, .minimum_gain_tokens = gain + 1});
    CHECK(pruned(c).empty());
    Conversation other = talk(4);
    prune(other, {.skip_boundary_turns = 0, .minimum_gain_tokens = gain});
    CHECK(pruned(other).size() == 4);
}

TEST_CASE("the budget form keeps 40'000 tokens and acts from 20'000 on", "[pruning]") {
    const auto with = [](int results) {
        Conversation<> c("conv");
        for (int i = 0; i < results; ++i) {
            c.push_back(ChatMessage::user("go on"));
            c.push_back(ChatMessage::assistant().call("c" + std::to_string(i), "read_file"));
            c.push_back(ChatMessage::result("c" + std::to_string(i), "read_file", std::string(40'000, 'x')));
        }
        prune(c, budget_pruning());
        return pruned(c);
    };
    CHECK(budget_pruning().skip_boundary_turns == 2);
    CHECK(with(2 + 4 + 2).empty());  // 4 results of 10'000 stay, 2 beyond are just below 20'000 net
    CHECK(with(2 + 4 + 3) == Indices{2, 5, 8});
}

TEST_CASE("what would not get smaller stays", "[pruning]") {
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("do"));
    c.push_back(ChatMessage::assistant().call("a", "touch"));
    c.push_back(ChatMessage::result("a", "touch", "ok"));
    c.push_back(ChatMessage::assistant("done"));
    CHECK(outcome(prune(c, {.skip_boundary_turns = 0})) == Outcome::nothing);
    CHECK(text(c, 2) == "ok");
}

TEST_CASE("every pruned result comes back by undo, from the store or the journal", "[pruning]") {
    const bool with_storage = GENERATE(true, false);
    Conversation c = talk(4);
    const auto before = std::vector(c.messages().begin(), c.messages().end());
    prune(c, {.skip_boundary_turns = 0}, ChainConfig{.storage = with_storage ? memory_storage() : nullptr});
    REQUIRE(pruned(c).size() == 4);
    REQUIRE(c.undo());
    CHECK(std::vector(c.messages().begin(), c.messages().end()) == before);
    prune(c, {.skip_boundary_turns = 0});
    CHECK(pruned(c).empty());  // what was brought back is pinned
}

TEST_CASE("one result alone comes back by restore", "[pruning]") {
    Conversation c = talk(4);
    prune(c, {.skip_boundary_turns = 0}, ChainConfig{.storage = memory_storage()});
    c.restore_and_pin(c.outline()[5].serial);
    CHECK(text(c, 5) == output("c1"));
    CHECK(pruned(c) == Indices{2, 8, 11});
}

TEST_CASE("the stage's own store is taken instead of the chain's", "[pruning]") {
    Conversation c = example();
    const auto own = memory_storage();
    const auto chains = memory_storage();
    prune(c, {.storage = own}, ChainConfig{.storage = chains});
    const std::string key = pruned_key("conv", "a", output("a"));
    CHECK(own->get(key) == output("a"));
    CHECK_FALSE(chains->get(key));
}

TEST_CASE("a store that refuses one result keeps that one whole, and it is tried again", "[pruning]") {
    Conversation c = talk(3);
    const auto storage = std::make_shared<FaultyStorage>(memory_storage(), 2);
    const Chain<> chain{ChainConfig{.storage = storage}, Pruning<>{{.skip_boundary_turns = 0}}};
    chain.before_model(c);
    CHECK(pruned(c) == Indices{2, 8});
    chain.before_model(c);
    CHECK(pruned(c) == Indices{2, 5, 8});
}

TEST_CASE("a repeat changes nothing", "[pruning]") {
    Conversation c = talk(4);
    const Chain<> chain{ChainConfig{.storage = memory_storage()}, Pruning<>{{.skip_boundary_turns = 1}}};
    REQUIRE(outcome(chain.before_model(c)) == Outcome::committed);
    const std::uint64_t version = c.version();
    CHECK(outcome(chain.before_model(c)) == Outcome::not_due);
    const Chain<> fresh{ChainConfig{.storage = memory_storage()}, Pruning<>{{.skip_boundary_turns = 1}}};
    CHECK(outcome(fresh.before_model(c)) == Outcome::not_due);
    c.notes("pruning").erase("seen_up_to");
    CHECK(outcome(chain.before_model(c)) == Outcome::nothing);
    CHECK(c.version() == version);
}

TEST_CASE("inside a turn old results are looked at once, not at every call", "[pruning]") {
    Conversation c = talk(3);
    int asked = 0;
    const Chain<> chain{ChainConfig{}, Pruning<>{{.protect = [&](const PruningDetail&) {
                            ++asked;
                            return true;
                        }}}};
    for (int call = 0; call < 5; ++call) {
        chain.before_model(c);
        add_round(c, "more" + std::to_string(call), "run");
    }
    CHECK(asked == 1);
    c.push_back(ChatMessage::assistant("done"));
    c.push_back(ChatMessage::user("next"));
    chain.before_model(c);
    CHECK(asked == 1 + 2);
}

TEST_CASE("a dry run plans and writes nothing", "[pruning]") {
    Conversation c = example();
    const auto storage = memory_storage();
    const Report& report = prune(c, {}, ChainConfig{.storage = storage, .dry_run = true, .explain = true});
    CHECK(outcome(report) == Outcome::planned);
    CHECK(pruned(c).empty());
    std::vector<std::string> rules;
    for (const Candidate& candidate : report.find("pruning")->details->candidates) rules.emplace_back(candidate.rule);
    CHECK(rules == std::vector<std::string>{"skip_boundary", "protected_tool", "old_output"});
    CHECK_FALSE(storage->stat(pruned_key("conv", "a", output("a"))));
}

TEST_CASE("too large a request is pruned however little that frees, but not behind the boundary", "[pruning]") {
    Conversation c = talk(4);
    const Chain<> chain{ChainConfig{}, Pruning<>{budget_pruning()}};
    chain.before_model(c);
    REQUIRE(pruned(c).empty());
    CHECK(chain.on_overflow(c, {}));
    CHECK(pruned(c) == Indices{2, 5});
    CHECK_FALSE(chain.on_overflow(c, {}));
}

TEST_CASE("a prompt-cache mark can stand in front of the oldest result that may go", "[pruning]") {
    Conversation c = example();
    const Pruning<> pruning{{.protected_tools = {"skill"}}};
    CHECK(pruning.expected_stable_prefix(c) == 2);
    Conversation copy = c.fork("copy");
    prune(copy);
    CHECK(pruning.expected_stable_prefix(copy) == 7);
}

TEST_CASE("settings that are out of range are all named", "[pruning]") {
    const PruningConfig bad{.skip_boundary_turns = -1,
                            .protect_newest_tokens = -1,
                            .minimum_gain_tokens = -1,
                            .placeholder = " \n",
                            .partial = true,
                            .head_bytes = 0,
                            .tail_bytes = 0};
    try {
        Chain<>(ChainConfig{}, Pruning<>(bad));
        FAIL("nothing was thrown");
    } catch (const Error& error) {
        const std::string what = error.what();
        for (const char* field : {"pruning.skip_boundary_turns", "pruning.protect_newest_tokens",
                                  "pruning.minimum_gain_tokens", "pruning.placeholder", "pruning.partial"})
            CHECK(what.find(field) != std::string::npos);
    }
}

TEST_CASE("a store that no tool reads is warned of", "[pruning]") {
    std::string warnings;
    const Chain<> listening{ChainConfig{.storage = memory_storage()},
                            ChainCallbacks<>{.on_event = [&](const Event& e) { warnings += e.text; }}, Pruning<>()};
    Conversation c = example();
    listening.before_model(c, {.tools = std::vector<ToolSpec>{{.name = "run"}}});
    CHECK(warnings.find("pruning.storage") != std::string::npos);
}
