#include "whittle/chain/tool.hpp"

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
