// A chain with one Condensing over a store in memory, and texts to give it.
#pragma once

#include "reduction/tools.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/condensing/condensing.hpp"
#include "whittle/conversation/read_offloaded.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace whittle::testing {

struct CondensingBench {
    explicit CondensingBench(CondensingConfig config = {}, ChainConfig settings = {})
        : storage(settings.storage),
          tools{{.name = "read_offloaded", .description = {}}},
          chain(std::move(settings), Condensing<>{std::move(config)}) {}

    static CondensingBench with_store(CondensingConfig config = {}) {
        return CondensingBench(std::move(config), ChainConfig{.storage = memory_storage()});
    }

    ToolContext context(const std::string& tool, const std::string& arguments = "{}") const {
        ToolContext context{.call_id = "c1", .key_safe_call_id = "c1", .tool = tool};
        context.arguments = arguments;
        context.tools = tools;
        context.conversation_id = "conv";
        context.storage = storage;
        context.counter = chars_counter();
        context.language = chain.language();
        return context;
    }

    ToolReturn run(const ToolContext& call, const std::function<ToolOutcome(PartSink&)>& tool) const {
        CollectingSink sink;
        ToolOutcome outcome = chain.wrap_tool(call, sink, [&](const ToolContext&, PartSink& out) { return tool(out); });
        return collect_tool_return(call, sink, std::move(outcome));
    }
    ToolReturn run(const std::string& text, const std::string& tool = "tool",
                   const std::string& arguments = "{}") const {
        return run(context(tool, arguments), [&](PartSink& out) {
            out.push({.text = text});
            return ToolOutcome{};
        });
    }
    std::string shown(const std::string& text, const std::string& tool = "tool",
                      const std::string& arguments = "{}") const {
        return text_of(run(text, tool, arguments));
    }

    std::shared_ptr<Storage> storage;
    std::vector<ToolSpec> tools;
    Chain<> chain;
};

/// The form of a text, without its notice; empty: it has none.
inline std::string form_of_text(const std::string& text, const CondensingConfig& config = {}) {
    const auto form = condense(text, config, Language::english);
    return form ? form->text : std::string();
}

/// `rows` objects of one shape.
inline std::string json_rows(int rows) {
    std::string text = "[\n";
    for (int i = 0; i < rows; ++i) {
        text += "  {\n    \"id\": " + std::to_string(1'000 + i) + ",\n    \"name\": \"item " + std::to_string(i) +
                "\",\n    \"price\": " + std::to_string(10 + i % 7) + ".50,\n    \"in_stock\": true\n  }";
        text += i + 1 < rows ? ",\n" : "\n";
    }
    return text + "]\n";
}

}  // namespace whittle::testing
