// What the user of such a runtime writes to put a chain into it.
#pragma once

#include "block_runtime.hpp"

#include <whittle/whittle.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// [traits]
template <>
struct whittle::message_traits<blocks::message> {
    using M = blocks::message;

    static Role role(const M& m) { return m.sender == M::from::model ? Role::assistant : Role::user; }

    static void for_each_part(const M& m, auto&& visit) {
        for (const auto& block : m.content) {
            if (const auto* text = std::get_if<blocks::text>(&block)) {
                visit(PartView{.kind = PartKind::text, .text = text->value});
            } else if (const auto* result = std::get_if<blocks::tool_result>(&block)) {
                visit(PartView{.kind = PartKind::tool_result,
                               .text = result->content,
                               .call_id = result->id,
                               .is_error = result->failed});
            } else if (const auto* use = std::get_if<blocks::tool_use>(&block)) {
                const std::string arguments = use->input.dump();  // lives as long as the call
                visit(PartView{.kind = PartKind::tool_call, .text = arguments, .call_id = use->id, .tool = use->name});
            }
        }
    }
    static void set_text(M& m, std::size_t part, std::string_view text) {
        auto& block = m.content.at(part);
        if (auto* said = std::get_if<blocks::text>(&block)) said->value = std::string(text);
        if (auto* result = std::get_if<blocks::tool_result>(&block)) result->content = std::string(text);
        if (auto* use = std::get_if<blocks::tool_use>(&block)) {
            if (!is_json_object(text)) throw Error(Errc::invalid_argument, "set arguments: expected a JSON object");
            use->input = nlohmann::json::parse(text);
        }
    }
    static void erase_part(M& m, std::size_t part) {
        if (part >= m.content.size()) throw Error(Errc::invalid_argument, "erase a part: there is none");
        m.content.erase(m.content.begin() + static_cast<std::ptrdiff_t>(part));
    }
    static M make(Role role, std::string_view text) {
        return {role == Role::assistant ? M::from::model : M::from::user, {blocks::text{std::string(text)}}};
    }
    /// There is no role for tools: all results of a reply are one message of the user.
    static std::vector<M> make_tool_results(std::span<const ToolResult> results) {
        M message;
        for (const ToolResult& result : results) {
            blocks::tool_result block{result.call_id, {}, result.is_error};
            for (const Part& part : result.parts) block.content += part.text;
            message.content.emplace_back(std::move(block));
        }
        return {std::move(message)};
    }
};
static_assert(whittle::ToolMessage<blocks::message>);
// [/traits]

namespace blocks {

// [attached]
/// A chain behind the three hooks.
class Attached {
public:
    Attached(const whittle::Chain<message>& chain, std::string id) : chain_(chain), conversation_(std::move(id)) {}

    void before_request(std::vector<message>& list) {
        const std::uint64_t version = conversation_.sync(list, returns_).version;
        returns_.clear();
        chain_.before_model(conversation_);
        changes_ = conversation_.replacements_since(version);
        if (!changes_.empty()) conversation_.apply_to(list, version);
    }

    void after_reply(const message& reply) {
        conversation_.push_back(reply);
        calls_ = chain_.pending_tool_calls(conversation_);
    }

    void after_tool(tool_result& result) {
        const auto call = std::ranges::find(calls_, result.id, &whittle::ToolContext::call_id);
        if (call == calls_.end()) return;
        whittle::CollectingSink sink;
        auto outcome = chain_.wrap_tool(*call, sink, [&](const whittle::ToolContext&, whittle::PartSink& out) {
            out.write(result.content);
            return whittle::ToolOutcome{.is_error = result.failed};
        });
        returns_.push_back(collect_tool_return(*call, sink, std::move(outcome)));
        result.content = text_of(returns_.back());
    }

    [[nodiscard]] whittle::Conversation<message>& conversation() { return conversation_; }
    [[nodiscard]] const whittle::Changes& changes() const { return changes_; }

private:
    const whittle::Chain<message>& chain_;
    whittle::Conversation<message> conversation_;
    std::vector<whittle::ToolContext> calls_{};   // of the newest reply
    std::vector<whittle::ToolReturn> returns_{};  // their results, which the list has from the next request on
    whittle::Changes changes_{};
};
// [/attached]

}  // namespace blocks
