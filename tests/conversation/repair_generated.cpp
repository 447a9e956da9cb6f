// Broken histories of every kind, on every message type and profile: what repair promises.
#include "support/catch.hpp"
#include "support/generators_messages.hpp"
#include "support/laws_snapshot.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/conversation/detail/repair.hpp"
#include "whittle/conversation/transaction.hpp"
#include "whittle/openai/openai.hpp"

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
Conversation<M> conversation_of(const History& history, Dice*) {
    Conversation<M> c("repair");
    for (M& m : build_all<M>(history)) c.push_back(std::move(m));
    return c;
}

/// The contents that a result of Anthropic's may have beside a text: opaque blocks and images around it, or alone.
nlohmann::ordered_json crowded(const nlohmann::ordered_json& content, Dice& dice) {
    using Json = nlohmann::ordered_json;
    const Json opaque{{"type", "tool_reference"}, {"tool_name", "grep"}};
    const Json image{{"type", "image"}, {"source", {{"type", "url"}, {"url", "https://example.org/b.png"}}}};
    Json items = content.is_array() ? content : Json::array({{{"type", "text"}, {"text", content}}});
    switch (dice.below(8)) {
        case 0: return opaque;
        case 1: return Json::array({opaque});
        case 2: return Json::array({image, opaque});
        case 3: items.insert(items.begin(), opaque); return items;
        case 4: items.insert(items.begin(), image); return items;
        case 5:
            items.insert(items.begin(), {opaque, image});
            items.push_back(opaque);
            return items;
        default: return content;
    }
}

/// With `dice`, results hold more than text.
template <>
Conversation<anthropic::Message> conversation_of(const History& history, Dice* dice) {
    Conversation<anthropic::Message> c("repair");
    for (const anthropic::Message& m : build_all<anthropic::Message>(history)) {
        nlohmann::ordered_json json = m.json();
        for (auto& block : json["content"]) {
            if (dice != nullptr && block["type"] == "tool_result") block["content"] = crowded(block["content"], *dice);
        }
        c.push_back(anthropic::Message(std::move(json)));
    }
    return c;
}

/// What no rewriting of the list can mend: sizes, thinking that is not there, calls that still run, an empty list.
bool is_beyond_repair(const Violation& v, const Outline& outline) {
    const bool is_running = outline.open_round_begin() && outline.open_round_begin() == v.message_index;
    switch (v.rule) {
        case Rule::A6_thinking_before_calls:
        case Rule::A7_thinking_first:
        case Rule::G11_images:
        case Rule::A10_images: return true;
        case Rule::OC6_last_role:
        case Rule::GM1_user_first_and_last: return is_running && v.message_index + 1 == outline.size();
        case Rule::G7_has_user: return outline.size() == 0;
        default: return false;
    }
}

template <AgentMessage M>
std::map<Serial, std::string> bytes_by_serial(const Conversation<M>& c) {
    std::map<Serial, std::string> bytes;
    for (std::size_t i = 0; i < c.size(); ++i) bytes.emplace(c.outline()[i].serial, bytes_of(c.messages()[i]));
    return bytes;
}

/// Whether a message holds a result of a call in a message that breaks a rule: it may stand where no rule looks, as in
/// an assistant message, and is moved behind its call.
bool answers_broken_call(const MessageInfo& info, const Outline& outline, const std::vector<Violation>& violations) {
    const auto has = [](const MessageInfo& m, PartKind kind, std::string_view id) {
        return std::ranges::any_of(m.parts, [&](const PartInfo& p) { return p.kind == kind && p.call_id == id; });
    };
    return std::ranges::any_of(info.parts, [&](const PartInfo& p) {
        if (p.kind != PartKind::tool_result) return false;
        return std::ranges::any_of(violations, [&](const Violation& v) {
            return v.message_index < outline.size() && has(outline[v.message_index], PartKind::tool_call, p.call_id);
        });
    });
}

/// An empty last message of the assistant is allowed as long as it is the last; before a request it gives way to the
/// user's word.
bool is_empty_reply(const Outline& outline, std::size_t i) {
    return i + 1 == outline.size() && outline[i].role == Role::assistant && outline[i].parts.empty();
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
        if (v.message_index >= outline.size()) continue;
        broken_steps.insert(step_of[v.message_index]);
        broken_groups.insert(outline[v.message_index].round_serial);
    }
    broken_groups.erase(0);
    std::set<Serial> sound;
    for (std::size_t i = 0; i < outline.size(); ++i) {
        if (is_empty_reply(outline, i) || answers_broken_call(outline[i], outline, violations)) continue;
        if (!broken_steps.contains(step_of[i]) && !broken_groups.contains(outline[i].round_serial))
            sound.insert(outline[i].serial);
    }
    return sound;
}

template <AgentMessage M>
void expect_repaired(const History& history, const ValidityProfile& profile, Dice* crowd = nullptr) {
    Conversation<M> c = conversation_of<M>(history, crowd);
    const auto before = all_bytes(c.messages());
    const auto old_bytes = bytes_by_serial(c);
    const auto violations = validate(c.outline(), profile);
    const std::set<Serial> sound = sound_messages(c.outline(), violations);
    const std::vector<MessageInfo> infos = c.state().infos;

    const RepairResult result = c.repair(profile, {.for_request = true});
    CHECK(result.committed() == (c.journal().size() == 1));
    if (violations.empty()) CHECK(result.outcome == Outcome::not_due);
    for (const Violation& v : validate(c.outline(), profile)) {
        INFO(to_string(v.rule) << " at message " << v.message_index << ": " << v.text);
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
        CHECK(c.outline()[i].round_serial == infos[i].round_serial);
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

TEST_CASE("every broken history of OpenAI's messages is mended", "[repair]") {
    expect_all_repaired<openai::Message>(histories_of_other_types);
}
TEST_CASE("every broken history of a host's type with tools of its own is mended", "[repair]") {
    expect_all_repaired<StepMessage>(histories_of_other_types);
}
TEST_CASE("every broken history of a type without tools is mended", "[repair]") {
    expect_all_repaired<PlainMessage>(histories_of_other_types);
}
TEST_CASE("every broken history of Anthropic's messages is mended", "[repair]") {
    expect_all_repaired<anthropic::Message>(histories_of_other_types);
}
TEST_CASE("broken histories are mended where Anthropic's results hold opaque blocks and images", "[repair]") {
    for (std::uint64_t seed = 1; seed <= histories_of_other_types; ++seed) {
        const History history = generate_history(seed, {.broken = seed % 8 != 0, .turns = 3});
        for (const ValidityProfile* profile : law_profiles<anthropic::Message>()) {
            INFO(profile->name << ", history " << seed);
            Dice crowd(seed);
            expect_repaired<anthropic::Message>(history, *profile, &crowd);
        }
    }
}
