#include "gemini_form.hpp"

#include "gemini_parts.hpp"
#include "openai_form.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

/// A call as the reply and the record of its run have it.
struct GeminiCall {
    std::string id{};
    std::string name{};
    std::string arguments{};
    const ordered_json* run = nullptr;  ///< null: only the reply has the call
};

/// A copy of a reply that the agent put back into its history has its calls among its parts alone.
std::vector<GeminiCall> calls_of_gemini(const ordered_json& message, const ordered_json& parts) {
    std::vector<GeminiCall> calls;
    std::unordered_set<std::string_view> known;
    if (const ordered_json* runs = tree_at(message, "toolCalls")) {
        for (const ordered_json& run : *runs) {
            if (!run.is_object()) continue;
            known.insert(text_at(run, "id"));
            calls.push_back(
                {std::string(text_at(run, "id")), std::string(text_at(run, "name")), arguments_of_gemini(run), &run});
        }
    }
    for (const ordered_json& part : parts) {
        const ordered_json* call = tree_at(part, "functionCall");
        if (call == nullptr) continue;
        const std::string_view id = text_at(*call, "id");
        if (!known.insert(id).second && !id.empty()) continue;
        calls.push_back({std::string(id), std::string(text_at(*call, "name")), arguments_of_gemini(*call), nullptr});
    }
    return calls;
}

/// The parts of a result that are of this call: the agent may have recorded those of all calls of the reply for each.
ordered_json parts_of_result(const ordered_json& result, std::string_view id) {
    const auto is_response_of = [&](const ordered_json& part) {
        const ordered_json* response = tree_at(part, "functionResponse");
        return response != nullptr && text_at(*response, "id") == id;
    };
    if (!std::ranges::any_of(result, is_response_of)) return result;
    ordered_json own = ordered_json::array();
    bool is_own = false;
    for (const ordered_json& part : result) {
        if (tree_at(part, "functionResponse") != nullptr) is_own = is_response_of(part);
        if (is_own) own.push_back(part);
    }
    return own;
}

}  // namespace

Call gemini_call(const ordered_json& message) {
    constexpr std::size_t min_unique = 32;  // shorter ids, such as a number, are of this session alone
    const std::string_view id = text_at(message, "id");
    const std::string_view time = text_at(message, "timestamp");
    Call call{.model = std::string(text_at(message, "model")), .time = to_seconds(time)};
    if (id.size() >= min_unique) {
        call.bill_id = "gemini_cli/" + std::string(id);
    } else if (!time.empty()) {
        call.bill_id = std::string(gemini_bill_in_session) + std::string(id) + "/" + std::string(time);
    }
    const ordered_json* tokens = tree_at(message, "tokens");
    if (tokens == nullptr) return call;
    const std::int64_t input = count_at(*tokens, "input");
    const std::int64_t cached = std::min(input, count_at(*tokens, "cached"));
    call.usage = Usage{.uncached_input = add_saturating(input - cached, count_at(*tokens, "tool")),
                       .cache_read = cached,
                       .cache_write = 0,
                       .output = add_saturating(count_at(*tokens, "output"), count_at(*tokens, "thoughts"))};
    return call;
}

bool is_gemini_turn(const ordered_json& message) {
    const std::string_view type = text_at(message, "type");
    return type == "user" || type == "gemini";
}

bool is_gemini_setup(const ordered_json& message) {
    if (text_at(message, "type") != "user" || holds_gemini_results(message)) return false;
    LogNotes notes;
    const std::string text = joined_gemini_text(gemini_parts(message, "content"), "", notes);
    const std::string_view result_text =
        std::string_view(text).substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    constexpr std::array<std::string_view, 4> beginnings{"/", "?", "<session_context>", "<hook_context>"};
    return std::ranges::any_of(beginnings, [&](std::string_view with) { return result_text.starts_with(with); });
}

bool is_empty_gemini_reply(const ordered_json& message) {
    if (text_at(message, "type") != "gemini") return false;
    if (const ordered_json* runs = tree_at(message, "toolCalls"); runs != nullptr && !runs->empty()) return false;
    return std::ranges::all_of(gemini_parts(message, "content"), [](const ordered_json& part) {
        return text_of_gemini_part(part).empty() && tree_at(part, "functionCall") == nullptr;
    });
}

bool holds_gemini_results(const ordered_json& message) {
    return text_at(message, "type") == "user" &&
           std::ranges::any_of(gemini_parts(message, "content"),
                               [](const ordered_json& part) { return tree_at(part, "functionResponse") != nullptr; });
}

void GeminiMessages::add(const ordered_json& message, std::size_t line) {
    const std::string_view type = text_at(message, "type");
    if (type == "gemini") return add_reply(message, line);
    if (type == "user") return holds_gemini_results(message) ? add_results(message, line) : add_prompt(message, line);
    const bool is_known = type == "info" || type == "error" || type == "warning";
    ++(is_known ? notes_.left_out : notes_.unknown)[std::string(type.substr(0, 64))];
}

void GeminiMessages::close() {
    answer_open_calls(std::exchange(calls_, {}), open_, entries_, notes_);
    reply_.reset();
}

/// Calls that the agent recorded apart from the reply that they are of: it does so where a notice came in between.
bool GeminiMessages::continues(const ordered_json& message, std::string_view text) const {
    return reply_ && text.empty() && tree_at(message, "tokens") == nullptr;
}

void GeminiMessages::add_reply(const ordered_json& message, std::size_t line) {
    const ordered_json content = gemini_parts(message, "content");
    const std::string text = joined_gemini_text(content, "", notes_);
    std::vector<GeminiCall> calls = calls_of_gemini(message, content);
    if (text.empty() && calls.empty()) {  // thoughts alone, a reply that was cut off, or one that the agent made up
        ++notes_.left_out["reply without text and calls"];
        if (Call call = gemini_call(message); call.usage) entries_.bill_elsewhere(std::move(call));
        return;
    }
    const auto time = to_seconds(text_at(message, "timestamp"));
    if (!continues(message, text)) {
        close();
        answered_.clear();
        texts_in_results_.clear();
        ReplyParts parts;
        parts.add_text(text);
        Call call = gemini_call(message);
        const bool is_made_up = call.model.empty() && !call.usage;  // by the agent, without a model
        reply_ = entries_.add({.message = parts.message(),
                               .time = time,
                               .line = line,
                               .call = is_made_up ? std::nullopt : std::optional(std::move(call))});
    }
    ordered_json& reply = entries_[*reply_].message;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        GeminiCall& call = calls[i];
        if (call.id.empty()) call.id = std::string(text_at(message, "id")) + "/" + std::to_string(i + 1);
        if (!open_.insert(call.id).second) continue;
        calls_.push_back(call.id);
        reply["tool_calls"].push_back(openai_call(call.id, call.name, std::move(call.arguments)));
    }
    for (const GeminiCall& call : calls) {
        const ordered_json* result = call.run == nullptr ? nullptr : find_member(*call.run, "result");
        if (result == nullptr || result->is_null()) continue;
        std::string result_text;
        for (const ordered_json& part : parts_of_result(gemini_parts(*call.run, "result"), call.id)) {
            const ordered_json* response = tree_at(part, "functionResponse");
            const std::string piece =
                response == nullptr ? text_of_gemini_part(part) : text_of_gemini_response(*response);
            if (response == nullptr) texts_in_results_.insert(piece);
            result_text.append(result_text.empty() || piece.empty() ? "" : "\n").append(piece);
            note_gemini_media(part, notes_);
        }
        const auto came = to_seconds(text_at(*call.run, "timestamp"));
        add_result(call.id, result_text, came ? came : time, line);
    }
}

void GeminiMessages::add_result(const std::string& id, const std::string& text, std::optional<double> time,
                                std::size_t line) {
    open_.erase(id);
    answered_.insert(id);
    reply_.reset();
    entries_.add({.message = openai_result(id, text), .time = time, .line = line, .call = std::nullopt});
}

void GeminiMessages::add_prompt(const ordered_json& message, std::size_t line) {
    close();
    entries_.add(
        {.message = {{"role", "user"}, {"content", joined_gemini_text(gemini_parts(message, "content"), "\n", notes_)}},
         .time = to_seconds(text_at(message, "timestamp")),
         .line = line,
         .call = std::nullopt});
}

/// Most results stand in the record of their call already, with what the agent put beside them.
void GeminiMessages::add_results(const ordered_json& message, std::size_t line) {
    const auto time = to_seconds(text_at(message, "timestamp"));
    const bool has_open = !open_.empty();
    std::string text_outside;
    for (const ordered_json& part : gemini_parts(message, "content")) {
        if (has_open) note_gemini_media(part, notes_);
        if (const ordered_json* response = tree_at(part, "functionResponse")) {
            const std::string id(text_at(*response, "id"));
            if (open_.contains(id)) {
                add_result(id, text_of_gemini_response(*response), time, line);
            } else if (!answered_.contains(id)) {
                ++notes_.left_out["functionResponse without its call"];
            }
        } else if (const std::string text = text_of_gemini_part(part);
                   !text.empty() && !texts_in_results_.contains(text)) {
            text_outside.append(text_outside.empty() ? "" : "\n").append(text);
        }
    }
    if (text_outside.empty()) return;
    close();
    entries_.add({.message = {{"role", "user"}, {"content", std::move(text_outside)}},
                  .time = time,
                  .line = line,
                  .call = std::nullopt});
}

}  // namespace whittle::inline v0::logs
