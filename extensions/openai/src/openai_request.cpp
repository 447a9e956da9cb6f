#include "whittle/openai/detail/openai_request.hpp"

#include "whittle/provider/detail/check_endpoint.hpp"
#include "whittle/provider/detail/json_body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace whittle::inline v0 {

void check_openai_model(const OpenAIModelConfig& config, std::string_view name, Problems& problems) {
    detail::check_endpoint(config.model, config.base_url, name, problems);
    if (config.max_output_tokens < 0)
        problems.error(fmt::format("{}.max_output_tokens", name), std::to_string(config.max_output_tokens),
                       "0 or more");
    detail::check_extra(config.extra, name, problems);
}

namespace openai {

namespace {

using nlohmann::ordered_json;
using whittle::detail::find_member;
using whittle::detail::find_string;
using whittle::detail::render;

// What ChatCompletion*MessageParam and ChatCompletionMessageToolCall of the npm package `openai` have.
constexpr std::array<std::string_view, 7> assistant_members{"role",  "content",       "tool_calls", "refusal",
                                                            "audio", "function_call", "name"};
constexpr std::array<std::string_view, 3> other_members{"role", "content", "name"};
constexpr std::array<std::string_view, 3> tool_members{"role", "content", "tool_call_id"};
constexpr std::array<std::string_view, 4> call_members{"id", "type", "function", "custom"};

constexpr std::array<std::string_view, 2> reserved{"messages", "stream"};

using Names = std::span<const std::string_view>;

Names members_of(std::string_view role) {
    if (role == "assistant") return assistant_members;
    if (role == "tool") return tool_members;
    return other_members;
}

bool has_only(const ordered_json& object, Names names) {
    return std::ranges::all_of(object.items(),
                               [&](const auto& item) { return std::ranges::find(names, item.key()) != names.end(); });
}

ordered_json only(const ordered_json& object, Names names) {
    ordered_json kept = ordered_json::object();
    for (const auto& [key, value] : object.items()) {
        if (std::ranges::find(names, key) != names.end()) kept[key] = value;
    }
    return kept;
}

bool has_null_content(const ordered_json& m) {
    const ordered_json* content = find_member(m, "content");
    return content == nullptr || content->is_null();
}

/// A reply without a word: the API wants content where there is neither a call nor a refusal.
bool is_empty_message(const ordered_json& m) {
    if (!has_null_content(m)) return false;
    return std::ranges::none_of(std::array{"tool_calls", "function_call", "refusal", "audio"}, [&](const char* key) {
        const ordered_json* member = find_member(m, key);
        return member != nullptr && !member->is_null() && !(member->is_array() && member->empty());
    });
}

bool has_foreign_calls(const ordered_json& m) {
    const ordered_json* calls = find_member(m, "tool_calls");
    if (calls == nullptr) return false;
    if (!calls->is_array() || calls->empty()) return true;
    return !std::ranges::all_of(
        *calls, [](const ordered_json& call) { return call.is_object() && has_only(call, call_members); });
}

/// A spoken reply goes back as its id alone.
bool has_audio_data(const ordered_json& m) {
    const ordered_json* audio = find_member(m, "audio");
    return audio != nullptr && (!audio->is_object() || audio->size() != 1);
}

void clean_calls(ordered_json& m) {
    const auto calls = m.find("tool_calls");
    if (calls == m.end()) return;
    if (!calls->is_array() || calls->empty()) {  // null or []: what replies have and requests must not
        m.erase(calls);
        return;
    }
    for (ordered_json& call : *calls) {
        if (call.is_object()) call = only(call, call_members);
    }
}

void clean_audio(ordered_json& m) {
    const auto audio = m.find("audio");
    if (audio == m.end()) return;
    const auto id = find_string(*audio, "id");
    if (id) {
        *audio = ordered_json{{"id", *id}};
    } else {
        m.erase(audio);
    }
}

class MessageWriter {
public:
    explicit MessageWriter(const Dialect& dialect) : dialect_(dialect) {}

    [[nodiscard]] std::string write(const ordered_json& m) const {
        const std::string_view role = find_string(m, "role").value_or("");
        const bool needs_text =
            role == "assistant" && (is_empty_message(m) || (!dialect_.null_content && has_null_content(m)));
        const bool is_foreign = !dialect_.ignores_unknown_fields && is_strange(m, role);
        if (!needs_text && !is_foreign) return render(m);
        ordered_json fitting = is_foreign ? strip(m, role) : m;
        if (needs_text) fitting["content"] = "";
        return render(fitting);
    }

private:
    [[nodiscard]] bool is_further(std::string_view key) const {
        return std::ranges::find(dialect_.extra_assistant_fields, key) != dialect_.extra_assistant_fields.end();
    }

    [[nodiscard]] bool is_strange(const ordered_json& m, std::string_view role) const {
        const Names names = members_of(role);
        const bool knows_all = std::ranges::all_of(m.items(), [&](const auto& item) {
            return std::ranges::find(names, item.key()) != names.end() ||
                   (role == "assistant" && is_further(item.key()));
        });
        return !knows_all || has_foreign_calls(m) || has_audio_data(m);
    }

    [[nodiscard]] ordered_json strip(const ordered_json& m, std::string_view role) const {
        ordered_json kept = ordered_json::object();
        const Names names = members_of(role);
        for (const auto& [key, value] : m.items()) {
            const bool is_known = std::ranges::find(names, key) != names.end();
            if (is_known || (role == "assistant" && is_further(key))) kept[key] = value;
        }
        clean_calls(kept);
        clean_audio(kept);
        return kept;
    }

    const Dialect& dialect_;
};

bool is_merged(const ordered_json& m) {
    const ordered_json* content = find_member(m, "content");
    return find_string(m, "role") == "user" && m.size() == 2 && content != nullptr &&
           (content->is_string() || content->is_array());
}

/// A list of parts, whatever the content is.
ordered_json parts_of(ordered_json content) {
    if (content.is_array()) return content;
    return ordered_json::array({{{"type", "text"}, {"text", std::move(content)}}});
}

/// What the user says twice in a row, as one message.
void merge_user(ordered_json& m, const ordered_json& next) {
    ordered_json& content = m["content"];
    const ordered_json& more = next["content"];
    if (content.is_string() && more.is_string()) {
        content = content.get<std::string>() + "\n\n" + more.get<std::string>();
        return;
    }
    content = parts_of(std::move(content));
    for (ordered_json& part : parts_of(more)) content.push_back(std::move(part));
}

std::string write_tool(const ToolSpec& tool) {
    std::string text = R"({"type":"function","function":{"name":)" + whittle::detail::quoted(tool.name);
    if (!tool.description.empty()) text += R"(,"description":)" + whittle::detail::quoted(tool.description);
    text += R"(,"parameters":)";
    text += whittle::detail::parameters_of(tool);
    return text + "}}";
}

bool has_limit(const ordered_json& fields) {
    return fields.contains("max_tokens") || fields.contains("max_completion_tokens");
}

/// Under both names: a server that gets two limits may refuse.
void erase_limit(ordered_json& fields) {
    fields.erase("max_tokens");
    fields.erase("max_completion_tokens");
}

ordered_json fields_of(const GenerateOptions& options, const OpenAIModelConfig& config, bool is_stream) {
    ordered_json extra = whittle::detail::read_extra(config.extra, reserved);
    if (options.max_output_tokens > 0) erase_limit(extra);
    if (options.temperature) extra.erase("temperature");
    ordered_json fields{{"model", config.model}};
    const std::int64_t most = options.max_output_tokens > 0 ? options.max_output_tokens : config.max_output_tokens;
    if (most > 0 && !has_limit(extra)) fields[config.dialect.max_tokens_field] = most;
    if (options.temperature) fields["temperature"] = *options.temperature;
    if (is_stream) fields["stream"] = true;
    if (is_stream && config.dialect.stream_usage) fields["stream_options"] = {{"include_usage", true}};
    whittle::detail::merge_fields(fields, std::move(extra));
    ordered_json last = whittle::detail::read_extra(options.extra, reserved);
    if (has_limit(last)) erase_limit(fields);
    whittle::detail::merge_fields(fields, std::move(last));
    return fields;
}

}  // namespace

std::string chat_body(const ModelRequest<Message>& request, const OpenAIModelConfig& config, bool is_stream) {
    const GenerateOptions options = request.options != nullptr ? *request.options : GenerateOptions{};
    ordered_json fields = fields_of(options, config, is_stream);
    std::vector<std::string> tools;
    for (const ToolSpec& tool : request.tools) tools.push_back(write_tool(tool));
    whittle::detail::take_tools(fields, tools);

    const MessageWriter writer(config.dialect);
    std::vector<std::string> messages;
    messages.reserve(request.messages.size() + 1);
    if (!request.system.empty())
        messages.push_back(render({{"role", config.dialect.system_role}, {"content", request.system}}));
    std::optional<ordered_json> pending;  // by the user, and not written yet
    ordered_json unmarked;
    for (const Message& message : request.messages) {
        const bool is_marked = message.json().contains(whittle::detail::mark_id_member);
        if (is_marked) {
            unmarked = message.json();
            whittle::detail::set_mark_id_of(unmarked, {});
        }
        const ordered_json& m = is_marked ? unmarked : message.json();
        if (config.dialect.merge_users && is_merged(m)) {
            pending ? merge_user(*pending, m) : static_cast<void>(pending.emplace(m));
            continue;
        }
        if (pending) messages.push_back(writer.write(*pending));
        pending.reset();
        messages.push_back(writer.write(m));
    }
    if (pending) messages.push_back(writer.write(*pending));

    std::string body = render(fields);
    body.pop_back();  // the brace
    if (!tools.empty()) whittle::detail::add_list(body, "tools", tools);
    whittle::detail::add_list(body, "messages", messages);
    return body + "}";
}

}  // namespace openai

}  // namespace whittle::inline v0
