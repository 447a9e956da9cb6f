#pragma once

// agent.cpp (mozilla-ai/agent.cpp), and whoever else keeps llama.cpp's common_chat_msg: traits of that type, and a
// chain behind agent.cpp's callbacks. A file to include, or to copy and change, behind agent.cpp's own "callbacks.h"
// (which brings llama.cpp's "chat.h"); it includes nothing of either.

#include "whittle/base/text.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/conversation/tool.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Shown in the order in which templates write them: reasoning, content, typed content, calls.
template <>
struct whittle::message_traits<common_chat_msg> {
    using M = common_chat_msg;

    static Role role(const M& m) noexcept {
        if (m.role == "system" || m.role == "developer") return Role::system;
        if (m.role == "tool") return Role::tool;
        return m.role == "assistant" ? Role::assistant : Role::user;
    }
    static void for_each_part(const M& m, auto&& visit) {
        if (!m.reasoning_content.empty()) visit(PartView{.kind = PartKind::thinking, .text = m.reasoning_content});
        if (has_content(m)) visit(view_of_text(m, m.content));
        for (const common_chat_msg_content_part& part : m.content_parts)
            visit(part.type == "text" ? view_of_text(m, part.text)
                                      : PartView{.kind = PartKind::other, .text = part.text});
        for (const common_chat_tool_call& call : m.tool_calls)
            visit(PartView{.kind = PartKind::tool_call, .text = call.arguments, .call_id = call.id, .tool = call.name});
    }
    static void set_text(M& m, std::size_t part, std::string_view text) {
        const Place place = find(m, part);
        if (place.field == Field::calls && !is_json_object(text))
            throw Error(Errc::invalid_argument, "set arguments: expected a JSON object");
        text_at(m, place) = std::string(text);
    }
    static void erase_part(M& m, std::size_t part) {
        const Place place = find(m, part);
        const auto at = static_cast<std::ptrdiff_t>(place.index);
        if (place.field == Field::calls) {
            m.tool_calls.erase(m.tool_calls.begin() + at);
        } else if (place.field == Field::parts) {
            m.content_parts.erase(m.content_parts.begin() + at);
            if (m.content_parts.empty()) forget_result(m);
        } else {
            text_at(m, place).clear();
            if (place.field == Field::content) forget_result(m);
        }
    }
    static M make(Role role, std::string_view text) {
        M m;
        m.role = std::string(to_string(role));
        m.content = std::string(text);
        return m;
    }
    /// llama.cpp has neither a mark for a failed result nor media in one: the text tells.
    static std::vector<M> make_tool_results(std::span<const ToolResult> results) {
        std::vector<M> messages;
        for (const ToolResult& result : results) {
            M m;
            m.role = "tool";
            m.tool_name = result.tool;
            m.tool_call_id = result.call_id;
            for (const Part& part : result.parts)
                m.content +=
                    part.kind == PartKind::media ? "\n[" + part.media.mime + " that cannot be shown]" : part.text;
            messages.push_back(std::move(m));
        }
        return messages;
    }
    static void rename_call(M& m, std::size_t part, std::string_view call_id, std::string_view tool) {
        const Place place = find(m, part);
        const bool is_call = place.field == Field::calls;
        (is_call ? m.tool_calls[place.index].id : m.tool_call_id) = std::string(call_id);
        if (!tool.empty()) (is_call ? m.tool_calls[place.index].name : m.tool_name) = std::string(tool);
    }

private:
    enum class Field { reasoning, content, parts, calls };
    struct Place {
        Field field;
        std::size_t index = 0;
    };

    /// A result may be empty; a message of that role with nothing in it at all is what an erased one leaves.
    static bool has_content(const M& m) noexcept {
        if (!m.content.empty() || m.role != "tool") return !m.content.empty();
        return m.content_parts.empty() && (!m.tool_call_id.empty() || !m.tool_name.empty());
    }
    static void forget_result(M& m) {
        if (m.role != "tool" || !m.content_parts.empty() || !m.content.empty()) return;
        m.tool_call_id.clear();
        m.tool_name.clear();
    }
    static PartView view_of_text(const M& m, std::string_view text) noexcept {
        if (m.role != "tool") return {.kind = PartKind::text, .text = text};
        return {.kind = PartKind::tool_result, .text = text, .call_id = m.tool_call_id, .tool = m.tool_name};
    }
    static Place find(const M& m, std::size_t part) {
        if (!m.reasoning_content.empty() && part-- == 0) return {Field::reasoning};
        if (has_content(m) && part-- == 0) return {Field::content};
        if (part < m.content_parts.size()) return {Field::parts, part};
        part -= m.content_parts.size();
        if (part < m.tool_calls.size()) return {Field::calls, part};
        throw Error(Errc::invalid_argument, "edit a part: the message has no such part");
    }
    static std::string& text_at(M& m, const Place& place) {
        switch (place.field) {
            case Field::reasoning: return m.reasoning_content;
            case Field::content: return m.content;
            case Field::parts: return m.content_parts[place.index].text;
            case Field::calls: break;
        }
        return m.tool_calls[place.index].arguments;
    }
};
static_assert(whittle::ToolMessage<common_chat_msg> && whittle::HasRenameCall<common_chat_msg>);

namespace whittle::inline v0::host {

/// A chain behind the callbacks of one agent_cpp::Agent, which owns them: keep a pointer to these, and put them last,
/// since what other callbacks make of a reply comes first. Used by one thread at a time, as the agent.
class AgentCppHooks final : public agent_cpp::Callback {
public:
    /// `chain` must outlive it. `id` names the conversation in keys of the store.
    AgentCppHooks(const Chain<common_chat_msg>& chain, std::string id) : chain_(&chain), conversation_(std::move(id)) {}

    /// Of the agent's tools, for notices that name the one that reads back; none by default.
    void set_agent_tool_specs(std::vector<ToolSpec> tools) { tools_ = std::move(tools); }

    void before_llm_call(std::vector<common_chat_msg>& messages) override {
        const std::uint64_t version = sync_from(messages);
        chain_->before_model(conversation_, {.tools = tools_});
        conversation_.apply_to(messages, version);
    }
    void after_llm_call(common_chat_msg& reply) override {
        conversation_.push_back(reply);
        calls_ = chain_->pending_tool_calls(conversation_, {.tools = tools_});
        next_call_ = 0;
    }
    /// Tools run in the order of the calls, and each ends here. A failure stays the agent's: it throws it.
    void after_tool_execution(std::string& tool, agent_cpp::ToolResult& result) override {
        if (next_call_ >= calls_.size()) return;
        const ToolContext& context = calls_[next_call_++];
        if (result.has_error() || context.tool != tool) return;
        CollectingSink sink;
        ToolOutcome outcome = chain_->wrap_tool(context, sink, [&](const ToolContext&, PartSink& out) {
            out.write(result.output());
            return ToolOutcome{};
        });
        returns_.push_back(collect_tool_return(context, sink, std::move(outcome)));
        result.output() = text_of(returns_.back());
    }

    /// `agent.run_loop(messages)`, which a context that is too small ends with an exception. The loop
    /// can go on where it was: it is run again with a smaller list. Throws what the loop throws, if the list cannot get
    /// smaller too.
    template <typename Agent>
    std::string run_loop_retrying_overflow(Agent& agent, std::vector<common_chat_msg>& messages) {
        for (;;) {
            try {
                return agent.run_loop(messages);
            } catch (const agent_cpp::ModelError& error) {
                const bool is_overflow = std::string_view(error.what()).find("context size") != std::string_view::npos;
                if (!is_overflow || !on_overflow(messages)) throw;
            }
        }
    }
    /// Whether the list got smaller.
    bool on_overflow(std::vector<common_chat_msg>& messages) {
        const std::uint64_t version = sync_from(messages);
        const bool smaller = chain_->on_overflow(conversation_, {}, {.tools = tools_});
        conversation_.apply_to(messages, version);
        return smaller;
    }

    /// What the model sees, with its journal.
    [[nodiscard]] Conversation<common_chat_msg>& conversation() noexcept { return conversation_; }
    /// What a tool of yours that runs one of the chain's (`Chain::tools`) gives along.
    [[nodiscard]] ToolContext context(std::string tool, std::string arguments) const {
        ToolContext context{.tool = std::move(tool), .arguments = std::move(arguments)};
        context.conversation_id = conversation_.id();
        context.storage = chain_->config().storage;
        context.objects = conversation_.objects();
        return context;
    }

private:
    std::uint64_t sync_from(const std::vector<common_chat_msg>& messages) {
        const std::uint64_t version = conversation_.sync(messages, returns_).version;
        returns_.clear();
        return version;
    }

    const Chain<common_chat_msg>* chain_;
    Conversation<common_chat_msg> conversation_;
    std::vector<ToolSpec> tools_{};
    std::vector<ToolContext> calls_{};  // of the newest reply
    std::size_t next_call_ = 0;
    std::vector<ToolReturn> returns_{};  // results that the list has from the next call on
};

}  // namespace whittle::inline v0::host
