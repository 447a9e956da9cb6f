// The message types that come with the library, in the shapes that providers document, with members nobody knows.
#include "support/catch.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/host_conformance/conformance.hpp"
#include "whittle/openai/openai.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

using namespace whittle;
using Json = nlohmann::ordered_json;

namespace {

bool any_of(const ChatMessage& m, PartKind kind) {
    return std::ranges::any_of(m.parts, [&](const Part& part) { return part.kind == kind; });
}

Json with_mark(Json block, FieldValues& others, std::size_t part) {
    if (others.one_in(2)) block["cache_control"] = {{"type", "ephemeral"}, {"x_ttl", others.value_of(part)}};
    return block;
}

std::optional<Json> openai_result(const ChatMessage& m, FieldValues& others) {
    const bool is_one = std::ranges::all_of(m.parts, [&](const Part& part) {
        return part.kind == PartKind::tool_result && part.call_id == m.parts[0].call_id && !part.is_error;
    });
    if (!is_one || m.parts.empty()) return std::nullopt;
    Json content = Json::array();
    for (std::size_t i = 0; i < m.parts.size(); ++i)
        content.push_back(with_mark({{"type", "text"}, {"text", m.parts[i].text}}, others, i));
    return Json{{"x_more", others.value()},
                {"role", "tool"},
                {"tool_call_id", m.parts[0].call_id},
                {"content", std::move(content)}};
}

/// Content, then calls.
std::optional<Json> openai_message(const ChatMessage& m, FieldValues& others) {
    Json json{{"role", to_string(m.role)}, {"name", others.value()}};
    Json content = Json::array();
    for (std::size_t i = 0; i < m.parts.size(); ++i) {
        const Part& part = m.parts[i];
        if (part.kind == PartKind::tool_call) {
            json["tool_calls"].push_back({{"id", part.call_id},
                                          {"type", "function"},
                                          {"x_index", others.value_of(i)},
                                          {"function", {{"name", part.tool}, {"arguments", part.text}}}});
        } else if (json.contains("tool_calls")) {
            return std::nullopt;
        } else if (part.kind == PartKind::thinking) {
            if (part.text.empty()) return std::nullopt;
            json["reasoning_content"] = part.text;
        } else if (part.kind == PartKind::media) {
            if (part.media.url.empty()) return std::nullopt;
            content.push_back(with_mark(
                {{"type", "image_url"}, {"image_url", {{"url", part.media.url}, {"detail", "low"}}}}, others, i));
        } else {
            content.push_back(with_mark({{"type", "text"}, {"text", part.text}}, others, i));
        }
    }
    if (!content.empty()) json["content"] = std::move(content);
    return json;
}

std::optional<openai::Message> build_openai(const ChatMessage& m, FieldValues& others) {
    const bool is_result = m.role == Role::tool;
    if (!is_result && any_of(m, PartKind::tool_result)) return std::nullopt;
    auto json = is_result ? openai_result(m, others) : openai_message(m, others);
    return json ? std::optional(openai::Message(std::move(*json))) : std::nullopt;
}

Json anthropic_image(const Media& media) {
    if (!media.url.empty()) return {{"type", "image"}, {"source", {{"type", "url"}, {"url", media.url}}}};
    return {{"type", "image"}, {"source", {{"type", "base64"}, {"media_type", media.mime}, {"data", "iVBORw0KGgo="}}}};
}

/// Blocks in order; those of one result together.
std::optional<anthropic::Message> build_anthropic(const ChatMessage& m, FieldValues& others) {
    if (m.role == Role::system || m.role == Role::tool) return std::nullopt;
    Json content = Json::array();
    for (std::size_t i = 0; i < m.parts.size(); ++i) {
        const Part& part = m.parts[i];
        if (part.kind == PartKind::media && !part.media.bytes.empty()) return std::nullopt;  // of ours, not base64
        if (part.kind == PartKind::tool_call) {
            Json input = Json::parse(part.text, nullptr, false);
            if (!input.is_object() || input.dump() != part.text) return std::nullopt;
            content.push_back(with_mark(
                {{"type", "tool_use"}, {"id", part.call_id}, {"name", part.tool}, {"input", input}}, others, i));
        } else if (part.kind == PartKind::thinking) {
            content.push_back({{"type", "thinking"}, {"thinking", part.text}, {"signature", others.value_of(i)}});
        } else if (part.call_id.empty()) {
            if (part.kind == PartKind::tool_result) return std::nullopt;
            content.push_back(part.kind == PartKind::media
                                  ? with_mark(anthropic_image(part.media), others, i)
                                  : with_mark({{"type", "text"}, {"text", part.text}}, others, i));
        } else {
            const bool continues = i > 0 && m.parts[i - 1].call_id == part.call_id;
            if (!continues) {
                content.push_back({{"type", "tool_result"}, {"tool_use_id", part.call_id}, {"content", Json::array()}});
                if (part.is_error) content.back()["is_error"] = true;
            }
            content.back()["content"].push_back(part.kind == PartKind::media
                                                    ? with_mark(anthropic_image(part.media), others, i)
                                                    : with_mark({{"type", "text"}, {"text", part.text}}, others, i));
        }
    }
    return anthropic::Message(
        Json{{"role", to_string(m.role)}, {"x_id", others.value()}, {"content", std::move(content)}});
}

}  // namespace

TEST_CASE("ChatMessage loses nothing", "[host_conformance]") {
    using enum PartKind;
    const MessageFixture<ChatMessage> format{
        .build =
            [](ChatMessage m, FieldValues& others) {
                m.host_id = others.value();
                m.usage = Usage{.uncached_input = 7};
                return std::optional(std::move(m));
            },
        .dump = [](const ChatMessage& m) { return message_traits<ChatMessage>::to_bytes(m); },
        .holds = {text, thinking, tool_call, tool_result, media},
        .results_name_tools = true};
    const ConformanceReport report = host_conformance(format);
    INFO(report.text());
    CHECK(report.passed());
}

TEST_CASE("openai::Message loses nothing", "[host_conformance]") {
    using enum PartKind;
    const MessageFixture<openai::Message> format{.build = build_openai,
                                                 .dump = [](const openai::Message& m) { return m.json().dump(); },
                                                 .holds = {text, thinking, tool_call, tool_result, media},
                                                 .utf8_only = true};
    const ConformanceReport report = host_conformance(format);
    INFO(report.text());
    CHECK(report.passed());
}

TEST_CASE("anthropic::Message loses nothing", "[host_conformance]") {
    using enum PartKind;
    const MessageFixture<anthropic::Message> format{.build = build_anthropic,
                                                    .dump = [](const anthropic::Message& m) { return m.json().dump(); },
                                                    .holds = {text, thinking, tool_call, tool_result, media},
                                                    .utf8_only = true};
    const ConformanceReport report = host_conformance(format);
    INFO(report.text());
    CHECK(report.passed());
}
