#include "mirror.hpp"
#include "programs.hpp"

#include "support/generators_messages.hpp"
#include "whittle/convert/convert.hpp"

#include <cstdint>
#include <ostream>
#include <utility>

namespace whittle::sdk_types {

namespace {

using nlohmann::ordered_json;
using testing::History;

constexpr std::uint64_t generated_histories = 12;

/// What generated histories lack: characters of two, three and four bytes, quotes, several calls, empty arguments.
History hand_made() {
    ChatMessage hard = ChatMessage::assistant("Привет \"漢字\" \\ 🙂\n\n\tdata: [DONE]\r\nend");
    hard.call("call_1", "read", R"({"path":"a \"b\"","n":[1,2.5,null,true],"text":"🙂漢"})").call("call_2", "plain");
    ChatMessage silent = ChatMessage::assistant();
    silent.call("call_3", "read", R"({"deep":{"deeper":[{"deepest":"\u0000"}]}})");
    return {hard, silent, ChatMessage::assistant("x")};
}

/// Parts in an order that both formats have: text, then calls.
ordered_json meant_by(const ChatMessage& m) {
    ordered_json parts = ordered_json::array();
    std::string text;
    for (const Part& part : m.parts) text += part.kind == PartKind::text ? part.text : "";
    if (!text.empty()) parts.push_back({{"text", text}});
    for (const Part& part : m.parts) {
        if (part.kind != PartKind::tool_call) continue;
        parts.push_back({{"call", part.call_id}, {"tool", part.tool}, {"arguments", ordered_json::parse(part.text)}});
    }
    return parts;
}

/// Replies have one text and no thinking in plain view.
ChatMessage without_thinking(ChatMessage m) {
    std::erase_if(m.parts, [](const Part& part) { return part.kind == PartKind::thinking; });
    return m;
}

void add(std::vector<Mirrored>& all, const ChatMessage& m) {
    const std::vector<openai::Message> built = testing::Builder<openai::Message>::build(m);
    const AnthropicConversion there = to_anthropic(built);
    const std::string number = std::to_string(all.size());
    ordered_json ours = to_openai("", there.messages).messages.back().json();
    if (!ours.contains("content")) ours["content"] = nullptr;
    all.push_back({"openai", "mirror-openai-" + number, std::move(ours), meant_by(m)});
    ordered_json theirs = there.messages.back().json();
    all.push_back({"anthropic", "mirror-anthropic-" + number, std::move(theirs), meant_by(m)});
}

}  // namespace

std::vector<Mirrored> mirrored() {
    std::vector<Mirrored> all;
    History replies = hand_made();
    for (std::uint64_t seed = 1; seed <= generated_histories; ++seed) {
        for (const ChatMessage& m : testing::generate_history(seed, {.turns = 2})) {
            if (m.role == Role::assistant && !without_thinking(m).parts.empty()) replies.push_back(without_thinking(m));
        }
    }
    for (const ChatMessage& m : replies) add(all, m);
    return all;
}

void print_mirror(std::ostream& out) {
    ordered_json list = ordered_json::array();
    for (Mirrored& one : mirrored())
        list.push_back({{"api", one.api}, {"name", one.name}, {"reply", one.reply}, {"meant", one.meant}});
    out << list.dump() << '\n';
}

}  // namespace whittle::sdk_types
