#include "streamed_response.hpp"

#include "entries.hpp"
#include "records.hpp"
#include "whittle/anthropic/detail/anthropic_stream.hpp"
#include "whittle/openai/detail/openai_stream.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

/// Members of the response that only some of the events hold.
struct ResponseHead {
    ordered_json id{};
    ordered_json model{};
    ordered_json usage = ordered_json::object();

    void take(const ordered_json& holder) {
        for (auto [member, key] : {std::pair{&id, "id"}, std::pair{&model, "model"}}) {
            const ordered_json* value = find_member(holder, key);
            if (value != nullptr && value->is_string()) *member = *value;
        }
        if (const ordered_json* newer = tree_at(holder, "usage"); newer != nullptr && newer->is_object())
            usage.update(*newer);
    }

    [[nodiscard]] ordered_json response(ordered_json members) const {
        ordered_json response = {{"id", id}, {"model", model}};
        response.update(members);
        if (!usage.empty()) response["usage"] = usage;
        return response;
    }
};

/// Puts the reply together as a model that is streamed from does, and the rest of the response beside it.
class StreamedResponse {
public:
    StreamedResponse(std::size_t line, const LogOptions& options, LogNotes& notes)
        : line_(line), options_(options), notes_(notes) {}

    void take(const SseEvent& event) {
        LogNotes own;  // the end of a stream is no JSON
        const ordered_json data = parse_record(event.data, 1, options_, own).value_or(nullptr);
        if (own.repaired > 0) {
            note_repaired(notes_, line_);
            const std::string repaired = data.dump();
            return take({.event = event.event, .data = repaired, .last_event_id = event.last_event_id});
        }
        const std::string_view type = text_at(data, "type");
        if (type == "response.completed" || type == "response.incomplete") {
            if (const ordered_json* whole = tree_at(data, "response")) whole_ = *whole;
        } else if (type.starts_with("response.")) {
            return;
        } else if (is_anthropic_ || type == "message_start") {
            is_anthropic_ = true;
            if (const ordered_json* message = tree_at(data, "message")) head_.take(*message);
            head_.take(data);
            messages_.take(event);
        } else {
            head_.take(data);
            chat_.take(event);
        }
    }

    [[nodiscard]] ordered_json finish() {
        if (!whole_.is_null()) return std::move(whole_);
        if (is_anthropic_) {
            ordered_json message = messages_.finish().message.json();
            return head_.response({{"role", "assistant"}, {"content", std::move(message["content"])}});
        }
        const ordered_json choice = {{"index", 0}, {"message", chat_.finish().message.json()}};
        return head_.response({{"choices", ordered_json::array({choice})}});
    }

private:
    std::size_t line_;
    const LogOptions& options_;
    LogNotes& notes_;
    bool is_anthropic_ = false;
    ResponseHead head_{};
    openai::ChatStream chat_{};
    anthropic::MessagesStream messages_{};
    ordered_json whole_{};
};

}  // namespace

bool is_event_stream(std::string_view body) noexcept {
    constexpr std::array<std::string_view, 4> fields{"data:", "event:", "id:", ":"};
    const std::size_t start = body.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos) return false;
    return std::ranges::any_of(fields, [&](std::string_view field) { return body.substr(start).starts_with(field); });
}

ordered_json response_of_stream(std::string_view body, std::size_t line, const LogOptions& options, LogNotes& notes,
                                ValueBudget& values) {
    if (!values.take(body)) return nullptr;
    StreamedResponse response(line, options, notes);
    try {
        SseParser parser;
        parser.feed(body, [&](const SseEvent& event) { response.take(event); });
        parser.feed("\n\n", [&](const SseEvent& event) { response.take(event); });  // a log may cut the last empty line
        return response.finish();
    } catch (const ModelError&) {
        return nullptr;
    }
}

}  // namespace whittle::inline v0::logs
