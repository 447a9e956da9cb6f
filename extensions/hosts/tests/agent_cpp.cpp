#include "callbacks.h"

#include "host_laws.hpp"
#include "host_mutants.hpp"
#include "whittle/host_conformance/conformance.hpp"
#include "whittle/hosts/agent_cpp.hpp"

#include <optional>
#include <string>
#include <utility>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// Reasoning, content or typed content, calls; a result is a message of its own.
std::optional<common_chat_msg> build(const ChatMessage& m, FieldValues& others) {
    common_chat_msg built;
    built.role = to_string(m.role);
    const bool is_typed = others.one_in(2);
    if (m.role != Role::tool && others.one_in(2)) built.tool_name = others.value();
    if (m.role != Role::tool && others.one_in(2)) built.tool_call_id = others.value();
    for (const Part& part : m.parts) {
        const bool is_first = &part == &m.parts[0] || (&part == &m.parts[1] && !built.reasoning_content.empty());
        const PartKind plain = m.role == Role::tool ? PartKind::tool_result : PartKind::text;
        if (part.is_error) return std::nullopt;
        if (part.kind == PartKind::tool_call && m.role != Role::tool) {
            built.tool_calls.push_back({part.tool, part.text, part.call_id});
        } else if (!built.tool_calls.empty() || (m.role == Role::tool && part.call_id != m.parts[0].call_id)) {
            return std::nullopt;
        } else if (part.kind == PartKind::thinking && !part.text.empty()) {
            built.reasoning_content = part.text;
        } else if (part.kind == plain && is_typed) {
            built.content_parts.push_back({"text", part.text});
        } else if (part.kind == plain && is_first && !part.text.empty()) {
            built.content = part.text;
        } else {
            return std::nullopt;
        }
        if (m.role == Role::tool) built.tool_name = part.tool;
        if (m.role == Role::tool) built.tool_call_id = part.call_id;
    }
    return built;
}

/// Every member, the lengths of texts in front of them.
std::string dump(const common_chat_msg& m) {
    std::string text;
    const auto add = [&](const std::string& value) { text += std::to_string(value.size()) + ':' + value + '|'; };
    for (const std::string& value : {m.role, m.content, m.reasoning_content, m.tool_name, m.tool_call_id}) add(value);
    for (const common_chat_msg_content_part& part : m.content_parts) {
        add(part.type);
        add(part.text);
    }
    text += '#';
    for (const common_chat_tool_call& call : m.tool_calls) {
        add(call.name);
        add(call.arguments);
        add(call.id);
    }
    return text;
}

MessageFixture<common_chat_msg> agent_cpp_format() {
    using enum PartKind;
    return {
        .build = build, .dump = dump, .holds = {text, thinking, tool_call, tool_result}, .results_name_tools = true};
}

}  // namespace

template <>
void whittle::testing::drop_a_field(common_chat_msg& message) {
    message.tool_name.clear();
}

template <>
struct whittle::testing::Builder<common_chat_msg> {
    static constexpr std::string_view name = "common_chat_msg";
    static std::vector<common_chat_msg> build(const ChatMessage& m) {
        std::vector<common_chat_msg> built;
        common_chat_msg front;
        front.role = m.role == Role::tool ? "user" : std::string(to_string(m.role));
        for (const Part& part : m.parts) {
            if (part.kind == PartKind::tool_result) {
                built.push_back({"tool", part.text, {}, {}, "", part.tool, part.call_id});
            } else if (part.kind == PartKind::tool_call) {
                front.tool_calls.push_back({part.tool, part.text, part.call_id});
            } else if (part.kind == PartKind::thinking) {
                front.reasoning_content += part.text;
            } else {
                front.content += part.text;
            }
        }
        if (built.empty() || !front.empty())
            built.insert(m.role == Role::assistant ? built.begin() : built.end(), std::move(front));
        return built;
    }
};

TEST_CASE("the traits of common_chat_msg lose nothing", "[host]") {
    const ConformanceReport report = host_conformance(agent_cpp_format());
    INFO(report.text());
    CHECK(report.passed());
}

TEST_CASE("an adapter of agent.cpp that drops a field, reorders parts or loses an id is caught by name", "[host]") {
    check_host_mutants(agent_cpp_format());
}

TEST_CASE("content of a type that whittle does not know stays as it is", "[host]") {
    common_chat_msg m;
    m.role = "user";
    m.content_parts = {{"text", "look"}, {"media_marker", "<__media__>"}};
    CHECK(parts_of(m)[1].kind == PartKind::other);
    message_traits<common_chat_msg>::set_text(m, 0, "see");
    CHECK(m.content_parts ==
          std::vector<common_chat_msg_content_part>{{"text", "see"}, {"media_marker", "<__media__>"}});
}

TEST_CASE("each of two calls of one tool gets its own result, and a failed one stays the agent's", "[host]") {
    const auto store = memory_storage();
    const Chain chain{ChainConfig{.storage = store},
                      Reduction<common_chat_msg>{{.max_length_for_trunc = 300, .max_tokens_for_clear = 9'000}}};
    host::AgentCppHooks hooks(chain, "a");
    std::vector<common_chat_msg> list{{"user", "Read both.", {}, {}, "", "", ""}};
    hooks.before_llm_call(list);
    common_chat_msg reply{"assistant", "", {}, {{"read", "{}", "c1"}, {"read", "{}", "c2"}, {"read", "{}", "c3"}},
                          "",          "", ""};
    hooks.after_llm_call(reply);
    list.push_back(reply);
    std::string tool = "read";
    for (const char letter : {'x', 'y'}) {
        agent_cpp::ToolResult result(std::string(2'000, letter));
        hooks.after_tool_execution(tool, result);
        CHECK(result.output().size() < 600);
        list.push_back({"tool", result.output(), {}, {}, "", tool, letter == 'x' ? "c1" : "c2"});
    }
    agent_cpp::ToolResult failed(agent_cpp::ToolFailure("no such file"));
    hooks.after_tool_execution(tool, failed);
    CHECK(failed.has_error());
    CHECK(failed.error().message == "no such file");
    list.push_back({"tool", "no such file", {}, {}, "", tool, "c3"});
    hooks.before_llm_call(list);
    CHECK(store->get("a/trunc/c1") == std::string(2'000, 'x'));
    CHECK(store->get("a/trunc/c2") == std::string(2'000, 'y'));
    REQUIRE(hooks.conversation().undo());
    CHECK(hooks.conversation().messages()[2].content == std::string(2'000, 'x'));
    CHECK(hooks.conversation().messages()[2].tool_name == "read");
}

TEST_CASE("every law holds on common_chat_msg", "[host][laws]") { run_host_laws<common_chat_msg>(); }
