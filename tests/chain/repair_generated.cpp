// Broken histories of every kind, on every message type and profile: what repair promises.
#include "support/catch.hpp"
#include "support/generators_messages.hpp"
#include "support/laws_snapshot.hpp"
#include "whittle/chain/repair.hpp"
#include "whittle/chain/transaction.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

// Each of them by every profile.
constexpr std::uint64_t histories = 400;
constexpr std::uint64_t histories_of_other_types = 120;

template <AgentMessage M>
Conversation<M> conversation_of(const History& history) {
    Conversation<M> c("repair");
    for (M& m : build_all<M>(history)) c.push_back(std::move(m));
    return c;
}

/// A result without an id that holds something opaque: nothing says that both belong together.
bool holds_opaque_result(const MessageInfo& info) {
    const auto is_nameless = [](const PartInfo& p) { return p.kind == PartKind::tool_result && p.call_id.empty(); };
    return info.has(PartKind::other) && std::ranges::any_of(info.parts, is_nameless);
}

/// What no rewriting of the list can mend: sizes, thinking that is not there, calls that still run.
bool is_beyond_repair(const Violation& v, const Outline& outline) {
    if (v.message < outline.size() && holds_opaque_result(outline[v.message])) return true;
    const bool is_running = outline.open_call() && outline.open_call() == v.message;
    switch (v.rule) {
        case Rule::A6_thinking_order:
        case Rule::A7_thinking_first:
        case Rule::G11_images:
        case Rule::A10_images:
            return true;
        case Rule::OC6_last_role:
        case Rule::GM1_turns:
            return is_running && v.message + 1 == outline.size();
        default:
            return false;
    }
}

template <AgentMessage M>
std::map<Serial, std::string> bytes_by_serial(const Conversation<M>& c) {
    std::map<Serial, std::string> bytes;
    for (std::size_t i = 0; i < c.size(); ++i) bytes.emplace(c.outline()[i].serial, bytes_of(c.messages()[i]));
    return bytes;
}

/// Messages of steps that broke no rule: an assistant message and all up to the next one.
std::set<Serial> sound_messages(const Outline& outline, const std::vector<Violation>& violations) {
    std::vector<std::size_t> step_of;
    std::size_t step = 0;
    for (std::size_t i = 0; i < outline.size(); ++i)
        step_of.push_back(outline[i].role == Role::assistant ? ++step : step);
    std::set<std::size_t> broken_steps;
    std::set<Serial> broken_groups;
    for (const Violation& v : violations) {
        if (v.message >= outline.size()) continue;
        broken_steps.insert(step_of[v.message]);
        broken_groups.insert(outline[v.message].group);
    }
    broken_groups.erase(0);
    std::set<Serial> sound;
    for (std::size_t i = 0; i < outline.size(); ++i) {
        if (!broken_steps.contains(step_of[i]) && !broken_groups.contains(outline[i].group))
            sound.insert(outline[i].serial);
    }
    return sound;
}

template <AgentMessage M>
void expect_repaired(const History& history, const ValidityProfile& profile) {
    Conversation<M> c = conversation_of<M>(history);
    const auto before = all_bytes(c.messages());
    const auto old_bytes = bytes_by_serial(c);
    const auto violations = validate(c.outline(), profile);
    const std::set<Serial> sound = sound_messages(c.outline(), violations);
    const std::vector<MessageInfo> infos = c.state().infos;

    const RepairResult result = c.repair(profile, {.for_request = true});
    CHECK(result.committed() == (c.journal().size() == 1));
    if (violations.empty()) CHECK(result.outcome == Outcome::undue);
    for (const Violation& v : validate(c.outline(), profile)) {
        INFO(id_of(v.rule) << " at message " << v.message << ": " << v.text);
        CHECK(is_beyond_repair(v, c.outline()));
    }
    CHECK(result.remaining == validate(c.outline(), profile));

    const auto now = bytes_by_serial(c);
    for (const Serial serial : sound) {
        const auto same = now.find(serial);
        INFO("message " << serial << " broke no rule: " << old_bytes.at(serial).substr(0, 200));
        CHECK((same != now.end() && same->second == old_bytes.at(serial)));
    }
    const std::string once = snapshot(c);
    const RepairResult again = c.repair(profile, {.for_request = true});
    CHECK_FALSE(again.committed());
    CHECK(difference(snapshot(c), once).empty());

    if (!result.committed()) return;
    REQUIRE(c.undo());
    CHECK(all_bytes(c.messages()) == before);
    for (std::size_t i = 0; i < infos.size() && i < c.size(); ++i) {
        CHECK(c.outline()[i].serial == infos[i].serial);
        CHECK(c.outline()[i].group == infos[i].group);
        CHECK(c.outline()[i].mark == infos[i].mark);
    }
}

template <AgentMessage M>
void expect_all_repaired(std::uint64_t count) {
    for (std::uint64_t seed = 1; seed <= count; ++seed) {
        const History history = generate_history(seed, {.broken = seed % 8 != 0, .turns = 3});
        for (const ValidityProfile* profile : validity_profiles()) {
            INFO(Builder<M>::name << ", " << profile->name << ", history " << seed);
            expect_repaired<M>(history, *profile);
        }
    }
}

}  // namespace

TEST_CASE("every broken history is mended: valid, twice the same, sound messages untouched, undone exactly",
          "[repair]") {
    expect_all_repaired<ChatMessage>(histories);
}

TEST_CASE("the same for OpenAI's messages", "[repair]") {
    expect_all_repaired<openai::Message>(histories_of_other_types);
}
TEST_CASE("the same for a host's type with tools of its own", "[repair]") {
    expect_all_repaired<StepMessage>(histories_of_other_types);
}
TEST_CASE("the same for a type without tools", "[repair]") {
    expect_all_repaired<PlainMessage>(histories_of_other_types);
}
