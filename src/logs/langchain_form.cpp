#include "langchain_form.hpp"

#include "openai_form.hpp"
#include "whittle/adapter/detail/json_tree.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

std::string text_of_arguments(const ordered_json& value) {
    return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
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
        constexpr std::array<std::string_view, 4> said_beside{"tool_use", "tool_call", "function_call",
                                                              "invalid_tool_call"};
        const std::string_view type = text_at(part, "type");
        if (type == "text" || type == "output_text" || type == "input_text") return add_text(text_at(part, "text"));
        if (type == "image_url") {
            has_text_alone_ = false;
            parts_.push_back(part);
        } else if (type == "reasoning" || type == "thinking" || type == "redacted_thinking") {
            ++notes_.left_out["content/" + std::string(type)];
        } else if (std::ranges::find(said_beside, type) == said_beside.end()) {
            ++notes_.unknown["content/" + std::string(type.substr(0, 64))];
        }
    }

    LogNotes& notes_;
    ordered_json parts_ = ordered_json::array();
    std::string text_{};
    bool has_text_alone_ = true;
};

/// {"name", "args", "id"}; "args" is a text where it was no JSON.
ordered_json call_of_langchain(const ordered_json& call) {
    const ordered_json* arguments = find_member(call, "args");
    std::string text = "{}";
    if (arguments != nullptr)
        text = arguments->is_string() ? arguments->get<std::string>() : text_of_arguments(*arguments);
    return openai_call(text_at(call, "id"), text_at(call, "name"), std::move(text));
}

/// Calls as LangChain reads them, else as the provider gave them.
ordered_json calls_in(const ordered_json& body) {
    ordered_json calls = ordered_json::array();
    for (const char* key : {"tool_calls", "invalid_tool_calls"}) {
        const ordered_json* list = tree_at(body, key);
        if (list == nullptr || !list->is_array()) continue;
        for (const ordered_json& call : *list) calls.push_back(call_of_langchain(call));
    }
    const ordered_json* extra = tree_at(body, "additional_kwargs");
    const ordered_json* raw = extra == nullptr ? nullptr : tree_at(*extra, "tool_calls");
    return calls.empty() && raw != nullptr && raw->is_array() ? *raw : calls;
}

ordered_json to_reply(ordered_json content, const ordered_json& body) {
    ordered_json reply{{"role", "assistant"}, {"content", std::move(content)}};
    if (ordered_json calls = calls_in(body); !calls.empty()) reply["tool_calls"] = std::move(calls);
    return reply;
}

/// A list of messages, or the first of several lists of them.
const ordered_json* list_of_messages(const ordered_json& input, LogNotes& notes) {
    const ordered_json* list = input.is_object() ? tree_at(input, "messages") : &input;
    if (list == nullptr || !list->is_array() || list->empty()) return nullptr;
    if (!list->front().is_array()) return list;
    if (list->size() > 1) ++notes.unknown["several inputs of one call"];
    return &list->front();
}

}  // namespace

const ordered_json& body_of_message(const ordered_json& message) {
    if (const ordered_json* body = tree_at(message, "kwargs")) return *body;
    const ordered_json* body = tree_at(message, "data");
    return body == nullptr ? message : *body;
}

ordered_json to_chat_message(const ordered_json& message, LogNotes& notes) {
    const ordered_json& body = body_of_message(message);
    const std::string kind = kind_of_message(message);
    const bool is_of_provider = &body == &message && !text_at(message, "role").empty() && kind != "chat";
    if (is_of_provider && (message.contains("content") || message.contains("tool_calls"))) return message;
    const ordered_json* recorded = find_member(body, "content");
    if (recorded == nullptr || kind.empty()) {
        ++notes.unknown["message without a type"];
        return nullptr;
    }
    ContentParts parts(notes);
    parts.add(*recorded);
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

ordered_json messages_of_input(const ordered_json& input, LogNotes& notes) {
    const ordered_json* list = list_of_messages(input, notes);
    if (list == nullptr) return nullptr;
    ordered_json messages = ordered_json::array();
    for (const ordered_json& message : *list) {
        if (ordered_json one = to_chat_message(message, notes); !one.is_null()) messages.push_back(std::move(one));
    }
    return messages.empty() ? ordered_json(nullptr) : messages;
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
    std::int64_t read = 0;
    std::int64_t written = 0;
    if (const ordered_json* details = tree_at(*metadata, "input_token_details")) {
        read = count_at(*details, "cache_read");
        // One of both: the sum by how long they are kept takes the place of the plain one.
        written = std::max(count_at(*details, "cache_creation"),
                           add_saturating(count_at(*details, "ephemeral_5m_input_tokens"),
                                          count_at(*details, "ephemeral_1h_input_tokens")));
    }
    return usage_of_sums(count_at(*metadata, "input_tokens"), read, written, count_at(*metadata, "output_tokens"));
}

}  // namespace whittle::inline v0::logs
