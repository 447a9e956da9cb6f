#include "recorded.hpp"

namespace whittle::inline v0::evaluation::detail {
namespace {

std::string dumped(const nlohmann::ordered_json& json) {
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

const nlohmann::ordered_json* member_of(const nlohmann::ordered_json& json, const char* key) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    return found == json.end() ? nullptr : &*found;
}

}  // namespace

std::string tools_text(const std::vector<ToolSpec>& tools, const nlohmann::ordered_json& rest) {
    const nlohmann::ordered_json* recorded = member_of(rest, "tools");
    if (recorded != nullptr && recorded->is_array()) return recorded->empty() ? std::string() : dumped(*recorded);
    return tools.empty() ? std::string() : dumped(whittle::detail::to_openai_tools(tools));
}

void take_origin(SessionInput& input, std::string_view file, const nlohmann::ordered_json& rest) {
    const std::string name = std::filesystem::path(file).filename().string();
    const nlohmann::ordered_json* source = member_of(rest, "source");
    input.source = source != nullptr && source->is_string() ? source->get<std::string>() : name;
    input.kind = guess_kind(name, input.source);
    const nlohmann::ordered_json* meta = member_of(rest, "meta");
    const nlohmann::ordered_json* tokens = meta == nullptr ? nullptr : member_of(*meta, "est_tokens");
    if (tokens != nullptr && tokens->is_number()) input.estimated_tokens = tokens->get<std::int64_t>();
}

}  // namespace whittle::inline v0::evaluation::detail
