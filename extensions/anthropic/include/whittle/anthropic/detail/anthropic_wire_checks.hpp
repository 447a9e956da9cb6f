#pragma once

#include "whittle/anthropic/detail/anthropic_slots.hpp"
#include "whittle/base/text.hpp"
#include "whittle/provider/detail/json_message.hpp"
#include "whittle/provider/detail/wire_types.hpp"
#include "whittle/provider/detail/wire_violation.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0::anthropic {

/// Numbers that the provider changes now and then: copy and correct them where yours differ.
struct WireLimits {
    std::size_t max_cache_breakpoints = 4;                ///< over tools, system text and messages
    std::int64_t max_request_bytes = 32LL * 1024 * 1024;  ///< of the body; 0 for no limit
    std::string_view source =
        "Anthropic API documentation: prompt caching, request size limits";  ///< where the numbers were taken from
    std::string_view date = "2026-11";  ///< when the numbers were taken from the source
};

/// What `check_wire` finds: the type is that of all providers.
using WireViolation = whittle::WireViolation;

}  // namespace whittle::inline v0::anthropic

namespace whittle::inline v0::anthropic::detail {

[[nodiscard]] inline std::string quoted_id(const ordered_json& block, const char* key) {
    return "\"" + whittle::detail::clip_for_error(find_string(block, key).value_or("")) + "\"";
}

/// "server_tool_use" or "mcp_tool_use".
[[nodiscard]] inline bool is_server_call(const ordered_json& block) {
    const auto type = find_string(block, "type").value_or("");
    return type == "server_tool_use" || type == "mcp_tool_use";
}

/// "web_search_tool_result", "mcp_tool_result", ...: the results of server tools, told by their names.
[[nodiscard]] inline bool is_server_result(const ordered_json& block) {
    return find_string(block, "type").value_or("").ends_with("_tool_result");
}

/// A user message that only answers calls goes on with the assistant's turn.
[[nodiscard]] inline bool ends_turn(const ordered_json& m) {
    if (find_string(m, "role") != "user") return false;
    const ordered_json* content = find_member(m, "content");
    if (content == nullptr || !content->is_array()) return true;
    return !std::ranges::all_of(*content,
                                [](const ordered_json& block) { return find_string(block, "type") == "tool_result"; });
}

class WireCheck {
public:
    WireCheck(const WireLimits& limits, std::size_t size) : limits_(limits), size_(size) {}

    void rest(const ordered_json& rest) {
        bytes_ += rest.is_null() ? 2 : rendered_size(rest);
        place(size_, 0);
        for (const char* key : {"tools", "system"}) {
            const ordered_json* list = find_member(rest, key);
            if (list == nullptr || !list->is_array()) continue;
            for (const ordered_json& entry : *list) in_rest(entry);
        }
    }

    void message(const ordered_json& m, std::size_t index) {
        bytes_ += rendered_size(m) + 1;
        place(index, 0);
        types_.place(index, 0);
        is_assistant_ = find_string(m, "role") == "assistant";
        is_last_ = index + 1 == size_;
        if (ends_turn(m)) close_turn();
        const ordered_json* content = find_member(m, "content");
        if (content == nullptr || content->is_null() || content->empty() || *content == "") {
            if (!(is_last_ && is_assistant_)) add("A5", "the message has no content");
            return;
        }
        if (content->is_string()) return text(content->get_ref<const std::string&>(), true);
        if (!content->is_array()) return add("A5", "the content is neither a string nor an array of blocks");
        for (std::size_t b = 0; b < content->size(); ++b) {
            place(index, b);
            types_.place(index, b);
            const std::string where = Types::at("content", b);
            if (types_.is_block((*content)[b], where)) block((*content)[b], where, b + 1 == content->size());
        }
    }

    [[nodiscard]] std::vector<WireViolation> finish() {
        place(size_, 0);
        if (limits_.max_request_bytes > 0 && bytes_ > limits_.max_request_bytes) {
            add("G11", "the request has " + std::to_string(bytes_) + " bytes, more than the limit of " +
                           std::to_string(limits_.max_request_bytes));
        }
        std::ranges::stable_sort(found_, {}, &WireViolation::message);
        return std::move(found_);
    }

private:
    struct ServerCall {
        std::size_t message = 0;
        std::size_t block = 0;
        int results = 0;
    };

    static std::int64_t rendered_size(const ordered_json& value) {
        return static_cast<std::int64_t>(whittle::detail::to_exact_text(value).size());
    }

    void place(std::size_t message, std::size_t block) {
        message_ = message;
        block_ = block;
    }
    void add(std::string_view rule, std::string text, Severity severity = Severity::refused) {
        found_.push_back({rule, severity, message_, block_, std::move(text)});
    }

    void in_rest(const ordered_json& entry) {
        cache_breakpoint(entry);
        if (find_string(entry, "type") == "text") text(find_string(entry, "text").value_or(""), false);
    }

    void text(std::string_view text, bool is_last_block) {
        if (is_blank(text)) {
            add("A5", "a text block is empty or only white space");
        } else if (is_last_ && is_assistant_ && is_last_block && is_blank(text.substr(text.size() - 1))) {
            add("A5", "the final assistant text ends in white space");
        }
    }

    /// Thinking of other models, or of a server that signs nothing, is refused wherever it stands. Whether a signature
    /// is a good one only the provider knows.
    void signed_block(const ordered_json& block, const char* member, std::string_view what) {
        if (is_blank(find_string(block, member).value_or("")))
            add("A6.signature", std::string(what) + ": leave the block out where another server wrote it");
    }

    void block(const ordered_json& block, const std::string& where, bool is_last_block) {
        cache_breakpoint(block);
        const auto type = find_string(block, "type").value_or("");
        types_of(block, type, where);
        if (type == "text") text(find_string(block, "text").value_or(""), is_last_block);
        if (type == "thinking") signed_block(block, "signature", "thinking has no signature");
        if (type == "redacted_thinking") signed_block(block, "data", "redacted thinking has no data");
        if (type == "tool_use" || is_server_call(block)) input(block);
        if (type == "tool_result") result(block);
        if (is_server_call(block)) server_call(block);
        if (is_server_result(block)) server_result(block);
        if (type == "compaction") compaction(block);
    }

    void types_of(const ordered_json& block, std::string_view type, const std::string& where) {
        if (type == "text") types_.strings(block, where, {"text"});
        if (type == "tool_use") types_.strings(block, where, {"id", "name"});
        if (type != "tool_result") return;
        types_.strings(block, where, {"tool_use_id"});
        const ordered_json* is_error = find_member(block, "is_error");
        if (is_error != nullptr && !is_error->is_boolean() && !is_error->is_null())
            types_.add(where + ".is_error", "a boolean", is_error);
        const ordered_json* content = find_member(block, "content");
        if (content == nullptr || content->is_string() || content->is_null()) return;
        if (!content->is_array()) return types_.add(where + ".content", "a string or an array of blocks", content);
        for (std::size_t i = 0; i < content->size(); ++i) {
            const std::string place = Types::at(where + ".content", i);
            if (types_.is_block((*content)[i], place) && find_string((*content)[i], "type") == "text")
                types_.strings((*content)[i], place, {"text"});
        }
    }

    void input(const ordered_json& block) {
        const ordered_json* input = find_member(block, "input");
        if (input != nullptr && input->is_object()) return;
        add("A8", "the input of tool call " + quoted_id(block, "id") + " is no object");
    }

    void cache_breakpoint(const ordered_json& block) {
        const ordered_json* control = find_member(block, "cache_control");
        if (control == nullptr || control->is_null()) return;
        if (++cache_breakpoints_ == limits_.max_cache_breakpoints + 1) {
            add("A9", "more than " + std::to_string(limits_.max_cache_breakpoints) + " blocks have a cache breakpoint");
        }
        const BlockKind kind = kind_of_block(block);
        if (kind == BlockKind::thinking || kind == BlockKind::redacted_thinking)
            add("A9", "a thinking block has a cache breakpoint");
        if (kind == BlockKind::text && find_string(block, "text")->empty())
            add("A9", "an empty text block has a cache breakpoint");
    }

    void result(const ordered_json& result) {
        const ordered_json* content = find_member(result, "content");
        if (content == nullptr || !content->is_array()) return;
        bool holds_more_than_text = false;
        for (const ordered_json& item : *content) {
            cache_breakpoint(item);
            const bool is_text = find_string(item, "type") == "text";
            holds_more_than_text = holds_more_than_text || !is_text;
            if (is_text) text(find_string(item, "text").value_or(""), false);
        }
        if (holds_more_than_text && is_error_result(result)) {
            add("A13",
                "the result of the failed tool call " + quoted_id(result, "tool_use_id") + " holds more than text");
        }
    }

    void server_call(const ordered_json& block) {
        const std::string id(find_string(block, "id").value_or(""));
        if (!server_calls_.try_emplace(id, ServerCall{message_, block_}).second)
            add("A11", "the server tool call " + quoted_id(block, "id") + " appears twice in its turn");
    }

    void server_result(const ordered_json& block) {
        const auto call = server_calls_.find(std::string(find_string(block, "tool_use_id").value_or("")));
        const std::string id = quoted_id(block, "tool_use_id");
        if (call == server_calls_.end()) {
            add("A11", "the result for server tool call " + id + " has no call before it in its turn");
        } else if (++call->second.results > 1) {
            add("A11", "the server tool call " + id + " has a second result");
        }
    }

    void close_turn() {
        std::vector<WireViolation> missing;
        for (const auto& [id, call] : server_calls_) {
            if (call.results > 0) continue;
            missing.push_back(
                {"A11", Severity::refused, call.message, call.block,
                 "the server tool call \"" + whittle::detail::clip_for_error(id) + "\" has no result in its turn"});
        }
        std::ranges::sort(missing, {}, [](const WireViolation& v) { return std::pair(v.message, v.block); });
        for (WireViolation& v : missing) found_.push_back(std::move(v));
        server_calls_.clear();
    }

    void compaction(const ordered_json& block) {
        if (!is_assistant_) add("A12", "a compaction block stands outside an assistant message");
        if (find_string(block, "content") == "") add("A12", "the content of a compaction block is an empty string");
        if (block_ > 0) add("A12", "the blocks before a compaction block are ignored by the server", Severity::silent);
    }

    using Types = whittle::detail::WireTypes;

    WireLimits limits_;
    std::size_t size_;
    std::vector<WireViolation> found_{};
    Types types_{found_};
    std::unordered_map<std::string, ServerCall> server_calls_{};
    std::int64_t bytes_ = 16;  // the name of the list and its brackets
    std::size_t cache_breakpoints_ = 0;
    std::size_t message_ = 0;
    std::size_t block_ = 0;
    bool is_assistant_ = false;
    bool is_last_ = false;
};

}  // namespace whittle::inline v0::anthropic::detail
