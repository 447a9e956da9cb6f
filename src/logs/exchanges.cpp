#include "exchange_list.hpp"
#include "readers.hpp"
#include "records.hpp"
#include "whittle/adapter/detail/json_tree.hpp"

#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

/// A body: itself, its member "body" or "json", or one of them as text. null if there is no JSON object in it.
ordered_json body_in(const ordered_json& value, std::size_t line, const LogOptions& options) {
    if (value.is_string()) {
        LogNotes ignored;  // a streamed response is no JSON
        auto parsed = parse_record(value.get_ref<const std::string&>(), line, options, ignored);
        return parsed && parsed->is_object() ? *std::move(parsed) : ordered_json(nullptr);
    }
    if (!value.is_object()) return nullptr;
    for (const char* key : {"body", "json"}) {
        const ordered_json* body = find_member(value, key);
        if (body != nullptr && (body->is_string() || body->is_object())) return body_in(*body, line, options);
    }
    return value;
}

/// Takes the messages out of bodies and hands them on.
void add_bodies(ExchangeList& list, const ordered_json& request, const ordered_json& response, std::string_view time,
                std::size_t line) {
    list.add({.request = &request,
              .response = response.is_object() ? &response : nullptr,
              .time = to_seconds(time),
              .line = line});
}

std::string_view time_in(const ordered_json& record) {
    for (const char* key : {"timestamp", "time", "created_at", "startedDateTime", "start_time", "startTime"}) {
        if (const std::string_view time = text_at(record, key); !time.empty()) return time;
    }
    return {};
}

/// The text of a HAR's "postData" or "content".
ordered_json har_body(const ordered_json* side, const char* key, const LogOptions& options) {
    const ordered_json* holder = side == nullptr ? nullptr : tree_at(*side, key);
    const ordered_json* text = holder == nullptr ? nullptr : find_member(*holder, "text");
    return text == nullptr ? ordered_json(nullptr) : body_in(*text, 1, options);
}

}  // namespace

void read_exchanges(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    Records records(in, options, notes);
    ExchangeList list(stem_of(options), Format::exchanges, notes);
    while (const auto record = records.next()) {
        const ordered_json* request = find_member(*record, "request");
        const ordered_json* response = find_member(*record, "response");
        const ordered_json body = request == nullptr ? *record : body_in(*request, records.line(), options);
        if (!body.is_object()) {
            note_damage(notes, records.line(), "a request that is no JSON object");
            continue;
        }
        add_bodies(list, body,
                   response == nullptr ? ordered_json(nullptr) : body_in(*response, records.line(), options),
                   time_in(*record), records.line());
    }
    list.finish(visit);
}

void read_har(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    const auto document = read_document(in, options, notes);
    const ordered_json* log = document ? tree_at(*document, "log") : nullptr;
    const ordered_json* entries = log == nullptr ? nullptr : tree_at(*log, "entries");
    if (entries == nullptr || !entries->is_array()) return;
    ExchangeList list(stem_of(options), Format::har, notes);
    for (const ordered_json& entry : *entries) {
        const ordered_json request = har_body(tree_at(entry, "request"), "postData", options);
        if (!request.is_object() || !request.contains("messages")) {
            ++notes.left_out["entry that is no request to a model"];
            continue;
        }
        add_bodies(list, request, har_body(tree_at(entry, "response"), "content", options),
                   text_at(entry, "startedDateTime"), 1);
    }
    list.finish(visit);
}

}  // namespace whittle::inline v0::logs
