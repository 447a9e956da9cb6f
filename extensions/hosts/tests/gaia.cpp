#include "gaia/agent.h"

#include "host_laws.hpp"
#include "host_mutants.hpp"
#include "whittle/host_conformance/conformance.hpp"
#include "whittle/hosts/gaia.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

using namespace whittle;
using namespace whittle::testing;

namespace {

bool is_text_of(Role role, const Part& part) {
    return part.kind == (role == Role::tool ? PartKind::tool_result : PartKind::text);
}

gaia::MessageRole gaia_role(Role role) {
    if (role == Role::system) return gaia::MessageRole::SYSTEM;
    if (role == Role::assistant) return gaia::MessageRole::ASSISTANT;
    return role == Role::tool ? gaia::MessageRole::TOOL : gaia::MessageRole::USER;
}

/// Content or typed content, then calls; a result is a message of its own.
std::optional<gaia::Message> build(const ChatMessage& m, FieldValues& others) {
    gaia::Message built{};
    built.role = gaia_role(m.role);
    const bool typed = others.one_in(2);
    if (m.role != Role::tool) built.name = others.value();
    if (m.role != Role::tool && others.one_in(2)) built.toolCallId = others.value();
    if (typed) built.content = others.value();  // ignored by gaia where there are parts, and kept
    if (typed) built.parts.emplace();
    for (const Part& part : m.parts) {
        const bool is_of_first = m.role != Role::tool || (part.call_id == m.parts[0].call_id && !part.is_error);
        if (part.kind == PartKind::tool_call && m.role != Role::tool) {
            built.toolCalls.push_back({part.call_id, part.tool, part.text});
        } else if (!built.toolCalls.empty() || !is_of_first) {
            return std::nullopt;
        } else if (part.kind == PartKind::media && typed && !part.media.url.empty()) {
            built.parts->push_back(gaia::ContentPart::makeImageUrl(part.media.url));
        } else if (is_text_of(m.role, part) && typed) {
            built.parts->push_back(gaia::ContentPart::makeText(part.text));
        } else if (is_text_of(m.role, part) && &part == &m.parts[0] && (!part.text.empty() || m.role == Role::tool)) {
            built.content = part.text;
        } else {
            return std::nullopt;
        }
        if (part.kind == PartKind::tool_result) built.name = part.tool;
        if (m.role == Role::tool) built.toolCallId = part.call_id;
    }
    return built;
}

/// Every member, the lengths of texts in front of them.
std::string dump(const gaia::Message& m) {
    std::string text = gaia::roleToString(m.role);
    const auto add = [&](std::string_view name, const std::string& value) {
        text += '|' + std::string(name) + ':' + std::to_string(value.size()) + ':' + value;
    };
    add("content", m.content);
    if (m.name) add("name", *m.name);
    if (m.toolCallId) add("toolCallId", *m.toolCallId);
    for (const gaia::ToolCall& call : m.toolCalls) {
        add("id", call.id);
        add("call", call.name);
        add("arguments", call.arguments);
    }
    if (m.parts) add("parts", std::to_string(m.parts->size()));
    for (const gaia::ContentPart& part : m.parts.value_or(std::vector<gaia::ContentPart>())) {
        add(part.kind == gaia::ContentPart::Kind::TEXT ? "text" : "image", part.text);
        add("url", part.imageUrl);
    }
    return text;
}

MessageFixture<gaia::Message> gaia_format() {
    using enum PartKind;
    return {.build = build, .dump = dump, .holds = {text, tool_call, tool_result, media}, .results_name_tools = true};
}

}  // namespace

template <>
struct whittle::testing::Builder<gaia::Message> {
    static constexpr std::string_view name = "gaia::Message";
    static std::vector<gaia::Message> build(const ChatMessage& m) {
        std::vector<gaia::Message> built;
        gaia::Message front{};
        front.role = gaia_role(m.role);
        for (const Part& part : m.parts) {
            if (part.kind == PartKind::tool_result) {
                gaia::Message result{};
                result.role = gaia::MessageRole::TOOL;
                result.toolCallId = part.call_id;
                result.name = part.tool;
                result.content = part.text;
                built.push_back(std::move(result));
            } else if (part.kind == PartKind::tool_call) {
                front.toolCalls.push_back({part.call_id, part.tool, part.text});
            } else {
                front.content += part.text;
            }
        }
        const bool is_needed = built.empty() || !front.toolCalls.empty() || !front.content.empty();
        if (front.role == gaia::MessageRole::TOOL) front.role = gaia::MessageRole::USER;
        if (is_needed) built.insert(m.role == Role::assistant ? built.begin() : built.end(), std::move(front));
        return built;
    }
};

TEST_CASE("the traits of gaia::Message lose nothing", "[host]") {
    const ConformanceReport report = host_conformance(gaia_format());
    INFO(report.text());
    CHECK(report.passed());
}

template <>
void whittle::testing::drop_a_field(gaia::Message& message) {
    message.name.reset();
}

TEST_CASE("an adapter of gaia that drops a field, reorders parts or loses an id is caught by name", "[host]") {
    check_host_mutants(gaia_format());
}

TEST_CASE("an adapter of gaia that forgets the tool's name is caught by name", "[host]") {
    MessageFixture<gaia::Message> format = gaia_format();
    format.build = [](const ChatMessage& m, FieldValues& others) {  // as if the traits did not read it
        auto built = build(m, others);
        if (built && m.role == Role::tool) built->name.reset();
        return built;
    };
    const std::vector<std::string> failed = host_conformance(format).failed_checks();
    CHECK(std::ranges::count(failed, "tool_names") == 1);
}

TEST_CASE("a result that the chain leaves alone is gaia's own JSON", "[host]") {
    const Chain chain{ChainConfig{.storage = memory_storage()},
                      Reduction<gaia::Message>{{.max_length_for_trunc = 1'000, .max_tokens_for_clear = 9'000}}};
    host::GaiaHooks hooks(chain, "g");
    const gaia::json result{{"status", "ok"}, {"lines", {1, 2, 3}}};
    CHECK(hooks.run_tool("read", gaia::json::object(), [&](const gaia::json&) { return result; }) == result);
}

TEST_CASE("a shortened result fits what gaia leaves whole, whatever gaia escapes in it", "[host]") {
    const auto store = memory_storage();
    const Chain chain{ChainConfig{.storage = store},
                      Reduction<gaia::Message>{{.max_length_for_trunc = 3'500, .max_tokens_for_clear = 9'000}}};
    host::GaiaHooks hooks(chain, "g");
    for (const std::string& text : {std::string(9'000, 'x'), std::string(9'000, '"'), std::string(9'000, '\n')}) {
        const gaia::json result =
            hooks.run_tool("read", gaia::json::object(), [&](const gaia::json&) { return gaia::json(text); });
        CHECK(result.dump().size() <= host::GaiaHooks::gaia_cut_bytes);
        CHECK(result.get<std::string>().find("g/trunc/read-") != std::string::npos);
    }
    CHECK(store->get("g/trunc/read-2") == std::string(9'000, '"'));
}

TEST_CASE("what a tool of gaia throws comes out", "[host]") {
    const Chain chain{ChainConfig{},
                      Reduction<gaia::Message>{{.skip_truncation = true, .max_tokens_for_clear = 9'000}}};
    host::GaiaHooks hooks(chain, "g");
    const gaia::ToolCallback broken = [](const gaia::json&) -> gaia::json { throw std::domain_error("broken"); };
    CHECK_THROWS_AS(hooks.run_tool("read", gaia::json::object(), broken), std::domain_error);
}

TEST_CASE("every law holds on gaia::Message", "[host][laws]") { run_host_laws<gaia::Message>(); }
