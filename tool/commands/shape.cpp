#include "shape.hpp"

#include "commands.hpp"
#include "interrupt.hpp"
#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;

/// What speaks for one of the shapes, with its place; the first that was found.
struct Evidence {
    std::string tools{};  ///< how calls and results are written: nobody else writes them so
    std::string looks{};  ///< what others may have taken over

    void add(std::string& to, const std::string& what) {
        if (to.empty()) to = what;
    }
};

struct BothEvidence {
    Evidence openai{};
    Evidence anthropic{};
};

std::string_view string_at(const ordered_json& object, const char* key) {
    if (!object.is_object()) return {};
    const auto value = object.find(key);
    if (value == object.end() || !value->is_string()) return {};
    return value->get_ref<const std::string&>();
}

template <std::size_t N>
bool is_one_of(std::string_view type, const std::array<std::string_view, N>& types) {
    return std::ranges::find(types, type) != types.end();
}

void look_at_block(std::string_view type, const std::string& place, BothEvidence& found) {
    constexpr std::array<std::string_view, 4> openai{"image_url", "input_audio", "file", "refusal"};
    constexpr std::array<std::string_view, 6> anthropic{"thinking",      "redacted_thinking", "image",
                                                        "search_result", "document",          "compaction"};
    constexpr std::array<std::string_view, 5> tools{"tool_use", "tool_result", "server_tool_use", "mcp_tool_use",
                                                    "mcp_tool_result"};
    const std::string what = fmt::format("{} has a block of type \"{}\"", place, type);
    if (is_one_of(type, tools)) found.anthropic.add(found.anthropic.tools, what);
    if (is_one_of(type, anthropic)) found.anthropic.add(found.anthropic.looks, what);
    if (is_one_of(type, openai)) found.openai.add(found.openai.looks, what);
}

void look_at_message(const ordered_json& message, const std::string& place, BothEvidence& found) {
    const std::string_view role = string_at(message, "role");
    if (is_one_of<3>(role, {"tool", "function", "developer"}))
        found.openai.add(found.openai.tools, fmt::format("{} has the role \"{}\"", place, role));
    if (message.contains("tool_calls")) found.openai.add(found.openai.tools, place + " has \"tool_calls\"");
    const auto content = message.find("content");
    if (content == message.end() || !content->is_array()) return;
    for (const ordered_json& block : *content) look_at_block(string_at(block, "type"), place, found);
}

/// What stands beside the messages and says more than a trajectory's fields hold.
void look_at_request(const ordered_json& rest, BothEvidence& found) {
    if (rest.contains("system") && rest["system"].is_array())
        found.anthropic.add(found.anthropic.looks, "\"system\" is a list of blocks");
    const auto tools = rest.find("tools");
    if (tools == rest.end() || !tools->is_array()) return;
    for (const ordered_json& tool : *tools) {
        if (tool.is_object() && tool.contains("input_schema"))
            found.anthropic.add(found.anthropic.looks, "a tool has \"input_schema\"");
    }
}

BothEvidence find_evidence(const Trajectory<>& session) {
    BothEvidence found;
    for (std::size_t i = 0; i < session.messages.size(); ++i) {
        throw_if_interrupted();
        look_at_message(session.messages[i].json(), fmt::format("messages[{}]", i), found);
    }
    look_at_request(session.rest, found);
    return found;
}

/// Nothing if neither has any, or both have.
std::optional<Shape> decide(const std::string& openai, const std::string& anthropic) {
    if (openai.empty() == anthropic.empty()) return std::nullopt;
    return anthropic.empty() ? Shape::openai : Shape::anthropic;
}

}  // namespace

std::optional<Shape> to_shape(const std::string& option) {
    if (option.empty()) return std::nullopt;
    if (option == "openai") return Shape::openai;
    if (option == "anthropic") return Shape::anthropic;
    throw UsageError{fmt::format("--shape {}: expected one of openai, anthropic", option)};
}

Shape detect_shape(const Trajectory<>& session, std::string_view where) {
    const auto& [openai, anthropic] = find_evidence(session);
    if (const auto shape = decide(openai.tools, anthropic.tools)) return *shape;
    const bool by_tools = !openai.tools.empty();
    const std::string& for_openai = by_tools ? openai.tools : openai.looks;
    const std::string& for_anthropic = by_tools ? anthropic.tools : anthropic.looks;
    if (for_openai.empty() && for_anthropic.empty()) return Shape::openai;
    if (const auto shape = decide(for_openai, for_anthropic)) return *shape;
    throw Error(Errc::parse_failed,
                fmt::format("{}: expected messages of one provider, found OpenAI's ({}) and Anthropic's ({}): say with "
                            "--shape which to take them for",
                            where, for_openai, for_anthropic));
}

Trajectory<anthropic::Message> to_anthropic_shape(Trajectory<>&& session, std::string_view where) {
    Trajectory<anthropic::Message> same{.id = std::move(session.id),
                                        .system = std::move(session.system),
                                        .tools = std::move(session.tools),
                                        .messages = {},
                                        .seconds_since_first = std::move(session.seconds_since_first),
                                        .usage_by_call = std::move(session.usage_by_call),
                                        .messages_with_invalid_utf8 = std::move(session.messages_with_invalid_utf8),
                                        .rest = std::move(session.rest)};
    for (std::size_t i = 0; i < session.messages.size(); ++i) {
        throw_if_interrupted();
        try {
            same.messages.emplace_back(session.messages[i].json());
        } catch (const Error& error) {
            throw Error(Errc::parse_failed, fmt::format("{}: messages[{}]: {}", where, i, error.what()));
        }
    }
    return same;
}

}  // namespace whittle::cli
