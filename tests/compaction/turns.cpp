// Where turns begin, what stays, and what a summary stands for.
#include "whittle/compaction/detail/turns.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace whittle;

namespace {

/// A list as a plan sees it; `tokens` of each message are 10.
struct List {
    std::vector<MessageInfo> infos{};

    List& add(Role role, int turn, Serial group = 0) {
        MessageInfo info{.serial = infos.size() + 1, .role = role, .round_serial = group, .turn = turn};
        info.parts.push_back({.kind = role == Role::tool ? PartKind::tool_result : PartKind::text, .text_bytes = 40});
        infos.push_back(std::move(info));
        return *this;
    }
    List& summary(int turn, std::string by = "compaction") {
        add(Role::system, turn);
        infos.back().mark = std::make_shared<Provenance>(Provenance{.origin = Origin::summary, .by = std::move(by)});
        return *this;
    }
    /// A call, and its result in `result_turn`.
    List& round(int turn, int result_turn) {
        const Serial group = infos.size() + 1;
        return add(Role::assistant, turn, group).add(Role::tool, result_turn, group);
    }
    List& round(int turn) { return round(turn, turn); }
    /// A question and an answer.
    List& talk(int turn) { return add(Role::user, turn).add(Role::assistant, turn); }

    [[nodiscard]] Outline outline() const { return Outline(std::span(infos)); }
    [[nodiscard]] TurnLayout layout(std::optional<int> keep_rounds = std::nullopt) const {
        return layout_of(outline(), "compaction", keep_rounds);
    }
    [[nodiscard]] TurnPlan plan(const TurnBudget& budget, std::vector<std::size_t> pinned = {},
                                std::optional<int> keep_rounds = std::nullopt) const {
        const std::vector<std::int64_t> tokens(infos.size(), 10);
        return plan_turns(outline(), tokens, layout(keep_rounds), budget, "compaction",
                          [&](std::size_t i) { return std::ranges::count(pinned, i) > 0; });
    }
};

using Indices = std::vector<std::size_t>;

/// Room for that much beside the current turn.
TurnBudget room_for(std::int64_t tokens) { return {.threshold = 10'000, .target = tokens, .summary = 8, .frame = 2}; }

}  // namespace

TEST_CASE("the current turn is the latest number with everything behind it", "[compaction]") {
    const List list = List().add(Role::system, 0).talk(1).talk(2).talk(3).round(0);
    CHECK(list.layout().prefix == 1);
    CHECK(list.layout().current == 5);
    CHECK(list.layout().kept_from == 5);
}

TEST_CASE("without any number the current turn starts at the newest user message", "[compaction]") {
    CHECK(List().add(Role::system, 0).talk(0).talk(0).round(0).layout().current == 3);
    CHECK(List().add(Role::system, 0).round(0).round(0).layout().current == 5);
}

TEST_CASE("leading system texts are the prefix, our own summary is not", "[compaction]") {
    CHECK(List().add(Role::system, 0).add(Role::system, 0).summary(1).talk(2).layout().prefix == 2);
    CHECK(List().summary(1, "another").summary(1).talk(2).layout().prefix == 1);
    CHECK(List().summary(1).add(Role::system, 0).talk(2).layout().prefix == 0);
    CHECK(List().add(Role::system, 0).layout().kept_from == 1);
    CHECK(List().layout().kept_from == 0);
}

TEST_CASE("a round that reaches into the current turn belongs to it", "[compaction]") {
    const List list = List().talk(1).round(1, 2).talk(2);
    CHECK(list.layout().current == 2);
}

TEST_CASE("only the newest rounds of the current turn stay, as many as are named", "[compaction]") {
    const List list = List().talk(1).add(Role::user, 2).round(2).round(2).round(2);
    CHECK(list.layout().kept_from == 2);
    CHECK(list.layout(1).kept_from == 7);
    CHECK(list.layout(2).kept_from == 5);
    CHECK(list.layout(3).kept_from == 3);
    CHECK(list.layout(4).kept_from == 2);
    CHECK(list.layout(2).current == 2);
}

TEST_CASE("the newest turns that fit the budget stay, older ones are folded", "[compaction]") {
    const List list = List().add(Role::system, 0).talk(1).talk(2).talk(3).talk(4);
    // 10 for the prefix, 10 for the summary; 20 a turn
    CHECK(list.plan(room_for(39)).folded == Indices{1, 2, 3, 4, 5, 6});
    CHECK(list.plan(room_for(40)).folded == Indices{1, 2, 3, 4});
    CHECK(list.plan(room_for(59)).folded == Indices{1, 2, 3, 4});
    CHECK(list.plan(room_for(60)).folded == Indices{1, 2});
    CHECK(list.plan(room_for(80)).folded.empty());
    CHECK(list.plan(room_for(39)).rules == std::vector<std::string_view>{"prefix", "fold", "fold", "fold", "fold",
                                                                         "fold", "fold", "current_turn",
                                                                         "current_turn"});
}

TEST_CASE("what the threshold leaves beside the current turn bounds the turns that stay, too", "[compaction]") {
    const List list = List().add(Role::system, 0).talk(1).talk(2).talk(3);
    TurnBudget budget = room_for(1'000);
    budget.threshold = 5 + 10 + 10 + 20 + 20;  // beside, prefix, summary, current turn, one turn
    budget.system_and_tools = 5;
    CHECK(list.plan(budget).folded == Indices{1, 2});
    budget.threshold -= 1;
    CHECK(list.plan(budget).folded == Indices{1, 2, 3, 4});
}

TEST_CASE("a turn is folded whole: a call and its result never part", "[compaction]") {
    const List list = List().talk(1).add(Role::user, 2).round(2).round(2).add(Role::assistant, 2).talk(3);
    for (std::int64_t target = 0; target < 120; target += 5) {
        CAPTURE(target);
        const auto folded = list.plan(room_for(target)).folded.size();
        CHECK((folded == 8 || folded == 2 || folded == 0));
    }
}

TEST_CASE("where numbers are missing, a cut falls between tool rounds", "[compaction]") {
    const List untagged = List().add(Role::user, 0).round(0).round(0).round(0).add(Role::user, 0);
    const List in_the_middle = List().talk(1).round(0).round(0).talk(2).talk(3);
    const List torn_by_numbers = List().add(Role::user, 1).round(1, 2).add(Role::user, 2).round(2, 3).talk(4);
    for (const List* list : {&untagged, &in_the_middle, &torn_by_numbers}) {
        for (std::int64_t target = 0; target < 130; target += 5) {
            const TurnPlan plan = list->plan(room_for(target));
            for (std::size_t i = 0; i < plan.rules.size(); ++i) {
                for (std::size_t j = 0; j < i; ++j) {
                    if (list->infos[i].round_serial == 0 || list->infos[i].round_serial != list->infos[j].round_serial)
                        continue;
                    CHECK((plan.rules[i] == "fold") == (plan.rules[j] == "fold"));
                }
            }
        }
    }
    CHECK(untagged.plan(room_for(30)).folded == Indices{0, 1, 2, 3, 4});
    CHECK(in_the_middle.plan(room_for(50)).folded == Indices{0, 1, 2, 3});
}

TEST_CASE("older rounds of a long current turn are folded one by one", "[compaction]") {
    const List list = List().add(Role::user, 1).round(1).round(1).round(1).round(1);
    CHECK(list.plan(room_for(30), {0}).folded.empty());
    CHECK(list.plan(room_for(30), {0}, 1).folded == Indices{1, 2, 3, 4, 5, 6});
    CHECK(list.plan(room_for(40), {0}, 1).folded == Indices{1, 2, 3, 4});
    CHECK(list.plan(room_for(40), {0}, 2).folded == Indices{1, 2});
}

TEST_CASE("the summary that stands there is always among what is folded", "[compaction]") {
    const List list = List().talk(1).summary(2).talk(3).talk(4);
    CHECK(list.plan(room_for(1'000)).folded == Indices{0, 1, 2});
    CHECK_FALSE(list.plan(room_for(1'000)).has_only_summaries);
    CHECK(List().summary(1).talk(2).plan(room_for(15)).has_only_summaries);
}

TEST_CASE("a round of which a message is pinned stays whole and counts as fixed", "[compaction]") {
    const List list = List().talk(1).round(1).talk(2).talk(3);
    const TurnPlan plan = list.plan(room_for(0), {3});
    CHECK(plan.folded == Indices{0, 1, 4, 5});
    CHECK(plan.rules[2] == "pinned");
    CHECK(plan.pinned_tokens == 20);
    CHECK(plan.minimum_with(7) == 7 + 20 + 20);
}

TEST_CASE("a summary gets no room where what stays leaves less than a quarter of its size", "[compaction]") {
    const List list = List().talk(1).talk(2);
    TurnBudget budget{.system_and_tools = 0, .threshold = 24, .target = 20, .summary = 8, .frame = 2};
    CHECK(list.plan(budget).summary_tokens == 2);
    budget.threshold = 23;
    CHECK(list.plan(budget).summary_tokens == 0);
    budget.threshold = 1'000;
    CHECK(list.plan(budget).summary_tokens == 8);
    budget.summary = 100;
    CHECK(list.plan(budget).summary_tokens == 0);  // 20 tokens to fold
}

TEST_CASE("a summary takes the place of the newest message with the highest number", "[compaction]") {
    const List list = List().talk(1).talk(2).round(0);
    CHECK(place_of_summary(list.outline(), 0, 6) == 3);
    CHECK(place_of_summary(list.outline(), 4, 6) == 5);
}
