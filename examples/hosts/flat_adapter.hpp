// What the user of such a runtime writes to put a chain into it.
#pragma once

#include "flat_runtime.hpp"

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
struct whittle::message_traits<flat::msg> {
    using M = flat::msg;

    static Role role(const M& m) {
        if (m.role == "system") return Role::system;
        return m.role == "tool" ? Role::tool : m.role == "assistant" ? Role::assistant : Role::user;
    }
    static void for_each_part(const M& m, auto&& visit) {
        if (m.role == "tool") {
            visit(PartView{.kind = PartKind::tool_result, .text = m.content, .call_id = m.tool_call_id});
        } else if (!m.content.empty()) {
            visit(PartView{.kind = PartKind::text, .text = m.content});
        }
        for (const auto& [name, arguments, id] : m.tool_calls)
            visit(PartView{.kind = PartKind::tool_call, .text = arguments, .call_id = id, .tool = name});
    }
    static void set_text(M& m, std::size_t part, std::string_view text) {
        if (part < front(m)) {
            m.content = std::string(text);
            return;
        }
        if (!is_json_object(text)) throw Error(Errc::invalid_argument, "set arguments: expected a JSON object");
        m.tool_calls.at(part - front(m)).arguments = std::string(text);
    }
    static void erase_part(M& m, std::size_t part) {
        if (part < front(m)) return m.content.clear();
        if (part - front(m) >= m.tool_calls.size()) throw Error(Errc::invalid_argument, "erase a part: there is none");
        m.tool_calls.erase(m.tool_calls.begin() + static_cast<std::ptrdiff_t>(part - front(m)));
    }
    static M make(Role role, std::string_view text) { return {std::string(to_string(role)), std::string(text)}; }
    static std::vector<M> make_tool_results(std::span<const ToolResult> results) {
        std::vector<M> messages;
        for (const ToolResult& result : results) {
            messages.push_back({"tool", "", {}, result.call_id});
            for (const Part& part : result.parts) messages.back().content += part.text;
        }
        return messages;
    }

private:
    static std::size_t front(const M& m) { return m.role == "tool" || !m.content.empty() ? 1 : 0; }
};
static_assert(whittle::ToolMessage<flat::msg>);
// [/traits]

namespace flat {

// [attached]
/// A chain behind the two callbacks. What the messages cannot hold is in the conversation beside them.
class Attached {
public:
    Attached(const whittle::Chain<msg>& chain, std::string id) : chain_(chain), conversation_(std::move(id)) {}

    void before_llm_call(std::vector<msg>& list) {
        find_ids(list);
        const std::uint64_t version = conversation_.sync(list, shown_).version;
        shown_.clear();
        chain_.before_model(conversation_);
        changes_ = conversation_.replacements_since(version);
        if (!changes_.empty()) conversation_.apply_to(list, version);
    }

    void after_tool(const std::string& tool, std::string& result) {
        whittle::ToolContext call{.key_safe_call_id = tool + "-" + std::to_string(++tool_runs_), .tool = tool};
        call.conversation_id = conversation_.id();
        call.storage = chain_.config().storage;
        whittle::CollectingSink sink;
        auto outcome = chain_.wrap_tool(call, sink, [&](const whittle::ToolContext&, whittle::PartSink& out) {
            out.write(result);
            return whittle::ToolOutcome{};
        });
        shown_.push_back(collect_tool_return(call, sink, std::move(outcome)));
        result = text_of(shown_.back());
    }

    [[nodiscard]] whittle::Conversation<msg>& conversation() { return conversation_; }
    [[nodiscard]] const whittle::Changes& changes() const { return changes_; }

private:
    /// The id that the tool hook did not have stands in the message with the result.
    void find_ids(const std::vector<msg>& list) {
        for (std::size_t i = conversation_.size(); i < list.size(); ++i) {
            const auto shown = std::ranges::find_if(shown_, [&](const whittle::ToolReturn& r) {
                return r.result.call_id.empty() && text_of(r) == list[i].content;
            });
            if (list[i].role == "tool" && shown != shown_.end()) shown->result.call_id = list[i].tool_call_id;
        }
    }

    const whittle::Chain<msg>& chain_;
    whittle::Conversation<msg> conversation_;
    std::vector<whittle::ToolReturn> shown_{};  // results that the list does not have yet
    whittle::Changes changes_{};
    int tool_runs_ = 0;
};
// [/attached]

}  // namespace flat
