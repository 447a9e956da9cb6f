// A tool whose result a chain takes on arrival, for benchmarks.
#pragma once

#include <whittle/whittle.hpp>

#include <cstddef>
#include <string>

namespace whittle::bench {

inline std::string lines_of(std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += "2026-11-22T10:00:00Z worker 17: request finished in 12 ms\n";
    text.resize(bytes);
    return text;
}

/// Calls `write(PartSink&)` as the tool `name`; what the chain makes of it goes to `shown`.
template <typename Write>
void run_tool(const Chain<>& chain, const std::string& name, PartSink& shown, Write&& write) {
    ToolContext context{.call_id = name, .key_safe_call_id = name, .tool = "tool"};
    context.conversation_id = "bench";
    context.storage = chain.config().storage;
    context.counter = chain.config().token_counter;
    chain.wrap_tool(context, shown, [&](const ToolContext&, PartSink& out) {
        write(out);
        return ToolOutcome{};
    });
}

}  // namespace whittle::bench
