#pragma once

// gaia (amd/gaia, cpp/): a chain around a gaia::Agent. A file to include, or to copy and change, behind gaia's own
// "gaia/agent.h"; it includes nothing of gaia's.

#include "whittle/base/detail/names.hpp"
#include "whittle/base/text.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/conversation/read_offloaded.hpp"
#include "whittle/hosts/gaia_message.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::host {

/// A chain around one gaia::Agent. gaia's loop lends nobody its list while a query runs, so the chain works where gaia
/// can be reached: around each tool, before a query, and where a query ended because the request was too large. Must
/// outlive the agent's tools. Used by one thread at a time, as the agent.
class GaiaHooks {
public:
    /// gaia cuts a tool's result, written as JSON, above this many bytes and keeps its head and tail alone.
    static constexpr std::size_t gaia_cut_bytes = 4'000;

    /// `chain` must outlive it. `id` names the conversation in keys of the store.
    GaiaHooks(const Chain<gaia::Message>& chain, std::string id) : chain_(&chain), conversation_(std::move(id)) {}
    GaiaHooks(const GaiaHooks&) = delete;
    GaiaHooks& operator=(const GaiaHooks&) = delete;

    /// Puts the chain around every tool that is registered now, adds `read_offloaded` with pages that gaia leaves
    /// whole, and turns gaia's own cut of the history off. Once, before the first query.
    template <typename Agent>
    void attach(Agent& agent) {
        auto& tools = agent.toolRegistry();
        const auto registered = tools.allTools();  // a copy: they are registered anew
        for (auto [name, tool] : registered) {
            tool.callback = [this, called = name, inner = tool.callback](const gaia::json& arguments) {
                return run_tool(called, arguments, inner);
            };
            tools.removeTool(name);
            tools.registerTool(std::move(tool));
        }
        if (chain_->config().storage) tools.registerTool(reader());
        auto config = agent.config();
        config.maxHistoryMessages = 0;
        agent.setConfig(config);
        agent.rebuildSystemPrompt();
    }

    /// A query with the chain in front of it. One that ended because the request was too large goes on, in requests
    /// that were made smaller, with `continue_text` as the user's word; three times at most.
    template <typename Agent>
    gaia::json process_query_retrying_overflow(Agent& agent, const std::string& text,
                                               const std::string& continue_text = "Please go on.") {
        before_query(agent);
        gaia::json answer = agent.processQuery(text);
        for (int tries = 0; tries < 3; ++tries) {
            const std::optional<Overflow> overflow = overflow_of(answer.value("result", ""));
            if (!overflow || !on_overflow(agent, *overflow)) break;
            answer = agent.processQuery(continue_text);
        }
        return answer;
    }

    /// Takes over what is new in the agent's history and gives it back as the chain leaves it.
    template <typename Agent>
    void before_query(Agent& agent) {
        with_history(agent, [&](const HookRequest<gaia::Message>& request) {
            chain_->before_model(conversation_, request);
            return true;
        });
    }
    /// Whether the history got smaller.
    template <typename Agent>
    bool on_overflow(Agent& agent, const Overflow& overflow) {
        return with_history(agent, [&](const HookRequest<gaia::Message>& request) {
            return chain_->on_overflow(conversation_, overflow, request);
        });
    }
    /// Runs a tool through the chain; gives its own result where the chain leaves that as it is.
    gaia::json run_tool(const std::string& tool, const gaia::json& arguments, const gaia::ToolCallback& inner);

    /// What the model sees, with its journal.
    [[nodiscard]] Conversation<gaia::Message>& conversation() noexcept { return conversation_; }

private:
    template <typename Agent>
    bool with_history(Agent& agent, const std::function<bool(const HookRequest<gaia::Message>&)>& hook) {
        std::vector<gaia::Message> history = agent.history();
        find_ids(history);
        const std::uint64_t version = conversation_.sync(history, returns_).version;
        returns_.clear();
        const std::string system = agent.systemPrompt();
        const bool changed = hook({.tools = specs_, .system = system});
        conversation_.apply_to(history, version);
        agent.setHistory(std::move(history));
        return changed;
    }
    void find_ids(const std::vector<gaia::Message>& history);
    [[nodiscard]] ToolContext context_of(const std::string& tool, const gaia::json& arguments);
    [[nodiscard]] gaia::ToolInfo reader();
    /// The numbers are those of gaia's message, where it has them.
    [[nodiscard]] static std::optional<Overflow> overflow_of(const std::string& result);

    const Chain<gaia::Message>* chain_;
    Conversation<gaia::Message> conversation_;
    std::vector<ToolReturn> returns_{};  // results that the history has from the end of the query on
    std::vector<ToolSpec> specs_{};      // of the chain's tools
    int tool_runs_ = 0;
};

inline gaia::json GaiaHooks::run_tool(const std::string& tool, const gaia::json& arguments,
                                      const gaia::ToolCallback& inner) {
    const ToolContext context = context_of(tool, arguments);
    CollectingSink sink;
    gaia::json whole;
    ToolOutcome outcome = chain_->wrap_tool(context, sink, [&](const ToolContext&, PartSink& out) {
        whole = inner(arguments);
        out.write(whole.is_string() ? whole.get_ref<const std::string&>() : whole.dump());
        return ToolOutcome{.is_error = whole.is_object() && whole.value("status", "") == "error"};
    });
    ToolReturn shown = collect_tool_return(context, sink, std::move(outcome));
    if (shown.stored.empty() && !shown.original) return whole;
    std::string text = text_of(shown);
    if (gaia::json(text).dump().size() > gaia_cut_bytes && !shown.stored.empty())
        text = std::string(grapheme_prefix(text, 500)) + "\n[cut; full text: " + shown.stored.front().key + "]";
    gaia::json result = text;
    shown.result.parts = {Part{.text = result.dump()}};  // as gaia will write it
    for (StoredPart& stored : shown.stored) stored.part = 0;
    returns_.push_back(std::move(shown));
    return result;
}

/// gaia does not tell a tool of which call it is: the message with the result has the id.
inline void GaiaHooks::find_ids(const std::vector<gaia::Message>& history) {
    for (std::size_t i = 0; i < history.size(); ++i) {
        const gaia::Message& m = history[i];
        if (m.role != gaia::MessageRole::TOOL || !m.toolCallId) continue;
        const auto found = std::ranges::find_if(
            returns_, [&](const ToolReturn& r) { return r.result.call_id.empty() && text_of(r) == m.content; });
        if (found != returns_.end()) found->result.call_id = *m.toolCallId;
    }
}

inline ToolContext GaiaHooks::context_of(const std::string& tool, const gaia::json& arguments) {
    ToolContext context{.key_safe_call_id = to_safe_name(tool + "-" + std::to_string(++tool_runs_)),
                        .tool = tool,
                        .arguments = arguments.dump()};
    context.tools = specs_;
    context.conversation_id = conversation_.id();
    context.storage = chain_->config().storage;
    context.objects = conversation_.objects();
    context.counter = chain_->config().token_counter;
    return context;
}

inline gaia::ToolInfo GaiaHooks::reader() {
    Tool tool = read_offloaded_tool(nullptr, {.page_bytes = 1'500, .grep_result_bytes = 1'500});
    specs_ = {tool.spec()};
    gaia::ToolInfo info;
    info.name = tool.name;
    info.description = tool.description;
    const gaia::json schema = gaia::json::parse(tool.parameters);
    for (const auto& [name, property] : schema.at("properties").items()) {
        const bool is_text = property.value("type", "") == "string";
        info.parameters.push_back({name, is_text ? gaia::ToolParamType::STRING : gaia::ToolParamType::INTEGER,
                                   name == "reference", property.value("description", "")});
    }
    info.callback = [this, tool = std::move(tool)](const gaia::json& arguments) {
        const ToolContext context = context_of(tool.name, arguments);
        CollectingSink sink;
        ToolOutcome outcome = tool.invoke(context, sink);
        return gaia::json(text_of(collect_tool_return(context, sink, std::move(outcome))));
    };
    return info;
}

inline std::optional<Overflow> GaiaHooks::overflow_of(const std::string& result) {
    if (!result.starts_with("Unable to complete task due to LLM error")) return std::nullopt;
    const auto number_behind = [&](std::string_view words) {
        const std::size_t at = result.find(words);
        std::int64_t number = 0;
        for (std::size_t i = at + words.size(); at != std::string::npos && i < result.size(); ++i) {
            if (result[i] < '0' || result[i] > '9' || number > INT32_MAX) break;
            number = 10 * number + (result[i] - '0');
        }
        return number;
    };
    if (result.find("context") == std::string::npos) return std::nullopt;
    return Overflow{.context_limit_tokens = number_behind("n_ctx="), .requested_tokens = number_behind("prompt is ")};
}

}  // namespace whittle::inline v0::host
