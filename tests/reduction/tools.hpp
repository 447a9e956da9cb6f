// Tool calls through the truncation phase of a chain.
#pragma once

#include "any_host.hpp"
#include "whittle/reduction/detail/clearing.hpp"
#include "whittle/reduction/detail/truncation.hpp"

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::testing {

[[nodiscard]] inline bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

inline std::string repeat(std::string_view text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

inline std::vector<std::string> keys_in(Storage& storage) {
    std::vector<std::string> keys;
    storage.list("", [&](const ObjectInfo& info) {
        keys.push_back(info.key);
        return true;
    });
    return keys;
}

/// A chain with one Reduction over a store in memory, and tools that give what a test wants.
struct Bench {
    explicit Bench(ReductionConfig config, std::string reader = {}, ChainConfig settings = {},
                   ReductionCallbacks<> callbacks = {}, const MessageType& type = *message_types().front())
        : message_type(type),
          storage(settings.storage ? settings.storage : memory_storage()),
          tools{{.name = std::move(reader), .description = {}}},
          chain(type, with_storage(std::move(settings)), std::move(config), std::move(callbacks), sink_for_events) {}

    static Bench of(const MessageType& type, ReductionConfig config, std::string reader = {}, ChainConfig settings = {},
                    ReductionCallbacks<> callbacks = {}) {
        return Bench(std::move(config), std::move(reader), std::move(settings), std::move(callbacks), type);
    }

    ToolContext context(const std::string& id, std::string tool = "tool", std::string arguments = "{}") const {
        ToolContext context{.call_id = id, .key_safe_call_id = id, .tool = std::move(tool)};
        context.arguments = std::move(arguments);
        context.tools = tools;
        context.conversation_id = "conv";
        context.storage = storage;
        context.counter = chars_counter();
        context.language = chain.language();
        context.events = &sink_for_events;
        context.on_middleware_error = chain.config().on_error;
        return context;
    }

    ToolOutcome run_into(PartSink& sink, const ToolContext& call, const std::vector<Part>& parts) const {
        return chain.wrap_tool(call, sink, [&](const ToolContext&, PartSink& out) {
            for (const Part& part : parts) out.push(part);
            return ToolOutcome{};
        });
    }
    ToolOutcome run_into(PartSink& sink, const std::string& id, const std::vector<Part>& parts) const {
        return run_into(sink, context(id), parts);
    }
    ToolReturn run(const ToolContext& call, const std::vector<Part>& parts) const {
        CollectingSink sink;
        ToolOutcome outcome = run_into(sink, call, parts);
        return collect_tool_return(call, sink, std::move(outcome));
    }
    ToolReturn run(const std::string& id, const std::vector<Part>& parts, const std::string& tool = "tool") const {
        return run(context(id, tool), parts);
    }
    ToolReturn run(const std::string& id, std::initializer_list<std::string> texts,
                   const std::string& tool = "tool") const {
        std::vector<Part> parts;
        for (const std::string& text : texts) parts.push_back({.text = text});
        return run(id, parts, tool);
    }

    /// One text, pushed whole or written in the given pieces.
    ToolReturn run_chunks(const std::string& id, const std::vector<std::string>& chunks) const {
        CollectingSink sink;
        const ToolContext call = context(id);
        ToolOutcome outcome = chain.wrap_tool(call, sink, [&](const ToolContext&, PartSink& out) {
            for (const std::string& chunk : chunks) out.write(chunk);
            return ToolOutcome{};
        });
        return collect_tool_return(call, sink, std::move(outcome));
    }
    ToolReturn run_text(const ToolContext& call, const std::string& text, bool streams) const {
        CollectingSink sink;
        ToolOutcome outcome = chain.wrap_tool(call, sink, [&](const ToolContext&, PartSink& out) {
            streams ? out.write(text) : out.push({.text = text});
            return ToolOutcome{};
        });
        return collect_tool_return(call, sink, std::move(outcome));
    }
    ToolReturn run_text(const std::string& id, const std::string& text, bool streams) const {
        if (!streams) return run(id, {text});
        std::vector<std::string> chunks;
        for (std::size_t at = 0; at < text.size(); at += 700) chunks.push_back(text.substr(at, 700));
        return run_chunks(id, chunks);
    }

    /// A conversation that asked for the call and took the result in.
    AnyConversation push(const ToolReturn& back) const {
        AnyConversation c(message_type);
        c.push_back(ChatMessage::user("go"));
        c.push_back(ChatMessage::assistant("").call(back.result.call_id, back.result.tool));
        c.push_tool_results(back);
        return c;
    }

    std::vector<std::string> keys() const { return keys_in(*storage); }

    const MessageType& message_type;
    std::shared_ptr<Storage> storage;
    std::vector<ToolSpec> tools;
    std::shared_ptr<std::vector<std::string>> heard = std::make_shared<std::vector<std::string>>();
    std::vector<std::string>& events = *heard;
    EventSink sink_for_events = [heard = heard](const Event& event) {
        heard->push_back(std::string(event.kind) + ": " + std::string(event.text));
    };
    AnyChain chain;

private:
    ChainConfig with_storage(ChainConfig settings) const {
        settings.storage = storage;
        return settings;
    }
};

}  // namespace whittle::testing
