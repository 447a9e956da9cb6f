#include "whittle/conversation/tool.hpp"

#include "whittle/base/error.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0 {

void CollectingSink::write(std::string_view text) {
    if (!continues_) parts_.push_back({});
    continues_ = true;
    parts_.back().text += text;
}

void CollectingSink::push(Part part) {
    continues_ = false;
    parts_.push_back(std::move(part));
}

void CollectingSink::mark_stored(StoredPart stored) {
    if (parts_.empty()) throw Error(Errc::invalid_argument, "say what is stored: there is no part yet");
    stored.part = parts_.size() - 1;
    stored_.push_back(std::move(stored));
}

ToolReturn collect_tool_return(const ToolContext& context, CollectingSink& sink, ToolOutcome outcome) {
    return {.result = {context.call_id, context.tool, sink.take(), outcome.is_error},
            .stored = sink.take_stored(),
            .original = std::move(outcome.original),
            .read_back = std::move(outcome.read_back)};
}

std::string text_of(const ToolReturn& shown) {
    std::string text;
    for (const Part& part : shown.result.parts) text += part.text;
    return text;
}

void detail::add_missing(std::vector<Tool>& tools, std::vector<Tool> more) {
    for (Tool& tool : more) {
        if (std::ranges::find(tools, tool.name, &Tool::name) == tools.end()) tools.push_back(std::move(tool));
    }
}

Tool text_tool(std::string name, std::string description, std::string parameters,
               std::function<std::string(std::string_view)> function) {
    Tool tool{std::move(name), std::move(description), std::move(parameters)};
    tool.invoke = [function = std::move(function)](const ToolContext& context, PartSink& out) {
        out.write(function(context.arguments));
        return ToolOutcome{};
    };
    return tool;
}

}  // namespace whittle::inline v0
