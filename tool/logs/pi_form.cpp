#include "pi_form.hpp"

#include "whittle/provider/detail/json_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

bool is_pi_call(std::string_view type) { return type == "toolCall" || type == "toolUse" || type == "functionCall"; }

/// A block as the Responses interface has it.
ordered_json pi_item(const ordered_json& block) {
    if (text_at(block, "type") != "image") return block;
    return {{"type", "input_image"},
            {"image_url", fmt::format("data:{};base64,{}", text_at(block, "mimeType"), text_at(block, "data"))}};
}

std::string pi_arguments(const ordered_json& block) {
    for (const char* key : {"arguments", "input"}) {
        const ordered_json* arguments = find_member(block, key);
        if (arguments == nullptr || arguments->is_null()) continue;
        return arguments->is_string() ? arguments->get<std::string>() : to_json_text(*arguments);
    }
    return "{}";
}

ordered_json user_message(ordered_json content) { return {{"role", "user"}, {"content", std::move(content)}}; }

/// The wording that the agent puts around a summary.
ordered_json pi_summary(std::string_view introduction, std::string_view summary, std::string_view end) {
    return user_message(fmt::format("{}\n\n<summary>\n{}{}</summary>", introduction, summary, end));
}

/// When the message was made, as it stands there: copies have the same.
std::string pi_timestamp(const ordered_json& record, const ordered_json& message) {
    for (const ordered_json* holder : {&message, &record}) {
        const ordered_json* time = find_member(*holder, "timestamp");
        if (time != nullptr && time->is_number()) return to_json_text(*time);
        if (time != nullptr && time->is_string()) return time->get<std::string>();
    }
    return std::string(text_at(record, "id"));
}

std::string pi_bill_id(const ordered_json& record, const ordered_json& message, std::string_view what,
                       const std::optional<Usage>& usage) {
    const std::string moment = pi_timestamp(record, message);
    if (moment.empty()) return "";
    const Usage counts = usage.value_or(Usage{});
    return fmt::format("pi/{}/{}/{}-{}-{}-{}", moment, what, counts.uncached_input, counts.cache_read,
                       counts.cache_write, counts.output);
}

/// Empty for those of servers that give the same to many replies, such as "chatcmpl-7".
std::string_view pi_response_id(const ordered_json& message) {
    constexpr std::size_t least = 16;
    const std::string_view id = text_at(message, "responseId");
    return id.size() < least ? std::string_view() : id;
}

}  // namespace

ordered_json pi_content(const ordered_json* content, LogNotes& notes) {
    if (content == nullptr || content->is_null()) return "";
    if (content->is_string()) return *content;
    ordered_json items = ordered_json::array();
    if (content->is_object()) items.push_back(pi_item(*content));  // OpenClaw takes a block for a list of one
    if (content->is_array()) {
        for (const ordered_json& block : *content) items.push_back(pi_item(block));
    }
    return to_openai_content(std::move(items), "content", notes);
}

ReplyParts pi_reply(const ordered_json* content, LogNotes& notes) {
    ReplyParts reply;
    if (content == nullptr) return reply;
    if (content->is_string()) reply.add_text(content->get_ref<const std::string&>());
    if (!content->is_array()) return reply;
    for (const ordered_json& block : *content) {
        const std::string_view type = text_at(block, "type");
        if (type == "text") {
            reply.add_text(text_at(block, "text"));
        } else if (is_pi_call(type)) {
            reply.call(openai_call(text_at(block, "id"), text_at(block, "name"), pi_arguments(block)));
        } else if (type == "thinking" || type == "redacted_thinking") {
            ++notes.left_out["content/thinking"];
        } else {
            ++notes.unknown["content/" + std::string(type.substr(0, 64))];
        }
    }
    return reply;
}

std::string pi_command_text(const ordered_json& message) {
    const std::string_view output = text_at(message, "output");
    std::string text = fmt::format("Ran `{}`\n", text_at(message, "command"));
    text += output.empty() ? std::string("(no output)") : fmt::format("```\n{}\n```", output);
    const ordered_json* code = find_member(message, "exitCode");
    if (is_set(message, "cancelled")) {
        text += "\n\n(command cancelled)";
    } else if (code != nullptr && code->is_number() && *code != 0) {
        text += "\n\nCommand exited with code " + to_json_text(*code);
    }
    const std::string_view path = text_at(message, "fullOutputPath");
    if (is_set(message, "truncated") && !path.empty())
        text += fmt::format("\n\n[Output truncated. Full output: {}]", path);
    return text;
}

ordered_json pi_compaction_summary(std::string_view summary) {
    return pi_summary("The conversation history before this point was compacted into the following summary:", summary,
                      "\n");
}

ordered_json pi_branch_summary(std::string_view summary) {
    return pi_summary("The following is a summary of a branch that this conversation came back from:", summary, "");
}

ordered_json pi_input(const ordered_json& message, LogNotes& notes) {
    const std::string_view role = text_at(message, "role");
    if (role == "user" || role == "custom" || role == "hookMessage")
        return user_message(pi_content(find_member(message, "content"), notes));
    if (role == "toolResult")
        return openai_result(text_at(message, "toolCallId"), pi_content(find_member(message, "content"), notes));
    if (role == "bashExecution") return user_message(pi_command_text(message));
    if (role == "branchSummary") return pi_branch_summary(text_at(message, "summary"));
    if (role == "compactionSummary") return pi_compaction_summary(text_at(message, "summary"));
    return nullptr;
}

ordered_json with_pi_content(const ordered_json& message, const ordered_json& content, LogNotes& notes) {
    const std::string_view role = text_at(message, "role");
    if (role == "assistant") return pi_reply(&content, notes).message();
    if (role == "tool") return openai_result(text_at(message, "tool_call_id"), pi_content(&content, notes));
    return user_message(pi_content(&content, notes));
}

std::optional<Usage> pi_usage(const ordered_json& holder, std::string_view api) {
    const ordered_json* usage = tree_at(holder, "usage");
    if (usage == nullptr || !usage->is_object()) return std::nullopt;
    const Usage counts{.uncached_input = count_at(*usage, "input"),
                       .cache_read = count_at(*usage, "cacheRead"),
                       .cache_write = count_at(*usage, "cacheWrite"),
                       .output = count_at(*usage, "output")};
    // Without a total it is of a version of before December 2025: those took OpenAI's input as it came.
    const bool holds_cache = find_member(*usage, "totalTokens") == nullptr && api.starts_with("openai-");
    if (holds_cache) return usage_of_sums(counts.uncached_input, counts.cache_read, counts.cache_write, counts.output);
    const Usage bill = usage_by_total(counts, count_at(*usage, "totalTokens"), CachePlace::outside_input);
    if (find_member(*usage, "cacheWrite1h") == nullptr) return bill;
    const std::int64_t hour = count_at(*usage, "cacheWrite1h");
    return bill.with_lifetimes(bill.cache_write - std::min(hour, bill.cache_write), hour);
}

std::optional<double> pi_time(const ordered_json& holder) {
    const ordered_json* time = find_member(holder, "timestamp");
    if (time == nullptr) return std::nullopt;
    if (time->is_string()) return to_seconds(time->get_ref<const std::string&>());
    if (!time->is_number()) return std::nullopt;
    const auto millis = time->get<double>();
    return millis > 0 ? std::optional(millis / 1'000) : std::nullopt;
}

Call pi_call(const ordered_json& record, const ordered_json& message, std::string_view known_model) {
    const std::string_view answered = text_at(message, "responseModel");
    const std::string_view asked = text_at(message, "model");
    const std::string_view model = !answered.empty() ? answered : !asked.empty() ? asked : known_model;
    const auto usage = pi_usage(message, text_at(message, "api"));
    return {.id = std::string(pi_response_id(message)),
            .bill_id = pi_bill_id(record, message, asked, usage),
            .model = std::string(model),
            .usage = usage};
}

Call pi_side_call(const ordered_json& record, const ordered_json& holder, std::string_view what) {
    const auto usage = pi_usage(holder, "");
    return {.bill_id = pi_bill_id(record, holder, what, usage),
            .model = std::string(text_at(holder, "model")),
            .time = pi_time(record) ? pi_time(record) : pi_time(holder),
            .usage = usage};
}

}  // namespace whittle::inline v0::logs
