// Converting a history and reducing it comes to the same as reducing and converting it.
#include "support/catch.hpp"
#include "support/generators.hpp"
#include "whittle/convert/convert.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/saved/trajectory.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

using nlohmann::ordered_json;
using OpenAI = std::vector<openai::Message>;
using Objects = std::map<std::string, std::string>;

/// One token a byte: nothing is rounded by message, and the two formats divide a history differently.
const auto byte_counter = chars_counter({.chars_per_token = 1.0});

template <AgentMessage M>
struct Reduced {
    std::vector<M> messages{};
    Objects objects{};
};

template <AgentMessage M>
Reduced<M> reduce(const std::vector<M>& history, const std::string& system, const ReductionConfig& config,
                  const ValidityProfile& rules) {
    const auto storage = memory_storage();
    ChainConfig settings;
    settings.token_counter = byte_counter;
    settings.profile.validity = rules;
    settings.storage = storage;
    const Chain<M> chain(settings, Reduction<M>(config));
    Conversation<M> conversation("conv");
    for (const M& m : history) conversation.push_back(m);
    chain.before_model(conversation, {.system = system});
    Reduced<M> reduced{{conversation.messages().begin(), conversation.messages().end()}, {}};
    storage->list("", [&](const ObjectInfo& info) {
        reduced.objects[info.key] = *storage->get(info.key);
        return true;
    });
    return reduced;
}

/// What has been through both formats once carries nothing that the other one lacks.
OpenAI without_losses(const OpenAI& history) {
    const AnthropicConversion there = to_anthropic(history);
    return to_openai(there.system, there.messages).messages;
}

std::string dump_all(const std::vector<anthropic::Message>& messages) {
    std::string text;
    for (const auto& m : messages) text += m.json().dump() + "\n";
    return text;
}

std::string text_of_system(const ordered_json& system) {
    return system.is_string() ? system.get<std::string>() : std::string();
}

/// Both orders; true if there was something to clear.
bool compare(const OpenAI& history, const ReductionConfig& config) {
    const AnthropicConversion converted = to_anthropic(history);
    REQUIRE(converted.losses.empty());
    const auto first_converted =
        reduce(converted.messages, text_of_system(converted.system), config, anthropic_messages());
    const auto first_reduced = reduce(history, "", config, openai_chat());
    const AnthropicConversion then_converted = to_anthropic(first_reduced.messages);
    CHECK(then_converted.losses.empty());
    CHECK(dump_all(then_converted.messages) == dump_all(first_converted.messages));
    CHECK(then_converted.system == converted.system);
    CHECK(first_reduced.objects == first_converted.objects);
    return !first_reduced.objects.empty();
}

OpenAI to_messages(const History& history) {
    OpenAI messages;
    for (const ChatMessage& m : history) {
        ordered_json json{{"role", to_string(m.role)}, {"content", nullptr}};
        for (const Part& part : m.parts) {
            if (part.kind == PartKind::tool_result) json["tool_call_id"] = part.call_id;
            if (part.kind == PartKind::text || part.kind == PartKind::tool_result) json["content"] = part.text;
            if (part.kind != PartKind::tool_call) continue;
            json["tool_calls"].push_back({{"id", part.call_id},
                                          {"type", "function"},
                                          {"function", {{"name", part.tool}, {"arguments", part.text}}}});
        }
        messages.emplace_back(std::move(json));
    }
    return messages;
}

}  // namespace

TEST_CASE("generated histories come out the same, converted before or after they are reduced", "[convert]") {
    int reduced = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        const OpenAI history = without_losses(to_messages(generate_history(seed, {.turns = 4})));
        for (const bool with_arguments : {false, true}) {
            ReductionConfig config{.max_tokens_for_clear = 1'000, .clear_tool_inputs = with_arguments};
            config.clear_target_tokens = seed % 3 == 0 ? 700 : 0;
            config.clear_retention_suffix_limit = static_cast<int>(seed % 3);
            reduced += compare(history, config) ? 1 : 0;
        }
    }
    CHECK(reduced > 30);
}

TEST_CASE("recorded sessions come out the same, converted before or after they are reduced", "[convert]") {
    const std::filesystem::path folder = std::filesystem::path(WHITTLE_DATA_DIR) / "trajectories";
    if (!std::filesystem::exists(folder)) SKIP_WITH_MESSAGE("the recorded sessions are not here");
    int reduced = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        if (file.path().extension() != ".jsonl") continue;
        int sessions = 0;
        read_trajectories(file.path(), {}, [&](Trajectory<>&& session) {
            CAPTURE(file.path().filename().string(), session.id);
            const OpenAI history = without_losses(session.messages);
            reduced += compare(history, {.max_tokens_for_clear = 20'000}) ? 1 : 0;
            return ++sessions < 2;
        });
    }
    CHECK(reduced > 2);
}
