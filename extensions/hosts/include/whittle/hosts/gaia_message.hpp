#pragma once

// gaia (amd/gaia, cpp/): traits of gaia::Message. A file to include, or to copy and change, behind gaia's own
// "gaia/types.h"; it includes nothing of gaia's. gaia.hpp has a chain around a gaia::Agent.

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"
#include "whittle/message/traits.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// `parts`, where there are some, takes the place of `content`, as when gaia sends the message.
template <>
struct whittle::message_traits<gaia::Message> {
    using M = gaia::Message;

    static Role role(const M& m) noexcept {
        switch (m.role) {
            case gaia::MessageRole::SYSTEM: return Role::system;
            case gaia::MessageRole::ASSISTANT: return Role::assistant;
            case gaia::MessageRole::TOOL: return Role::tool;
            case gaia::MessageRole::USER: break;
        }
        return Role::user;
    }
    static void for_each_part(const M& m, auto&& visit) {
        if (m.parts) {
            for (const gaia::ContentPart& part : *m.parts) visit(view_of_content(m, part));
        } else if (front(m) == 1) {
            visit(view_of_text(m, m.content));
        }
        for (const gaia::ToolCall& call : m.toolCalls)
            visit(PartView{.kind = PartKind::tool_call, .text = call.arguments, .call_id = call.id, .tool = call.name});
    }
    static void set_text(M& m, std::size_t part, std::string_view text) {
        std::string copy(text);
        if (part >= front(m)) {
            if (!is_json_object(copy)) throw Error(Errc::invalid_argument, "set arguments: expected a JSON object");
            m.toolCalls.at(part - front(m)).arguments = std::move(copy);
        } else if (m.parts) {
            (*m.parts)[part] = gaia::ContentPart{gaia::ContentPart::Kind::TEXT, std::move(copy), {}};
        } else {
            m.content = std::move(copy);
        }
    }
    static void erase_part(M& m, std::size_t part) {
        const auto at = [&](std::size_t n) { return static_cast<std::ptrdiff_t>(n); };
        if (part >= front(m) + m.toolCalls.size()) throw Error(Errc::invalid_argument, "erase a part: there is none");
        if (part >= front(m)) {
            m.toolCalls.erase(m.toolCalls.begin() + at(part - front(m)));
        } else if (m.parts) {
            m.parts->erase(m.parts->begin() + at(part));
        } else {
            m.content.clear();
            if (m.role == gaia::MessageRole::TOOL) m.parts.emplace();  // no content: an empty one would be a result
        }
    }
    static M make(Role role, std::string_view text) {
        M m{};
        m.role = role == Role::system      ? gaia::MessageRole::SYSTEM
                 : role == Role::assistant ? gaia::MessageRole::ASSISTANT
                                           : gaia::MessageRole::USER;
        m.content = std::string(text);
        return m;
    }
    /// gaia has no mark for a failed result: its text tells.
    static std::vector<M> make_tool_results(std::span<const ToolResult> results) {
        std::vector<M> messages;
        for (const ToolResult& result : results) {
            M m{};
            m.role = gaia::MessageRole::TOOL;
            m.name = result.tool;
            m.toolCallId = result.call_id;
            if (result.parts.size() == 1 && result.parts[0].kind != PartKind::media) {
                m.content = result.parts[0].text;
            } else if (!result.parts.empty()) {
                m.parts.emplace();
                for (const Part& part : result.parts) m.parts->push_back(content_of(part));
            }
            messages.push_back(std::move(m));
        }
        return messages;
    }
    static void rename_call(M& m, std::size_t part, std::string_view call_id, std::string_view tool) {
        if (part < front(m)) {
            m.toolCallId = std::string(call_id);
            if (!tool.empty()) m.name = std::string(tool);
            return;
        }
        gaia::ToolCall& call = m.toolCalls.at(part - front(m));
        call.id = std::string(call_id);
        if (!tool.empty()) call.name = std::string(tool);
    }

private:
    static std::size_t front(const M& m) noexcept {
        if (m.parts) return m.parts->size();
        return m.role == gaia::MessageRole::TOOL || !m.content.empty() ? 1 : 0;
    }
    static std::string_view text_or_empty(const std::optional<std::string>& text) noexcept {
        return text ? std::string_view(*text) : std::string_view();
    }
    static PartView view_of_text(const M& m, std::string_view text) noexcept {
        if (m.role != gaia::MessageRole::TOOL) return {.kind = PartKind::text, .text = text};
        return {.kind = PartKind::tool_result,
                .text = text,
                .call_id = text_or_empty(m.toolCallId),
                .tool = text_or_empty(m.name)};
    }
    static PartView view_of_content(const M& m, const gaia::ContentPart& part) noexcept {
        if (part.kind == gaia::ContentPart::Kind::TEXT) return view_of_text(m, part.text);
        PartView view{.kind = PartKind::media, .media = {.url = part.imageUrl}};
        if (m.role == gaia::MessageRole::TOOL) view.call_id = text_or_empty(m.toolCallId);
        return view;
    }
    static gaia::ContentPart content_of(const Part& part) {
        if (part.kind != PartKind::media) return gaia::ContentPart::makeText(part.text);
        if (!part.media.url.empty()) return gaia::ContentPart::makeImageUrl(part.media.url);
        const std::vector<std::uint8_t> bytes(part.media.bytes.begin(), part.media.bytes.end());
        return gaia::ContentPart::makeImageUrl("data:" + part.media.mime + ";base64," + gaia::base64Encode(bytes));
    }
};
static_assert(whittle::ToolMessage<gaia::Message> && whittle::HasRenameCall<gaia::Message>);
