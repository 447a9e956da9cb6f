#pragma once

#include "whittle/anthropic/anthropic.hpp"
#include "whittle/base/text.hpp"
#include "whittle/convert/detail/convert_losses.hpp"
#include "whittle/openai/openai.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// A converted message and the input it stands for.
struct FromOpenAI {
    anthropic::Message message;
    std::size_t first = 0;
    std::size_t last = 0;
};

/// Turns chat-completions messages into those of the Messages API, oldest first.
class ToAnthropicConverter {
public:
    explicit ToAnthropicConverter(Losses& losses) : losses_(losses) {}

    void convert(std::span<const openai::Message> messages) {
        std::size_t i = take_system(messages);
        while (i < messages.size()) {
            losses_.at(i);
            const std::size_t first = i++;
            const ordered_json& m = messages[first].json();
            if (!openai::detail::is_tool_message(m)) {
                message(m, first);
                continue;
            }
            ordered_json results = ordered_json::array({result(m)});
            for (; i < messages.size() && openai::detail::is_tool_message(messages[i].json()); ++i) {
                losses_.at(i);
                results.push_back(result(messages[i].json()));
            }
            emit("user", std::move(results), first, i);
        }
    }

    /// This API refuses a list that begins with a reply.
    void let_user_begin() {
        using Traits = message_traits<anthropic::Message>;
        if (converted_.empty() || Traits::role(converted_.front().message) != Role::assistant) return;
        const std::size_t first = converted_.front().first;
        losses_.at(first);
        losses_.add("first_speaker", "a user message that says so was put in front, since the assistant speaks first");
        anthropic::Message begin({{"role", "user"}, {"content", "(The assistant speaks first.)"}});
        converted_.insert(converted_.begin(), {std::move(begin), first, first});
    }

    [[nodiscard]] ordered_json take_system_text() { return std::move(system_); }
    [[nodiscard]] std::vector<FromOpenAI> take() { return std::move(converted_); }
    [[nodiscard]] const CallNames& names() const noexcept { return names_; }

private:
    /// The system messages in front stand outside the list. Returns how many there are.
    std::size_t take_system(std::span<const openai::Message> messages) {
        ordered_json blocks = ordered_json::array();
        std::size_t count = 0;
        for (; count < messages.size() && message_traits<openai::Message>::role(messages[count]) == Role::system;
             ++count) {
            losses_.at(count);
            const ordered_json& m = messages[count].json();
            if (m["role"] == "developer") losses_.add("role", "developer became system");
            losses_.add_unknown_members(m, {"role", "content"});
            for (ordered_json& block : content_blocks(m)) blocks.push_back(std::move(block));
        }
        if (count > 1) losses_.add("boundary", "several system messages became blocks of one system text");
        const bool was_array =
            count == 1 && messages[0].json().contains("content") && messages[0].json()["content"].is_array();
        system_ = was_array && !blocks.empty() ? std::move(blocks) : simplest_content(std::move(blocks));
        if (count == 1 && !losses_.any_at(0) && system_.is_null())
            losses_.add("message", "a message without content was left out");
        if (count == 1 && !losses_.any_at(0) &&
            messages[0].json() != ordered_json{{"role", "system"}, {"content", system_}})
            losses_.add("form", "says the same, but would come back as other JSON");
        return count;
    }

    void message(const ordered_json& m, std::size_t index) {
        const Role role = openai::detail::role_of(find_string(m, "role").value_or(""));
        if (role == Role::assistant) return assistant(m, index);
        if (role == Role::system) losses_.add("role", "a system message in the middle became one of the user");
        losses_.add_unknown_members(m, {"role", "content"});
        emit("user", content(m), index, index + 1);
    }

    void assistant(const ordered_json& m, std::size_t index) {
        unnamed_calls_ = {};
        report_members_of_replies(m);
        const auto refusal = find_string(m, "refusal");
        const ordered_json* calls = find_member(m, "tool_calls");
        const bool has_calls = calls != nullptr && calls->is_array() && !calls->empty();
        if (!has_calls && !refusal) return emit("assistant", content(m), index, index + 1);
        ordered_json blocks = content_blocks(m);
        if (refusal && keeps_text(*refusal)) blocks.push_back(text_item(std::string(*refusal)));
        for (std::size_t i = 0; has_calls && i < calls->size(); ++i) call((*calls)[i], blocks);
        emit("assistant", std::move(blocks), index, index + 1);
    }

    void report_members_of_replies(const ordered_json& m) {
        losses_.add_unknown_members(m,
                                    {"role", "content", "tool_calls", "reasoning_content", "refusal", "function_call"});
        const auto report = [&](const char* key, std::string_view what, const char* text) {
            const ordered_json* member = find_member(m, key);
            if (member == nullptr) return;
            if (member->is_null()) return losses_.add("member", "\"" + std::string(key) + "\": null was left out");
            losses_.add(what, text);
        };
        report("reasoning_content", "reasoning",
               "reasoning was left out: this API takes only thinking that it has signed");
        report("function_call", "function_call", "a call in the old form without an id was left out");
        report("refusal", "refusal", "a refusal became text");
    }

    void emit(std::string_view role, ordered_json content, std::size_t first, std::size_t last) {
        if (content.is_null() || content.empty())
            return losses_.add("message", "a message without content was left out");
        converted_.push_back(
            {anthropic::Message({{"role", std::string(role)}, {"content", std::move(content)}}), first, last});
    }

    /// A string stays one; null if nothing is left.
    ordered_json content(const ordered_json& m) {
        const ordered_json* content = find_member(m, "content");
        if (content == nullptr || !content->is_string()) return content_blocks(m);
        return keeps_text(content->get_ref<const std::string&>()) ? *content : ordered_json(nullptr);
    }

    ordered_json content_blocks(const ordered_json& m) {
        ordered_json blocks = ordered_json::array();
        const ordered_json* content = find_member(m, "content");
        if (content == nullptr || content->is_null()) return blocks;
        if (content->is_string()) {
            const std::string& text = content->get_ref<const std::string&>();
            if (keeps_text(text)) blocks.push_back(text_item(text));
        } else if (content->is_array()) {
            for (const ordered_json& item : *content) add_item(item, blocks);
        } else {
            losses_.add("content", "content that is neither text nor an array was left out");
        }
        return blocks;
    }

    bool keeps_text(std::string_view text) {
        if (!is_blank(text)) return true;
        losses_.add("blank_text", "text that is empty or only white space was left out: this API refuses it");
        return false;
    }

    void add_item(const ordered_json& item, ordered_json& blocks) {
        switch (openai::detail::kind_of_item(item)) {
            case openai::detail::ItemKind::text:
                losses_.add_unknown_members(item, {"type", "text"});
                if (keeps_text(*find_string(item, "text")))
                    blocks.push_back(text_item(std::string(*find_string(item, "text"))));
                return;
            case openai::detail::ItemKind::media: blocks.push_back(medium(item)); return;
            case openai::detail::ItemKind::other: break;
        }
        losses_.add("item", "a content item of an unknown type was left out");
    }

    ordered_json medium(const ordered_json& item) {
        if (find_member(item, "source") != nullptr) return item;  // a block of Anthropic's among OpenAI's
        std::string scratch;
        const MediaView view = *openai::detail::media_of(item, scratch);
        const bool is_foreign_file = find_string(item, "type") == "file" && view.mime.empty();
        ordered_json block =
            is_foreign_file
                ? anthropic::detail::named_media("file", view.url)
                : anthropic::detail::block_of_media({.mime = std::string(view.mime), .url = std::string(view.url)});
        if (block["type"] == "text") losses_.add("media", "a medium that this API cannot take became text");
        const ordered_json* file = find_member(item, "file");
        if (block["type"] == "document" && file != nullptr) {
            if (const auto name = find_string(*file, "filename")) block["title"] = std::string(*name);
        }
        if (const ordered_json* image = find_member(item, "image_url")) losses_.add_unknown_members(*image, {"url"});
        return block;
    }

    void call(const ordered_json& call, ordered_json& blocks) {
        const openai::detail::CallFields fields = openai::detail::call_fields(call);
        if (fields.holder == nullptr) return losses_.add("tool_call", "a call of an unknown type was left out");
        losses_.add_unknown_members(call, {"id", "type", fields.holder});
        const ordered_json& holder = call[fields.holder];
        losses_.add_unknown_members(holder, {"name", fields.text});
        const std::string id(find_string(call, "id").value_or(""));
        const std::string name(find_string(holder, "name").value_or(""));
        ordered_json input =
            std::string_view(fields.holder) == "custom" ? custom_input(holder) : function_input(holder);
        names_[id] = name;
        blocks.push_back({{"type", "tool_use"}, {"id", new_call_id(id)}, {"name", name}, {"input", std::move(input)}});
    }

    ordered_json custom_input(const ordered_json& holder) {
        losses_.add("arguments", "the text input of a custom tool became an object with the member \"input\"");
        return {{"input", std::string(find_string(holder, "input").value_or(""))}};
    }

    ordered_json function_input(const ordered_json& holder) {
        const ordered_json* arguments = find_member(holder, "arguments");
        if (arguments == nullptr || is_empty(*arguments)) {
            losses_.add("arguments", "empty arguments became {}");
            return ordered_json::object();
        }
        if (!arguments->is_string()) {
            losses_.add("arguments_spelling", "arguments that are no string come back as one");
            return arguments->is_object() ? *arguments : wrapped(render(*arguments));
        }
        return parsed(arguments->get_ref<const std::string&>());
    }

    static bool is_empty(const ordered_json& arguments) { return arguments.is_null() || arguments == ""; }

    ordered_json parsed(const std::string& text) {
        ParseNotes notes;
        ordered_json input;
        try {
            input = parse_json("read arguments", text, {.max_depth = max_message_depth - 4}, &notes);
        } catch (const Error&) {
            return wrapped(text);
        }
        if (!input.is_object()) return wrapped(text);
        for (const std::string& note : notes.notes) losses_.add("arguments", note);
        if (notes.notes.empty() && input.dump() != text)
            losses_.add("arguments_spelling", "white space or spelling of the arguments is not kept");
        return input;
    }

    ordered_json wrapped(std::string text) {
        losses_.add("arguments", "arguments that are no JSON object became one with the member \"arguments\"");
        return {{"arguments", to_valid_utf8(text)}};
    }

    /// Ids outside the API's alphabet get another one, always the same.
    std::string new_id(const std::string& id) {
        if (is_allowed_id(id)) return id;
        losses_.add("id", "the call id \"" + clip_for_error(id) + "\" got another spelling");
        std::string safe = to_safe_name(id + "/");
        std::ranges::replace(safe, '.', '_');
        return safe;
    }

    /// Calls without an id get one each.
    std::string new_call_id(const std::string& id) {
        if (!id.empty()) return new_id(id);
        unnamed_calls_.ids.push_back(new_id(id) + (unnamed_ > 0 ? "_" + std::to_string(unnamed_ + 1) : ""));
        ++unnamed_;
        return unnamed_calls_.ids.back();
    }

    /// Results without an id answer the calls without one in their order.
    std::string new_result_id(const std::string& id) {
        std::string any = new_id(id);
        if (!id.empty() || unnamed_calls_.answered == unnamed_calls_.ids.size()) return any;
        return unnamed_calls_.ids[unnamed_calls_.answered++];
    }

    static bool is_allowed_id(std::string_view id) {
        const auto is_allowed = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
        };
        return !id.empty() && std::ranges::all_of(id, is_allowed);
    }

    ordered_json result(const ordered_json& m) {
        losses_.add_unknown_members(m, {"role", "content", "tool_call_id", "name"});
        const std::string id(find_string(m, "tool_call_id").value_or(""));
        const auto name = find_string(m, "name");
        const auto call = names_.find(id);
        if (name && (call == names_.end() || call->second != *name))
            losses_.add("name", "the tool name of a result that differs from its call's was left out");
        const ordered_json* content = find_member(m, "content");
        ordered_json shown = "";
        if (content != nullptr && content->is_string()) {
            shown = *content;
        } else if (content != nullptr && content->is_array() && !content->empty()) {
            shown = content_blocks(m);
        } else {
            losses_.add("content", "a result without text became an empty one");
        }
        return {{"type", "tool_result"}, {"tool_use_id", new_result_id(id)}, {"content", std::move(shown)}};
    }

    /// Of the newest reply.
    struct UnnamedCalls {
        std::vector<std::string> ids{};
        std::size_t answered = 0;
    };

    Losses& losses_;
    UnnamedCalls unnamed_calls_{};
    std::size_t unnamed_ = 0;  ///< calls without an id so far
    ordered_json system_ = nullptr;
    std::vector<FromOpenAI> converted_{};
    CallNames names_{};
};

}  // namespace whittle::inline v0::detail
