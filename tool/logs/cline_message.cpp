#include "cline_message.hpp"

#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

/// "metrics" of a message. In those of tasks `prompt` is what the cache did neither read nor write, and `cached` the
/// sum of what it did: that is taken as read, since most of it is. In those of sessions input holds the cache.
std::optional<Usage> bill_in_cline_message(const ordered_json& message) {
    const ordered_json* metrics = tree_at(message, "metrics");
    if (metrics == nullptr) return std::nullopt;
    if (const ordered_json* tokens = tree_at(*metrics, "tokens"))
        return Usage{.uncached_input = count_at(*tokens, "prompt"),
                     .cache_read = count_at(*tokens, "cached"),
                     .output = count_at(*tokens, "completion")};
    return usage_of_sums(count_at(*metrics, "inputTokens"), count_at(*metrics, "cacheReadTokens"),
                         count_at(*metrics, "cacheWriteTokens"), count_at(*metrics, "outputTokens"));
}

std::string_view first_text_of(const ordered_json& value, const char* key, const char* other_key) {
    const std::string_view text = text_at(value, key);
    return text.empty() ? text_at(value, other_key) : text;
}

ordered_json text_block_of_cline(std::string_view text) { return {{"type", "text"}, {"text", text}}; }

/// An image as Anthropic takes it, or as Cline's sessions have it: {"data", "mediaType"}.
std::optional<ordered_json> cline_image(const ordered_json& block) {
    if (const ordered_json* source = tree_at(block, "source"))
        return ordered_json{{"type", "image"}, {"source", *source}};
    if (text_at(block, "data").empty()) return std::nullopt;
    return ordered_json{{"type", "image"},
                        {"source",
                         {{"type", "base64"},
                          {"media_type", first_text_of(block, "mediaType", "media_type")},
                          {"data", text_at(block, "data")}}}};
}

/// A file that a prompt brought along.
std::string cline_file(const ordered_json& block) {
    std::string text = "<file_content path=\"";
    text.append(text_at(block, "path")).append("\">\n").append(text_at(block, "content"));
    return text.append("\n</file_content>");
}

/// The blocks of a message, one by one.
class ClineBlocks {
public:
    explicit ClineBlocks(LogNotes& notes) : notes_(notes) {}

    [[nodiscard]] ordered_json sent(ordered_json& content) {
        ordered_json blocks = ordered_json::array();
        for (ordered_json& block : content) {
            if (auto one = sent_block(block)) blocks.push_back(*std::move(one));
        }
        return blocks;
    }

private:
    std::optional<ordered_json> sent_block(ordered_json& block) {
        const std::string type(text_at(block, "type"));
        if (type == "tool_use") return call(block);
        if (type == "tool_result") return result(block);
        if (type == "thinking") return thinking(block);
        if (type == "redacted_thinking") {
            if (find_member(block, "data") == nullptr) return left_out(type);
            return ordered_json{{"type", type}, {"data", std::move(block["data"])}};
        }
        if (type == "reasoning" || type == "thoughtSignature" || type == "media") return left_out(type);
        return shown(block, type);
    }

    /// What may stand in a result too.
    std::optional<ordered_json> shown(ordered_json& block, const std::string& type) {
        if (type == "text" && find_member(block, "text") != nullptr && block["text"].is_string())
            return ordered_json{{"type", type}, {"text", std::move(block["text"])}};
        if (type == "file") return text_block_of_cline(cline_file(block));
        if (type == "image") {
            auto image = cline_image(block);
            return image ? std::move(image) : left_out("image without data");
        }
        if (type == "document" && tree_at(block, "source") != nullptr)
            return ordered_json{{"type", type}, {"source", std::move(block["source"])}};
        ++notes_.unknown["block/" + type.substr(0, 64)];
        return std::nullopt;
    }

    std::optional<ordered_json> left_out(const std::string& type) {
        ++notes_.left_out["block/" + type];
        return std::nullopt;
    }

    /// Anthropic refuses thinking without its signature, and so the agents leave it out.
    std::optional<ordered_json> thinking(ordered_json& block) {
        if (text_at(block, "signature").empty()) return left_out("thinking");
        ordered_json sent{{"type", "thinking"}, {"thinking", text_at(block, "thinking")}};
        sent["signature"] = std::move(block["signature"]);
        return sent;
    }

    static std::optional<ordered_json> call(ordered_json& block) {
        ordered_json sent{{"type", "tool_use"}, {"id", text_at(block, "id")}, {"name", text_at(block, "name")}};
        const ordered_json* input = tree_at(block, "input");
        sent["input"] = input != nullptr && input->is_object() ? std::move(block["input"]) : ordered_json::object();
        return sent;
    }

    std::optional<ordered_json> result(ordered_json& block) {
        ordered_json sent{{"type", "tool_result"}, {"tool_use_id", text_at(block, "tool_use_id")}};
        sent["content"] = content_of_result(block);
        if (is_set(block, "is_error")) sent["is_error"] = true;
        return sent;
    }

    ordered_json content_of_result(ordered_json& block) {
        const ordered_json* content = find_member(block, "content");
        if (content == nullptr || content->is_null()) return "";
        if (content->is_string()) return std::move(block["content"]);
        if (!holds_blocks(*content)) return to_json_text(*content);
        ordered_json blocks = ordered_json::array();
        for (ordered_json& one : block["content"]) {
            if (auto sent = shown(one, std::string(text_at(one, "type")))) blocks.push_back(*std::move(sent));
        }
        return blocks;
    }

    static bool holds_blocks(const ordered_json& content) {
        if (!content.is_array()) return false;
        for (const ordered_json& one : content) {
            const std::string_view type = text_at(one, "type");
            if (type != "text" && type != "image" && type != "file" && type != "document") return false;
        }
        return true;
    }

    LogNotes& notes_;
};

/// Of the texts of a message, what `find` finds in the first one in which it finds anything.
std::string_view first_found(const ordered_json& message, FunctionRef<std::string_view(std::string_view text)> find) {
    const ordered_json* content = find_member(message, "content");
    if (content == nullptr) return {};
    if (content->is_string()) return find(content->get_ref<const std::string&>());
    if (!content->is_array()) return {};
    for (const ordered_json& block : *content) {
        const std::string_view found = find(text_at(block, "text"));
        if (!found.empty()) return found;
    }
    return {};
}

}  // namespace

ClineMessage cline_message(const ordered_json& json) {
    ClineMessage message;
    message.ms = count_at(json, "ts");
    message.id = text_at(json, "id");
    if (const ordered_json* info = tree_at(json, "modelInfo")) {
        message.model = first_text_of(*info, "modelId", "id");
        message.provider = first_text_of(*info, "providerId", "provider");
    }
    message.is_reasoning = text_at(json, "type") == "reasoning";
    message.is_summary = is_set(json, "isSummary");
    message.is_cut_marker = is_set(json, "isTruncationMarker");
    message.stands_for = text_at(json, message.is_summary ? "condenseId" : "truncationId");
    message.summed_up_by = text_at(json, "condenseParent");
    message.left_out_behind = text_at(json, "truncationParent");
    const bool is_own = message.is_summary || message.is_cut_marker || message.is_reasoning;
    message.is_reply = !is_own && text_at(json, "role") == "assistant";
    if (message.is_reply) message.bill = bill_in_cline_message(json);
    return message;
}

ordered_json sent_by_cline(ordered_json message, LogNotes& notes) {
    ordered_json sent{{"role", text_at(message, "role")}};
    const ordered_json* content = find_member(message, "content");
    if (content != nullptr && content->is_string()) {
        sent["content"] = std::move(message["content"]);
    } else if (content != nullptr && content->is_array()) {
        sent["content"] = ClineBlocks(notes).sent(message["content"]);
    } else {
        sent["content"] = ordered_json::array();
    }
    return sent;
}

bool is_empty_of_cline(const ordered_json& sent) {
    const ordered_json* content = find_member(sent, "content");
    return content == nullptr || content->empty() || (content->is_string() && *content == "");
}

std::int64_t add_missing_results(const ordered_json& reply, ordered_json& answer) {
    const ordered_json* blocks = tree_at(reply, "content");
    if (blocks == nullptr || text_at(reply, "role") != "assistant" || text_at(answer, "role") != "user") return 0;
    std::unordered_set<std::string_view> answered;
    if (const ordered_json* given = tree_at(answer, "content")) {
        for (const ordered_json& block : *given) answered.insert(text_at(block, "tool_use_id"));
    }
    ordered_json content = ordered_json::array();
    for (const ordered_json& block : *blocks) {
        const std::string_view id = text_at(block, "id");
        if (text_at(block, "type") == "tool_use" && !answered.contains(id))
            content.push_back({{"type", "tool_result"}, {"tool_use_id", id}, {"content", "result missing"}});
    }
    const auto missing = static_cast<std::int64_t>(content.size());
    if (missing == 0) return 0;
    ordered_json& given = answer["content"];
    if (given.is_string()) given = ordered_json::array({text_block_of_cline(given.get_ref<const std::string&>())});
    for (ordered_json& block : given) content.push_back(std::move(block));
    given = std::move(content);
    return missing;
}

bool has_text_with(const ordered_json& message, std::string_view front) {
    return !first_found(message, [&](std::string_view text) {
                return text.starts_with(front) ? text : std::string_view();
            }).empty();
}

std::string_view text_between(const ordered_json& message, std::string_view front, std::string_view end) {
    return first_found(message, [&](std::string_view text) -> std::string_view {
        const std::size_t begin = text.find(front);
        if (begin == std::string_view::npos) return {};
        text.remove_prefix(begin + front.size());
        const std::size_t size = text.find(end);
        return size == std::string_view::npos ? std::string_view() : text.substr(0, size);
    });
}

}  // namespace whittle::inline v0::logs
