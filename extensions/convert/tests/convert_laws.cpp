// What conversions promise, tried on generated histories and on all recorded sessions.
#include "support/catch.hpp"
#include "support/generators_messages.hpp"
#include "support/recorded.hpp"
#include "whittle/anthropic/anthropic_wire.hpp"
#include "whittle/convert/convert.hpp"
#include "whittle/saved/trajectory.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using Json = nlohmann::ordered_json;

namespace {

/// Without what OpenAI has no place for.
anthropic::Message without_foreign_blocks(const anthropic::Message& m) {
    Json json = m.json();
    json.erase("x_unknown");
    Json blocks = Json::array();
    bool has_results = false;
    for (Json block : json["content"]) {
        has_results = has_results || block["type"] == "tool_result";
        if (block["type"] == "thinking" || (has_results && block["type"] != "tool_result")) continue;
        block.erase("is_error");
        blocks.push_back(std::move(block));
    }
    json["content"] = std::move(blocks);
    return anthropic::Message(std::move(json));
}

std::size_t count(const std::vector<ConversionLoss>& losses, std::string_view what) {
    return static_cast<std::size_t>(std::ranges::count(losses, what, &ConversionLoss::what));
}

std::size_t count_blocks(const std::vector<anthropic::Message>& messages, std::string_view type) {
    std::size_t count = 0;
    for (const anthropic::Message& m : messages) {
        for (const Json& block : m.json()["content"]) count += block["type"] == type ? 1U : 0U;
    }
    return count;
}

/// The input's messages without those that were left out, and the losses that fall on those that were not.
struct Kept {
    std::vector<openai::Message> messages{};
    std::vector<bool> has_loss{};
};

Kept kept_of(const std::vector<openai::Message>& messages, const std::vector<ConversionLoss>& losses) {
    Kept kept;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const auto is_here = [&](const ConversionLoss& loss) { return loss.message == i; };
        const auto is_left_out = [&](const ConversionLoss& loss) { return is_here(loss) && loss.what == "message"; };
        if (std::ranges::any_of(losses, is_left_out)) continue;
        kept.messages.push_back(messages[i]);
        kept.has_loss.push_back(std::ranges::any_of(losses, is_here));
    }
    return kept;
}

std::string ids_of(const std::vector<Violation>& violations) {
    std::string ids;
    for (const Violation& v : violations) {
        ids += std::string(to_string(v.rule)) + " at " + std::to_string(v.message_index) + ": " + v.text + "\n";
    }
    return ids;
}

}  // namespace

TEST_CASE("a generated Anthropic history without foreign blocks comes back as the same JSON", "[convert][laws]") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        std::vector<anthropic::Message> messages;
        for (const anthropic::Message& m : build_all<anthropic::Message>(generate_history(seed)))
            messages.push_back(without_foreign_blocks(m));
        const OpenAIConversion there = to_openai(nullptr, messages, {.media_in_tool_messages = true});
        CAPTURE(seed);
        REQUIRE(there.losses == std::vector<ConversionLoss>{});
        REQUIRE(validate(std::span<const openai::Message>(there.messages), openai_chat()).empty());
        const AnthropicConversion back = to_anthropic(there.messages);
        REQUIRE(back.losses == std::vector<ConversionLoss>{});
        REQUIRE(back.messages == messages);
    }
}

TEST_CASE("what a generated history loses on the way to OpenAI is named, block by block", "[convert][laws]") {
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
        const auto messages = build_all<anthropic::Message>(generate_history(seed));
        const OpenAIConversion there = to_openai("be brief", messages);
        CAPTURE(seed);
        REQUIRE(count(there.losses, "thinking") == count_blocks(messages, "thinking"));
        REQUIRE(count(there.losses, "form") == 0);
        // Text beside results stands behind the tool's messages, as it did.
        for (const Violation& v : validate(std::span<const openai::Message>(there.messages), openai_compatible()))
            REQUIRE(v.rule == Rule::OC6_user_turns);
        REQUIRE(
            validate(std::span<const anthropic::Message>(to_anthropic(there.messages).messages), anthropic_messages())
                .empty());
    }
}

TEST_CASE("conversions of broken histories neither throw nor pass over a change in silence", "[convert][laws]") {
    for (std::uint64_t seed = 1; seed <= 80; ++seed) {
        const History history = generate_history(seed, {.broken = true});
        CAPTURE(seed);
        const auto ours = build_all<openai::Message>(history);
        const AnthropicConversion there = to_anthropic(ours);
        const auto theirs = build_all<anthropic::Message>(history);
        const OpenAIConversion here = to_openai(nullptr, theirs);
        if (there.losses.empty()) REQUIRE(to_openai(there.system, there.messages).messages == ours);
        if (here.losses.empty()) REQUIRE(to_anthropic(here.messages).messages == theirs);
    }
}

TEST_CASE("every recorded session keeps its validity in both formats, and comes back but for what is named",
          "[convert][laws]") {
    const auto files = recorded_files();
    if (files.empty()) WARN("no recorded sessions: skipped");
    ValidityProfile recorded = openai_chat();
    recorded.max_call_id = 0;  // some were recorded over the Responses API, whose ids have more than 40 bytes
    std::map<std::string, std::size_t> lost;
    std::size_t number_of_session = 0;
    for (const auto& file : files) {
        read_trajectories<>(file, {}, [&](Trajectory<>&& session) {
            if (number_of_session++ % every(8) != 0) return;
            CAPTURE(session.id);
            const AnthropicConversion there = to_anthropic(session.messages);
            const auto before = validate(std::span<const openai::Message>(session.messages), recorded);
            const auto after = validate(std::span<const anthropic::Message>(there.messages), anthropic_messages());
            CHECK(ids_of(before) == "");
            CHECK(ids_of(after) == "");
            CHECK(anthropic::check_wire(there.messages).empty());
            const OpenAIConversion back = to_openai(there.system, there.messages, {.media_in_tool_messages = true});
            const Kept kept = kept_of(session.messages, there.losses);
            const std::size_t added = count(there.losses, "first_speaker");
            REQUIRE(back.messages.size() == kept.messages.size() + added);
            for (std::size_t i = 0; i < kept.messages.size(); ++i) {
                if (!kept.has_loss[i]) CHECK(back.messages[i + added] == kept.messages[i]);
            }
            CHECK(back.losses == std::vector<ConversionLoss>{});
            // This file has the members of its calls in another order.
            if (file.stem() != "customer_service_tau_airline") CHECK(count(there.losses, "form") == 0);
            CHECK(ids_of(validate(std::span<const openai::Message>(back.messages), recorded)) == "");
            for (const ConversionLoss& loss : there.losses) ++lost[loss.what];
        });
    }
    const std::vector<std::string> expected{
        "arguments_spelling", "blank_text", "message", "first_speaker", "form", "id", "role"};
    for (const auto& [what, number] : lost) {
        CAPTURE(what, number);
        CHECK(std::ranges::count(expected, what) == 1);
    }
}
