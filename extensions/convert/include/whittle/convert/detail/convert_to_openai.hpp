#pragma once

#include "whittle/anthropic/anthropic.hpp"
#include "whittle/base/text.hpp"
#include "whittle/convert/detail/convert_losses.hpp"
#include "whittle/openai/openai.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// What an Anthropic message became.
struct FromAnthropic {
    std::size_t message = 0;  ///< index in the input
    std::vector<openai::Message> messages{};
};

/// Turns messages of the Messages API into chat-completions messages, oldest first.
class ToOpenAIConverter {
public:
    ToOpenAIConverter(Losses& losses, const ConversionOptions& options) : losses_(losses), options_(options) {}

    /// The calls of a stretch that holds only their results. Must outlive this.
    void know(const CallNames* names) { known_ = names; }

    void convert(std::span<const anthropic::Message> messages) {
        for (std::size_t i = 0; i < messages.size(); ++i) {
            losses_.at(i);
            converted_.push_back({i, {}});
            const ordered_json& m = messages[i].json();
            losses_.add_unknown_members(m, {"role", "content"});
            if (find_string(m, "role") == "assistant") {
                assistant(m);
            } else {
                user(m);
            }
            if (converted_.back().messages.empty()) losses_.add("message", "a message without content was left out");
        }
    }

    /// The system text of a request as a message; none if it is null or empty.
    std::vector<openai::Message> system_message(const ordered_json& system) {
        if (system.is_null()) return {};
        if (system.is_string() && system != "") return {openai::Message({{"role", "system"}, {"content", system}})};
        ordered_json items = ordered_json::array();
        if (system.is_array()) {
            for (const ordered_json& block : system) add_block(block, items);
        }
        if (items.empty()) {
            losses_.add("message", "a system text that is empty, or neither text nor an array of it, was left out");
            return {};
        }
        return {openai::Message({{"role", "system"}, {"content", std::move(items)}})};
    }

    [[nodiscard]] std::vector<FromAnthropic> take() { return std::move(converted_); }

private:
    void emit(ordered_json json) { converted_.back().messages.emplace_back(std::move(json)); }

    static const ordered_json* blocks_of(const ordered_json& m) {
        const ordered_json* content = find_member(m, "content");
        return content != nullptr && content->is_array() ? content : nullptr;
    }

    void user(const ordered_json& m) {
        const std::string role(*find_string(m, "role"));
        const ordered_json* blocks = blocks_of(m);
        if (blocks == nullptr) return plain(m, role);
        ordered_json items = ordered_json::array();
        ordered_json media = ordered_json::array();
        bool has_results = false;
        for (const ordered_json& block : *blocks) {
            if (anthropic::detail::kind_of_block(block) != anthropic::detail::BlockKind::tool_result) {
                add_block(block, items);
                continue;
            }
            if (!items.empty()) losses_.add("order", "content in front of a tool result stands behind it");
            has_results = true;
            result(block, media);
        }
        if (has_results && was_results_) losses_.add("boundary", "results of several messages come back in one");
        was_results_ = has_results;
        if (has_results && !items.empty())
            losses_.add("boundary", "content beside tool results became a message of its own");
        for (ordered_json& item : items) media.push_back(std::move(item));
        if (!media.empty()) emit({{"role", role}, {"content", std::move(media)}});
        if (!items.empty()) was_results_ = false;
    }

    /// Content as a string, or none.
    void plain(const ordered_json& m, const std::string& role) {
        was_results_ = false;
        const ordered_json* content = find_member(m, "content");
        if (content != nullptr && content->is_string()) {
            emit({{"role", role}, {"content", *content}});
        } else if (content != nullptr && !content->is_null()) {
            losses_.add("content", "content that is neither text nor an array was left out");
        }
    }

    void result(const ordered_json& block, ordered_json& media) {
        losses_.add_unknown_members(block, {"type", "tool_use_id", "content", "is_error"});
        if (block.contains("is_error")) losses_.add("is_error", "whether the tool failed has no place in this format");
        const std::string id(find_string(block, "tool_use_id").value_or(""));
        ordered_json message{{"role", "tool"}, {"content", result_content(block, id, media)}, {"tool_call_id", id}};
        const std::string name = options_.tool_names ? name_of_call(id) : std::string();
        if (!name.empty()) message["name"] = name;
        emit(std::move(message));
    }

    [[nodiscard]] std::string name_of_call(const std::string& id) const {
        if (const auto own = names_.find(id); own != names_.end()) return own->second;
        if (known_ == nullptr) return {};
        const auto other = known_->find(id);
        return other == known_->end() ? std::string() : other->second;
    }

    ordered_json result_content(const ordered_json& block, const std::string& id, ordered_json& media) {
        const ordered_json* content = find_member(block, "content");
        if (content != nullptr && content->is_string()) return *content;
        if (content == nullptr || !content->is_array()) {
            losses_.add("content", "a result without text became an empty one");
            return "";
        }
        ordered_json items = ordered_json::array();
        bool is_named = false;
        for (const ordered_json& item : *content) {
            ordered_json one = ordered_json::array();
            add_block(item, one);
            for (ordered_json& o : one) {
                if (o["type"] == "text" || options_.media_in_tool_messages) {
                    items.push_back(std::move(o));
                    continue;
                }
                if (!std::exchange(is_named, true)) media.push_back(text_item("[media of tool result " + id + "]"));
                losses_.add("media", "a medium of a tool result stands in a user message behind the results");
                media.push_back(std::move(o));
            }
        }
        if (items.empty()) return "";
        return items;
    }

    void assistant(const ordered_json& m) {
        const ordered_json* blocks = blocks_of(m);
        if (blocks == nullptr) return plain(m, "assistant");
        was_results_ = false;
        ordered_json items = ordered_json::array();
        ordered_json calls = ordered_json::array();
        for (const ordered_json& block : *blocks) {
            if (anthropic::detail::kind_of_block(block) == anthropic::detail::BlockKind::tool_use) {
                call(block, calls);
                continue;
            }
            const std::size_t before = items.size();
            add_block(block, items);
            if (!calls.empty() && items.size() > before)
                losses_.add("order", "text behind a tool call stands in front of it");
        }
        if (items.empty() && calls.empty()) return;
        ordered_json message{{"role", "assistant"}};
        message["content"] = calls.empty() ? std::move(items) : simplest_content(std::move(items));
        if (!calls.empty()) message["tool_calls"] = std::move(calls);
        emit(std::move(message));
    }

    void call(const ordered_json& block, ordered_json& calls) {
        losses_.add_unknown_members(block, {"type", "id", "name", "input"});
        const std::string id(find_string(block, "id").value_or(""));
        const std::string name(find_string(block, "name").value_or(""));
        names_[id] = name;
        const ordered_json* input = find_member(block, "input");
        if (input == nullptr || !input->is_object()) losses_.add("arguments", "an input that is no object became text");
        calls.push_back({{"id", id},
                         {"type", "function"},
                         {"function", {{"name", name}, {"arguments", input == nullptr ? "" : render(*input)}}}});
    }

    /// Appends what `block` becomes, if anything.
    void add_block(const ordered_json& block, ordered_json& items) {
        using anthropic::detail::BlockKind;
        switch (anthropic::detail::kind_of_block(block)) {
            case BlockKind::text:
                losses_.add_unknown_members(block, {"type", "text"});
                items.push_back(text_item(std::string(*find_string(block, "text"))));
                return;
            case BlockKind::media: items.push_back(medium(block)); return;
            case BlockKind::thinking:
            case BlockKind::redacted_thinking:
                return losses_.add("thinking", "thinking was left out: it is signed for its own provider");
            case BlockKind::tool_use:
            case BlockKind::tool_result:
                return losses_.add("place", "a tool call or result at a place where this format has none was left out");
            case BlockKind::other: break;
        }
        losses_.add("block",
                    "a block of type \"" + clip_for_error(find_string(block, "type").value_or("")) + "\" was left out");
    }

    ordered_json medium(const ordered_json& block) {
        losses_.add_unknown_members(block, {"type", "source", "title"});
        std::string scratch;
        const Media media =
            to_part({.kind = PartKind::media, .media = *anthropic::detail::media_of(block, scratch)}).media;
        const bool is_image = find_string(block, "type") == "image";
        const auto source = find_string(block["source"], "type");
        if (is_image && source != "file") return image_item(media.url);
        if (source == "base64") return file_item(block, media.url);
        losses_.add("media", "a medium that this format cannot hold became text");
        if (!media.bytes.empty() && media.mime == "text/plain") return text_item(to_valid_utf8(media.bytes));
        return text_item("[" + media.mime + ": " + (media.url.empty() ? media.bytes : media.url) + "]");
    }

    static ordered_json image_item(const std::string& url) {
        return {{"type", "image_url"}, {"image_url", {{"url", url}}}};
    }

    static ordered_json file_item(const ordered_json& block, const std::string& url) {
        ordered_json file = ordered_json::object();
        if (const auto title = find_string(block, "title")) file["filename"] = std::string(*title);
        file["file_data"] = url;
        return {{"type", "file"}, {"file", std::move(file)}};
    }

    Losses& losses_;
    ConversionOptions options_;
    std::vector<FromAnthropic> converted_{};
    CallNames names_{};
    const CallNames* known_ = nullptr;
    bool was_results_ = false;
};

}  // namespace whittle::inline v0::detail
