// Sources of the formats of requests and responses: HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec/), the
// providers' own references (2026-11-25), claude-trace (https://github.com/badlogic/lemmy/tree/main/apps/claude-trace)
// (`src/interceptor.ts`; 2026-11-28), for the Responses interface `src/openai/types/responses`
// (https://github.com/openai/openai-python/tree/main/src/openai/types/responses) (`response_input_item_param.py`,
// `response_usage.py`; 2026-11-26), for the cache OpenAI's prompt caching
// (https://developers.openai.com/api/docs/guides/prompt-caching) as cited in anomalyco/opencode#44229
// (https://github.com/anomalyco/opencode/pull/44229), OpenRouter's usage accounting
// (https://openrouter.ai/docs/use-cases/usage-accounting), `calculate_usage` of LiteLLM
// (https://github.com/BerriAI/litellm/blob/main/litellm/llms/anthropic/chat/transformation.py), and DeepSeek's usage
// (https://api-docs.deepseek.com/guides/kv_cache) (2026-11-26).
#include "exchange_list.hpp"
#include "readers.hpp"
#include "records.hpp"
#include "responses_form.hpp"
#include "streamed_response.hpp"
#include "whittle/base/detail/base64.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <optional>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

/// A body: itself, its member "body", "json" or "body_raw", or one of them as text, also of a stream. null if there is
/// no JSON object in it.
ordered_json body_in(const ordered_json& value, std::size_t line, const LogOptions& options, LogNotes& notes,
                     ValueBudget& values) {
    if (value.is_string()) {
        const auto& text = value.get_ref<const std::string&>();
        if (is_event_stream(text)) return response_of_stream(text, line, options, notes, values);
        auto parsed = json_in(value, line, options, notes, values);
        return parsed && parsed->is_object() ? *std::move(parsed) : ordered_json(nullptr);
    }
    if (!value.is_object()) return nullptr;
    for (const char* key : {"body", "json", "body_raw"}) {
        const ordered_json* body = find_member(value, key);
        if (body != nullptr && (body->is_string() || body->is_object()))
            return body_in(*body, line, options, notes, values);
    }
    return value;
}

/// What stands around the bodies.
struct ExchangeHead {
    std::optional<double> time{};  ///< seconds since 1970
    std::size_t line = 1;
    bool has_failed = false;
};

/// By the status beside the body of a response; null: no response was recorded.
bool has_failed(const ordered_json* response) {
    if (response == nullptr) return false;
    return count_at(*response, "status") >= 400 || count_at(*response, "status_code") >= 400;
}

/// Such as Anthropic's /v1/messages/count_tokens, which takes what a model call takes.
bool counts_tokens(const ordered_json* request) {
    std::string_view url = request == nullptr ? std::string_view() : text_at(*request, "url");
    url = url.substr(0, url.find_first_of("?#"));
    return url.ends_with("/count_tokens") || url.ends_with("/input_tokens");
}

/// Takes the messages out of bodies and hands them on.
void add_bodies(ExchangeList& list, const ordered_json& request, const ordered_json& response, const ExchangeHead& head,
                LogNotes& notes) {
    const bool is_new_form = is_responses_request(request, response);
    const ordered_json chat_request = is_new_form ? to_chat_request(request, notes) : ordered_json(nullptr);
    const ordered_json chat_response =
        is_new_form && response.is_object() ? to_chat_response(response, notes) : ordered_json(nullptr);
    const ordered_json& answer = is_new_form ? chat_response : response;
    list.add({.request = is_new_form ? &chat_request : &request,
              .response = answer.is_object() ? &answer : nullptr,
              .time = head.time,
              .line = head.line,
              .usage = std::nullopt,
              .has_failed = head.has_failed});
}

/// A response whose request was cut, hidden or not recorded. False if it is none of a model, or has no bill.
bool bill_response_alone(ExchangeList& list, const ordered_json& response) {
    const ordered_json* usage = tree_at(response, "usage");
    const ordered_json* items = tree_at(response, "output");
    const bool is_of_model = holds_reply(response) || (items != nullptr && items->is_array());
    if (usage == nullptr || !is_of_model) return false;
    list.bill_alone({.id = std::string(text_at(response, "id")),
                     .model = std::string(text_at(response, "model")),
                     .usage = provider_usage(*usage)},
                    {});
    return true;
}

/// Of a date, or of a number of seconds or milliseconds since 1970; smaller ones are durations.
std::optional<double> seconds_at(const ordered_json& holder, const char* key) {
    const ordered_json* time = find_member(holder, key);
    if (time == nullptr || !time->is_number()) return to_seconds(text_at(holder, key));
    constexpr double first = 1e9;             // seconds: in 2001
    constexpr double first_of_millis = 1e11;  // as seconds it would be the year 5138
    const double number = time->get<double>();
    if (number < first) return std::nullopt;
    return number < first_of_millis ? number : number / 1'000;
}

/// When the request was sent, else when it was written down.
std::optional<double> time_in(const ordered_json& record, const ordered_json* request) {
    for (const ordered_json* holder : {&record, request}) {
        if (holder == nullptr) continue;
        for (const char* key : {"timestamp", "time", "created_at", "startedDateTime", "start_time", "startTime"}) {
            if (const auto time = seconds_at(*holder, key)) return time;
        }
    }
    return seconds_at(record, "logged_at");
}

/// What a HAR's "postData" or "content" holds; HAR 1.2 has "encoding" in the latter, some proxies in both.
ordered_json har_body(const ordered_json* side, const char* key, const LogOptions& options, LogNotes& notes,
                      ValueBudget& values) {
    const ordered_json* holder = side == nullptr ? nullptr : tree_at(*side, key);
    const ordered_json* text = holder == nullptr ? nullptr : find_member(*holder, "text");
    if (text == nullptr) return nullptr;
    if (text_at(*holder, "encoding") != "base64") return body_in(*text, 1, options, notes, values);
    const auto bytes = from_base64(text_at(*holder, "text"));
    return bytes ? body_in(*bytes, 1, options, notes, values) : ordered_json(nullptr);
}

}  // namespace

void read_exchanges(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    Records records(in, options, notes);
    ExchangeList list(stem_of(options), Format::exchanges, notes);
    ValueBudget values;  // in texts
    while (const auto record = records.next()) {
        const ordered_json* request = find_member(*record, "request");
        const ordered_json* response = find_member(*record, "response");
        const ordered_json body =
            request == nullptr ? *record : body_in(*request, records.line(), options, notes, values);
        if (!body.is_object()) {
            note_damage(notes, records.line(), "a request that is no JSON object");
            if (response != nullptr)
                (void)bill_response_alone(list, body_in(*response, records.line(), options, notes, values));
            continue;
        }
        if (counts_tokens(request)) {
            ++notes.left_out["count of tokens"];
            continue;
        }
        add_bodies(
            list, body,
            response == nullptr ? ordered_json(nullptr) : body_in(*response, records.line(), options, notes, values),
            {.time = time_in(*record, request), .line = records.line(), .has_failed = has_failed(response)}, notes);
    }
    list.finish(visit);
}

void read_har(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    const auto document = read_document(in, options, notes);
    const ordered_json* log = document ? tree_at(*document, "log") : nullptr;
    const ordered_json* entries = log == nullptr ? nullptr : tree_at(*log, "entries");
    if (entries == nullptr || !entries->is_array()) return;
    ExchangeList list(stem_of(options), Format::har, notes);
    ValueBudget values;  // in texts
    for (const ordered_json& entry : *entries) {
        const ordered_json request = har_body(tree_at(entry, "request"), "postData", options, notes, values);
        const ordered_json response = har_body(tree_at(entry, "response"), "content", options, notes, values);
        if (!request.is_object() || !(request.contains("messages") || is_responses_request(request, response))) {
            if (!bill_response_alone(list, response)) ++notes.left_out["entry that is no request to a model"];
            continue;
        }
        if (counts_tokens(tree_at(entry, "request"))) {
            ++notes.left_out["count of tokens"];
            continue;
        }
        add_bodies(list, request, response,
                   {.time = to_seconds(text_at(entry, "startedDateTime")),
                    .has_failed = has_failed(tree_at(entry, "response"))},
                   notes);
    }
    list.finish(visit);
}

}  // namespace whittle::inline v0::logs
