#include "langchain_form.hpp"

#include "openai_form.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

std::string text_or_tree(const ordered_json& value) {
    return value.is_string() ? value.get<std::string>() : to_json_text(value);
}

/// {"role": "tool", "content": {...}}, as Langfuse's callback for LangChain puts them behind the messages.
bool is_tool_definition(const ordered_json& message) {
    const ordered_json* content = tree_at(message, "content");
    return text_at(message, "role") == "tool" && content != nullptr && content->is_object() &&
           find_member(message, "tool_call_id") == nullptr;
}

/// "human", "ai", "system", "tool" ...; of a serialised object by the name of its class, such as "HumanMessageChunk".
std::string kind_of_message(const ordered_json& message) {
    const ordered_json* path = tree_at(message, "id");
    std::string_view name = text_at(message, "type");
    if (name == "constructor" && path != nullptr && path->is_array() && !path->empty() && path->back().is_string())
        name = path->back().get_ref<const std::string&>();
    for (const std::string_view end : {"Chunk", "Message"}) {
        if (name.ends_with(end)) name.remove_suffix(end.size());
    }
    std::string kind(name);
    if (!kind.empty() && kind.front() >= 'A' && kind.front() <= 'Z')
        for (char& c : kind) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return kind;
}

/// Content without what the fields beside it say again, such as calls.
class ContentParts {
public:
    explicit ContentParts(LogNotes& notes) : notes_(notes) {}

    void add(const ordered_json& content) {
        if (content.is_string()) return add_text(content.get_ref<const std::string&>());
        if (!content.is_array()) return;
        for (const ordered_json& part : content) {
            if (part.is_string()) {
                add_text(part.get_ref<const std::string&>());
            } else {
                add_part(part);
            }
        }
    }

    /// A string if there is nothing but text; null if there is nothing at all.
    [[nodiscard]] ordered_json content() const {
        if (parts_.empty()) return nullptr;
        return has_text_alone_ ? ordered_json(text_) : parts_;
    }

private:
    void add_text(std::string_view text) {
        text_.append(text_.empty() ? "" : "\n").append(text);
        parts_.push_back({{"type", "text"}, {"text", text}});
    }

    void add_part(const ordered_json& part) {
        constexpr std::array<std::string_view, 5> duplicated_types{"tool_use", "tool_call", "function_call",
                                                                   "invalid_tool_call", "tool-call"};
        const std::string_view type = text_at(part, "type");
        if (type == "text" || type == "output_text" || type == "input_text") return add_text(text_at(part, "text"));
        if (type == "image_url") {
            has_text_alone_ = false;
            parts_.push_back(part);
        } else if (type == "reasoning" || type == "thinking" || type == "redacted_thinking") {
            ++notes_.left_out["content/" + std::string(type)];
        } else if (std::ranges::find(duplicated_types, type) == duplicated_types.end()) {
            ++notes_.unknown["content/" + std::string(type.substr(0, 64))];
        }
    }

    LogNotes& notes_;
    ordered_json parts_ = ordered_json::array();
    std::string text_{};
    bool has_text_alone_ = true;
};

/// {"name", "args", "id"}; "args" is a text where it was no JSON. One with a "function" is the provider's.
ordered_json call_of_langchain(const ordered_json& call) {
    if (tree_at(call, "function") != nullptr) return call;
    const ordered_json* arguments = find_member(call, "args");
    return openai_call(text_at(call, "id"), text_at(call, "name"),
                       arguments == nullptr ? "{}" : text_or_tree(*arguments));
}

/// A part {"type": "tool-call"} of Vercel's AI SDK; "args" are of versions before 5.
ordered_json call_of_ai_sdk(const ordered_json& part) {
    const ordered_json* arguments = find_member(part, "input");
    if (arguments == nullptr) arguments = find_member(part, "args");
    return openai_call(text_at(part, "toolCallId"), text_at(part, "toolName"),
                       arguments == nullptr ? "{}" : text_or_tree(*arguments));
}

/// {"id", "name", "arguments"} as LangSmith's wrapper of Gemini's client writes it; in a reply it gives calls without
/// an id one by their place.
ordered_json call_of_gemini(const ordered_json& call, std::size_t place) {
    std::string id(text_at(call, "id"));
    if (id.empty()) id = "call_" + std::to_string(place);
    const ordered_json* arguments = find_member(call, "arguments");
    return openai_call(id, text_at(call, "name"), arguments == nullptr ? "{}" : text_or_tree(*arguments));
}

/// Calls as LangChain reads them, else as the provider gave them, else those among the parts of the AI SDK
/// and of Gemini.
ordered_json calls_in(const ordered_json& body) {
    ordered_json calls = ordered_json::array();
    for (const char* key : {"tool_calls", "invalid_tool_calls"}) {
        const ordered_json* list = tree_at(body, key);
        if (list == nullptr || !list->is_array()) continue;
        for (const ordered_json& call : *list) calls.push_back(call_of_langchain(call));
    }
    const ordered_json* extra = tree_at(body, "additional_kwargs");
    const ordered_json* raw = extra == nullptr ? nullptr : tree_at(*extra, "tool_calls");
    if (calls.empty() && raw != nullptr && raw->is_array()) return *raw;
    const ordered_json* parts = tree_at(body, "content");
    if (!calls.empty() || parts == nullptr) return calls;
    for (const ordered_json& part : *parts) {
        if (text_at(part, "type") == "tool-call") calls.push_back(call_of_ai_sdk(part));
        const ordered_json* of_gemini = tree_at(part, "function_call");
        if (of_gemini != nullptr) calls.push_back(call_of_gemini(*of_gemini, calls.size()));
    }
    return calls;
}

ordered_json to_reply(ordered_json content, const ordered_json& body) {
    ordered_json reply{{"role", "assistant"}, {"content", std::move(content)}};
    if (ordered_json calls = calls_in(body); !calls.empty()) reply["tool_calls"] = std::move(calls);
    return reply;
}

/// What a part {"type": "tool-result"} of the AI SDK holds: "output" with a "value", or "result" before version 5.
ordered_json result_of_ai_sdk(const ordered_json& part, LogNotes& notes) {
    const ordered_json* output = tree_at(part, "output");
    const ordered_json* value = output == nullptr ? nullptr : find_member(*output, "value");
    if (value == nullptr) value = find_member(part, "result");
    if (value == nullptr) return "";
    if (output == nullptr || text_at(*output, "type") != "content") return text_or_tree(*value);
    ContentParts parts(notes);
    parts.add(*value);
    ordered_json content = parts.content();
    return content.is_null() ? ordered_json("") : content;
}

/// Whose rules a message with a "role" follows.
enum class RoleForm { provider, langchain, ai_sdk };

RoleForm form_of_call(const ordered_json& message) {
    if (text_at(message, "role").empty()) return RoleForm::provider;
    if (is_tool_definition(message) || tree_at(message, "invalid_tool_calls") != nullptr ||
        tree_at(message, "additional_kwargs") != nullptr)
        return RoleForm::langchain;
    if (const ordered_json* calls = tree_at(message, "tool_calls")) {
        const bool has_arguments =
            std::ranges::any_of(*calls, [](const ordered_json& call) { return find_member(call, "args") != nullptr; });
        if (has_arguments) return RoleForm::langchain;
    }
    const ordered_json* content = tree_at(message, "content");
    if (content == nullptr) return RoleForm::provider;
    const bool has_parts = std::ranges::any_of(*content, [](const ordered_json& part) {
        return text_at(part, "type") == "tool-call" || text_at(part, "type") == "tool-result";
    });
    return has_parts ? RoleForm::ai_sdk : RoleForm::provider;
}

/// One message tells for all of a request, since only calls and results differ.
RoleForm form_of_calls(const ordered_json& messages) {
    for (const ordered_json& message : messages) {
        if (const RoleForm form = form_of_call(message); form != RoleForm::provider) return form;
    }
    return RoleForm::provider;
}

std::string kind_of_role(std::string_view role) {
    if (role == "user") return "human";
    return role == "assistant" || role == "model" ? "ai" : std::string(role);
}

/// A message of the AI SDK with the results of several calls.
void append_results(const ordered_json& message, ordered_json& messages, LogNotes& notes) {
    for (const ordered_json& part : message["content"]) {
        if (text_at(part, "type") == "tool-result") {
            messages.push_back(openai_result(text_at(part, "toolCallId"), result_of_ai_sdk(part, notes)));
        } else {
            ++notes.unknown["content/" + std::string(text_at(part, "type").substr(0, 64))];
        }
    }
}

/// A list of messages, or the first of several lists of them.
const ordered_json* list_of_messages(const ordered_json& input) {
    const ordered_json* list = input.is_object() ? tree_at(input, "messages") : &input;
    if (list == nullptr || !list->is_array() || list->empty()) return nullptr;
    return list->front().is_array() ? &list->front() : list;
}

bool has_several_lists(const ordered_json& input) {
    const ordered_json* list = input.is_object() ? tree_at(input, "messages") : &input;
    return list->front().is_array() && list->size() > 1;
}

ordered_json message_of_kind(const std::string& kind, const ordered_json& body, LogNotes& notes) {
    ContentParts parts(notes);
    if (const ordered_json* recorded = find_member(body, "content")) parts.add(*recorded);
    ordered_json content = parts.content();
    if (kind == "ai") return to_reply(std::move(content), body);
    if (content.is_null()) content = "";
    if (kind == "human") return {{"role", "user"}, {"content", std::move(content)}};
    if (kind == "system" || kind == "developer") return {{"role", kind}, {"content", std::move(content)}};
    if (kind == "tool") return openai_result(text_at(body, "tool_call_id"), std::move(content));
    if (kind == "chat") return {{"role", text_at(body, "role")}, {"content", std::move(content)}};
    ++notes.unknown["message/" + kind.substr(0, 64)];
    return nullptr;
}

ordered_json to_message(const ordered_json& message, RoleForm form, LogNotes& notes) {
    const ordered_json& body = body_of_message(message);
    const std::string kind = kind_of_message(message);
    const std::string_view role = text_at(message, "role");
    const bool has_role = &body == &message && !role.empty() && kind != "chat";
    if (has_role && (message.contains("content") || message.contains("tool_calls"))) {
        const bool stays = (form == RoleForm::provider && role != "model") || role == "function";
        return stays ? message : message_of_kind(kind_of_role(role), body, notes);
    }
    if (find_member(body, "content") != nullptr && !kind.empty()) return message_of_kind(kind, body, notes);
    ++notes.unknown["message without a type"];
    return nullptr;
}

struct CacheDetails {
    std::int64_t read = 0;
    std::int64_t written = 0;
    std::int64_t five_minutes = 0;  // of these, and
    std::int64_t hour = 0;
};

/// "input_token_details": what was read may be told apart by service tier and by the length of the prompt, what was
/// written by age, beside the plain sum of it or without.
CacheDetails cache_details_of(const ordered_json& details) {
    CacheDetails cache;
    std::int64_t written_by_age = 0;
    for (const auto& [name, value] : details.items()) {
        const std::int64_t count = count_in(value);
        if (name.find("cache_read") != std::string::npos) cache.read = add_saturating(cache.read, count);
        if (name.find("cache_creation") != std::string::npos) cache.written = add_saturating(cache.written, count);
        if (name.starts_with("ephemeral_")) written_by_age = add_saturating(written_by_age, count);
        if (name.starts_with("ephemeral_5m")) cache.five_minutes = count;
        if (name.starts_with("ephemeral_1h")) cache.hour = count;
    }
    cache.written = std::max(cache.written, written_by_age);
    return cache;
}

}  // namespace

const ordered_json& body_of_message(const ordered_json& message) {
    if (const ordered_json* body = tree_at(message, "kwargs")) return *body;
    const ordered_json* body = tree_at(message, "data");
    return body == nullptr ? message : *body;
}

ordered_json to_chat_message(const ordered_json& message, LogNotes& notes) {
    return to_message(message, form_of_call(message), notes);
}

ordered_json to_chat_reply(const ordered_json& message, const ordered_json& input, LogNotes& notes) {
    const RoleForm own = form_of_call(message);
    const ordered_json* list = own == RoleForm::provider ? list_of_messages(input) : nullptr;
    return to_message(message, list == nullptr ? own : form_of_calls(*list), notes);
}

ordered_json messages_of_input(const ordered_json& input, LogNotes& notes) {
    const ordered_json* list = list_of_messages(input);
    if (list == nullptr) return nullptr;
    if (has_several_lists(input)) ++notes.unknown["several inputs of one call"];
    const RoleForm form = form_of_calls(*list);
    ordered_json messages = ordered_json::array();
    for (const ordered_json& message : *list) {
        if (is_tool_definition(message)) continue;
        if (form == RoleForm::ai_sdk && text_at(message, "role") == "tool" && tree_at(message, "content") != nullptr) {
            append_results(message, messages, notes);
        } else if (ordered_json one = to_message(message, form, notes); !one.is_null()) {
            messages.push_back(std::move(one));
        }
    }
    return messages.empty() ? ordered_json(nullptr) : messages;
}

ordered_json tools_among_messages(const ordered_json& input) {
    ordered_json tools = ordered_json::array();
    const ordered_json* list = list_of_messages(input);
    if (list == nullptr) return nullptr;
    for (const ordered_json& message : *list) {
        if (is_tool_definition(message)) tools.push_back(message["content"]);
    }
    return tools.empty() ? ordered_json(nullptr) : tools;
}

const ordered_json* reply_of_output(const ordered_json& recorded) {
    const bool is_list = recorded.is_array() && !recorded.empty() && recorded.back().is_object();
    const ordered_json& output = is_list ? recorded.back() : recorded;
    const auto first_of = [](const ordered_json* list) {
        return list == nullptr || !list->is_array() || list->empty() ? nullptr : &list->front();
    };
    const ordered_json* generation = first_of(tree_at(output, "generations"));
    if (generation != nullptr && generation->is_array()) generation = first_of(generation);
    const ordered_json* holder = generation == nullptr ? first_of(tree_at(output, "choices")) : generation;
    if (const ordered_json* message = tree_at(holder == nullptr ? output : *holder, "message")) return message;
    const ordered_json* list = tree_at(output, "messages");
    if (list != nullptr && list->is_array() && !list->empty()) return &list->back();
    const bool is_message = find_member(body_of_message(output), "content") != nullptr &&
                            (text_at(output, "role") == "assistant" || kind_of_message(output) == "ai");
    return is_message ? &output : nullptr;
}

std::optional<Usage> usage_of_metadata(const ordered_json& holder) {
    const ordered_json* metadata = tree_at(holder, "usage_metadata");
    if (metadata == nullptr || !metadata->is_object()) return std::nullopt;
    const ordered_json* details = tree_at(*metadata, "input_token_details");
    const CacheDetails cache = details == nullptr ? CacheDetails{} : cache_details_of(*details);
    const Usage counts{.uncached_input = count_at(*metadata, "input_tokens"),
                       .cache_read = cache.read,
                       .cache_write = cache.written,
                       .output = count_at(*metadata, "output_tokens")};
    return usage_by_total(counts.with_lifetimes(cache.five_minutes, cache.hour), count_at(*metadata, "total_tokens"),
                          CachePlace::in_input);
}

}  // namespace whittle::inline v0::logs
