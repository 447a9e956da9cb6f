#include "whittle/anthropic/detail/anthropic_request.hpp"

#include "cache_breakpoints.hpp"
#include "whittle/provider/detail/check_endpoint.hpp"
#include "whittle/provider/detail/json_body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace whittle::inline v0 {

void check_anthropic_model(const AnthropicModelConfig& config, std::string_view name, Problems& problems) {
    const auto field = [&](std::string_view last) { return fmt::format("{}.{}", name, last); };
    detail::check_endpoint(config.model, config.base_url, name, problems);
    if (config.max_output_tokens < 1)
        problems.error(field("max_output_tokens"), std::to_string(config.max_output_tokens), "1 or more");
    if (config.cache_breakpoints < 0 || config.cache_breakpoints > 4)
        problems.error(field("cache_breakpoints"), std::to_string(config.cache_breakpoints), "0 to 4");
    if (!config.cache_lifetime.empty() && config.cache_lifetime != "5m" && config.cache_lifetime != "1h")
        problems.error(field("cache_lifetime"), config.cache_lifetime, "\"5m\", \"1h\" or empty");
    detail::check_extra(config.extra, name, problems);
}

namespace anthropic {

namespace {

using detail::find_member;
using detail::find_string;
using nlohmann::ordered_json;
using whittle::detail::render;

constexpr std::array<std::string_view, 3> reserved{"messages", "system", "stream"};
constexpr const char* block_binding_beta = "thinking-binding-controls-2026-08-01";

ordered_json breakpoint_of(const AnthropicModelConfig& config) {
    ordered_json breakpoint{{"type", "ephemeral"}};
    if (!config.cache_lifetime.empty()) breakpoint["ttl"] = config.cache_lifetime;
    return breakpoint;
}

std::string write_tool(const ToolSpec& tool, const ordered_json* breakpoint) {
    std::string text = R"({"name":)" + whittle::detail::quoted(tool.name);
    if (!tool.description.empty()) text += R"(,"description":)" + whittle::detail::quoted(tool.description);
    text += R"(,"input_schema":)";
    text += whittle::detail::parameters_of(tool);
    if (breakpoint != nullptr) text += R"(,"cache_control":)" + render(*breakpoint);
    return text + "}";
}

bool is_reply(const ordered_json& m) { return find_string(m, "role") == "assistant"; }

/// What the API takes back of a reply's content: it refuses blank text, and thinking as the last block.
ordered_json sendable(ordered_json content) {
    auto& blocks = content.get_ref<ordered_json::array_t&>();
    std::erase_if(blocks, detail::is_blank_text);
    while (!blocks.empty() && detail::is_thinking(blocks.back())) blocks.pop_back();
    return content;
}

bool is_sendable(const ordered_json& content) {
    return content.empty() ||
           (std::ranges::none_of(content, detail::is_blank_text) && !detail::is_thinking(content.back()));
}

/// A reply of which the API takes nothing back: it refuses messages without content, too.
bool is_empty_message(const ordered_json& m) {
    const ordered_json* content = find_member(m, "content");
    if (!is_reply(m)) return false;
    if (content == nullptr || content->is_null()) return true;
    if (content->is_string()) return is_blank(content->get_ref<const std::string&>());
    return content->is_array() && std::ranges::all_of(*content, [](const ordered_json& block) {
               return detail::is_blank_text(block) || detail::is_thinking(block);
           });
}

std::string write_message(const ordered_json& m, const ordered_json* breakpoint) {
    const ordered_json* content = find_member(m, "content");
    const bool has_content = content != nullptr && !content->is_null();
    const bool is_whole = !is_reply(m) || !has_content || !content->is_array() || is_sendable(*content);
    if (breakpoint == nullptr && m.size() == 2 && has_content && is_whole) return render(m);
    ordered_json sent{{"role", m.at("role")}, {"content", ordered_json::array()}};
    if (has_content) sent["content"] = is_whole ? *content : sendable(*content);
    if (breakpoint != nullptr) detail::set_breakpoint(sent["content"], *breakpoint);
    return render(sent);
}

bool has_thinking(const Message& m) {
    bool found = false;
    message_traits<Message>::for_each_part(
        m, [&](const PartView& part) { found = found || part.kind == PartKind::thinking; });
    return found;
}

/// Asks to pass over thinking that does not fit. Only a model that thinks can be asked; one that was not told to think
/// in this request does so of its own accord if the history has thinking.
bool request_drop(ordered_json& fields) {
    if (!fields.contains("thinking")) fields["thinking"] = {{"type", "adaptive"}};
    ordered_json& thinking = fields["thinking"];
    const std::string_view type = find_string(thinking, "type").value_or("");
    if (type != "adaptive" && type != "enabled") return false;
    ordered_json& binding = thinking["block_binding"];
    if (!binding.is_object()) binding = ordered_json::object();
    if (!binding.contains("prefix_mismatch_behavior")) binding["prefix_mismatch_behavior"] = "drop_block";
    return true;
}

/// What counting does not take.
void erase_call_fields(ordered_json& fields) {
    for (const char* key : {"max_tokens", "temperature", "top_p", "top_k", "stop_sequences", "metadata", "service_tier",
                            "container", "inference_geo"})
        fields.erase(key);
}

ordered_json fields_of(const ModelRequest<Message>& request, const AnthropicModelConfig& config, RequestBodyKind kind) {
    const GenerateOptions options = request.options != nullptr ? *request.options : GenerateOptions{};
    ordered_json extra = whittle::detail::read_extra(config.extra, reserved);
    if (options.max_output_tokens > 0) extra.erase("max_tokens");
    if (options.temperature) extra.erase("temperature");
    ordered_json fields{{"model", config.model}};
    fields["max_tokens"] = options.max_output_tokens > 0 ? options.max_output_tokens : config.max_output_tokens;
    if (options.temperature) fields["temperature"] = *options.temperature;
    if (kind == RequestBodyKind::stream) fields["stream"] = true;
    whittle::detail::merge_fields(fields, std::move(extra));
    whittle::detail::merge_fields(fields, whittle::detail::read_extra(options.extra, reserved));
    if (kind == RequestBodyKind::count) erase_call_fields(fields);
    return fields;
}

/// Where breakpoints go, and how many there is room for.
struct Breakpoints {
    ordered_json breakpoint{};
    bool on_system = false;
    bool on_tools = false;
    std::vector<std::size_t> messages{};

    [[nodiscard]] const ordered_json* at(std::size_t index) const {
        return std::ranges::find(messages, index) != messages.end() ? &breakpoint : nullptr;
    }
};

Breakpoints plan(const ModelRequest<Message>& request, const AnthropicModelConfig& config, const ordered_json& fields) {
    Breakpoints breakpoints{.breakpoint = breakpoint_of(config)};
    std::size_t room = static_cast<std::size_t>(std::clamp(config.cache_breakpoints, 0, 4));
    std::size_t taken = fields.contains("cache_control") ? 1 : 0;
    for (const Message& message : request.messages) taken += detail::count_breakpoints(message.json());
    if (const ordered_json* tools = find_member(fields, "tools"); tools != nullptr && tools->is_array()) {
        for (const ordered_json& tool : *tools) taken += find_member(tool, "cache_control") != nullptr ? 1 : 0;
    }
    room -= std::min(room, taken);
    if (room == 0) return breakpoints;
    breakpoints.on_system = !is_blank(request.system);
    breakpoints.on_tools = !breakpoints.on_system && !request.tools.empty();
    room -= breakpoints.on_system || breakpoints.on_tools ? 1 : 0;
    std::optional<std::size_t> stable;
    if (room > 0 && request.count_stable_messages != nullptr && *request.count_stable_messages)
        stable = (*request.count_stable_messages)();
    breakpoints.messages = detail::plan_breakpoints(request.messages, stable, request.purpose.empty(), room);
    return breakpoints;
}

void add_system(std::string& body, const ModelRequest<Message>& request, const Breakpoints& breakpoints) {
    if (is_blank(request.system)) return;  // the API refuses blank text
    whittle::detail::add_name(body, "system");
    if (!breakpoints.on_system) {
        body += whittle::detail::quoted(request.system);
        return;
    }
    const ordered_json block{{"type", "text"}, {"text", request.system}, {"cache_control", breakpoints.breakpoint}};
    body += render(ordered_json::array({block}));
}

}  // namespace

RequestText messages_request(const ModelRequest<Message>& request, const AnthropicModelConfig& config,
                             RequestBodyKind kind) {
    RequestText text{.betas = config.betas};
    ordered_json fields = fields_of(request, config, kind);
    if (request.thinking_prefix_edited && std::ranges::any_of(request.messages, has_thinking) && request_drop(fields) &&
        std::ranges::find(text.betas, block_binding_beta) == text.betas.end())
        text.betas.emplace_back(block_binding_beta);

    const Breakpoints breakpoints = plan(request, config, fields);
    std::vector<std::string> tools;
    for (std::size_t i = 0; i < request.tools.size(); ++i) {
        const bool has_breakpoint = breakpoints.on_tools && i + 1 == request.tools.size();
        tools.push_back(write_tool(request.tools[i], has_breakpoint ? &breakpoints.breakpoint : nullptr));
    }
    whittle::detail::take_tools(fields, tools);
    std::vector<std::string> messages;
    messages.reserve(request.messages.size());
    for (std::size_t i = 0; i < request.messages.size(); ++i) {
        const ordered_json& message = request.messages[i].json();
        if (!is_empty_message(message)) messages.push_back(write_message(message, breakpoints.at(i)));
    }

    text.body = render(fields);
    text.body.pop_back();  // the brace
    if (!tools.empty()) whittle::detail::add_list(text.body, "tools", tools);
    add_system(text.body, request, breakpoints);
    whittle::detail::add_list(text.body, "messages", messages);
    text.body += '}';
    return text;
}

}  // namespace anthropic

}  // namespace whittle::inline v0
